/* What `gathers` says: each unit's gathers by reason, a step's, averaged over the ranks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/units.h"
#include "render/reports.h"

#define COLUMNS_WITH_HOW 10

/* Rows of one unit and reason, over the ranks, prefetched or not. */
struct ledger_line {
	const char *unit;
	enum gather_reason reason;
	enum how how;	/* the weakest */
	uint32_t order; /* of the unit's first row */
	double count, bytes, kernel_ns, blocked_ns, queued_ns, prefetched_count;
	double peer_wait_ns; /* NaN once one row does not know */
};

static struct ledger_line *find_line(
	struct ledger_line *lines, uint32_t *count, const struct gather_row *row)
{
	uint32_t order = *count;
	for (uint32_t i = 0; i < *count; i++) {
		if (strcmp(lines[i].unit, row->unit) != 0)
			continue;
		if (lines[i].reason == row->reason)
			return &lines[i];
		order = lines[i].order < order ? lines[i].order : order;
	}
	struct ledger_line *line = &lines[(*count)++];
	*line = (struct ledger_line){.unit = row->unit, .reason = row->reason, .order = order};
	return line;
}

static void add_row(struct ledger_line *line, const struct gather_row *row, double share)
{
	line->how = row->how > line->how ? row->how : line->how;
	line->count += share * (double)row->count;
	line->bytes += share * (double)row->bytes;
	line->kernel_ns += share * (double)row->kernel_ns;
	line->blocked_ns += share * (double)row->blocked_ns;
	line->queued_ns += share * (double)row->queued_behind_ns;
	line->peer_wait_ns +=
		row->peer_wait_ns == NULL_I64 ? NAN : share * (double)row->peer_wait_ns;
	if (row->prefetched)
		line->prefetched_count += share * (double)row->count;
}

static int by_unit_and_reason(const void *left, const void *right)
{
	const struct ledger_line *a = left, *b = right;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (int)a->reason - (int)b->reason;
}

/* NULL after a failure. */
static struct ledger_line *collect(
	struct report *report, const struct breakdown *run, uint32_t *ret_count)
{
	uint32_t row_count = 0;
	for (uint32_t r = 0; r < run->rank_count; r++)
		row_count += run->ranks[r].gather_count;
	struct ledger_line *lines =
		arena_new(&report->arena, row_count, sizeof *lines, &report->err);
	*ret_count = 0;
	for (uint32_t r = 0; lines && r < run->rank_count; r++) {
		const struct rank_result *rank = &run->ranks[r];
		const double share =
			rank->steps_used ? 1.0 / rank->steps_used / run->rank_count : 0;
		for (uint32_t i = 0; i < rank->gather_count; i++)
			add_row(find_line(lines, ret_count, &rank->gathers[i]), &rank->gathers[i],
				share);
	}
	if (lines)
		qsort(lines, *ret_count, sizeof *lines, by_unit_and_reason);
	return lines;
}

static void add_line(struct report *report, struct report_table *table,
	const struct ledger_line *line, const char *unit, int decimals)
{
	const enum tone tone = line->reason == GATHER_REPEAT ? TONE_BAD : TONE_PLAIN;
	report_cell(report, table, TONE_PLAIN, "%s", unit);
	report_cell(report, table, tone, "%s", gather_word(line->reason));
	report_cell(report, table, tone, "%.4g", line->count);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_bytes((int64_t)(line->count > 0 ? line->bytes / line->count : 0), UNITS_PLAIN)
			.text);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_ms_bare(line->kernel_ns, decimals, UNITS_PLAIN).text);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_ms_bare(line->blocked_ns, decimals, UNITS_PLAIN).text);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_ms_bare(line->peer_wait_ns, decimals, UNITS_PLAIN).text);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_ms_bare(line->queued_ns, decimals, UNITS_PLAIN).text);
	report_cell(report, table, TONE_PLAIN, "%s",
		units_percent(
			line->count > 0 ? line->prefetched_count / line->count : NAN, UNITS_PLAIN)
			.text);
	/* Where all are told the same way, there is no such column. */
	if (table && table->column_count == COLUMNS_WITH_HOW)
		report_cell(report, table, TONE_DIM, "%s", how_word(line->how));
	report_row(report, table);
}

/* One line a reason, over the units. */
static void add_totals(struct report *report, struct report_table *table,
	const struct ledger_line *lines, uint32_t count, int decimals)
{
	for (int reason = 0; reason < GATHER_COUNT; reason++) {
		struct ledger_line sum = {.reason = (enum gather_reason)reason};
		for (uint32_t i = 0; i < count; i++) {
			if (lines[i].reason != sum.reason)
				continue;
			sum.how = lines[i].how > sum.how ? lines[i].how : sum.how;
			sum.count += lines[i].count;
			sum.bytes += lines[i].bytes;
			sum.kernel_ns += lines[i].kernel_ns;
			sum.blocked_ns += lines[i].blocked_ns;
			sum.queued_ns += lines[i].queued_ns;
			sum.peer_wait_ns += lines[i].peer_wait_ns;
			sum.prefetched_count += lines[i].prefetched_count;
		}
		if (sum.count > 0)
			add_line(report, table, &sum, "all units", decimals);
	}
}

static void add_summary(struct report *report, const struct ledger_line *lines, uint32_t count)
{
	double repeats = 0, unknown = 0;
	for (uint32_t i = 0; i < count; i++) {
		repeats += lines[i].reason == GATHER_REPEAT ? lines[i].count : 0;
		unknown += lines[i].reason == GATHER_UNKNOWN ? lines[i].count : 0;
	}
	if (repeats > 0)
		report_text(report, TONE_BAD,
			"%.4g gathers a step repeat what the pass had gathered already.", repeats);
	else if (!(unknown > 0))
		report_text(report, TONE_GOOD, "No gather is repeated.");
	if (unknown > 0)
		report_text(report, TONE_WARN, "Of %.4g gathers a step the reason is unknown.",
			unknown);
}

static bool is_told_one_way(const struct ledger_line *lines, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (lines[i].how != lines[0].how)
			return false;
	return true;
}

static void add_run(struct report *report, const struct breakdown *run)
{
	static const struct report_column columns[] = {
		{"unit", ALIGN_CUT},
		{"reason", ALIGN_LEFT},
		{"a step", ALIGN_RIGHT},
		{"each", ALIGN_RIGHT},
		{"GPU ms", ALIGN_RIGHT},
		{"blocked", ALIGN_RIGHT},
		{"peers", ALIGN_RIGHT},
		{"queued", ALIGN_RIGHT},
		{"ahead", ALIGN_RIGHT},
		{"how", ALIGN_LEFT},
	};
	uint32_t count;
	const struct ledger_line *lines = collect(report, run, &count);
	double step_ns = 0;
	for (uint32_t i = 0; i < run->path_count; i++)
		if (run->path[i].used)
			step_ns += (double)run->path[i].wall_ns / run->path_used;
	const int decimals = units_ms_decimals(step_ns);
	report_heading(report, "%s: all-gathers a step of %s, averaged over %u rank%s", run->name,
		units_ms(step_ns, decimals, UNITS_PLAIN).text, run->rank_count,
		run->rank_count == 1 ? "" : "s");
	if (!count) {
		report_text(report, TONE_PLAIN,
			"No all-gather was seen. Copies and fused kernels are not counted.");
		return;
	}
	const bool is_one_way = !lines || is_told_one_way(lines, count);
	struct report_table *table =
		report_table(report, columns, is_one_way ? COLUMNS_WITH_HOW - 1 : COLUMNS_WITH_HOW);
	for (uint32_t i = 0; lines && i < count; i++) {
		const bool is_same = i && lines[i].order == lines[i - 1].order;
		add_line(report, table, &lines[i], is_same ? "" : lines[i].unit, decimals);
	}
	add_totals(report, table, lines, count, decimals);
	add_summary(report, lines, count);
	report_text(report, TONE_DIM,
		"Times in ms. blocked: the GPU waits for it; peers: of its time, waiting for other "
		"ranks; queued: in line behind other collectives; ahead: prefetched.");
	if (lines && is_one_way)
		report_text(report, TONE_DIM, "Units and reasons are %s.", how_word(lines[0].how));
}

void report_gathers(struct report *report, const struct breakdown *const *runs, uint32_t run_count)
{
	struct findings findings = {0};
	for (uint32_t i = 0; i < run_count; i++) {
		add_run(report, runs[i]);
		findings_add_run(&findings, &runs[i]->diag, runs[i]->diag_file);
	}
	report_findings(report, &findings, false);
}
