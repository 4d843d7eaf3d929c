/*
 * The ledger's reasons: whose parameters each all-gather brings, and whether the unit had them
 * already in that pass (DESIGN section 4).  Counts what happened; expects nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "phase/fsdp1_units.h"
#include "phase/phases.h"

/* Gathers in launch order: one pass of one micro-batch after another. */
struct ledger {
	const struct trace *trace;
	struct phases *phases;
	uint32_t *order; /* all-gathers by launch time */
	uint32_t order_count;
};

static int64_t launch_time(const struct ledger *ledger, uint32_t collective)
{
	const uint32_t op = ledger->trace->collectives.gpu_op_id[collective];
	const int64_t at_ns = ledger->phases->launches[op].start_ns;
	/* One without a launch record is older than all that have one. */
	return at_ns == NULL_I64 ? INT64_MIN : at_ns;
}

static bool sort_gathers(struct ledger *ledger, struct err *err)
{
	const struct collective_table *collectives = &ledger->trace->collectives;
	ledger->order = mem_new(collectives->head.count, sizeof *ledger->order, err);
	if (!ledger->order)
		return false;
	for (uint32_t i = 0; i < collectives->head.count; i++) {
		if (collectives->kind[i] != COLLECTIVE_ALL_GATHER ||
			collectives->gpu_op_id[i] == NULL_U32)
			continue;
		/* Rows come by GPU op, nearly in launch order: insertion is as good as a sort. */
		uint32_t at = ledger->order_count++;
		for (; at && launch_time(ledger, ledger->order[at - 1]) > launch_time(ledger, i);
			at--)
			ledger->order[at] = ledger->order[at - 1];
		ledger->order[at] = i;
	}
	return true;
}

/* FSDP2 names the unit in the range around the gather; the root has no name. */
static bool name_fsdp2(struct ledger *ledger, const struct roles *roles, struct err *err)
{
	for (uint32_t i = 0; i < ledger->order_count; i++) {
		const uint32_t collective = ledger->order[i];
		const struct launch *launch =
			&ledger->phases->launches[ledger->trace->collectives.gpu_op_id[collective]];
		if (launch->unit == NULL_U32 || !launch->in_gather)
			continue;
		const char *name = intern_text(&roles->units, launch->unit);
		name = *name ? name : "(root)";
		const uint32_t unit = intern_put(&ledger->phases->units, name, strlen(name), err);
		if (unit == NULL_U32)
			return false;
		ledger->phases->gathers[collective].unit = unit;
	}
	return true;
}

/* What has been gathered so far for one unit in the pass at hand. */
struct tally {
	uint32_t step;
	uint16_t micro_batch;
	bool in_forward, in_backward;
};

static void give_reasons(struct ledger *ledger, struct tally *tallies)
{
	struct phases *phases = ledger->phases;
	for (uint32_t i = 0; i < ledger->order_count; i++) {
		const uint32_t collective = ledger->order[i];
		const struct launch *launch =
			&phases->launches[ledger->trace->collectives.gpu_op_id[collective]];
		struct gather *gather = &phases->gathers[collective];
		gather->reason = GATHER_UNKNOWN;
		gather->how = HOW_UNKNOWN;
		if (gather->unit == NULL_U32 || launch->step == NULL_U32)
			continue;
		struct tally *tally = &tallies[gather->unit];
		if (tally->step != launch->step || tally->micro_batch != launch->micro_batch)
			*tally = (struct tally){launch->step, launch->micro_batch, false, false};
		bool *seen;
		if (launch->base == PHASE_FORWARD)
			seen = &tally->in_forward;
		else if (launch->base == PHASE_BACKWARD || launch->base == PHASE_RECOMPUTE)
			seen = &tally->in_backward;
		else
			continue;
		gather->reason = *seen			      ? GATHER_REPEAT
				 : seen == &tally->in_forward ? GATHER_FORWARD
							      : GATHER_BACKWARD;
		gather->how = launch->how;
		*seen = true;
	}
}

bool phases_count_gathers(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err)
{
	const uint32_t count = trace->collectives.head.count;
	phases->gathers = arena_new(&phases->arena, count, sizeof *phases->gathers, err);
	if (!phases->gathers || !intern_init(&phases->units, err))
		return false;
	for (uint32_t i = 0; i < count; i++)
		phases->gathers[i] = (struct gather){NULL_U32, WORD_NONE, HOW_UNKNOWN};

	struct ledger ledger = {.trace = trace, .phases = phases};
	bool ok = sort_gathers(&ledger, err) && name_fsdp2(&ledger, roles, err) &&
		  fsdp1_name_units(trace, phases, ledger.order, ledger.order_count, err);
	struct tally *tallies = ok ? mem_new(phases->units.count, sizeof *tallies, err) : NULL;
	ok = ok && tallies;
	if (ok) {
		for (uint32_t i = 0; i < phases->units.count; i++)
			tallies[i].step = NULL_U32;
		give_reasons(&ledger, tallies);
	}
	mem_free(tallies);
	mem_free(ledger.order);
	return ok;
}
