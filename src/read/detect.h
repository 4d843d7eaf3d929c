/*
 * What a file is, by its first bytes (decompressed where they are compressed), never by its name.
 * Called by run_read, which knows whether a foreign file is an error.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum file_format {
	FORMAT_FOREIGN, /* nothing we read */
	FORMAT_JSON,	/* perhaps a trace of PyTorch's profiler; reading it tells */
	FORMAT_INQ,	/* our own */
	FORMAT_INQ_ZST,
	FORMAT_NSYS, /* SQLite that isn't ours: perhaps an export of Nsight Systems */
};

struct file_kind {
	enum file_format format;
	const char *looks_like; /* a phrase: "a PNG image" */
};

/* ERR_IO if the file can't be read.  A directory is FORMAT_FOREIGN. */
bool detect_file(const char *path, struct file_kind *ret, struct err *err);

/* Refuses a foreign file in one line, with what to do where that is known.  Returns false. */
bool detect_refuse(const struct file_kind *kind, struct err *err);
