#include "attribute/path_result.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/bills.h"
#include "attribute/sums.h"
#include "base/intern.h"
#include "base/mem.h"

/* Everything that the walk adds up; indices of steps are common steps. */
struct tally {
	const struct ranks *ranks;
	struct arena *arena;
	struct path_sums *steps;
	struct sums *parts;
	bool *saw_backward; /* per step: the walk has come to a backward op */
	struct hop_list {
		struct path_hop *items;
		uint32_t count, capacity;
	} hops;
	struct intern names; /* units and kernels */
	struct bill_at {
		uint32_t unit_id;
		uint8_t reason;
		int64_t *ns; /* [step * 3]: blocked, busy, dispatch */
	} * bills;
	uint32_t bill_count, bill_capacity;
	struct kernel_at {
		uint32_t name_id;
		double count, ns;
	} * kernels;
	uint32_t kernel_count, kernel_capacity;
	uint32_t **kernel_of; /* [rank][phase * strings + name]: kernel number + 1 */
	const bool *used;     /* NULL on the first walk */
};

enum {
	BILL_BLOCKED,
	BILL_BUSY,
	BILL_DISPATCH,
	BILL_KINDS
};

/* --- one stretch --- */

static bool add_bill(
	struct tally *tally, const struct path_stretch *stretch, int64_t ns, struct err *err)
{
	const struct interval *interval = stretch->interval;
	const struct phases *phases = &tally->ranks->items[stretch->rank].phases;
	const struct gather *gather = &phases->gathers[interval->gather];
	const char *unit = unit_name(phases, gather->unit);
	const uint32_t unit_id = intern_put(&tally->names, unit, strlen(unit), err);
	if (unit_id == NULL_U32)
		return false;
	uint32_t at = 0;
	while (at < tally->bill_count &&
		(tally->bills[at].unit_id != unit_id || tally->bills[at].reason != gather->reason))
		at++;
	if (at == tally->bill_count) {
		if (at == tally->bill_capacity) {
			const uint32_t capacity = at ? at * 2 : 32;
			if (!mem_resize(&tally->bills, capacity, sizeof *tally->bills, err))
				return false;
			tally->bill_capacity = capacity;
		}
		int64_t *sums = arena_new(tally->arena,
			(size_t)tally->ranks->step_count * BILL_KINDS, sizeof *sums, err);
		if (!sums)
			return false;
		tally->bills[tally->bill_count++] = (struct bill_at){unit_id, gather->reason, sums};
	}
	const uint32_t kind = interval->state == STATE_BLOCKED ? BILL_BLOCKED
			      : interval->state == STATE_BUSY  ? BILL_BUSY
							       : BILL_DISPATCH;
	tally->bills[at].ns[stretch->step * BILL_KINDS + kind] += ns;
	return true;
}

static bool add_kernel(
	struct tally *tally, const struct path_stretch *stretch, int64_t ns, struct err *err)
{
	const struct trace *trace = tally->ranks->items[stretch->rank].trace;
	const struct interval *interval = stretch->interval;
	const uint32_t op = interval->gpu_op_id, name_id = trace->gpu_ops.name_id[op];
	uint32_t *slot =
		&tally->kernel_of[stretch->rank][interval->phase * trace->strings.count + name_id];
	if (!*slot) {
		/* The same kernel on another rank is found by its name, with the phase before it.
		 */
		char text[1024];
		text[0] = (char)('0' + interval->phase);
		const uint32_t length = trace->strings.length[name_id];
		const size_t kept = length < sizeof text - 1 ? length : sizeof text - 1;
		memcpy(text + 1, intern_text(&trace->strings, name_id), kept);
		const uint32_t known = intern_put(&tally->names, text, kept + 1, err);
		if (known == NULL_U32)
			return false;
		uint32_t at = 0;
		while (at < tally->kernel_count && tally->kernels[at].name_id != known)
			at++;
		if (at == tally->kernel_count) {
			if (at == tally->kernel_capacity) {
				const uint32_t capacity = at ? at * 2 : 256;
				if (!mem_resize(
					    &tally->kernels, capacity, sizeof *tally->kernels, err))
					return false;
				tally->kernel_capacity = capacity;
			}
			tally->kernels[tally->kernel_count++] = (struct kernel_at){known, 0, 0};
		}
		*slot = at + 1;
	}
	struct kernel_at *kernel = &tally->kernels[*slot - 1];
	const int64_t whole_ns = trace->gpu_ops.end_ns[op] - trace->gpu_ops.start_ns[op];
	kernel->ns += (double)ns;
	kernel->count += whole_ns ? (double)ns / (double)whole_ns : 0;
	return true;
}

static void add_sums(struct tally *tally, const struct path_stretch *stretch, int64_t ns)
{
	const struct interval *interval = stretch->interval;
	struct path_sums *sums = &tally->steps[stretch->step];
	switch (interval->state) {
	case STATE_BUSY:
		sums->busy_ns[interval->phase] += ns;
		if (interval->phase == PHASE_BACKWARD || interval->phase == PHASE_RECOMPUTE)
			tally->saw_backward[stretch->step] = true;
		break;
	case STATE_BLOCKED:
		sums->blocked_ns[interval->on] += ns;
		if (interval->on == HOLDER_REDUCE_SCATTER) {
			if (interval->wait_for == HOLDER_ALL_GATHER)
				sums->queued_ns += ns;
			/* The walk goes backward: not yet seen means after the last. */
			if (!tally->saw_backward[stretch->step])
				sums->tail_ns += ns;
		}
		break;
	default:
		sums->starved_ns[interval->reason] += ns;
		if (interval->reason == STARVE_DISPATCH)
			sums->dispatch_ns[interval->phase] += ns;
	}
}

static bool on_stretch(void *context, const struct path_stretch *stretch, struct err *err)
{
	static const struct interval nothing = {.step = NULL_U32,
		.gpu_op_id = NULL_U32,
		.unit = NULL_U32,
		.gather = NULL_U32,
		.state = STATE_BLOCKED,
		.phase = WORD_NONE,
		.on = HOLDER_UNEXPLAINED,
		.wait_for = WORD_NONE,
		.reason = WORD_NONE,
		.how = HOW_UNKNOWN};
	struct tally *tally = context;
	const int64_t ns = stretch->end_ns - stretch->start_ns;
	struct path_stretch known = *stretch;
	if (!known.interval)
		known.interval = &nothing;
	add_sums(tally, &known, ns);
	if (!tally->used)
		return true;
	const struct rank_analysis *rank = &tally->ranks->items[stretch->rank];
	const int32_t number = rank->trace->rank;
	if (!sums_add(&tally->parts[stretch->step], known.interval, number, ns, err))
		return false;
	if (!tally->used[stretch->step])
		return true;
	if (known.interval->gather != NULL_U32 && !add_bill(tally, &known, ns, err))
		return false;
	return known.interval->state != STATE_BUSY || add_kernel(tally, &known, ns, err);
}

static bool on_hop(void *context, const struct path_hop *hop, struct err *err)
{
	struct tally *tally = context;
	if (!tally->used)
		return true;
	if (tally->hops.count == tally->hops.capacity) {
		const uint32_t capacity = tally->hops.capacity ? tally->hops.capacity * 2 : 64;
		if (!mem_resize(&tally->hops.items, capacity, sizeof *tally->hops.items, err))
			return false;
		tally->hops.capacity = capacity;
	}
	tally->hops.items[tally->hops.count++] = *hop;
	return true;
}

/* --- which steps count --- */

/* The recorder's hook counts FLOPs in one early step, which is slower for it. */
static bool is_perturbed(const struct ranks *ranks, uint32_t rank, uint32_t own_step)
{
	const struct trace *trace = ranks->items[rank].trace;
	for (uint32_t m = 0; m < trace->markers.head.count; m++)
		if (trace->markers.kind[m] == MARKER_OTHER &&
			strcmp(intern_text(&trace->strings, trace->markers.name_id[m]),
				"flop_counted") == 0 &&
			host_steps_at(&ranks->items[rank].phases.steps,
				trace->markers.start_ns[m]) == own_step)
			return true;
	return false;
}

static void mark_usable(const struct ranks *ranks, struct breakdown *ret)
{
	for (uint32_t s = 0; s < ranks->step_count; s++) {
		bool closed = true, empty = false;
		for (uint32_t r = 0; r < ranks->count; r++) {
			const uint32_t own = ranks->step_of[(size_t)r * ranks->step_count + s];
			closed = closed && ranks->items[r].partition.windows[own].closed;
			empty = empty || ranks->items[r].partition.windows[own].empty ||
				is_perturbed(ranks, r, own);
		}
		ret->path[s].used = closed && !empty && ret->path[s].wall_ns > 0;
		ret->path_used += ret->path[s].used;
	}
}

/* How much of the used steps waits for the host. */
static double starved_frac(
	const struct ranks *ranks, const struct tally *tally, const struct breakdown *run)
{
	int64_t wall_ns = 0, starved_ns = 0;
	for (uint32_t s = 0; s < ranks->step_count; s++) {
		if (!run->path[s].used)
			continue;
		wall_ns += run->path[s].wall_ns;
		for (uint32_t k = 0; k < STARVE_COUNT; k++)
			starved_ns += tally->steps[s].starved_ns[k];
	}
	return wall_ns ? (double)starved_ns / (double)wall_ns : 0;
}

static void choose_steps(
	const struct ranks *ranks, const struct tally *tally, struct breakdown *ret)
{
	mark_usable(ranks, ret);
	if (!ret->path_used) {
		/* Better than nothing: windows that are not closed. */
		for (uint32_t s = 0; s < ranks->step_count; s++) {
			ret->path[s].used = ret->path[s].wall_ns > 0;
			ret->path_used += ret->path[s].used;
		}
	} else if (ret->path_used < ranks->step_count) {
		diag_add(&ret->diag, DIAG_OPEN_WINDOW, ranks->step_count - ret->path_used, -1);
	}
	const bool can_tell = ranks->count > 1;
	ret->starved_frac = starved_frac(ranks, tally, ret);
	if (can_tell && ret->starved_frac > LAUNCH_BOUND_FRAC && ret->path_used >= 3 &&
		ret->path[0].used) {
		ret->path[0].used = false;
		ret->path_used--;
		diag_set(&ret->diag, DIAG_WARMUP_LEFT_OUT, 1);
		ret->starved_frac = starved_frac(ranks, tally, ret);
	}
	ret->launch_bound = can_tell && ret->starved_frac > LAUNCH_BOUND_FRAC;
	if (ret->launch_bound)
		diag_set(&ret->diag, DIAG_LAUNCH_BOUND, 1);
}

/* --- from the tally to the results --- */

static const char *name_hop(
	const struct ranks *ranks, const struct path_hop *hop, struct arena *arena, struct err *err)
{
	const struct rank_analysis *rank = &ranks->items[hop->from];
	const uint32_t collective =
		ranks->collective[(size_t)hop->match * ranks->count + hop->from];
	const struct gather *gather = &rank->phases.gathers[collective];
	const char *kind = holder_word(holder_of(rank->trace->collectives.kind[collective]));
	if (gather->reason == WORD_NONE)
		return arena_text(arena, kind, err);
	return arena_format(arena, err, "%s %s %s", kind, unit_name(&rank->phases, gather->unit),
		gather_word(gather->reason));
}

static bool take_hops(const struct ranks *ranks, const struct tally *tally, struct breakdown *ret,
	struct err *err)
{
	for (uint32_t s = 0; s < ranks->step_count; s++) {
		uint32_t count = 0;
		for (uint32_t h = 0; h < tally->hops.count; h++)
			count += tally->hops.items[h].step == s;
		ret->path[s].hops = arena_new(&ret->arena, count, sizeof *ret->path[s].hops, err);
		if (!ret->path[s].hops)
			return false;
	}
	for (uint32_t h = 0; h < tally->hops.count; h++) {
		const struct path_hop *hop = &tally->hops.items[h];
		struct path_step *step = &ret->path[hop->step];
		const char *name = name_hop(ranks, hop, &ret->arena, err);
		if (!name)
			return false;
		step->hops[step->hop_count++] =
			(struct hop){name, ranks->items[hop->from].trace->rank,
				ranks->items[hop->to].trace->rank, hop->ns};
	}
	return true;
}

static bool close_step(struct path_step *step, struct err *err)
{
	int64_t sum_ns = 0;
	for (uint32_t p = 0; p < step->parts.count; p++)
		sum_ns += step->parts.items[p].ns;
	if (sum_ns != step->wall_ns)
		return err_set(err, ERR_INTERNAL,
			"the path's parts of %s sum to %lld ns, not to its %lld ns", step->name,
			(long long)sum_ns, (long long)step->wall_ns);
	return true;
}

static int by_bill(const void *a, const void *b)
{
	const struct bill *left = a, *right = b;
	const int order = strverscmp(left->unit, right->unit);
	return order ? order : (left->reason > right->reason) - (left->reason < right->reason);
}

static bool take_bills(const struct tally *tally, const struct breakdown *breakdown,
	struct run_facts *facts, struct arena *arena, struct err *err)
{
	facts->bills = arena_new(arena, tally->bill_count, sizeof *facts->bills, err);
	if (!facts->bills)
		return false;
	for (uint32_t b = 0; b < tally->bill_count; b++) {
		struct bill *bill = &facts->bills[facts->bill_count++];
		int64_t *ns =
			arena_new(arena, (size_t)facts->step_count * BILL_KINDS, sizeof *ns, err);
		bill->unit =
			arena_text(arena, intern_text(&tally->names, tally->bills[b].unit_id), err);
		bill->reason = tally->bills[b].reason;
		if (!ns || !bill->unit)
			return false;
		bill->blocked_ns = ns;
		bill->busy_ns = ns + facts->step_count;
		bill->dispatch_ns = ns + 2 * facts->step_count;
		uint32_t row = 0;
		for (uint32_t s = 0; s < breakdown->path_count; s++) {
			if (!breakdown->path[s].used)
				continue;
			for (uint32_t k = 0; k < BILL_KINDS; k++)
				ns[k * facts->step_count + row] =
					tally->bills[b].ns[s * BILL_KINDS + k];
			row++;
		}
	}
	qsort(facts->bills, facts->bill_count, sizeof *facts->bills, by_bill);
	return true;
}

static int by_kernel(const void *a, const void *b)
{
	const struct kernel_use *left = a, *right = b;
	if (left->phase != right->phase)
		return left->phase < right->phase ? -1 : 1;
	return strcmp(left->name, right->name);
}

static bool take_kernels(
	const struct tally *tally, struct run_facts *facts, struct arena *arena, struct err *err)
{
	facts->kernels = arena_new(arena, tally->kernel_count, sizeof *facts->kernels, err);
	if (!facts->kernels)
		return false;
	for (uint32_t k = 0; k < tally->kernel_count; k++) {
		const char *text = intern_text(&tally->names, tally->kernels[k].name_id);
		const char *name = arena_text(arena, text + 1, err);
		if (!name)
			return false;
		facts->kernels[facts->kernel_count++] = (struct kernel_use){.name = name,
			.phase = (enum phase)(text[0] - '0'),
			.count = tally->kernels[k].count / facts->step_count,
			.ns = tally->kernels[k].ns / facts->step_count};
	}
	qsort(facts->kernels, facts->kernel_count, sizeof *facts->kernels, by_kernel);
	return true;
}

static bool take_results(
	const struct ranks *ranks, struct tally *tally, struct breakdown *ret, struct err *err)
{
	for (uint32_t s = 0; s < ranks->step_count; s++)
		if (!sums_take(&tally->parts[s], &ret->arena, &ret->path[s].parts, err) ||
			!close_step(&ret->path[s], err))
			return false;
	struct run_facts *facts = ret->facts;
	facts->steps = arena_new(&ret->arena, ret->path_used, sizeof *facts->steps, err);
	if (!facts->steps)
		return false;
	int64_t tail_ns = 0;
	for (uint32_t s = 0; s < ranks->step_count; s++) {
		if (!ret->path[s].used)
			continue;
		tally->steps[s].wall_ns = ret->path[s].wall_ns;
		facts->steps[facts->step_count++] = tally->steps[s];
		tail_ns += tally->steps[s].tail_ns;
	}
	ret->tail_reduce_scatter_ns = facts->step_count ? tail_ns / facts->step_count : NULL_I64;
	return take_hops(ranks, tally, ret, err) &&
	       take_bills(tally, ret, facts, &ret->arena, err) &&
	       take_kernels(tally, facts, &ret->arena, err);
}

static bool tally_init(
	struct tally *tally, const struct ranks *ranks, struct arena *arena, struct err *err)
{
	*tally = (struct tally){.ranks = ranks, .arena = arena};
	tally->steps = mem_new(ranks->step_count, sizeof *tally->steps, err);
	tally->parts = mem_new(ranks->step_count, sizeof *tally->parts, err);
	tally->saw_backward = mem_new(ranks->step_count, sizeof *tally->saw_backward, err);
	tally->kernel_of = mem_new(ranks->count, sizeof *tally->kernel_of, err);
	if (!tally->steps || !tally->parts || !tally->saw_backward || !tally->kernel_of ||
		!intern_init(&tally->names, err))
		return false;
	for (uint32_t r = 0; r < ranks->count; r++) {
		tally->kernel_of[r] =
			mem_new((size_t)ranks->items[r].trace->strings.count * PHASE_COUNT,
				sizeof **tally->kernel_of, err);
		if (!tally->kernel_of[r])
			return false;
	}
	return true;
}

static void tally_done(struct tally *tally)
{
	for (uint32_t s = 0; tally->parts && s < tally->ranks->step_count; s++)
		sums_done(&tally->parts[s]);
	for (uint32_t r = 0; tally->kernel_of && r < tally->ranks->count; r++)
		mem_free(tally->kernel_of[r]);
	mem_free(tally->steps);
	mem_free(tally->parts);
	mem_free(tally->saw_backward);
	mem_free(tally->hops.items);
	mem_free(tally->bills);
	mem_free(tally->kernels);
	mem_free(tally->kernel_of);
	intern_done(&tally->names);
}

/* Two walks: the first tells which steps count, the second adds them up. */
static bool walk_twice(const struct ranks *ranks, uint32_t start_rank, struct tally *tally,
	bool *used, int64_t *wall_ns, struct breakdown *ret, struct err *err)
{
	const struct path_visitor visitor = {tally, on_stretch, on_hop};
	if (!path_walk(ranks, start_rank, &visitor, wall_ns, err))
		return false;
	for (uint32_t s = 0; s < ranks->step_count; s++) {
		ret->path[s].name = arena_text(&ret->arena, ranks->step_names[s], err);
		ret->path[s].wall_ns = wall_ns[s];
		if (!ret->path[s].name)
			return false;
	}
	choose_steps(ranks, tally, ret);
	for (uint32_t s = 0; s < ranks->step_count; s++)
		used[s] = ret->path[s].used;
	memset(tally->steps, 0, ranks->step_count * sizeof *tally->steps);
	memset(tally->saw_backward, 0, ranks->step_count * sizeof *tally->saw_backward);
	tally->used = used;
	return path_walk(ranks, start_rank, &visitor, wall_ns, err) &&
	       take_results(ranks, tally, ret, err);
}

bool path_result_make(
	const struct ranks *ranks, uint32_t start_rank, struct breakdown *ret, struct err *err)
{
	ret->path_count = ranks->step_count;
	ret->path_is_job = ranks->count > 1;
	ret->path = arena_new(&ret->arena, ranks->step_count, sizeof *ret->path, err);
	bool *used = arena_new(&ret->arena, ranks->step_count, sizeof *used, err);
	int64_t *wall_ns = arena_new(&ret->arena, ranks->step_count, sizeof *wall_ns, err);
	if (!ret->path || !used || !wall_ns)
		return false;
	struct tally tally;
	const bool ok = tally_init(&tally, ranks, &ret->arena, err) &&
			walk_twice(ranks, start_rank, &tally, used, wall_ns, ret, err);
	tally_done(&tally);
	return ok;
}
