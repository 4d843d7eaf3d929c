/*
 * PyTorch's profiler traces (Kineto's Chrome JSON), of any age, streamed into columns.  Dirt is
 * counted and stepped over; a cut file gives every whole event.  What the columns leave out is said
 * in kineto_names.h; flows are never needed, since correlation ids say the same.
 *
 * An event that is no JSON is read a second time with its quotes repaired (json_scan.h).  If that
 * fails too it is a bad event, and reading goes on at the next place that looks like the start of
 * an event: a comma or a closing brace, `{`, and one of an event's own keys with its colon.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct byte_window;

struct kineto_options {
	size_t window_bytes; /* 0 for the default */
	bool reads_ahead;    /* a core is free to decompress */
};

/* Reads the file `path` and seals.  ERR_INPUT if it holds no trace events. */
bool kineto_read(
	const char *path, const struct kineto_options *options, struct trace *ret, struct err *err);

/* The same through an open window; `trace` must be fresh from trace_init and is not sealed. */
bool kineto_read_window(struct byte_window *window, struct trace *trace, struct err *err);
