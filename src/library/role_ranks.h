/*
 * Whether the runs of a verdict are what they were meant to be, by their ranks: a glob without
 * quotes gives the ranks of one job as runs, and then a job would be compared with itself.
 */
#pragma once

#include "attribute/breakdown.h"
#include "library/handle.h"

/*
 * Refuses two roles that are files of one job, as ERR_USAGE with what to do.  By each one's only
 * rank and by the paths, which differ in the rank alone: nothing in a file says which job it is of.
 * `runs` holds NULL for a role without a run.
 */
bool role_ranks_check(const struct role_request *roles,
	const struct breakdown *const runs[ROLE_COUNT], struct err *err);

/* Whether any rank is in both: without one, ranks are compared that may have other work. */
bool role_ranks_share(const struct breakdown *a, const struct breakdown *b);
