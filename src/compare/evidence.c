#include "compare/evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_EVIDENCE 12 /* of one cause: what a reader looks through */
#define TOP_KERNELS  3

/* --- durations --- */

static int order_kernels(const struct kernel_use *a, const struct kernel_use *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_work(const struct kernel_use *kernel)
{
	return kernel->phase == PHASE_FORWARD || kernel->phase == PHASE_BACKWARD ||
	       kernel->phase == PHASE_OPTIMIZER;
}

/* What of a kernel's change its duration explains: the launches that both runs have. */
static double speed_change(const struct kernel_use *a, const struct kernel_use *b)
{
	if (a->count <= 0 || b->count <= 0)
		return 0;
	return fmin(a->count, b->count) * (b->ns / b->count - a->ns / a->count);
}

/* Calls `visit` for each kernel of either run; one of the two is NULL where a run has it not. */
static void visit_kernels(const struct pair_facts *pair,
	void (*visit)(void *context, const struct kernel_use *a, const struct kernel_use *b),
	void *context)
{
	const struct run_facts *fa = pair->base->facts, *fb = pair->checkpointed->facts;
	for (uint32_t a = 0, b = 0; a < fa->kernel_count || b < fb->kernel_count;) {
		int order;
		if (a == fa->kernel_count)
			order = 1;
		else if (b == fb->kernel_count)
			order = -1;
		else
			order = order_kernels(&fa->kernels[a], &fb->kernels[b]);
		visit(context, order <= 0 ? &fa->kernels[a] : NULL,
			order >= 0 ? &fb->kernels[b] : NULL);
		a += order <= 0;
		b += order >= 0;
	}
}

static void sum_speed(void *context, const struct kernel_use *a, const struct kernel_use *b)
{
	if (a && b && is_work(a))
		*(double *)context += speed_change(a, b);
}

double evidence_kernel_speed(const struct pair_facts *pair)
{
	/* With other shapes the same kernel takes other times, and that is work, not speed. */
	if (!pair->same_work)
		return 0;
	double sum_ns = 0;
	visit_kernels(pair, sum_speed, &sum_ns);
	return sum_ns;
}

static double dispatch_of(const struct run_facts *facts)
{
	double sum_ns = 0;
	for (uint32_t s = 0; s < facts->step_count; s++)
		sum_ns += (double)(facts->steps[s].dispatch_ns[PHASE_FORWARD] +
				   facts->steps[s].dispatch_ns[PHASE_BACKWARD]);
	return sum_ns / facts->step_count;
}

/* How much slower the host calls are that both runs make, weighed by base's counts; 0 is the same.
 */
static double call_slowdown(const struct pair_facts *pair)
{
	const struct run_facts *fa = pair->base->facts, *fb = pair->checkpointed->facts;
	double before_ns = 0, change_ns = 0;
	for (uint32_t a = 0; a < fa->call_count; a++) {
		for (uint32_t b = 0; b < fb->call_count; b++) {
			if (strcmp(fa->calls[a].name, fb->calls[b].name) != 0)
				continue;
			before_ns += fa->calls[a].count * fa->calls[a].median_ns;
			change_ns += fa->calls[a].count *
				     (fb->calls[b].median_ns - fa->calls[a].median_ns);
		}
	}
	return before_ns > 0 ? change_ns / before_ns : 0;
}

double evidence_host_speed(const struct pair_facts *pair)
{
	return pair->same_work ? dispatch_of(pair->base->facts) * call_slowdown(pair) : 0;
}

/* --- lists --- */

struct list {
	struct arena *arena;
	struct err *err;
	struct evidence *items;
	uint32_t count;
	bool ok;
};

static void put(struct list *list, const char *kind, const char *name, double base,
	double checkpointed, const char *unit)
{
	if (!list->ok || list->count == MAX_EVIDENCE || (base == 0 && checkpointed == 0))
		return;
	list->items[list->count++] = (struct evidence){kind, name, base, checkpointed, unit};
}

/* So many a step of base's tokens, as the times beside them. */
static void put_count(struct list *list, const struct pair_facts *pair, const char *name,
	double base, double checkpointed)
{
	put(list, "count", name, base, checkpointed * pair->scale, "count");
}

static void put_sum(
	struct list *list, const char *name, const struct pair_facts *pair, size_t offset)
{
	double mean_ns[2] = {0, 0};
	const struct run_facts *facts[] = {pair->base->facts, pair->checkpointed->facts};
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t s = 0; s < facts[r]->step_count; s++) {
			int64_t ns;
			memcpy(&ns, (const char *)&facts[r]->steps[s] + offset, sizeof ns);
			mean_ns[r] += (double)ns / facts[r]->step_count;
		}
	}
	put(list, "time", name, mean_ns[0], mean_ns[1] * pair->scale, "ns");
}

#define PUT_SUM(list, name, pair, field) \
	put_sum(list, name, pair, offsetof(struct path_sums, field))

/* The kernels whose own change is the largest. */
struct top {
	const struct pair_facts *pair;
	enum phase phase; /* PHASE_COUNT: the phases of work */
	bool by_speed;
	struct {
		const char *name;
		double base, checkpointed, weight;
	} items[TOP_KERNELS];
};

static void keep_top(void *context, const struct kernel_use *a, const struct kernel_use *b)
{
	struct top *top = context;
	const struct kernel_use *any = a ? a : b;
	if (top->phase == PHASE_COUNT ? !is_work(any) : any->phase != top->phase)
		return;
	const double before = a ? a->ns : 0, after = b ? b->ns * top->pair->scale : 0;
	const double speed = top->pair->same_work && a && b ? speed_change(a, b) : 0;
	double weight = fabs(top->by_speed ? speed : after - before - speed);
	if (weight < 10000) /* a hundredth of a millisecond moves no step */
		return;
	for (uint32_t i = 0; i < TOP_KERNELS; i++) {
		if (weight <= top->items[i].weight)
			continue;
		memmove(&top->items[i + 1], &top->items[i],
			(TOP_KERNELS - 1 - i) * sizeof top->items[0]);
		top->items[i].name = any->name;
		top->items[i].base = before;
		top->items[i].checkpointed = after;
		top->items[i].weight = weight;
		return;
	}
}

static void put_kernels(
	struct list *list, const struct pair_facts *pair, enum phase phase, bool by_speed)
{
	struct top top = {.pair = pair, .phase = phase, .by_speed = by_speed};
	visit_kernels(pair, keep_top, &top);
	for (uint32_t i = 0; i < TOP_KERNELS && top.items[i].name; i++)
		put(list, "kernel", top.items[i].name, top.items[i].base, top.items[i].checkpointed,
			"ns");
}

/* What the chosen gathers of one unit and reason cost, of a step. */
struct unit_cost {
	const struct bill *bill;
	double ns;
	bool is_base;
};

static int order_costs(const void *a, const void *b)
{
	const struct unit_cost *one = a, *other = b;
	if (one->ns != other->ns)
		return one->ns > other->ns ? -1 : 1;
	const int order = strcmp(one->bill->unit, other->bill->unit);
	return order ? order : (int)one->bill->reason - (int)other->bill->reason;
}

static uint32_t unit_costs(const struct pair_facts *pair, struct unit_cost *costs)
{
	const struct run_facts *facts[] = {pair->base->facts, pair->checkpointed->facts};
	const bool *chosen[] = {pair->base_chosen, pair->checkpointed_chosen};
	uint32_t count = 0;
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t b = 0; b < facts[r]->bill_count; b++) {
			const struct bill *bill = &facts[r]->bills[b];
			if (!chosen[r][b])
				continue;
			double ns = 0;
			for (uint32_t s = 0; s < facts[r]->step_count; s++)
				ns += (double)(bill->blocked_ns[s] + bill->busy_ns[s] +
					       bill->dispatch_ns[s]) /
				      facts[r]->step_count;
			costs[count++] =
				(struct unit_cost){bill, r ? ns * pair->scale : ns, r == 0};
		}
	}
	qsort(costs, count, sizeof *costs, order_costs);
	return count;
}

/* The dearest first: a reader sees but the first of them. */
static void put_units(struct list *list, const struct pair_facts *pair)
{
	struct unit_cost *costs = arena_new(list->arena,
		pair->base->facts->bill_count + pair->checkpointed->facts->bill_count + 1,
		sizeof *costs, list->err);
	list->ok = list->ok && costs;
	const uint32_t count = costs ? unit_costs(pair, costs) : 0;
	for (uint32_t i = 0; i < count && list->ok; i++) {
		const char *name = arena_format(list->arena, list->err, "%s %s",
			costs[i].bill->unit, gather_word(costs[i].bill->reason));
		list->ok = name != NULL;
		put(list, "unit", name, costs[i].is_base ? costs[i].ns : 0,
			costs[i].is_base ? 0 : costs[i].ns, "ns");
	}
}

static void put_repeats(struct list *list, const struct pair_facts *pair)
{
	const struct run_facts *facts[] = {pair->base->facts, pair->checkpointed->facts};
	const bool *chosen[] = {pair->base_chosen, pair->checkpointed_chosen};
	double bytes[2] = {0, 0}, count[2] = {0, 0};
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t b = 0; b < facts[r]->bill_count; b++) {
			bytes[r] += chosen[r][b] ? facts[r]->bills[b].bytes : 0;
			count[r] += chosen[r][b] ? facts[r]->bills[b].count : 0;
		}
	}
	put_count(list, pair, "gathers that only one run has", count[0], count[1]);
	put(list, "count", "bytes they gather", bytes[0], bytes[1] * pair->scale, "bytes");
	put_units(list, pair);
}

static void put_overlap(struct list *list, const struct pair_facts *pair)
{
	PUT_SUM(list, "blocked on all-gathers", pair, blocked_ns[HOLDER_ALL_GATHER]);
	PUT_SUM(list, "blocked on reduce-scatters", pair, blocked_ns[HOLDER_REDUCE_SCATTER]);
	PUT_SUM(list, "of it, gathers that waited behind reduce-scatters", pair, queued_ns);
	PUT_SUM(list, "of it, reduce-scatters after the last backward op", pair, tail_ns);
	double bytes[2] = {0, 0};
	const struct run_facts *facts[] = {pair->base->facts, pair->checkpointed->facts};
	for (uint32_t r = 0; r < 2; r++)
		for (uint32_t b = 0; b < facts[r]->bill_count; b++)
			bytes[r] += facts[r]->bills[b].bytes;
	put(list, "count", "bytes gathered", bytes[0], bytes[1] * pair->scale, "bytes");
}

static void put_allocator(struct list *list, const struct pair_facts *pair)
{
	const struct run_facts *a = pair->base->facts, *b = pair->checkpointed->facts;
	PUT_SUM(list, "starved inside the allocator", pair, starved_ns[STARVE_ALLOCATOR]);
	PUT_SUM(list, "starved after it, until the host was ahead again", pair,
		starved_ns[STARVE_LEAD_LOST]);
	put_count(list, pair, "allocator retries", a->retries, b->retries);
	put_count(list, pair, "cudaFree calls", a->free_calls, b->free_calls);
	put_count(list, pair, "cudaMalloc calls", a->alloc_calls, b->alloc_calls);
	for (uint32_t r = 0; r < a->rank_count && r < b->rank_count; r++) {
		const int32_t rank = pair->base->ranks[r].rank;
		char *inside = arena_format(
			list->arena, list->err, "inside cudaMalloc and cudaFree, rank %d", rank);
		char *starved = arena_format(list->arena, list->err,
			"of it, while the GPU had nothing to do, rank %d", rank);
		list->ok = list->ok && inside && starved;
		put(list, "time", inside, (double)a->alloc_call_ns[r],
			(double)b->alloc_call_ns[r] * pair->scale, "ns");
		put(list, "time", starved, (double)a->alloc_starved_ns[r],
			(double)b->alloc_starved_ns[r] * pair->scale, "ns");
	}
}

static void put_calls(struct list *list, const struct pair_facts *pair)
{
	const struct run_facts *fa = pair->base->facts, *fb = pair->checkpointed->facts;
	for (uint32_t a = 0; a < fa->call_count; a++)
		for (uint32_t b = 0; b < fb->call_count; b++)
			if (strcmp(fa->calls[a].name, fb->calls[b].name) == 0)
				put(list, "call", fa->calls[a].name, fa->calls[a].median_ns,
					fb->calls[b].median_ns, "ns");
}

static void put_recompute(struct list *list, const struct pair_facts *pair)
{
	const struct run_facts *a = pair->base->facts, *b = pair->checkpointed->facts;
	PUT_SUM(list, "busy recomputing", pair, busy_ns[PHASE_RECOMPUTE]);
	put_count(list, pair, "regions recomputed", a->regions, b->regions);
	const struct flop_use *fa = &pair->base->ranks[0].flops;
	const struct flop_use *fb = &pair->checkpointed->ranks[0].flops;
	if (fa->recompute_flop != NULL_I64 && fb->recompute_flop != NULL_I64)
		put(list, "count", "FLOPs recomputed by a rank", (double)fa->recompute_flop,
			(double)fb->recompute_flop * pair->scale, "flop");
	put_kernels(list, pair, PHASE_RECOMPUTE, false);
}

static void put_others(struct list *list, const struct pair_facts *pair)
{
	PUT_SUM(list, "latency between ops", pair, blocked_ns[HOLDER_LATENCY]);
	PUT_SUM(list, "unexplained", pair, blocked_ns[HOLDER_UNEXPLAINED]);
	PUT_SUM(list, "busy in an unknown phase", pair, busy_ns[PHASE_UNKNOWN]);
	PUT_SUM(list, "blocked on all-reduces", pair, blocked_ns[HOLDER_ALL_REDUCE]);
	PUT_SUM(list, "blocked on sends and receives", pair, blocked_ns[HOLDER_SEND_RECV]);
	PUT_SUM(list, "blocked on broadcasts", pair, blocked_ns[HOLDER_BROADCAST]);
	PUT_SUM(list, "blocked on other collectives", pair, blocked_ns[HOLDER_OTHER_COLLECTIVE]);
}

static void put_host(struct list *list, const struct pair_facts *pair)
{
	if (!pair->only_checkpointing) {
		PUT_SUM(list, "starved for dispatch of forward", pair, dispatch_ns[PHASE_FORWARD]);
		PUT_SUM(list, "starved for dispatch of backward", pair,
			dispatch_ns[PHASE_BACKWARD]);
	}
	PUT_SUM(list, "starved for dispatch of the optimizer", pair, dispatch_ns[PHASE_OPTIMIZER]);
	PUT_SUM(list, "starved in synchronisations", pair, starved_ns[STARVE_SYNC]);
	PUT_SUM(list, "starved for data", pair, starved_ns[STARVE_DATA]);
	PUT_SUM(list, "starved in garbage collection", pair, starved_ns[STARVE_GC]);
}

static void put_cause(struct list *list, const struct pair_facts *pair, enum cause cause)
{
	const struct run_facts *a = pair->base->facts, *b = pair->checkpointed->facts;
	switch (cause) {
	case CAUSE_RECOMPUTE:
		put_recompute(list, pair);
		break;
	case CAUSE_RECOMPUTE_DISPATCH:
		PUT_SUM(list, "starved for dispatch of recomputation", pair,
			dispatch_ns[PHASE_RECOMPUTE]);
		break;
	case CAUSE_REPEATED_ALL_GATHER:
		put_repeats(list, pair);
		break;
	case CAUSE_LOST_OVERLAP:
		put_overlap(list, pair);
		break;
	case CAUSE_UNIT_OVERHEAD:
		PUT_SUM(list, "busy in FSDP's copies", pair, busy_ns[PHASE_FSDP]);
		PUT_SUM(list, "starved in FSDP's hooks", pair, dispatch_ns[PHASE_FSDP]);
		break;
	case CAUSE_WRAPPER_DISPATCH:
		PUT_SUM(list, "starved for dispatch of forward", pair, dispatch_ns[PHASE_FORWARD]);
		PUT_SUM(list, "starved for dispatch of backward", pair,
			dispatch_ns[PHASE_BACKWARD]);
		put_count(list, pair, "regions recomputed", a->regions, b->regions);
		break;
	case CAUSE_KERNEL_SPEED:
		put_kernels(list, pair, PHASE_COUNT, true);
		break;
	case CAUSE_OTHER_WORK:
		put_kernels(list, pair, PHASE_COUNT, false);
		break;
	case CAUSE_HOST_SPEED:
		put_calls(list, pair);
		break;
	case CAUSE_ALLOCATOR:
		put_allocator(list, pair);
		break;
	case CAUSE_HOST:
		put_host(list, pair);
		break;
	case CAUSE_COPIES:
		PUT_SUM(list, "blocked on copies", pair, blocked_ns[HOLDER_COPY]);
		break;
	default:
		put_others(list, pair);
	}
}

bool evidence_add(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	for (uint32_t c = 0; c < CAUSE_COUNT; c++) {
		struct list list = {.arena = &ret->arena, .err = err, .ok = true};
		list.items = arena_new(&ret->arena, MAX_EVIDENCE, sizeof *list.items, err);
		list.ok = list.items;
		put_cause(&list, pair, c);
		if (!list.ok)
			return false;
		ret->causes[c].evidence = list.items;
		ret->causes[c].evidence_count = list.count;
	}
	return true;
}
