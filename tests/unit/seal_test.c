/* The order of a sealed trace, whatever the order before, and what joining counts. */
#include "reading.h"

#include "trace/row_order.h"

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static uint32_t put(struct trace *trace, const char *text)
{
	return intern_put(&trace->strings, text, strlen(text), NULL);
}

struct row {
	int64_t start_ns, end_ns;
	uint32_t group;
	const char *name;
	uint32_t correlation;
};

/* Rows of API calls and GPU ops, in the order given, with names first seen in that order. */
static void build(
	struct trace *trace, const struct row *rows, const uint32_t *order, uint32_t count)
{
	assert_true(trace_init(trace, NULL));
	/* Threads and streams too are numbered as they come. */
	uint32_t place[8];
	for (uint32_t p = 0; p < 8; p++)
		place[p] = NULL_U32;
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = &rows[order[i]];
		if (place[row->group] == NULL_U32) {
			place[row->group] = trace->threads.head.count;
			TRACE_PUSH(&trace->threads, thread_table, NULL, .pid = 1,
				.os_tid = row->group);
			TRACE_PUSH(&trace->streams, stream_table, NULL, .cuda_stream = row->group,
				.context = NULL_I32, .priority = NULL_I32);
		}
		const uint32_t name = put(trace, row->name);
		TRACE_PUSH(&trace->api_calls, api_call_table, NULL, .start_ns = row->start_ns,
			.end_ns = row->end_ns, .thread_id = place[row->group], .name_id = name,
			.correlation = row->correlation, .result = NULL_I32);
		TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = row->start_ns + 5,
			.end_ns = row->end_ns + 5, .stream_id = place[row->group], .name_id = name,
			.correlation = row->correlation, .api_call_id = NULL_U32);
		TRACE_PUSH(&trace->collectives, collective_table, NULL,
			.gpu_op_id = trace->gpu_ops.head.count - 1, .send_bytes = row->start_ns,
			.communicator_id = name);
		TRACE_PUSH(&trace->host_ops, host_op_table, NULL, .start_ns = row->start_ns,
			.end_ns = row->end_ns, .thread_id = place[row->group], .name_id = name);
		TRACE_PUSH(&trace->stream_waits, stream_wait_table, NULL,
			.api_call_id = trace->api_calls.head.count - 1,
			.record_call_id = trace->api_calls.head.count - 1,
			.waiting_stream_id = place[row->group], .recorded_stream_id = NULL_U32);
		TRACE_PUSH(&trace->memory, memory_table, NULL, .at_ns = row->start_ns,
			.bytes = row->end_ns);
		TRACE_PUSH(&trace->markers, marker_table, NULL, .start_ns = row->start_ns,
			.end_ns = row->end_ns, .name_id = name, .thread_id = place[row->group]);
		TRACE_PUSH(&trace->clocks, clock_table, NULL, .at_ns = row->end_ns);
	}
}

#define ROWS 300u

static void does_not_depend_on_the_order_of_rows(void **state)
{
	(void)state;
	static const char *const names[] = {"a", "b", "ab", "", "zz", "\xc3\xa9"};
	struct row rows[ROWS];
	uint32_t order[ROWS];
	seed = 7;
	for (uint32_t i = 0; i < ROWS; i++) {
		/* Few distinct times, so that ties are many. */
		rows[i].start_ns = draw(40);
		rows[i].end_ns = rows[i].start_ns + draw(6);
		rows[i].group = draw(5);
		rows[i].name = names[draw(6)];
		rows[i].correlation = i;
		order[i] = i;
	}
	struct text first = {0};
	for (int round = 0; round < 60; round++) {
		struct trace trace;
		struct err err = {0};
		build(&trace, rows, order, ROWS);
		assert_true(trace_seal(&trace, &err));
		struct text text = trace_as_text(&trace);
		if (!first.bytes)
			text_add(&first, text.bytes, text.length);
		assert_string_equal(text.bytes, first.bytes);
		free(text.bytes);
		/* What is sealed stays as it is. */
		const struct diag counted = trace.diag;
		trace.diag = (struct diag){0};
		assert_true(trace_seal(&trace, &err));
		trace.diag = counted;
		text = trace_as_text(&trace);
		assert_string_equal(text.bytes, first.bytes);
		free(text.bytes);
		trace_done(&trace);
		for (uint32_t i = ROWS - 1; i > 0; i--) {
			const uint32_t other = draw(i + 1), held = order[i];
			order[i] = order[other];
			order[other] = held;
		}
	}
	free(first.bytes);
}

static void puts_rows_where_the_header_says(void **state)
{
	(void)state;
	struct row rows[ROWS];
	uint32_t order[ROWS];
	struct trace trace;
	struct err err = {0};
	seed = 3;
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = (struct row){draw(50), 0, draw(5), "n", i};
		rows[i].end_ns = rows[i].start_ns + draw(9);
		order[i] = i;
	}
	build(&trace, rows, order, ROWS);
	assert_true(trace_seal(&trace, &err));
	const struct api_call_table *calls = &trace.api_calls;
	const struct gpu_op_table *ops = &trace.gpu_ops;
	for (uint32_t i = 1; i < ROWS; i++) {
		assert_true(calls->thread_id[i - 1] <= calls->thread_id[i]);
		if (calls->thread_id[i - 1] == calls->thread_id[i])
			assert_true(calls->start_ns[i - 1] < calls->start_ns[i] ||
				    (calls->start_ns[i - 1] == calls->start_ns[i] &&
					    calls->end_ns[i - 1] >= calls->end_ns[i]));
		assert_true(ops->stream_id[i - 1] <= ops->stream_id[i]);
		if (ops->stream_id[i - 1] == ops->stream_id[i])
			assert_true(ops->start_ns[i - 1] < ops->start_ns[i] ||
				    (ops->start_ns[i - 1] == ops->start_ns[i] &&
					    ops->end_ns[i - 1] <= ops->end_ns[i]));
		assert_true(trace.collectives.gpu_op_id[i - 1] < trace.collectives.gpu_op_id[i]);
		assert_true(trace.memory.at_ns[i - 1] <= trace.memory.at_ns[i]);
		assert_true(trace.markers.start_ns[i - 1] <= trace.markers.start_ns[i]);
	}
	for (uint32_t i = 0; i < ROWS; i++) {
		/* References followed their rows: the start times agree. */
		assert_int_equal(ops->start_ns[i], calls->start_ns[ops->api_call_id[i]] + 5);
		assert_int_equal(trace.collectives.send_bytes[i],
			ops->start_ns[trace.collectives.gpu_op_id[i]] - 5);
		assert_int_equal(
			trace.stream_waits.api_call_id[i], trace.stream_waits.record_call_id[i]);
	}
	assert_int_equal(trace.diag.row[DIAG_NO_LAUNCH].count, 0);
	trace_done(&trace);
}

static void add_call(struct trace *trace, int64_t start_ns, uint32_t correlation)
{
	TRACE_PUSH(&trace->api_calls, api_call_table, NULL, .start_ns = start_ns,
		.end_ns = start_ns + 1, .correlation = correlation, .result = NULL_I32);
}

static void add_op(struct trace *trace, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	TRACE_PUSH(&trace->gpu_ops, gpu_op_table, NULL, .start_ns = start_ns, .end_ns = end_ns,
		.correlation = correlation, .api_call_id = NULL_U32);
}

static void joins_ops_with_their_launch(void **state)
{
	(void)state;
	struct trace trace;
	struct err err = {0};
	assert_true(trace_init(&trace, &err));
	TRACE_PUSH(&trace.threads, thread_table, NULL, .pid = 1, .os_tid = 1);
	TRACE_PUSH(&trace.streams, stream_table, NULL, .cuda_stream = 7);
	add_call(&trace, 10, 1);
	add_call(&trace, 20, 2); /* this id comes three times */
	add_call(&trace, 30, 2);
	add_call(&trace, 90, 2);
	add_call(&trace, 95, NULL_U32);
	add_op(&trace, 15, 16, 1);
	add_op(&trace, 16, 17, 1); /* a graph launches many with one id */
	add_op(&trace, 40, 50, 2); /* the nearest before is the call at 30 */
	add_op(&trace, 45, 60, 9); /* unknown, and begins before the one before ends */
	add_op(&trace, 61, 62, NULL_U32);
	add_op(&trace, 63, 64, 3);
	add_call(&trace, 70, 3); /* after its op began */
	assert_true(trace_seal(&trace, &err));
	const struct gpu_op_table *ops = &trace.gpu_ops;
	assert_int_equal(trace.api_calls.start_ns[ops->api_call_id[0]], 10);
	assert_int_equal(trace.api_calls.start_ns[ops->api_call_id[1]], 10);
	assert_int_equal(trace.api_calls.start_ns[ops->api_call_id[2]], 30);
	assert_int_equal(ops->api_call_id[3], NULL_U32);
	assert_int_equal(ops->api_call_id[4], NULL_U32);
	assert_int_equal(trace.api_calls.start_ns[ops->api_call_id[5]], 70);
	assert_int_equal(trace.diag.row[DIAG_NO_LAUNCH].count, 2);
	assert_int_equal(trace.diag.row[DIAG_DUPLICATE_CORRELATION].count, 2);
	assert_int_equal(trace.diag.row[DIAG_LAUNCH_AFTER_START].count, 1);
	assert_int_equal(trace.diag.row[DIAG_STREAM_OVERLAP].count, 1);
	trace_done(&trace);
}

static void counts_crossing_ranges(void **state)
{
	(void)state;
	static const int64_t ranges[][2] = {
		{0, 100}, {0, 100}, {10, 20}, {15, 25}, {20, 25}, {30, 30}, {90, 101}, {200, 210}};
	struct trace trace;
	struct err err = {0};
	assert_true(trace_init(&trace, &err));
	TRACE_PUSH(&trace.threads, thread_table, NULL, .pid = 1, .os_tid = 1);
	for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
		TRACE_PUSH(&trace.host_ops, host_op_table, NULL, .start_ns = ranges[r][0],
			.end_ns = ranges[r][1]);
	assert_true(trace_seal(&trace, &err));
	/* 15-25 crosses 10-20, and 90-101 crosses 0-100. */
	assert_int_equal(trace.diag.row[DIAG_CROSSING_RANGES].count, 2);
	trace_done(&trace);
}

static void seals_what_is_empty(void **state)
{
	(void)state;
	struct trace trace;
	struct err err = {0};
	assert_true(trace_init(&trace, &err));
	assert_true(trace_seal(&trace, &err));
	assert_string_equal(intern_text(&trace.strings, 0), "");
	trace_done(&trace);
	trace_done(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(does_not_depend_on_the_order_of_rows),
		cmocka_unit_test(puts_rows_where_the_header_says),
		cmocka_unit_test(joins_ops_with_their_launch),
		cmocka_unit_test(counts_crossing_ranges),
		cmocka_unit_test(seals_what_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
