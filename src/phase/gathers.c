/*
 * The ledger's reasons: whose parameters each all-gather brings, and whether the unit had them
 * already in that pass (DESIGN section 4).  Counts what happened; expects nothing.
 */
#include <stdlib.h>
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

static const struct launch *launch_of(const struct ledger *ledger, uint32_t collective)
{
	return &ledger->phases->launches[ledger->trace->collectives.gpu_op_id[collective]];
}

/* By launch; one without a launch record is older than all that have one (NULL_I64 is the least).
 */
static int by_launch(const void *a, const void *b, void *context)
{
	const struct ledger *ledger = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const int64_t left_ns = launch_of(ledger, left)->start_ns;
	const int64_t right_ns = launch_of(ledger, right)->start_ns;
	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left > right) - (left < right);
}

static bool sort_gathers(struct ledger *ledger, struct err *err)
{
	const struct collective_table *collectives = &ledger->trace->collectives;
	ledger->order = mem_new(collectives->head.count, sizeof *ledger->order, err);
	if (!ledger->order)
		return false;
	for (uint32_t i = 0; i < collectives->head.count; i++)
		if (collectives->kind[i] == COLLECTIVE_ALL_GATHER &&
			collectives->gpu_op_id[i] != NULL_U32)
			ledger->order[ledger->order_count++] = i;
	qsort_r(ledger->order, ledger->order_count, sizeof *ledger->order, by_launch, ledger);
	return true;
}

/* FSDP2 names the unit in the range around the gather; the root has no name. */
static bool name_fsdp2(struct ledger *ledger, const struct roles *roles, struct err *err)
{
	for (uint32_t i = 0; i < ledger->order_count; i++) {
		const uint32_t collective = ledger->order[i];
		const struct launch *launch = launch_of(ledger, collective);
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
		const struct launch *launch = launch_of(ledger, collective);
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

static int by_range(const void *a, const void *b)
{
	const struct billed_range *left = a, *right = b;
	if (left->range != right->range)
		return left->range < right->range ? -1 : 1;
	return (left->gather > right->gather) - (left->gather < right->gather);
}

uint32_t phases_billed_range(const struct phases *phases, uint32_t range)
{
	uint32_t low = 0, high = phases->billed_range_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (phases->billed_ranges[middle].range < range)
			low = middle + 1;
		else
			high = middle;
	}
	const bool found =
		low < phases->billed_range_count && phases->billed_ranges[low].range == range;
	return found ? phases->billed_ranges[low].gather : NULL_U32;
}

/* The unit's newest gather before a copy-out is the one whose result it copies. */
static uint32_t gather_before(const struct ledger *ledger, uint32_t roles_unit, int64_t at_ns)
{
	uint32_t low = 0, high = ledger->order_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (launch_of(ledger, ledger->order[middle])->start_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0)
		if (launch_of(ledger, ledger->order[low])->unit == roles_unit)
			return ledger->order[low];
	return NULL_U32;
}

/* A gather's bill holds what its own range launches, and the copy-out that follows. */
static bool bill(struct ledger *ledger, struct err *err)
{
	struct phases *phases = ledger->phases;
	const uint32_t op_count = ledger->trace->gpu_ops.head.count;
	phases->billed = arena_new(&phases->arena, op_count, sizeof *phases->billed, err);
	uint32_t copy_outs = 0;
	for (uint32_t i = 0; i < op_count; i++)
		copy_outs += phases->launches[i].is_copy_out;
	phases->billed_ranges = arena_new(&phases->arena, (size_t)ledger->order_count + copy_outs,
		sizeof *phases->billed_ranges, err);
	if (!phases->billed || !phases->billed_ranges)
		return false;
	uint32_t count = 0;
	for (uint32_t i = 0; i < ledger->order_count; i++) {
		const uint32_t range = launch_of(ledger, ledger->order[i])->range;
		if (range != NULL_U32)
			phases->billed_ranges[count++] =
				(struct billed_range){range, ledger->order[i]};
	}
	for (uint32_t i = 0; i < op_count; i++) {
		const struct launch *launch = &phases->launches[i];
		const uint32_t gather =
			launch->is_copy_out ? gather_before(ledger, launch->unit, launch->start_ns)
					    : NULL_U32;
		if (gather != NULL_U32 && launch->range != NULL_U32)
			phases->billed_ranges[count++] =
				(struct billed_range){launch->range, gather};
	}
	qsort(phases->billed_ranges, count, sizeof *phases->billed_ranges, by_range);
	phases->billed_range_count = count;
	for (uint32_t i = 0; i < op_count; i++)
		phases->billed[i] =
			phases->launches[i].range == NULL_U32
				? NULL_U32
				: phases_billed_range(phases, phases->launches[i].range);
	return true;
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
		ok = bill(&ledger, err);
	}
	mem_free(tallies);
	mem_free(ledger.order);
	return ok;
}
