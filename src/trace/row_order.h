/*
 * The order of a table's rows: by a group, then by start and end, then by all that is left, so that
 * the order in which the rows came in never shows.  Recorded rows are nearly sorted within a thread
 * or a stream: runs that are in order already are found and merged, and nothing else is moved.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

struct row_key {
	const uint32_t
		*group; /* a number below group_count, or null, which comes last; NULL if none */
	uint32_t group_count;
	const int64_t *start; /* NULL if none */
	const int64_t *end;   /* NULL if none */
	bool is_longest_first;
};

/* Sorts.  `*ret_order` (old row by new row) is NULL when nothing had to move; mem_free it. */
bool row_order_sort(void *table, const struct table_desc *desc, const struct row_key *key,
	uint32_t **ret_order, struct err *err);
