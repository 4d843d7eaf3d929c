/* Adds intervals up to parts: one a distinct owner.  src/attribute only. */
#pragma once

#include "attribute/breakdown.h"
#include "attribute/intervals.h"

struct sums {
	struct part *items;
	uint32_t count, capacity;
	uint32_t last; /* the part that the last interval went to: neighbours are often alike */
};

bool sums_add(struct sums *sums, const struct interval *interval, int32_t rank, int64_t ns,
	struct err *err);

/* Moves the parts into `arena`, largest first, and empties `sums`. */
bool sums_take(struct sums *sums, struct arena *arena, struct part_list *ret, struct err *err);

void sums_done(struct sums *sums);
