/* What `verdict` says: the sentence, the recipes, the causes, what to change, who was late. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "render/reports.h"

#define NEAR_NOISE 1.5 /* times the floor */

static enum tone verdict_tone(enum verdict_word verdict)
{
	switch (verdict) {
	case VERDICT_WORKED:
		return TONE_GOOD;
	case VERDICT_FAILED:
		return TONE_BAD;
	case VERDICT_NO_OBJECTIVE:
		return TONE_STRONG;
	default:
		return TONE_WARN;
	}
}

static void add_objectives(struct report *report, const struct answer *answer)
{
	report_heading(report, "By objective");
	for (int i = OBJECTIVE_NONE + 1; i < OBJECTIVE_COUNT; i++) {
		const struct judgement *judgement = &answer->each[i];
		char name[64];
		snprintf(name, sizeof name, "%s, %s", objective_word((enum objective)i),
			verdict_text(judgement->verdict));
		report_named(
			report, verdict_tone(judgement->verdict), name, "%s", judgement->reason);
	}
}

static void add_step_cell(
	struct report *report, struct report_table *table, const struct recipe *recipe)
{
	const int decimals = units_ms_decimals(recipe->step_ns);
	if (isnan(recipe->step_ci95_ns[0])) {
		report_cell(report, table, TONE_PLAIN, "%s",
			units_ms(recipe->step_ns, decimals, UNITS_PLAIN).text);
		return;
	}
	const double half = (recipe->step_ci95_ns[1] - recipe->step_ci95_ns[0]) / 2;
	report_cell(report, table, TONE_PLAIN, "%s +- %s",
		units_ms_bare(recipe->step_ns, decimals, UNITS_PLAIN).text,
		units_ms(half, decimals, UNITS_PLAIN).text);
}

static void add_change_cell(struct report *report, struct report_table *table, double before,
	double after, bool more_is_better)
{
	const double frac = after / before - 1;
	if (!isfinite(frac)) {
		report_blank(report, table);
		return;
	}
	const bool is_small = fabs(frac) < 0.01;
	report_cell(report, table,
		is_small		       ? TONE_PLAIN
		: (frac > 0) == more_is_better ? TONE_GOOD
					       : TONE_BAD,
		"%s", units_percent(frac, UNITS_SIGNED).text);
}

static double bytes_or_nan(int64_t bytes)
{
	return bytes == NULL_I64 ? NAN : (double)bytes;
}

/* The row under a recipe: what changed against base. */
static void add_change_row(struct report *report, struct report_table *table,
	const struct recipe *base, const struct recipe *recipe)
{
	const bool equal_tokens = base->tokens_per_step == recipe->tokens_per_step;
	report_cell(report, table, TONE_DIM, "  change");
	report_blank(report, table);
	add_change_cell(report, table, equal_tokens ? base->step_ns : NAN, recipe->step_ns, false);
	report_blank(report, table);
	add_change_cell(report, table, base->tokens_per_s, recipe->tokens_per_s, true);
	add_change_cell(report, table, bytes_or_nan(base->peak_allocated_bytes),
		bytes_or_nan(recipe->peak_allocated_bytes), false);
	add_change_cell(report, table, bytes_or_nan(base->peak_reserved_bytes),
		bytes_or_nan(recipe->peak_reserved_bytes), false);
	report_row(report, table);
}

static void add_recipes(struct report *report, const struct answer *answer)
{
	static const struct report_column columns[] = {
		{"recipe", ALIGN_LEFT},
		{"run", ALIGN_CUT},
		{"step", ALIGN_RIGHT},
		{"tokens", ALIGN_RIGHT},
		{"tokens/s", ALIGN_RIGHT},
		{"allocated", ALIGN_RIGHT},
		{"reserved", ALIGN_RIGHT},
	};
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	report_heading(report, "Recipes");
	struct report_table *table = report_table(report, columns, 7);
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct recipe *recipe = &answer->recipe[role];
		if (!recipe->given)
			continue;
		report_cell(report, table, TONE_STRONG, "%s", role_word((enum run_role)role));
		report_cell(report, table, TONE_PLAIN, "%s", answer->breakdown[role]->name);
		add_step_cell(report, table, recipe);
		report_cell(
			report, table, TONE_PLAIN, "%s", units_count(recipe->tokens_per_step).text);
		report_cell(report, table, TONE_PLAIN, "%s", units_rate(recipe->tokens_per_s).text);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes(recipe->peak_allocated_bytes, UNITS_PLAIN).text);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes(recipe->peak_reserved_bytes, UNITS_PLAIN).text);
		report_row(report, table);
		if (role != ROLE_BASE && base->given && !base->could_not_run)
			add_change_row(report, table, base, recipe);
	}
}

/* Beyond the floor, but so little that one more run might take it back. */
static bool is_near_noise(const struct answer *answer)
{
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *candidate = &answer->recipe[answer_candidate(answer)];
	const double change = base->tokens_per_s / candidate->tokens_per_s - 1;
	const double frac = fabs(change) * base->step_ns / answer->judgement.noise_ns;
	return frac > 1 && frac < NEAR_NOISE;
}

static void note_noise(struct report *report, const struct answer *answer)
{
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *candidate = &answer->recipe[answer_candidate(answer)];
	const struct judgement *judgement = &answer->judgement;
	const double frac = judgement->noise_ns / base->step_ns;
	const struct units noise =
		units_ms(judgement->noise_ns, units_ms_decimals(base->step_ns), UNITS_PLAIN);
	if (isnan(judgement->noise_ns))
		return;
	if (strcmp(judgement->noise_method, "welch") == 0)
		report_text(report, TONE_DIM,
			"Noise: %s a step, by Welch's interval (95 %%) over %u and %u steps.",
			noise.text, base->steps, candidate->steps);
	else if (strcmp(judgement->noise_method, "given") == 0)
		report_text(report, TONE_DIM,
			"Noise: %s a step. The spread of given step times is not known; %s of "
			"base's step stands in for it.",
			noise.text, units_percent(frac, UNITS_PLAIN).text);
	else
		report_text(report, TONE_DIM,
			"Noise: %s a step, a floor (%s of base's step: each run's spreads by %s), "
			"since "
			"%u and %u steps are too few for an interval.%s",
			noise.text, units_percent(frac, UNITS_PLAIN).text,
			units_percent(frac / NOISE_OF_DIFFERENCE, UNITS_PLAIN).text, base->steps,
			candidate->steps,
			is_near_noise(answer) ? " The difference is hardly beyond it." : "");
}

/* What the numbers of the table are, where they are not simply measured. */
static void note_sources(struct report *report, const struct answer *answer)
{
	struct text given = {0};
	bool is_inferred = false, is_partial = false;
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct breakdown *run = answer->breakdown[role];
		if (!run)
			continue;
		is_inferred = is_inferred || strcmp(run->tokens_how, "inferred") == 0;
		is_partial = is_partial || !run->path_is_job;
		if (answer->recipe[role].step_time_given)
			text_add(&given, "%s %s %s", given.length ? "," : "",
				role_word((enum run_role)role),
				units_ms(answer->traced_step_ns[role],
					units_ms_decimals(answer->traced_step_ns[role]),
					UNITS_PLAIN)
					.text);
	}
	const char *traced = report_take(report, &given);
	if (traced[0])
		report_text(report, TONE_DIM,
			"Step times are the training log's where given; as traced:%s.", traced);
	if (is_inferred)
		report_text(report, TONE_DIM,
			"Tokens of a step, over all ranks, are inferred from shapes; --tokens "
			"overrules them.");
	if (is_partial)
		report_text(report, TONE_WARN,
			"One rank's trace stands for a run: who waits for whom, and whether it is "
			"launch-bound, can't be told.");
}

static void note_launch_bound(struct report *report, const struct answer *answer)
{
	static const enum run_role roles[] = {ROLE_BASE, ROLE_CHECKPOINTED};
	const struct comparison *comparison = answer->comparison;
	if (!comparison || !comparison->launch_bound)
		return;
	struct text text = {0};
	for (int i = 0; i < 2; i++) {
		const struct breakdown *run = answer->breakdown[roles[i]];
		const int decimals = units_ms_decimals(answer->traced_step_ns[roles[i]]);
		const int64_t *range = comparison->inflation_ns[i];
		if (!run || range[1] <= 0)
			continue;
		text_add(&text, "%s%s to %s of %s's step", text.length ? ", " : "",
			units_ms_bare((double)range[0], decimals, UNITS_PLAIN).text,
			units_ms((double)range[1], decimals, UNITS_PLAIN).text,
			role_word(roles[i]));
	}
	const char *cost = report_take(report, &text);
	report_text(report, TONE_WARN,
		"Launch-bound: the GPU waits for the host in %s of base's step and %s of the "
		"checkpointed one, and the profiler's own cost is in the traced times%s%s.",
		units_percent(answer->breakdown[ROLE_BASE]->starved_frac, UNITS_PLAIN).text,
		units_percent(answer->breakdown[ROLE_CHECKPOINTED]->starved_frac, UNITS_PLAIN).text,
		cost[0] ? ": an estimated " : "", cost);
}

/* Which run the list is about, and what every time in it is for. */
static void note_advice_unit(struct report *report, const struct answer *answer)
{
	const enum run_role role = answer_candidate(answer);
	const int64_t tokens = answer->recipe[role].tokens_per_step;
	report_text(report, TONE_DIM, "In the %s run, %s; times are for one step of it%s%s%s.",
		role_word(role), answer->breakdown[role]->name, tokens == NULL_I64 ? "" : ", ",
		tokens == NULL_I64 ? "" : units_count(tokens).text,
		tokens == NULL_I64 ? "" : " tokens");
}

static void add_item(struct report *report, const struct advice *advice, int decimals)
{
	struct text moves = {0};
	if (advice->has_ns && advice->ns[0] == advice->ns[1])
		text_add(&moves, " Saves %s a step",
			units_ms((double)advice->ns[1], decimals, UNITS_PLAIN).text);
	else if (advice->has_ns && advice->ns[0] > 0)
		text_add(&moves, " Saves %s to %s a step",
			units_ms_bare((double)advice->ns[0], decimals, UNITS_PLAIN).text,
			units_ms((double)advice->ns[1], decimals, UNITS_PLAIN).text);
	else if (advice->has_ns)
		text_add(&moves, " Saves at most %s a step",
			units_ms((double)advice->ns[1], decimals, UNITS_PLAIN).text);
	if (advice->bytes != NULL_I64 && advice->bytes != 0)
		text_add(&moves, "%s %s %s a rank", moves.length ? "," : "",
			advice->bytes > 0 ? (moves.length ? "costs up to" : "Uses up to")
			: moves.length	  ? "frees"
					  : "Has to free",
			units_bytes(advice->bytes < 0 ? -advice->bytes : advice->bytes, UNITS_PLAIN)
				.text);
	const char *effect = report_take(report, &moves);
	report_item(report, "%c%s: %s.%s%s", toupper((unsigned char)advice->what[0]),
		advice->what + 1, advice->why, effect, effect[0] ? "." : "");
}

/* Remarks come last, and are none of the numbered ones: there is nothing to do. */
static void add_remarks(struct report *report, const struct answer *answer)
{
	bool is_first = true;
	for (uint32_t i = 0; i < answer->advice_count; i++) {
		const struct advice *advice = &answer->advice[i];
		if (!advice->is_remark)
			continue;
		if (is_first)
			report_heading(report, "What can't be changed");
		is_first = false;
		report_text(report, TONE_PLAIN, "%c%s: %s.",
			toupper((unsigned char)advice->what[0]), advice->what + 1, advice->why);
	}
}

static void add_advice(struct report *report, const struct answer *answer)
{
	const int decimals = units_ms_decimals(answer->traced_step_ns[answer_candidate(answer)]);
	uint32_t count = 0, saving = 0;
	for (uint32_t i = 0; i < answer->advice_count; i++) {
		count += !answer->advice[i].is_remark;
		saving += !answer->advice[i].is_remark && answer->advice[i].has_ns;
	}
	if (count) {
		report_heading(report, "What to change");
		note_advice_unit(report, answer);
		if (saving > 1)
			report_text(report, TONE_DIM,
				"Savings may contain each other: they do not add up.");
	}
	for (uint32_t i = 0; i < answer->advice_count; i++)
		if (!answer->advice[i].is_remark)
			add_item(report, &answer->advice[i], decimals);
	add_remarks(report, answer);
}

void report_verdict(struct report *report, const struct answer *answer)
{
	const enum verdict_word verdict = answer->judgement.verdict;
	const enum run_role candidate = answer_candidate(answer);
	struct findings findings = {0};
	report_lead(report, verdict_tone(verdict), (uint32_t)strlen(verdict_text(verdict)),
		answer->sentence);
	if (verdict == VERDICT_NO_OBJECTIVE)
		add_objectives(report, answer);
	add_recipes(report, answer);
	if (answer->recipe[ROLE_BASE].given && !answer->recipe[ROLE_BASE].could_not_run)
		note_noise(report, answer);
	note_sources(report, answer);
	note_launch_bound(report, answer);
	if (answer->comparison && answer->comparison->comparable)
		report_causes(report, answer);
	add_advice(report, answer);
	if (answer->breakdown[candidate]->path_is_job) {
		report_stragglers(report, answer->breakdown[candidate], answer->stragglers,
			answer->straggler_count);
	}
	if (answer->comparison && answer->comparison->comparable)
		report_evidence(report, answer);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (answer->breakdown[role])
			findings_add_run(&findings, &answer->breakdown[role]->diag,
				answer->breakdown[role]->diag_file);
	report_findings(report, &findings, false);
}
