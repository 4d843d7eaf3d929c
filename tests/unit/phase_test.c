/* Phases of launches, by lists of rows: every way to wrap, and what looks like recomputation. */
#include "event_list.h"

/* A kernel launched at `at` by a thread: when it runs does not matter here. */
#define K(thread_, at, ...) \
	KERNEL(thread_, at, 0, (at) + 5000, (at) + 5004, "elementwise_kernel", __VA_ARGS__)

static void expect_regions(const struct ranks *ranks, uint32_t regions, uint32_t reentrant)
{
	assert_int_equal(ranks->items[0].phases.regions, regions);
	assert_int_equal(ranks->items[0].phases.reentrant_regions, reentrant);
}

static void no_regions(const struct ranks *ranks)
{
	expect_regions(ranks, 0, 0);
}

static void one_region(const struct ranks *ranks)
{
	expect_regions(ranks, 1, 0);
}

static void one_reentrant_region(const struct ranks *ranks)
{
	expect_regions(ranks, 1, 1);
}

static void two_regions(const struct ranks *ranks)
{
	expect_regions(ranks, 2, 0);
}

static void plain_fsdp2(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 10, 20, "FSDP::pre_forward (layers.0)"),
		K(0, 12, IN(FSDP)),
		OP(0, 30, 60, "aten::mm"),
		K(0, 32, IN(FORWARD), BATCH(0)),
		HOST(0, 40, 50, "aten::empty"),
		K(0, 42, IN(FORWARD)),
		K(0, 65, IN(FORWARD)),
		OP(0, 70, 75, "aten::nll_loss"),
		NODE(1, 100, 200, "MmBackward0"),
		K(1, 110, IN(BACKWARD)),
		HOST(1, 120, 140, "FSDP::pre_backward (layers.0)"),
		K(1, 122, IN(FSDP)),
		K(1, 150, IN(BACKWARD)),
		NODE(1, 210, 300, "torch::autograd::AccumulateGrad"),
		HOST(1, 220, 240, "FSDP::post_backward_reduce (layers.0)"),
		HOST(1, 222, 230, "fsdp::chunk_cat"),
		K(1, 224, IN(FSDP)),
		K(1, 250, IN(BACKWARD)),
		K(1, 310, IN(BACKWARD), BATCH(0)),
		HOST(0, 800, 900, "Optimizer.step#AdamW.step"),
		K(0, 810, IN(OPTIMIZER)),
	};
	list_check(events, COUNT(events), no_regions);
}

/* fully_shard(checkpoint(block)), non-reentrant: in the first node that unpacks. */
static void fsdp2_non_reentrant(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 30, 60, "aten::mm"),
		K(0, 32, IN(FORWARD)),
		NODE(1, 100, 300, "MulBackward0"),
		HOST(1, 102, 110, "FSDP::pre_backward (layers.0)"),
		K(1, 104, IN(FSDP)),
		K(1, 112, IN(BACKWARD)),
		OP(1, 120, 130, "aten::mm"),
		K(1, 122, IN(RECOMPUTE)),
		/* no autograd key, no op at all: between two that prove it */
		HOST(1, 132, 138, "aten::empty"),
		K(1, 134, IN(RECOMPUTE)),
		K(1, 140, IN(RECOMPUTE)),
		OP(1, 150, 170, "aten::gelu"),
		HOST(1, 152, 160, "aten::copy_"),
		K(1, 154, IN(RECOMPUTE)),
		K(1, 162, IN(RECOMPUTE)),
		K(1, 180, IN(BACKWARD)),
		NODE(1, 310, 400, "MmBackward0"),
		K(1, 320, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_region);
}

/* A node has its own bracket: what lies between two nodes that recompute is backward. */
static void brackets_do_not_span_nodes(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 30, 60, "aten::mm"),
		NODE(1, 100, 200, "AddBackward0"),
		OP(1, 120, 130, "aten::mm"),
		K(1, 122, IN(RECOMPUTE)),
		K(1, 140, IN(BACKWARD)),
		K(1, 210, IN(BACKWARD)),
		NODE(1, 300, 400, "AddBackward0"),
		K(1, 310, IN(BACKWARD)),
		OP(1, 320, 330, "aten::mm"),
		K(1, 322, IN(RECOMPUTE)),
	};
	list_check(events, COUNT(events), two_regions);
}

/* fully_shard(checkpoint(block)), reentrant: then the region's own nodes, on the same thread. */
static void fsdp2_reentrant(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 20, 80, "CheckpointFunction"),
		HOST(0, 30, 40, "aten::mm"),
		K(0, 32, IN(FORWARD)),
		NODE(1, 100, 400, "CheckpointFunctionBackward"),
		HOST(1, 102, 390, "CheckpointFunctionBackward"),
		OP(1, 110, 120, "aten::mm"),
		K(1, 112, IN(RECOMPUTE)),
		OP(1, 130, 140, "aten::gelu"),
		K(1, 132, IN(RECOMPUTE)),
		NODE(1, 200, 250, "GeluBackward0"),
		K(1, 210, IN(BACKWARD)),
		NODE(1, 260, 290, "MmBackward0"),
		K(1, 270, IN(BACKWARD)),
		K(1, 300, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_reentrant_region);
}

/* checkpoint(fully_shard(block)), reentrant: FSDP's hooks run inside the recomputation. */
static void fsdp2_reentrant_outside(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 10, 20, "FSDP::pre_forward (layers.0)"),
		K(0, 12, IN(FSDP)),
		NODE(1, 100, 400, "CheckpointFunctionBackward"),
		HOST(1, 102, 390, "CheckpointFunctionBackward"),
		OP(1, 106, 108, "aten::detach"),
		HOST(1, 110, 130, "FSDP::pre_forward (layers.0)"),
		K(1, 112, IN(FSDP)),
		OP(1, 140, 150, "aten::mm"),
		K(1, 142, IN(RECOMPUTE)),
		HOST(1, 160, 165, "FSDP::post_forward (layers.0)"),
		NODE(1, 200, 250, "MmBackward0"),
		HOST(1, 202, 212, "FSDP::pre_backward (layers.0)"),
		K(1, 204, IN(FSDP)),
		K(1, 220, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_reentrant_region);
}

/* FSDP1(checkpoint(block)): the hooks re-create views with grad on, which recomputes nothing. */
static void fsdp1_hooks_with_grad(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 10, 90, "FullyShardedDataParallel.forward"),
		HOST(0, 12, 30, "FullyShardedDataParallel._pre_forward"),
		OP(0, 14, 16, "aten::as_strided"),
		K(0, 15, IN(FSDP)),
		OP(0, 40, 50, "aten::mm"),
		K(0, 42, IN(FORWARD)),
		NODE(1, 100, 200, "MmBackward0"),
		HOST(1, 102, 140, "FullyShardedDataParallel._pre_backward_hook"),
		OP(1, 104, 110, "aten::split_with_sizes"),
		K(1, 106, IN(FSDP)),
		OP(1, 120, 130, "aten::view"),
		K(1, 150, IN(BACKWARD)),
		NODE(1, 210, 300, "torch::autograd::AccumulateGrad"),
		HOST(1, 220, 280, "FullyShardedDataParallel._post_backward_hook"),
		OP(1, 230, 240, "aten::as_strided"),
		K(1, 245, IN(FSDP)),
		K(1, 290, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), no_regions);
}

/* checkpoint(FSDP1(block)): the module's forward recomputes from its first launch on. */
static void fsdp1_outside(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 10, 90, "FullyShardedDataParallel.forward"),
		K(0, 42, IN(FORWARD)),
		NODE(1, 100, 400, "CheckpointFunctionBackward"),
		HOST(1, 102, 390, "CheckpointFunctionBackward"),
		K(1, 104, IN(BACKWARD)),
		HOST(1, 110, 190, "FullyShardedDataParallel.forward"),
		HOST(1, 112, 130, "FullyShardedDataParallel._pre_forward"),
		K(1, 114, IN(FSDP)),
		K(1, 140, IN(RECOMPUTE)),
		OP(1, 150, 160, "aten::mm"),
		K(1, 152, IN(RECOMPUTE)),
		K(1, 170, IN(RECOMPUTE)),
		HOST(1, 180, 185, "FullyShardedDataParallel._post_forward"),
		K(1, 182, IN(FSDP)),
		NODE(1, 200, 250, "MmBackward0"),
		K(1, 210, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_reentrant_region);
}

/* The same, not reentrant: `_pre_forward` returns early but its range is there. */
static void fsdp1_outside_non_reentrant(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 10, 90, "FullyShardedDataParallel.forward"),
		K(0, 42, IN(FORWARD)),
		NODE(1, 100, 300, "MulBackward0"),
		HOST(1, 102, 108, "FullyShardedDataParallel._pre_backward_hook"),
		K(1, 104, IN(FSDP)),
		HOST(1, 110, 190, "FullyShardedDataParallel.forward"),
		HOST(1, 112, 114, "FullyShardedDataParallel._pre_forward"),
		OP(1, 150, 160, "aten::mm"),
		K(1, 152, IN(RECOMPUTE)),
		K(1, 180, IN(RECOMPUTE)),
		K(1, 200, IN(BACKWARD)),
	};
	list_check(events, COUNT(events), one_region);
}

/* A region inside a region, both reentrant. */
static void nested_regions(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		K(0, 42, IN(FORWARD)),
		NODE(1, 100, 600, "CheckpointFunctionBackward"),
		HOST(1, 102, 590, "CheckpointFunctionBackward"),
		OP(1, 110, 120, "aten::mm"),
		K(1, 112, IN(RECOMPUTE)),
		OP(1, 130, 180, "CheckpointFunction"),
		HOST(1, 140, 150, "aten::gelu"),
		K(1, 142, IN(RECOMPUTE)),
		NODE(1, 200, 400, "CheckpointFunctionBackward"),
		HOST(1, 202, 390, "CheckpointFunctionBackward"),
		OP(1, 210, 220, "aten::gelu"),
		K(1, 212, IN(RECOMPUTE)),
		NODE(1, 300, 350, "GeluBackward0"),
		K(1, 310, IN(BACKWARD)),
		K(1, 360, IN(BACKWARD)),
		NODE(1, 450, 500, "MmBackward0"),
		K(1, 460, IN(BACKWARD)),
	};
	static const struct event rest[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		K(0, 42, IN(FORWARD)),
		/* two levels, not reentrant: one node unpacks both */
		NODE(1, 100, 300, "GeluBackward0"),
		OP(1, 110, 120, "aten::mm"),
		K(1, 112, IN(RECOMPUTE)),
		OP(1, 130, 160, "aten::gelu"),
		K(1, 132, IN(RECOMPUTE)),
	};
	list_check(events, COUNT(events), NULL);
	list_check(rest, COUNT(rest), one_region);
}

static void two_regions_one_reentrant(const struct ranks *ranks)
{
	expect_regions(ranks, 2, 1);
}

/* A node begins anew: what is around it, a hook or a reentrant region, says nothing of it. */
static void nodes_begin_anew(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		K(0, 42, IN(FORWARD)),
		NODE(1, 100, 400, "CheckpointFunctionBackward"),
		HOST(1, 102, 390, "CheckpointFunctionBackward"),
		OP(1, 110, 120, "aten::mm"),
		K(1, 112, IN(RECOMPUTE)),
		NODE(1, 200, 300, "MulBackward0"),
		OP(1, 210, 220, "aten::mm"),
		K(1, 212, IN(RECOMPUTE)),
		NODE(1, 500, 700, "MmBackward0"),
		HOST(1, 510, 690, "FSDP::pre_backward (a)"),
		K(1, 512, IN(FSDP)),
		NODE(1, 520, 600, "MulBackward0"),
		K(1, 530, IN(BACKWARD)),
		K(1, 610, IN(FSDP)),
	};
	list_check(events, COUNT(events), two_regions_one_reentrant);
}

static void micro_batches(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 20, 30, "aten::mm"),
		K(0, 22, IN(FORWARD), BATCH(0)),
		NODE(1, 100, 150, "MmBackward0"),
		K(1, 110, IN(BACKWARD), BATCH(0)),
		NODE(1, 160, 180, "MmBackward0"),
		K(1, 170, IN(BACKWARD), BATCH(0)),
		HOST(0, 200, 210, "FSDP::pre_forward (layers.0)"),
		K(0, 202, IN(FSDP), BATCH(1)),
		OP(0, 220, 230, "aten::mm"),
		K(0, 222, IN(FORWARD), BATCH(1)),
		NODE(1, 300, 350, "MmBackward0"),
		OP(1, 310, 320, "aten::mm"), /* recomputed: begins no micro-batch */
		K(1, 312, IN(RECOMPUTE), BATCH(1)),
		NODE(1, 360, 390, "MmBackward0"),
		K(1, 370, IN(BACKWARD), BATCH(1)),
		HOST(0, 400, 480, "FullyShardedDataParallel.forward"),
		OP(0, 410, 430, "aten::mm"),
		K(0, 412, IN(FORWARD), BATCH(2)),
		NODE(1, 500, 550, "MmBackward0"),
		K(1, 510, IN(BACKWARD), BATCH(2)),
		HOST(0, 900, 950, "Optimizer.step#SGD.step"),
		K(0, 910, IN(OPTIMIZER), BATCH(2)),
		HOST(0, 1000, 2000, "ProfilerStep#2"),
		OP(0, 1020, 1030, "aten::mm"),
		K(0, 1022, IN(FORWARD), BATCH(0)),
		NODE(1, 1100, 1150, "MmBackward0"),
		K(1, 1110, IN(BACKWARD), BATCH(0)),
	};
	list_check(events, COUNT(events), NULL);
}

static void three_micro_batches(const struct ranks *ranks)
{
	assert_int_equal(ranks->items[0].phases.micro_batch_count, 3);
}

static void most_micro_batches(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 20, 30, "aten::mm"),
		K(0, 22, BATCH(0)),
		NODE(1, 100, 150, "MmBackward0"),
		HOST(0, 1000, 2000, "ProfilerStep#2"),
		OP(0, 1020, 1030, "aten::mm"),
		NODE(1, 1100, 1150, "MmBackward0"),
		OP(0, 1220, 1230, "aten::mm"),
		NODE(1, 1300, 1350, "MmBackward0"),
		OP(0, 1420, 1430, "aten::mm"),
		K(0, 1422, BATCH(2)),
		NODE(1, 1500, 1550, "MmBackward0"),
		/* loss.item() after the last backward begins none */
		OP(0, 1620, 1630, "aten::item"),
		K(0, 1622, BATCH(2)),
	};
	list_check(events, COUNT(events), three_micro_batches);
}

/* What comes after the last backward outside of any range: clipping, as the optimizer's. */
static void gradient_clipping(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 20, 30, "aten::mm"),
		K(0, 22, IN(FORWARD)),
		K(0, 40, IN(FORWARD)),
		NODE(1, 100, 150, "MmBackward0"),
		K(1, 110, IN(BACKWARD)),
		/* between two micro-batches: forward, not clipping */
		K(0, 160, IN(FORWARD)),
		OP(0, 180, 190, "aten::mm"),
		K(0, 182, IN(FORWARD)),
		NODE(1, 200, 250, "MmBackward0"),
		HOST(0, 300, 310, "aten::linalg_vector_norm"),
		K(0, 302, IN(OPTIMIZER)),
		K(0, 320, IN(OPTIMIZER)),
		HOST(0, 330, 340, "FSDP::root_pre_forward"),
		K(0, 332, IN(FSDP)),
		HOST(0, 400, 500, "Optimizer.step#AdamW.step"),
		K(0, 410, IN(OPTIMIZER)),
		HOST(0, 1000, 2000, "ProfilerStep#2"),
		K(0, 1010, IN(FORWARD)),
		OP(0, 1020, 1030, "aten::mm"),
		K(0, 1022, IN(FORWARD)),
		NODE(1, 1100, 1150, "MmBackward0"),
	};
	list_check(events, COUNT(events), NULL);
}

static void two_autograd_threads(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"), OP(0, 20, 30, "aten::mm"),
		K(0, 22, IN(FORWARD)), NODE(1, 100, 300, "MmBackward0"),
		NODE(2, 110, 290, "MulBackward0"), OP(1, 120, 150, "aten::mm"),
		K(1, 122, IN(RECOMPUTE)),
		K(2, 130, IN(BACKWARD)), /* at the same time, in a node that recomputes nothing */
		OP(1, 160, 170, "aten::mm"), K(1, 155, IN(RECOMPUTE)),
		OP(2, 200, 210, "aten::gelu"), K(2, 202, IN(RECOMPUTE)), K(2, 220, IN(BACKWARD)),
		K(3, 230, IN(UNKNOWN)), /* a thread without host ops */
	};
	list_check(events, COUNT(events), two_regions);
}

/* Compiled backward is no recomputation, whatever its ops look like: see compiled_test.c. */
static void compiled_region_in_checkpoint(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		HOST(0, 20, 60, "Torch-Compiled Region: 0/0"),
		OP(0, 25, 50, "CompiledFunction"),
		K(0, 32, IN(FORWARD)),
		NODE(1, 100, 300, "CheckpointFunctionBackward"),
		HOST(1, 102, 290, "CheckpointFunctionBackward"),
		HOST(1, 110, 150, "Torch-Compiled Region: 0/0"),
		OP(1, 112, 140, "CompiledFunction"),
		K(1, 120, IN(RECOMPUTE)),
	};
	list_check(events, COUNT(events), one_reentrant_region);
}

static void all_unknown(const struct ranks *ranks)
{
	assert_int_equal(ranks->items[0].phases.launches[0].how, HOW_UNKNOWN);
	assert_int_equal(ranks->items[0].phases.steps.count, 0);
	assert_string_equal(ranks->items[0].phases.steps.how, "unknown");
	no_regions(ranks);
}

static void no_host_ops(void **state)
{
	(void)state;
	static const struct event events[] = {
		K(0, 22, IN(UNKNOWN)),
		K(0, 60, IN(UNKNOWN)),
		ORPHAN(0, 100, 110, "orphan"),
	};
	list_check(events, COUNT(events), all_unknown);
}

static void no_launch(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		OP(0, 20, 30, "aten::mm"),
		K(0, 22, IN(FORWARD)),
		{.is = EVENT_GPU,
			.thread = LIST_NO_CALL,
			.start_ns = US(10),
			.end_ns = US(20),
			.name = "orphan",
			IN(UNKNOWN)},
	};
	list_check(events, COUNT(events), NULL);
}

static void stream_two(const struct ranks *ranks)
{
	assert_int_equal(ranks->items[0].phases.compute_stream, 2);
}

/* The compute stream runs most of forward, recompute and backward; without phases, most of all. */
static void compute_stream(void **state)
{
	(void)state;
	static const struct event phased[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		KERNEL(0, 32, 0, 5000, 5010, "a", IN(FORWARD)),
		KERNEL(0, 34, 2, 5000, 5030, "b", IN(FORWARD)),
		GATHER(0, 36, 1, 5000, 6000, 64),
		COPY(0, 38, 3, 5000, 6000),
		NODE(1, 100, 200, "X"),
		KERNEL(1, 110, 2, 5100, 5110, "c", IN(BACKWARD)),
		KERNEL(1, 120, 0, 5100, 5120, "c", IN(BACKWARD)),
		HOST(0, 300, 400, "Optimizer.step#SGD.step"),
		KERNEL(0, 310, 0, 5200, 5900, "d", IN(OPTIMIZER)),
	};
	static const struct event bare[] = {
		KERNEL(0, 32, 0, 5000, 5010, "a"),
		KERNEL(0, 34, 2, 5000, 5030, "b"),
		GATHER(0, 36, 1, 5000, 6000, 64),
		COPY(0, 38, 3, 5000, 6000),
	};
	list_check(phased, COUNT(phased), stream_two);
	list_check(bare, COUNT(bare), stream_two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_fsdp2),
		cmocka_unit_test(fsdp2_non_reentrant),
		cmocka_unit_test(brackets_do_not_span_nodes),
		cmocka_unit_test(fsdp2_reentrant),
		cmocka_unit_test(fsdp2_reentrant_outside),
		cmocka_unit_test(fsdp1_hooks_with_grad),
		cmocka_unit_test(fsdp1_outside),
		cmocka_unit_test(fsdp1_outside_non_reentrant),
		cmocka_unit_test(nested_regions),
		cmocka_unit_test(nodes_begin_anew),
		cmocka_unit_test(micro_batches),
		cmocka_unit_test(most_micro_batches),
		cmocka_unit_test(gradient_clipping),
		cmocka_unit_test(two_autograd_threads),
		cmocka_unit_test(compiled_region_in_checkpoint),
		cmocka_unit_test(no_host_ops),
		cmocka_unit_test(no_launch),
		cmocka_unit_test(compute_stream),
	};
	return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
