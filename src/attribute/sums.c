#include "attribute/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of a part and of an interval, from `state` to `how`. */
#define OWNER_BYTES 6

static bool same_owner(const struct part *a, const struct part *b)
{
	return a->rank == b->rank && memcmp(&a->state, &b->state, OWNER_BYTES) == 0;
}

bool sums_add(struct sums *sums, const struct interval *interval, int32_t rank, int64_t ns,
	struct err *err)
{
	if (ns <= 0)
		return true;
	/* Neighbours are often alike; the rest of this is not even begun for them. */
	if (sums->last < sums->count && sums->items[sums->last].rank == rank &&
		memcmp(&sums->items[sums->last].state, &interval->state, OWNER_BYTES) == 0) {
		sums->items[sums->last].ns += ns;
		return true;
	}
	const struct part part = {.ns = ns,
		.rank = rank,
		.state = interval->state,
		.phase = interval->phase,
		.on = interval->on,
		.wait_for = interval->wait_for,
		.reason = interval->reason,
		.how = interval->how};
	for (uint32_t i = 0; i < sums->count; i++) {
		if (!same_owner(&sums->items[i], &part))
			continue;
		sums->items[i].ns += ns;
		sums->last = i;
		return true;
	}
	if (sums->count == sums->capacity) {
		const uint32_t capacity = sums->capacity ? sums->capacity * 2 : 64;
		if (!mem_resize(&sums->items, capacity, sizeof *sums->items, err))
			return false;
		sums->capacity = capacity;
	}
	sums->last = sums->count;
	sums->items[sums->count++] = part;
	return true;
}

/* Largest first; ties by what they are, so that the order never depends on the order of events. */
static int by_size(const void *a, const void *b)
{
	const struct part *left = a, *right = b;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return memcmp(&left->state, &right->state, OWNER_BYTES);
}

bool sums_take(struct sums *sums, struct arena *arena, struct part_list *ret, struct err *err)
{
	ret->items = arena_new(arena, sums->count, sizeof *ret->items, err);
	if (!ret->items)
		return false;
	ret->count = sums->count;
	if (sums->count) {
		memcpy(ret->items, sums->items, sums->count * sizeof *ret->items);
		qsort(ret->items, ret->count, sizeof *ret->items, by_size);
	}
	sums->count = sums->last = 0;
	return true;
}

void sums_done(struct sums *sums)
{
	mem_free(sums->items);
	*sums = (struct sums){0};
}
