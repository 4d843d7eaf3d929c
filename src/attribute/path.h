/*
 * The job path (DESIGN section 2b): from a step's end backward, always on the rank that the others
 * wait for.  Says which interval of which rank owns each stretch; what that adds up to is the
 * caller's.  src/attribute only.
 */
#pragma once

#include "attribute/ranks.h"

#define PATH_START_LAST \
	NULL_U32 /* start on the rank that reaches the next step's collective last */

/* A stretch of the path: time [start_ns, end_ns) of the first rank's clock. */
struct path_stretch {
	int64_t start_ns, end_ns;
	uint32_t step;			 /* common step */
	uint32_t rank;			 /* number in ranks.items */
	const struct interval *interval; /* NULL: before the rank's first GPU op */
};

struct path_hop {
	uint32_t step;
	uint32_t match; /* the collective waited at */
	uint32_t from, to;
	int64_t ns;
};

struct path_visitor {
	void *context;
	bool (*stretch)(void *context, const struct path_stretch *stretch, struct err *err);
	bool (*hop)(void *context, const struct path_hop *hop, struct err *err);
};

/*
 * Walks the steps [first, count) of ranks.step_names.  `start_rank` is PATH_START_LAST, or the
 * number of a rank to start on at the last instant that all ranks' windows cover: wherever a walk
 * starts, it is soon on the rank that the others wait for.  `ret_wall_ns[step]` is the length of
 * each step's path; its stretches sum to it.
 */
bool path_walk(const struct ranks *ranks, uint32_t start_rank, const struct path_visitor *visitor,
	int64_t *ret_wall_ns, struct err *err);
