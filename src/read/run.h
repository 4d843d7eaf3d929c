/*
 * A run from its argument: a file, a directory or a quoted glob, one trace a rank, read in
 * parallel. Ranks come from the content, then from the file name, then from the order of names. Two
 * files of one rank are an error that names both; files that are no trace are counted and left out
 * of a directory, and refused when named themselves.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct read_options {
	size_t window_bytes;   /* of the window a file is read through; 0 for the default */
	uint32_t thread_count; /* ranks read at once; 0 for the number of cores */
};

struct run {
	char *name;	/* short, for tables: the argument's last part without ranks and endings */
	char *argument; /* as given */
	struct trace *traces; /* by rank */
	uint32_t trace_count;
	struct diag diag; /* of the run as a whole; each trace has its own */
};

bool run_read(
	const char *argument, const struct read_options *options, struct run *ret, struct err *err);
void run_done(struct run *run);
