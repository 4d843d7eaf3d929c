/*
 * What stands between the numbers of an event's args, remembered.  Operators come again and again
 * with the same inputs, types and shapes, and these are a third of a trace; where the bytes that
 * come next are those of a segment that was read before, they mean what it meant.
 *
 * Which segment to compare with is told by the operator's name and the two segments before: a step
 * of training repeats itself, layer by layer.  A wrong guess costs a reading, and nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "read/json_scan.h"
#include "read/kineto_key.h"

#define SEGMENT_COUNT	   1024 /* recorded traces have 300 to 700, of 60 to 140 KB */
#define SEGMENT_POOL_BYTES (256u << 10)
#define SEGMENT_SLOTS	   4096
#define SEGMENT_TEXTS	   4 /* args that a segment can say */

struct event;

/* An arg that the segment says: where in it its value stands. */
struct segment_text {
	uint16_t at, length;
	uint8_t arg; /* enum event_arg */
	bool is_plain;
};

/* Keys and values from the end of a value to the end of another; no value is a number. */
struct arg_segment {
	uint64_t args;	/* that it says, as in struct event */
	uint32_t bytes; /* where in the pool */
	uint32_t depth; /* of the scanner */
	uint16_t length;
	uint8_t start, end; /* the guesses of the keys before it and last in it, see kineto_key.h */
	uint8_t text_count;
	struct segment_text text[SEGMENT_TEXTS];
};

struct arg_segments {
	bool is_start[KEY_GUESS_COUNT]; /* a segment began after this key before */
	uint32_t count, pool_used;
	uint16_t last, before_last;
	uint16_t next[SEGMENT_SLOTS]; /* by a hash of what came before; 0 is none */
	uint16_t same[SEGMENT_SLOTS]; /* by a hash of the bytes; 0 is free */
	struct arg_segment segment[SEGMENT_COUNT];
	char pool[SEGMENT_POOL_BYTES];
};

/* Where the reader of args is. */
struct segment_walk {
	uint8_t key;	/* the last key's guess */
	bool is_inside; /* of what may become a segment, which began */
	uint8_t start;	/* after this key, */
	uint64_t from;	/* here, */
	uint64_t args;	/* with these present */
};

void segments_init(struct arg_segments *segments);

/* Goes past the segment that is said to come next, if it does. */
bool segment_take(struct arg_segments *segments, struct json_scan *scan, struct event *event,
	struct segment_walk *walk);

void segment_begin(struct segment_walk *walk, struct event *event, uint8_t key, uint64_t at);

/* What the walk is inside of ended at `end`, after `key`; with `is_learnt` it is remembered. */
void segment_end(struct arg_segments *segments, const struct json_scan *scan,
	const struct event *event, struct segment_walk *walk, uint8_t key, uint64_t end,
	bool is_learnt);

/* Whether a value that begins so is at its end where it seems to be, as a number is not. */
static inline bool segment_may_hold(char first)
{
	switch (first) {
	case '[':
	case '{':
	case '"':
	case 't':
	case 'f':
		return true;
	default:
		return false;
	}
}

/* key_next for args.  The segments before the key, which is a number's, are taken and learnt. */
static inline int segment_next_key(struct arg_segments *segments, struct key_memory *keys,
	enum key_object object, struct json_scan *scan, struct event *event,
	struct segment_walk *walk, bool may_learn)
{
	if (segments->is_start[walk->key] && !walk->is_inside)
		segment_take(segments, scan, event, walk);
	const uint64_t offset = byte_window_offset(scan->window);
	const uint8_t last = walk->key;
	const int key = key_next(keys, scan, object, &walk->key);
	if (key >= KEY_OTHER && segment_may_hold(*scan->window->at)) {
		if (!walk->is_inside)
			segment_begin(walk, event, last, offset);
	} else if (walk->is_inside) {
		segment_end(
			segments, scan, event, walk, last, offset, may_learn && key != KEY_PROBLEM);
	}
	return key;
}
