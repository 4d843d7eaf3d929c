/*
 * Recomputation without host ops to tell it by: kernels of the forward that return in backward, in
 * compiled graphs and in recordings of launches alone.
 */
#include "event_list.h"

#define K(thread_, at, name_, ...) \
	KERNEL(thread_, at, 0, (at) + 5000, (at) + 5004, name_, __VA_ARGS__)

#define FORWARD_GRAPH                                                                      \
	HOST(0, 0, 1000, "ProfilerStep#1"), HOST(0, 10, 60, "Torch-Compiled Region: 0/0"), \
		HOST(0, 20, 50, "## Call CompiledFxGraph abc ##"),                         \
		K(0, 22, "gemm_a", IN(FORWARD)), K(0, 24, "triton_poi_1", IN(FORWARD)),    \
		K(0, 26, "gemm_b", IN(FORWARD)), K(0, 28, "flash_fwd", IN(FORWARD))
#define BACKWARD_GRAPH                                 \
	NODE(1, 100, 200, "CompiledFunctionBackward"), \
		HOST(1, 102, 190, "CompiledFunctionBackward"), OP(1, 104, 180, "some::op")

static void expect_compiled(const struct ranks *ranks, uint32_t unknown)
{
	assert_int_equal(ranks->items[0].phases.compiled_ops, unknown);
	assert_int_equal(ranks->items[0].phases.regions, 0);
}

static void one_unknown(const struct ranks *ranks)
{
	expect_compiled(ranks, 1);
}

static void three_unknown(const struct ranks *ranks)
{
	expect_compiled(ranks, 3);
}

/* The forward's chain returns: it was computed again. */
static void matched(void **state)
{
	(void)state;
	static const struct event events[] = {
		FORWARD_GRAPH,
		BACKWARD_GRAPH,
		K(1, 110, "gemm_a", IN(RECOMPUTE)),
		K(1, 112, "triton_poi_1", IN(RECOMPUTE)),
		K(1, 114, "flash_fwd", IN(RECOMPUTE)),
		K(1, 116, "flash_bwd", IN(BACKWARD)),
		K(1, 118, "gemm_c", IN(BACKWARD)),
		K(1, 120, "triton_poi_7", IN(UNKNOWN)),
		HOST(1, 130, 140, "FSDP::pre_backward (a)"),
		K(1, 132, "gemm_a", IN(FSDP)),
		K(1, 195, "gemm_a", IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_unknown);
}

/* Two kernels that return are chance; so are three without a matrix product among them. */
static void chance(void **state)
{
	(void)state;
	static const struct event few[] = {
		FORWARD_GRAPH,
		BACKWARD_GRAPH,
		K(1, 110, "gemm_a", IN(BACKWARD)),
		K(1, 112, "triton_poi_1", IN(UNKNOWN)),
		K(1, 114, "triton_poi_8", IN(UNKNOWN)),
		K(1, 116, "triton_poi_9", IN(UNKNOWN)),
		K(1, 118, "gemm_c", IN(BACKWARD)),
	};
	static const struct event light[] = {
		FORWARD_GRAPH,
		BACKWARD_GRAPH,
		K(1, 110, "triton_poi_1", IN(UNKNOWN)),
		K(1, 112, "triton_poi_1", IN(UNKNOWN)),
		K(1, 114, "triton_poi_1", IN(UNKNOWN)),
		K(1, 118, "gemm_c", IN(BACKWARD)),
	};
	list_check(few, COUNT(few), three_unknown);
	list_check(light, COUNT(light), three_unknown);
}

/* A kernel of another grid is another kernel. */
static void other_grid(void **state)
{
	(void)state;
	static const struct event events[] = {
		FORWARD_GRAPH,
		BACKWARD_GRAPH,
		K(1, 110, "gemm_a", IN(BACKWARD)),
		K(1, 112, "triton_poi_1", IN(UNKNOWN)),
		K(1, 114, "flash_fwd", IN(BACKWARD)),
	};
	struct trace trace;
	struct ranks ranks;
	struct err err = {0};
	list_trace(&trace, events, COUNT(events), &(struct list_options){0});
	for (uint32_t i = 0; i < trace.gpu_ops.head.count; i++)
		if (trace.gpu_ops.start_ns[i] > US(5100))
			trace.gpu_ops.grid_y[i] = 2;
	assert_true(trace_seal(&trace, &err));
	list_analyse(&trace, 1, &ranks);
	list_expect(&ranks.items[0], events, COUNT(events));
	list_forget(&trace, 1, &ranks);
}

static void by_period(const struct ranks *ranks)
{
	const struct host_steps *steps = &ranks->items[0].phases.steps;
	assert_string_equal(steps->how, "period");
	assert_int_equal(steps->count, 2);
	assert_int_equal(steps->items[0].start_ns, US(10));
	assert_int_equal(steps->items[0].end_ns, US(210));
	for (uint32_t i = 0; i < ranks->items[0].trace->gpu_ops.head.count; i++)
		assert_int_equal(ranks->items[0].phases.launches[i].how, HOW_MATCHED);
}

#define BARE_STEP(at)                                                                              \
	K(0, (at) + 10, "gemm_a", IN(FORWARD)), K(0, (at) + 12, "add", IN(FORWARD)),               \
		K(0, (at) + 14, "gemm_b", IN(FORWARD)), K(0, (at) + 16, "mul", IN(FORWARD)),       \
		K(1, (at) + 100, "loss_bwd", IN(BACKWARD)),                                        \
		K(1, (at) + 110, "gemm_a", IN(RECOMPUTE)), K(1, (at) + 112, "add", IN(RECOMPUTE)), \
		K(1, (at) + 114, "gemm_b", IN(RECOMPUTE)), K(1, (at) + 116, "mul", IN(RECOMPUTE)), \
		K(1, (at) + 118, "gemm_b", IN(BACKWARD)), K(1, (at) + 120, "add", IN(BACKWARD)),   \
		K(0, (at) + 130, "norm", IN(OPTIMIZER)),                                           \
		K(0, (at) + 140, "FusedAdamMathFunctor", IN(OPTIMIZER)),                           \
		K(0, (at) + 142, "FusedAdamMathFunctor", IN(OPTIMIZER))

/* Launches alone: steps end with the optimizer, runs of four that return are recomputation. */
static void launches_alone(void **state)
{
	(void)state;
	static const struct event events[] = {BARE_STEP(0), BARE_STEP(200)};
	list_check(events, COUNT(events), by_period);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matched),
		cmocka_unit_test(chance),
		cmocka_unit_test(other_grid),
		cmocka_unit_test(launches_alone),
	};
	return cmocka_run_group_tests_name("compiled", tests, NULL, NULL);
}
