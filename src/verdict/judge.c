/*
 * The verdict as a function of numbers.  Everything that depends on time goes through one struct
 * pace: how long the candidate takes for base's tokens, and how much of the difference noise alone
 * makes.  Memory is judged by what is reserved, since that is what the GPU runs out of.
 */
#include "verdict/verdict.h"

#include <math.h>

#include "base/stats.h"
#include "base/table.h"
#include "base/units.h"
#include "compare/comparison.h"

#define MEMORY_FREED_FRAC 0.01	/* less than this is no saving */
#define SAME_TOKENS_FRAC  0.001 /* inferred token counts are exact; given ones may be rounded */

enum known {
	NO,
	YES,
	UNKNOWN
};

/* The candidate's time for base's tokens, against base. */
struct pace {
	const char *unknown_why; /* NULL when the rest is known */
	double ratio;		 /* the candidate's tokens/s over base's */
	double change_frac;	 /* of the time for equal tokens: > 0 is slower */
	double noise_frac;	 /* of base's step */
	double noise_ns;	 /* NaN where only rates are known */
	const char *method;
	enum known slower, faster; /* beyond noise; NO and NO is within it */
};

static bool decide(struct judgement *ret, enum verdict_word verdict, const char *reason)
{
	ret->verdict = verdict;
	ret->reason = reason;
	return reason != NULL;
}

static const char *run_words(enum run_role role)
{
	static const char *const words[ROLE_COUNT] = {
		[ROLE_BASE] = "base",
		[ROLE_CHECKPOINTED] = "the checkpointed run",
		[ROLE_SPENT] = "the spent run",
	};
	return words[role];
}

static double rate_of(const struct recipe *recipe)
{
	if (recipe->tokens_per_s > 0)
		return recipe->tokens_per_s;
	if (recipe->tokens_per_step != NULL_I64 && recipe->step_ns > 0)
		return (double)recipe->tokens_per_step / recipe->step_ns * 1e9;
	return NAN;
}

/* One rank's trace can't show that the job is launch-bound; where its GPU waits for the host as
 * much, its times are no better for it. */
static bool is_inflated(const struct recipe *recipe)
{
	return recipe->launch_bound || recipe->maybe_launch_bound;
}

/* Given times are single numbers whose spread nobody said: the floor of a GPU-bound run stands in
 * for it, and the method's name says that it does. */
static void set_noise(struct pace *pace, const struct recipe *base, const struct recipe *candidate)
{
	const bool is_given = base->step_time_given || candidate->step_time_given;
	const bool is_launch_bound = is_inflated(base) || is_inflated(candidate);
	pace->method = is_given ? "given" : "floor";
	pace->noise_frac =
		NOISE_OF_DIFFERENCE *
		(is_launch_bound && !is_given ? NOISE_SPREAD_LAUNCH_FRAC : NOISE_SPREAD_FRAC);
	if (!is_given && base->steps >= NOISE_MIN_WINDOWS &&
		candidate->steps >= NOISE_MIN_WINDOWS && base->step_ns > 0 &&
		candidate->step_ns > 0) {
		const double scale = base->step_ns / pace->ratio / candidate->step_ns;
		const double half = stats_welch_half_width(base->step_variance, base->steps,
			candidate->step_variance * scale * scale, candidate->steps);
		if (!isnan(half)) {
			pace->method = "welch";
			pace->noise_frac = half / base->step_ns;
		}
	}
	pace->noise_ns = base->step_ns > 0 ? pace->noise_frac * base->step_ns : NAN;
}

static struct pace pace_of(const struct recipe *base, const struct recipe *candidate)
{
	struct pace pace = {.ratio = NAN, .change_frac = NAN, .noise_ns = NAN, .method = "floor"};
	const double base_rate = rate_of(base), rate = rate_of(candidate);
	const bool no_tokens =
		base->tokens_per_step == NULL_I64 && candidate->tokens_per_step == NULL_I64;
	if (base_rate > 0 && rate > 0)
		pace.ratio = rate / base_rate;
	else if (no_tokens && base->step_ns > 0 && candidate->step_ns > 0)
		pace.ratio = base->step_ns / candidate->step_ns;
	if (!(pace.ratio > 0)) {
		pace.unknown_why = base->step_ns > 0 && candidate->step_ns > 0
					   ? "tokens per step are known for one of the runs only: "
					     "give --tokens"
					   : "a run has no whole step to measure";
		return pace;
	}
	pace.change_frac = 1 / pace.ratio - 1;
	set_noise(&pace, base, candidate);
	if ((is_inflated(base) || is_inflated(candidate)) &&
		!(base->step_time_given && candidate->step_time_given)) {
		pace.unknown_why =
			base->launch_bound || candidate->launch_bound
				? "launch-bound: the profiler's own cost is in the step times; "
				  "give those of the training log with --step-time"
				: "the GPU waits for the host, and whether the job is "
				  "launch-bound can't be told from one rank's trace: if it is, the "
				  "profiler's own cost is in the step times; give those of the "
				  "training log with --step-time, or the traces of all ranks";
		return pace;
	}
	if (base->step_time_given != candidate->step_time_given) {
		pace.unknown_why = "one step time is given and the other is the trace's, with the "
				   "profiler's cost in it: give --step-time for both";
		return pace;
	}
	pace.slower = pace.change_frac > pace.noise_frac ? YES : NO;
	pace.faster = -pace.change_frac > pace.noise_frac ? YES : NO;
	return pace;
}

/* "tokens/s went from 123.5k to 110.3k (-11 %)", or of step times where tokens are unknown. */
static const char *pace_text(struct arena *arena, const struct recipe *base,
	const struct recipe *candidate, const struct pace *pace, struct err *err)
{
	const double rate = rate_of(candidate), base_rate = rate_of(base);
	if (rate > 0 && base_rate > 0)
		return arena_format(arena, err, "tokens/s went from %s to %s (%s; noise %s)",
			units_rate(base_rate).text, units_rate(rate).text,
			units_percent(pace->ratio - 1, UNITS_SIGNED).text,
			units_percent(pace->noise_frac, UNITS_PLAIN).text);
	const int decimals = units_ms_decimals(base->step_ns);
	return arena_format(arena, err,
		"the step went from %s to %s (%s; noise %s; tokens unknown, taken as equal)",
		units_ms(base->step_ns, decimals, UNITS_PLAIN).text,
		units_ms(candidate->step_ns, decimals, UNITS_PLAIN).text,
		units_percent(pace->change_frac, UNITS_SIGNED).text,
		units_percent(pace->noise_frac, UNITS_PLAIN).text);
}

static double freed_frac(const struct recipe *base, const struct recipe *candidate)
{
	if (base->peak_reserved_bytes == NULL_I64 || candidate->peak_reserved_bytes == NULL_I64 ||
		base->peak_reserved_bytes <= 0)
		return NAN;
	return 1 - (double)candidate->peak_reserved_bytes / (double)base->peak_reserved_bytes;
}

static const char *freed_text(struct arena *arena, const struct recipe *base,
	const struct recipe *candidate, struct err *err)
{
	return arena_format(arena, err, "peak reserved went from %s to %s (%s)",
		units_bytes(base->peak_reserved_bytes, UNITS_PLAIN).text,
		units_bytes(candidate->peak_reserved_bytes, UNITS_PLAIN).text,
		units_percent(-freed_frac(base, candidate), UNITS_SIGNED).text);
}

/* Slower than base, beyond noise, with no SPENT run to say what the memory would bring. */
static bool judge_slower(const struct judge_input *input, const char *pace_words,
	struct arena *arena, struct judgement *ret, struct err *err)
{
	const struct recipe *base = &input->recipe[ROLE_BASE];
	const struct recipe *candidate = &input->recipe[ROLE_CHECKPOINTED];
	const double freed = freed_frac(base, candidate);
	const bool has_tokens =
		base->tokens_per_step != NULL_I64 && candidate->tokens_per_step != NULL_I64;
	if (has_tokens && (double)candidate->tokens_per_step >
				  (1 + SAME_TOKENS_FRAC) * (double)base->tokens_per_step)
		return decide(ret, VERDICT_FAILED,
			arena_format(arena, err, "%s, at more tokens a step", pace_words));
	if (isnan(freed))
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err,
				"%s; whether memory was freed is not in the traces, so it may "
				"have failed or only be unspent",
				pace_words));
	const char *memory = freed_text(arena, base, candidate, err);
	if (!memory)
		return false;
	if (freed > MEMORY_FREED_FRAC)
		return decide(ret, VERDICT_UNSPENT,
			arena_format(arena, err, "%s; %s and nobody uses it", pace_words, memory));
	return decide(ret, VERDICT_FAILED,
		arena_format(arena, err, "%s and no memory was freed: %s", pace_words, memory));
}

/* Whether SPENT takes what was freed: more tokens a step, or more memory.  True where unknown. */
static bool spends(const struct recipe *spent, const struct recipe *checkpointed)
{
	if (!checkpointed->given || spent->tokens_per_step == NULL_I64 ||
		checkpointed->tokens_per_step == NULL_I64 ||
		spent->peak_reserved_bytes == NULL_I64 ||
		checkpointed->peak_reserved_bytes == NULL_I64)
		return true;
	return (double)spent->tokens_per_step >
		       (1 + SAME_TOKENS_FRAC) * (double)checkpointed->tokens_per_step ||
	       (double)spent->peak_reserved_bytes >
		       (1 + MEMORY_FREED_FRAC) * (double)checkpointed->peak_reserved_bytes;
}

static bool judge_throughput(const struct judge_input *input, enum run_role role,
	const struct pace *pace, struct arena *arena, struct judgement *ret, struct err *err)
{
	if (pace->unknown_why)
		return decide(ret, VERDICT_INCONCLUSIVE, pace->unknown_why);
	const char *pace_words =
		pace_text(arena, &input->recipe[ROLE_BASE], &input->recipe[role], pace, err);
	if (!pace_words)
		return false;
	if (pace->faster == YES)
		return decide(ret, VERDICT_WORKED, pace_words);
	if (pace->slower == NO)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err, "%s: within noise", pace_words));
	if (input->recipe[ROLE_SPENT].given &&
		!spends(&input->recipe[ROLE_SPENT], &input->recipe[ROLE_CHECKPOINTED]))
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err,
				"%s; SPENT has no more tokens a step and reserves no more than "
				"CHECKPOINTED: it spends nothing",
				pace_words));
	if (input->recipe[ROLE_SPENT].given)
		return decide(ret, VERDICT_FAILED,
			arena_format(arena, err, "%s, with the freed memory spent", pace_words));
	return judge_slower(input, pace_words, arena, ret, err);
}

/* `batch` and `sequence`: more of something, at no loss.  Whether there is more needs no clock. */
static bool judge_growth(const struct judge_input *input, enum run_role role,
	const struct pace *pace, struct arena *arena, struct judgement *ret, struct err *err)
{
	const bool is_batch = input->objective == OBJECTIVE_BATCH;
	const struct recipe *base = &input->recipe[ROLE_BASE], *candidate = &input->recipe[role];
	const int64_t before = is_batch ? base->sequences_per_rank : base->sequence_length;
	const int64_t after = is_batch ? candidate->sequences_per_rank : candidate->sequence_length;
	const char *what = is_batch ? "sequences a rank" : "tokens a sequence";
	if (before == NULL_I64 || after == NULL_I64)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err, "%s are not in the traces", what));
	if (after == before)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err,
				"base and %s both have %s %s: a larger one was not tried, or not "
				"given",
				run_words(role), units_count(after).text,
				after != 1 ? what
				: is_batch ? "sequence a rank"
					   : "token a sequence"));
	if (after < before)
		return decide(ret, VERDICT_FAILED,
			arena_format(arena, err, "%s fell from %s to %s", what,
				units_count(before).text, units_count(after).text));
	if (pace->unknown_why)
		return decide(ret, VERDICT_INCONCLUSIVE, pace->unknown_why);
	const char *pace_words = pace_text(arena, base, candidate, pace, err);
	if (!pace_words)
		return false;
	return decide(ret, pace->slower == YES ? VERDICT_FAILED : VERDICT_WORKED,
		arena_format(arena, err, "%s went from %s to %s; %s%s", what,
			units_count(before).text, units_count(after).text, pace_words,
			pace->slower == YES || pace->faster == YES ? "" : ": within noise"));
}

/* What the memory costs: ", at a price of 21 % more time a token". */
static const char *price_text(struct arena *arena, const struct pace *pace, struct err *err)
{
	if (isnan(pace->change_frac))
		return "";
	const bool is_in_noise = !pace->unknown_why && pace->slower == NO && pace->faster == NO;
	return arena_format(arena, err, ", %s %s %s time a token%s%s",
		pace->change_frac > 0 && !is_in_noise ? "at a price of" : "with",
		units_percent(fabs(pace->change_frac), UNITS_PLAIN).text,
		pace->change_frac < 0 ? "less" : "more", pace->unknown_why ? " (as traced)" : "",
		is_in_noise ? ", within noise" : "");
}

static bool judge_memory(const struct judge_input *input, const struct recipe *candidate,
	const struct pace *pace, struct arena *arena, struct judgement *ret, struct err *err)
{
	const struct recipe *base = &input->recipe[ROLE_BASE];
	const double freed = freed_frac(base, candidate);
	if (isnan(freed))
		return decide(ret, VERDICT_INCONCLUSIVE,
			"peak reserved memory is not in the traces of both runs");
	const char *memory = freed_text(arena, base, candidate, err);
	const char *price = price_text(arena, pace, err);
	if (!memory || !price)
		return false;
	const int64_t limit = input->memory_limit_bytes;
	if (limit == NULL_I64)
		return decide(ret, freed > MEMORY_FREED_FRAC ? VERDICT_WORKED : VERDICT_FAILED,
			arena_format(arena, err, "%s%s", memory, price));
	if (base->peak_reserved_bytes <= limit)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err,
				"base is within the limit of %s already: nothing was to be solved",
				units_bytes(limit, UNITS_PLAIN).text));
	return decide(ret,
		candidate->peak_reserved_bytes <= limit ? VERDICT_WORKED : VERDICT_FAILED,
		arena_format(arena, err, "%s against a limit of %s%s", memory,
			units_bytes(limit, UNITS_PLAIN).text, price));
}

int64_t recipe_memory_limit(const struct recipe *recipe, int64_t given_bytes)
{
	if (given_bytes != NULL_I64)
		return given_bytes;
	if (recipe->gpu_memory_bytes == NULL_I64)
		return NULL_I64;
	return (int64_t)(MEMORY_LIMIT_FRAC * (double)recipe->gpu_memory_bytes);
}

enum run_role recipes_doubt_limit(const struct recipe recipe[ROLE_COUNT], int64_t given_bytes)
{
	for (enum run_role role = ROLE_BASE; given_bytes == NULL_I64 && role < ROLE_COUNT; role++) {
		const int64_t limit = recipe_memory_limit(&recipe[role], NULL_I64);
		if (recipe[role].given && recipe[role].alloc_retries > 0 && limit != NULL_I64 &&
			recipe[role].peak_reserved_bytes != NULL_I64 &&
			(double)recipe[role].peak_reserved_bytes <
				DOUBTFUL_LIMIT_FRAC * (double)limit)
			return role;
	}
	return ROLE_COUNT;
}

static enum known fits(const struct judge_input *input, const struct recipe *recipe)
{
	if (!recipe->given || recipe->could_not_run)
		return NO;
	if (recipe->alloc_retries != NULL_I64 && recipe->alloc_retries > 0)
		return NO;
	const int64_t limit = recipe_memory_limit(recipe, input->memory_limit_bytes);
	if (recipe->peak_reserved_bytes == NULL_I64 || limit == NULL_I64 ||
		recipe->alloc_retries == NULL_I64)
		return UNKNOWN;
	return recipe->peak_reserved_bytes <= limit ? YES : NO;
}

static const char *fit_text(
	struct arena *arena, const struct judge_input *input, enum run_role role, struct err *err)
{
	const struct recipe *recipe = &input->recipe[role];
	if (!recipe->given || recipe->could_not_run)
		return arena_format(arena, err, "%s could not run", run_words(role));
	if (recipes_doubt_limit(input->recipe, input->memory_limit_bytes) != ROLE_COUNT)
		return arena_format(arena, err, "%s reserves %s, with %s allocation retries",
			run_words(role), units_bytes(recipe->peak_reserved_bytes, UNITS_PLAIN).text,
			units_count(recipe->alloc_retries).text);
	return arena_format(arena, err,
		"%s reserves %s of the %s it may, with %s allocation retries", run_words(role),
		units_bytes(recipe->peak_reserved_bytes, UNITS_PLAIN).text,
		units_bytes(recipe_memory_limit(recipe, input->memory_limit_bytes), UNITS_PLAIN)
			.text,
		units_count(recipe->alloc_retries).text);
}

/* What of the runs that are not the candidate: a run that fits beside one that does not is told
 * apart. */
static const char *fit_of_others(struct arena *arena, const struct judge_input *input,
	enum run_role candidate, struct err *err)
{
	static const char *const words[] = {
		[NO] = "does not fit", [YES] = "fits", [UNKNOWN] = "may or may not fit"};
	const struct recipe *base = &input->recipe[ROLE_BASE];
	const struct recipe *checkpointed = &input->recipe[ROLE_CHECKPOINTED];
	const char *own = "";
	if (candidate == ROLE_SPENT && checkpointed->given)
		own = arena_format(arena, err, "; the checkpointed run (%s) %s",
			units_bytes(checkpointed->peak_reserved_bytes, UNITS_PLAIN).text,
			words[fits(input, checkpointed)]);
	if (!own || !base->given || base->could_not_run)
		return own;
	return arena_format(arena, err, "%s; base (%s) %s", own,
		units_bytes(base->peak_reserved_bytes, UNITS_PLAIN).text, words[fits(input, base)]);
}

static const char *doubt_text(const struct judge_input *input)
{
	return recipes_doubt_limit(input->recipe, input->memory_limit_bytes) == ROLE_COUNT
		       ? ""
		       : "; retries so far below the GPU's memory mean a cap or another process: "
			 "give --memory-limit";
}

static bool judge_fit(const struct judge_input *input, enum run_role candidate, struct arena *arena,
	struct judgement *ret, struct err *err)
{
	const struct recipe *base = &input->recipe[ROLE_BASE];
	const char *base_words = fit_text(arena, input, ROLE_BASE, err);
	const char *words = fit_text(arena, input, candidate, err);
	const char *others = fit_of_others(arena, input, candidate, err);
	const char *doubt = doubt_text(input);
	if (!base_words || !words || !others)
		return false;
	const enum known candidate_fits = fits(input, &input->recipe[candidate]);
	const enum known base_fits = fits(input, base);
	if (candidate_fits == NO)
		return decide(ret, VERDICT_FAILED,
			arena_format(
				arena, err, "%s, which is too much%s%s", words, others, doubt));
	if (candidate_fits == UNKNOWN || base_fits == UNKNOWN)
		return decide(ret, VERDICT_INCONCLUSIVE,
			"peak reserved memory, or the GPU's, is not in the traces: give "
			"--memory-limit and record memory");
	if (base_fits == YES)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(
				arena, err, "nothing was to be solved: base fits: %s", base_words));
	return decide(ret, VERDICT_WORKED,
		arena_format(arena, err, "%s; %s%s%s", words, base_words,
			base->given && !base->could_not_run ? ", which is too much" : "", doubt));
}

/* The run that is to be judged as checkpointed and is not; ROLE_COUNT without one. */
static enum run_role find_uncheckpointed(const struct judge_input *input)
{
	for (enum run_role role = ROLE_CHECKPOINTED; role < ROLE_COUNT; role++)
		if (input->recipe[role].given && input->recipe[role].recomputes_nothing)
			return role;
	return ROLE_COUNT;
}

bool recipe_is_impossible(const struct recipe *recipe)
{
	return recipe->given && recipe->step_time_given &&
	       recipe->step_ns < BUSY_SLACK_FRAC * recipe->busy_ns;
}

/* A run whose given step is shorter than what its GPU computes in one; ROLE_COUNT without one. */
static enum run_role find_impossible_time(const struct judge_input *input)
{
	for (enum run_role role = ROLE_BASE; role < ROLE_COUNT; role++) {
		if (recipe_is_impossible(&input->recipe[role]))
			return role;
	}
	return ROLE_COUNT;
}

static bool judge_impossible_time(const struct recipe *recipe, enum run_role role,
	struct arena *arena, struct judgement *ret, struct err *err)
{
	return decide(ret, VERDICT_INCONCLUSIVE,
		arena_format(arena, err,
			"%s can't take the given %s a step (is --step-time in milliseconds, "
			"--tokens-per-s the whole job's?), since the GPU is busy for %s of its "
			"traced step",
			run_words(role),
			units_ms(recipe->step_ns, units_ms_decimals(recipe->step_ns), UNITS_PLAIN)
				.text,
			units_ms(recipe->busy_ns, units_ms_decimals(recipe->busy_ns), UNITS_PLAIN)
				.text));
}

bool judge(const struct judge_input *input, struct arena *arena, struct judgement *ret,
	struct err *err)
{
	const struct recipe *base = &input->recipe[ROLE_BASE];
	const enum run_role role = input->recipe[ROLE_SPENT].given ? ROLE_SPENT : ROLE_CHECKPOINTED;
	const struct recipe *candidate = &input->recipe[role];
	const bool has_base = base->given && !base->could_not_run;
	struct pace pace = {.unknown_why = "there is no base run to compare with: only fit can "
					   "be answered",
		.change_frac = NAN,
		.noise_ns = NAN,
		.method = "floor"};
	if (has_base)
		pace = pace_of(base, candidate);
	ret->noise_method = pace.method;
	ret->noise_ns = pace.noise_ns;
	if (has_base && !input->comparable)
		return decide(ret, VERDICT_NOT_COMPARABLE,
			"the runs are not one recipe without and with checkpointing");
	if (input->objective == OBJECTIVE_NONE)
		return decide(ret, VERDICT_NO_OBJECTIVE,
			"whether it failed depends on what it was meant to do: give --objective");
	if (input->differ_only_in_noise)
		return decide(ret, VERDICT_INCONCLUSIVE, "the runs are the same");
	const enum run_role impossible = find_impossible_time(input);
	if (impossible != ROLE_COUNT && input->objective != OBJECTIVE_FIT)
		return judge_impossible_time(
			&input->recipe[impossible], impossible, arena, ret, err);
	const enum run_role uncheckpointed = find_uncheckpointed(input);
	if (uncheckpointed != ROLE_COUNT)
		return decide(ret, VERDICT_INCONCLUSIVE,
			arena_format(arena, err,
				"%s recomputes nothing: it has no checkpointing that could be "
				"judged",
				run_words(uncheckpointed)));
	if (!has_base && input->objective != OBJECTIVE_FIT)
		return decide(ret, VERDICT_INCONCLUSIVE, pace.unknown_why);
	switch (input->objective) {
	case OBJECTIVE_MEMORY:
		return judge_memory(input, candidate, &pace, arena, ret, err);
	case OBJECTIVE_FIT:
		return judge_fit(input, role, arena, ret, err);
	case OBJECTIVE_THROUGHPUT:
		return judge_throughput(input, role, &pace, arena, ret, err);
	default:
		return judge_growth(input, role, &pace, arena, ret, err);
	}
}
