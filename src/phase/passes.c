#include "phase/passes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A growing list of times. */
struct times {
	int64_t *items;
	uint32_t count, capacity;
};

static bool times_push(struct times *times, int64_t at_ns, struct err *err)
{
	if (times->count == times->capacity) {
		const uint32_t capacity = times->capacity ? times->capacity * 2 : 1024;
		if (!mem_resize(&times->items, capacity, sizeof *times->items, err))
			return false;
		times->capacity = capacity;
	}
	times->items[times->count++] = at_ns;
	return true;
}

static int by_time(const void *a, const void *b)
{
	const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
	return (left > right) - (left < right);
}

/* The rows of each thread in a column sorted by thread. */
static struct rows *thread_rows(struct arena *arena, const uint32_t *thread_id, uint32_t count,
	uint32_t thread_count, struct err *err)
{
	struct rows *rows = arena_new(arena, thread_count, sizeof *rows, err);
	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < count;) {
		const uint32_t thread = thread_id[i], first = i;
		while (i < count && thread_id[i] == thread)
			i++;
		rows[thread] = (struct rows){first, i};
	}
	return rows;
}

static void find_backward_threads(const struct trace *trace, const struct roles *roles,
	const struct host_steps *steps, struct passes *passes)
{
	const struct host_op_table *ops = &trace->host_ops;
	for (uint32_t t = 0; t < trace->threads.head.count; t++) {
		bool has_node = false, has_optimizer = false, has_mark = false;
		for (uint32_t i = passes->ops[t].first; i < passes->ops[t].end; i++) {
			const uint8_t role = roles->op[ops->name_id[i]];
			has_node = has_node || role == OP_EVALUATE || role == OP_NODE ||
				   ops->forward_thread[i] > 0;
			has_optimizer =
				has_optimizer || role == OP_OPTIMIZER || role == OP_MARK_OPTIMIZER;
			has_node = has_node || role == OP_MARK_RECOMPUTE;
			has_mark = has_mark || op_is_mark(role);
		}
		passes->is_marked = passes->is_marked || has_mark;
		passes->has_ops[t] = passes->ops[t].first < passes->ops[t].end;
		passes->is_backward[t] = t != steps->thread_id && !has_optimizer &&
					 (has_node || trace->threads.role[t] == THREAD_AUTOGRAD);
	}
}

struct context passes_bottom(const struct passes *passes, uint32_t thread_id)
{
	const uint8_t base = !passes->has_ops[thread_id]      ? PHASE_UNKNOWN
			     : passes->is_backward[thread_id] ? PHASE_BACKWARD
							      : PHASE_FORWARD;
	return (struct context){.end_ns = INT64_MAX,
		.marked = passes->is_marked && passes->is_backward[thread_id],
		.host_op = NULL_U32,
		.evaluate = NULL_U32,
		.unit = NULL_U32,
		.range = NULL_U32,
		.base = base};
}

/* A forward op, or a hook that only forward runs: the sign that a micro-batch has begun. */
static bool is_forward_sign(const struct context *context, uint8_t role)
{
	if (context->evaluate != NULL_U32 || context->base != PHASE_FORWARD)
		return false;
	return (context->is_forward_op && !context->hook) || role == OP_FSDP2_PRE_FORWARD ||
	       role == OP_FSDP1_FORWARD;
}

/* What the walk over one thread adds. */
static bool walk_thread(struct stack *stack, struct passes *passes, uint32_t thread_id,
	struct times *forward, struct times *backward, uint32_t *bracket_capacity, struct err *err)
{
	const struct host_op_table *ops = &stack->trace->host_ops;
	stack_begin(stack, passes->ops[thread_id].first, passes->ops[thread_id].end,
		passes_bottom(passes, thread_id));
	while (stack_open_next(stack, INT64_MAX)) {
		const struct context *top = stack_top(stack);
		const int64_t start_ns = ops->start_ns[top->host_op];
		const uint8_t role = stack->roles->op[ops->name_id[top->host_op]];
		if (top->is_node) {
			if (stack->evaluate_count > *bracket_capacity) {
				const uint32_t capacity = stack->evaluate_count * 2;
				if (!mem_resize(&passes->brackets, capacity,
					    sizeof *passes->brackets, err))
					return false;
				*bracket_capacity = capacity;
			}
			passes->brackets[top->evaluate] =
				(struct bracket){NULL_I64, NULL_I64, false};
			if (!times_push(backward, start_ns, err))
				return false;
		} else if (role == OP_MARK_BACKWARD || role == OP_MARK_RECOMPUTE) {
			if (!times_push(backward, start_ns, err))
				return false;
			passes->marked_regions += role == OP_MARK_RECOMPUTE;
		} else if (context_recomputes(top)) {
			struct bracket *bracket = &passes->brackets[top->evaluate];
			if (bracket->first_ns == NULL_I64)
				bracket->first_ns = start_ns;
			bracket->last_ns = start_ns;
			bracket->reentrant = bracket->reentrant || top->reentrant;
		} else if (is_forward_sign(top, role)) {
			if (!times_push(forward, start_ns, err))
				return false;
		}
	}
	return true;
}

/* The first and the last node of each step. */
static void find_backward(const struct host_steps *steps, const struct times *backward,
	int64_t *first_ns, int64_t *last_ns)
{
	for (uint32_t s = 0; s < steps->count; s++)
		first_ns[s] = last_ns[s] = NULL_I64;
	for (uint32_t b = 0; b < backward->count; b++) {
		const uint32_t step = host_steps_at(steps, backward->items[b]);
		if (step == NULL_U32)
			continue;
		if (first_ns[step] == NULL_I64)
			first_ns[step] = backward->items[b];
		last_ns[step] = backward->items[b];
	}
}

/*
 * Micro-batches begin at the first forward sign after a backward node of the same step.  A sign
 * that no node of its step follows, as loss.item() after the last backward, begins nothing.
 */
static bool find_micro_batches(const struct host_steps *steps, const struct times *forward,
	const struct times *backward, struct passes *passes, struct err *err)
{
	int64_t **columns[] = {
		&passes->last_forward_ns, &passes->first_backward_ns, &passes->last_backward_ns};
	for (uint32_t c = 0; c < sizeof columns / sizeof *columns; c++) {
		*columns[c] = arena_new(&passes->arena, steps->count, sizeof **columns[c], err);
		if (!*columns[c])
			return false;
	}
	find_backward(steps, backward, passes->first_backward_ns, passes->last_backward_ns);
	for (uint32_t s = 0; s < steps->count; s++)
		passes->last_forward_ns[s] = NULL_I64;

	struct times found = {0};
	uint32_t step = NULL_U32, b = 0;
	bool after_backward = false;
	bool ok = true;
	for (uint32_t f = 0; f < forward->count && ok; f++) {
		const int64_t at_ns = forward->items[f];
		const uint32_t now = host_steps_at(steps, at_ns);
		if (now != NULL_U32 && passes->last_backward_ns[now] != NULL_I64 &&
			at_ns > passes->last_backward_ns[now])
			continue;
		for (; b < backward->count && backward->items[b] < at_ns; b++)
			after_backward = after_backward ||
					 (step != NULL_U32 &&
						 backward->items[b] >= steps->items[step].start_ns);
		if (now == step && after_backward)
			ok = times_push(&found, at_ns, err);
		after_backward = false;
		step = now;
		if (now != NULL_U32)
			passes->last_forward_ns[now] = at_ns;
	}
	passes->micro_batch_ns = found.items;
	passes->micro_batch_count = found.count;
	return ok;
}

bool passes_make(const struct trace *trace, const struct roles *roles,
	const struct host_steps *steps, struct passes *ret, struct err *err)
{
	*ret = (struct passes){0};
	const uint32_t thread_count = trace->threads.head.count;
	struct times forward = {0}, backward = {0};
	struct stack *stack = mem_new(1, sizeof *stack, err);
	ret->ops = thread_rows(&ret->arena, trace->host_ops.thread_id, trace->host_ops.head.count,
		thread_count, err);
	ret->calls = thread_rows(&ret->arena, trace->api_calls.thread_id,
		trace->api_calls.head.count, thread_count, err);
	ret->is_backward = arena_new(&ret->arena, thread_count, sizeof *ret->is_backward, err);
	ret->has_ops = arena_new(&ret->arena, thread_count, sizeof *ret->has_ops, err);
	bool ok = stack && ret->ops && ret->calls && ret->is_backward && ret->has_ops;
	if (ok) {
		find_backward_threads(trace, roles, steps, ret);
		stack->trace = trace;
		stack->roles = roles;
		uint32_t bracket_capacity = 0;
		for (uint32_t t = 0; t < thread_count && ok; t++)
			ok = walk_thread(
				stack, ret, t, &forward, &backward, &bracket_capacity, err);
		ret->bracket_count = stack->evaluate_count;
	}
	if (ok) {
		if (forward.count)
			qsort(forward.items, forward.count, sizeof *forward.items, by_time);
		if (backward.count)
			qsort(backward.items, backward.count, sizeof *backward.items, by_time);
		ok = find_micro_batches(steps, &forward, &backward, ret, err);
	}
	mem_free(stack);
	mem_free(forward.items);
	mem_free(backward.items);
	if (!ok)
		passes_done(ret);
	return ok;
}

void passes_done(struct passes *passes)
{
	mem_free(passes->brackets);
	mem_free(passes->micro_batch_ns);
	arena_done(&passes->arena);
	*passes = (struct passes){0};
}

uint16_t passes_micro_batch(
	const struct passes *passes, const struct host_steps *steps, uint32_t step, int64_t at_ns)
{
	if (step == NULL_U32)
		return 0;
	uint32_t count = 0;
	/* A step has a handful of micro-batches: the few boundaries are looked at one by one. */
	for (uint32_t i = 0; i < passes->micro_batch_count; i++)
		count += passes->micro_batch_ns[i] >= steps->items[step].start_ns &&
			 passes->micro_batch_ns[i] <= at_ns;
	return count < UINT16_MAX ? (uint16_t)count : UINT16_MAX;
}
