/*
 * The loops over bytes that the scanner spends its time in, sixteen at a time where SSE2 is there,
 * and what texts are made of.  Every search stops at a NUL, of which enough follow the window.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Whether a text's escapes are JSON's and its bytes are UTF-8 without control bytes. */
bool json_text_is_clean(const char *text, size_t length);

/*
 * The text itself: escapes resolved; what is not UTF-8, NUL or half a surrogate pair becomes
 * U+FFFD; unknown escapes stay as they are.  Never longer than three times `length`; returns the
 * length.
 */
size_t json_text_decode(const char *text, size_t length, char *to);

/* A bit for each of 64 bytes. */
struct json_block {
	uint64_t quotes;
	uint64_t opens, closes; /* brackets and braces */
	uint64_t others;	/* backslashes and NULs, which need a closer look */
};

/* Of each bit, whether an odd number is set from the lowest up to it: texts, from quotes. */
static inline uint64_t json_odd_so_far(uint64_t bits)
{
	for (unsigned by = 1; by < 64; by *= 2)
		bits ^= bits << by;
	return bits;
}

#ifdef __SSE2__

/* The first quote, backslash, control byte or byte above 0x7f. */
static inline const char *json_find_special(const char *at)
{
	const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
	const __m128i space = _mm_set1_epi8(' ');
	for (;; at += 16) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
		/* Signed, so that bytes above 0x7f are below a space too. */
		const __m128i found = _mm_or_si128(_mm_cmplt_epi8(bytes, space),
			_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));
		const int mask = _mm_movemask_epi8(found);
		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
}

/* The first quote, backslash or NUL. */
static inline const char *json_find_quote(const char *at)
{
	const __m128i quote = _mm_set1_epi8('"'), escape = _mm_set1_epi8('\\');
	for (;; at += 16) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
		const __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_setzero_si128()),
			_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, escape)));
		const int mask = _mm_movemask_epi8(found);
		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
}

static inline struct json_block json_block_at(const char *at)
{
	struct json_block block = {0};
	for (unsigned i = 0; i < 64; i += 16) {
		const __m128i bytes = _mm_loadu_si128((const __m128i *)(at + i));
		/* [ and ] are { and } less one bit. */
		const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
		const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
		const __m128i open = _mm_cmpeq_epi8(folded, _mm_set1_epi8('{'));
		const __m128i close = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));
		const __m128i other = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')),
			_mm_cmpeq_epi8(bytes, _mm_setzero_si128()));
		block.quotes |= (uint64_t)(unsigned)_mm_movemask_epi8(quote) << i;
		block.opens |= (uint64_t)(unsigned)_mm_movemask_epi8(open) << i;
		block.closes |= (uint64_t)(unsigned)_mm_movemask_epi8(close) << i;
		block.others |= (uint64_t)(unsigned)_mm_movemask_epi8(other) << i;
	}
	return block;
}

/* A bit for each of 16 bytes that is a quote, backslash, bracket, brace or NUL. */
static inline unsigned json_marks(const char *at)
{
	const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
	/* [ and ] are { and } less one bit, and \\ is | less it, which nothing else here is. */
	const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
	const __m128i open = _mm_cmpeq_epi8(folded, _mm_set1_epi8('{'));
	const __m128i close = _mm_cmpeq_epi8(folded, _mm_set1_epi8('}'));
	const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
	const __m128i escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
	const __m128i end = _mm_cmpeq_epi8(bytes, _mm_setzero_si128());
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(
		_mm_or_si128(open, close), _mm_or_si128(_mm_or_si128(quote, escape), end)));
}

#else

static inline const char *json_find_special(const char *at)
{
	while ((unsigned char)(*at - 0x20) < 0x60 && *at != '"' && *at != '\\')
		at++;
	return at;
}

static inline const char *json_find_quote(const char *at)
{
	while (*at && *at != '"' && *at != '\\')
		at++;
	return at;
}

static inline struct json_block json_block_at(const char *at)
{
	struct json_block block = {0};
	for (unsigned i = 0; i < 64; i++) {
		const uint64_t bit = UINT64_C(1) << i;
		block.quotes |= at[i] == '"' ? bit : 0;
		block.opens |= (at[i] | 0x20) == '{' ? bit : 0;
		block.closes |= (at[i] | 0x20) == '}' ? bit : 0;
		block.others |= at[i] == '\\' || !at[i] ? bit : 0;
	}
	return block;
}

static inline unsigned json_marks(const char *at)
{
	unsigned marks = 0;
	for (unsigned i = 0; i < 16; i++)
		if (!at[i] || at[i] == '"' || at[i] == '\\' || (at[i] | 0x20) == '{' ||
			(at[i] | 0x20) == '}')
			marks |= 1u << i;
	return marks;
}

#endif
