#include "read/json_scan.h"

#include <string.h>

#include "read/json_bytes.h"
#include "read/json_repair.h"

#define MAX_NUMBER_BYTES 64 /* of what is no number, which may be looked at to see that */

static bool fail(struct json_scan *scan, const char *problem)
{
	if (scan->problem)
		return false;
	scan->problem = problem;
	scan->problem_offset = byte_window_offset(scan->window);
	scan->is_cut = scan->window->at == scan->window->end;
	return false;
}

static bool fail_cut(struct json_scan *scan)
{
	fail(scan, scan->window->is_overfull ? "a value is too long" : "the data ends here");
	scan->is_cut = !scan->window->is_overfull;
	return false;
}

static void note(struct json_scan *scan, enum json_note kind)
{
	scan->notes[kind]++;
	scan->has_notes = true;
}

void json_scan_start(struct json_scan *scan, struct byte_window *window)
{
	*scan = (struct json_scan){.window = window, .is_first = true};
}

void json_scan_resume(struct json_scan *scan, uint64_t offset, uint32_t depth)
{
	scan->window->at = byte_window_at(scan->window, offset);
	scan->window->is_overfull = false;
	scan->depth = depth;
	scan->is_first = false;
	scan->problem = NULL;
	scan->is_cut = false;
}

static const char *skip_space(const char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

/* The next byte that is not white space, left unread; NUL at the end of the bytes. */
static char next_byte(struct json_scan *scan)
{
	struct byte_window *window = scan->window;
	for (;;) {
		const char *at = skip_space(window->at);
		window->at = at;
		if (at != window->end)
			return *at ? *at : '\1'; /* a NUL in the data fits nowhere, as \1 does */
		if (!byte_window_more(window))
			return '\0';
	}
}

bool json_is_over(struct json_scan *scan)
{
	return next_byte(scan) == '\0';
}

enum json_kind json_peek(struct json_scan *scan)
{
	switch (next_byte(scan)) {
	case '{':
		return SCAN_OBJECT;
	case '[':
		return SCAN_ARRAY;
	case '"':
		return SCAN_TEXT;
	case 't':
		return SCAN_TRUE;
	case 'f':
		return SCAN_FALSE;
	case 'n': {
		/* null or nan */
		const size_t left = (size_t)(scan->window->end - scan->window->at);
		if (left < 2)
			byte_window_more(scan->window);
		return scan->window->at[1] == 'a' ? SCAN_NUMBER : SCAN_NULL;
	}
	case '-':
	case '+':
	case '.':
	case 'i':
	case 'I':
	case 'N':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return SCAN_NUMBER;
	default:
		return SCAN_NOTHING;
	}
}

static bool enter(struct json_scan *scan, char bracket, const char *problem)
{
	if (scan->problem)
		return false;
	const char c = next_byte(scan);
	if (c == '\0')
		return fail_cut(scan);
	if (c != bracket)
		return fail(scan, problem);
	if (scan->depth == JSON_MAX_DEPTH)
		return fail(scan, "nested too deeply");
	scan->window->at++;
	scan->depth++;
	scan->is_first = true;
	return true;
}

bool json_enter_object(struct json_scan *scan)
{
	return enter(scan, '{', "an object is expected here");
}

bool json_enter_array(struct json_scan *scan)
{
	return enter(scan, '[', "an array is expected here");
}

/* Goes past a comma or the closing bracket; false at the latter, and on a problem. */
static bool next_member(struct json_scan *scan, char closing)
{
	if (scan->problem)
		return false;
	char c = next_byte(scan);
	if (c == ',' && !scan->is_first) {
		scan->window->at++;
		c = next_byte(scan);
		if (c == closing)
			note(scan, NOTE_COMMA);
	} else if (c != closing && c != '\0' && !scan->is_first) {
		return fail(scan, "a comma or a closing bracket is expected here");
	}
	if (c == '\0')
		return fail_cut(scan);
	scan->is_first = false;
	if (c != closing)
		return true;
	scan->window->at++;
	scan->depth--;
	return false;
}

/* The same as measure_text by the rules for repairs. */
static bool measure_repaired(struct json_scan *scan, bool is_value, size_t *ret_length)
{
	switch (json_repair_measure(scan->window, is_value, ret_length)) {
	case REPAIR_NEEDED:
		note(scan, NOTE_QUOTE);
		return true;
	case REPAIR_UNNEEDED:
		return true;
	case REPAIR_CUT:
		return fail_cut(scan);
	case REPAIR_IMPOSSIBLE:
		break;
	}
	return fail(scan, "a text has no closing quote");
}

/* The length of the text that begins at `at` + 1: up to the first quote without a backslash. */
static bool measure_text(struct json_scan *scan, size_t *ret_length, bool *ret_plain)
{
	struct byte_window *window = scan->window;
	const char *at = window->at + 1;
	*ret_plain = true;
	for (;;) {
		at = json_find_special(at);
		if (*at == '"') {
			*ret_length = (size_t)(at - window->at) - 1;
			return true;
		}
		if (at >= window->end || (*at == '\\' && at + 1 >= window->end)) {
			const size_t ahead =
				(size_t)((at < window->end ? at : window->end) - window->at);
			if (!byte_window_more(window))
				return fail_cut(scan);
			at = window->at + ahead;
			continue;
		}
		*ret_plain = false;
		at += *at == '\\' ? 2 : 1;
	}
}

static bool read_text(struct json_scan *scan, bool is_value, struct json_text *ret)
{
	size_t length;
	bool is_plain = false;
	if (scan->repairs_quotes ? !measure_repaired(scan, is_value, &length)
				 : !measure_text(scan, &length, &is_plain))
		return false;
	if (length > UINT32_MAX)
		return fail(scan, "a text is too long");
	if (!is_plain && !json_text_is_clean(scan->window->at + 1, length))
		note(scan, NOTE_TEXT);
	*ret = (struct json_text){byte_window_offset(scan->window) + 1, (uint32_t)length, is_plain};
	scan->window->at += length + 2;
	return true;
}

/*
 * The usual case of json_next_key, in one go: comma, key and colon are in memory, and the key is
 * plain.  Anything else, the end of the window too, meets a byte that doesn't fit.
 */
static bool next_plain_key(struct json_scan *scan, struct json_text *ret)
{
	struct byte_window *window = scan->window;
	const char *at = window->at;
	if (!scan->is_first) {
		at = skip_space(at);
		if (*at++ != ',')
			return false;
	}
	at = skip_space(at);
	if (*at != '"')
		return false;
	const char *key = at + 1;
	at = json_find_special(key);
	const char *after = *at == '"' ? skip_space(at + 1) : at;
	if (*after != ':')
		return false;
	*ret = (struct json_text){
		window->base + (uint64_t)(key - window->buffer), (uint32_t)(at - key), true};
	window->at = after + 1;
	scan->is_first = false;
	return true;
}

bool json_next_key(struct json_scan *scan, struct json_text *ret)
{
	scan->is_in_array = false;
	if (!scan->problem && !scan->repairs_quotes && next_plain_key(scan, ret))
		return true;
	if (!next_member(scan, '}'))
		return false;
	if (*scan->window->at != '"')
		return fail(scan, "a key in quotes is expected here");
	struct byte_window *window = scan->window;
	const uint64_t held = window->hold;
	const uint64_t key_offset = byte_window_offset(window);
	/* The key's bytes stay while the colon after it is looked for. */
	if (held > key_offset)
		window->hold = key_offset;
	bool is_read = read_text(scan, false, ret);
	if (is_read) {
		const char c = next_byte(scan);
		if (c == ':')
			window->at++;
		else
			is_read = c ? fail(scan, "a colon is expected here") : fail_cut(scan);
	}
	window->hold = held;
	return is_read;
}

bool json_next_item(struct json_scan *scan)
{
	scan->is_in_array = true;
	return next_member(scan, ']');
}

bool json_read_text(struct json_scan *scan, struct json_text *ret)
{
	if (scan->problem)
		return false;
	const char c = next_byte(scan);
	if (c == '\0')
		return fail_cut(scan);
	if (c != '"')
		return fail(scan, "a text in quotes is expected here");
	return read_text(scan, !scan->is_in_array, ret);
}

/* The bytes that must be there behind a number to know that it ends: "inf" may be "infinity". */
static ptrdiff_t least_behind(const struct decimal *number)
{
	return number->is_finite ? 1 : (ptrdiff_t)strlen("inity");
}

bool json_read_number(struct json_scan *scan, struct decimal *ret)
{
	if (scan->problem)
		return false;
	struct byte_window *window = scan->window;
	if (next_byte(scan) == '\0')
		return fail_cut(scan);
	for (;;) {
		const char *after = decimal_parse(window->at, ret);
		/* What stops at the window's end may go on behind it. */
		const bool may_go_on = after ? window->end - after < least_behind(ret)
					     : window->end - window->at < MAX_NUMBER_BYTES;
		const size_t length = after ? (size_t)(after - window->at) : 0;
		if (may_go_on && byte_window_more(window))
			continue;
		if (!after)
			return may_go_on && !window->is_overfull ? fail_cut(scan)
								 : fail(scan, "no number");
		if (!ret->is_strict)
			note(scan, NOTE_NOT_FINITE);
		window->at += length;
		return true;
	}
}

bool json_read_word(struct json_scan *scan, enum json_kind *ret)
{
	static const struct {
		const char *text;
		enum json_kind kind;
	} words[] = {{"true", SCAN_TRUE}, {"false", SCAN_FALSE}, {"null", SCAN_NULL}};
	if (scan->problem)
		return false;
	if (next_byte(scan) == '\0')
		return fail_cut(scan);
	for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
		const size_t length = strlen(words[w].text);
		size_t same = 0;
		while (same < length &&
			byte_window_ahead(scan->window, same) == words[w].text[same])
			same++;
		if (same == length) {
			scan->window->at += length;
			*ret = words[w].kind;
			return true;
		}
		if (same > 0 && scan->window->at + same == scan->window->end)
			return fail_cut(scan);
	}
	return fail(scan, "a value is expected here");
}

/* Skips to the end of the text that begins at `at`, letting its bytes go. */
static bool skip_text(struct json_scan *scan, bool is_value)
{
	struct byte_window *window = scan->window;
	if (scan->repairs_quotes) {
		struct json_text text;
		return read_text(scan, is_value, &text);
	}
	window->at++;
	for (;;) {
		const char *at = json_find_quote(window->at);
		if (at < window->end && *at == '"') {
			window->at = at + 1;
			return true;
		}
		const bool is_escape = at < window->end && *at == '\\';
		if (is_escape && at + 1 < window->end) {
			window->at = at + 2;
			continue;
		}
		if (at < window->end && !is_escape) { /* a NUL in the data */
			window->at = at + 1;
			continue;
		}
		window->at = is_escape ? at : window->end;
		if (!byte_window_more(window))
			return fail_cut(scan);
	}
}

/* The same as skip_brackets, text by text, each by the rules for repairs. */
static bool skip_repaired(struct json_scan *scan, uint32_t depth)
{
	for (;;) {
		struct json_text text;
		const char c = next_byte(scan);
		if (c == '\0')
			return fail_cut(scan);
		if (c == '"') {
			if (!read_text(scan, false, &text))
				return false;
			continue;
		}
		scan->window->at++;
		if (c == '{' || c == '[') {
			if (++depth + scan->depth > JSON_MAX_DEPTH)
				return fail(scan, "nested too deeply");
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return true;
		}
	}
}

/*
 * The 64 bytes at `at` of skip_brackets: the end of the container if it is among them, else what
 * comes after them.  NULL where they need a closer look; then nothing has changed.
 */
static const char *skip_block(const struct json_scan *scan, const char *at, uint32_t *depth,
	bool *is_in_text, bool *ret_is_over)
{
	const struct json_block block = json_block_at(at);
	const uint64_t texts = json_odd_so_far(block.quotes) ^ (*is_in_text ? ~UINT64_C(0) : 0);
	uint32_t open = *depth;
	if (block.others)
		return NULL;
	for (uint64_t left = (block.opens | block.closes) & ~texts; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		if (block.opens >> i & 1) {
			if (++open + scan->depth > JSON_MAX_DEPTH)
				return NULL;
		} else if (--open == 0) {
			*ret_is_over = true;
			return at + i + 1;
		}
	}
	*depth = open;
	*is_in_text = texts >> 63;
	return at + 64;
}

/*
 * Skips until `depth` containers more have been closed than opened.  64 bytes at a time; where that
 * can't be, sixteen, and of those only the marks.
 */
static bool skip_brackets(struct json_scan *scan, uint32_t depth)
{
	struct byte_window *window = scan->window;
	const char *at = window->at;
	bool is_in_text = false;
	if (scan->repairs_quotes)
		return skip_repaired(scan, depth);
	for (;;) {
		bool is_over = false;
		const char *after = skip_block(scan, at, &depth, &is_in_text, &is_over);
		if (is_over) {
			window->at = after;
			return true;
		}
		if (after) {
			at = after;
			continue;
		}
		const char *next = at + 16;
		for (unsigned marks = json_marks(at); marks; marks &= marks - 1) {
			const char *mark = at + __builtin_ctz(marks);
			if (*mark == '"') {
				is_in_text = !is_in_text;
			} else if (*mark == '\\' && is_in_text) {
				next = mark + 2; /* what is escaped is no mark */
				break;
			} else if (*mark == '\0') {
				next = mark < window->end ? mark + 1 : mark;
				break;
			} else if (is_in_text || *mark == '\\') {
				continue;
			} else if (*mark & 2) { /* [ and {, but not ] and } */
				if (++depth + scan->depth > JSON_MAX_DEPTH)
					return fail(scan, "nested too deeply");
			} else if (--depth == 0) {
				window->at = mark + 1;
				return true;
			}
		}
		if (next < window->end) {
			at = next;
			continue;
		}
		/* An escape may end behind the window. */
		const size_t behind = (size_t)(next - window->end);
		window->at = behind ? window->end - 1 : window->end;
		if (!byte_window_more(window)) {
			window->at = window->end;
			return fail_cut(scan);
		}
		at = window->at + (behind ? behind + 1 : 0);
	}
}

bool json_leave(struct json_scan *scan)
{
	if (scan->problem || !skip_brackets(scan, 1))
		return false;
	scan->depth--;
	scan->is_first = false;
	return true;
}

bool json_skip(struct json_scan *scan)
{
	if (json_pass_number(scan))
		return true;
	if (scan->problem)
		return false;
	switch (json_peek(scan)) {
	case SCAN_OBJECT:
	case SCAN_ARRAY:
		scan->window->at++;
		return skip_brackets(scan, 1);
	case SCAN_TEXT:
		return skip_text(scan, !scan->is_in_array);
	case SCAN_NUMBER: {
		struct decimal number;
		return json_read_number(scan, &number);
	}
	default: {
		enum json_kind word;
		return json_read_word(scan, &word);
	}
	}
}
