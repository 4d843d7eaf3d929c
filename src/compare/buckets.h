/*
 * The path's time of each step sorted by cause, as far as one run alone can tell.  What needs both
 * runs (which gathers the other has not) comes in as a choice of bills.  src/compare only.
 */
#pragma once

#include "attribute/facts.h"
#include "compare/comparison.h"

/* Buckets are causes, but for two that are split later by comparing durations. */
enum bucket {
	BUCKET_RECOMPUTE,
	BUCKET_RECOMPUTE_DISPATCH,
	BUCKET_REPEATED,
	BUCKET_OVERLAP,
	BUCKET_UNIT,
	BUCKET_DISPATCH, /* of forward and backward: host_speed, then wrapper_dispatch or host */
	BUCKET_WORK,	 /* busy forward, backward, optimizer: kernel_speed and other_work */
	BUCKET_ALLOCATOR,
	BUCKET_HOST,
	BUCKET_COPIES,
	BUCKET_OTHER,
	BUCKET_COUNT,
};

struct buckets {
	uint32_t step_count;
	double *ns[BUCKET_COUNT]; /* by used step */
	double *wall_ns;
};

/* Which of a run's bills are of gathers that the other run has not; by bill. */
bool bills_choose(const struct run_facts *facts, const struct run_facts *other, bool same_units,
	struct arena *arena, bool **ret, struct err *err);

/* `scale` multiplies every time: base's tokens over this run's. */
bool buckets_make(const struct run_facts *facts, const bool *chosen, double scale,
	struct arena *arena, struct buckets *ret, struct err *err);
