/*
 * A pull scanner for JSON of any size: the caller asks for what it expects next, and the bytes pass
 * through a window.  Strict where it looks; where it skips, only brackets and quotes are followed.
 *
 * What real traces do wrong and can be read anyway is noted and accepted: raw control bytes and
 * bytes that are not UTF-8 in texts, escapes that JSON lacks, commas before a closing bracket, bare
 * nan and inf.  A document without notes and without a problem is JSON as RFC 8259 has it.
 *
 * Unescaped quotes inside texts can't be told from closing ones at first sight, so a caller who
 * meets a problem may go back to an offset that it holds, set `repairs_quotes`, and read again;
 * then a quote ends a text only where what follows fits: in an object's value a closing bracket, or
 * a comma and another key with its colon; elsewhere one of , : } ].  A text so repaired that holds
 * `"ph"` has run into the next event, and is a problem again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/byte_window.h"
#include "read/decimal_plain.h"
#include "read/json_bytes.h"

#define JSON_MAX_DEPTH 512 /* deeper nesting is a problem, not a stack overflow */

enum json_kind {
	SCAN_NOTHING, /* the end of the bytes, or no value */
	SCAN_OBJECT,
	SCAN_ARRAY,
	SCAN_TEXT,
	SCAN_NUMBER,
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_NULL
};

/* What was wrong and accepted. */
enum json_note {
	NOTE_TEXT,	 /* control bytes, bytes that are not UTF-8, unknown or halved escapes */
	NOTE_QUOTE,	 /* a text with unescaped quotes was repaired */
	NOTE_COMMA,	 /* a comma with nothing after it */
	NOTE_NOT_FINITE, /* a bare nan or inf, or another number that JSON can't have */
	JSON_NOTE_COUNT
};

/* A text as it stands in the file, between its quotes. */
struct json_text {
	uint64_t offset;
	uint32_t length;
	bool is_plain; /* printable ASCII without escapes: its bytes are the text */
};

struct json_scan {
	struct byte_window *window;
	uint32_t depth;	  /* containers entered and not left */
	bool is_first;	  /* nothing of the innermost container was read yet */
	bool is_in_array; /* the value that comes is an array's item */
	bool repairs_quotes;
	bool has_notes;
	uint32_t notes[JSON_NOTE_COUNT];
	const char *problem; /* what is wrong, once something is; everything then returns false */
	uint64_t problem_offset;
	bool is_cut; /* the problem is that the bytes end */
};

void json_scan_start(struct json_scan *scan, struct byte_window *window);

/* Forgets a problem and goes on at `offset`, which must be held, at nesting `depth`. */
void json_scan_resume(struct json_scan *scan, uint64_t offset, uint32_t depth);

/* What value comes next, by its first byte. */
enum json_kind json_peek(struct json_scan *scan);

bool json_enter_object(struct json_scan *scan);
bool json_enter_array(struct json_scan *scan);

/* The next key, whose value then must be read or skipped; false at the object's end. */
bool json_next_key(struct json_scan *scan, struct json_text *ret);

/* Whether another item follows, which then must be read or skipped; false at the array's end. */
bool json_next_item(struct json_scan *scan);

/* Skips what is left of the innermost container. */
bool json_leave(struct json_scan *scan);

bool json_read_text(struct json_scan *scan, struct json_text *ret);
bool json_read_number(struct json_scan *scan, struct decimal *ret);
bool json_read_word(struct json_scan *scan, enum json_kind *ret); /* true, false or null */
bool json_skip(struct json_scan *scan);

/* Nothing but white space is left. */
bool json_is_over(struct json_scan *scan);

/*
 * The bytes of a text while they are held.  With nothing held, those of the last text read stay
 * until the scanner is asked for more.
 */
static inline const char *json_text_bytes(
	const struct json_scan *scan, const struct json_text *text)
{
	return byte_window_at(scan->window, text->offset);
}

/*
 * The usual numbers and texts, which end in memory, without the calls: true if one comes next and
 * is taken; else false, no harm, and json_read_... or json_skip does it.
 */
static inline bool json_take_to(struct json_scan *scan, const char *after)
{
	if (!after || after >= scan->window->end || scan->problem)
		return false;
	scan->window->at = after;
	return true;
}

static inline bool json_take_number(struct json_scan *scan, struct decimal *ret)
{
	return json_take_to(scan, decimal_parse_plain(scan->window->at, ret));
}

static inline bool json_take_integer(struct json_scan *scan, int64_t *ret)
{
	return json_take_to(scan, decimal_plain_integer(scan->window->at, ret));
}

/* Three decimals, in thousandths. */
static inline bool json_take_thousandths(struct json_scan *scan, int64_t *ret)
{
	return json_take_to(scan, decimal_plain_thousandths(scan->window->at, ret));
}

static inline bool json_pass_number(struct json_scan *scan)
{
	return json_take_to(scan, decimal_pass_plain(scan->window->at));
}

static inline bool json_take_text(struct json_scan *scan, struct json_text *ret)
{
	const struct byte_window *window = scan->window;
	if (*window->at != '"' || scan->repairs_quotes)
		return false;
	const char *text = window->at + 1;
	const char *after = json_find_special(text);
	const uint64_t offset = window->base + (uint64_t)(text - window->buffer);
	if (*after != '"' || !json_take_to(scan, after + 1))
		return false;
	*ret = (struct json_text){offset, (uint32_t)(after - text), true};
	return true;
}

/* json_next_item where another object follows. */
static inline bool json_take_next_object(struct json_scan *scan)
{
	const char *at = scan->window->at;
	if (*at != ',' || scan->is_first)
		return false;
	do
		at++;
	while (*at == '\n' || *at == ' ');
	if (*at != '{' || !json_take_to(scan, at))
		return false;
	scan->is_in_array = true;
	return true;
}
