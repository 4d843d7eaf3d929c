#include "compare/buckets.h"

#include <string.h>

/* A unit's gathers in one pass of a run; `unit` NULL sums over all. */
static double count_in_pass(const struct run_facts *facts, const char *unit, bool forward)
{
	double count = 0;
	for (uint32_t b = 0; b < facts->bill_count; b++) {
		const struct bill *bill = &facts->bills[b];
		if (unit && strcmp(bill->unit, unit) != 0)
			continue;
		if (forward ? bill->reason == GATHER_FORWARD
			    : bill->reason == GATHER_BACKWARD || bill->reason == GATHER_REPEAT)
			count += bill->count;
	}
	return count;
}

/*
 * Where units are the same, unit by unit; else by the pass as a whole: the same bytes in other
 * pieces are no repeat.
 */
bool bills_choose(const struct run_facts *facts, const struct run_facts *other, bool same_units,
	struct arena *arena, bool **ret, struct err *err)
{
	*ret = arena_new(arena, facts->bill_count, sizeof **ret, err);
	if (!*ret)
		return false;
	for (uint32_t b = 0; b < facts->bill_count; b++) {
		const struct bill *bill = &facts->bills[b];
		if (bill->reason == GATHER_UNKNOWN)
			continue;
		const bool forward = bill->reason == GATHER_FORWARD;
		const bool other_has =
			count_in_pass(other, same_units ? bill->unit : NULL, forward) > 0;
		/* A run without any gather is not sharded: nothing can be said of one pass. */
		const bool other_gathers = count_in_pass(other, NULL, true) > 0;
		(*ret)[b] = bill->reason == GATHER_REPEAT || (!other_has && other_gathers);
	}
	return true;
}

static void fill_step(const struct path_sums *sums, double at[BUCKET_COUNT])
{
	at[BUCKET_RECOMPUTE] = (double)sums->busy_ns[PHASE_RECOMPUTE];
	at[BUCKET_RECOMPUTE_DISPATCH] = (double)sums->dispatch_ns[PHASE_RECOMPUTE];
	at[BUCKET_REPEATED] = 0;
	at[BUCKET_OVERLAP] = (double)(sums->blocked_ns[HOLDER_ALL_GATHER] +
				      sums->blocked_ns[HOLDER_REDUCE_SCATTER]);
	at[BUCKET_UNIT] = (double)(sums->busy_ns[PHASE_FSDP] + sums->dispatch_ns[PHASE_FSDP]);
	at[BUCKET_DISPATCH] =
		(double)(sums->dispatch_ns[PHASE_FORWARD] + sums->dispatch_ns[PHASE_BACKWARD]);
	at[BUCKET_WORK] = (double)(sums->busy_ns[PHASE_FORWARD] + sums->busy_ns[PHASE_BACKWARD] +
				   sums->busy_ns[PHASE_OPTIMIZER]);
	at[BUCKET_ALLOCATOR] =
		(double)(sums->starved_ns[STARVE_ALLOCATOR] + sums->starved_ns[STARVE_LEAD_LOST]);
	at[BUCKET_HOST] =
		(double)(sums->starved_ns[STARVE_SYNC] + sums->starved_ns[STARVE_DATA] +
			 sums->starved_ns[STARVE_GC] + sums->dispatch_ns[PHASE_OPTIMIZER] +
			 sums->dispatch_ns[PHASE_UNKNOWN]);
	at[BUCKET_COPIES] = (double)sums->blocked_ns[HOLDER_COPY];
	at[BUCKET_OTHER] =
		(double)(sums->blocked_ns[HOLDER_ALL_REDUCE] + sums->blocked_ns[HOLDER_SEND_RECV] +
			 sums->blocked_ns[HOLDER_BROADCAST] +
			 sums->blocked_ns[HOLDER_OTHER_COLLECTIVE] +
			 sums->blocked_ns[HOLDER_LATENCY] + sums->blocked_ns[HOLDER_UNEXPLAINED] +
			 sums->busy_ns[PHASE_UNKNOWN]);
}

bool buckets_make(const struct run_facts *facts, const bool *chosen, double scale,
	struct arena *arena, struct buckets *ret, struct err *err)
{
	*ret = (struct buckets){.step_count = facts->step_count};
	ret->wall_ns = arena_new(arena, facts->step_count, sizeof *ret->wall_ns, err);
	if (!ret->wall_ns)
		return false;
	for (uint32_t k = 0; k < BUCKET_COUNT; k++) {
		ret->ns[k] = arena_new(arena, facts->step_count, sizeof *ret->ns[k], err);
		if (!ret->ns[k])
			return false;
	}
	for (uint32_t s = 0; s < facts->step_count; s++) {
		double at[BUCKET_COUNT], sum_ns = 0;
		fill_step(&facts->steps[s], at);
		for (uint32_t k = 0; k < BUCKET_COUNT; k++)
			sum_ns += at[k];
		/* Times are below 2^53 ns, so these sums of integers are exact in doubles. */
		if (sum_ns != (double)facts->steps[s].wall_ns)
			return err_set(err, ERR_INTERNAL,
				"the causes of a step sum to %.0f ns, not to its %lld ns", sum_ns,
				(long long)facts->steps[s].wall_ns);
		for (uint32_t b = 0; b < facts->bill_count; b++) {
			const struct bill *bill = &facts->bills[b];
			if (!chosen[b])
				continue;
			at[BUCKET_REPEATED] += (double)(bill->blocked_ns[s] + bill->busy_ns[s] +
							bill->dispatch_ns[s]);
			at[BUCKET_OVERLAP] -= (double)bill->blocked_ns[s];
			at[BUCKET_UNIT] -= (double)(bill->busy_ns[s] + bill->dispatch_ns[s]);
		}
		for (uint32_t k = 0; k < BUCKET_COUNT; k++)
			ret->ns[k][s] = at[k] * scale;
		ret->wall_ns[s] = (double)facts->steps[s].wall_ns * scale;
	}
	return true;
}
