/*
 * Who owns each stretch, by lists of rows and the partition they give, in words: microseconds, then
 * the phase, or what the compute stream was blocked on (and after > what it waited for), or what
 * the host was starved by.
 */
#include "event_list.h"

#include <math.h>

#include "base/text.h"

static void write_detail(struct text *text, const struct interval *interval)
{
	switch (interval->state) {
	case STATE_BUSY:
		text_add(text, "%s", phase_word(interval->phase));
		break;
	case STATE_BLOCKED:
		text_add(text, "blocked %s", holder_word(interval->on));
		if (interval->on == HOLDER_ALL_GATHER)
			text_add(text, " %s", gather_word(interval->reason));
		if (interval->wait_for != WORD_NONE)
			text_add(text, ">%s", holder_word(interval->wait_for));
		break;
	default:
		text_add(text, "starved %s", starve_word(interval->reason));
		if (interval->phase != WORD_NONE)
			text_add(text, " %s", phase_word(interval->phase));
	}
}

static void write_partition(struct text *text, const struct partition *partition)
{
	uint32_t step = NULL_U32;
	for (uint32_t i = 0; i < partition->count; i++) {
		const struct interval *interval = &partition->items[i];
		if (interval->step == NULL_U32)
			continue;
		if (step != NULL_U32)
			text_add(text, interval->step == step ? "; " : " | ");
		step = interval->step;
		text_add(text, "%.10g-%.10g ", (double)interval->start_ns / 1000,
			(double)interval->end_ns / 1000);
		write_detail(text, interval);
	}
}

static void expect(const struct event *events, uint32_t count, const char *expected)
{
	struct trace trace;
	struct ranks ranks;
	struct text text = {0};
	list_trace(&trace, events, count, &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	list_expect(&ranks.items[0], events, count);
	write_partition(&text, &ranks.items[0].partition);
	assert_string_equal(text.bytes, expected);
	text_done(&text);
	list_forget(&trace, 1, &ranks);
}

#define STEP   HOST(0, 0, 900, "ProfilerStep#1")
#define MODULE OP(0, 1, 890, "aten::mm") /* what is launched in it is forward */

/* Launched long before: the collective holds the link. */
static void blocked_on_gather(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		GATHER(0, 10, 1, 110, 150, 64),
		KERNEL(0, 15, 0, 150, 160, "b"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-150 blocked all_gather unknown>all_gather; 150-160 forward");
}

/* A collective that happens to run while the host is late blocks nothing. */
static void starved_beside_a_gather(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		GATHER(0, 10, 1, 110, 200, 64),
		KERNEL(0, 138, 0, 143, 160, "b"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-140 starved dispatch forward; 140-143 blocked latency; "
		"143-160 forward");
}

#define AFTER_A_GAP(gap_ns)                                                         \
	{                                                                           \
		STEP, MODULE, KERNEL(0, 5, 0, 100, 120, "a"),                       \
			KERNEL_NS(0, 6000, 7000, 0, 120000 + (gap_ns), 200000, "b") \
	}
#define AFTER_A_RETURN(gap_ns)                                                          \
	{                                                                               \
		STEP, MODULE, KERNEL(0, 5, 0, 100, 120, "a"),                           \
			KERNEL_NS(0, 126000, 130000, 0, 130000 + (gap_ns), 200000, "b") \
	}

/* 25 us are latency, one nanosecond more is not: from the idle's start or the launch's return. */
static void latency_border(void **state)
{
	(void)state;
	static const struct event within[] = AFTER_A_GAP(25000), beyond[] = AFTER_A_GAP(25001);
	static const struct event late[] = AFTER_A_RETURN(25000), later[] = AFTER_A_RETURN(25001);
	expect(within, COUNT(within), "100-120 forward; 120-145 blocked latency; 145-200 forward");
	expect(beyond, COUNT(beyond),
		"100-120 forward; 120-145.001 blocked unexplained; 145.001-200 forward");
	expect(late, COUNT(late),
		"100-120 forward; 120-130 starved dispatch forward; 130-155 blocked latency; "
		"155-200 forward");
	expect(later, COUNT(later),
		"100-120 forward; 120-130 starved dispatch forward; "
		"130-155.001 blocked unexplained; 155.001-200 forward");
}

#define AFTER_A_GATHER(gap_ns)                                                                \
	{                                                                                     \
		STEP, MODULE, KERNEL(0, 5, 0, 100, 120, "a"), GATHER(0, 10, 1, 110, 130, 64), \
			KERNEL_NS(0, 20000, 22000, 0, 130000 + (gap_ns), 200000, "b")         \
	}

/* The rest after a collective's end is the collective's, up to 25 us. */
static void explained_wait(void **state)
{
	(void)state;
	static const struct event soon[] = AFTER_A_GATHER(3000), last[] = AFTER_A_GATHER(25000);
	static const struct event late[] = AFTER_A_GATHER(25001);
	expect(soon, COUNT(soon),
		"100-120 forward; 120-133 blocked all_gather unknown>all_gather; 133-200 forward");
	expect(last, COUNT(last),
		"100-120 forward; 120-155 blocked all_gather unknown>all_gather; 155-200 forward");
	expect(late, COUNT(late),
		"100-120 forward; 120-130 blocked all_gather unknown; "
		"130-155.001 blocked unexplained; 155.001-200 forward");
}

/* A gather in line behind a reduce-scatter: the instant belongs to what holds the link. */
static void waits_behind(void **state)
{
	(void)state;
	static const struct event in_line[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		SCATTER(0, 8, 2, 105, 160),
		GATHER(0, 10, 1, 160, 190, 64),
		KERNEL(0, 15, 0, 191, 200, "b"),
	};
	/* Two communicators at once: the one whose end is nearest to the op's start. */
	static const struct event at_once[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		SCATTER(0, 8, 2, 105, 160, .communicator = "other"),
		GATHER(0, 10, 1, 110, 190, 64),
		REDUCE(0, 11, 3, 110, 400, .communicator = "third"),
		KERNEL(0, 15, 0, 190, 200, "b"),
	};
	expect(in_line, COUNT(in_line),
		"100-120 forward; 120-160 blocked reduce_scatter>all_gather; "
		"160-191 blocked all_gather unknown>all_gather; 191-200 forward");
	expect(at_once, COUNT(at_once),
		"100-120 forward; 120-190 blocked all_gather unknown>all_gather; 190-200 forward");
}

/* Each kind of collective holds under its own name. */
static void holders(void **state)
{
	(void)state;
	static const struct {
		enum collective_kind kind;
		const char *word;
	} cases[] = {{COLLECTIVE_REDUCE_SCATTER, "reduce_scatter"},
		{COLLECTIVE_ALL_REDUCE, "all_reduce"}, {COLLECTIVE_SEND_RECV, "send_recv"},
		{COLLECTIVE_BROADCAST, "broadcast"}, {COLLECTIVE_OTHER, "other_collective"}};
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct event events[] = {
			STEP,
			MODULE,
			KERNEL(0, 5, 0, 100, 120, "a"),
			KERNEL(0, 10, 1, 110, 150, "ncclDevKernel_X",
				.collective = (uint8_t)(1 + cases[i].kind)),
			KERNEL(0, 15, 0, 150, 160, "b"),
		};
		char expected[160];
		snprintf(expected, sizeof expected,
			"100-120 forward; 120-150 blocked %s>%s; 150-160 forward", cases[i].word,
			cases[i].word);
		expect(events, COUNT(events), expected);
	}
}

/* A copy on the compute stream is its next op; while it runs, it is what blocks. */
static void copies_on_the_compute_stream(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		COPY(0, 6, 0, 125, 150),
		KERNEL(0, 15, 0, 152, 160, "b"),
		COPY(0, 170, 0, 180, 190),
		KERNEL(0, 194, 0, 196, 210, "c"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-125 blocked latency; 125-150 blocked copy; "
		"150-152 blocked unexplained; 152-160 forward; "
		"160-172 starved dispatch forward; 172-180 blocked latency; "
		"180-196 starved dispatch forward; 196-210 forward");
}

/* A copy on another stream: it blocks while nothing else explains the wait. */
static void copies_elsewhere(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		COPY(0, 6, 2, 110, 160),
		KERNEL(0, 15, 0, 161, 170, "b"),
		COPY(0, 16, 2, 170, 230),
		GATHER(0, 17, 1, 180, 230, 64),
		KERNEL(0, 18, 0, 230, 240, "c"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-160 blocked copy; 160-161 blocked unexplained; "
		"161-170 forward; 170-180 blocked copy>all_gather; "
		"180-230 blocked all_gather unknown>all_gather; 230-240 forward");
}

/* After a stall in the allocator the time until the host leads again is the stall's. */
static void allocator_and_lead(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		CALL(0, 130, 150, "cudaFree"),
		CALL(0, 152, 170, "cudaMalloc"),
		KERNEL(0, 178, 0, 180, 190, "b"),
		KERNEL(0, 198, 0, 200, 240, "c"),
		KERNEL(0, 205, 0, 240, 260, "d"), /* launched 33 us before it is needed */
		KERNEL(0, 268, 0, 270, 280, "e"),
		CALL(0, 285, 290, "cudaMalloc"),
		KERNEL(0, 298, 0, 303, 310, "f"), /* a wait of its own: the host was not late */
		KERNEL(0, 318, 0, 320, 330, "g"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-130 starved dispatch forward; 130-170 starved allocator; "
		"170-180 starved lead_lost; 180-190 forward; 190-200 starved lead_lost; "
		"200-240 forward; 240-260 forward; 260-270 starved dispatch forward; "
		"270-280 forward; 280-285 starved dispatch forward; 285-290 starved allocator; "
		"290-300 starved lead_lost; 300-303 blocked latency; 303-310 forward; "
		"310-320 starved dispatch forward; 320-330 forward");
}

/* What the host was in: its own thread's or the one that runs the steps. */
static void host_reasons(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		KERNEL(0, 5, 0, 100, 120, "a"),
		CALL(0, 130, 140, "cudaStreamSynchronize"),
		HOST(0, 145, 155, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
		HOST(0, 158, 165, "gc.collect"),
		CALL(0, 165, 170, "cudaHostAlloc"),
		KERNEL(0, 188, 0, 190, 200, "b"),
	};
	static const struct event other_thread[] = {
		STEP,
		NODE(1, 10, 400, "X"),
		KERNEL(1, 15, 0, 100, 120, "a"),
		CALL(0, 130, 140, "cudaDeviceSynchronize"), /* the steps' thread */
		CALL(2, 150, 160, "cudaDeviceSynchronize"), /* somebody else's */
		KERNEL(1, 188, 0, 190, 200, "b"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-130 starved dispatch forward; 130-140 starved sync; "
		"140-145 starved dispatch forward; 145-155 starved data; "
		"155-158 starved dispatch forward; 158-165 starved gc; 165-170 starved allocator; "
		"170-190 starved lead_lost; 190-200 forward");
	expect(other_thread, COUNT(other_thread),
		"100-120 backward; 120-130 starved dispatch backward; 130-140 starved sync; "
		"140-190 starved dispatch backward; 190-200 backward");
}

/* Dispatch is FSDP's while the launching thread is in one of its hooks. */
static void dispatch_in_hooks(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		KERNEL(0, 5, 0, 100, 120, "a"),
		HOST(0, 130, 170, "FSDP::pre_forward (a)"),
		HOST(0, 140, 160, "FSDP::all_gather (a)"),
		GATHER(0, 145, 1, 400, 410, 64),
		HOST(1, 121, 125, "FSDP::pre_forward (b)"),
		KERNEL(0, 178, 0, 180, 190, "b"),
	};
	struct trace trace;
	struct ranks ranks;
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	const struct partition *partition = &ranks.items[0].partition;
	uint32_t billed = 0;
	for (uint32_t i = 0; i < partition->count; i++) {
		const struct interval *interval = &partition->items[i];
		const bool in_range = interval->start_ns == US(140);
		assert_int_equal(interval->gather, in_range ? 0 : NULL_U32);
		billed += in_range;
	}
	assert_int_equal(billed, 1);
	list_forget(&trace, 1, &ranks);
	expect(events, COUNT(events),
		"100-120 forward; 120-130 starved dispatch forward; "
		"130-140 starved dispatch fsdp; 140-160 starved dispatch fsdp; "
		"160-170 starved dispatch fsdp; 170-180 starved dispatch forward; 180-190 forward");
}

/* Several ops at once, on one stream and on several: the first phase in order owns. */
static void overlaps(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		NODE(1, 10, 800, "X"),
		OP(0, 1, 890, "aten::mm"),
		KERNEL(1, 15, 0, 100, 150, "a"),
		KERNEL(0, 16, 0, 120, 130, "b"), /* forward, inside it, on the same stream */
		KERNEL(0, 17, 2, 140, 170, "c"), /* forward, beyond its end, elsewhere */
		KERNEL(1, 18, 3, 160, 180, "d"),
		KERNEL(1, 19, 0, 180, 190, "e"),
	};
	expect(events, COUNT(events),
		"100-120 backward; 120-130 forward; 130-140 backward; 140-170 forward; "
		"170-180 backward; 180-190 backward");
}

/* An op without a launch record is taken to have been launched in time, in no known phase. */
static void without_a_launch(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		KERNEL(0, 5, 0, 100, 120, "a"),
		ORPHAN(0, 160, 170, "b"),
		KERNEL(0, 15, 0, 170, 180, "c"),
	};
	expect(events, COUNT(events),
		"100-120 forward; 120-160 blocked unexplained; 160-170 unknown; 170-180 forward");
}

static void expect_windows(const struct event *events, uint32_t count, const char *expected)
{
	struct trace trace;
	struct ranks ranks;
	struct text text = {0};
	list_trace(&trace, events, count, &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	const struct partition *partition = &ranks.items[0].partition;
	for (uint32_t w = 0; w < partition->window_count; w++) {
		const struct window *window = &partition->windows[w];
		text_add(&text, "%s%.10g-%.10g%s%s", w ? ", " : "", (double)window->start_ns / 1000,
			(double)window->end_ns / 1000, window->closed ? " closed" : "",
			window->empty ? " empty" : "");
	}
	assert_string_equal(text.bytes, expected);
	text_done(&text);
	list_forget(&trace, 1, &ranks);
}

static void windows(void **state)
{
	(void)state;
	/* The first window is open; side streams and late ends move no border. */
	static const struct event open[] = {
		HOST(0, 0, 100, "ProfilerStep#1"),
		HOST(0, 100, 200, "ProfilerStep#2"),
		KERNEL(0, 5, 0, 110, 120, "a"),
		KERNEL(0, 6, 1, 90, 100, "side"),
		KERNEL(0, 16, 1, 290, 300, "side"),
		KERNEL(0, 15, 0, 130, 150, "b"),
		KERNEL(0, 105, 0, 160, 190, "c"),
	};
	/* Ops from before the first step close it; an empty step takes no time. */
	static const struct event closed[] = {
		HOST(0, 0, 100, "ProfilerStep#1"),
		HOST(0, 100, 200, "ProfilerStep#2"),
		HOST(0, 200, 300, "ProfilerStep#3"),
		ORPHAN(0, 20, 40, "a"),
		KERNEL(0, 5, 0, 60, 70, "b"),
		KERNEL(0, 205, 0, 220, 290, "c"),
	};
	/* The first step launches nothing: the second is open. */
	static const struct event empty_first[] = {
		HOST(0, 0, 100, "ProfilerStep#1"),
		HOST(0, 100, 200, "ProfilerStep#2"),
		HOST(0, 200, 300, "ProfilerStep#3"),
		KERNEL(0, 105, 0, 120, 150, "a"),
		KERNEL(0, 205, 0, 220, 290, "b"),
	};
	static const struct event no_steps[] = {
		KERNEL(0, 105, 0, 120, 150, "a"),
		KERNEL(0, 205, 0, 220, 290, "b"),
		KERNEL(0, 6, 1, 90, 100, "side"),
	};
	expect_windows(open, COUNT(open), "110-150, 150-190 closed");
	expect_windows(closed, COUNT(closed), "40-70 closed, 70-70 empty, 70-290 closed");
	expect_windows(empty_first, COUNT(empty_first), "120-120 empty, 120-150, 150-290 closed");
	expect_windows(no_steps, COUNT(no_steps), "120-290");
}

/* A recorded edge says what the op waits for, whatever ended last before it. */
static void edges(void **state)
{
	(void)state;
	static const struct event events[] = {
		STEP,
		MODULE,
		KERNEL(0, 5, 0, 100, 120, "a"),
		GATHER(0, 10, 1, 110, 150, 64),
		CALL(0, 13, 14, "cudaEventRecord"),
		REDUCE(0, 14, 2, 110, 159, .communicator = "other"),
		CALL(0, 17, 18, "cudaStreamWaitEvent"),
		KERNEL(0, 20, 0, 160, 170, "b"),
	};
	struct trace trace;
	struct ranks ranks;
	struct text text = {0};
	struct err err = {0};
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	uint32_t record = NULL_U32, wait = NULL_U32;
	for (uint32_t c = 0; c < trace.api_calls.head.count; c++) {
		record = trace.api_calls.start_ns[c] == US(13) ? c : record;
		wait = trace.api_calls.start_ns[c] == US(17) ? c : wait;
	}
	TRACE_PUSH(&trace.stream_waits, stream_wait_table, &err, .api_call_id = wait,
		.waiting_stream_id = 0, .recorded_stream_id = 1, .record_call_id = record,
		.event = 1);
	assert_true(trace_seal(&trace, &err));
	list_analyse(&trace, 1, &ranks);
	write_partition(&text, &ranks.items[0].partition);
	assert_string_equal(text.bytes,
		"100-120 forward; 120-150 blocked all_gather unknown>all_gather; "
		"150-159 blocked all_reduce>all_gather; "
		"159-160 blocked all_gather unknown>all_gather; 160-170 forward");
	text_done(&text);
	list_forget(&trace, 1, &ranks);
}

static void nothing_computes(void **state)
{
	(void)state;
	static const struct event events[] = {STEP, GATHER(0, 10, 1, 110, 150, 64)};
	struct trace trace;
	struct ranks ranks;
	struct err err = {0};
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	assert_false(ranks_make(&trace, 1, list_rules(), 1, &ranks, &err));
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.msg, "computes"));
	trace_done(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_on_gather),
		cmocka_unit_test(starved_beside_a_gather),
		cmocka_unit_test(latency_border),
		cmocka_unit_test(explained_wait),
		cmocka_unit_test(waits_behind),
		cmocka_unit_test(holders),
		cmocka_unit_test(copies_on_the_compute_stream),
		cmocka_unit_test(copies_elsewhere),
		cmocka_unit_test(allocator_and_lead),
		cmocka_unit_test(host_reasons),
		cmocka_unit_test(dispatch_in_hooks),
		cmocka_unit_test(overlaps),
		cmocka_unit_test(without_a_launch),
		cmocka_unit_test(windows),
		cmocka_unit_test(edges),
		cmocka_unit_test(nothing_computes),
	};
	return cmocka_run_group_tests_name("idle", tests, NULL, NULL);
}
