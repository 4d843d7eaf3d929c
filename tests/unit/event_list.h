/*
 * A sealed trace from a list of rows, so that a test reads as ten lines of events and what is
 * expected of them.  Times are microseconds in the short forms and nanoseconds in those ending in
 * _NS.  Thread 0 runs the steps, the others are autograd's; stream 0 is the compute stream by
 * convention only.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "attribute/analysis.h"
#include "attribute/ranks.h"
#include "trace/trace.h"

#define LIST_NO_CALL  0xff /* as a thread: no record of the launch */
#define LIST_THREADS  4
#define LIST_STREAMS  6
#define LIST_CALL_NS  2000 /* how long a launch call of the short forms takes */
#define LIST_GROUP    "default [0, 1]"
#define COUNT(array)  ((uint32_t)(sizeof(array) / sizeof *(array)))
#define GATHER_KERNEL "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

enum event_kind {
	EVENT_HOST,
	EVENT_CALL,
	EVENT_GPU
};

/* What is left out is unknown, or not expected to be anything. */
struct event {
	enum event_kind is;
	uint8_t thread, stream;
	uint8_t gpu_kind;   /* enum gpu_kind */
	uint8_t collective; /* enum collective_kind + 1 */
	bool has_sequence;
	int32_t forward_thread;
	int64_t host_ns, return_ns; /* a host op, or a call */
	int64_t start_ns, end_ns;   /* on the GPU */
	int64_t sequence, bytes, number;
	const char *name, *shapes;
	const char *communicator; /* NULL: both ranks' */
	const char *dtype;
	int32_t group_size; /* 0: two */
	uint8_t phase;	    /* expected: enum phase + 1 */
	uint8_t reason;	    /* expected: enum gather_reason + 1 */
	const char *unit;   /* expected */
	const char *billed; /* expected: "UNIT REASON" of the gather that pays, "none" */
	int micro_batch;    /* expected, + 1 */
};

#define US(time) (INT64_C(1000) * (time))

/* A host range; an op with a sequence number that is a forward op; a node of the backward pass. */
#define HOST(thread_, from, to, name_)                                                         \
	{                                                                                      \
		.is = EVENT_HOST, .thread = thread_, .host_ns = US(from), .return_ns = US(to), \
		.name = name_                                                                  \
	}
#define OP(thread_, from, to, name_, ...)                                                      \
	{                                                                                      \
		.is = EVENT_HOST, .thread = thread_, .host_ns = US(from), .return_ns = US(to), \
		.name = name_, .has_sequence = true, .sequence = from, __VA_ARGS__             \
	}
#define NODE(thread_, from, to, name_)                                                         \
	{                                                                                      \
		.is = EVENT_HOST, .thread = thread_, .host_ns = US(from), .return_ns = US(to), \
		.name = "autograd::engine::evaluate_function: " name_, .has_sequence = true,   \
		.sequence = from, .forward_thread = 1                                          \
	}
#define CALL(thread_, from, to, name_)                                                         \
	{                                                                                      \
		.is = EVENT_CALL, .thread = thread_, .host_ns = US(from), .return_ns = US(to), \
		.name = name_                                                                  \
	}
#define CALL_NS(thread_, from, to, name_)                                              \
	{                                                                              \
		.is = EVENT_CALL, .thread = thread_, .host_ns = from, .return_ns = to, \
		.name = name_                                                          \
	}
/* GPU ops with their launch call at `at`. */
#define KERNEL(thread_, at, stream_, from, to, name_, ...)                                   \
	{                                                                                    \
		.is = EVENT_GPU, .thread = thread_, .host_ns = US(at),                       \
		.return_ns = US(at) + LIST_CALL_NS, .stream = stream_, .start_ns = US(from), \
		.end_ns = US(to), .name = name_, __VA_ARGS__                                 \
	}
#define KERNEL_NS(thread_, at, returned, stream_, from, to, name_, ...)                       \
	{                                                                                     \
		.is = EVENT_GPU, .thread = thread_, .host_ns = at, .return_ns = returned,     \
		.stream = stream_, .start_ns = from, .end_ns = to, .name = name_, __VA_ARGS__ \
	}
#define ORPHAN(stream_, from, to, name_)                                                          \
	{                                                                                         \
		.is = EVENT_GPU, .thread = LIST_NO_CALL, .stream = stream_, .start_ns = US(from), \
		.end_ns = US(to), .name = name_                                                   \
	}
#define COPY(thread_, at, stream_, from, to, ...)                                \
	KERNEL(thread_, at, stream_, from, to, "Memcpy DtoD (Device -> Device)", \
		.gpu_kind = GPU_MEMCPY, __VA_ARGS__)
#define GATHER(thread_, at, stream_, from, to, bytes_, ...)   \
	KERNEL(thread_, at, stream_, from, to, GATHER_KERNEL, \
		.collective = 1 + COLLECTIVE_ALL_GATHER, .bytes = bytes_, __VA_ARGS__)
#define SCATTER(thread_, at, stream_, from, to, ...)                                           \
	KERNEL(thread_, at, stream_, from, to, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", \
		.collective = 1 + COLLECTIVE_REDUCE_SCATTER, __VA_ARGS__)
#define REDUCE(thread_, at, stream_, from, to, ...)                                       \
	KERNEL(thread_, at, stream_, from, to, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", \
		.collective = 1 + COLLECTIVE_ALL_REDUCE, __VA_ARGS__)

#define IN(phase_)    .phase = 1 + PHASE_##phase_
#define AS(reason_)   .reason = 1 + GATHER_##reason_
#define OF(unit_)     .unit = unit_
#define BILLED(text)  .billed = text
#define BATCH(number) .micro_batch = 1 + number

struct list_options {
	int32_t rank, world_size; /* world_size 0: unknown */
	int64_t shift_ns;	  /* added to every time */
	const uint32_t *order;	  /* in which the rows are pushed, NULL: as they come */
};

static inline uint32_t list_string(struct trace *trace, const char *text)
{
	return intern_put(&trace->strings, text ? text : "", text ? strlen(text) : 0, NULL);
}

static inline void list_push_host(
	struct trace *trace, const struct event *event, uint32_t correlation, int64_t shift_ns)
{
	const char *call = event->is == EVENT_CALL	   ? event->name
			   : event->gpu_kind == GPU_MEMCPY ? "cudaMemcpyAsync"
							   : "cudaLaunchKernel";
	if (event->is == EVENT_HOST)
		TRACE_PUSH(&trace->host_ops, host_op_table, NULL,
			.start_ns = event->host_ns + shift_ns,
			.end_ns = event->return_ns + shift_ns,
			.sequence = event->has_sequence ? event->sequence : NULL_I64,
			.thread_id = event->thread, .name_id = list_string(trace, event->name),
			.shapes_id = list_string(trace, event->shapes),
			.forward_thread = event->has_sequence ? event->forward_thread : NULL_I32,
			.kind = event->has_sequence ? HOST_OP : HOST_ANNOTATION);
	else if (event->thread != LIST_NO_CALL)
		TRACE_PUSH(&trace->api_calls, api_call_table, NULL,
			.start_ns = event->host_ns + shift_ns,
			.end_ns = event->return_ns + shift_ns, .thread_id = event->thread,
			.name_id = list_string(trace, call),
			.correlation = event->is == EVENT_GPU ? correlation : NULL_U32,
			.result = NULL_I32);
}

static inline void list_push_gpu(
	struct trace *trace, const struct event *event, uint32_t correlation, int64_t shift_ns)
{
	const bool launched = event->thread != LIST_NO_CALL;
	const uint32_t op = trace->gpu_ops.head.count;
	TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = event->start_ns + shift_ns,
		.end_ns = event->end_ns + shift_ns, .bytes = NULL_I64, .graph_node = NULL_I64,
		.stream_id = event->stream, .name_id = list_string(trace, event->name),
		.correlation = launched ? correlation : NULL_U32, .api_call_id = NULL_U32,
		.grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 1, .block_y = 1, .block_z = 1,
		.shared_bytes = 0, .kind = event->gpu_kind);
	if (!event->collective)
		return;
	const char *group = event->communicator ? event->communicator : LIST_GROUP;
	TRACE_PUSH(&trace->collectives, collective_table, NULL,
		.sequence = event->number ? event->number : NULL_I64, .send_bytes = NULL_I64,
		.recv_bytes = event->bytes ? event->bytes : NULL_I64, .gpu_op_id = op,
		.communicator_id = list_string(trace, group),
		.dtype_id = list_string(trace, event->dtype ? event->dtype : "BFloat16"),
		.group_size = event->group_size ? event->group_size : 2,
		.kind = event->collective - 1);
}

/* The trace of `events`, sealed. */
static inline void list_trace(struct trace *trace, const struct event *events, uint32_t count,
	const struct list_options *options)
{
	struct err err = {0};
	char file[32];
	assert_true(trace_init(trace, &err));
	snprintf(file, sizeof file, "rank%d.json", options->rank);
	assert_true(trace_set_file(trace, file, &err));
	trace->source = SOURCE_KINETO;
	trace->rank = options->rank;
	trace->world_size = options->world_size ? options->world_size : NULL_I32;
	trace->gpu_name_id = list_string(trace, "NVIDIA H200");
	for (int64_t t = 0; t < LIST_THREADS; t++)
		TRACE_PUSH(&trace->threads, thread_table, NULL, .pid = 1, .os_tid = 100 + t,
			.role = t ? THREAD_AUTOGRAD : THREAD_MAIN);
	for (int64_t s = 0; s < LIST_STREAMS; s++)
		TRACE_PUSH(&trace->streams, stream_table, NULL, .device = 0, .context = 1,
			.cuda_stream = 7 + s, .priority = 0);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t row = options->order ? options->order[i] : i;
		list_push_host(trace, &events[row], row + 1, options->shift_ns);
		if (events[row].is == EVENT_GPU)
			list_push_gpu(trace, &events[row], row + 1, options->shift_ns);
		trace->event_count++;
	}
	assert_true(trace_seal(trace, &err));
}

static inline const struct rules *list_rules(void)
{
	static struct rules *rules;
	struct err err = {0};
	if (!rules)
		rules = rules_load(NULL, &err);
	assert_non_null(rules);
	return rules;
}

/* The traces of one run analysed; they are freed with list_forget. */
static inline void list_analyse(struct trace *traces, uint32_t count, struct ranks *ranks)
{
	struct err err = {0};
	if (!ranks_make(traces, count, list_rules(), 1, ranks, &err))
		fail_msg("%s", err.msg);
}

static inline void list_forget(struct trace *traces, uint32_t count, struct ranks *ranks)
{
	if (ranks)
		ranks_done(ranks);
	for (uint32_t t = 0; t < count; t++)
		trace_done(&traces[t]);
}

static inline bool list_break_down(struct trace *traces, uint32_t count,
	const struct analysis_options *options, struct breakdown *ret, struct err *err)
{
	char name[] = "run";
	const struct run run = {
		.name = name, .argument = name, .traces = traces, .trace_count = count};
	struct analysis_options used = {.tokens_per_step = NULL_I64, .thread_count = 1};
	return breakdown_make(&run, list_rules(), options ? options : &used, ret, err);
}

/* The GPU op that an event became. */
static inline uint32_t list_op(const struct trace *trace, const struct event *event)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	for (uint32_t i = 0; i < ops->head.count; i++)
		if (ops->start_ns[i] == event->start_ns && ops->end_ns[i] == event->end_ns &&
			ops->stream_id[i] == event->stream &&
			strcmp(intern_text(&trace->strings, ops->name_id[i]), event->name) == 0)
			return i;
	fail_msg("no op %s at %lld", event->name, (long long)event->start_ns);
	return 0;
}

/* "UNIT REASON" of a gather. */
static inline const char *list_gather_text(const struct phases *phases, uint32_t gather)
{
	static char text[128];
	if (gather == NULL_U32)
		return "none";
	const struct gather *found = &phases->gathers[gather];
	snprintf(text, sizeof text, "%s %s",
		found->unit == NULL_U32 ? "unknown" : intern_text(&phases->units, found->unit),
		found->reason == WORD_NONE ? "-" : gather_word(found->reason));
	return text;
}

static inline void list_expect_gather(const struct rank_analysis *rank, const struct event *event)
{
	const uint32_t collective = rank->collective_of[list_op(rank->trace, event)];
	assert_int_not_equal(collective, NULL_U32);
	const char *found = list_gather_text(&rank->phases, collective);
	char expected[128];
	snprintf(expected, sizeof expected, "%s %s", event->unit,
		event->reason ? gather_word(event->reason - 1) : "-");
	if (strcmp(found, expected) != 0)
		fail_msg("the gather at %lld us is \"%s\", not \"%s\"",
			(long long)event->start_ns / 1000, found, expected);
}

/* Everything that the events say to expect of the analysis. */
static inline void list_expect(
	const struct rank_analysis *rank, const struct event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct event *event = &events[i];
		if (event->is != EVENT_GPU)
			continue;
		const uint32_t op = list_op(rank->trace, event);
		const struct launch *launch = &rank->phases.launches[op];
		if (event->phase && launch->phase != event->phase - 1)
			fail_msg("row %u, %s: %s, not %s", i, event->name,
				phase_word(launch->phase), phase_word(event->phase - 1));
		if (event->micro_batch && launch->micro_batch != event->micro_batch - 1)
			fail_msg("row %u, %s: micro-batch %d", i, event->name, launch->micro_batch);
		if (event->unit)
			list_expect_gather(rank, event);
		if (event->billed && strcmp(event->billed, list_gather_text(&rank->phases,
								   rank->phases.billed[op])) != 0)
			fail_msg("row %u: billed to %s, not %s", i,
				list_gather_text(&rank->phases, rank->phases.billed[op]),
				event->billed);
	}
}

/* One rank's events, analysed and held against what they expect; `also` may look at more. */
static inline void list_check(
	const struct event *events, uint32_t count, void (*also)(const struct ranks *ranks))
{
	struct trace trace;
	struct ranks ranks;
	list_trace(&trace, events, count, &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	list_expect(&ranks.items[0], events, count);
	if (also)
		also(&ranks);
	list_forget(&trace, 1, &ranks);
}
