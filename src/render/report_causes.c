/* The causes under their headlines, with bars to both sides, and the evidence. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "render/reports.h"

#define SHORT_NS	   1e5 /* shown in microseconds below */
#define EVIDENCE_PER_CAUSE 3
#define EVIDENCE_MIN_FRAC  0.01 /* of base's step: smaller causes show no evidence */

static enum tone cost_tone(const struct comparison *comparison, int64_t ns)
{
	/* What is smaller than the noise gets no colour: it may be nothing. */
	if (llabs(ns) <= comparison->noise_ns || ns == 0)
		return TONE_PLAIN;
	return ns > 0 ? TONE_BAD : TONE_GOOD;
}

static bool has_intervals(const struct comparison *comparison)
{
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (comparison->causes[i].ci95_ns[0] != NULL_I64)
			return true;
	return false;
}

static void add_number(
	struct report *report, struct report_table *table, enum tone tone, int64_t ns, int decimals)
{
	if (ns == 0)
		report_cell(report, table, TONE_DIM, "0");
	else
		report_cell(report, table, tone, "%s",
			units_ms_bare((double)ns, decimals, UNITS_SIGNED).text);
}

static void add_cause(struct report *report, struct report_table *table,
	const struct comparison *comparison, enum cause cause, int decimals)
{
	const struct cause_result *result = &comparison->causes[cause];
	const enum tone tone = cost_tone(comparison, result->ns);
	report_cell(report, table, TONE_PLAIN, "  %s", cause_word(cause));
	add_number(report, table, tone, result->ns, decimals);
	report_bar(report, table, tone, (double)result->ns);
	if (has_intervals(comparison)) {
		if (result->ci95_ns[0] == NULL_I64)
			report_blank(report, table);
		else
			report_cell(report, table, TONE_DIM, "%s to %s",
				units_ms_bare((double)result->ci95_ns[0], decimals, UNITS_SIGNED)
					.text,
				units_ms_bare((double)result->ci95_ns[1], decimals, UNITS_SIGNED)
					.text);
	}
	if (result->ns != 0)
		report_cell(report, table, TONE_DIM, "%s", how_word(result->how));
	report_row(report, table);
}

static void add_headline(struct report *report, struct report_table *table,
	const struct comparison *comparison, enum headline headline, int decimals)
{
	int64_t sum = 0;
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (cause_headline((enum cause)i) == headline)
			sum += comparison->causes[i].ns;
	report_cell(report, table, TONE_STRONG, "%s", headline_word(headline));
	add_number(report, table, TONE_STRONG, sum, decimals);
	report_row(report, table);
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (cause_headline((enum cause)i) == headline &&
			(comparison->causes[i].ns != 0 || i == CAUSE_OTHER))
			add_cause(report, table, comparison, (enum cause)i, decimals);
}

static void add_causes(struct report *report, const struct comparison *comparison, int decimals)
{
	static const struct report_column with_intervals[] = {
		{"cause", ALIGN_LEFT},
		{"ms", ALIGN_RIGHT},
		{"", ALIGN_BAR},
		{"95 %", ALIGN_RIGHT},
		{"how", ALIGN_LEFT},
	};
	static const struct report_column plain[] = {
		{"cause", ALIGN_LEFT},
		{"ms", ALIGN_RIGHT},
		{"", ALIGN_BAR},
		{"how", ALIGN_LEFT},
	};
	const bool has = has_intervals(comparison);
	struct report_table *table =
		report_table(report, has ? with_intervals : plain, has ? 5 : 4);
	for (int i = 0; i < HEADLINE_COUNT; i++)
		add_headline(report, table, comparison, (enum headline)i, decimals);
	report_cell(report, table, TONE_STRONG, "difference of the steps");
	add_number(report, table, TONE_STRONG, comparison->delta_ns, decimals);
	if (has && comparison->delta_ci95_ns[0] != NULL_I64) {
		report_blank(report, table);
		report_cell(report, table, TONE_DIM, "%s to %s",
			units_ms_bare((double)comparison->delta_ci95_ns[0], decimals, UNITS_SIGNED)
				.text,
			units_ms_bare((double)comparison->delta_ci95_ns[1], decimals, UNITS_SIGNED)
				.text);
	}
	report_row(report, table);
	if (comparison->is_floor)
		report_text(report, TONE_DIM,
			"A floor of %s stands in for intervals: smaller numbers may be noise.",
			units_ms((double)comparison->noise_ns, decimals, UNITS_PLAIN).text);
}

static void add_value(struct report *report, struct report_table *table, double value,
	const char *unit, int decimals)
{
	if (isnan(value))
		report_cell(report, table, TONE_DIM, "?");
	else if (strcmp(unit, "ns") == 0 && value != 0 && fabs(value) < SHORT_NS)
		report_cell(report, table, TONE_PLAIN, "%.1f us", value / 1e3);
	else if (strcmp(unit, "ns") == 0)
		report_cell(report, table, TONE_PLAIN, "%s",
			units_ms(value, decimals, UNITS_PLAIN).text);
	else if (strcmp(unit, "bytes") == 0)
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes((int64_t)value, UNITS_PLAIN).text);
	else if (strcmp(unit, "flop") == 0)
		report_cell(report, table, TONE_PLAIN, "%.2f TFLOP", value / 1e12);
	else
		report_cell(report, table, TONE_PLAIN, "%.5g", value);
}

static void add_evidence(struct report *report, const struct comparison *comparison, int decimals)
{
	static const struct report_column columns[] = {
		{"cause", ALIGN_LEFT},
		{"base", ALIGN_RIGHT},
		{"checkpointed", ALIGN_RIGHT},
		{"of", ALIGN_CUT},
	};
	struct report_table *table = NULL;
	for (int i = 0; i < CAUSE_COUNT; i++) {
		const struct cause_result *cause = &comparison->causes[i];
		const bool is_large =
			(double)llabs(cause->ns) >= EVIDENCE_MIN_FRAC * (double)comparison->base_ns;
		for (uint32_t k = 0; is_large && k < cause->evidence_count; k++) {
			const struct evidence *evidence = &cause->evidence[k];
			if (k == EVIDENCE_PER_CAUSE)
				break;
			if (!table) {
				report_heading(report, "Evidence, a step");
				table = report_table(report, columns, 4);
			}
			report_cell(report, table, TONE_PLAIN, "%s",
				k ? "" : cause_word((enum cause)i));
			add_value(report, table, evidence->base, evidence->unit, decimals);
			add_value(report, table, evidence->checkpointed, evidence->unit, decimals);
			report_cell(
				report, table, TONE_PLAIN, "%s %s", evidence->kind, evidence->name);
			report_row(report, table);
		}
	}
}

/* The heading says which difference is split: the traced one, which may not be the log's. */
static void add_causes_heading(struct report *report, const struct answer *answer, int decimals)
{
	const struct comparison *comparison = answer->comparison;
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *checkpointed = &answer->recipe[ROLE_CHECKPOINTED];
	const struct units delta = units_ms((double)comparison->delta_ns, decimals, UNITS_SIGNED);
	if (base->step_time_given || checkpointed->step_time_given)
		report_heading(report, "Where the traced %s come from (the log's: %s)", delta.text,
			units_ms(checkpointed->step_ns - base->step_ns, decimals, UNITS_SIGNED)
				.text);
	else if (comparison->normalised_to_tokens)
		report_heading(report, "Where the %s come from (for %s tokens, base's step)",
			delta.text, units_count(base->tokens_per_step).text);
	else
		report_heading(report, "Where the %s come from", delta.text);
}

void report_causes(struct report *report, const struct answer *answer)
{
	const struct comparison *comparison = answer->comparison;
	const int decimals = units_ms_decimals((double)comparison->base_ns);
	add_causes_heading(report, answer, decimals);
	add_causes(report, comparison, decimals);
	for (int i = 0; i < CAUSE_COUNT; i++)
		if (comparison->causes[i].words)
			report_named(report, TONE_STRONG, cause_word((enum cause)i), "%s",
				comparison->causes[i].words);
	const bool is_only = comparison->checkpointing_is_only_difference;
	for (uint32_t i = 0; i < comparison->difference_count; i++)
		report_text(report, is_only ? TONE_DIM : TONE_WARN, "%s: %s.",
			is_only ? "Checkpointing is the only difference found" : "The runs differ",
			comparison->differences[i]);
}

void report_evidence(struct report *report, const struct answer *answer)
{
	const struct comparison *comparison = answer->comparison;
	add_evidence(report, comparison, units_ms_decimals((double)comparison->base_ns));
}
