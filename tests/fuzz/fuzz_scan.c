/*
 * The scanner on any bytes.  Laws: the window's size changes nothing; what is walked without notes
 * is also skipped; and the strict answer is the one that Jansson gives.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "read/json_bytes.h"
#include "read/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A sum of all that the scanner says, in order. */
static void mix(uint64_t *sum, uint64_t value)
{
	*sum = (*sum ^ value) * 0x100000001b3u;
}

static void mix_text(struct json_scan *scan, const struct json_text *text, uint64_t *sum)
{
	const char *bytes = json_text_bytes(scan, text);
	char *decoded = malloc(3 * (size_t)text->length + 1);
	if (!decoded)
		abort();
	const size_t length = json_text_decode(bytes, text->length, decoded);
	if (length > 3 * (size_t)text->length || !json_text_is_clean("", 0))
		abort();
	for (size_t i = 0; i < length; i++)
		mix(sum, (unsigned char)decoded[i]);
	mix(sum, text->offset);
	free(decoded);
}

static bool walk(struct json_scan *scan, uint64_t *sum)
{
	struct json_text text;
	struct decimal number;
	enum json_kind word, kind = json_peek(scan);
	mix(sum, kind);
	switch (kind) {
	case SCAN_OBJECT:
		for (json_enter_object(scan); json_next_key(scan, &text);) {
			mix_text(scan, &text, sum);
			if (!walk(scan, sum))
				return false;
		}
		break;
	case SCAN_ARRAY:
		for (json_enter_array(scan); json_next_item(scan);)
			if (!walk(scan, sum))
				return false;
		break;
	case SCAN_TEXT:
		if (!json_read_text(scan, &text))
			return false;
		mix_text(scan, &text, sum);
		break;
	case SCAN_NUMBER:
		if (!json_read_number(scan, &number))
			return false;
		mix(sum, number.mantissa);
		mix(sum, (uint64_t)number.exponent);
		break;
	default:
		if (!json_read_word(scan, &word))
			return false;
		mix(sum, word);
	}
	return !scan->problem;
}

struct answer {
	bool is_whole, has_notes;
	uint64_t sum, problem_offset;
};

static struct answer ask(const uint8_t *data, size_t size, size_t window_bytes, bool repairs)
{
	struct byte_window window;
	struct json_scan scan;
	struct answer answer = {0};
	struct err err = {0};
	if (!byte_window_over(&window, (const char *)data, size, window_bytes, &err))
		abort();
	json_scan_start(&scan, &window);
	scan.repairs_quotes = repairs;
	answer.is_whole = walk(&scan, &answer.sum) && json_is_over(&scan);
	answer.has_notes = scan.has_notes;
	answer.problem_offset = scan.problem_offset;
	byte_window_done(&window);
	return answer;
}

static bool skips(const uint8_t *data, size_t size, size_t window_bytes)
{
	struct byte_window window;
	struct json_scan scan;
	struct err err = {0};
	if (!byte_window_over(&window, (const char *)data, size, window_bytes, &err))
		abort();
	json_scan_start(&scan, &window);
	const bool is_whole = json_skip(&scan) && json_is_over(&scan);
	byte_window_done(&window);
	return is_whole;
}

static bool is_compressed(const uint8_t *data, size_t size)
{
	return size >= 2 && ((data[0] == 0x1f && data[1] == 0x8b) || data[0] == 0x28 ||
				    (data[0] & 0xf0) == 0x50);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (is_compressed(data, size))
		return 0;
	const struct answer whole = ask(data, size, 0, false);
	for (size_t window_bytes = 16; window_bytes <= 64; window_bytes += 15) {
		const struct answer part = ask(data, size, window_bytes, false);
		if (memcmp(&part, &whole, sizeof whole) != 0)
			abort();
	}
	const struct answer repaired = ask(data, size, 0, true), narrow = ask(data, size, 17, true);
	if (memcmp(&repaired, &narrow, sizeof narrow) != 0)
		abort();
	const bool is_strict = whole.is_whole && !whole.has_notes;
	if (is_strict && (!skips(data, size, 0) || !skips(data, size, 16)))
		abort();
	json_error_t error;
	json_t *other =
		json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	/* It refuses numbers beyond its types; what it takes, we take, but for the depth. */
	if (is_strict && !other && json_error_code(&error) != json_error_numeric_overflow)
		abort();
	/* A NUL byte after the value is no end of the document, as it seems to think. */
	if (!is_strict && other && size < JSON_MAX_DEPTH && !memchr(data, 0, size))
		abort();
	json_decref(other);
	return 0;
}
