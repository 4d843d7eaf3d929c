/*
 * The second walk over the host stacks: the situation at every launch, what kept the host, and the
 * order of FSDP1's units.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "phase/passes.h"
#include "phase/phases.h"

struct walk {
	const struct trace *trace;
	const struct roles *roles;
	const struct passes *passes;
	struct phases *phases;
	struct stack *stack;
	uint32_t *by_call; /* GPU ops that have a launch call, by that call */
	uint32_t by_call_count, by_call_next;
	uint32_t span_capacity, fsdp1_capacity, alloc_capacity;
	uint32_t alloc_frame; /* host op that the open allocator group is in */
	bool alloc_is_open;
	int64_t span_end_ns[SPAN_KIND_COUNT]; /* of the thread's last span of each kind */
};

static bool push_span(struct walk *walk, enum span_kind kind, uint32_t thread_id, uint32_t range,
	int64_t start_ns, int64_t end_ns, struct err *err)
{
	struct phases *phases = walk->phases;
	/* A range inside another of its kind adds nothing, but for gathers, which are told apart.
	 */
	if (kind != SPAN_GATHER && end_ns <= walk->span_end_ns[kind])
		return true;
	if (kind != SPAN_GATHER && start_ns < walk->span_end_ns[kind])
		start_ns = walk->span_end_ns[kind];
	walk->span_end_ns[kind] = end_ns;
	if (phases->span_count == walk->span_capacity) {
		const uint32_t capacity = walk->span_capacity ? walk->span_capacity * 2 : 256;
		if (!mem_resize(&phases->spans, capacity, sizeof *phases->spans, err))
			return false;
		walk->span_capacity = capacity;
	}
	phases->spans[phases->span_count++] = (struct span){.start_ns = start_ns,
		.end_ns = end_ns,
		.thread_id = thread_id,
		.range = range,
		.kind = (uint8_t)kind};
	return true;
}

static void begin_spans(struct walk *walk)
{
	for (uint32_t kind = 0; kind < SPAN_KIND_COUNT; kind++)
		walk->span_end_ns[kind] = INT64_MIN;
}

static bool push_fsdp1(struct walk *walk, enum fsdp1_event_kind kind, int64_t at_ns, int64_t end_ns,
	const struct context *top, struct err *err)
{
	struct phases *phases = walk->phases;
	if (phases->fsdp1_count == walk->fsdp1_capacity) {
		const uint32_t capacity = walk->fsdp1_capacity ? walk->fsdp1_capacity * 2 : 256;
		if (!mem_resize(&phases->fsdp1, capacity, sizeof *phases->fsdp1, err))
			return false;
		walk->fsdp1_capacity = capacity;
	}
	const uint32_t step = host_steps_at(&phases->steps, at_ns);
	phases->fsdp1[phases->fsdp1_count++] = (struct fsdp1_event){.at_ns = at_ns,
		.end_ns = end_ns,
		.step = step,
		.micro_batch = passes_micro_batch(walk->passes, &phases->steps, step, at_ns),
		.kind = (uint8_t)kind,
		.depth = top->fsdp1_depth};
	return true;
}

/* Ranges that may launch a gather or its copies. */
static bool may_gather(uint8_t role)
{
	return role == OP_FSDP2_GATHER || role == OP_FSDP2_COPY_OUT ||
	       role == OP_FSDP1_PRE_FORWARD || role == OP_FSDP1_PRE_BACKWARD ||
	       role == OP_FSDP1_PREFETCH;
}

/* A range has been opened: what it says beyond the context it makes. */
static bool note_range(struct walk *walk, uint32_t thread_id, struct err *err)
{
	const struct context *top = stack_top(walk->stack);
	const struct host_op_table *ops = &walk->trace->host_ops;
	const int64_t start_ns = ops->start_ns[top->host_op], end_ns = ops->end_ns[top->host_op];
	const uint8_t role = walk->roles->op[ops->name_id[top->host_op]];
	const bool in_backward = top->evaluate != NULL_U32 || walk->passes->is_backward[thread_id];
	if (role == OP_DATA &&
		!push_span(walk, SPAN_DATA, thread_id, NULL_U32, start_ns, end_ns, err))
		return false;
	if (role == OP_GC && !push_span(walk, SPAN_GC, thread_id, NULL_U32, start_ns, end_ns, err))
		return false;
	if (op_is_fsdp_hook(role)) {
		walk->phases->is_fsdp1 = walk->phases->is_fsdp1 || role >= OP_FSDP1_FORWARD;
		walk->phases->is_fsdp2 = walk->phases->is_fsdp2 || role < OP_FSDP1_FORWARD;
		if (!push_span(walk, SPAN_HOOK, thread_id, NULL_U32, start_ns, end_ns, err))
			return false;
	}
	if (may_gather(role) &&
		!push_span(walk, SPAN_GATHER, thread_id, top->host_op, start_ns, end_ns, err))
		return false;
	switch (role) {
	case OP_FSDP1_FORWARD:
		return push_fsdp1(walk, in_backward ? FSDP1_RECOMPUTE_BEGIN : FSDP1_FORWARD_BEGIN,
			start_ns, end_ns, top, err);
	case OP_FSDP1_PRE_BACKWARD:
		return push_fsdp1(walk, FSDP1_HOOK_BEGIN, start_ns, end_ns, top, err);
	case OP_FSDP1_POST_BACKWARD:
		return push_fsdp1(walk, FSDP1_POST_END, end_ns, end_ns, top, err);
	default:
		return true;
	}
}

/*
 * Allocator calls that follow one another inside one host op are one group; the synchronisations
 * between them are the allocator's own.
 */
static bool note_alloc(
	struct walk *walk, uint32_t call, uint8_t role, uint32_t frame, struct err *err)
{
	const struct api_call_table *calls = &walk->trace->api_calls;
	struct phases *phases = walk->phases;
	const int64_t start_ns = calls->start_ns[call], end_ns = calls->end_ns[call];
	const bool joins =
		walk->alloc_is_open && walk->alloc_frame == frame &&
		phases->allocs[phases->alloc_count - 1].thread_id == calls->thread_id[call];
	if (!joins) {
		if (phases->alloc_count == walk->alloc_capacity) {
			const uint32_t capacity =
				walk->alloc_capacity ? walk->alloc_capacity * 2 : 64;
			if (!mem_resize(&phases->allocs, capacity, sizeof *phases->allocs, err))
				return false;
			walk->alloc_capacity = capacity;
		}
		phases->allocs[phases->alloc_count++] = (struct alloc_group){.start_ns = start_ns,
			.end_ns = end_ns,
			.thread_id = calls->thread_id[call],
			.step = host_steps_at(&phases->steps, start_ns)};
		walk->alloc_is_open = true;
		walk->alloc_frame = frame;
	}
	struct alloc_group *group = &phases->allocs[phases->alloc_count - 1];
	group->end_ns = end_ns;
	group->call_ns += end_ns - start_ns;
	if (role == CALL_ALLOC) {
		group->is_retry = group->is_retry || group->free_calls;
		group->alloc_calls++;
	} else {
		group->free_calls++;
	}
	return true;
}

/* The phase of a launch whose innermost range is `top`. */
static uint8_t base_phase(
	const struct walk *walk, const struct context *top, uint32_t step, int64_t at_ns)
{
	const struct passes *passes = walk->passes;
	if (top->base == PHASE_BACKWARD && top->evaluate != NULL_U32) {
		/* Ops without an autograd key between two that recompute belong to them. */
		const struct bracket *bracket = &passes->brackets[top->evaluate];
		const bool between = bracket->first_ns != NULL_I64 && at_ns > bracket->first_ns &&
				     at_ns < bracket->last_ns;
		return between && top->compiled != 2 ? PHASE_RECOMPUTE : PHASE_BACKWARD;
	}
	if (top->base == PHASE_FORWARD && step != NULL_U32 && !top->under_forward_op &&
		!top->hook && passes->first_backward_ns[step] != NULL_I64 &&
		at_ns > passes->first_backward_ns[step] &&
		(passes->last_forward_ns[step] == NULL_I64 ||
			at_ns > passes->last_forward_ns[step]))
		return PHASE_OPTIMIZER; /* as gradient clipping, after the last backward */
	return top->base;
}

static struct launch describe(const struct walk *walk, const struct context *top, uint32_t call)
{
	const struct api_call_table *calls = &walk->trace->api_calls;
	const struct host_steps *steps = &walk->phases->steps;
	const int64_t start_ns = calls->start_ns[call];
	const uint32_t step = host_steps_at(steps, start_ns);
	const uint8_t base = base_phase(walk, top, step, start_ns);
	return (struct launch){.start_ns = start_ns,
		.end_ns = calls->end_ns[call],
		.thread_id = calls->thread_id[call],
		.step = step,
		.unit = top->unit,
		.range = top->range,
		.micro_batch = passes_micro_batch(walk->passes, steps, step, start_ns),
		.phase = top->hook ? PHASE_FSDP : base,
		.base = base,
		.how = base == PHASE_UNKNOWN ? HOW_UNKNOWN
		       : top->marked	     ? HOW_MARKED
					     : HOW_STRUCTURAL,
		.hook = top->hook,
		.prefetched = top->prefetched,
		.in_gather = top->in_gather,
		.is_copy_out = top->is_copy_out,
		.compiled = top->compiled};
}

static bool note_call(struct walk *walk, uint32_t call, struct err *err)
{
	const struct api_call_table *calls = &walk->trace->api_calls;
	const struct context *top = stack_top(walk->stack);
	const uint32_t thread_id = calls->thread_id[call];
	const uint8_t role = walk->roles->call[calls->name_id[call]];
	const int64_t start_ns = calls->start_ns[call], end_ns = calls->end_ns[call];
	bool ok = true;
	if (role == CALL_ALLOC || role == CALL_FREE)
		ok = note_alloc(walk, call, role, top->host_op, err);
	else if (role != CALL_SYNC)
		walk->alloc_is_open = false;
	if (role == CALL_PINNED)
		ok = push_span(walk, SPAN_ALLOCATOR, thread_id, NULL_U32, start_ns, end_ns, err);
	if (role == CALL_SYNC)
		ok = push_span(walk, SPAN_SYNC, thread_id, NULL_U32, start_ns, end_ns, err);

	struct launch launch;
	bool described = false;
	for (; walk->by_call_next < walk->by_call_count; walk->by_call_next++) {
		const uint32_t op = walk->by_call[walk->by_call_next];
		if (walk->trace->gpu_ops.api_call_id[op] != call)
			break;
		if (!described)
			launch = describe(walk, top, call);
		described = true;
		walk->phases->launches[op] = launch;
	}
	return ok;
}

static bool walk_thread(struct walk *walk, uint32_t thread_id, struct err *err)
{
	const struct rows ops = walk->passes->ops[thread_id],
			  calls = walk->passes->calls[thread_id];
	stack_begin(walk->stack, ops.first, ops.end, passes_bottom(walk->passes, thread_id));
	walk->alloc_is_open = false;
	begin_spans(walk);
	for (uint32_t call = calls.first; call < calls.end; call++) {
		const int64_t at_ns = walk->trace->api_calls.start_ns[call];
		while (stack_open_next(walk->stack, at_ns))
			if (!note_range(walk, thread_id, err))
				return false;
		stack_close(walk->stack, at_ns);
		if (!note_call(walk, call, err))
			return false;
	}
	while (stack_open_next(walk->stack, INT64_MAX))
		if (!note_range(walk, thread_id, err))
			return false;
	return true;
}

/* GPU ops by the call that launched them, which is the order the walk meets the calls in. */
static bool sort_by_call(struct walk *walk, struct err *err)
{
	const struct gpu_op_table *ops = &walk->trace->gpu_ops;
	const uint32_t call_count = walk->trace->api_calls.head.count;
	uint32_t *first = mem_new((size_t)call_count + 1, sizeof *first, err);
	walk->by_call = mem_new(ops->head.count, sizeof *walk->by_call, err);
	if (!first || !walk->by_call) {
		mem_free(first);
		return false;
	}
	for (uint32_t i = 0; i < ops->head.count; i++)
		if (ops->api_call_id[i] != NULL_U32)
			first[ops->api_call_id[i] + 1]++;
	for (uint32_t c = 0; c < call_count; c++)
		first[c + 1] += first[c];
	walk->by_call_count = first[call_count];
	for (uint32_t i = 0; i < ops->head.count; i++)
		if (ops->api_call_id[i] != NULL_U32)
			walk->by_call[first[ops->api_call_id[i]]++] = i;
	mem_free(first);
	return true;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	if (left->kind != right->kind)
		return left->kind < right->kind ? -1 : 1;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static int compare_events(const void *a, const void *b)
{
	const struct fsdp1_event *left = a, *right = b;
	return (left->at_ns > right->at_ns) - (left->at_ns < right->at_ns);
}

/* Allocator groups are spans; then the spans are put in the order they are looked up by. */
static bool finish(struct walk *walk, struct err *err)
{
	struct phases *phases = walk->phases;
	for (uint32_t i = 0; i < phases->alloc_count; i++) {
		const struct alloc_group *group = &phases->allocs[i];
		if (!i || group->thread_id != group[-1].thread_id)
			begin_spans(walk);
		if (!push_span(walk, SPAN_ALLOCATOR, group->thread_id, NULL_U32, group->start_ns,
			    group->end_ns, err))
			return false;
	}
	if (phases->span_count)
		qsort(phases->spans, phases->span_count, sizeof *phases->spans, compare_spans);
	if (phases->fsdp1_count)
		qsort(phases->fsdp1, phases->fsdp1_count, sizeof *phases->fsdp1, compare_events);
	uint32_t at = 0;
	for (uint32_t kind = 0; kind <= SPAN_KIND_COUNT; kind++) {
		while (at < phases->span_count && phases->spans[at].kind < kind)
			at++;
		phases->span_first[kind] = kind == SPAN_KIND_COUNT ? phases->span_count : at;
	}
	phases->regions = walk->passes->marked_regions;
	for (uint32_t i = 0; i < walk->passes->bracket_count; i++) {
		if (walk->passes->brackets[i].first_ns == NULL_I64)
			continue;
		phases->regions++;
		phases->reentrant_regions += walk->passes->brackets[i].reentrant;
	}
	return true;
}

static bool walk_all(struct walk *walk, struct err *err)
{
	const struct gpu_op_table *ops = &walk->trace->gpu_ops;
	struct phases *phases = walk->phases;
	phases->launches =
		arena_new(&phases->arena, ops->head.count, sizeof *phases->launches, err);
	walk->stack = mem_new(1, sizeof *walk->stack, err);
	if (!phases->launches || !walk->stack || !sort_by_call(walk, err))
		return false;
	for (uint32_t i = 0; i < ops->head.count; i++)
		phases->launches[i] = (struct launch){.start_ns = NULL_I64,
			.end_ns = NULL_I64,
			.thread_id = NULL_U32,
			.step = NULL_U32,
			.unit = NULL_U32,
			.range = NULL_U32,
			.phase = PHASE_UNKNOWN,
			.base = PHASE_UNKNOWN,
			.how = HOW_UNKNOWN};
	walk->stack->trace = walk->trace;
	walk->stack->roles = walk->roles;
	for (uint32_t t = 0; t < walk->trace->threads.head.count; t++)
		if (!walk_thread(walk, t, err))
			return false;
	return finish(walk, err);
}

bool phases_read_stacks(const struct trace *trace, const struct roles *roles, struct phases *phases,
	struct err *err)
{
	struct passes passes;
	if (!passes_make(trace, roles, &phases->steps, &passes, err))
		return false;
	struct walk walk = {.trace = trace, .roles = roles, .passes = &passes, .phases = phases};
	const bool ok = walk_all(&walk, err);
	phases->micro_batch_count = 0;
	for (uint32_t i = 0; ok && i < trace->gpu_ops.head.count; i++)
		if (phases->launches[i].step != NULL_U32 &&
			phases->launches[i].micro_batch + 1u > phases->micro_batch_count)
			phases->micro_batch_count = phases->launches[i].micro_batch + 1u;
	mem_free(walk.stack);
	mem_free(walk.by_call);
	passes_done(&passes);
	return ok;
}
