/*
 * A small sealed trace that uses every table, every type's null and its extremes, a breakdown with
 * intervals for it, and a comparison of traces that names the first difference.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "attribute/breakdown.h"
#include "attribute/intervals.h"
#include "trace/trace.h"

static inline uint32_t sample_string(struct trace *trace, const char *text)
{
	return intern_put(&trace->strings, text, strlen(text), NULL);
}

static inline void sample_host_rows(struct trace *trace)
{
	const uint32_t step = sample_string(trace, "ProfilerStep#1"),
		       launch = sample_string(trace, "cudaLaunchKernel"),
		       mm = sample_string(trace, "aten::mm"),
		       shapes = sample_string(trace, "[[2, 3], [3, 4]]\n[\"float\", \"float\"]");
	TRACE_PUSH(&trace->threads, thread_table, NULL, .pid = 7, .os_tid = 71,
		.name_id = sample_string(trace, "python \xc3\xa9"), .role = THREAD_MAIN);
	TRACE_PUSH(&trace->threads, thread_table, NULL, .pid = 7, .os_tid = INT64_MAX,
		.role = THREAD_AUTOGRAD);
	TRACE_PUSH(&trace->host_ops, host_op_table, NULL, .start_ns = 0, .end_ns = 1000,
		.sequence = NULL_I64, .name_id = step, .forward_thread = NULL_I32,
		.kind = HOST_ANNOTATION);
	TRACE_PUSH(&trace->host_ops, host_op_table, NULL, .start_ns = 10, .end_ns = 90,
		.sequence = 5, .name_id = mm, .shapes_id = shapes, .forward_thread = 0,
		.kind = HOST_OP);
	TRACE_PUSH(&trace->host_ops, host_op_table, NULL, .start_ns = 400, .end_ns = 450,
		.sequence = 5, .thread_id = 1, .name_id = mm, .forward_thread = 1, .kind = HOST_OP);
	for (int i = 0; i < 3; i++)
		TRACE_PUSH(&trace->api_calls, api_call_table, NULL, .start_ns = 20 + 100 * i,
			.end_ns = 30 + 100 * i, .name_id = launch, .correlation = 100 + i,
			.result = i ? 0 : NULL_I32);
	TRACE_PUSH(&trace->markers, marker_table, NULL, .start_ns = 5, .end_ns = 95,
		.region = NULL_I64, .value = -1, .name_id = sample_string(trace, "layers.0"),
		.kind = MARKER_UNIT);
	TRACE_PUSH(&trace->clocks, clock_table, NULL, .at_ns = 0,
		.realtime_ns = 1700000000000000000, .monotonic_ns = 12);
}

static inline void sample_gpu_rows(struct trace *trace)
{
	TRACE_PUSH(&trace->streams, stream_table, NULL, .device = 0, .context = 1, .cuda_stream = 7,
		.priority = -1);
	TRACE_PUSH(&trace->streams, stream_table, NULL, .device = 0, .context = NULL_I32,
		.cuda_stream = 20, .priority = NULL_I32);
	TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = 100, .end_ns = 200,
		.bytes = NULL_I64, .graph_node = NULL_I64, .name_id = sample_string(trace, "sgemm"),
		.correlation = 100, .api_call_id = NULL_U32, .grid_x = 8, .grid_y = 1, .grid_z = 1,
		.block_x = 128, .block_y = 1, .block_z = 1, .shared_bytes = 0, .kind = GPU_KERNEL);
	TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = 150, .end_ns = 300,
		.bytes = NULL_I64, .graph_node = INT64_MAX, .stream_id = 1,
		.name_id = sample_string(trace, "ncclDevKernel_AllGather"), .correlation = 101,
		.api_call_id = NULL_U32, .grid_x = UINT32_MAX - 1, .grid_y = NULL_U32,
		.grid_z = NULL_U32, .block_x = NULL_U32, .block_y = NULL_U32, .block_z = NULL_U32,
		.shared_bytes = NULL_U32, .kind = GPU_KERNEL);
	TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = 300, .end_ns = 400,
		.bytes = 4096, .graph_node = NULL_I64,
		.name_id = sample_string(trace, "Memcpy DtoD"), .correlation = 102,
		.api_call_id = NULL_U32, .grid_x = NULL_U32, .grid_y = NULL_U32, .grid_z = NULL_U32,
		.block_x = NULL_U32, .block_y = NULL_U32, .block_z = NULL_U32,
		.shared_bytes = NULL_U32, .kind = GPU_MEMCPY);
	for (int i = 0; i < 2; i++)
		TRACE_PUSH(&trace->collectives, collective_table, NULL,
			.sequence = i ? 3 : NULL_I64, .send_bytes = 16,
			.recv_bytes = i ? NULL_I64 : 32, .gpu_op_id = i ? NULL_U32 : 1,
			.communicator_id = sample_string(trace, "default [0, 1]"),
			.dtype_id = sample_string(trace, "BFloat16"),
			.group_size = i ? NULL_I32 : 2, .kind = COLLECTIVE_ALL_GATHER);
	TRACE_PUSH(&trace->stream_waits, stream_wait_table, NULL, .api_call_id = 1,
		.waiting_stream_id = 0, .recorded_stream_id = 1, .record_call_id = NULL_U32,
		.event = 9);
	TRACE_PUSH(&trace->memory, memory_table, NULL, .at_ns = 15, .address = INT64_MAX,
		.bytes = 512, .allocated_bytes = 512, .reserved_bytes = 2048, .device = 0);
	TRACE_PUSH(&trace->memory, memory_table, NULL, .at_ns = 500, .address = NULL_I64,
		.bytes = -512, .allocated_bytes = 0, .reserved_bytes = NULL_I64, .device = 0);
}

static inline void sample_trace(struct trace *trace)
{
	struct err err = {0};
	*trace = (struct trace){0};
	assert_true(trace_init(trace, &err));
	assert_true(trace_set_file(trace, "runs/rank0.json.gz", &err));
	trace->source = SOURCE_KINETO;
	trace->rank = 0;
	trace->world_size = 2;
	trace->data_parallel = NULL_I32;
	trace->base_unix_ns = 1700000000000000000;
	trace->event_count = 1234;
	trace->host_event_count = 99;
	trace->gpu_name_id = sample_string(trace, "NVIDIA H200");
	trace->gpu_memory_bytes = NULL_I64;
	trace->has = (struct trace_has){.shapes = true, .nccl = true};
	sample_host_rows(trace);
	sample_gpu_rows(trace);
	assert_true(trace_seal(trace, &err));
	diag_add(&trace->diag, DIAG_BAD_EVENT, 2, 81920);
	diag_set(&trace->diag, DIAG_NO_STEPS, 1);
}

/*
 * Two steps of the sample's rank, whose intervals fill their windows.  Sealing sorts by stream: op
 * 0 is the gemm, 1 the copy, 2 the collective.
 */
static inline void sample_breakdown(struct breakdown *breakdown, struct rank_result *rank)
{
	static struct step_part steps[] = {
		{.name = "ProfilerStep#1", .closed = false, .start_ns = 100, .wall_ns = 200},
		{.name = "ProfilerStep#2",
			.closed = true,
			.used = true,
			.start_ns = 300,
			.wall_ns = 700},
	};
	static struct interval items[] = {
		{.start_ns = 100,
			.end_ns = 200,
			.step = 0,
			.gpu_op_id = 0,
			.unit = NULL_U32,
			.gather = NULL_U32,
			.state = STATE_BUSY,
			.phase = PHASE_FORWARD,
			.on = WORD_NONE,
			.wait_for = WORD_NONE,
			.reason = WORD_NONE,
			.how = HOW_STRUCTURAL},
		{.start_ns = 200,
			.end_ns = 300,
			.step = 0,
			.gpu_op_id = 2,
			.unit = 0,
			.gather = 0,
			.state = STATE_BLOCKED,
			.phase = WORD_NONE,
			.on = HOLDER_ALL_GATHER,
			.wait_for = WORD_NONE,
			.reason = GATHER_BACKWARD,
			.how = HOW_INFERRED},
		{.start_ns = 300,
			.end_ns = 301,
			.step = 1,
			.gpu_op_id = NULL_U32,
			.unit = NULL_U32,
			.gather = NULL_U32,
			.state = STATE_STARVED,
			.phase = PHASE_RECOMPUTE,
			.on = WORD_NONE,
			.wait_for = WORD_NONE,
			.reason = STARVE_DISPATCH,
			.how = HOW_EXACT},
		{.start_ns = 301,
			.end_ns = 400,
			.step = 1,
			.gpu_op_id = 1,
			.unit = NULL_U32,
			.gather = NULL_U32,
			.state = STATE_BLOCKED,
			.phase = WORD_NONE,
			.on = HOLDER_COPY,
			.wait_for = HOLDER_COPY,
			.reason = WORD_NONE,
			.how = HOW_EXACT},
		{.start_ns = 400,
			.end_ns = 1000,
			.step = 1,
			.gpu_op_id = NULL_U32,
			.unit = NULL_U32,
			.gather = NULL_U32,
			.state = STATE_STARVED,
			.phase = WORD_NONE,
			.on = WORD_NONE,
			.wait_for = WORD_NONE,
			.reason = STARVE_ALLOCATOR,
			.how = HOW_EXACT},
	};
	static uint8_t phases[] = {PHASE_FORWARD, WORD_NONE, WORD_NONE};
	static uint8_t hows[] = {HOW_STRUCTURAL, WORD_NONE, WORD_NONE};
	static uint32_t op_steps[] = {0, 1, 0};
	static uint32_t op_units[] = {0, NULL_U32, 0};
	static const char *const units[] = {"layers.0"};
	static const struct rank_intervals intervals = {.items = items,
		.count = sizeof items / sizeof *items,
		.gpu_op_count = 3,
		.gpu_op_phase = phases,
		.gpu_op_how = hows,
		.gpu_op_step = op_steps,
		.gpu_op_unit = op_units,
		.units = units,
		.unit_count = 1};
	static struct gather_row gathers[] = {
		{.unit = "(root)",
			.reason = GATHER_FORWARD,
			.how = HOW_STRUCTURAL,
			.count = 1,
			.bytes = 32,
			.kernel_ns = 150,
			.blocked_ns = 0,
			.peer_wait_ns = NULL_I64},
		{.unit = "layers.0",
			.reason = GATHER_REPEAT,
			.how = HOW_STRUCTURAL,
			.prefetched = true,
			.count = 2,
			.bytes = 64,
			.kernel_ns = 10,
			.blocked_ns = 5,
			.peer_wait_ns = 1},
		{.unit = "(root)",
			.reason = GATHER_BACKWARD,
			.how = HOW_UNKNOWN,
			.count = 1,
			.bytes = 32,
			.kernel_ns = 1,
			.blocked_ns = 1,
			.peer_wait_ns = 0},
	};
	static const struct named_count unknown_ops[] = {{"aten::einsum", 3}};
	*rank = (struct rank_result){.steps = steps,
		.step_count = 2,
		.steps_used = 1,
		.steps_how = "ProfilerStep",
		.gathers = gathers,
		.gather_count = 3,
		.memory = {.peak_allocated_bytes = 512, .peak_reserved_bytes = NULL_I64},
		.flops = {.forward_flop = 48,
			.recompute_flop = NULL_I64,
			.backward_flop = 96,
			.unknown_ops = unknown_ops,
			.unknown_op_count = 1,
			.achieved_flop_per_s = 1e12,
			.mfu = __builtin_nan("")},
		.intervals = &intervals};
	*breakdown = (struct breakdown){.ranks = rank, .rank_count = 1};
}

static inline void assert_same_trace(const struct trace *a, const struct trace *b)
{
	assert_string_equal(a->file, b->file);
	assert_int_equal(a->source, b->source);
	assert_int_equal(a->rank, b->rank);
	assert_int_equal(a->world_size, b->world_size);
	assert_int_equal(a->data_parallel, b->data_parallel);
	assert_int_equal(a->base_unix_ns, b->base_unix_ns);
	assert_int_equal(a->event_count, b->event_count);
	assert_int_equal(a->host_event_count, b->host_event_count);
	assert_int_equal(a->gpu_name_id, b->gpu_name_id);
	assert_int_equal(a->gpu_memory_bytes, b->gpu_memory_bytes);
	assert_memory_equal(&a->has, &b->has, sizeof a->has);
	assert_memory_equal(&a->diag, &b->diag, sizeof a->diag);
	assert_int_equal(a->strings.count, b->strings.count);
	for (uint32_t id = 0; id < a->strings.count; id++)
		assert_string_equal(intern_text(&a->strings, id), intern_text(&b->strings, id));
	for (uint32_t t = 0; t < trace_table_count; t++) {
		const struct trace_table *table = &trace_tables[t];
		const char *left = (const char *)a + table->offset;
		const char *right = (const char *)b + table->offset;
		const uint32_t count = ((const struct table_head *)left)->count;
		assert_int_equal(count, ((const struct table_head *)right)->count);
		for (uint32_t c = 0; c < table->desc->column_count; c++) {
			const struct column_desc *column = &table->desc->columns[c];
			for (uint32_t row = 0; row < count; row++) {
				bool null_a, null_b;
				if (table_get(left, column, row, &null_a) !=
					table_get(right, column, row, &null_b))
					fail_msg("%s.%s differs at %u", table->name, column->name,
						row);
			}
		}
	}
}
