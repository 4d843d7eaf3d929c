/* The steps of one rank: where they come from, what belongs to them, and what they are called. */
#include "event_list.h"

#define K(thread_, at, ...) \
	KERNEL(thread_, at, 0, (at) + 9000, (at) + 9004, "elementwise_kernel", __VA_ARGS__)

struct expected {
	const char *name;
	int64_t from, to; /* us */
};

static void expect_steps(const struct event *events, uint32_t event_count, const char *how,
	const struct expected *expected, uint32_t count)
{
	struct trace trace;
	struct ranks ranks;
	list_trace(&trace, events, event_count, &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	const struct host_steps *steps = &ranks.items[0].phases.steps;
	assert_string_equal(steps->how, how);
	assert_int_equal(steps->count, count);
	for (uint32_t s = 0; s < count; s++) {
		assert_string_equal(steps->items[s].name, expected[s].name);
		assert_int_equal(steps->items[s].start_ns, US(expected[s].from));
		assert_int_equal(steps->items[s].end_ns, US(expected[s].to));
		assert_int_equal(host_steps_at(steps, US(expected[s].from)), s);
		assert_int_equal(host_steps_at(steps, US(expected[s].to) - 1), s);
		if (s + 1 == count)
			assert_int_equal(host_steps_at(steps, US(expected[s].to)), NULL_U32);
		if (s == 0)
			assert_int_equal(host_steps_at(steps, US(expected[s].from) - 1), NULL_U32);
	}
	list_forget(&trace, 1, &ranks);
}

static void from_step_ranges(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 1200, 2000, "ProfilerStep#8"),
		HOST(0, 100, 1100, "ProfilerStep#7"),
		HOST(0, 2000, 2900, "ProfilerStep#9"),
		HOST(0, 900, 1000, "Optimizer.step#AdamW.step"),
		K(0, 500),
	};
	static const struct expected expected[] = {{"ProfilerStep#7", 100, 1200},
		{"ProfilerStep#8", 1200, 2000}, {"ProfilerStep#9", 2000, 2900}};
	expect_steps(events, COUNT(events), "ProfilerStep", expected, COUNT(expected));
}

static void from_optimizer(void **state)
{
	(void)state;
	static const struct event events[] = {
		OP(0, 100, 200, "aten::mm"),
		K(0, 150),
		HOST(0, 300, 400, "Optimizer.step#AdamW.step"),
		HOST(0, 410, 450, "Optimizer.zero_grad#AdamW.zero_grad"),
		OP(0, 500, 600, "aten::mm"),
		HOST(0, 700, 800, "Optimizer.step#AdamW.step"),
		HOST(0, 810, 850, "Optimizer.zero_grad#AdamW.zero_grad"),
		OP(0, 900, 950, "aten::mm"),
	};
	static const struct expected expected[] = {{"step 1", 100, 450}, {"step 2", 450, 850}};
	expect_steps(events, COUNT(events), "optimizer", expected, COUNT(expected));
}

/* Two optimizers of one step, with ops that carry no sequence number between them. */
static void from_several_optimizers(void **state)
{
	(void)state;
	static const struct event events[] = {
		OP(0, 100, 200, "aten::mm"),
		K(0, 150),
		HOST(0, 300, 400, "Optimizer.step#AdamW.step"),
		HOST(0, 410, 440, "aten::mul_"),
		HOST(0, 450, 500, "Optimizer.step#SGD.step"),
		NODE(1, 600, 620, "MmBackward0"),
		HOST(0, 700, 800, "Optimizer.step#AdamW.step"),
		HOST(0, 850, 900, "Optimizer.step#SGD.step"),
	};
	static const struct expected expected[] = {{"step 1", 100, 500}, {"step 2", 500, 900}};
	expect_steps(events, COUNT(events), "optimizer", expected, COUNT(expected));
}

static void none(void **state)
{
	(void)state;
	static const struct event events[] = {OP(0, 100, 200, "aten::mm"), K(0, 150)};
	expect_steps(events, COUNT(events), "unknown", NULL, 0);
}

static void push_marker(struct trace *trace, int64_t from, int64_t to, int64_t value)
{
	TRACE_PUSH(&trace->markers, marker_table, NULL, .start_ns = US(from), .end_ns = US(to),
		.region = NULL_I64, .value = value, .name_id = list_string(trace, "warm"),
		.kind = MARKER_STEP);
}

/* Markers come before optimizer ranges; without a number the name is what it is. */
static void from_markers(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 500, 600, "Optimizer.step#AdamW.step"),
		K(0, 150),
	};
	struct trace trace;
	struct err err = {0};
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	push_marker(&trace, 1000, 1900, 12);
	push_marker(&trace, 100, 900, NULL_I64);
	assert_true(trace_seal(&trace, &err));
	struct ranks ranks;
	list_analyse(&trace, 1, &ranks);
	const struct host_steps *steps = &ranks.items[0].phases.steps;
	assert_string_equal(steps->how, "marker");
	assert_int_equal(steps->count, 2);
	assert_string_equal(steps->items[0].name, "warm");
	assert_int_equal(steps->items[0].end_ns, US(1000));
	assert_string_equal(steps->items[1].name, "step 12");
	list_forget(&trace, 1, &ranks);
}

/* A launch belongs to the step that it starts in; between two steps, to the earlier. */
static void launches_in_steps(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 100, 1000, "ProfilerStep#1"),
		HOST(0, 1100, 2000, "ProfilerStep#2"),
		K(0, 50),
		K(0, 100),
		K(1, 1050),
		K(0, 1099),
		K(0, 1100),
		K(0, 1999),
		K(0, 2000),
	};
	static const uint32_t expected[] = {NULL_U32, 0, 0, 0, 1, 1, NULL_U32};
	struct trace trace;
	struct ranks ranks;
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	list_analyse(&trace, 1, &ranks);
	for (uint32_t i = 0; i < COUNT(expected); i++)
		assert_int_equal(
			ranks.items[0].phases.launches[list_op(&trace, &events[2 + i])].step,
			expected[i]);
	list_forget(&trace, 1, &ranks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_step_ranges),
		cmocka_unit_test(from_optimizer),
		cmocka_unit_test(from_several_optimizers),
		cmocka_unit_test(none),
		cmocka_unit_test(from_markers),
		cmocka_unit_test(launches_in_steps),
	};
	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
