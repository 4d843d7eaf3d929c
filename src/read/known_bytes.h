/*
 * Bytes that were met before, compared with those at hand as a whole: 32 at once where SSE2 is
 * there, so that no branch depends on where they differ, and the rest only if these are the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* As many as follow a byte window's end, so that comparing there reads nothing foreign. */
#define KNOWN_BYTES_MOST 64

struct known_bytes {
	char bytes[KNOWN_BYTES_MOST];
	uint64_t mask; /* a bit for each of them */
	uint8_t length;
};

static inline void known_bytes_set(struct known_bytes *known, const char *bytes, uint64_t length)
{
	memcpy(known->bytes, bytes, length);
	known->mask = length < 64 ? (UINT64_C(1) << length) - 1 : ~UINT64_C(0);
	known->length = (uint8_t)length;
}

#ifdef __SSE2__

/* A bit for each of 32 bytes that are the same. */
static inline uint32_t same_bytes(const char *a, const char *b)
{
	const __m128i low = _mm_cmpeq_epi8(
		_mm_loadu_si128((const __m128i *)a), _mm_loadu_si128((const __m128i *)b));
	const __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(a + 16)),
		_mm_loadu_si128((const __m128i *)(b + 16)));
	return (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
}

static inline bool known_bytes_are_at(const struct known_bytes *known, const char *at)
{
	if (~same_bytes(known->bytes, at) & (uint32_t)known->mask)
		return false;
	return known->length <= 32 ||
	       (~same_bytes(known->bytes + 32, at + 32) & (uint32_t)(known->mask >> 32)) == 0;
}

#else

static inline bool known_bytes_are_at(const struct known_bytes *known, const char *at)
{
	return memcmp(known->bytes, at, known->length) == 0;
}

#endif
