/* Assembles an answer: recipes from breakdowns, the judgement, then sentence and advice. */
#include "verdict/answer.h"

#include <math.h>
#include <string.h>

#include "attribute/facts.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/table.h"
#include "verdict/sentence.h"

#define INTERVAL_MIN_STEPS 4	/* fewer windows give no interval worth printing */
#define UNKNOWN_FRAC	   0.01 /* of the step: more work of unknown phase may be recomputation */

static const struct recipe unknown_recipe = {
	.step_ns = NAN,
	.step_ci95_ns = {NAN, NAN},
	.step_variance = NAN,
	.busy_ns = NAN,
	.tokens_per_step = NULL_I64,
	.tokens_per_s = NAN,
	.peak_allocated_bytes = NULL_I64,
	.peak_reserved_bytes = NULL_I64,
	.gpu_memory_bytes = NULL_I64,
	.alloc_retries = NULL_I64,
	.sequences_per_rank = NULL_I64,
	.sequence_length = NULL_I64,
};

static bool set_traced_steps(
	const struct breakdown *breakdown, struct recipe *recipe, struct err *err)
{
	double *walls = mem_new(breakdown->path_count, sizeof *walls, err);
	if (!walls)
		return false;
	uint32_t used = 0;
	for (uint32_t i = 0; i < breakdown->path_count; i++)
		if (breakdown->path[i].used)
			walls[used++] = (double)breakdown->path[i].wall_ns;
	recipe->steps = used;
	recipe->step_ns = stats_mean(walls, used);
	recipe->step_variance = stats_variance(walls, used);
	if (used >= INTERVAL_MIN_STEPS) {
		const double half = stats_mean_half_width(recipe->step_variance, used);
		recipe->step_ci95_ns[0] = recipe->step_ns - half;
		recipe->step_ci95_ns[1] = recipe->step_ns + half;
	}
	mem_free(walls);
	return true;
}

/* What the training log says goes before what the profiler measured. */
static void set_given(const struct answer_run *run, struct recipe *recipe)
{
	const double tokens =
		recipe->tokens_per_step == NULL_I64 ? NAN : (double)recipe->tokens_per_step;
	recipe->tokens_per_s = tokens / recipe->step_ns * 1e9;
	if (isnan(run->given_step_ns) && isnan(run->given_tokens_per_s))
		return;
	recipe->step_time_given = true;
	recipe->step_variance = NAN;
	recipe->step_ci95_ns[0] = recipe->step_ci95_ns[1] = NAN;
	if (!isnan(run->given_tokens_per_s)) {
		recipe->tokens_per_s = run->given_tokens_per_s;
		recipe->step_ns = tokens / run->given_tokens_per_s * 1e9;
	} else {
		recipe->step_ns = run->given_step_ns;
		recipe->tokens_per_s = tokens / run->given_step_ns * 1e9;
	}
}

/* Where phases are not known, or compiled graphs may hide it, nothing can be said. */
static bool recomputes_nothing(const struct breakdown *run)
{
	const double wall =
		measure_path_ns(run, MEASURE_ANY, MEASURE_ANY, MEASURE_ANY, MEASURE_ANY);
	const double forward =
		measure_path_ns(run, STATE_BUSY, PHASE_FORWARD, MEASURE_ANY, MEASURE_ANY);
	const double unknown =
		measure_path_ns(run, STATE_BUSY, PHASE_UNKNOWN, MEASURE_ANY, MEASURE_ANY);
	const double recompute =
		measure_path_ns(run, MEASURE_ANY, PHASE_RECOMPUTE, MEASURE_ANY, MEASURE_ANY);
	return recompute == 0 && forward > 0 && unknown < UNKNOWN_FRAC * wall &&
	       run->facts->regions == 0 && !run->facts->has_compiled;
}

static bool recipe_make(const struct answer_run *run, struct recipe *ret, struct err *err)
{
	*ret = unknown_recipe;
	const struct breakdown *breakdown = run->breakdown;
	if (!breakdown)
		return true;
	const double busy =
		measure_path_ns(breakdown, STATE_BUSY, MEASURE_ANY, MEASURE_ANY, MEASURE_ANY);
	ret->given = true;
	ret->launch_bound = breakdown->launch_bound;
	ret->maybe_launch_bound = !breakdown->path_is_job &&
				  breakdown->starved_frac > LAUNCH_BOUND_FRAC &&
				  breakdown->world_size != 1;
	ret->busy_ns = busy > 0 ? busy : NAN;
	ret->recomputes_nothing = recomputes_nothing(breakdown);
	ret->tokens_per_step = breakdown->tokens_per_step;
	ret->peak_allocated_bytes = measure_peak_allocated(breakdown);
	ret->peak_reserved_bytes = measure_peak_reserved(breakdown);
	ret->gpu_memory_bytes = run->gpu_memory_bytes;
	ret->alloc_retries = measure_alloc_retries(breakdown);
	ret->sequences_per_rank = breakdown->micro_batch;
	ret->sequence_length = breakdown->sequence_length;
	if (!set_traced_steps(breakdown, ret, err))
		return false;
	set_given(run, ret);
	return true;
}

/* A run compared with itself, which is a common first try of a new tool. */
static bool is_same_run(const struct comparison *comparison)
{
	if (!comparison || comparison->delta_ns != 0)
		return false;
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (comparison->causes[i].ns != 0)
			return false;
	return true;
}

static int64_t limit_of(const struct answer_input *input, const struct recipe *candidate)
{
	if (!isnan(input->memory_limit_frac) && candidate->gpu_memory_bytes != NULL_I64)
		return (int64_t)(input->memory_limit_frac * (double)candidate->gpu_memory_bytes);
	return input->memory_limit_bytes;
}

static bool judge_all(const struct answer_input *input, struct answer *answer, struct err *err)
{
	const enum run_role candidate = answer_candidate(answer);
	answer->is_same_run =
		is_same_run(candidate == ROLE_SPENT ? input->spent : input->comparison) &&
		answer->recipe[ROLE_BASE].peak_reserved_bytes ==
			answer->recipe[candidate].peak_reserved_bytes;
	struct judge_input question = {
		.objective = input->objective,
		.comparable = (!input->comparison || input->comparison->comparable) &&
			      (!input->spent || input->spent->comparable),
		.differ_only_in_noise = answer->is_same_run,
		.memory_limit_bytes = answer->memory_limit_bytes,
	};
	memcpy(question.recipe, answer->recipe, sizeof question.recipe);
	if (!judge(&question, &answer->arena, &answer->judgement, err))
		return false;
	if (input->objective != OBJECTIVE_NONE)
		return true;
	for (int i = OBJECTIVE_NONE + 1; i < OBJECTIVE_COUNT; i++) {
		question.objective = (enum objective)i;
		if (!judge(&question, &answer->arena, &answer->each[i], err))
			return false;
	}
	return true;
}

bool answer_base_has_room(const struct answer *answer)
{
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *spent = &answer->recipe[ROLE_SPENT];
	if (!base->given || base->could_not_run || base->peak_reserved_bytes == NULL_I64 ||
		base->tokens_per_step <= 0 || spent->tokens_per_step <= base->tokens_per_step ||
		recipes_doubt_limit(answer->recipe, answer->memory_limit_bytes) != ROLE_COUNT ||
		base->alloc_retries > 0)
		return false;
	const int64_t limit = recipe_memory_limit(base, answer->memory_limit_bytes);
	return base->gpu_memory_bytes != NULL_I64 &&
	       (double)base->peak_reserved_bytes * (double)spent->tokens_per_step /
			       (double)base->tokens_per_step <
		       (double)limit;
}

enum run_role answer_candidate(const struct answer *answer)
{
	return answer->recipe[ROLE_SPENT].given ? ROLE_SPENT : ROLE_CHECKPOINTED;
}

static bool fill(const struct answer_input *input, struct answer *answer, struct err *err)
{
	answer->objective = input->objective;
	answer->comparison = input->comparison;
	answer->spent = input->spent;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct answer_run *run = &input->run[role];
		answer->breakdown[role] = run->breakdown;
		if (!recipe_make(run, &answer->recipe[role], err))
			return false;
		struct recipe traced = unknown_recipe;
		if (run->breakdown && !set_traced_steps(run->breakdown, &traced, err))
			return false;
		answer->traced_step_ns[role] = traced.step_ns;
	}
	answer->recipe[ROLE_BASE].could_not_run =
		input->base_failed || !input->run[ROLE_BASE].breakdown;
	const enum run_role candidate = answer_candidate(answer);
	answer->memory_limit_bytes = limit_of(input, &answer->recipe[candidate]);
	return judge_all(input, answer, err) &&
	       measure_stragglers(answer->breakdown[candidate], &answer->arena, &answer->stragglers,
		       &answer->straggler_count, err) &&
	       sentence_make(answer, err) && advice_make(answer, err);
}

bool answer_make(const struct answer_input *input, struct answer *ret, struct err *err)
{
	*ret = (struct answer){0};
	if (fill(input, ret, err))
		return true;
	answer_done(ret);
	return false;
}

void answer_done(struct answer *answer)
{
	arena_done(&answer->arena);
	*answer = (struct answer){0};
}
