/*
 * The sentence: "unspent: the step went from 132.7 to 160.7 ms (+28.0 ms, +21 %); 29.5 ms are
 * recomputation, none of it hidden; no gather was repeated; 6.3 GiB less are reserved and nobody
 * uses them: spend them or take checkpointing off."
 */
#include "verdict/sentence.h"

#include <math.h>
#include <stdlib.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "verdict/answer.h"

#define WORTH_SAYING_FRAC 0.01 /* of the step: less is left to the table */

/* What each cause is called in a sentence; NULL where a clause of its own says it. */
static const char *const plain_words[CAUSE_COUNT] = {
	[CAUSE_LOST_OVERLAP] = "waiting on collectives",
	[CAUSE_UNIT_OVERHEAD] = "FSDP's own copies and hooks",
	[CAUSE_WRAPPER_DISPATCH] = "the checkpoint wrappers' host work",
	[CAUSE_KERNEL_SPEED] = "the speed of the same kernels",
	[CAUSE_OTHER_WORK] = "other work",
	[CAUSE_HOST_SPEED] = "the speed of the host",
	[CAUSE_ALLOCATOR] = "the allocator",
	[CAUSE_HOST] = "the host",
	[CAUSE_COPIES] = "copies",
	[CAUSE_OTHER] = "what is left over",
};

/* The profiler's own cost is, or may be, in its step time. */
static bool is_inflated(const struct recipe *recipe)
{
	return (recipe->launch_bound || recipe->maybe_launch_bound) && !recipe->step_time_given;
}

/* Equal tokens are compared by their step, others by their rate. */
static void add_pace(
	struct text *text, const struct recipe *base, const struct recipe *other, double noise_ns)
{
	const double change_frac = base->tokens_per_s > 0 && other->tokens_per_s > 0
					   ? base->tokens_per_s / other->tokens_per_s - 1
					   : other->step_ns / base->step_ns - 1;
	const char *noise = fabs(change_frac) * base->step_ns <= noise_ns ? ", within noise" : "";
	const bool equal_tokens = base->tokens_per_step == other->tokens_per_step;
	if (!equal_tokens && base->tokens_per_s > 0 && other->tokens_per_s > 0) {
		text_add(text, "; tokens/s went from %s to %s (%s%s)",
			units_rate(base->tokens_per_s).text, units_rate(other->tokens_per_s).text,
			units_percent(other->tokens_per_s / base->tokens_per_s - 1, UNITS_SIGNED)
				.text,
			noise);
		return;
	}
	if (!(base->step_ns > 0 && other->step_ns > 0))
		return;
	const int decimals = units_ms_decimals(base->step_ns);
	const bool is_as_traced = is_inflated(base) || is_inflated(other);
	text_add(text, "; %sthe step went from %s to %s (%s, %s%s)",
		is_as_traced ? "as traced, " : "",
		units_ms_bare(base->step_ns, decimals, UNITS_PLAIN).text,
		units_ms(other->step_ns, decimals, UNITS_PLAIN).text,
		units_ms(other->step_ns - base->step_ns, decimals, UNITS_SIGNED).text,
		units_percent(other->step_ns / base->step_ns - 1, UNITS_SIGNED).text, noise);
}

/* The marginal cost: what runs while a collective is in flight costs nothing twice. */
static void add_recomputation(struct text *text, const struct comparison *comparison, int decimals,
	int64_t untold[CAUSE_COUNT])
{
	const struct cause_result *causes = comparison->causes;
	const double gpu = (double)causes[CAUSE_RECOMPUTE].ns;
	const double host = (double)causes[CAUSE_RECOMPUTE_DISPATCH].ns;
	if (gpu + host < WORTH_SAYING_FRAC * (double)comparison->base_ns)
		return;
	untold[CAUSE_RECOMPUTE] = untold[CAUSE_RECOMPUTE_DISPATCH] = 0;
	text_add(text, "; %s are recomputation", units_ms(gpu + host, decimals, UNITS_PLAIN).text);
	if (host >= WORTH_SAYING_FRAC * (double)comparison->base_ns)
		text_add(text, " (%s of it waiting for the host)",
			units_ms(host, decimals, UNITS_PLAIN).text);
	/* Elsewhere fewer waits need not be the recomputation's doing. */
	if (comparison->normalised_to_tokens || !comparison->checkpointing_is_only_difference ||
		!comparison->is_job)
		return;
	const double hidden = (double)comparison_hidden_ns(comparison);
	if (hidden >= WORTH_SAYING_FRAC * (double)comparison->base_ns) {
		untold[CAUSE_LOST_OVERLAP] += comparison_hidden_ns(comparison);
		text_add(text, ", %s of it hidden in collectives",
			units_ms(hidden, decimals, UNITS_PLAIN).text);
	} else if (host < gpu)
		text_add(text, ", none of it hidden");
}

/* Gathers that are copies, or whose unit or reason can't be told, may repeat unseen. */
static bool is_uncounted(const struct breakdown *breakdown)
{
	return breakdown->diag.row[DIAG_UNCOUNTED_GATHERS].count ||
	       breakdown->diag.row[DIAG_UNKNOWN_GATHER].count;
}

static bool add_repeats(struct text *text, const struct answer *answer,
	const struct comparison *comparison, int decimals, int64_t untold[CAUSE_COUNT],
	struct err *err)
{
	struct gather_sum before, after;
	struct arena scratch = {0};
	const bool ok = measure_gathers(answer->breakdown[ROLE_BASE], GATHER_REPEAT, &scratch,
				&before, err) &&
			measure_gathers(answer->breakdown[ROLE_CHECKPOINTED], GATHER_REPEAT,
				&scratch, &after, err);
	const double ns = (double)comparison->causes[CAUSE_REPEATED_ALL_GATHER].ns;
	const bool worth_saying = fabs(ns) >= WORTH_SAYING_FRAC * (double)comparison->base_ns;
	if (worth_saying || after.count > before.count)
		untold[CAUSE_REPEATED_ALL_GATHER] = 0;
	if (ok && after.count > before.count)
		text_add(text, "; %.3g gathers a step are repeated, for %s", after.count,
			units_ms(ns, decimals, UNITS_PLAIN).text);
	else if (ok && worth_saying)
		text_add(text, "; gathers that only one run has make %s",
			units_ms(ns, decimals, UNITS_SIGNED).text);
	else if (ok && (is_uncounted(answer->breakdown[ROLE_BASE]) ||
			       is_uncounted(answer->breakdown[ROLE_CHECKPOINTED])))
		text_add(text, "; whether gathers were repeated is unknown");
	else if (ok)
		text_add(text, "; no gather was repeated");
	arena_done(&scratch);
	return ok;
}

/* The other large causes, largest first, that no other clause has told. */
static void add_other_causes(struct text *text, const struct comparison *comparison, int decimals,
	int64_t untold[CAUSE_COUNT])
{
	for (int round = 0; round < 2; round++) {
		int best = -1;
		for (int i = 0; i < CAUSE_COUNT; i++) {
			if (!plain_words[i] || !untold[i])
				continue;
			if (best < 0 || llabs(untold[i]) > llabs(untold[best]))
				best = i;
		}
		const double ns = best < 0 ? 0 : (double)untold[best];
		if (fabs(ns) < WORTH_SAYING_FRAC * (double)comparison->base_ns ||
			fabs(ns) < 0.1 * fabs((double)comparison->delta_ns))
			return;
		untold[best] = 0;
		text_add(text, "; %s: %s", plain_words[best],
			units_ms(ns, decimals, UNITS_SIGNED).text);
	}
}

/* Numbers that do not add up to the difference would mislead: what offsets them is said. */
static void add_rest(struct text *text, const struct comparison *comparison, int decimals,
	const int64_t untold[CAUSE_COUNT])
{
	double rest = 0;
	for (int i = 0; i < CAUSE_COUNT; i++)
		rest += (double)untold[i];
	if (fabs(rest) >= WORTH_SAYING_FRAC * (double)comparison->base_ns)
		text_add(text, "; the rest: %s", units_ms(rest, decimals, UNITS_SIGNED).text);
}

static bool add_causes(struct text *text, const struct answer *answer, struct err *err)
{
	const struct comparison *comparison = answer->comparison;
	if (!comparison || !comparison->comparable)
		return true;
	const int decimals = units_ms_decimals((double)comparison->base_ns);
	if (comparison->delta_ns == 0)
		return true;
	const bool is_given = answer->recipe[ROLE_BASE].step_time_given ||
			      answer->recipe[ROLE_CHECKPOINTED].step_time_given;
	if (answer->recipe[ROLE_SPENT].given || is_given)
		text_add(text, "; %s%s %s a step%s", is_given ? "as traced, " : "",
			comparison->checkpointing_is_only_difference ? "checkpointing alone makes"
								     : "the change makes",
			units_ms((double)comparison->delta_ns, decimals, UNITS_SIGNED).text,
			comparison->normalised_to_tokens ? " of base's tokens" : "");
	int64_t untold[CAUSE_COUNT];
	for (int i = 0; i < CAUSE_COUNT; i++)
		untold[i] = comparison->causes[i].ns;
	add_recomputation(text, comparison, decimals, untold);
	if (!add_repeats(text, answer, comparison, decimals, untold, err))
		return false;
	add_other_causes(text, comparison, decimals, untold);
	add_rest(text, comparison, decimals, untold);
	return true;
}

static void add_memory(struct text *text, const struct answer *answer)
{
	const int64_t base = answer->recipe[ROLE_BASE].peak_reserved_bytes;
	const int64_t other = answer->recipe[ROLE_CHECKPOINTED].peak_reserved_bytes;
	const bool is_unspent = answer->judgement.verdict == VERDICT_UNSPENT;
	if (base == NULL_I64 || other == NULL_I64 || answer->recipe[ROLE_SPENT].given)
		return;
	const struct comparison *comparison = answer->comparison;
	const bool is_its_doing = comparison && comparison->recomputes[1] &&
				  !comparison->recomputes[0] && comparison->same_work &&
				  !comparison_is_confounded(comparison);
	if (is_unspent)
		text_add(text, "; %s less are reserved and nobody uses them: spend them%s",
			units_bytes(base - other, UNITS_PLAIN).text,
			is_its_doing ? " or take checkpointing off" : "");
	else if (base > other && answer->objective != OBJECTIVE_MEMORY)
		text_add(text, "; %s less are reserved",
			units_bytes(base - other, UNITS_PLAIN).text);
	else if (other > base && answer->objective != OBJECTIVE_MEMORY)
		text_add(text, "; %s more are reserved",
			units_bytes(other - base, UNITS_PLAIN).text);
}

/*
 * A larger batch that base has room for too: what of the gain is checkpointing's can't be told
 * without that run.
 */
static void add_missing_control(struct text *text, const struct answer *answer)
{
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *spent = &answer->recipe[ROLE_SPENT];
	if (answer->spent && answer->comparison && answer->comparison->recomputes[1] &&
		!answer->spent->recomputes[1] && !spent->recomputes_nothing)
		text_add(text, "; SPENT itself does not recompute");
	else if (spent->given && answer->judgement.verdict == VERDICT_WORKED &&
		 answer_base_has_room(answer))
		text_add(text,
			"; base has room for that batch too (it reserves %s): without that run "
			"checkpointing's share of the gain can't be told",
			units_bytes(base->peak_reserved_bytes, UNITS_PLAIN).text);
}

/* Where the step says it all, the judge's reason would repeat it. */
static bool step_says_it(const struct answer *answer)
{
	const struct recipe *recipe = answer->recipe;
	const enum verdict_word verdict = answer->judgement.verdict;
	return answer->objective == OBJECTIVE_THROUGHPUT && !recipe[ROLE_SPENT].given &&
	       recipe[ROLE_BASE].tokens_per_step != NULL_I64 &&
	       recipe[ROLE_BASE].tokens_per_step == recipe[ROLE_CHECKPOINTED].tokens_per_step &&
	       (verdict == VERDICT_UNSPENT || verdict == VERDICT_FAILED ||
		       verdict == VERDICT_WORKED);
}

static void add_differences(struct text *text, const struct comparison *comparison)
{
	for (uint32_t i = 0; comparison && i < comparison->difference_count; i++)
		text_add(text, "%s %s", i ? ";" : ":", comparison->differences[i]);
}

/* What differs beside checkpointing comes first: nothing that follows is its doing alone. */
static void add_confounders(struct text *text, const struct answer *answer)
{
	const struct comparison *pair = answer->comparison, *spent = answer->spent;
	if (pair && comparison_is_confounded(pair)) {
		const bool is_only_one = pair->recomputes[1] && !pair->recomputes[0];
		text_add(text,
			is_only_one ? "; the runs also differ in %s: checkpointing's own share "
				      "can't be told"
			: pair->recomputes[0] ? "; both runs recompute and differ in %s"
					      : "; the runs differ in %s",
			pair->confounders);
	} else if (spent && comparison_is_confounded(spent)) {
		text_add(text,
			"; the spent run also differs from base in %s: checkpointing's own share "
			"can't be told",
			spent->confounders);
	}
}

bool sentence_make(struct answer *answer, struct err *err)
{
	const enum verdict_word verdict = answer->judgement.verdict;
	const struct recipe *recipe = answer->recipe;
	struct text body = {0};
	bool ok = true;
	if (verdict != VERDICT_NOT_COMPARABLE)
		add_confounders(&body, answer);
	if (!step_says_it(answer))
		text_add(&body, "; %s", answer->judgement.reason);
	if (verdict == VERDICT_NOT_COMPARABLE) {
		const bool is_spent = answer->comparison && answer->comparison->comparable;
		add_differences(&body, is_spent ? answer->spent : answer->comparison);
	} else if (recipe[ROLE_BASE].given && !recipe[ROLE_BASE].could_not_run) {
		const bool told = (answer->objective == OBJECTIVE_THROUGHPUT ||
					  answer->objective == OBJECTIVE_BATCH ||
					  answer->objective == OBJECTIVE_SEQUENCE) &&
				  recipe[ROLE_BASE].tokens_per_step !=
					  recipe[ROLE_CHECKPOINTED].tokens_per_step;
		const bool is_impossible = recipe_is_impossible(&recipe[ROLE_BASE]) ||
					   recipe_is_impossible(&recipe[ROLE_CHECKPOINTED]);
		if (!recipe[ROLE_SPENT].given && !told && !is_impossible)
			add_pace(&body, &recipe[ROLE_BASE], &recipe[ROLE_CHECKPOINTED],
				answer->judgement.noise_ns);
		ok = add_causes(&body, answer, err);
		add_memory(&body, answer);
		add_missing_control(&body, answer);
	}
	struct text whole = {0};
	text_add(&whole, "%s: %s.", verdict_text(verdict), body.bytes ? body.bytes + 2 : "");
	ok = ok && text_ok(&body, err);
	text_done(&body);
	if (!ok) {
		text_done(&whole);
		return false;
	}
	answer->sentence = text_take(&whole, &answer->arena, err);
	return answer->sentence != NULL;
}
