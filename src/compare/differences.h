/* What differs between two runs, and whether a comparison means anything.  src/compare only. */
#pragma once

#include "compare/comparison.h"

struct differences {
	const char **items; /* a sentence each, in the arena given */
	uint32_t count;
	bool comparable;
	bool same_units; /* the same units gather the same bytes */
	bool same_work;	 /* tokens, micro-batch and sequence are the same: durations of
			    the same kernels can be compared */
	bool checkpointing_is_only_difference;
};

/* By more than a part of the larger. */
bool differ_by(double a, double b, double frac);

/* Whether a run checkpoints, by what its path does. */
bool run_recomputes(const struct breakdown *run);

bool differences_find(const struct breakdown *base, const struct breakdown *checkpointed,
	struct arena *arena, struct differences *ret, struct err *err);
