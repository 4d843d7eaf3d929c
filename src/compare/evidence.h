/* The observations behind each cause, and its sentence.  src/compare only. */
#pragma once

#include "attribute/facts.h"
#include "compare/buckets.h"
#include "compare/comparison.h"

struct pair_facts {
	const struct breakdown *base, *checkpointed;
	const bool *base_chosen, *checkpointed_chosen; /* bills of repeated gathers */
	double scale; /* base's tokens over checkpointed's, 1 if they are the same */
	bool same_work;
	bool only_checkpointing; /* is what differs, so that the rest of dispatch is its wrappers'
				  */
};

/* The part of the busy change that durations of the same kernels explain, ns. */
double evidence_kernel_speed(const struct pair_facts *pair);

/* The part of base's starved dispatch that slower host calls explain, ns. */
double evidence_host_speed(const struct pair_facts *pair);

bool evidence_add(const struct pair_facts *pair, struct comparison *ret, struct err *err);
