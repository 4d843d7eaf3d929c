/*
 * How events begin, remembered: the same few categories stand at the front, and the same few places
 * (process and thread) between name and time.  Bytes that were read once as such are recognised as
 * a whole from then on, with what they meant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "read/json_scan.h"
#include "read/known_bytes.h"

#define EVENT_MEMOS 16 /* heads, and places, that are remembered; Kineto has 14 kinds of events */

struct event;

/* Bytes, and what of an event they say. */
struct event_memo {
	struct known_bytes known;
	uint64_t keys;
	int64_t pid, tid;
	uint8_t class;
	char ph;
	uint8_t cat_at, cat_length; /* where in the bytes */
	uint8_t at;		    /* the guess of the last key, see kineto_key.h */
};

struct event_memos {
	struct event_memo head[EVENT_MEMOS], place[EVENT_MEMOS];
	uint32_t head_count, place_count;
	uint8_t last_head, head_before;
	uint8_t next_head[EVENT_MEMOS][EVENT_MEMOS]; /* after two others, where to look first */
	uint8_t usual_place[EVENT_MEMOS];	     /* by head */
};

/* Whether a remembered beginning comes next: from the brace to what tells the event's class. */
bool memo_take_head(
	struct event_memos *memos, struct json_scan *scan, struct event *event, uint8_t *ret_at);

/* Remembers the bytes from the event's brace up to here; `at` is the guess of the last key. */
void memo_learn_head(
	struct event_memos *memos, struct json_scan *scan, const struct event *event, uint8_t at);

/* Whether remembered process and thread come next, after a name and up to the time. */
bool memo_take_place(
	struct event_memos *memos, struct json_scan *scan, struct event *event, uint8_t *ret_at);

/* Remembers the bytes from `offset`, where the name ended, up to here. */
void memo_learn_place(struct event_memos *memos, struct json_scan *scan, const struct event *event,
	uint64_t offset, uint8_t at);
