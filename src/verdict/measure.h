/*
 * Sums over a breakdown that the sentence and the advice need: the path by kind of part, the
 * ledger by reason, memory over the ranks, the stragglers.  Everything is a step's, in ns or bytes.
 */
#pragma once

#include "attribute/breakdown.h"

#define MEASURE_ANY 0xfe /* no part holds this value: any state, phase, holder or reason */

/* The mean over the used steps of the path; 0 without one. */
double measure_path_ns(const struct breakdown *breakdown, uint8_t state, uint8_t phase, uint8_t on,
	uint8_t reason);

/* Rows of the ledger with one reason: a step's, averaged over the ranks. */
struct gather_sum {
	double count, bytes, kernel_ns, blocked_ns, queued_ns;
	double prefetched_count;
	double unit_bytes;   /* each unit gathered once: what keeping them all would hold */
	uint32_t unit_count; /* distinct units, of the first rank */
	const char *units;   /* their names, the first few, in `arena`; "" if none */
};
bool measure_gathers(const struct breakdown *breakdown, enum gather_reason reason,
	struct arena *arena, struct gather_sum *ret, struct err *err);

/* The largest of the ranks; NULL_I64 where no rank knows it. */
int64_t measure_peak_allocated(const struct breakdown *breakdown);
int64_t measure_peak_reserved(const struct breakdown *breakdown);

/* Of the rank that had most: groups of retries in its used steps, and stalled time a step. */
int64_t measure_alloc_retries(const struct breakdown *breakdown);
double measure_alloc_stall_ns(const struct breakdown *breakdown);

/* cudaMalloc and cudaFree a step, of the rank that had most. */
struct alloc_calls {
	double alloc_count, free_count;
};
struct alloc_calls measure_alloc_calls(const struct breakdown *breakdown);

/* Hops of the used steps with the same collective and ranks, added up. */
struct straggler {
	const char *collective; /* points into the breakdown */
	int32_t from_rank, to_rank;
	int64_t count; /* over all used steps */
	double ns;     /* a step's */
};

/* Largest first, in `arena`. */
bool measure_stragglers(const struct breakdown *breakdown, struct arena *arena,
	struct straggler **ret, uint32_t *ret_count, struct err *err);
