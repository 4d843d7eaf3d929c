/* What `info` and `import` say, and the diagnostics of every report. */
#include <stdio.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "render/reports.h"

static enum tone severity_tone(enum severity severity)
{
	return severity == SEVERITY_INFO    ? TONE_DIM
	       : severity == SEVERITY_ERROR ? TONE_BAD
					    : TONE_WARN;
}

static void add_finding(struct report *report, const struct findings *findings, enum diag_kind kind)
{
	const struct diag_row *row = &findings->diag.row[kind];
	const enum severity severity = diag_severity(kind);
	const char *file = findings->file[kind];
	char name[96], byte[48] = "";
	snprintf(name, sizeof name, "%s %s (%s)", diag_word(kind), units_count(row->count).text,
		severity == SEVERITY_DATA_LOSS ? "data loss" : severity_word(severity));
	if (file && row->first_byte >= 0)
		snprintf(byte, sizeof byte, " at byte %lld", (long long)row->first_byte);
	report_named(report, severity_tone(severity), name, "%s%s%s%s", diag_meaning(kind),
		file ? "; first in " : "", file ? file : "", byte);
}

static bool is_shown(const struct findings *findings, int kind, bool in_full)
{
	return findings->diag.row[kind].count &&
	       (in_full || diag_severity((enum diag_kind)kind) != SEVERITY_INFO);
}

void report_findings(struct report *report, const struct findings *findings, bool in_full)
{
	struct text rest = {0};
	bool has_shown = false;
	report_heading(report, "Diagnostics");
	for (int kind = 0; kind < DIAG_KIND_COUNT; kind++) {
		if (is_shown(findings, kind, in_full)) {
			add_finding(report, findings, (enum diag_kind)kind);
			has_shown = true;
		} else if (findings->diag.row[kind].count) {
			text_add(&rest, "%s%s %s", rest.length ? ", " : "",
				diag_word((enum diag_kind)kind),
				units_count(findings->diag.row[kind].count).text);
		}
	}
	const char *others = report_take(report, &rest);
	if (others[0])
		report_text(report, TONE_DIM, "%s (see inquest info): %s.",
			has_shown ? "Also" : "Nothing is lost. Worth knowing", others);
	else if (!has_shown)
		report_text(report, TONE_DIM, "Nothing is lost, nothing is odd.");
}

/* What an answer needs: stacks are asked for by nobody. */
static void add_lacking(struct report *report, struct report_table *table, struct trace_has has)
{
	const struct {
		const char *name;
		bool has;
	} parts[] = {
		{"shapes", has.shapes},
		{"memory", has.memory},
		{"edges", has.sync_edges},
		{"nccl", has.nccl},
	};
	struct text lacking = {0};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!parts[i].has)
			text_add(&lacking, "%s%s", lacking.length ? ", " : "", parts[i].name);
	const char *words = report_take(report, &lacking);
	report_cell(report, table, words[0] ? TONE_WARN : TONE_PLAIN, "%s",
		words[0] ? words : "nothing");
}

/* The last part of a path: the folder stands in the run's heading. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static bool is_imported(const struct inventory_rank *rank)
{
	return strcmp(rank->file, rank->opened) != 0;
}

/* Diagnostics name what a file was imported from, since their bytes are of that. */
static bool has_imported(const struct inventory_run *run)
{
	for (uint32_t i = 0; i < run->rank_count; i++)
		if (is_imported(&run->ranks[i]))
			return true;
	return false;
}

static void add_inventory_run(struct report *report, const struct inventory_run *run)
{
	static const struct report_column columns[] = {
		{"rank", ALIGN_RIGHT}, {"source", ALIGN_LEFT}, {"events", ALIGN_RIGHT},
		{"GPU ops", ALIGN_RIGHT}, {"steps", ALIGN_RIGHT}, {"lacks", ALIGN_LEFT},
		{"file", ALIGN_CUT}, {"imported from", ALIGN_CUT}, /* where one was */
	};
	const bool has_origin = has_imported(run);
	const char *gpu = run->rank_count && run->ranks[0].gpu[0] ? run->ranks[0].gpu : NULL;
	report_heading(report, "%s: %u of %s ranks%s%s", run->name, run->rank_count,
		run->world_size == NULL_I32 ? "an unknown number of"
					    : units_count(run->world_size).text,
		gpu ? ", " : "", gpu ? gpu : "");
	struct report_table *table = report_table(report, columns, has_origin ? 8 : 7);
	for (uint32_t i = 0; i < run->rank_count; i++) {
		const struct inventory_rank *rank = &run->ranks[i];
		report_cell(report, table, TONE_PLAIN, "%s",
			rank->rank == NULL_I32 ? "?" : units_count(rank->rank).text);
		report_cell(report, table, TONE_PLAIN, "%s", inventory_source_word(rank->source));
		report_cell(report, table, TONE_PLAIN, "%s", units_count(rank->event_count).text);
		report_cell(report, table, rank->gpu_op_count ? TONE_PLAIN : TONE_WARN, "%s",
			units_count(rank->gpu_op_count).text);
		report_cell(report, table, TONE_PLAIN, "%s", units_count(rank->step_count).text);
		add_lacking(report, table, rank->told);
		report_cell(report, table, TONE_PLAIN, "%s", file_name(rank->opened));
		if (has_origin)
			report_cell(report, table, TONE_PLAIN, "%s",
				is_imported(rank) ? file_name(rank->file) : "");
		report_row(report, table);
	}
}

/* What a recording lacks, and what that costs the reader. */
static void note_missing(struct report *report, const struct inventory *inventory)
{
	struct trace_has all = {true, true, true, true, true};
	bool has_hook = true;
	for (uint32_t i = 0; i < inventory->run_count; i++)
		for (uint32_t k = 0; k < inventory->runs[i].rank_count; k++) {
			const struct inventory_rank *rank = &inventory->runs[i].ranks[k];
			const bool is_ours = rank->source == SOURCE_RECORDER;
			all.shapes = all.shapes && (rank->told.shapes || is_ours);
			all.memory = all.memory && (rank->told.memory || is_ours);
			all.nccl = all.nccl && rank->told.nccl;
			has_hook =
				has_hook && (!is_ours || (rank->told.shapes && rank->told.memory));
		}
	if (!has_hook)
		report_text(report, TONE_DIM,
			"Without the marks of inquest record's hook, tokens, FLOPs or peak memory "
			"can't be told: give --tokens; no verdict on memory.");
	if (!all.shapes)
		report_text(report, TONE_DIM,
			"Without shapes (record_shapes=True), tokens and FLOPs can't be told: "
			"give --tokens.");
	if (!all.memory)
		report_text(report, TONE_DIM,
			"Without memory events (profile_memory=True), peak memory can't be told: "
			"no verdict on memory.");
	if (!all.nccl)
		report_text(report, TONE_DIM,
			"Without sizes of collectives, gathers are counted but not weighed.");
}

void report_info(struct report *report, const struct inventory *inventory)
{
	for (uint32_t i = 0; i < inventory->run_count; i++)
		add_inventory_run(report, &inventory->runs[i]);
	note_missing(report, inventory);
	report_findings(report, &inventory->findings, true);
}

void report_import(struct report *report, const struct kept *kept)
{
	static const struct report_column columns[] = {
		{"rank", ALIGN_RIGHT},
		{"size", ALIGN_RIGHT},
		{"file", ALIGN_CUT},
	};
	report_heading(report, "Kept");
	struct report_table *table = report_table(report, columns, 3);
	for (uint32_t i = 0; i < kept->count; i++) {
		const struct kept_file *file = &kept->files[i];
		report_cell(report, table, TONE_PLAIN, "%s",
			file->rank == NULL_I32 ? "?" : units_count(file->rank).text);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes(file->bytes, UNITS_PLAIN).text);
		report_cell(report, table, TONE_PLAIN, "%s", file->path);
		report_row(report, table);
	}
	report_findings(report, &kept->findings, true);
}
