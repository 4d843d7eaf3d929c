/*
 * The ledger: how often each unit is gathered and why, for every strategy of FSDP1 and FSDP2, with
 * and without checkpointing, and who pays for the copies.  Launches are made by hand, one unit
 * after another, as the recorded hooks show them.
 */
#include "event_list.h"

#define BLOCKS	   3
#define MAX_EVENTS 512

struct scene {
	struct event events[MAX_EVENTS];
	char names[MAX_EVENTS][96];
	uint32_t count;
	int64_t now_us;
	uint8_t thread;
	struct trace trace;
	struct ranks ranks;
};

static const char *const unit_names[] = {"(root)", "layers.0", "layers.1", "layers.2"};

static void begin(struct scene *scene)
{
	memset(scene, 0, sizeof *scene);
	scene->now_us = 10;
}

/* A range that is open from now on; ends with scene_close. */
static uint32_t scene_open(struct scene *scene, const char *label, int unit, const char *form)
{
	const uint32_t at = scene->count++;
	assert_true(at < MAX_EVENTS);
	const char *name = unit < 0 ? "" : unit_names[unit];
	if (unit <= 0)
		snprintf(scene->names[at], sizeof *scene->names, "%s", label);
	else
		snprintf(scene->names[at], sizeof *scene->names, form, label, name);
	scene->events[at] = (struct event){.is = EVENT_HOST,
		.thread = scene->thread,
		.host_ns = US(scene->now_us++),
		.name = scene->names[at]};
	return at;
}

static void scene_close(struct scene *scene, uint32_t at)
{
	scene->events[at].return_ns = US(scene->now_us++);
}

static uint32_t open_range(struct scene *scene, const char *label, int unit)
{
	return scene_open(scene, label, unit, "%s (%s)");
}

static uint32_t open_node(struct scene *scene, const char *name)
{
	const uint32_t at = scene_open(scene, name, -1, "");
	scene->events[at].has_sequence = true;
	scene->events[at].forward_thread = 1;
	return at;
}

static void add(struct scene *scene, struct event event)
{
	assert_true(scene->count < MAX_EVENTS);
	scene->now_us += 5;
	scene->events[scene->count++] = event;
}

static void forward_op(struct scene *scene)
{
	const int64_t now = scene->now_us;
	add(scene, (struct event)OP(scene->thread, now, now + 4, "aten::mm"));
	add(scene,
		(struct event)KERNEL(scene->thread, now + 1, 0, now + 100000, now + 100003, "k"));
}

static void kernel(struct scene *scene, const char *billed)
{
	const int64_t now = scene->now_us;
	add(scene, (struct event)KERNEL(
			   scene->thread, now, 0, now + 100000, now + 100003, "k", BILLED(billed)));
}

static void gather_bytes(struct scene *scene, int64_t bytes)
{
	const int64_t now = scene->now_us;
	add(scene, (struct event)GATHER(scene->thread, now, 1, now + 100000, now + 100003, bytes));
}

/* --- FSDP2 --- */

static void gather2(struct scene *scene, int unit, const char *reason)
{
	char billed[64], *kept = scene->names[scene->count];
	snprintf(billed, sizeof billed, "%s %s", unit_names[unit], reason);
	const uint32_t range = open_range(scene, "FSDP::all_gather", unit);
	const uint32_t copy_in = scene_open(scene, "fsdp::all_gather_copy_in", -1, "");
	kept = scene->names[scene->count];
	snprintf(kept, sizeof *scene->names, "%s", billed);
	kernel(scene, kept);
	scene_close(scene, copy_in);
	gather_bytes(scene, 1000 * (unit + 1));
	scene_close(scene, range);
}

static void copy_out2(struct scene *scene, int unit, const char *reason)
{
	const uint32_t range = open_range(scene, "FSDP::all_gather_copy_out", unit);
	char *kept = scene->names[scene->count];
	snprintf(kept, sizeof *scene->names, "%s %s", unit_names[unit], reason);
	kernel(scene, kept);
	scene_close(scene, range);
}

/* A unit's forward; a reason of NULL: it has its parameters already. */
static void forward2(struct scene *scene, int unit, const char *reason)
{
	const uint32_t range = open_range(scene, "FSDP::pre_forward", unit);
	if (reason) {
		gather2(scene, unit, reason);
		copy_out2(scene, unit, reason);
	}
	scene_close(scene, range);
	forward_op(scene);
	const uint32_t post = open_range(scene, "FSDP::post_forward", unit);
	scene_close(scene, post);
}

enum {
	GATHERS = 1,	/* the unit gathers in its own pre-backward hook */
	PREFETCHES = 2, /* it prefetches the unit before it */
	RECOMPUTES = 4,
	REENTRANT_OUTSIDE = 8, /* recomputes with its own gather, then the hook gathers again */
	NEWER = 16,	       /* the hook does not */
};

static void hook2(struct scene *scene, int unit, unsigned what, const char *reason)
{
	const uint32_t hook = open_range(scene, "FSDP::pre_backward", unit);
	if (what & GATHERS)
		gather2(scene, unit, reason);
	copy_out2(scene, unit, what & (GATHERS | NEWER) ? reason : "backward");
	if (what & PREFETCHES) {
		const uint32_t range =
			scene_open(scene, "FSDP::backward_prefetch", unit - 1, "%s for %s");
		gather2(scene, unit - 1, "backward");
		scene_close(scene, range);
	}
	scene_close(scene, hook);
}

static void backward2(struct scene *scene, int unit, unsigned what)
{
	scene->thread = 1;
	const uint32_t node =
		open_node(scene, what & REENTRANT_OUTSIDE ? "autograd::engine::evaluate_function: "
							    "CheckpointFunctionBackward"
							  : "autograd::engine::evaluate_function: "
							    "MmBackward0");
	if (what & REENTRANT_OUTSIDE) {
		forward_op(scene);
		forward2(scene, unit, "backward");
		const uint32_t inner =
			open_node(scene, "autograd::engine::evaluate_function: MmBackward0");
		if (!(what & NEWER))
			hook2(scene, unit, what | GATHERS, "repeat");
		scene_close(scene, inner);
	} else {
		hook2(scene, unit, what, "backward");
	}
	if (what & RECOMPUTES)
		forward_op(scene);
	scene_close(scene, node);
	scene->thread = 0;
}

/* --- what is expected --- */

struct count {
	const char *unit;
	uint32_t forward, backward, repeat;
};

static void expect_counts(
	struct scene *scene, const struct count *expected, uint32_t count, uint32_t total)
{
	uint32_t step = scene->count++;
	scene->events[step] = (struct event)HOST(0, 0, scene->now_us, "ProfilerStep#1");
	list_trace(&scene->trace, scene->events, scene->count, &(struct list_options){0});
	list_analyse(&scene->trace, 1, &scene->ranks);
	const struct rank_analysis *rank = &scene->ranks.items[0];
	list_expect(rank, scene->events, scene->count);
	uint32_t found[GATHER_COUNT], all = 0;
	for (uint32_t e = 0; e < count; e++) {
		memset(found, 0, sizeof found);
		for (uint32_t c = 0; c < rank->trace->collectives.head.count; c++) {
			const struct gather *gather = &rank->phases.gathers[c];
			if (gather->reason == WORD_NONE || gather->unit == NULL_U32 ||
				strcmp(intern_text(&rank->phases.units, gather->unit),
					expected[e].unit) != 0)
				continue;
			found[gather->reason]++;
			all++;
		}
		if (found[GATHER_FORWARD] != expected[e].forward ||
			found[GATHER_BACKWARD] != expected[e].backward ||
			found[GATHER_REPEAT] != expected[e].repeat || found[GATHER_UNKNOWN])
			fail_msg("%s: %u forward, %u backward, %u repeat", expected[e].unit,
				found[GATHER_FORWARD], found[GATHER_BACKWARD],
				found[GATHER_REPEAT]);
	}
	assert_int_equal(all, total);
	list_forget(&scene->trace, 1, &scene->ranks);
}

static void expect_all(struct scene *scene, uint32_t forward, uint32_t root_backward,
	uint32_t backward, uint32_t repeat)
{
	struct count expected[BLOCKS + 1];
	for (int unit = 0; unit <= BLOCKS; unit++)
		expected[unit] = (struct count){unit_names[unit], forward,
			unit ? backward : root_backward, unit ? repeat : 0};
	expect_counts(scene, expected, BLOCKS + 1,
		(BLOCKS + 1) * forward + root_backward + BLOCKS * (backward + repeat));
}

/* fully_shard: reshard_after_forward of None, True, False; and with checkpointing inside. */
static void fsdp2_strategies(void **state)
{
	(void)state;
	static const struct {
		unsigned root, block;
		uint32_t root_backward, backward, repeat;
	} cases[] = {
		{0, GATHERS, 0, 1, 0},
		{GATHERS, GATHERS, 1, 1, 0},
		{0, 0, 0, 0, 0},
		{0, GATHERS | RECOMPUTES, 0, 1, 0},
		{0, REENTRANT_OUTSIDE, 0, 1, 1},
		{0, REENTRANT_OUTSIDE | NEWER, 0, 1, 0},
	};
	static struct scene scene;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		begin(&scene);
		for (int unit = 0; unit <= BLOCKS; unit++)
			forward2(&scene, unit, "forward");
		if (cases[i].root)
			backward2(&scene, 0, cases[i].root);
		for (int unit = BLOCKS; unit > 0 && cases[i].block; unit--)
			backward2(&scene, unit, cases[i].block);
		expect_all(&scene, 1, cases[i].root_backward, cases[i].backward, cases[i].repeat);
	}
}

/* The default: the last block gathers itself, the others are prefetched by the one behind. */
static void fsdp2_prefetch(void **state)
{
	(void)state;
	static struct scene scene;
	begin(&scene);
	for (int unit = 0; unit <= BLOCKS; unit++)
		forward2(&scene, unit, "forward");
	backward2(&scene, 3, GATHERS | PREFETCHES);
	backward2(&scene, 2, PREFETCHES);
	backward2(&scene, 1, 0);
	expect_all(&scene, 1, 0, 1, 0);
}

/* A prefetch that is thrown away: the unit gathers again in its own hook. */
static void fsdp2_prefetch_repeats(void **state)
{
	(void)state;
	static struct scene scene;
	static const struct count expected[] = {
		{"layers.2", 1, 1, 0}, {"layers.1", 1, 1, 1}, {"layers.0", 1, 1, 2}};
	begin(&scene);
	for (int unit = 1; unit <= BLOCKS; unit++)
		forward2(&scene, unit, "forward");
	backward2(&scene, 3, GATHERS | PREFETCHES);
	scene.thread = 1;
	uint32_t node = open_node(&scene, "autograd::engine::evaluate_function: MmBackward0");
	gather2(&scene, 2, "repeat");
	copy_out2(&scene, 2, "repeat");
	gather2(&scene, 1, "backward");
	gather2(&scene, 1, "repeat");
	copy_out2(&scene, 1, "repeat");
	gather2(&scene, 1, "repeat");
	scene_close(&scene, node);
	expect_counts(&scene, expected, COUNT(expected), 3 + 1 + 2 + 3);
}

/* Two micro-batches: twice as many; kept after backward, the second gathers nothing. */
static void fsdp2_accumulation(void **state)
{
	(void)state;
	static struct scene scene;
	begin(&scene);
	for (int batch = 0; batch < 2; batch++) {
		for (int unit = 0; unit <= BLOCKS; unit++)
			forward2(&scene, unit, "forward");
		for (int unit = BLOCKS; unit > 0; unit--)
			backward2(&scene, unit, GATHERS);
	}
	expect_all(&scene, 2, 0, 2, 0);
	begin(&scene);
	for (int batch = 0; batch < 2; batch++) {
		for (int unit = 0; unit <= BLOCKS; unit++)
			forward2(&scene, unit, batch ? NULL : "forward");
		backward2(&scene, 3, batch ? RECOMPUTES : GATHERS);
	}
	static const struct count kept[] = {{"(root)", 1, 0, 0}, {"layers.0", 1, 0, 0},
		{"layers.1", 1, 0, 0}, {"layers.2", 1, 1, 0}};
	expect_counts(&scene, kept, COUNT(kept), 5);
}

/* A copy-out is paid by its unit's newest gather, also when other units' gathers are newer. */
static void fsdp2_copy_out(void **state)
{
	(void)state;
	static struct scene scene;
	static const struct count expected[] = {{"layers.0", 1, 1, 0}, {"layers.1", 1, 0, 0}};
	begin(&scene);
	gather2(&scene, 1, "forward");
	gather2(&scene, 2, "forward");
	copy_out2(&scene, 1, "forward");
	copy_out2(&scene, 2, "forward");
	forward_op(&scene);
	kernel(&scene, "none");
	scene.thread = 1;
	const uint32_t node = open_node(&scene, "autograd::engine::evaluate_function: MmBackward0");
	gather2(&scene, 1, "backward");
	copy_out2(&scene, 2, "forward");
	copy_out2(&scene, 1, "backward");
	copy_out2(&scene, 1, "backward");
	scene_close(&scene, node);
	expect_counts(&scene, expected, COUNT(expected), 3);
}

/* A gather outside of any named range, or outside of any step, has no unit and no reason. */
static void unknown_gathers(void **state)
{
	(void)state;
	static const struct event events[] = {
		HOST(0, 0, 1000, "ProfilerStep#1"),
		GATHER(0, 10, 1, 5000, 5010, 64, OF("unknown"), AS(UNKNOWN), BILLED("none")),
		HOST(0, 20, 40, "FSDP::pre_forward (a)"),
		GATHER(0, 22, 1, 5020, 5030, 64, OF("unknown"), AS(UNKNOWN)),
		HOST(0, 50, 70, "FSDP::all_gather (a)"),
		GATHER(0, 52, 1, 5040, 5050, 64, OF("a"), AS(FORWARD), BILLED("a forward")),
		HOST(0, 1100, 1200, "FSDP::all_gather (a)"),
		GATHER(0, 1110, 1, 6040, 6050, 64, OF("a"), AS(UNKNOWN)),
		HOST(0, 80, 90, "Optimizer.step#SGD.step"),
		GATHER(0, 82, 1, 5060, 5070, 64, OF("unknown"), AS(UNKNOWN)),
		SCATTER(0, 92, 1, 5080, 5090, OF("unknown")),
		KERNEL(0, 95, 0, 5100, 5110, "k"),
	};
	list_check(events, COUNT(events), NULL);
}

/* --- FSDP1 --- */

static const char *const fsdp1_names[] = {"(root)", "unit 1", "unit 2", "unit 3"};

static uint32_t open1(struct scene *scene, const char *name)
{
	char label[64];
	snprintf(label, sizeof label, "FullyShardedDataParallel.%s", name);
	return scene_open(scene, label, -1, "");
}

static void gather1(struct scene *scene, int unit)
{
	gather_bytes(scene, 1000 * (unit + 1));
}

/* A unit's forward range, which stays open; the root's holds the others. */
static uint32_t forward1(struct scene *scene, int unit, bool gathers)
{
	const uint32_t range = open1(scene, "forward");
	uint32_t hook = open1(scene, "_root_pre_forward");
	scene_close(scene, hook);
	hook = open1(scene, "_pre_forward");
	if (gathers)
		gather1(scene, unit);
	scene_close(scene, hook);
	forward_op(scene);
	return range;
}

static void forward_pass1(struct scene *scene, bool gathers)
{
	const uint32_t root = forward1(scene, 0, gathers);
	for (int unit = 1; unit <= BLOCKS; unit++)
		scene_close(scene, forward1(scene, unit, gathers));
	scene_close(scene, root);
}

/* The pre-backward hook of a unit: its own gather, and the prefetch of another (0: none). */
static void hook1(struct scene *scene, int unit, bool gathers, int prefetches)
{
	const uint32_t hook = open1(scene, "_pre_backward_hook");
	if (gathers)
		gather1(scene, unit);
	const uint32_t prefetch = open1(scene, "_pre_backward_prefetch");
	if (prefetches)
		gather1(scene, prefetches);
	scene_close(scene, prefetch);
	scene_close(scene, hook);
}

static void post1(struct scene *scene)
{
	const uint32_t node = open_node(
		scene, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
	const uint32_t hook = open1(scene, "_post_backward_hook");
	const int64_t now = scene->now_us;
	add(scene, (struct event)SCATTER(1, now, 1, now + 100000, now + 100003));
	scene_close(scene, hook);
	scene_close(scene, node);
}

static void expect_fsdp1(struct scene *scene, const struct count expected[BLOCKS + 1])
{
	struct count named[BLOCKS + 1];
	uint32_t total = 0;
	for (int unit = 0; unit <= BLOCKS; unit++) {
		named[unit] = expected[unit];
		named[unit].unit = fsdp1_names[unit];
		total += named[unit].forward + named[unit].backward + named[unit].repeat;
	}
	expect_counts(scene, named, BLOCKS + 1, total);
}

static void node1(struct scene *scene, uint32_t *node)
{
	scene->thread = 1;
	*node = open_node(scene, "autograd::engine::evaluate_function: MmBackward0");
}

/* FULL_SHARD, with and without prefetch; SHARD_GRAD_OP; NO_SHARD. */
static void fsdp1_strategies(void **state)
{
	(void)state;
	static const struct {
		bool forward, backward, prefetch;
	} cases[] = {{true, true, true}, {true, true, false}, {true, false, false},
		{false, false, false}};
	static struct scene scene;
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const bool plain = cases[i].backward && !cases[i].prefetch;
		uint32_t node;
		begin(&scene);
		forward_pass1(&scene, cases[i].forward);
		node1(&scene, &node);
		hook1(&scene, 0, false, cases[i].prefetch ? BLOCKS : 0);
		scene_close(&scene, node);
		for (int unit = BLOCKS; unit > 0; unit--) {
			node1(&scene, &node);
			hook1(&scene, unit, plain, cases[i].prefetch ? unit - 1 : 0);
			scene_close(&scene, node);
			post1(&scene);
		}
		post1(&scene);
		const uint32_t f = cases[i].forward, b = cases[i].backward;
		const struct count expected[] = {
			{NULL, f, 0, 0}, {NULL, f, b, 0}, {NULL, f, b, 0}, {NULL, f, b, 0}};
		expect_fsdp1(&scene, expected);
	}
}

/* checkpoint(FSDP1(block)), reentrant: the recomputation gathers, and so does the hook. */
static void fsdp1_reentrant_outside(void **state)
{
	(void)state;
	static struct scene scene;
	uint32_t node;
	begin(&scene);
	forward_pass1(&scene, true);
	node1(&scene, &node);
	hook1(&scene, 0, false, 0);
	scene_close(&scene, node);
	for (int unit = BLOCKS; unit > 0; unit--) {
		scene.thread = 1;
		node = open_node(
			&scene, "autograd::engine::evaluate_function: CheckpointFunctionBackward");
		scene_close(&scene, forward1(&scene, unit, true));
		const uint32_t inner =
			open_node(&scene, "autograd::engine::evaluate_function: MmBackward0");
		hook1(&scene, unit, true, 0);
		scene_close(&scene, inner);
		post1(&scene);
		scene_close(&scene, node);
	}
	post1(&scene);
	static const struct count expected[] = {
		{NULL, 1, 0, 0}, {NULL, 1, 1, 1}, {NULL, 1, 1, 1}, {NULL, 1, 1, 1}};
	expect_fsdp1(&scene, expected);
}

/* A region over units 2 and 3: both are recomputed in forward order before their hooks fire. */
static void fsdp1_region_over_units(void **state)
{
	(void)state;
	static struct scene scene;
	uint32_t node;
	begin(&scene);
	forward_pass1(&scene, true);
	node1(&scene, &node);
	hook1(&scene, 0, false, 0);
	scene_close(&scene, node);
	node1(&scene, &node);
	scene_close(&scene, forward1(&scene, 2, true));
	scene_close(&scene, forward1(&scene, 3, true));
	scene_close(&scene, node);
	for (int unit = BLOCKS; unit > 0; unit--) {
		node1(&scene, &node);
		hook1(&scene, unit, true, 0);
		scene_close(&scene, node);
		post1(&scene);
	}
	post1(&scene);
	static const struct count expected[] = {
		{NULL, 1, 0, 0}, {NULL, 1, 1, 0}, {NULL, 1, 1, 1}, {NULL, 1, 1, 1}};
	expect_fsdp1(&scene, expected);
}

/* A gather whose size contradicts its place keeps the unit unknown, and the others theirs. */
static void fsdp1_size_contradiction(void **state)
{
	(void)state;
	static struct scene scene;
	uint32_t node;
	begin(&scene);
	forward_pass1(&scene, true);
	node1(&scene, &node);
	hook1(&scene, 0, false, 0);
	scene_close(&scene, node);
	node1(&scene, &node);
	hook1(&scene, 1, true, 0); /* unit 3's turn, unit 1's size */
	scene_close(&scene, node);
	post1(&scene);
	node1(&scene, &node);
	hook1(&scene, 2, true, 0);
	scene_close(&scene, node);
	post1(&scene);
	static const struct count expected[] = {
		{NULL, 1, 0, 0}, {NULL, 1, 0, 0}, {NULL, 1, 1, 0}, {NULL, 1, 0, 0}};
	expect_fsdp1(&scene, expected);
}

/* Micro-batches begin anew; a second step's sizes are held against the first's. */
static void fsdp1_accumulation(void **state)
{
	(void)state;
	static struct scene scene;
	begin(&scene);
	for (int batch = 0; batch < 2; batch++) {
		uint32_t node;
		scene.thread = 0;
		forward_pass1(&scene, true);
		node1(&scene, &node);
		hook1(&scene, 0, false, BLOCKS);
		scene_close(&scene, node);
		for (int unit = BLOCKS; unit > 0; unit--) {
			node1(&scene, &node);
			hook1(&scene, unit, false, unit - 1);
			scene_close(&scene, node);
			post1(&scene);
		}
		post1(&scene);
	}
	static const struct count expected[] = {
		{NULL, 2, 0, 0}, {NULL, 2, 2, 0}, {NULL, 2, 2, 0}, {NULL, 2, 2, 0}};
	expect_fsdp1(&scene, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fsdp2_strategies),
		cmocka_unit_test(fsdp2_prefetch),
		cmocka_unit_test(fsdp2_prefetch_repeats),
		cmocka_unit_test(fsdp2_accumulation),
		cmocka_unit_test(fsdp2_copy_out),
		cmocka_unit_test(unknown_gathers),
		cmocka_unit_test(fsdp1_strategies),
		cmocka_unit_test(fsdp1_reentrant_outside),
		cmocka_unit_test(fsdp1_region_over_units),
		cmocka_unit_test(fsdp1_size_contradiction),
		cmocka_unit_test(fsdp1_accumulation),
	};
	return cmocka_run_group_tests_name("gathers", tests, NULL, NULL);
}
