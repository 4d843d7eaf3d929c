/* What `breakdown` says: where the step goes, on the path and on each rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"
#include "render/reports.h"

#define RANKS_SHOWN 4 /* with more, their least, median and most stand in */

/* A line of the table: a kind of part, by what a reader tells apart. */
struct share {
	uint8_t state, phase, on, reason;
	double path_ns;
	double *rank_ns; /* by rank, a step's */
	double worth_ns; /* the largest of them: the order within a state */
};

struct shares {
	struct share *items;
	uint32_t count;
};

static uint8_t phase_of(const struct part *part)
{
	const bool has_phase = part->state == STATE_BUSY ||
			       (part->state == STATE_STARVED && part->reason == STARVE_DISPATCH);
	return has_phase ? part->phase : WORD_NONE;
}

static struct share *find_share(
	struct report *report, struct shares *shares, const struct part *part, uint32_t rank_count)
{
	const uint8_t phase = phase_of(part);
	for (uint32_t i = 0; i < shares->count; i++) {
		struct share *share = &shares->items[i];
		if (share->state == part->state && share->phase == phase && share->on == part->on &&
			share->reason == part->reason)
			return share;
	}
	double *rank_ns = arena_new(&report->arena, rank_count, sizeof *rank_ns, &report->err);
	if (!rank_ns)
		return NULL;
	struct share *share = &shares->items[shares->count++];
	*share = (struct share){.state = part->state,
		.phase = phase,
		.on = part->on,
		.reason = part->reason,
		.rank_ns = rank_ns};
	return share;
}

static int by_state_and_worth(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	if (a->state != b->state)
		return (int)a->state - (int)b->state;
	if (a->worth_ns != b->worth_ns)
		return a->worth_ns < b->worth_ns ? 1 : -1;
	if (a->phase != b->phase)
		return (int)a->phase - (int)b->phase;
	return a->on != b->on ? (int)a->on - (int)b->on : (int)a->reason - (int)b->reason;
}

static void add_path(struct report *report, struct shares *shares, const struct breakdown *run)
{
	for (uint32_t i = 0; i < run->path_count; i++) {
		const struct path_step *step = &run->path[i];
		for (uint32_t k = 0; step->used && k < step->parts.count; k++) {
			const struct part *part = &step->parts.items[k];
			struct share *share = find_share(report, shares, part, run->rank_count);
			if (share)
				share->path_ns += (double)part->ns / run->path_used;
		}
	}
}

static void add_ranks(struct report *report, struct shares *shares, const struct breakdown *run)
{
	for (uint32_t r = 0; r < run->rank_count; r++) {
		const struct rank_result *rank = &run->ranks[r];
		for (uint32_t i = 0; i < rank->step_count; i++) {
			const struct step_part *step = &rank->steps[i];
			for (uint32_t k = 0; step->used && k < step->parts.count; k++) {
				const struct part *part = &step->parts.items[k];
				struct share *share =
					find_share(report, shares, part, run->rank_count);
				if (share)
					share->rank_ns[r] += (double)part->ns / rank->steps_used;
			}
		}
	}
}

/* Kinds of parts are few: every state with every phase, holder and reason. */
#define SHARES_MAX \
	(STATE_COUNT * (PHASE_COUNT + 1) * (HOLDER_COUNT + 1) * (STARVE_COUNT + GATHER_COUNT + 1))

static struct shares collect(struct report *report, const struct breakdown *run)
{
	struct shares shares = {
		.items = arena_new(&report->arena, SHARES_MAX, sizeof *shares.items, &report->err)};
	if (!shares.items)
		return shares;
	add_path(report, &shares, run);
	add_ranks(report, &shares, run);
	for (uint32_t i = 0; i < shares.count; i++) {
		struct share *share = &shares.items[i];
		share->worth_ns = share->path_ns;
		for (uint32_t r = 0; r < run->rank_count; r++)
			share->worth_ns = fmax(share->worth_ns, share->rank_ns[r]);
	}
	qsort(shares.items, shares.count, sizeof *shares.items, by_state_and_worth);
	return shares;
}

static void name_share(struct report *report, struct report_table *table, const struct share *share)
{
	if (share->state == STATE_BUSY) {
		report_cell(report, table, TONE_PLAIN, "  %s",
			share->phase == WORD_NONE ? "?" : phase_word((enum phase)share->phase));
	} else if (share->state == STATE_BLOCKED) {
		const bool has_reason = share->reason != WORD_NONE;
		report_cell(report, table, TONE_PLAIN, "  on %s%s%s",
			share->on == WORD_NONE ? "?" : holder_word((enum holder)share->on),
			has_reason ? " " : "",
			has_reason ? gather_word((enum gather_reason)share->reason) : "");
	} else {
		const bool has_phase = share->phase != WORD_NONE;
		report_cell(report, table, TONE_PLAIN, "  %s%s%s",
			share->reason == WORD_NONE ? "?"
						   : starve_word((enum starve_reason)share->reason),
			has_phase ? " " : "",
			has_phase ? phase_word((enum phase)share->phase) : "");
	}
}

static void add_ns(
	struct report *report, struct report_table *table, enum tone tone, double ns, int decimals)
{
	if (ns == 0)
		report_cell(report, table, TONE_DIM, "-");
	else
		report_cell(
			report, table, tone, "%s", units_ms_bare(ns, decimals, UNITS_PLAIN).text);
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Each rank's number, or least, median and most of many. */
static void add_rank_cells(struct report *report, struct report_table *table, enum tone tone,
	const double *rank_ns, uint32_t rank_count, int decimals)
{
	if (rank_count <= RANKS_SHOWN) {
		for (uint32_t r = 0; r < rank_count; r++)
			add_ns(report, table, tone, rank_ns[r], decimals);
		return;
	}
	double *sorted = arena_new(&report->arena, rank_count, sizeof *sorted, &report->err);
	if (!sorted)
		return;
	memcpy(sorted, rank_ns, rank_count * sizeof *sorted);
	qsort(sorted, rank_count, sizeof *sorted, by_value);
	add_ns(report, table, tone, sorted[0], decimals);
	add_ns(report, table, tone, sorted[rank_count / 2], decimals);
	add_ns(report, table, tone, sorted[rank_count - 1], decimals);
}

/* The sum of a state's lines, or with STATE_COUNT of all. */
static void add_sum(struct report *report, struct report_table *table, const char *name,
	const struct shares *shares, uint32_t state, uint32_t rank_count, double step_ns,
	int decimals)
{
	double *rank_ns = arena_new(&report->arena, rank_count, sizeof *rank_ns, &report->err);
	double path_ns = 0;
	if (!rank_ns)
		return;
	for (uint32_t i = 0; i < shares->count; i++) {
		const struct share *share = &shares->items[i];
		if (state != STATE_COUNT && share->state != state)
			continue;
		path_ns += share->path_ns;
		for (uint32_t r = 0; r < rank_count; r++)
			rank_ns[r] += share->rank_ns[r];
	}
	report_cell(report, table, TONE_STRONG, "%s", name);
	add_ns(report, table, TONE_STRONG, path_ns, decimals);
	report_cell(report, table, TONE_STRONG, "%s",
		units_percent(step_ns > 0 ? path_ns / step_ns : NAN, UNITS_PLAIN).text);
	report_blank(report, table);
	add_rank_cells(report, table, TONE_STRONG, rank_ns, rank_count, decimals);
	report_row(report, table);
}

static struct report_table *shares_table(struct report *report, const struct breakdown *run)
{
	static const struct report_column first[] = {{"ms a step", ALIGN_LEFT},
		{"path", ALIGN_RIGHT}, {"", ALIGN_RIGHT}, {"", ALIGN_BAR}};
	static const char *const many[] = {"least", "median", "most"};
	const bool is_many = run->rank_count > RANKS_SHOWN;
	const uint32_t count = 4 + (is_many ? 3 : run->rank_count);
	struct report_column *columns =
		arena_new(&report->arena, count, sizeof *columns, &report->err);
	if (!columns)
		return NULL;
	memcpy(columns, first, sizeof first);
	for (uint32_t i = 4; i < count; i++) {
		columns[i].align = ALIGN_RIGHT;
		columns[i].name = is_many ? many[i - 4]
					  : arena_format(&report->arena, &report->err, "rank %d",
						    run->ranks[i - 4].rank);
		if (!columns[i].name)
			return NULL;
	}
	return report_table(report, columns, count);
}

static void add_shares(struct report *report, const struct breakdown *run, double step_ns)
{
	const int decimals = units_ms_decimals(step_ns);
	const struct shares shares = collect(report, run);
	struct report_table *table = shares_table(report, run);
	for (uint32_t state = 0; state < STATE_COUNT; state++) {
		bool has_name = false;
		for (uint32_t i = 0; i < shares.count; i++) {
			struct share *share = &shares.items[i];
			if (share->state != state)
				continue;
			if (!has_name)
				add_sum(report, table, state_word((enum state)state), &shares,
					state, run->rank_count, step_ns, decimals);
			has_name = true;
			name_share(report, table, share);
			add_ns(report, table, TONE_PLAIN, share->path_ns, decimals);
			report_cell(report, table, TONE_DIM, "%s",
				share->path_ns > 0
					? units_percent(share->path_ns / step_ns, UNITS_PLAIN).text
					: "");
			report_bar(report, table, TONE_PLAIN, share->path_ns);
			add_rank_cells(report, table, TONE_PLAIN, share->rank_ns, run->rank_count,
				decimals);
			report_row(report, table);
		}
	}
	add_sum(report, table, "step", &shares, STATE_COUNT, run->rank_count, step_ns, decimals);
}

/* One step of the path or of a rank, as a row. */
static void add_step_row(struct report *report, struct report_table *table, const char *who,
	const char *name, bool is_used, int64_t wall_ns, const struct part_list *parts,
	int decimals)
{
	double busy[PHASE_COUNT] = {0}, state[STATE_COUNT] = {0};
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->items[i];
		state[part->state] += (double)part->ns;
		if (part->state == STATE_BUSY && part->phase < PHASE_COUNT)
			busy[part->phase] += (double)part->ns;
	}
	const enum tone tone = is_used ? TONE_PLAIN : TONE_DIM;
	report_cell(report, table, tone, "%s", who);
	report_cell(report, table, tone, "%s%s", name, is_used ? "" : " (left out)");
	add_ns(report, table, tone, (double)wall_ns, decimals);
	for (int phase = 0; phase < PHASE_COUNT; phase++)
		add_ns(report, table, tone, busy[phase], decimals);
	add_ns(report, table, tone, state[STATE_BLOCKED], decimals);
	add_ns(report, table, tone, state[STATE_STARVED], decimals);
	report_row(report, table);
}

static void add_steps(struct report *report, const struct breakdown *run, int decimals)
{
	static const struct report_column columns[] = {
		{"", ALIGN_LEFT},
		{"step", ALIGN_CUT},
		{"ms", ALIGN_RIGHT},
		{"forw", ALIGN_RIGHT},
		{"recomp", ALIGN_RIGHT},
		{"backw", ALIGN_RIGHT},
		{"optim", ALIGN_RIGHT},
		{"fsdp", ALIGN_RIGHT},
		{"unkn", ALIGN_RIGHT},
		{"blocked", ALIGN_RIGHT},
		{"starved", ALIGN_RIGHT},
	};
	report_heading(report, "%s: every step, ms", run->name);
	struct report_table *table = report_table(report, columns, 11);
	for (uint32_t i = 0; i < run->path_count; i++) {
		const struct path_step *step = &run->path[i];
		add_step_row(report, table, "path", step->name, step->used, step->wall_ns,
			&step->parts, decimals);
	}
	for (uint32_t r = 0; r < run->rank_count; r++)
		for (uint32_t i = 0; i < run->ranks[r].step_count; i++) {
			const struct step_part *step = &run->ranks[r].steps[i];
			const char *who = arena_format(
				&report->arena, &report->err, "rank %d", run->ranks[r].rank);
			if (who)
				add_step_row(report, table, who, step->name, step->used,
					step->wall_ns, &step->parts, decimals);
		}
}

static struct units tflop(int64_t flop)
{
	struct units out = {"?"};
	if (flop != NULL_I64)
		snprintf(out.text, sizeof out.text, "%.2f", (double)flop / 1e12);
	return out;
}

static void add_memory(struct report *report, const struct breakdown *run)
{
	static const struct report_column columns[] = {
		{"rank", ALIGN_RIGHT},
		{"allocated", ALIGN_RIGHT},
		{"reserved", ALIGN_RIGHT},
		{"retries", ALIGN_RIGHT},
	};
	report_heading(report, "%s: peak memory", run->name);
	struct report_table *table = report_table(report, columns, 4);
	for (uint32_t r = 0; r < run->rank_count; r++) {
		const struct memory_use *memory = &run->ranks[r].memory;
		report_cell(report, table, TONE_PLAIN, "%d", run->ranks[r].rank);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes(memory->peak_allocated_bytes, UNITS_PLAIN).text);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_bytes(memory->peak_reserved_bytes, UNITS_PLAIN).text);
		report_cell(report, table, memory->alloc_retries > 0 ? TONE_BAD : TONE_PLAIN, "%s",
			units_count(memory->alloc_retries).text);
		report_row(report, table);
	}
}

static void add_flops(struct report *report, const struct breakdown *run)
{
	static const struct report_column columns[] = {
		{"rank", ALIGN_RIGHT},
		{"forward", ALIGN_RIGHT},
		{"recompute", ALIGN_RIGHT},
		{"backward", ALIGN_RIGHT},
		{"TFLOP/s", ALIGN_RIGHT},
		{"MFU", ALIGN_RIGHT},
	};
	report_heading(report, "%s: TFLOP a step", run->name);
	struct report_table *table = report_table(report, columns, 6);
	for (uint32_t r = 0; r < run->rank_count; r++) {
		const struct flop_use *flops = &run->ranks[r].flops;
		report_cell(report, table, TONE_PLAIN, "%d", run->ranks[r].rank);
		report_cell(report, table, TONE_PLAIN, "%s", tflop(flops->forward_flop).text);
		report_cell(report, table, TONE_PLAIN, "%s", tflop(flops->recompute_flop).text);
		report_cell(report, table, TONE_PLAIN, "%s", tflop(flops->backward_flop).text);
		if (isnan(flops->achieved_flop_per_s))
			report_cell(report, table, TONE_PLAIN, "?");
		else
			report_cell(report, table, TONE_PLAIN, "%.0f",
				flops->achieved_flop_per_s / 1e12);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_percent(flops->mfu, UNITS_PLAIN).text);
		report_row(report, table);
	}
}

/* The ops of the first rank that has such. */
static void name_uncounted(struct report *report, const struct breakdown *run)
{
	const struct flop_use *flops = NULL;
	for (uint32_t r = 0; r < run->rank_count && !flops; r++)
		if (run->ranks[r].flops.unknown_op_count)
			flops = &run->ranks[r].flops;
	if (!flops)
		return;
	struct text names = {0};
	for (uint32_t i = 0; i < flops->unknown_op_count && i < 5; i++)
		text_add(&names, "%s%s (%lld)", i ? ", " : "", flops->unknown_ops[i].name,
			(long long)flops->unknown_ops[i].count);
	report_text(report, TONE_DIM, "Not counted, FLOPs unknown: %s%s.",
		report_take(report, &names), flops->unknown_op_count > 5 ? ", ..." : "");
}

static void add_run(struct report *report, const struct breakdown *run, bool has_steps)
{
	double step_ns = 0;
	for (uint32_t i = 0; i < run->path_count; i++)
		if (run->path[i].used)
			step_ns += (double)run->path[i].wall_ns / run->path_used;
	const int decimals = units_ms_decimals(step_ns);
	report_heading(report, "%s: %s a step on %s, %s tokens (%s), %u of %u steps used",
		run->name, units_ms(step_ns, decimals, UNITS_PLAIN).text,
		run->path_is_job ? "the job path" : "the one rank there is",
		units_count(run->tokens_per_step).text, run->tokens_how, run->path_used,
		run->path_count);
	add_shares(report, run, step_ns);
	if (run->launch_bound)
		report_text(report, TONE_WARN,
			"Launch-bound: the GPU waits for the host in %s of the step, and the "
			"profiler's own cost is in these times.",
			units_percent(run->starved_frac, UNITS_PLAIN).text);
	if (!run->path_is_job && run->peer_wait_at_least_ns != NULL_I64)
		report_text(report, TONE_WARN,
			"One rank only: waiting for peers is at least %s a step of what is "
			"blocked.",
			units_ms((double)run->peer_wait_at_least_ns, decimals, UNITS_PLAIN).text);
	if (has_steps)
		add_steps(report, run, decimals);
	add_memory(report, run);
	add_flops(report, run);
	name_uncounted(report, run);
	struct straggler *stragglers;
	uint32_t count;
	if (run->path_is_job &&
		measure_stragglers(run, &report->arena, &stragglers, &count, &report->err))
		report_stragglers(report, run, stragglers, count);
}

void report_breakdown(struct report *report, const struct breakdown *const *runs,
	uint32_t run_count, bool has_steps)
{
	struct findings findings = {0};
	for (uint32_t i = 0; i < run_count; i++) {
		add_run(report, runs[i], has_steps);
		findings_add_run(&findings, &runs[i]->diag, runs[i]->diag_file);
	}
	report_findings(report, &findings, false);
}
