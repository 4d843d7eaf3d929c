/*
 * Pairs of numbers to row numbers, by open addressing: threads by (pid, tid), streams by (device,
 * stream), launch calls by correlation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct key_slot {
	int64_t a, b;
	uint32_t row; /* plus 1; 0 is free */
};

struct key_map {
	struct key_slot *slot;
	uint32_t slot_count; /* a power of two, or 0 */
	uint32_t count;
};

void key_map_done(struct key_map *map);

/* The row of (a, b), UINT32_MAX if there is none. */
uint32_t key_map_get(const struct key_map *map, int64_t a, int64_t b);

/* Sets the row of (a, b), whether or not it had one. */
bool key_map_put(struct key_map *map, int64_t a, int64_t b, uint32_t row, struct err *err);
