/*
 * What the analysis found in one rank, into the results tables of schemas/trace.sql: step, unit,
 * gpu_op_phase, part, gather, flop, and meta's keys for them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/breakdown.h"
#include "store/database.h"

/*
 * Into a database whose raw tables are written.  `rules_hash` tells later readers by which rules
 * it was made.  Without the rank's intervals, gpu_op_phase and part stay empty.
 */
bool results_sql_write(
	sqlite3 *db, const struct rank_result *rank, uint64_t rules_hash, struct err *err);
