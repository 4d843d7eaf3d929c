/*
 * The file that `inquest import` makes of a rank: its trace and, beside the raw rows, what the
 * analysis found in it.  See schemas/trace.sql.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/breakdown.h"
#include "store/store_file.h"

/*
 * Writes the file whole, under a name of its own: `ret` is to be committed to `path`, or done.
 * `breakdown` is of the run that `trace` is of,
 * made with keep_intervals; `rank_index` says which of its ranks.  NULL: the raw tables only.
 * `rules_hash` names the rules it was made with; `compress` makes a .inq.zst.
 * Errors begin with the path.
 */
bool archive_prepare(struct store_file *ret, const char *path, const struct trace *trace,
	const struct breakdown *breakdown, uint32_t rank_index, uint64_t rules_hash, bool compress,
	struct err *err);

/* The same and committed: `path` is written whole, or what was there stays. */
bool archive_write(const char *path, const struct trace *trace, const struct breakdown *breakdown,
	uint32_t rank_index, uint64_t rules_hash, bool compress, struct err *err);
