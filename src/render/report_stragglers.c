/* Who was waited for on the job path, and whom the others wait for where the path makes no hop. */
#include "base/table.h"
#include "base/units.h"
#include "render/reports.h"

#define WAITING_FRAC 0.05  /* of the step: smaller differences between ranks are no news */
#define WORTH_FRAC   0.005 /* of the step: less waiting is no straggler */
#define STAYS_FRAC   0.9   /* of the path on one rank: it stays there */

/* A used step's mean, of one rank's own partition. */
static double rank_ns(const struct rank_result *rank, enum state state)
{
	double sum = 0;
	for (uint32_t s = 0; s < rank->step_count; s++)
		for (uint32_t p = 0; rank->steps[s].used && p < rank->steps[s].parts.count; p++)
			sum += rank->steps[s].parts.items[p].state == state
				       ? (double)rank->steps[s].parts.items[p].ns
				       : 0;
	return rank->steps_used ? sum / rank->steps_used : 0;
}

static double path_step_ns(const struct breakdown *run)
{
	double sum = 0;
	for (uint32_t s = 0; s < run->path_count; s++)
		sum += run->path[s].used ? (double)run->path[s].wall_ns / run->path_used : 0;
	return sum;
}

static bool stays_on(const struct breakdown *run, int32_t rank)
{
	double own = 0;
	for (uint32_t s = 0; s < run->path_count; s++)
		for (uint32_t p = 0; run->path[s].used && p < run->path[s].parts.count; p++)
			own += run->path[s].parts.items[p].rank == rank
				       ? (double)run->path[s].parts.items[p].ns / run->path_used
				       : 0;
	return own >= STAYS_FRAC * path_step_ns(run);
}

/*
 * A rank that is always late makes no hop: the path stays on it, and the others' waits are theirs
 * alone. They show in the ranks' own partitions.  False where nobody waits so.
 */
static bool find_waiting(const struct breakdown *run, const struct rank_result **ret_late,
	const struct rank_result **ret_waits)
{
	const struct rank_result *late = &run->ranks[0], *waits = &run->ranks[0];
	for (uint32_t r = 1; r < run->rank_count; r++) {
		const struct rank_result *rank = &run->ranks[r];
		late = rank_ns(rank, STATE_STARVED) > rank_ns(late, STATE_STARVED) ? rank : late;
		waits = rank_ns(rank, STATE_BLOCKED) > rank_ns(waits, STATE_BLOCKED) ? rank : waits;
	}
	*ret_late = late;
	*ret_waits = waits;
	const double more = rank_ns(waits, STATE_BLOCKED) - rank_ns(late, STATE_BLOCKED);
	return late != waits && more >= WAITING_FRAC * path_step_ns(run);
}

static void add_waiting(struct report *report, const struct breakdown *run,
	const struct rank_result *late, const struct rank_result *waits, bool has_hops)
{
	const int decimals = units_ms_decimals(path_step_ns(run));
	const double blocked = rank_ns(waits, STATE_BLOCKED);
	const struct units starved = units_ms(rank_ns(late, STATE_STARVED), decimals, UNITS_PLAIN);
	const struct units more =
		units_ms_bare(blocked - rank_ns(late, STATE_BLOCKED), decimals, UNITS_PLAIN);
	if (!has_hops && stays_on(run, late->rank))
		report_text(report, TONE_PLAIN,
			"The path stays on rank %d, which is late throughout: its GPU starves %s a "
			"step, and rank %d is blocked %s, %s more than rank %d.",
			late->rank, starved.text, waits->rank,
			units_ms(blocked, decimals, UNITS_PLAIN).text, more.text, late->rank);
	else
		report_text(report, TONE_PLAIN,
			"Rank %d is blocked %s a step, %s more than rank %d, whose host is late: "
			"there the GPU starves %s.",
			waits->rank, units_ms(blocked, decimals, UNITS_PLAIN).text, more.text,
			late->rank, starved.text);
}

static void add_hops(struct report *report, const struct breakdown *run,
	const struct straggler *stragglers, uint32_t count, double sum)
{
	static const struct report_column columns[] = {
		{"late rank", ALIGN_RIGHT},
		{"waited for by", ALIGN_RIGHT},
		{"ms a step", ALIGN_RIGHT},
		{"times a step", ALIGN_RIGHT},
		{"at", ALIGN_CUT},
	};
	const int decimals = units_ms_decimals(path_step_ns(run));
	struct report_table *table = report_table(report, columns, 5);
	for (uint32_t i = 0; i < count && i < 5; i++) {
		report_cell(report, table, TONE_PLAIN, "%d", stragglers[i].to_rank);
		report_cell(report, table, TONE_PLAIN, "%d", stragglers[i].from_rank);
		report_cell(report, table, TONE_PLAIN, "%s",
			units_ms_bare(stragglers[i].ns, decimals, UNITS_PLAIN).text);
		report_cell(report, table, TONE_PLAIN, "%.2g",
			(double)stragglers[i].count / (run->path_used ? run->path_used : 1));
		report_cell(report, table, TONE_PLAIN, "%s", stragglers[i].collective);
		report_row(report, table);
	}
	if (count > 5)
		report_text(report, TONE_DIM, "%u more; %s a step in all.", count - 5,
			units_ms(sum, decimals, UNITS_PLAIN).text);
}

void report_stragglers(struct report *report, const struct breakdown *run,
	const struct straggler *stragglers, uint32_t count)
{
	const struct rank_result *late, *waits;
	const double step_ns = path_step_ns(run);
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += stragglers[i].ns;
	const bool has_hops = count && sum >= WORTH_FRAC * step_ns;
	const bool has_waiting = find_waiting(run, &late, &waits);
	report_heading(report, "Stragglers");
	if (has_hops)
		add_hops(report, run, stragglers, count, sum);
	else if (!has_waiting || !stays_on(run, late->rank))
		report_text(report, TONE_DIM,
			"No hop between ranks on the job path is worth a line: %s a step in all.",
			units_ms(sum, units_ms_decimals(step_ns), UNITS_PLAIN).text);
	if (has_waiting)
		add_waiting(report, run, late, waits, has_hops);
}
