#include "attribute/timeline.h"

#include "base/mem.h"

#define MAX_HEADS 4096 /* streams that are merged; a trace has a few dozen at most */

/* Rows are sorted by stream and start: merging the streams' runs gives the order of time. */
static bool merge_streams(const struct trace *trace, struct op_list *ret, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	uint32_t next[MAX_HEADS], end[MAX_HEADS], runs = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (i && ops->stream_id[i] == ops->stream_id[i - 1])
			continue;
		if (runs == MAX_HEADS)
			return err_set(err, ERR_INPUT, "more than %d GPU streams", MAX_HEADS);
		next[runs] = i;
		if (runs)
			end[runs - 1] = i;
		runs++;
	}
	if (runs)
		end[runs - 1] = ops->head.count;
	ret->items = mem_new(ops->head.count, sizeof *ret->items, err);
	if (!ret->items)
		return false;
	while (ret->count < ops->head.count) {
		uint32_t best = NULL_U32;
		for (uint32_t r = 0; r < runs; r++)
			if (next[r] < end[r] &&
				(best == NULL_U32 ||
					ops->start_ns[next[r]] < ops->start_ns[next[best]]))
				best = r;
		ret->items[ret->count++] = next[best]++;
	}
	return true;
}

static bool reserve(struct op_list *list, uint32_t count, struct err *err)
{
	list->items = mem_new(count, sizeof *list->items, err);
	return list->items;
}

bool timeline_make(const struct trace *trace, const struct roles *roles,
	const struct phases *phases, struct timeline *ret, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	*ret = (struct timeline){0};
	uint32_t collectives = 0, copies = 0, stream = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		copies += ops->kind[i] != GPU_KERNEL;
		collectives += ops->kind[i] == GPU_KERNEL && !op_computes(trace, roles, i);
		stream += ops->stream_id[i] == phases->compute_stream;
	}
	ret->collective_of = mem_new(ops->head.count, sizeof *ret->collective_of, err);
	if (!ret->collective_of || !merge_streams(trace, &ret->all, err) ||
		!reserve(&ret->collectives, collectives, err) ||
		!reserve(&ret->copies, copies, err) || !reserve(&ret->stream, stream, err)) {
		timeline_done(ret);
		return false;
	}
	for (uint32_t i = 0; i < ops->head.count; i++) {
		const uint32_t op = ret->all.items[i];
		ret->collective_of[op] = NULL_U32;
		if (ops->kind[op] != GPU_KERNEL)
			ret->copies.items[ret->copies.count++] = op;
		else if (!op_computes(trace, roles, op))
			ret->collectives.items[ret->collectives.count++] = op;
		if (ops->stream_id[op] == phases->compute_stream)
			ret->stream.items[ret->stream.count++] = op;
	}
	for (uint32_t c = trace->collectives.head.count; c-- > 0;)
		if (trace->collectives.gpu_op_id[c] != NULL_U32)
			ret->collective_of[trace->collectives.gpu_op_id[c]] = c;
	return true;
}

void timeline_done(struct timeline *timeline)
{
	mem_free(timeline->all.items);
	mem_free(timeline->collectives.items);
	mem_free(timeline->copies.items);
	mem_free(timeline->stream.items);
	mem_free(timeline->collective_of);
	*timeline = (struct timeline){0};
}
