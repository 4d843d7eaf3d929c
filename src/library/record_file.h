/*
 * One rank's file from the recorder's hands into its last form: the write-ahead log folded in, rows
 * sorted and joined, names demangled.  The process that wrote it may have been killed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct record_outcome {
	bool is_empty; /* nothing was in it, so it was removed */
	bool is_compressed;
	int32_t rank;	   /* null if unknown */
	int64_t begin_ns;  /* of the recording, in CLOCK_REALTIME */
	int64_t bytes;	   /* of the finished file */
	int64_t steps;	   /* marked in it, whole */
	int64_t dropped;   /* records that the recorder lost */
	bool is_cut;	   /* it did not come to its end */
	char stopped[256]; /* why the recorder stopped early; "" if it did not */
};

/* Replaces `path`, or leaves what was there; `compress` makes PATH.zst of it.  Errors begin with
 * the path. */
bool record_file_finish(
	const char *path, bool compress, struct record_outcome *ret, struct err *err);
