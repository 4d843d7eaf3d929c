/* The verdict from plain numbers: a published table, the recorded runs' own, and the borders. */
#include "compare/comparison.h"
#include "verdict/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/table.h"

#define GIB (INT64_C(1) << 30)

static const struct recipe nothing = {
	.step_ns = NAN,
	.step_ci95_ns = {NAN, NAN},
	.step_variance = NAN,
	.busy_ns = NAN,
	.tokens_per_step = NULL_I64,
	.tokens_per_s = NAN,
	.peak_allocated_bytes = NULL_I64,
	.peak_reserved_bytes = NULL_I64,
	.gpu_memory_bytes = NULL_I64,
	.alloc_retries = 0,
	.sequences_per_rank = NULL_I64,
	.sequence_length = NULL_I64,
};

static struct recipe recipe(double step_ms, int64_t tokens, double reserved_gib)
{
	struct recipe out = nothing;
	out.given = true;
	out.step_ns = step_ms * 1e6;
	out.steps = 2;
	out.tokens_per_step = tokens;
	out.tokens_per_s = (double)tokens / step_ms * 1e3;
	out.peak_reserved_bytes = (int64_t)(reserved_gib * (double)GIB);
	return out;
}

static struct judge_input pair(
	enum objective objective, struct recipe base, struct recipe checkpointed)
{
	struct judge_input input = {
		.objective = objective, .comparable = true, .memory_limit_bytes = NULL_I64};
	input.recipe[ROLE_BASE] = base;
	input.recipe[ROLE_CHECKPOINTED] = checkpointed;
	input.recipe[ROLE_SPENT] = nothing;
	return input;
}

static struct judgement verdict_of(const struct judge_input *input)
{
	static struct arena arena;
	arena_done(&arena);
	struct judgement out = {0};
	struct err err = {0};
	assert_true(judge(input, &arena, &out, &err));
	assert_non_null(out.reason);
	return out;
}

#define assert_verdict(input, expected) \
	assert_string_equal(verdict_text(verdict_of(&(input)).verdict), verdict_text(expected))

/* pytorch/torchtitan pull request 165, 8 H100, words/s and shares of an 80 GB GPU. */
static void torchtitan_165(void **state)
{
	(void)state;
	struct recipe none = nothing, selective = nothing, twice = nothing;
	none.given = selective.given = twice.given = true;
	none.tokens_per_s = 9200;
	none.peak_reserved_bytes = 95 * GIB;
	selective.tokens_per_s = 8250;
	selective.peak_reserved_bytes = 57 * GIB;
	twice.tokens_per_s = 8600;
	twice.peak_reserved_bytes = 93 * GIB;
	none.step_time_given = selective.step_time_given = twice.step_time_given = true;

	struct judge_input input = pair(OBJECTIVE_THROUGHPUT, none, selective);
	assert_verdict(input, VERDICT_UNSPENT);
	input.recipe[ROLE_SPENT] = twice;
	const struct judgement failed = verdict_of(&input);
	assert_int_equal(failed.verdict, VERDICT_FAILED);
	assert_non_null(strstr(failed.reason, "9.20k to 8.60k (-6.5 %"));
	assert_string_equal(failed.noise_method, "given");

	input = pair(OBJECTIVE_MEMORY, none, selective);
	const struct judgement memory = verdict_of(&input);
	assert_int_equal(memory.verdict, VERDICT_WORKED);
	assert_non_null(strstr(memory.reason, "(-40 %)"));
}

/* Step times, tokens and reserved memory of the recorded runs. */
static void recorded_runs(void **state)
{
	(void)state;
	struct judge_input input = pair(
		OBJECTIVE_THROUGHPUT, recipe(132.7, 16384, 23.49), recipe(159.9, 16384, 17.14));
	assert_verdict(input, VERDICT_UNSPENT);
	input.recipe[ROLE_SPENT] = recipe(297.2, 32768, 19.52);
	assert_verdict(input, VERDICT_FAILED);
	input.objective = OBJECTIVE_MEMORY;
	assert_verdict(input, VERDICT_WORKED);

	input = pair(OBJECTIVE_THROUGHPUT, recipe(161.6, 8192, 12.0), recipe(166.4, 8192, 10.0));
	/* +3 % is within the floor of two spreads of 2.5 %, which is 3.5 %; +3.6 % is not. */
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s = input.recipe[ROLE_BASE].tokens_per_s / 1.036;
	assert_verdict(input, VERDICT_UNSPENT);
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s = input.recipe[ROLE_BASE].tokens_per_s / 1.035;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_SPENT] = recipe(203.8, 16384, 12.0);
	const struct judgement spent = verdict_of(&input);
	assert_int_equal(spent.verdict, VERDICT_WORKED);
	assert_non_null(strstr(spent.reason, "50.7k to 80.4k"));
}

static void launch_bound_needs_times(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(180, 4096, 6));
	input.recipe[ROLE_BASE].launch_bound = true;
	const struct judgement traced = verdict_of(&input);
	assert_int_equal(traced.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(traced.reason, "--step-time"));
	assert_true(fabs(traced.noise_ns - 15e6 * NOISE_OF_DIFFERENCE) < 1);
	/* One time from the log and one from the trace can't be compared. */
	input.recipe[ROLE_BASE].step_time_given = true;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_CHECKPOINTED].step_time_given = true;
	assert_verdict(input, VERDICT_UNSPENT);
	/* Memory does not wait for a clock. */
	input.recipe[ROLE_BASE].step_time_given = false;
	input.objective = OBJECTIVE_MEMORY;
	assert_verdict(input, VERDICT_WORKED);
}

/* One rank's trace never states it, and trusts its times no more for that. */
static void one_rank_may_be_launch_bound(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(180, 4096, 6));
	input.recipe[ROLE_BASE].maybe_launch_bound = true;
	const struct judgement traced = verdict_of(&input);
	assert_int_equal(traced.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(traced.reason, "can't be told from one rank"));
	assert_null(strstr(traced.reason, "launch-bound:"));
}

static void welch_from_four_steps(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(101, 4096, 6));
	for (int role = ROLE_BASE; role <= ROLE_CHECKPOINTED; role++) {
		input.recipe[role].steps = 4;
		input.recipe[role].step_variance = 0.01e12; /* 0.1 ms */
	}
	const struct judgement tight = verdict_of(&input);
	assert_string_equal(tight.noise_method, "welch");
	assert_int_equal(tight.verdict, VERDICT_UNSPENT);
	assert_true(fabs(tight.noise_ns - 2.446912 * sqrt(0.02e12 / 4)) < 10);
	input.recipe[ROLE_BASE].steps = 3;
	const struct judgement few = verdict_of(&input);
	assert_string_equal(few.noise_method, "floor");
	assert_int_equal(few.verdict, VERDICT_INCONCLUSIVE);
}

static void throughput_borders(void **state)
{
	(void)state;
	/* Slower and no memory freed. */
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(120, 4096, 7.95));
	assert_verdict(input, VERDICT_FAILED);
	/* Slower, and nobody knows the memory. */
	input.recipe[ROLE_CHECKPOINTED].peak_reserved_bytes = NULL_I64;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	/* Slower a token although the batch was doubled: nothing is unspent. */
	input = pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(240, 8192, 7));
	assert_verdict(input, VERDICT_FAILED);
	/* Faster. */
	input = pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(90, 4096, 7));
	assert_verdict(input, VERDICT_WORKED);
	/* Tokens known for one run only. */
	input.recipe[ROLE_BASE].tokens_per_step = NULL_I64;
	input.recipe[ROLE_BASE].tokens_per_s = NAN;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	/* For neither: taken as equal, and said. */
	input.recipe[ROLE_CHECKPOINTED].tokens_per_step = NULL_I64;
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s = NAN;
	assert_verdict(input, VERDICT_WORKED);
	assert_non_null(strstr(verdict_of(&input).reason, "taken as equal"));
	/* No whole step. */
	input.recipe[ROLE_CHECKPOINTED].step_ns = NAN;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
}

static void the_same_run_twice(void **state)
{
	(void)state;
	for (int objective = OBJECTIVE_THROUGHPUT; objective < OBJECTIVE_COUNT; objective++) {
		struct judge_input input =
			pair((enum objective)objective, recipe(100, 4096, 8), recipe(100, 4096, 8));
		input.differ_only_in_noise = true;
		assert_verdict(input, VERDICT_INCONCLUSIVE);
	}
	const struct judge_input same =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(100, 4096, 8));
	assert_verdict(same, VERDICT_INCONCLUSIVE);
}

static void memory_limits(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_MEMORY, recipe(100, 4096, 8), recipe(120, 4096, 6));
	assert_verdict(input, VERDICT_WORKED);
	input.memory_limit_bytes = 5 * GIB;
	assert_verdict(input, VERDICT_FAILED);
	input.memory_limit_bytes = 6 * GIB;
	assert_verdict(input, VERDICT_WORKED);
	input.memory_limit_bytes = 8 * GIB;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input = pair(OBJECTIVE_MEMORY, recipe(100, 4096, 8), recipe(120, 4096, 7.93));
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_BASE].peak_reserved_bytes = NULL_I64;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
}

/* The price of memory reads as a sentence, and says when it is noise. */
static void price_of_memory(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_MEMORY, recipe(100, 4096, 8), recipe(120, 4096, 6));
	assert_non_null(strstr(verdict_of(&input).reason, "at a price of 20 % more time a token"));
	input.recipe[ROLE_CHECKPOINTED] = recipe(80, 4096, 6);
	assert_non_null(strstr(verdict_of(&input).reason, "with 20 % less time a token"));
	input.recipe[ROLE_CHECKPOINTED] = recipe(102, 4096, 6);
	assert_non_null(
		strstr(verdict_of(&input).reason, "with 2.0 % more time a token, within noise"));
}

static void fit(void **state)
{
	(void)state;
	struct judge_input input = pair(OBJECTIVE_FIT, nothing, recipe(120, 4096, 60));
	input.recipe[ROLE_CHECKPOINTED].gpu_memory_bytes = 80 * GIB;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_CHECKPOINTED].peak_reserved_bytes = 77 * GIB;
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_CHECKPOINTED].peak_reserved_bytes = 60 * GIB;
	input.recipe[ROLE_CHECKPOINTED].alloc_retries = 2;
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_CHECKPOINTED].alloc_retries = 0;
	/* Base ran, and fits. */
	input.recipe[ROLE_BASE] = recipe(100, 4096, 70);
	input.recipe[ROLE_BASE].gpu_memory_bytes = 80 * GIB;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(verdict_of(&input).reason, "nothing was to be solved"));
	input.recipe[ROLE_BASE].alloc_retries = 1;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_BASE].alloc_retries = 0;
	input.recipe[ROLE_BASE].could_not_run = true;
	assert_verdict(input, VERDICT_WORKED);
	/* Nothing to say without the GPU's size or a limit. */
	input.recipe[ROLE_CHECKPOINTED].gpu_memory_bytes = NULL_I64;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.memory_limit_bytes = 64 * GIB;
	assert_verdict(input, VERDICT_WORKED);
	/* Other questions need a base that ran. */
	input.objective = OBJECTIVE_THROUGHPUT;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
}

/* The sentence names the run it means, and the others' answers beside it. */
static void fit_of_three(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_FIT, recipe(132, 16384, 23.5), recipe(160, 16384, 17.1));
	input.memory_limit_bytes = 18 * GIB;
	input.recipe[ROLE_SPENT] = recipe(298, 32768, 19.5);
	const struct judgement failed = verdict_of(&input);
	assert_int_equal(failed.verdict, VERDICT_FAILED);
	assert_string_equal(failed.reason,
		"the spent run reserves 19.5 GiB of the 18.0 GiB it may, with 0 allocation "
		"retries, which is too much; the checkpointed run (17.1 GiB) fits; base (23.5 "
		"GiB) does not fit");
	input.memory_limit_bytes = 20 * GIB;
	const struct judgement worked = verdict_of(&input);
	assert_int_equal(worked.verdict, VERDICT_WORKED);
	assert_non_null(strstr(worked.reason, "the spent run reserves 19.5 GiB"));
}

/* Retries at a small reservation show another limit than the GPU's. */
static void a_limit_in_doubt(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_FIT, recipe(111, 16384, 14.4), recipe(121, 16384, 9.5));
	input.recipe[ROLE_BASE].gpu_memory_bytes = 140 * GIB;
	input.recipe[ROLE_CHECKPOINTED].gpu_memory_bytes = 140 * GIB;
	assert_int_equal(recipes_doubt_limit(input.recipe, NULL_I64), ROLE_COUNT);
	input.recipe[ROLE_BASE].alloc_retries = 4;
	assert_int_equal(recipes_doubt_limit(input.recipe, NULL_I64), ROLE_BASE);
	assert_int_equal(recipes_doubt_limit(input.recipe, 15 * GIB), ROLE_COUNT);
	const struct judgement worked = verdict_of(&input);
	assert_int_equal(worked.verdict, VERDICT_WORKED);
	assert_non_null(strstr(worked.reason, "give --memory-limit"));
	assert_null(strstr(worked.reason, "it may"));
	input.recipe[ROLE_BASE].peak_reserved_bytes = 130 * GIB;
	assert_int_equal(recipes_doubt_limit(input.recipe, NULL_I64), ROLE_COUNT);
}

static void batch_and_sequence(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_BATCH, recipe(100, 4096, 8), recipe(190, 8192, 7));
	input.recipe[ROLE_BASE].sequences_per_rank = 2;
	input.recipe[ROLE_CHECKPOINTED].sequences_per_rank = 4;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s = input.recipe[ROLE_BASE].tokens_per_s;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s *= 0.9;
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_CHECKPOINTED].sequences_per_rank = 2;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_CHECKPOINTED].sequences_per_rank = 1;
	assert_verdict(input, VERDICT_FAILED);
	input.objective = OBJECTIVE_SEQUENCE;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_BASE].sequence_length = 1024;
	input.recipe[ROLE_CHECKPOINTED].sequence_length = 2048;
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_CHECKPOINTED].tokens_per_s = input.recipe[ROLE_BASE].tokens_per_s;
	assert_verdict(input, VERDICT_WORKED);
}

/* Whether a batch grew needs no clock: asked before the step times of a launch-bound pair. */
static void growth_needs_no_clock(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_BATCH, recipe(100, 4096, 8), recipe(130, 4096, 7));
	input.recipe[ROLE_BASE].launch_bound = true;
	input.recipe[ROLE_BASE].sequences_per_rank = 1;
	input.recipe[ROLE_CHECKPOINTED].sequences_per_rank = 1;
	const struct judgement same = verdict_of(&input);
	assert_int_equal(same.verdict, VERDICT_INCONCLUSIVE);
	assert_string_equal(same.reason,
		"base and the checkpointed run both have 1 sequence a rank: a larger one was not "
		"tried, or not given");
	input.recipe[ROLE_BASE].sequences_per_rank = 2;
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_CHECKPOINTED].sequences_per_rank = 4;
	const struct judgement grown = verdict_of(&input);
	assert_int_equal(grown.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(grown.reason, "--step-time"));
}

/* A SPENT run that takes nothing of what was freed can't tell that spending it failed. */
static void spent_that_spends_nothing(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(120, 4096, 6));
	input.recipe[ROLE_SPENT] = recipe(121, 4096, 6);
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_SPENT] = recipe(121, 4096, 7);
	assert_verdict(input, VERDICT_FAILED);
	input.recipe[ROLE_SPENT] = recipe(242, 8192, 6);
	assert_verdict(input, VERDICT_FAILED);
}

static void one_given_time(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(120, 4096, 6));
	input.recipe[ROLE_BASE].step_time_given = true;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	input.recipe[ROLE_CHECKPOINTED].step_time_given = true;
	assert_verdict(input, VERDICT_UNSPENT);
}

/* A run without checkpointing says nothing about checkpointing, whatever it does. */
static void no_checkpointing_to_judge(void **state)
{
	(void)state;
	struct judge_input input = pair(OBJECTIVE_FIT, nothing, recipe(120, 4096, 60));
	input.recipe[ROLE_CHECKPOINTED].gpu_memory_bytes = 80 * GIB;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_CHECKPOINTED].recomputes_nothing = true;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(verdict_of(&input).reason,
		"the checkpointed run recomputes nothing: it has no checkpointing"));
	input = pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(120, 4096, 6));
	input.recipe[ROLE_SPENT] = recipe(180, 8192, 8);
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_BASE].recomputes_nothing = true;
	assert_verdict(input, VERDICT_WORKED);
	input.recipe[ROLE_SPENT].recomputes_nothing = true;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(verdict_of(&input).reason, "the spent run recomputes nothing"));
}

/* Seconds given as milliseconds. */
static void impossible_times(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(0.13, 4096, 8), recipe(0.16, 4096, 6));
	input.recipe[ROLE_BASE].busy_ns = 120e6;
	input.recipe[ROLE_CHECKPOINTED].busy_ns = 140e6;
	assert_verdict(input, VERDICT_UNSPENT);
	input.recipe[ROLE_BASE].step_time_given = true;
	input.recipe[ROLE_CHECKPOINTED].step_time_given = true;
	const struct judgement seconds = verdict_of(&input);
	assert_int_equal(seconds.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(seconds.reason, "the given 0.130 ms"));
	assert_non_null(strstr(seconds.reason, "busy for 120.0 ms"));
	assert_non_null(strstr(seconds.reason, "milliseconds"));
	/* A few per cent below is the profiler's doing. */
	input.recipe[ROLE_BASE].step_ns = 109e6;
	input.recipe[ROLE_CHECKPOINTED].step_ns = 135e6;
	input.recipe[ROLE_BASE].tokens_per_s = input.recipe[ROLE_CHECKPOINTED].tokens_per_s = NAN;
	assert_verdict(input, VERDICT_UNSPENT);
	input.recipe[ROLE_CHECKPOINTED].step_ns = 125e6;
	assert_verdict(input, VERDICT_INCONCLUSIVE);
}

static void what_stops_an_answer(void **state)
{
	(void)state;
	struct judge_input input =
		pair(OBJECTIVE_THROUGHPUT, recipe(100, 4096, 8), recipe(120, 4096, 6));
	input.comparable = false;
	assert_verdict(input, VERDICT_NOT_COMPARABLE);
	input.comparable = true;
	input.objective = OBJECTIVE_NONE;
	assert_verdict(input, VERDICT_NO_OBJECTIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torchtitan_165),
		cmocka_unit_test(recorded_runs),
		cmocka_unit_test(launch_bound_needs_times),
		cmocka_unit_test(one_rank_may_be_launch_bound),
		cmocka_unit_test(welch_from_four_steps),
		cmocka_unit_test(throughput_borders),
		cmocka_unit_test(the_same_run_twice),
		cmocka_unit_test(memory_limits),
		cmocka_unit_test(price_of_memory),
		cmocka_unit_test(fit),
		cmocka_unit_test(fit_of_three),
		cmocka_unit_test(a_limit_in_doubt),
		cmocka_unit_test(batch_and_sequence),
		cmocka_unit_test(growth_needs_no_clock),
		cmocka_unit_test(spent_that_spends_nothing),
		cmocka_unit_test(one_given_time),
		cmocka_unit_test(no_checkpointing_to_judge),
		cmocka_unit_test(impossible_times),
		cmocka_unit_test(what_stops_an_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
