/*
 * The file that `inquest import` makes of a rank: its trace and, beside the raw rows, what the
 * analysis found in it.  See schemas/trace.sql.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/breakdown.h"

/*
 * Writes `path` whole, or leaves what was there.  `breakdown` is of the run that `trace` is of,
 * made with keep_intervals; `rank_index` says which of its ranks.  NULL: the raw tables only.
 * `rules_hash` names the rules it was made with; `compress` makes a .inq.zst.
 * Errors begin with the path.
 */
bool archive_write(const char *path, const struct trace *trace, const struct breakdown *breakdown,
	uint32_t rank_index, uint64_t rules_hash, bool compress, struct err *err);
