/* Compares two runs' breakdowns; see compare/comparison.h for what comes out. */
#pragma once

#include "compare/comparison.h"

/* Strings of `ret` may point into the breakdowns, which must outlive it. */
bool compare_runs(const struct breakdown *base, const struct breakdown *checkpointed,
	struct comparison *ret, struct err *err);
