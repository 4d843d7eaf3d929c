/* The facts that do not come from the path: counts of one rank, host calls, the model. */
#include "attribute/facts.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "attribute/bills.h"
#include "attribute/path_result.h"
#include "base/mem.h"

/* Whether a rank's own step is one of the path's used ones. */
static bool step_used(const struct ranks *ranks, const struct breakdown *breakdown, uint32_t rank,
	uint32_t own_step)
{
	for (uint32_t s = 0; s < ranks->step_count; s++)
		if (ranks->step_of[(size_t)rank * ranks->step_count + s] == own_step)
			return breakdown->path[s].used;
	return false;
}

/* --- gathers and reduce-scatters, of the first rank --- */

/* A collective of the first rank that belongs to a used step. */
static bool is_counted(
	const struct ranks *ranks, const struct breakdown *breakdown, uint32_t collective)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const uint32_t op = rank->trace->collectives.gpu_op_id[collective];
	if (op == NULL_U32)
		return false;
	const uint32_t step = rank->phases.steps.count ? rank->phases.launches[op].step : 0;
	return step != NULL_U32 && step_used(ranks, breakdown, 0, step);
}

static struct bill *find_bill(struct run_facts *facts, const char *unit, uint8_t reason)
{
	for (uint32_t b = 0; b < facts->bill_count; b++)
		if (facts->bills[b].reason == reason && strcmp(facts->bills[b].unit, unit) == 0)
			return &facts->bills[b];
	return NULL;
}

/* Every unit and reason that occurs has a bill, also one that cost nothing on the path. */
static bool add_missing_bills(const struct ranks *ranks, const struct breakdown *breakdown,
	struct run_facts *facts, struct arena *arena, struct err *err)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const uint32_t kinds = (rank->phases.units.count + 1) * GATHER_COUNT;
	struct bill *bills =
		arena_new(arena, (size_t)facts->bill_count + kinds, sizeof *bills, err);
	int64_t *none = arena_new(arena, facts->step_count, sizeof *none, err);
	if (!bills || !none)
		return false;
	if (facts->bill_count)
		memcpy(bills, facts->bills, facts->bill_count * sizeof *bills);
	facts->bills = bills;
	for (uint32_t c = 0; c < rank->trace->collectives.head.count; c++) {
		const struct gather *gather = &rank->phases.gathers[c];
		const char *unit = unit_name(&rank->phases, gather->unit);
		if (gather->reason == WORD_NONE || !is_counted(ranks, breakdown, c) ||
			find_bill(facts, unit, gather->reason))
			continue;
		unit = arena_text(arena, unit, err);
		if (!unit)
			return false;
		bills[facts->bill_count++] = (struct bill){.unit = unit,
			.reason = gather->reason,
			.blocked_ns = none,
			.busy_ns = none,
			.dispatch_ns = none};
	}
	return true;
}

static void count_collectives(
	const struct ranks *ranks, const struct breakdown *breakdown, struct run_facts *facts)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct collective_table *collectives = &rank->trace->collectives;
	const double steps = facts->step_count;
	for (uint32_t c = 0; c < collectives->head.count; c++) {
		if (!is_counted(ranks, breakdown, c))
			continue;
		const struct launch *launch = &rank->phases.launches[collectives->gpu_op_id[c]];
		facts->reduce_scatters += collectives->kind[c] == COLLECTIVE_REDUCE_SCATTER;
		const struct gather *gather = &rank->phases.gathers[c];
		if (gather->reason == WORD_NONE)
			continue;
		facts->gathers[gather->reason] += 1 / steps;
		facts->gathers_in_recompute |= launch->base == PHASE_RECOMPUTE;
		facts->gathered_dtype =
			intern_text(&rank->trace->strings, collectives->dtype_id[c]);
		struct bill *bill =
			find_bill(facts, unit_name(&rank->phases, gather->unit), gather->reason);
		const int64_t bytes = collectives->recv_bytes[c];
		if (!bill)
			continue;
		bill->unit_bytes = bill->count > 0 && bill->unit_bytes != bytes ? NULL_I64 : bytes;
		bill->count += 1 / steps;
		bill->bytes += bytes == NULL_I64 ? 0 : (double)bytes / steps;
	}
	facts->reduce_scatters /= steps;
}

static void sum_units(struct run_facts *facts)
{
	for (uint32_t b = 0; b < facts->bill_count; b++) {
		const struct bill *bill = &facts->bills[b];
		bool seen = strcmp(bill->unit, "unknown") == 0 || bill->unit_bytes == NULL_I64;
		for (uint32_t other = 0; other < b && !seen; other++)
			seen = strcmp(facts->bills[other].unit, bill->unit) == 0;
		if (seen)
			continue;
		facts->unit_count++;
		facts->parameter_bytes += bill->unit_bytes;
	}
}

/*
 * In FSDP2 each gather range is one real gather.  One that launched no collective moved its bytes
 * by copies or fused kernels, or not at all in a world of one.
 */
static void count_uncounted(
	const struct ranks *ranks, const struct breakdown *breakdown, struct run_facts *facts)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct host_op_table *ops = &rank->trace->host_ops;
	if (rank->trace->world_size == 1)
		return;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (rank->roles.op[ops->name_id[i]] != OP_FSDP2_GATHER ||
			phases_billed_range(&rank->phases, i) != NULL_U32)
			continue;
		const uint32_t step = host_steps_at(&rank->phases.steps, ops->start_ns[i]);
		if (step != NULL_U32 && step_used(ranks, breakdown, 0, step))
			facts->uncounted_gathers++;
	}
}

/* --- host calls --- */

struct timed_call {
	uint32_t name_id;
	int64_t ns;
};

#define DIGIT_BITS    11
#define DIGIT_COUNT   (1u << DIGIT_BITS)
#define TIME_DIGITS   6
#define NAME_DIGITS   3
#define SIGN_OF_INT64 (UINT64_C(1) << 63) /* turned over, negative times come first */

/* Digit 0 is the lowest of the time, the last the highest of the name. */
static uint32_t digit_of(uint32_t name_id, uint64_t time, uint32_t digit)
{
	const uint64_t bits = digit < TIME_DIGITS ? time >> digit * DIGIT_BITS
						  : name_id >> (digit - TIME_DIGITS) * DIGIT_BITS;
	return (uint32_t)(bits % DIGIT_COUNT);
}

static uint32_t call_digit(const struct timed_call *call, uint32_t digit)
{
	return digit_of(call->name_id, (uint64_t)call->ns ^ SIGN_OF_INT64, digit);
}

/*
 * By name, then by time, a digit at a time from the lowest: there are hundreds of thousands of
 * calls, and in few digits they differ.  `other` has the same room.
 */
static void sort_calls(struct timed_call *timed, struct timed_call *other, uint32_t count)
{
	struct timed_call *from = timed, *to = other;
	uint64_t times_differ = 0;
	uint32_t names_differ = 0;
	for (uint32_t i = 1; i < count; i++) {
		times_differ |= (uint64_t)(timed[i].ns ^ timed[0].ns);
		names_differ |= timed[i].name_id ^ timed[0].name_id;
	}
	for (uint32_t digit = 0; digit < TIME_DIGITS + NAME_DIGITS; digit++) {
		uint32_t place[DIGIT_COUNT] = {0};
		if (!digit_of(names_differ, times_differ, digit))
			continue;
		for (uint32_t i = 0; i < count; i++)
			place[call_digit(&from[i], digit)]++;
		for (uint32_t d = 0, sum = 0; d < DIGIT_COUNT; d++) {
			const uint32_t size = place[d];
			place[d] = sum;
			sum += size;
		}
		for (uint32_t i = 0; i < count; i++)
			to[place[call_digit(&from[i], digit)]++] = from[i];
		struct timed_call *swap = from;
		from = to;
		to = swap;
	}
	if (from != timed)
		memcpy(timed, from, count * sizeof *timed);
}

/* The first rank with calls stands for all: names, counts a step, medians. */
static bool measure_calls(const struct ranks *ranks, const struct breakdown *breakdown,
	struct run_facts *facts, struct arena *arena, struct err *err)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct api_call_table *calls = &rank->trace->api_calls;
	/* Twice, as sorting needs room beside. */
	struct timed_call *timed = mem_new(2 * (size_t)calls->head.count, sizeof *timed, err);
	if (!timed)
		return false;
	uint32_t count = 0, kinds = 0;
	for (uint32_t c = 0; c < calls->head.count; c++) {
		const uint8_t role = rank->roles.call[calls->name_id[c]];
		if (role != CALL_LAUNCH && role != CALL_COPY && role != CALL_WAIT &&
			role != CALL_RECORD)
			continue;
		const uint32_t step = host_steps_at(&rank->phases.steps, calls->start_ns[c]);
		if (step == NULL_U32 || !step_used(ranks, breakdown, 0, step))
			continue;
		timed[count++] = (struct timed_call){
			calls->name_id[c], calls->end_ns[c] - calls->start_ns[c]};
	}
	sort_calls(timed, timed + count, count);
	for (uint32_t i = 0; i < count; i++)
		kinds += !i || timed[i].name_id != timed[i - 1].name_id;
	facts->calls = arena_new(arena, kinds, sizeof *facts->calls, err);
	bool ok = facts->calls;
	for (uint32_t i = 0; i < count && ok;) {
		const uint32_t first = i;
		while (i < count && timed[i].name_id == timed[first].name_id)
			i++;
		const char *name = arena_text(
			arena, intern_text(&rank->trace->strings, timed[first].name_id), err);
		ok = name;
		facts->calls[facts->call_count++] = (struct call_use){.name = name,
			.count = (double)(i - first) / facts->step_count,
			.median_ns = (double)(timed[first + (i - first - 1) / 2].ns +
					      timed[first + (i - first) / 2].ns) /
				     2};
	}
	mem_free(timed);
	return ok;
}

/* --- the model --- */

static void describe_model(
	const struct ranks *ranks, const struct breakdown *breakdown, struct run_facts *facts)
{
	const struct rank_analysis *rank = &ranks->items[0];
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	uint32_t forward = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		const struct launch *launch = &rank->phases.launches[i];
		if (launch->phase != PHASE_FORWARD || launch->step == NULL_U32 ||
			ops->kind[i] != GPU_KERNEL || !step_used(ranks, breakdown, 0, launch->step))
			continue;
		const char *name = intern_text(&rank->trace->strings, ops->name_id[i]);
		facts->forward_hash += XXH3_64bits(name, strlen(name));
		forward++;
	}
	facts->forward_kernels = (double)forward / facts->step_count;
	const double all_steps = rank->phases.steps.count ? rank->phases.steps.count : 1;
	facts->regions = rank->phases.regions / all_steps;
	facts->reentrant_regions = rank->phases.reentrant_regions / all_steps;
	facts->is_fsdp1 = rank->phases.is_fsdp1;
	facts->is_fsdp2 = rank->phases.is_fsdp2;
	facts->has_compiled = rank->phases.compiled_ops != 0;
	for (uint32_t r = 0; r < ranks->count; r++) {
		const struct host_steps *steps = &ranks->items[r].phases.steps;
		const struct trace *trace = ranks->items[r].trace;
		if (trace->source == SOURCE_KINETO)
			facts->host_events += (double)trace->host_event_count /
					      (steps->count ? steps->count : 1) / ranks->count;
		facts->has_stacks = facts->has_stacks || trace->has.stacks;
	}
}

/* A used step's, by the rank's own partition. */
static int64_t starved_in_allocator(const struct rank_result *rank)
{
	int64_t sum_ns = 0;
	for (uint32_t s = 0; s < rank->step_count; s++) {
		const struct step_part *step = &rank->steps[s];
		for (uint32_t p = 0; step->used && p < step->parts.count; p++)
			if (step->parts.items[p].state == STATE_STARVED &&
				step->parts.items[p].reason == STARVE_ALLOCATOR)
				sum_ns += step->parts.items[p].ns;
	}
	return rank->steps_used ? sum_ns / rank->steps_used : 0;
}

static bool describe_allocator(const struct ranks *ranks, const struct breakdown *breakdown,
	struct run_facts *facts, struct arena *arena, struct err *err)
{
	facts->rank_count = ranks->count;
	facts->alloc_call_ns = arena_new(arena, ranks->count, sizeof *facts->alloc_call_ns, err);
	facts->alloc_starved_ns =
		arena_new(arena, ranks->count, sizeof *facts->alloc_starved_ns, err);
	if (!facts->alloc_call_ns || !facts->alloc_starved_ns)
		return false;
	const double steps = facts->step_count;
	for (uint32_t r = 0; r < breakdown->rank_count; r++) {
		const struct memory_use *use = &breakdown->ranks[r].memory;
		facts->alloc_call_ns[r] = (int64_t)((double)use->alloc_call_ns / steps);
		facts->alloc_starved_ns[r] = starved_in_allocator(&breakdown->ranks[r]);
		const double retries = (double)use->alloc_retries / steps;
		if (retries >= facts->retries) {
			facts->retries = retries;
			facts->alloc_calls = (double)use->alloc_calls / steps;
			facts->free_calls = (double)use->free_calls / steps;
		}
	}
	return true;
}

bool facts_make(const struct ranks *ranks, struct breakdown *ret, struct err *err)
{
	struct run_facts *facts = ret->facts;
	const struct rank_analysis *rank = &ranks->items[0];
	facts->gpu_memory_bytes = rank->trace->gpu_memory_bytes;
	facts->gathered_dtype = "";
	if (!facts->step_count)
		return err_set(err, ERR_INPUT, "%s: no step is whole enough to be used", ret->name);
	if (!add_missing_bills(ranks, ret, facts, &ret->arena, err))
		return false;
	count_collectives(ranks, ret, facts);
	count_uncounted(ranks, ret, facts);
	sum_units(facts);
	describe_model(ranks, ret, facts);
	facts->gpu = arena_text(
		&ret->arena, intern_text(&rank->trace->strings, rank->trace->gpu_name_id), err);
	facts->gathered_dtype = arena_text(&ret->arena, facts->gathered_dtype, err);
	return facts->gpu && facts->gathered_dtype &&
	       describe_allocator(ranks, ret, facts, &ret->arena, err) &&
	       measure_calls(ranks, ret, facts, &ret->arena, err);
}
