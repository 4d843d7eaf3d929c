#include "attribute/edges.h"

#include <string.h>

#include "base/mem.h"

/* The rows [first, end) of one stream; gpu_ops are sorted by stream and start. */
static void stream_rows(const struct trace *trace, uint32_t stream, uint32_t *first, uint32_t *end)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	uint32_t low = 0, high = ops->head.count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (ops->stream_id[middle] < stream)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	high = ops->head.count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (ops->stream_id[middle] <= stream)
			low = middle + 1;
		else
			high = middle;
	}
	*end = low;
}

/*
 * In [first, end) of one stream: the number of rows launched before `at_ns`.  A stream runs its ops
 * in launch order, so launches are sorted too; ops without a launch record are older than all
 * others.
 */
static uint32_t launched_before(
	const struct phases *phases, uint32_t first, uint32_t end, int64_t at_ns)
{
	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;
		if (phases->launches[middle].start_ns < at_ns)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* The op that the recorded event stands behind; NULL_U32 if the stream was empty then. */
static uint32_t awaited_op(const struct trace *trace, const struct phases *phases, uint32_t wait)
{
	const struct stream_wait_table *waits = &trace->stream_waits;
	const uint32_t stream = waits->recorded_stream_id[wait];
	const uint32_t call = waits->record_call_id[wait];
	if (stream == NULL_U32 || call == NULL_U32)
		return NULL_U32;
	uint32_t first, end;
	stream_rows(trace, stream, &first, &end);
	const uint32_t behind =
		launched_before(phases, first, end, trace->api_calls.start_ns[call]);
	return behind > first ? behind - 1 : NULL_U32;
}

bool edges_make(
	const struct trace *trace, const struct phases *phases, struct edges *ret, struct err *err)
{
	*ret = (struct edges){0};
	const struct stream_wait_table *waits = &trace->stream_waits;
	const struct gpu_op_table *ops = &trace->gpu_ops;
	if (!waits->head.count)
		return true;
	ret->awaited = mem_new(ops->head.count, sizeof *ret->awaited, err);
	if (!ret->awaited)
		return false;
	memset(ret->awaited, 0xff, ops->head.count * sizeof *ret->awaited);
	uint32_t first, end;
	stream_rows(trace, phases->compute_stream, &first, &end);
	for (uint32_t w = 0; w < waits->head.count; w++) {
		if (waits->waiting_stream_id[w] != phases->compute_stream ||
			waits->api_call_id[w] == NULL_U32 ||
			waits->recorded_stream_id[w] == phases->compute_stream)
			continue;
		/* The wait holds back the next op that is launched on the stream. */
		const uint32_t held = launched_before(
			phases, first, end, trace->api_calls.start_ns[waits->api_call_id[w]]);
		const uint32_t op = awaited_op(trace, phases, w);
		if (held >= end || op == NULL_U32)
			continue;
		const uint32_t known = ret->awaited[held];
		if (known == NULL_U32 || ops->end_ns[op] > ops->end_ns[known])
			ret->awaited[held] = op;
	}
	return true;
}

void edges_done(struct edges *edges)
{
	mem_free(edges->awaited);
	*edges = (struct edges){0};
}
