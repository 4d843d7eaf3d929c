/*
 * One element of a trace's event list, taken apart but not yet understood: which keys it has and
 * what stands there.  Texts are places in the window, held until the next event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "read/json_scan.h"
#include "read/kineto_key.h"
#include "read/kineto_memo.h"
#include "read/kineto_segment.h"

/* What an event is for us, from its `ph` and `cat`; all spellings of all ages. */
enum event_class {
	EVENT_UNSURE,  /* `ph` or `cat` was not seen yet */
	EVENT_IGNORED, /* flows, spans, GPU annotations, overhead: known and not needed */
	EVENT_UNKNOWN, /* a category that isn't known */
	EVENT_HOST_OP,
	EVENT_ANNOTATION,
	EVENT_PYTHON,
	EVENT_API_CALL,
	EVENT_KERNEL,
	EVENT_MEMCPY,
	EVENT_MEMSET,
	EVENT_SYNC,
	EVENT_INSTANT,
	EVENT_METADATA
};

/* A process, thread or stream id: a number, or a text where it is none. */
struct event_place {
	int64_t number; /* NULL_I64 if it is a text */
	struct json_text text;
};

struct event {
	uint64_t offset; /* of its opening brace */
	uint64_t keys;	 /* which are present, by enum event_key */
	uint64_t args;	 /* which are present, by enum event_arg */
	uint64_t met;	 /* those read since the segment began, present or not */
	enum event_class class;
	char ph;
	bool is_left_out; /* a Python frame that is not kept */
	struct json_text cat;
	struct json_text name;
	struct event_place pid;
	struct event_place tid;
	int64_t ts_ns;
	int64_t dur_ns;
	int64_t integer[ARG_COUNT];
	struct json_text text[ARG_COUNT];
	uint32_t grid[3];
	uint32_t block[3];
};

/* What was off in the values of one event. */
struct event_dirt {
	bool has_any;
	uint8_t big_numbers;
	uint8_t bad_fields; /* an arg of the wrong kind */
	uint8_t duplicate_keys;
};

/* What makes reading events faster and changes nothing else: what was met before. */
struct event_memory {
	struct key_memory keys;
	struct arg_segments segments;
	struct event_memos memos;
};

/* From zeros as mem_new gives them, most of which are never touched. */
void event_memory_init(struct event_memory *memory);

/*
 * Reads the object that comes next.  False when the scanner met a problem.  What is off in a value
 * is counted in `dirt`.
 */
bool event_read(struct json_scan *scan, struct event_memory *memory, struct event_dirt *dirt,
	struct event *ret);

/* An integer, bare or in quotes; `*ret` is NULL_I64 for what is neither, or fits no 64 bits. */
bool event_read_integer(struct json_scan *scan, struct event_dirt *dirt, int64_t *ret);

static inline bool event_has_key(const struct event *event, enum event_key key)
{
	return event->keys >> key & 1;
}

static inline bool event_has(const struct event *event, enum event_arg arg)
{
	return event->args >> arg & 1;
}

/* The integer of an arg, or `otherwise`. */
static inline int64_t event_integer(
	const struct event *event, enum event_arg arg, int64_t otherwise)
{
	return event_has(event, arg) ? event->integer[arg] : otherwise;
}
