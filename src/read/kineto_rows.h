/*
 * From events to rows: threads and streams get their numbers, names are interned and classified,
 * and each event becomes the row of its table, or a count of what it lacked.
 */
#pragma once

#include "read/kineto_event.h"
#include "trace/key_map.h"
#include "trace/trace.h"

#define MAX_DEVICES 64u /* properties kept; a host has 16 at most */

/* A collective's host side, from which its kernel takes what it does not say itself. */
struct comms {
	int64_t start_ns, end_ns;
	struct collective_table_row row;
	uint32_t thread_id;
};

/* A name that a metadata event gives a thread, perhaps before the thread has any op. */
struct thread_label {
	int64_t pid, tid;
	uint32_t name_id;
	bool is_autograd;
};

struct device_properties {
	int64_t id;
	uint32_t name_id;
	int64_t memory_bytes;
};

struct kineto_rows {
	struct trace *trace;
	struct json_scan *scan; /* whose window holds the texts */
	struct key_map threads; /* (pid, tid) to thread row */
	struct key_map streams; /* (device, stream) to stream row */
	struct key_map labels;	/* (pid, tid) to label */
	uint8_t *name_flags;	/* by string id */
	uint32_t name_flags_count;
	char *scratch; /* for texts that are not as they stand */
	size_t scratch_bytes;
	struct comms *comms;
	uint32_t comms_count, comms_capacity;
	struct thread_label *label;
	uint32_t label_count, label_capacity;
	struct device_properties device[MAX_DEVICES];
	uint32_t device_count;
	int64_t last_pid, last_tid; /* most events are of the thread of the event before */
	uint32_t last_thread;
};

bool rows_init(
	struct kineto_rows *rows, struct trace *trace, struct json_scan *scan, struct err *err);
void rows_done(struct kineto_rows *rows);

/* Adds a whole event.  False on ERR_NOMEM alone. */
bool rows_add(struct kineto_rows *rows, const struct event *event, struct err *err);

/* Room for `bytes` until the next call; NULL on ERR_NOMEM. */
char *rows_scratch(struct kineto_rows *rows, size_t bytes, struct err *err);

/* Interns a text of the file; UINT32_MAX on ERR_NOMEM. */
uint32_t rows_intern(struct kineto_rows *rows, const struct json_text *text, struct err *err);

/* The same for a name, with its enum name_flag bits. */
bool rows_name(struct kineto_rows *rows, const struct json_text *name, uint32_t *ret_id,
	uint8_t *ret_flags, struct err *err);

/* After the last event, before the seal: collectives, waits, thread names and roles, the device. */
bool rows_finish(struct kineto_rows *rows, struct err *err);
