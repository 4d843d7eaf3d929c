/* The answer's sentence, advice and stragglers, from runs made by hand. */
#include "verdict/answer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "sample_runs.h"

#define BASE_BYTES	   INT64_C(25222447104)
#define CHECKPOINTED_BYTES INT64_C(18408800256)

static struct sample_run base, checkpointed;
static struct comparison comparison;

static int fill(void **state)
{
	(void)state;
	sample_run_fill(&base, "big_none", 0, BASE_BYTES);
	sample_run_fill(&checkpointed, "big_ac_block", 28, CHECKPOINTED_BYTES);
	comparison = sample_comparison();
	return 0;
}

static struct answer answer_to(const struct answer_input *input)
{
	struct answer answer;
	struct err err = {0};
	assert_true(answer_make(input, &answer, &err));
	return answer;
}

static const struct advice *find_advice(const struct answer *answer, const char *word)
{
	for (uint32_t i = 0; i < answer->advice_count; i++)
		if (strstr(answer->advice[i].what, word))
			return &answer->advice[i];
	return NULL;
}

static void unspent_sentence(void **state)
{
	(void)state;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_string_equal(answer.sentence,
		"unspent: the step went from 132.0 to 160.0 ms (+28.0 ms, +21 %); 30.0 ms are "
		"recomputation, 2.0 ms of it hidden in collectives; no gather was repeated; 6.3 "
		"GiB less are reserved and nobody uses them: spend them or take checkpointing "
		"off.");
	assert_int_equal(answer.straggler_count, 1);
	assert_int_equal(answer.stragglers[0].count, 2);
	assert_true(answer.stragglers[0].ns == 2e6);
	answer_done(&answer);
}

/* Waits that shrink by more than was recomputed are not all its doing; one rank's tell nothing. */
static void hidden_is_at_most_what_was_recomputed(void **state)
{
	(void)state;
	comparison.causes[CAUSE_RECOMPUTE].ns = 10 * SAMPLE_MS;
	comparison.causes[CAUSE_LOST_OVERLAP].ns = -14 * SAMPLE_MS;
	comparison.causes[CAUSE_UNIT_OVERHEAD].ns = 32 * SAMPLE_MS;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_non_null(strstr(answer.sentence,
		"10.0 ms are recomputation, 10.0 ms of it hidden in collectives; "));
	assert_non_null(strstr(answer.sentence, "waiting on collectives: -4.0 ms"));
	answer_done(&answer);
	comparison.is_job = false;
	answer = answer_to(&input);
	assert_null(strstr(answer.sentence, "hidden"));
	assert_non_null(strstr(answer.sentence, "waiting on collectives: -14.0 ms"));
	const struct advice *fewer = find_advice(&answer, "fewer blocks");
	assert_non_null(fewer);
	assert_int_equal(fewer->ns[1], 10 * SAMPLE_MS);
	answer_done(&answer);
}

/* Checkpointing is not to blame where something else differs, and the numbers add up. */
static void confounded_runs_blame_nothing(void **state)
{
	(void)state;
	comparison.confounders = "torch.compile";
	comparison.checkpointing_is_only_difference = false;
	comparison.causes[CAUSE_LOST_OVERLAP].ns = 0;
	comparison.causes[CAUSE_OTHER_WORK].ns = 20 * SAMPLE_MS;
	comparison.causes[CAUSE_HOST].ns = -13 * SAMPLE_MS;
	comparison.causes[CAUSE_HOST_SPEED].ns = -9 * SAMPLE_MS;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_string_equal(answer.sentence,
		"unspent: the runs also differ in torch.compile: checkpointing's own share can't "
		"be told; the step went from 132.0 to 160.0 ms (+28.0 ms, +21 %); 30.0 ms are "
		"recomputation; no gather was repeated; other work: +20.0 ms; the host: -13.0 "
		"ms; the rest: -9.0 ms; 6.3 GiB less are reserved and nobody uses them: spend "
		"them.");
	assert_null(find_advice(&answer, "fewer blocks"));
	assert_non_null(find_advice(&answer, "spend the freed memory"));
	answer_done(&answer);
}

/* Each piece of advice stands on its number, and falls with it. */
static void advice_stands_on_numbers(void **state)
{
	(void)state;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	const struct advice *fewer = find_advice(&answer, "fewer blocks");
	assert_non_null(fewer);
	assert_int_equal(fewer->ns[1], 28 * SAMPLE_MS);
	assert_int_equal(fewer->bytes, BASE_BYTES - CHECKPOINTED_BYTES);
	assert_non_null(find_advice(&answer, "spend the freed memory"));
	const struct advice *keep = find_advice(&answer, "reshard_after_forward");
	assert_non_null(keep);
	assert_int_equal(keep->ns[1], 14 * SAMPLE_MS);
	assert_int_equal(keep->bytes, 1 << 20);
	const struct advice *tail = find_advice(&answer, "end of backward");
	assert_non_null(tail);
	assert_true(tail->is_remark);
	assert_ptr_equal(tail, &answer.advice[answer.advice_count - 1]);
	assert_null(find_advice(&answer, "non-reentrant"));
	assert_null(find_advice(&answer, "allocator"));
	assert_null(find_advice(&answer, "torch.compile"));
	answer_done(&answer);

	checkpointed.rank.gather_count = 3;
	checkpointed.rank.memory.alloc_retries = 4;
	checkpointed.rank.memory.alloc_stall_ns = 20 * SAMPLE_MS;
	comparison.causes[CAUSE_REPEATED_ALL_GATHER].ns = 5 * SAMPLE_MS;
	checkpointed.breakdown.launch_bound = true;
	checkpointed.breakdown.tail_reduce_scatter_ns = NULL_I64;
	checkpointed.rank.memory.peak_reserved_bytes = BASE_BYTES;
	answer = answer_to(&input);
	const struct advice *order = find_advice(&answer, "non-reentrant");
	assert_non_null(order);
	assert_int_equal(order->ns[0], 5 * SAMPLE_MS);
	assert_non_null(strstr(order->why, "layers.0"));
	const struct advice *allocator = find_advice(&answer, "allocator");
	assert_non_null(allocator);
	assert_int_equal(allocator->ns[1], 10 * SAMPLE_MS);
	assert_non_null(find_advice(&answer, "torch.compile"));
	checkpointed.facts.has_compiled = true;
	assert_null(find_advice(&answer, "end of backward"));
	assert_null(find_advice(&answer, "fewer blocks"));
	assert_null(find_advice(&answer, "spend the freed memory"));
	answer_done(&answer);
	answer = answer_to(&input);
	assert_non_null(find_advice(&answer, "less to launch"));
	assert_null(find_advice(&answer, "torch.compile"));
	answer_done(&answer);
}

/* Where base recomputes as well, less memory is not checkpointing's doing. */
static void only_checkpointing_frees(void **state)
{
	(void)state;
	comparison.recomputes[0] = true;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_null(find_advice(&answer, "fewer blocks"));
	assert_null(find_advice(&answer, "spend the freed memory"));
	assert_null(strstr(answer.sentence, "take checkpointing off"));
	answer_done(&answer);
}

static void given_times_decide(void **state)
{
	(void)state;
	struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	input.run[ROLE_BASE].given_step_ns = 140e6;
	input.run[ROLE_CHECKPOINTED].given_tokens_per_s = 16384 / 0.1399;
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_INCONCLUSIVE);
	assert_string_equal(answer.judgement.noise_method, "given");
	assert_true(fabs(answer.recipe[ROLE_CHECKPOINTED].step_ns - 139.9e6) < 1);
	assert_true(answer.traced_step_ns[ROLE_CHECKPOINTED] == 160e6);
	answer_done(&answer);
}

/* The trace's busy time bounds what may be given. */
static void impossible_times_are_refused(void **state)
{
	(void)state;
	struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	input.run[ROLE_BASE].given_step_ns = 132e6;
	input.run[ROLE_CHECKPOINTED].given_step_ns = 120e6; /* busy for 141 ms */
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_INCONCLUSIVE);
	assert_non_null(strstr(answer.sentence, "busy for"));
	assert_null(strstr(answer.sentence, "the step went"));
	answer_done(&answer);
}

static void fit_without_base(void **state)
{
	(void)state;
	struct answer_input input = sample_question(OBJECTIVE_FIT, &base, &checkpointed, NULL);
	input.run[ROLE_BASE].breakdown = NULL;
	input.memory_limit_frac = 0.5;
	input.run[ROLE_CHECKPOINTED].gpu_memory_bytes = 4 * CHECKPOINTED_BYTES;
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_WORKED);
	assert_int_equal(answer.memory_limit_bytes, 2 * CHECKPOINTED_BYTES);
	answer_done(&answer);
}

/* Over the limit by some bytes, the advice is to shrink by them. */
static void too_large_is_told_to_shrink(void **state)
{
	(void)state;
	struct answer_input input =
		sample_question(OBJECTIVE_FIT, &base, &checkpointed, &comparison);
	input.memory_limit_bytes = CHECKPOINTED_BYTES - 1000;
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_FAILED);
	const struct advice *smaller = find_advice(&answer, "smaller micro-batch");
	assert_non_null(smaller);
	assert_int_equal(smaller->bytes, -1000);
	answer_done(&answer);
	input.memory_limit_bytes = CHECKPOINTED_BYTES;
	answer = answer_to(&input);
	assert_null(find_advice(&answer, "smaller micro-batch"));
	answer_done(&answer);
}

static void no_room_is_claimed_below_retries(void **state)
{
	(void)state;
	struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	input.run[ROLE_BASE].gpu_memory_bytes = 8 * BASE_BYTES;
	input.run[ROLE_CHECKPOINTED].gpu_memory_bytes = 8 * BASE_BYTES;
	struct answer answer = answer_to(&input);
	assert_non_null(strstr(find_advice(&answer, "spend the freed")->why, "free below"));
	answer_done(&answer);
	base.rank.memory.alloc_retries = 4;
	answer = answer_to(&input);
	for (uint32_t i = 0; i < answer.advice_count; i++) {
		assert_null(strstr(answer.advice[i].why, "free below"));
		assert_null(strstr(answer.advice[i].why, "has room for"));
	}
	assert_non_null(strstr(find_advice(&answer, "spend the freed")->why, "--memory-limit"));
	answer_done(&answer);
}

static void no_objective_answers_each(void **state)
{
	(void)state;
	const struct answer_input input =
		sample_question(OBJECTIVE_NONE, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_NO_OBJECTIVE);
	assert_int_equal(answer.each[OBJECTIVE_THROUGHPUT].verdict, VERDICT_UNSPENT);
	assert_int_equal(answer.each[OBJECTIVE_MEMORY].verdict, VERDICT_WORKED);
	assert_int_equal(answer.each[OBJECTIVE_BATCH].verdict, VERDICT_INCONCLUSIVE);
	answer_done(&answer);
}

static void a_run_against_itself(void **state)
{
	(void)state;
	struct comparison same = sample_comparison();
	memset(same.causes, 0, sizeof same.causes);
	same.delta_ns = 0;
	const struct answer_input input = sample_question(OBJECTIVE_MEMORY, &base, &base, &same);
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_INCONCLUSIVE);
	assert_null(find_advice(&answer, "end of backward"));
	answer_done(&answer);
}

/* Only a trace whose phases are known can show that nothing is recomputed. */
static void recomputation_is_looked_for(void **state)
{
	(void)state;
	const struct answer_input input =
		sample_question(OBJECTIVE_MEMORY, &checkpointed, &base, &comparison);
	struct answer answer = answer_to(&input);
	assert_false(answer.recipe[ROLE_BASE].recomputes_nothing);
	assert_true(answer.recipe[ROLE_CHECKPOINTED].recomputes_nothing);
	answer_done(&answer);
	base.facts.has_compiled = true;
	answer = answer_to(&input);
	assert_false(answer.recipe[ROLE_CHECKPOINTED].recomputes_nothing);
	answer_done(&answer);
	base.facts.has_compiled = false;
	base.parts[1].phase = PHASE_UNKNOWN;
	answer = answer_to(&input);
	assert_false(answer.recipe[ROLE_CHECKPOINTED].recomputes_nothing);
	answer_done(&answer);
}

static void noise_is_named(void **state)
{
	(void)state;
	checkpointed.path[0].wall_ns = checkpointed.path[1].wall_ns = 135 * SAMPLE_MS;
	const struct answer_input input =
		sample_question(OBJECTIVE_FIT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_non_null(strstr(answer.sentence,
		"the step went from 132.0 to 135.0 ms (+3.0 ms, +2.3 %, within noise)"));
	answer_done(&answer);
}

static void not_comparable_says_why(void **state)
{
	(void)state;
	const char *differences[] = {"world size: 2 against 4"};
	comparison.comparable = false;
	comparison.differences = differences;
	comparison.difference_count = 1;
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_NOT_COMPARABLE);
	assert_non_null(strstr(answer.sentence, "world size: 2 against 4"));
	answer_done(&answer);
}

/* Every time in the list is for one step of the candidate's, whatever tokens the runs have. */
static void advice_has_one_unit(void **state)
{
	(void)state;
	checkpointed.breakdown.tokens_per_step *= 2;
	comparison.normalised_to_tokens = true;
	comparison.same_work = false;
	comparison.token_ratio = 2;
	base.rank.memory.alloc_retries = 4;
	base.rank.memory.alloc_stall_ns = 20 * SAMPLE_MS; /* of two steps */
	const struct answer_input input =
		sample_question(OBJECTIVE_MEMORY, &base, &checkpointed, &comparison);
	struct answer answer = answer_to(&input);
	const struct advice *fewer = find_advice(&answer, "fewer blocks");
	assert_non_null(fewer);
	assert_int_equal(fewer->ns[1], 60 * SAMPLE_MS);
	const struct advice *allocator = find_advice(&answer, "base's allocator");
	assert_non_null(allocator);
	assert_int_equal(allocator->ns[1], 20 * SAMPLE_MS);
	const struct advice *keep = find_advice(&answer, "reshard_after_forward");
	assert_non_null(keep);
	assert_int_equal(keep->ns[1], 14 * SAMPLE_MS);
	answer_done(&answer);
}

/* A pair whose second run has the larger batch spends already. */
static void a_pair_that_spends(void **state)
{
	(void)state;
	checkpointed.breakdown.micro_batch = 4;
	checkpointed.breakdown.tokens_per_step *= 2;
	comparison.same_work = false;
	struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	input.run[ROLE_CHECKPOINTED].gpu_memory_bytes = 8 * BASE_BYTES;
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_WORKED);
	assert_null(find_advice(&answer, "spend the freed"));
	assert_non_null(find_advice(&answer, "still larger"));
	const struct advice *fewer = find_advice(&answer, "fewer blocks");
	assert_non_null(fewer);
	assert_true(fewer->bytes == NULL_I64);
	answer_done(&answer);
}

/* With SPENT, the list is about SPENT, and its comparison with base. */
static void advice_is_about_spent(void **state)
{
	(void)state;
	static struct sample_run spent;
	struct comparison spending = sample_comparison();
	sample_run_fill(&spent, "big_ac_block_mb4", 200, CHECKPOINTED_BYTES + 1000000000);
	spent.breakdown.tokens_per_step *= 2;
	spent.rank.gather_count = 3;
	spending.normalised_to_tokens = true;
	spending.same_work = false;
	spending.token_ratio = 2;
	spending.causes[CAUSE_REPEATED_ALL_GATHER].ns = 5 * SAMPLE_MS;
	spending.causes[CAUSE_LOST_OVERLAP].ns = 0;
	struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	input.run[ROLE_SPENT].breakdown = &spent.breakdown;
	input.spent = &spending;
	struct answer answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_FAILED);
	const struct advice *order = find_advice(&answer, "non-reentrant");
	assert_non_null(order);
	assert_int_equal(order->ns[1], 10 * SAMPLE_MS);
	/* 332 ms for what base does in twice 132. */
	const struct advice *off = find_advice(&answer, "take checkpointing off");
	assert_non_null(off);
	assert_int_equal(off->ns[1], 68 * SAMPLE_MS);
	answer_done(&answer);
	input.objective = OBJECTIVE_BATCH;
	spent.breakdown.micro_batch = 4;
	answer = answer_to(&input);
	assert_int_equal(answer.judgement.verdict, VERDICT_FAILED);
	assert_non_null(find_advice(&answer, "take checkpointing off"));
	answer_done(&answer);
}

/* Whichever allocation fails, the answer is whole or there is none. */
static void every_allocation_may_fail(void **state)
{
	(void)state;
	checkpointed.rank.gather_count = 3;
	const struct answer_input input =
		sample_question(OBJECTIVE_NONE, &base, &checkpointed, &comparison);
	for (int64_t nth = 1;; nth++) {
		struct answer answer;
		struct err err = {0};
		mem_fail_after(nth);
		const bool ok = answer_make(&input, &answer, &err);
		const bool has_failed = mem_has_failed();
		mem_fail_after(0);
		assert_true(ok != has_failed);
		assert_int_equal(err.code, ok ? ERR_NONE : ERR_NOMEM);
		if (ok) {
			answer_done(&answer);
			assert_true(nth > 5);
			return;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(unspent_sentence, fill),
		cmocka_unit_test_setup(hidden_is_at_most_what_was_recomputed, fill),
		cmocka_unit_test_setup(confounded_runs_blame_nothing, fill),
		cmocka_unit_test_setup(advice_stands_on_numbers, fill),
		cmocka_unit_test_setup(only_checkpointing_frees, fill),
		cmocka_unit_test_setup(given_times_decide, fill),
		cmocka_unit_test_setup(impossible_times_are_refused, fill),
		cmocka_unit_test_setup(fit_without_base, fill),
		cmocka_unit_test_setup(too_large_is_told_to_shrink, fill),
		cmocka_unit_test_setup(no_room_is_claimed_below_retries, fill),
		cmocka_unit_test_setup(no_objective_answers_each, fill),
		cmocka_unit_test_setup(a_run_against_itself, fill),
		cmocka_unit_test_setup(recomputation_is_looked_for, fill),
		cmocka_unit_test_setup(noise_is_named, fill),
		cmocka_unit_test_setup(not_comparable_says_why, fill),
		cmocka_unit_test_setup(advice_has_one_unit, fill),
		cmocka_unit_test_setup(a_pair_that_spends, fill),
		cmocka_unit_test_setup(advice_is_about_spent, fill),
		cmocka_unit_test_setup(every_allocation_may_fail, fill),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
