/* Sums over a breakdown. */
#include "verdict/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define UNITS_NAMED 4 /* more are counted, not named */

static bool matches(uint8_t wanted, uint8_t value)
{
	return wanted == MEASURE_ANY || wanted == value;
}

double measure_path_ns(
	const struct breakdown *breakdown, uint8_t state, uint8_t phase, uint8_t on, uint8_t reason)
{
	double sum = 0;
	uint32_t used = 0;
	for (uint32_t i = 0; i < breakdown->path_count; i++) {
		const struct path_step *step = &breakdown->path[i];
		if (!step->used)
			continue;
		used++;
		for (uint32_t k = 0; k < step->parts.count; k++) {
			const struct part *part = &step->parts.items[k];
			if (matches(state, part->state) && matches(phase, part->phase) &&
				matches(on, part->on) && matches(reason, part->reason))
				sum += (double)part->ns;
		}
	}
	return used ? sum / used : 0;
}

/* Whether an earlier row of the same reason is the same unit's: prefetched gathers and others are
 * rows of their own. */
static bool is_named(const struct rank_result *rank, uint32_t row)
{
	for (uint32_t i = 0; i < row; i++)
		if (rank->gathers[i].reason == rank->gathers[row].reason &&
			strcmp(rank->gathers[i].unit, rank->gathers[row].unit) == 0)
			return true;
	return false;
}

static bool sum_units(const struct rank_result *rank, enum gather_reason reason,
	struct arena *arena, struct gather_sum *ret, struct err *err)
{
	struct text text = {0};
	for (uint32_t i = 0; i < rank->gather_count; i++) {
		const struct gather_row *row = &rank->gathers[i];
		if (row->reason != reason || row->count <= 0 || is_named(rank, i))
			continue;
		if (ret->unit_count < UNITS_NAMED)
			text_add(&text, "%s%s", ret->unit_count ? ", " : "", row->unit);
		ret->unit_count++;
		ret->unit_bytes += (double)row->bytes / (double)row->count;
	}
	if (ret->unit_count > UNITS_NAMED)
		text_add(&text, " and %u more", ret->unit_count - UNITS_NAMED);
	ret->units = text_take(&text, arena, err);
	return ret->units != NULL;
}

bool measure_gathers(const struct breakdown *breakdown, enum gather_reason reason,
	struct arena *arena, struct gather_sum *ret, struct err *err)
{
	*ret = (struct gather_sum){.units = ""};
	for (uint32_t r = 0; r < breakdown->rank_count; r++) {
		const struct rank_result *rank = &breakdown->ranks[r];
		const double share =
			rank->steps_used ? 1.0 / rank->steps_used / breakdown->rank_count : 0;
		for (uint32_t i = 0; i < rank->gather_count; i++) {
			const struct gather_row *row = &rank->gathers[i];
			if (row->reason != reason)
				continue;
			ret->count += share * (double)row->count;
			ret->bytes += share * (double)row->bytes;
			ret->kernel_ns += share * (double)row->kernel_ns;
			ret->blocked_ns += share * (double)row->blocked_ns;
			ret->queued_ns += share * (double)row->queued_behind_ns;
			if (row->prefetched)
				ret->prefetched_count += share * (double)row->count;
		}
	}
	if (!breakdown->rank_count)
		return true;
	return sum_units(&breakdown->ranks[0], reason, arena, ret, err);
}

/* NULL_I64 is the smallest number there is, so a plain maximum skips it. */
int64_t measure_peak_allocated(const struct breakdown *breakdown)
{
	int64_t peak = NULL_I64;
	for (uint32_t r = 0; r < breakdown->rank_count; r++)
		if (breakdown->ranks[r].memory.peak_allocated_bytes > peak)
			peak = breakdown->ranks[r].memory.peak_allocated_bytes;
	return peak;
}

int64_t measure_peak_reserved(const struct breakdown *breakdown)
{
	int64_t peak = NULL_I64;
	for (uint32_t r = 0; r < breakdown->rank_count; r++)
		if (breakdown->ranks[r].memory.peak_reserved_bytes > peak)
			peak = breakdown->ranks[r].memory.peak_reserved_bytes;
	return peak;
}

int64_t measure_alloc_retries(const struct breakdown *breakdown)
{
	int64_t most = breakdown->rank_count ? 0 : NULL_I64;
	for (uint32_t r = 0; r < breakdown->rank_count; r++)
		if (breakdown->ranks[r].memory.alloc_retries > most)
			most = breakdown->ranks[r].memory.alloc_retries;
	return most;
}

double measure_alloc_stall_ns(const struct breakdown *breakdown)
{
	double most = 0;
	for (uint32_t r = 0; r < breakdown->rank_count; r++) {
		const struct rank_result *rank = &breakdown->ranks[r];
		const double stall =
			rank->steps_used ? (double)rank->memory.alloc_stall_ns / rank->steps_used
					 : 0;
		if (stall > most)
			most = stall;
	}
	return most;
}

struct alloc_calls measure_alloc_calls(const struct breakdown *breakdown)
{
	struct alloc_calls most = {0};
	for (uint32_t r = 0; r < breakdown->rank_count; r++) {
		const struct rank_result *rank = &breakdown->ranks[r];
		const double share = rank->steps_used ? 1.0 / rank->steps_used : 0;
		const struct alloc_calls own = {
			.alloc_count = share * (double)rank->memory.alloc_calls,
			.free_count = share * (double)rank->memory.free_calls,
		};
		if (own.alloc_count + own.free_count > most.alloc_count + most.free_count)
			most = own;
	}
	return most;
}

static int by_time(const void *left, const void *right)
{
	const struct straggler *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->to_rank != b->to_rank)
		return a->to_rank < b->to_rank ? -1 : 1;
	if (a->from_rank != b->from_rank)
		return a->from_rank < b->from_rank ? -1 : 1;
	return strcmp(a->collective, b->collective);
}

static void add_hop(struct straggler *rows, uint32_t *count, const struct hop *hop, double share)
{
	uint32_t i = 0;
	while (i < *count &&
		!(rows[i].from_rank == hop->from_rank && rows[i].to_rank == hop->to_rank &&
			strcmp(rows[i].collective, hop->collective) == 0))
		i++;
	if (i == *count)
		rows[(*count)++] = (struct straggler){.collective = hop->collective,
			.from_rank = hop->from_rank,
			.to_rank = hop->to_rank};
	rows[i].count++;
	rows[i].ns += share * (double)hop->ns;
}

bool measure_stragglers(const struct breakdown *breakdown, struct arena *arena,
	struct straggler **ret, uint32_t *ret_count, struct err *err)
{
	uint32_t hop_count = 0, used = 0, count = 0;
	for (uint32_t i = 0; i < breakdown->path_count; i++)
		if (breakdown->path[i].used) {
			hop_count += breakdown->path[i].hop_count;
			used++;
		}
	struct straggler *rows = arena_new(arena, hop_count, sizeof *rows, err);
	if (!rows)
		return false;
	for (uint32_t i = 0; i < breakdown->path_count; i++) {
		const struct path_step *step = &breakdown->path[i];
		for (uint32_t k = 0; step->used && k < step->hop_count; k++)
			add_hop(rows, &count, &step->hops[k], 1.0 / used);
	}
	qsort(rows, count, sizeof *rows, by_time);
	*ret = rows;
	*ret_count = count;
	return true;
}
