#include "trace/row_order.h"

#include <string.h>

#include "base/mem.h"

struct order {
	const void *table;
	const struct table_desc *desc;
	const struct row_key *key;
};

static int compare_values(const char *column, size_t size, uint32_t left, uint32_t right)
{
	if (size == sizeof(int64_t)) {
		const int64_t *value = (const int64_t *)column;
		return (value[left] > value[right]) - (value[left] < value[right]);
	}
	if (size == sizeof(uint32_t)) {
		const uint32_t *value = (const uint32_t *)column;
		return (value[left] > value[right]) - (value[left] < value[right]);
	}
	const uint8_t *value = (const uint8_t *)column;
	return (value[left] > value[right]) - (value[left] < value[right]);
}

/* By every column as declared.  Signed 32-bit values order as unsigned ones; any order will do. */
static int compare_rest(const struct order *order, uint32_t left, uint32_t right)
{
	for (uint32_t c = 0; c < order->desc->column_count; c++) {
		const struct column_desc *column = &order->desc->columns[c];
		const char *values = *(char *const *)((const char *)order->table + column->offset);
		const int result = compare_values(values, column->size, left, right);
		if (result)
			return result;
	}
	return 0;
}

/* Within one group. */
static int compare(const struct order *order, uint32_t left, uint32_t right)
{
	const struct row_key *key = order->key;
	if (key->start && key->start[left] != key->start[right])
		return key->start[left] < key->start[right] ? -1 : 1;
	if (key->end && key->end[left] != key->end[right])
		return (key->end[left] < key->end[right]) != key->is_longest_first ? -1 : 1;
	return compare_rest(order, left, right);
}

static uint32_t group_of(const struct row_key *key, uint32_t row)
{
	if (!key->group)
		return 0;
	return key->group[row] < key->group_count ? key->group[row] : key->group_count;
}

static bool is_sorted(const struct order *order, uint32_t count)
{
	for (uint32_t row = 1; row < count; row++) {
		const uint32_t left = group_of(order->key, row - 1);
		const uint32_t right = group_of(order->key, row);
		if (left > right || (left == right && compare(order, row - 1, row) > 0))
			return false;
	}
	return true;
}

static void merge(const struct order *order, const uint32_t *left, uint32_t left_count,
	const uint32_t *right, uint32_t right_count, uint32_t *to)
{
	uint32_t l = 0, r = 0;
	while (l < left_count && r < right_count)
		*to++ = compare(order, left[l], right[r]) <= 0 ? left[l++] : right[r++];
	memcpy(to, left + l, (left_count - l) * sizeof *to);
	memcpy(to + left_count - l, right + r, (right_count - r) * sizeof *to);
}

/*
 * Merges the runs of rows[0..count), whose ends are in `ends`, two by two, until one is left.
 * `other` has the same room.
 */
static void merge_runs(const struct order *order, uint32_t *rows, uint32_t *other, uint32_t count,
	uint32_t *ends, uint32_t run_count)
{
	uint32_t *from = rows, *to = other;
	while (run_count > 1) {
		uint32_t merged = 0, start = 0;
		for (uint32_t run = 0; run < run_count; run += 2) {
			const uint32_t middle = ends[run];
			const uint32_t end = run + 1 < run_count ? ends[run + 1] : middle;
			merge(order, from + start, middle - start, from + middle, end - middle,
				to + start);
			start = end;
			ends[merged++] = end;
		}
		run_count = merged;
		uint32_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, count * sizeof *rows);
}

/* Sorts the rows of one group. */
static void sort_group(
	const struct order *order, uint32_t *rows, uint32_t *other, uint32_t count, uint32_t *ends)
{
	uint32_t run_count = 0;
	for (uint32_t i = 1; i < count; i++)
		if (compare(order, rows[i - 1], rows[i]) > 0)
			ends[run_count++] = i;
	if (run_count == 0)
		return;
	ends[run_count++] = count;
	merge_runs(order, rows, other, count, ends, run_count);
}

/* Deals the rows out to their groups, in the order they have. */
static void deal(const struct row_key *key, uint32_t count, uint32_t *group_end, uint32_t *rows)
{
	for (uint32_t row = 0; row < count; row++)
		group_end[group_of(key, row)]++;
	uint32_t start = 0;
	for (uint32_t g = 0; g <= key->group_count; g++) {
		const uint32_t size = group_end[g];
		group_end[g] = start;
		start += size;
	}
	for (uint32_t row = 0; row < count; row++)
		rows[group_end[group_of(key, row)]++] = row;
}

bool row_order_sort(void *table, const struct table_desc *desc, const struct row_key *key,
	uint32_t **ret_order, struct err *err)
{
	const struct order order = {table, desc, key};
	const uint32_t count = ((const struct table_head *)table)->count;
	*ret_order = NULL;
	if (is_sorted(&order, count))
		return true;
	uint32_t *rows = mem_new(count, sizeof *rows, err);
	uint32_t *other = rows ? mem_new(count, sizeof *other, err) : NULL;
	uint32_t *ends = other ? mem_new(count, sizeof *ends, err) : NULL;
	uint32_t *group_end =
		ends ? mem_new((size_t)key->group_count + 1, sizeof *group_end, err) : NULL;
	bool is_sorted_now = group_end != NULL;
	if (is_sorted_now) {
		deal(key, count, group_end, rows);
		uint32_t start = 0;
		for (uint32_t g = 0; g <= key->group_count; g++) {
			sort_group(&order, rows + start, other + start, group_end[g] - start, ends);
			start = group_end[g];
		}
	}
	mem_free(other);
	mem_free(ends);
	mem_free(group_end);
	is_sorted_now = is_sorted_now && table_reorder(table, desc, rows, err);
	if (is_sorted_now)
		*ret_order = rows;
	else
		mem_free(rows);
	return is_sorted_now;
}
