/*
 * From rows as they came to a trace that can be analysed: numbered by content, sorted, joined.
 */
#include <string.h>

#include "base/mem.h"
#include "trace/row_order.h"
#include "trace/trace.h"

#define MAX_SAME_CORRELATION \
	64 /* launch calls of one id that are looked at, nearest in the table */

/* Row `old` is now row renumbered[old]. */
static void renumber(uint32_t *column, uint32_t count, const uint32_t *renumbered)
{
	for (uint32_t row = 0; row < count; row++)
		if (column[row] != NULL_U32)
			column[row] = renumbered[column[row]];
}

/* From old-row-by-new-row to new-row-by-old-row; consumes `order`. */
static bool invert(uint32_t *order, uint32_t count, uint32_t **ret, struct err *err)
{
	uint32_t *inverse = mem_new(count, sizeof *inverse, err);
	if (inverse)
		for (uint32_t row = 0; row < count; row++)
			inverse[order[row]] = row;
	mem_free(order);
	*ret = inverse;
	return inverse != NULL;
}

static bool is_string_column(const struct column_desc *column)
{
	return strncmp(column->doc, "string:", 7) == 0;
}

/* The strings in the order of their text, so that ids say nothing of the order of events. */
static bool sort_strings(struct trace *trace, struct err *err)
{
	const uint32_t count = trace->strings.count;
	struct intern sorted;
	uint32_t *rank = mem_new(count, sizeof *rank, err);
	uint32_t *order = rank ? mem_new(count, sizeof *order, err) : NULL;
	bool is_done = order && intern_rank(&trace->strings, rank, err);
	bool is_same = true;
	for (uint32_t id = 0; is_done && id < count; id++) {
		order[rank[id]] = id;
		is_same &= rank[id] == id;
	}
	if (is_done && !is_same) {
		is_done = intern_init(&sorted, err);
		for (uint32_t at = 1; is_done && at < count; at++)
			is_done = intern_put(&sorted, intern_text(&trace->strings, order[at]),
					  trace->strings.length[order[at]], err) == at;
		if (is_done) {
			intern_done(&trace->strings);
			trace->strings = sorted;
			trace->gpu_name_id = rank[trace->gpu_name_id];
		} else {
			intern_done(&sorted);
		}
	}
	for (uint32_t t = 0; is_done && !is_same && t < trace_table_count; t++) {
		const struct table_desc *desc = trace_tables[t].desc;
		char *table = (char *)trace + trace_tables[t].offset;
		for (uint32_t c = 0; c < desc->column_count; c++)
			if (is_string_column(&desc->columns[c]))
				renumber(*(uint32_t **)(table + desc->columns[c].offset),
					((struct table_head *)table)->count, rank);
	}
	mem_free(order);
	mem_free(rank);
	return is_done;
}

/* Sorts a table and lets the columns that refer to its rows follow. */
struct reference {
	uint32_t *column;
	uint32_t count;
};

static bool sort_table(void *table, const struct table_desc *desc, const struct row_key *key,
	const struct reference *references, uint32_t reference_count, struct err *err)
{
	uint32_t *order, *renumbered;
	if (!row_order_sort(table, desc, key, &order, err))
		return false;
	if (!order)
		return true;
	if (!invert(order, ((const struct table_head *)table)->count, &renumbered, err))
		return false;
	for (uint32_t r = 0; r < reference_count; r++)
		renumber(references[r].column, references[r].count, renumbered);
	mem_free(renumbered);
	return true;
}

static bool sort_places(struct trace *trace, struct err *err)
{
	const struct reference threads[] = {
		{trace->host_ops.thread_id, trace->host_ops.head.count},
		{trace->api_calls.thread_id, trace->api_calls.head.count},
		{trace->markers.thread_id, trace->markers.head.count},
	};
	const struct reference streams[] = {
		{trace->gpu_ops.stream_id, trace->gpu_ops.head.count},
		{trace->stream_waits.waiting_stream_id, trace->stream_waits.head.count},
		{trace->stream_waits.recorded_stream_id, trace->stream_waits.head.count},
	};
	/* Their first columns are what they are told by. */
	const struct row_key by_content = {0};
	return sort_table(&trace->threads, &thread_table_desc, &by_content, threads,
		       sizeof threads / sizeof *threads, err) &&
	       sort_table(&trace->streams, &stream_table_desc, &by_content, streams,
		       sizeof streams / sizeof *streams, err);
}

static bool sort_events(struct trace *trace, struct err *err)
{
	const uint32_t thread_count = trace->threads.head.count;
	const struct row_key host_key = {trace->host_ops.thread_id, thread_count,
		trace->host_ops.start_ns, trace->host_ops.end_ns, true};
	const struct row_key call_key = {trace->api_calls.thread_id, thread_count,
		trace->api_calls.start_ns, trace->api_calls.end_ns, true};
	const struct row_key gpu_key = {trace->gpu_ops.stream_id, trace->streams.head.count,
		trace->gpu_ops.start_ns, trace->gpu_ops.end_ns, false};
	const struct reference calls[] = {
		{trace->gpu_ops.api_call_id, trace->gpu_ops.head.count},
		{trace->stream_waits.api_call_id, trace->stream_waits.head.count},
		{trace->stream_waits.record_call_id, trace->stream_waits.head.count},
	};
	const struct reference gpu_ops[] = {
		{trace->collectives.gpu_op_id, trace->collectives.head.count},
	};
	return sort_table(&trace->host_ops, &host_op_table_desc, &host_key, NULL, 0, err) &&
	       sort_table(&trace->api_calls, &api_call_table_desc, &call_key, calls,
		       sizeof calls / sizeof *calls, err) &&
	       sort_table(&trace->gpu_ops, &gpu_op_table_desc, &gpu_key, gpu_ops, 1, err);
}

static bool sort_rest(struct trace *trace, struct err *err)
{
	const struct row_key collective_key = {
		.group = trace->collectives.gpu_op_id, .group_count = trace->gpu_ops.head.count};
	const struct row_key wait_key = {.group = trace->stream_waits.api_call_id,
		.group_count = trace->api_calls.head.count};
	const struct row_key marker_key = {.start = trace->markers.start_ns,
		.end = trace->markers.end_ns,
		.is_longest_first = true};
	const struct row_key memory_key = {.start = trace->memory.at_ns};
	const struct row_key clock_key = {.start = trace->clocks.at_ns};
	return sort_table(&trace->collectives, &collective_table_desc, &collective_key, NULL, 0,
		       err) &&
	       sort_table(&trace->stream_waits, &stream_wait_table_desc, &wait_key, NULL, 0, err) &&
	       sort_table(&trace->markers, &marker_table_desc, &marker_key, NULL, 0, err) &&
	       sort_table(&trace->memory, &memory_table_desc, &memory_key, NULL, 0, err) &&
	       sort_table(&trace->clocks, &clock_table_desc, &clock_key, NULL, 0, err);
}

/* Launch calls by correlation: the newest row of each id, and from each row the one before it. */
struct launches {
	uint32_t *slot; /* row + 1; 0 is free */
	uint32_t *older;
	uint32_t mask;
};

static uint32_t *launch_slot(
	const struct launches *launches, const uint32_t *correlation, uint32_t id)
{
	uint32_t at = id * 2654435769u >> 3 & launches->mask;
	while (launches->slot[at] && correlation[launches->slot[at] - 1] != id)
		at = (at + 1) & launches->mask;
	return &launches->slot[at];
}

static bool index_launches(struct trace *trace, struct launches *ret, struct err *err)
{
	const uint32_t *correlation = trace->api_calls.correlation;
	const uint32_t count = trace->api_calls.head.count;
	uint32_t slot_count = 64;
	while (slot_count < 2 * (uint64_t)count && slot_count < 1u << 31)
		slot_count *= 2;
	ret->mask = slot_count - 1;
	ret->slot = mem_new(slot_count, sizeof *ret->slot, err);
	if (!ret->slot)
		return false;
	for (uint32_t row = 0; row < count; row++) {
		if (correlation[row] == NULL_U32)
			continue;
		uint32_t *slot = launch_slot(ret, correlation, correlation[row]);
		if (*slot) {
			if (!ret->older)
				ret->older = mem_new(count, sizeof *ret->older, err);
			if (!ret->older)
				return false;
			ret->older[row] = *slot;
			diag_add(&trace->diag, DIAG_DUPLICATE_CORRELATION, 1, -1);
		}
		*slot = row + 1;
	}
	return true;
}

/* Of the calls with this id, the one nearest before `start_ns`, else the earliest. */
static uint32_t find_launch(
	const struct trace *trace, const struct launches *launches, uint32_t id, int64_t start_ns)
{
	const struct api_call_table *calls = &trace->api_calls;
	uint32_t next = *launch_slot(launches, calls->correlation, id);
	if (!next)
		return NULL_U32;
	uint32_t best = next - 1;
	for (uint32_t seen = 1; launches->older && seen < MAX_SAME_CORRELATION; seen++) {
		next = launches->older[next - 1];
		if (!next)
			break;
		const int64_t held = calls->start_ns[best], found = calls->start_ns[next - 1];
		const bool held_fits = held <= start_ns, found_fits = found <= start_ns;
		if (held_fits != found_fits ? found_fits : held_fits == (found > held))
			best = next - 1;
	}
	return best;
}

static bool join_launches(struct trace *trace, struct err *err)
{
	struct gpu_op_table *ops = &trace->gpu_ops;
	struct launches launches = {0};
	const bool is_indexed = index_launches(trace, &launches, err);
	for (uint32_t g = 0; is_indexed && g < ops->head.count; g++) {
		if (ops->api_call_id[g] == NULL_U32 && ops->correlation[g] != NULL_U32)
			ops->api_call_id[g] = find_launch(
				trace, &launches, ops->correlation[g], ops->start_ns[g]);
		const uint32_t call = ops->api_call_id[g];
		if (call == NULL_U32)
			diag_add(&trace->diag, DIAG_NO_LAUNCH, 1, -1);
		else if (ops->start_ns[g] < trace->api_calls.start_ns[call])
			diag_add(&trace->diag, DIAG_LAUNCH_AFTER_START, 1, -1);
	}
	mem_free(launches.slot);
	mem_free(launches.older);
	return is_indexed;
}

static void count_overlaps(struct trace *trace)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	int64_t busy_until = INT64_MIN;
	for (uint32_t g = 0; g < ops->head.count; g++) {
		if (g > 0 && ops->stream_id[g] != ops->stream_id[g - 1])
			busy_until = INT64_MIN;
		if (ops->start_ns[g] < busy_until)
			diag_add(&trace->diag, DIAG_STREAM_OVERLAP, 1, -1);
		if (ops->end_ns[g] > busy_until)
			busy_until = ops->end_ns[g];
	}
}

/* A range that outlives the one it began in. */
static bool count_crossings(struct trace *trace, struct err *err)
{
	const struct host_op_table *ops = &trace->host_ops;
	int64_t *open = NULL; /* the ends of the ranges around the current one */
	uint32_t depth = 0, capacity = 0;
	for (uint32_t h = 0; h < ops->head.count; h++) {
		if (h > 0 && ops->thread_id[h] != ops->thread_id[h - 1])
			depth = 0;
		while (depth > 0 && open[depth - 1] <= ops->start_ns[h])
			depth--;
		if (depth > 0 && ops->end_ns[h] > open[depth - 1])
			diag_add(&trace->diag, DIAG_CROSSING_RANGES, 1, -1);
		if (depth == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			if (!mem_resize(&open, capacity, sizeof *open, err)) {
				mem_free(open);
				return false;
			}
		}
		open[depth++] = ops->end_ns[h];
	}
	mem_free(open);
	return true;
}

bool trace_seal(struct trace *trace, struct err *err)
{
	if (!sort_strings(trace, err) || !sort_places(trace, err) || !sort_events(trace, err) ||
		!join_launches(trace, err) || !sort_rest(trace, err))
		return false;
	count_overlaps(trace);
	if (!count_crossings(trace, err))
		return false;
	for (uint32_t t = 0; t < trace_table_count; t++)
		table_trim((char *)trace + trace_tables[t].offset, trace_tables[t].desc);
	return true;
}
