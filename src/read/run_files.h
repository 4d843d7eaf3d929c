/*
 * Which files a RUN argument means, and what a file's name says: its rank, and a short name for the
 * run.  Nothing is opened here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RUN_MAX_FILES 65536u

struct run_files {
	char **path; /* in the order of their bytes */
	uint32_t count;
	uint32_t capacity;
	bool is_named; /* the one file was named itself, so it must be a trace */
};

/* A file; the files of a directory; the matches of a pattern.  ERR_IO when there is no such thing.
 */
bool run_files_find(const char *argument, struct run_files *ret, struct err *err);
void run_files_done(struct run_files *files);

/* From "rank3", "rank_3", "rank-3" or "rank.3" in the last part of `path`; null if none is there.
 */
int32_t run_rank_from_name(const char *path);

/* The last part of `argument` without pattern, rank and endings. */
struct run_name {
	const char *start;
	size_t length;
};
struct run_name run_name_of(const char *argument);
