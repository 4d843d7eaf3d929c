#include "attribute/bills.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *unit_name(const struct phases *phases, uint32_t unit)
{
	return unit == NULL_U32 ? "unknown" : intern_text(&phases->units, unit);
}

/* One row a unit, reason, way it was reached and prefetch. */
struct row_key {
	uint32_t unit;
	uint8_t reason, how;
	bool prefetched;
};

struct rows {
	struct gather_row *items;
	struct row_key *keys;
	uint32_t count, capacity;
};

static struct gather_row *find_row(struct rows *rows, const struct row_key *key, struct err *err)
{
	for (uint32_t i = 0; i < rows->count; i++)
		if (rows->keys[i].unit == key->unit && rows->keys[i].reason == key->reason &&
			rows->keys[i].how == key->how &&
			rows->keys[i].prefetched == key->prefetched)
			return &rows->items[i];
	if (rows->count == rows->capacity) {
		const uint32_t capacity = rows->capacity ? rows->capacity * 2 : 64;
		if (!mem_resize(&rows->items, capacity, sizeof *rows->items, err) ||
			!mem_resize(&rows->keys, capacity, sizeof *rows->keys, err))
			return NULL;
		rows->capacity = capacity;
	}
	rows->keys[rows->count] = *key;
	rows->items[rows->count] = (struct gather_row){0};
	return &rows->items[rows->count++];
}

/* The collectives that gathers may stand in line behind, in the order of time. */
struct others {
	uint32_t *items;
	uint32_t count;
	int64_t *ready_ns; /* by collective: when what a gather needs first was done, NULL_I64 if at
			      once */
};

static int by_start(const void *a, const void *b, void *context)
{
	const struct rank_analysis *rank = context;
	const uint32_t *op = rank->trace->collectives.gpu_op_id;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const int64_t left_ns = rank->trace->gpu_ops.start_ns[op[left]];
	const int64_t right_ns = rank->trace->gpu_ops.start_ns[op[right]];
	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left > right) - (left < right);
}

static void others_done(struct others *others)
{
	mem_free(others->items);
	mem_free(others->ready_ns);
}

/*
 * A gather can't begin before its own copy-in is done, nor before the op ahead of it on its stream;
 * a host that runs a step ahead launches both long before.
 */
static void find_ready(const struct rank_analysis *rank, int64_t *ready_ns)
{
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	const struct collective_table *collectives = &rank->trace->collectives;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		const uint32_t op = collectives->gpu_op_id[c];
		const bool follows =
			op != NULL_U32 && op > 0 && ops->stream_id[op - 1] == ops->stream_id[op];
		ready_ns[c] = follows ? ops->end_ns[op - 1] : NULL_I64;
	}
	for (uint32_t op = 0; op < ops->head.count; op++) {
		const uint32_t gather = rank->phases.billed[op];
		if (gather == NULL_U32 || rank->phases.launches[op].is_copy_out)
			continue;
		const uint32_t own = collectives->gpu_op_id[gather];
		if (op != own &&
			rank->phases.launches[op].start_ns < rank->phases.launches[own].start_ns &&
			ops->end_ns[op] > ready_ns[gather])
			ready_ns[gather] = ops->end_ns[op];
	}
}

static bool collect_others(const struct rank_analysis *rank, struct others *ret, struct err *err)
{
	const struct collective_table *collectives = &rank->trace->collectives;
	*ret = (struct others){mem_new(collectives->head.count, sizeof *ret->items, err), 0,
		mem_new(collectives->head.count, sizeof *ret->ready_ns, err)};
	if (!ret->items || !ret->ready_ns)
		return false; /* the caller ends it */
	find_ready(rank, ret->ready_ns);
	for (uint32_t c = 0; c < collectives->head.count; c++)
		if (collectives->gpu_op_id[c] != NULL_U32 && collectives->communicator_id[c] &&
			collectives->kind[c] != COLLECTIVE_ALL_GATHER)
			ret->items[ret->count++] = c;
	qsort_r(ret->items, ret->count, sizeof *ret->items, by_start, (void *)rank);
	return true;
}

/*
 * How long the gather was launched and ready while another collective of its communicator still
 * ran: it stood in line, since a communicator runs one after another.
 */
static int64_t queued_ns(
	const struct rank_analysis *rank, const struct others *others, uint32_t collective)
{
	const struct collective_table *collectives = &rank->trace->collectives;
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	const uint32_t op = collectives->gpu_op_id[collective];
	const int64_t launched_ns = rank->phases.launches[op].end_ns, to_ns = ops->start_ns[op];
	const int64_t ready_ns = others->ready_ns[collective];
	const int64_t from_ns = ready_ns > launched_ns ? ready_ns : launched_ns;
	int64_t sum_ns = 0;
	if (launched_ns == NULL_I64 || from_ns >= to_ns)
		return 0;
	uint32_t low = 0, high = others->count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (ops->start_ns[collectives->gpu_op_id[others->items[middle]]] < to_ns)
			low = middle + 1;
		else
			high = middle;
	}
	/* They run one after another, so the first that ends too early ends the search. */
	while (low-- > 0) {
		const uint32_t c = others->items[low], other = collectives->gpu_op_id[c];
		if (collectives->communicator_id[c] != collectives->communicator_id[collective])
			continue;
		if (ops->end_ns[other] <= from_ns)
			break;
		const int64_t start_ns =
			ops->start_ns[other] > from_ns ? ops->start_ns[other] : from_ns;
		const int64_t end_ns = ops->end_ns[other] < to_ns ? ops->end_ns[other] : to_ns;
		sum_ns += end_ns > start_ns ? end_ns - start_ns : 0;
	}
	return sum_ns;
}

static int by_row(const void *a, const void *b)
{
	const struct gather_row *left = a, *right = b;
	if (left->reason != right->reason)
		return left->reason < right->reason ? -1 : 1;
	/* "layers.10" after "layers.9". */
	const int order = strverscmp(left->unit, right->unit);
	if (order)
		return order;
	if (left->prefetched != right->prefetched)
		return left->prefetched ? 1 : -1;
	return (left->how > right->how) - (left->how < right->how);
}

/* The blocked time on each collective, by the partition. */
static int64_t *blocked_by_collective(
	const struct rank_analysis *rank, const bool *used, struct err *err)
{
	int64_t *blocked_ns = mem_new(rank->trace->collectives.head.count, sizeof *blocked_ns, err);
	for (uint32_t i = 0; blocked_ns && i < rank->partition.count; i++) {
		const struct interval *interval = &rank->partition.items[i];
		if (interval->state == STATE_BLOCKED && interval->gather != NULL_U32 &&
			interval->step != NULL_U32 && used[interval->step])
			blocked_ns[interval->gather] += interval->end_ns - interval->start_ns;
	}
	return blocked_ns;
}

static bool add_gather(const struct ranks *ranks, const struct rank_analysis *rank,
	const struct others *others, uint32_t collective, int64_t blocked_ns, struct rows *rows,
	struct err *err)
{
	const struct collective_table *collectives = &rank->trace->collectives;
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	const uint32_t op = collectives->gpu_op_id[collective];
	const struct gather *gather = &rank->phases.gathers[collective];
	const struct row_key key = {
		gather->unit, gather->reason, gather->how, rank->phases.launches[op].prefetched};
	struct gather_row *row = find_row(rows, &key, err);
	if (!row)
		return false;
	row->unit = unit_name(&rank->phases, gather->unit);
	row->reason = gather->reason;
	row->how = gather->how;
	row->prefetched = key.prefetched;
	row->count++;
	if (collectives->recv_bytes[collective] != NULL_I64 &&
		__builtin_add_overflow(
			row->bytes, collectives->recv_bytes[collective], &row->bytes))
		row->bytes = INT64_MAX;
	row->kernel_ns += ops->end_ns[op] - ops->start_ns[op];
	row->blocked_ns += blocked_ns;
	row->queued_behind_ns += queued_ns(rank, others, collective);
	const uint32_t m = rank->match[collective];
	if (ranks->count < 2 || m == NULL_U32 || ranks->matches[m].seen < 2)
		row->peer_wait_ns = NULL_I64;
	else if (row->peer_wait_ns != NULL_I64)
		row->peer_wait_ns +=
			ranks->matches[m].arrived_ns - (ops->start_ns[op] + rank->clock_ns);
	return true;
}

bool bills_make(const struct ranks *ranks, uint32_t rank_number, const bool *used,
	struct arena *arena, struct rank_result *ret, struct err *err)
{
	const struct rank_analysis *rank = &ranks->items[rank_number];
	const struct collective_table *collectives = &rank->trace->collectives;
	struct rows rows = {0};
	int64_t *blocked_ns = blocked_by_collective(rank, used, err);
	struct others others = {0};
	bool ok = blocked_ns && collect_others(rank, &others, err);
	for (uint32_t c = 0; c < collectives->head.count && ok; c++) {
		if (rank->phases.gathers[c].reason == WORD_NONE)
			continue;
		const uint32_t step = rank->phases.launches[collectives->gpu_op_id[c]].step;
		if (step == NULL_U32 ? rank->phases.steps.count : !used[step])
			continue;
		ok = add_gather(ranks, rank, &others, c, blocked_ns[c], &rows, err);
	}
	mem_free(blocked_ns);
	others_done(&others);
	if (ok) {
		ret->gathers = arena_new(arena, rows.count, sizeof *ret->gathers, err);
		ok = ret->gathers;
	}
	for (uint32_t i = 0; i < rows.count && ok; i++) {
		ret->gathers[i] = rows.items[i];
		ret->gathers[i].unit = arena_text(arena, rows.items[i].unit, err);
		ok = ret->gathers[i].unit;
	}
	if (ok) {
		ret->gather_count = rows.count;
		qsort(ret->gathers, ret->gather_count, sizeof *ret->gathers, by_row);
	}
	mem_free(rows.items);
	mem_free(rows.keys);
	return ok;
}
