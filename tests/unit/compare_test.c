/*
 * The pair from runs made by hand: causes sum to the difference exactly, whatever the numbers; a
 * run compared with itself differs in nothing; what is linear turns its sign with the order.
 */
#include "compare/pair.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attribute/facts.h"
#include "base/stats.h"
#include "base/table.h"

#define MAX_STEPS 8
#define MAX_BILLS 8
#define PAIRS	  2000
#define MS(time)  ((int64_t)(1000000 * (time)))

/* A breakdown and all that it points to. */
struct made {
	struct breakdown breakdown;
	struct run_facts facts;
	struct rank_result rank;
	struct path_sums steps[MAX_STEPS];
	struct bill bills[MAX_BILLS];
	int64_t bill_ns[MAX_BILLS][3][MAX_STEPS];
	struct kernel_use kernels[6];
	struct call_use calls[3];
	int64_t alloc_ns[2];
};

static void begin(struct made *made, uint32_t step_count)
{
	memset(made, 0, sizeof *made);
	made->rank.flops.forward_flop = made->rank.flops.recompute_flop =
		made->rank.flops.backward_flop = NULL_I64;
	made->facts = (struct run_facts){.step_count = step_count,
		.steps = made->steps,
		.bills = made->bills,
		.kernels = made->kernels,
		.calls = made->calls,
		.gpu = "NVIDIA H200",
		.gathered_dtype = "BFloat16",
		.gpu_memory_bytes = NULL_I64,
		.alloc_call_ns = made->alloc_ns,
		.alloc_starved_ns = made->alloc_ns,
		.rank_count = 1};
	made->breakdown = (struct breakdown){.name = "run",
		.world_size = 2,
		.tokens_per_step = 4096,
		.sequence_length = NULL_I64,
		.micro_batch = NULL_I64,
		.accumulation = NULL_I64,
		.ranks = &made->rank,
		.rank_count = 1,
		.facts = &made->facts};
}

/* Makes the sums of a step whole: the wall is what its parts are. */
static void close_step(struct path_sums *sums)
{
	sums->starved_ns[STARVE_DISPATCH] = 0;
	for (uint32_t p = 0; p < PHASE_COUNT; p++)
		sums->starved_ns[STARVE_DISPATCH] += sums->dispatch_ns[p];
	sums->wall_ns = 0;
	for (uint32_t p = 0; p < PHASE_COUNT; p++)
		sums->wall_ns += sums->busy_ns[p];
	for (uint32_t h = 0; h < HOLDER_COUNT; h++)
		sums->wall_ns += sums->blocked_ns[h];
	for (uint32_t r = 0; r < STARVE_COUNT; r++)
		sums->wall_ns += sums->starved_ns[r];
}

static void add_bill(struct made *made, const char *unit, enum gather_reason reason, double count,
	int64_t unit_bytes)
{
	const uint32_t at = made->facts.bill_count++;
	assert_true(at < MAX_BILLS);
	made->bills[at] = (struct bill){.unit = unit,
		.reason = reason,
		.unit_bytes = unit_bytes,
		.count = count,
		.bytes = count * (double)unit_bytes,
		.blocked_ns = made->bill_ns[at][0],
		.busy_ns = made->bill_ns[at][1],
		.dispatch_ns = made->bill_ns[at][2]};
	made->facts.gathers[reason] += count;
}

/* What a bill costs is part of what the step spends on gathers and hooks. */
static void pay(struct made *made, uint32_t bill, uint32_t step, int64_t blocked, int64_t busy,
	int64_t dispatch)
{
	made->bill_ns[bill][0][step] = blocked;
	made->bill_ns[bill][1][step] = busy;
	made->bill_ns[bill][2][step] = dispatch;
	made->steps[step].blocked_ns[HOLDER_ALL_GATHER] += blocked;
	made->steps[step].busy_ns[PHASE_FSDP] += busy;
	made->steps[step].dispatch_ns[PHASE_FSDP] += dispatch;
	close_step(&made->steps[step]);
}

static void compare(struct made *base, struct made *checkpointed, struct comparison *ret)
{
	struct err err = {0};
	if (!compare_runs(&base->breakdown, &checkpointed->breakdown, ret, &err))
		fail_msg("%s", err.msg);
	int64_t sum_ns = 0;
	for (uint32_t c = 0; c < CAUSE_COUNT; c++)
		sum_ns += ret->causes[c].ns;
	assert_int_equal(sum_ns, ret->delta_ns);
	assert_int_equal(ret->delta_ns, ret->checkpointed_ns - ret->base_ns);
}

/* Two runs of two units; the second recomputes. */
static void make_pair(struct made *base, struct made *checkpointed)
{
	struct made *both[] = {base, checkpointed};
	for (int i = 0; i < 2; i++) {
		begin(both[i], 1);
		both[i]->steps[0].busy_ns[PHASE_FORWARD] = MS(10);
		both[i]->steps[0].busy_ns[PHASE_RECOMPUTE] = i ? MS(5) : 0;
		close_step(&both[i]->steps[0]);
		add_bill(both[i], "layers.0", GATHER_FORWARD, 1, 1000);
		add_bill(both[i], "layers.0", GATHER_BACKWARD, 1, 1000);
		both[i]->facts.is_fsdp2 = true;
		both[i]->facts.unit_count = 1;
	}
	checkpointed->facts.regions = 4;
}

static void expect_confounders(struct made *base, struct made *checkpointed, const char *expected)
{
	struct comparison comparison;
	compare(base, checkpointed, &comparison);
	assert_string_equal(comparison.confounders, expected);
	comparison_done(&comparison);
}

/* Named only where it differs, and never for what checkpointing itself brings. */
static void confounders(void **state)
{
	(void)state;
	struct made base, checkpointed;
	make_pair(&base, &checkpointed);
	expect_confounders(&base, &checkpointed, "");
	checkpointed.facts.gathers_in_recompute = true;
	checkpointed.facts.gathers[GATHER_REPEAT] = 1;
	expect_confounders(&base, &checkpointed, "");
	base.steps[0].busy_ns[PHASE_RECOMPUTE] = MS(5);
	close_step(&base.steps[0]);
	expect_confounders(&base, &checkpointed, "the wrap order");
	make_pair(&base, &checkpointed);
	checkpointed.facts.has_compiled = true;
	base.facts.gathers[GATHER_BACKWARD] = 0;
	expect_confounders(&base, &checkpointed, "torch.compile and resharding after forward");
	make_pair(&base, &checkpointed);
	checkpointed.facts.gathers[GATHER_FORWARD] = checkpointed.facts.gathers[GATHER_BACKWARD] =
		2; /* two micro-batches */
	expect_confounders(&base, &checkpointed, "");
	checkpointed.facts.unit_count = 2;
	expect_confounders(&base, &checkpointed, "the FSDP units");
	checkpointed.facts.is_fsdp2 = false;
	expect_confounders(&base, &checkpointed, "the FSDP version");
}

/* --- random pairs --- */

static uint64_t seed;

static int64_t below(int64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t)((seed >> 11) % (uint64_t)limit);
}

static void count_units(struct made *made)
{
	for (uint32_t b = 0; b < made->facts.bill_count; b++) {
		bool seen = false;
		for (uint32_t other = 0; other < b; other++)
			seen = seen || strcmp(made->bills[other].unit, made->bills[b].unit) == 0;
		made->facts.unit_count += !seen;
	}
}

static void make_random(struct made *made)
{
	static const char *const units[] = {"(root)", "layers.0", "layers.1", "layers.2"};
	static const char *const names[] = {"a_gemm", "b_gemm", "c", "d", "e", "f"};
	begin(made, 1 + (uint32_t)below(MAX_STEPS));
	for (int64_t b = below(MAX_BILLS); b > 0; b--)
		add_bill(made, units[below(4)], (enum gather_reason)below(GATHER_COUNT),
			1 + (double)below(3), 1000);
	count_units(made);
	for (uint32_t s = 0; s < made->facts.step_count; s++) {
		struct path_sums *sums = &made->steps[s];
		for (uint32_t p = 0; p < PHASE_COUNT; p++) {
			sums->busy_ns[p] = below(MS(20));
			sums->dispatch_ns[p] = below(MS(5));
		}
		for (uint32_t h = 0; h < HOLDER_COUNT; h++)
			sums->blocked_ns[h] = below(MS(3));
		for (uint32_t r = 0; r < STARVE_COUNT; r++)
			sums->starved_ns[r] = below(MS(3));
		close_step(sums);
		for (uint32_t b = 0; b < made->facts.bill_count; b++)
			pay(made, b, s, below(MS(2)), below(MS(1)), below(MS(1)));
	}
	for (uint32_t k = 0; k < 6; k++)
		if (below(3))
			made->kernels[made->facts.kernel_count++] = (struct kernel_use){names[k],
				(enum phase)(k / 2), 0.5 + (double)below(9), (double)below(MS(5))};
	for (uint32_t c = 0; c < 3; c++)
		made->calls[made->facts.call_count++] =
			(struct call_use){names[c], (double)below(900), 1 + (double)below(9000)};
	made->facts.regions = (double)below(2);
	made->breakdown.tokens_per_step = below(3) ? 4096 : below(2) ? NULL_I64 : 1 + below(9999);
	made->breakdown.launch_bound = below(2);
}

static bool is_linear(enum cause cause)
{
	return cause != CAUSE_HOST_SPEED && cause != CAUSE_WRAPPER_DISPATCH && cause != CAUSE_HOST;
}

/* A cause there and back. */
static void expect_opposite(
	const struct comparison *forth, const struct comparison *back, enum cause cause)
{
	if (llabs(forth->causes[cause].ns + back->causes[cause].ns) > 1)
		fail_msg("%s: %lld and back %lld", cause_word(cause),
			(long long)forth->causes[cause].ns, (long long)back->causes[cause].ns);
}

static void random_pairs(void **state)
{
	(void)state;
	static struct made a, b;
	seed = 42;
	for (uint32_t i = 0; i < PAIRS; i++) {
		struct comparison forth, back;
		make_random(&a);
		make_random(&b);
		compare(&a, &b, &forth);
		compare(&b, &a, &back);
		assert_int_equal(forth.is_floor, a.facts.step_count < 4 || b.facts.step_count < 4);
		if (!forth.normalised_to_tokens) {
			assert_int_equal(forth.delta_ns, -back.delta_ns);
			for (uint32_t c = 0; c < CAUSE_COUNT; c++)
				if (is_linear(c))
					expect_opposite(&forth, &back, c);
		}
		comparison_done(&forth);
		comparison_done(&back);
	}
}

static void same_run(void **state)
{
	(void)state;
	static struct made a;
	seed = 7;
	for (uint32_t i = 0; i < 200; i++) {
		struct comparison comparison;
		make_random(&a);
		compare(&a, &a, &comparison);
		assert_int_equal(comparison.delta_ns, 0);
		for (uint32_t c = 0; c < CAUSE_COUNT; c++)
			assert_int_equal(comparison.causes[c].ns, 0);
		assert_true(comparison.comparable);
		assert_int_equal(comparison.difference_count, 0);
		assert_false(comparison.normalised_to_tokens);
		comparison_done(&comparison);
	}
}

/* --- single causes --- */

/* Each bucket of a step goes to one cause, and to no other. */
static void each_cause(void **state)
{
	(void)state;
	static struct made a, b;
	const struct {
		size_t offset;
		enum cause cause;
	} cases[] = {
#define BUSY(phase)    offsetof(struct path_sums, busy_ns[PHASE_##phase])
#define BLOCKED(on)    offsetof(struct path_sums, blocked_ns[HOLDER_##on])
#define DISPATCH(what) offsetof(struct path_sums, dispatch_ns[PHASE_##what])
#define STARVED(why)   offsetof(struct path_sums, starved_ns[STARVE_##why])
		{BUSY(FORWARD), CAUSE_OTHER_WORK},
		{BUSY(RECOMPUTE), CAUSE_RECOMPUTE},
		{BUSY(BACKWARD), CAUSE_OTHER_WORK},
		{BUSY(OPTIMIZER), CAUSE_OTHER_WORK},
		{BUSY(FSDP), CAUSE_UNIT_OVERHEAD},
		{BUSY(UNKNOWN), CAUSE_OTHER},
		{BLOCKED(ALL_GATHER), CAUSE_LOST_OVERLAP},
		{BLOCKED(REDUCE_SCATTER), CAUSE_LOST_OVERLAP},
		{BLOCKED(ALL_REDUCE), CAUSE_OTHER},
		{BLOCKED(SEND_RECV), CAUSE_OTHER},
		{BLOCKED(BROADCAST), CAUSE_OTHER},
		{BLOCKED(OTHER_COLLECTIVE), CAUSE_OTHER},
		{BLOCKED(COPY), CAUSE_COPIES},
		{BLOCKED(LATENCY), CAUSE_OTHER},
		{BLOCKED(UNEXPLAINED), CAUSE_OTHER},
		{DISPATCH(FORWARD), CAUSE_HOST},
		{DISPATCH(RECOMPUTE), CAUSE_RECOMPUTE_DISPATCH},
		{DISPATCH(BACKWARD), CAUSE_HOST},
		{DISPATCH(OPTIMIZER), CAUSE_HOST},
		{DISPATCH(FSDP), CAUSE_UNIT_OVERHEAD},
		{DISPATCH(UNKNOWN), CAUSE_HOST},
		{STARVED(ALLOCATOR), CAUSE_ALLOCATOR},
		{STARVED(LEAD_LOST), CAUSE_ALLOCATOR},
		{STARVED(SYNC), CAUSE_HOST},
		{STARVED(DATA), CAUSE_HOST},
		{STARVED(GC), CAUSE_HOST},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct comparison comparison;
		const int64_t longer = MS(7);
		begin(&a, 1);
		begin(&b, 1);
		a.steps[0].busy_ns[PHASE_FORWARD] = b.steps[0].busy_ns[PHASE_FORWARD] = MS(50);
		memcpy((char *)b.steps + cases[i].offset, &longer, sizeof longer);
		if (cases[i].offset == BUSY(FORWARD))
			b.steps[0].busy_ns[PHASE_FORWARD] = MS(57);
		close_step(&a.steps[0]);
		close_step(&b.steps[0]);
		compare(&a, &b, &comparison);
		for (uint32_t c = 0; c < CAUSE_COUNT; c++)
			if (comparison.causes[c].ns != (c == cases[i].cause ? longer : 0))
				fail_msg("case %zu: %s is %lld", i, cause_word(c),
					(long long)comparison.causes[c].ns);
		comparison_done(&comparison);
	}
}

/* Dispatch of forward and backward is the wrappers' when checkpointing alone differs. */
static void wrapper_dispatch(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	begin(&a, 1);
	begin(&b, 1);
	a.steps[0].dispatch_ns[PHASE_FORWARD] = MS(10);
	b.steps[0].dispatch_ns[PHASE_FORWARD] = MS(14);
	b.steps[0].dispatch_ns[PHASE_OPTIMIZER] = MS(1);
	b.facts.regions = 4;
	/* calls that both make are a tenth slower: a tenth of base's 10 ms */
	a.calls[0] = (struct call_use){"cudaLaunchKernel", 100, 5000};
	b.calls[0] = (struct call_use){"cudaLaunchKernel", 180, 5500};
	b.calls[1] = (struct call_use){"cudaMemcpyAsync", 100, 90000};
	a.facts.call_count = 1;
	b.facts.call_count = 2;
	close_step(&a.steps[0]);
	close_step(&b.steps[0]);
	compare(&a, &b, &comparison);
	assert_true(comparison.checkpointing_is_only_difference);
	assert_int_equal(comparison.causes[CAUSE_HOST_SPEED].ns, MS(1));
	assert_int_equal(comparison.causes[CAUSE_WRAPPER_DISPATCH].ns, MS(3));
	assert_int_equal(comparison.causes[CAUSE_HOST].ns, MS(1));
	comparison_done(&comparison);
	b.breakdown.accumulation = 2;
	a.breakdown.accumulation = 1;
	compare(&a, &b, &comparison);
	assert_false(comparison.checkpointing_is_only_difference);
	assert_int_equal(comparison.causes[CAUSE_HOST_SPEED].ns, 0); /* other work */
	assert_int_equal(comparison.causes[CAUSE_WRAPPER_DISPATCH].ns, 0);
	assert_int_equal(comparison.causes[CAUSE_HOST].ns, MS(5));
	comparison_done(&comparison);
}

/* Slower launches of the same kernels are speed, more or other ones are work. */
static void kernel_speed(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	begin(&a, 1);
	begin(&b, 1);
	a.steps[0].busy_ns[PHASE_FORWARD] = MS(10);
	b.steps[0].busy_ns[PHASE_FORWARD] = MS(23);
	a.kernels[0] = (struct kernel_use){"gemm", PHASE_FORWARD, 10, (double)MS(10)};
	b.kernels[0] = (struct kernel_use){"gemm", PHASE_FORWARD, 15, (double)MS(18)};
	b.kernels[1] = (struct kernel_use){"new", PHASE_FORWARD, 1, (double)MS(5)};
	/* recomputation's own kernels are no part of it */
	a.kernels[1] = (struct kernel_use){"gemm", PHASE_RECOMPUTE, 10, (double)MS(10)};
	b.kernels[2] = (struct kernel_use){"gemm", PHASE_RECOMPUTE, 10, (double)MS(90)};
	a.facts.kernel_count = 2;
	b.facts.kernel_count = 3;
	close_step(&a.steps[0]);
	close_step(&b.steps[0]);
	compare(&a, &b, &comparison);
	assert_int_equal(comparison.causes[CAUSE_KERNEL_SPEED].ns, MS(2)); /* 10 * (1.2 - 1) */
	assert_int_equal(comparison.causes[CAUSE_OTHER_WORK].ns, MS(11));
	comparison_done(&comparison);
}

/* --- which gathers are repeats --- */

static void add_units(struct made *made, double backward, double repeat)
{
	static const char *const units[] = {"(root)", "layers.0"};
	begin(made, 1);
	for (uint32_t u = 0; u < 2; u++) {
		add_bill(made, units[u], GATHER_FORWARD, 1, 1000);
		if (backward > 0)
			add_bill(made, units[u], GATHER_BACKWARD, backward, 1000);
		if (repeat > 0)
			add_bill(made, units[u], GATHER_REPEAT, repeat, 1000);
	}
	for (uint32_t b = 0; b < made->facts.bill_count; b++)
		pay(made, b, 0, MS(3), MS(2), MS(1));
	made->facts.unit_count = 2;
	made->facts.parameter_bytes = 2000;
}

static void expect_gathers(
	struct made *a, struct made *b, double repeated, double overlap, double unit)
{
	struct comparison comparison;
	compare(a, b, &comparison);
	assert_int_equal(comparison.causes[CAUSE_REPEATED_ALL_GATHER].ns, MS(repeated));
	assert_int_equal(comparison.causes[CAUSE_LOST_OVERLAP].ns, MS(overlap));
	assert_int_equal(comparison.causes[CAUSE_UNIT_OVERHEAD].ns, MS(unit));
	comparison_done(&comparison);
	compare(b, a, &comparison);
	assert_int_equal(comparison.causes[CAUSE_REPEATED_ALL_GATHER].ns, -MS(repeated));
	assert_int_equal(comparison.causes[CAUSE_LOST_OVERLAP].ns, -MS(overlap));
	assert_int_equal(comparison.causes[CAUSE_UNIT_OVERHEAD].ns, -MS(unit));
	comparison_done(&comparison);
}

static void repeats(void **state)
{
	(void)state;
	static struct made a, b;
	/* none and some: the whole pass, repeats and all, 6 ms a bill */
	add_units(&a, 0, 0);
	add_units(&b, 1, 0);
	expect_gathers(&a, &b, 12, 0, 0);
	add_units(&b, 1, 1);
	expect_gathers(&a, &b, 24, 0, 0);
	/* both gather in backward: the repeats alone */
	add_units(&a, 1, 0);
	expect_gathers(&a, &b, 12, 0, 0);
	/* both repeat: what the repeats cost more */
	add_units(&a, 1, 1);
	pay(&b, 2, 0, MS(4), MS(2), MS(1));
	expect_gathers(&a, &b, 1, 3, 3); /* 3 + 3 ms: paid again on top of the first 6 */
	/* one unit alone goes from none to some */
	add_units(&a, 0, 0);
	add_units(&b, 0, 0);
	add_bill(&b, "layers.0", GATHER_BACKWARD, 1, 1000);
	pay(&b, 2, 0, MS(5), 0, 0);
	expect_gathers(&a, &b, 5, 0, 0);
	/* a slower forward gather is no repeat */
	add_units(&b, 0, 0);
	b.steps[0].blocked_ns[HOLDER_ALL_GATHER] += MS(2);
	b.bill_ns[0][0][0] += MS(2);
	close_step(&b.steps[0]);
	expect_gathers(&a, &b, 0, 2, 0);
}

/* The same bytes in other pieces are no repeat; a pass that one run has not at all is. */
static void other_wrapping(void **state)
{
	(void)state;
	static struct made a, b;
	for (uint32_t backward = 0; backward < 2; backward++) {
		add_units(&a, 1, 0);
		begin(&b, 1);
		for (uint32_t u = 0; u < 4; u++) {
			static const char *const units[] = {"(root)", "l.0", "l.1", "l.2"};
			add_bill(&b, units[u], GATHER_FORWARD, 1, 500);
			if (backward)
				add_bill(&b, units[u], GATHER_BACKWARD, 1, 500);
		}
		for (uint32_t bill = 0; bill < b.facts.bill_count; bill++)
			pay(&b, bill, 0, MS(3), MS(2), MS(1));
		b.facts.unit_count = 4;
		b.facts.parameter_bytes = 2000;
		/* base: 4 bills of 3, 2, 1 ms */
		if (backward)
			expect_gathers(&a, &b, 0, 12, 12);
		else
			expect_gathers(&a, &b, -12, 6, 6);
	}
}

/* A run that gathers nothing at all is not sharded: then all gathers are overlap and overhead. */
static void not_sharded(void **state)
{
	(void)state;
	static struct made a, b;
	begin(&a, 1);
	close_step(&a.steps[0]);
	add_units(&b, 1, 0);
	expect_gathers(&a, &b, 0, 12, 12);
}

/* --- normalisation, rounding, noise, comparability --- */

static void normalised_to_tokens(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	begin(&a, 4);
	begin(&b, 4);
	for (uint32_t s = 0; s < 4; s++) {
		a.steps[s].busy_ns[PHASE_FORWARD] = MS(100);
		b.steps[s].busy_ns[PHASE_FORWARD] = MS(220);
		b.steps[s].busy_ns[PHASE_RECOMPUTE] = MS(40);
		close_step(&a.steps[s]);
		close_step(&b.steps[s]);
	}
	b.breakdown.tokens_per_step = 8192;
	compare(&a, &b, &comparison);
	assert_true(comparison.normalised_to_tokens);
	assert_true(comparison.comparable);
	assert_true(comparison.token_ratio == 2);
	assert_int_equal(comparison.base_ns, MS(100));
	assert_int_equal(comparison.checkpointed_ns, MS(130));
	assert_int_equal(comparison.causes[CAUSE_RECOMPUTE].ns, MS(20));
	assert_int_equal(comparison.causes[CAUSE_OTHER_WORK].ns, MS(10));
	assert_int_equal(comparison.causes[CAUSE_KERNEL_SPEED].ns, 0);
	bool told = false;
	for (uint32_t d = 0; d < comparison.difference_count; d++)
		told = told || strstr(comparison.differences[d], "tokens");
	assert_true(told);
	comparison_done(&comparison);
	b.breakdown.tokens_per_step = NULL_I64;
	compare(&a, &b, &comparison);
	assert_false(comparison.normalised_to_tokens);
	assert_true(isnan(comparison.token_ratio));
	assert_int_equal(comparison.delta_ns, MS(160));
	comparison_done(&comparison);
}

/* Thirds of a nanosecond: the remainders that are largest are rounded up. */
static void rounding(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	begin(&a, 1);
	begin(&b, 3);
	close_step(&a.steps[0]);
	for (uint32_t s = 0; s < 3; s++) {
		b.steps[s].busy_ns[PHASE_RECOMPUTE] = s == 0 ? 101 : 100;      /* 100.33 */
		b.steps[s].blocked_ns[HOLDER_COPY] = s == 0 ? 50 : 51;	       /* 50.67 */
		b.steps[s].starved_ns[STARVE_ALLOCATOR] = s == 0 ? 12 : 10;    /* 10.67 */
		b.steps[s].blocked_ns[HOLDER_ALL_REDUCE] = s == 0 ? 301 : 300; /* 300.33 */
		close_step(&b.steps[s]);
	}
	compare(&a, &b, &comparison);
	assert_int_equal(comparison.delta_ns, 462);
	assert_int_equal(comparison.causes[CAUSE_RECOMPUTE].ns, 100);
	assert_int_equal(comparison.causes[CAUSE_COPIES].ns, 51);
	assert_int_equal(comparison.causes[CAUSE_ALLOCATOR].ns, 11);
	assert_int_equal(comparison.causes[CAUSE_OTHER].ns, 300);
	comparison_done(&comparison);
}

static void make_steps(struct made *made, const double *wall_ms, uint32_t count)
{
	begin(made, count);
	for (uint32_t s = 0; s < count; s++) {
		made->steps[s].busy_ns[PHASE_FORWARD] = MS(wall_ms[s]);
		close_step(&made->steps[s]);
	}
}

static void noise(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	const double four[] = {100, 102, 98, 104}, five[] = {110, 118, 111, 119, 115};
	make_steps(&a, four, 4);
	make_steps(&b, five, 5);
	compare(&a, &b, &comparison);
	assert_false(comparison.is_floor);
	double base[4], other[5];
	for (int i = 0; i < 4; i++)
		base[i] = four[i] * 1e6;
	for (int i = 0; i < 5; i++)
		other[i] = five[i] * 1e6;
	const double half =
		stats_welch_half_width(stats_variance(base, 4), 4, stats_variance(other, 5), 5);
	assert_true(half > 4e6 && half < 7e6);
	assert_int_equal(comparison.noise_ns, llround(half));
	assert_int_equal(comparison.delta_ci95_ns[0], comparison.delta_ns - llround(half));
	assert_int_equal(comparison.delta_ci95_ns[1], comparison.delta_ns + llround(half));
	assert_int_equal(comparison.causes[CAUSE_RECOMPUTE].ci95_ns[0], 0);
	comparison_done(&comparison);
	/* three windows on either side: a floor, larger when either run is launch-bound */
	make_steps(&a, four, 3);
	for (uint32_t r = 0; r < 3; r++) {
		a.breakdown.launch_bound = r == 1;
		b.breakdown.launch_bound = r == 2;
		compare(&a, &b, &comparison);
		assert_true(comparison.is_floor);
		assert_int_equal(comparison.launch_bound, r > 0);
		assert_int_equal(comparison.noise_ns, llround((r ? 0.15 : 0.025) * 1e8 * sqrt(2)));
		assert_true(comparison.delta_ci95_ns[0] == NULL_I64);
		assert_true(comparison.causes[CAUSE_OTHER].ci95_ns[1] == NULL_I64);
		comparison_done(&comparison);
	}
}

static void comparability(void **state)
{
	(void)state;
	static struct made a, b;
	for (uint32_t i = 0; i < 9; i++) {
		struct comparison comparison;
		add_units(&a, 1, 0);
		add_units(&b, 1, 0);
		if (i == 1)
			b.breakdown.world_size = 4;
		if (i == 2)
			b.facts.gpu = "NVIDIA H100";
		if (i == 3)
			b.facts.gathered_dtype = "Float";
		if (i == 4)
			b.facts.parameter_bytes = 2021; /* more than a hundredth */
		if (i == 5)
			b.facts.parameter_bytes = 2019;
		if (i == 6)
			b.breakdown.world_size = NULL_I32;
		if (i == 7)
			b.facts.gpu = "";
		if (i == 8)
			b.facts.parameter_bytes = 0;
		compare(&a, &b, &comparison);
		assert_int_equal(comparison.comparable, i == 0 || i > 4);
		assert_int_equal(comparison.difference_count, i >= 1 && i <= 4);
		comparison_done(&comparison);
	}
}

/* A step whose parts do not make it up is the program's own fault, and said. */
static void broken_sum(void **state)
{
	(void)state;
	static struct made a, b;
	struct comparison comparison;
	struct err err = {0};
	begin(&a, 1);
	begin(&b, 1);
	close_step(&a.steps[0]);
	close_step(&b.steps[0]);
	b.steps[0].wall_ns++;
	assert_false(compare_runs(&a.breakdown, &b.breakdown, &comparison, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_pairs),
		cmocka_unit_test(same_run),
		cmocka_unit_test(each_cause),
		cmocka_unit_test(wrapper_dispatch),
		cmocka_unit_test(kernel_speed),
		cmocka_unit_test(repeats),
		cmocka_unit_test(other_wrapping),
		cmocka_unit_test(not_sharded),
		cmocka_unit_test(normalised_to_tokens),
		cmocka_unit_test(rounding),
		cmocka_unit_test(noise),
		cmocka_unit_test(confounders),
		cmocka_unit_test(comparability),
		cmocka_unit_test(broken_sum),
	};
	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
