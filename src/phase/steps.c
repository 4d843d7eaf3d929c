#include "phase/steps.h"

#include <stdlib.h>
#include <string.h>

static int by_start(const void *a, const void *b)
{
	const struct host_step *left = a, *right = b;
	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Adds a step for every host op of `role`, in the order of time. */
static bool collect_ops(const struct trace *trace, const struct roles *roles, enum op_role role,
	struct arena *arena, struct host_steps *steps, struct err *err)
{
	const struct host_op_table *ops = &trace->host_ops;
	uint32_t count = 0;
	for (uint32_t i = 0; i < ops->head.count; i++)
		count += roles->op[ops->name_id[i]] == role;
	steps->items = arena_new(arena, count, sizeof *steps->items, err);
	if (!steps->items)
		return false;
	steps->count = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (roles->op[ops->name_id[i]] != role)
			continue;
		const char *name =
			arena_text(arena, intern_text(&trace->strings, ops->name_id[i]), err);
		if (!name)
			return false;
		steps->items[steps->count++] =
			(struct host_step){name, ops->start_ns[i], ops->end_ns[i]};
		steps->thread_id = ops->thread_id[i];
	}
	qsort(steps->items, steps->count, sizeof *steps->items, by_start);
	return true;
}

static bool collect_markers(
	const struct trace *trace, struct arena *arena, struct host_steps *steps, struct err *err)
{
	const struct marker_table *markers = &trace->markers;
	uint32_t count = 0;
	for (uint32_t i = 0; i < markers->head.count; i++)
		count += markers->kind[i] == MARKER_STEP;
	steps->items = arena_new(arena, count, sizeof *steps->items, err);
	if (!steps->items)
		return false;
	steps->count = 0;
	for (uint32_t i = 0; i < markers->head.count; i++) {
		if (markers->kind[i] != MARKER_STEP)
			continue;
		const char *name =
			markers->value[i] == NULL_I64
				? arena_text(arena,
					  intern_text(&trace->strings, markers->name_id[i]), err)
				: arena_format(
					  arena, err, "step %lld", (long long)markers->value[i]);
		if (!name)
			return false;
		steps->items[steps->count++] =
			(struct host_step){name, markers->start_ns[i], markers->end_ns[i]};
		steps->thread_id = markers->thread_id[i];
	}
	qsort(steps->items, steps->count, sizeof *steps->items, by_start);
	return true;
}

/* Step and zero_grad of one step are neighbours: an optimizer range that follows another with no
 * forward op between belongs to the same step, so a step ends where the last of them does. */
static bool collect_optimizer(const struct trace *trace, const struct roles *roles,
	struct arena *arena, struct host_steps *steps, struct err *err)
{
	if (!collect_ops(trace, roles, OP_OPTIMIZER, arena, steps, err))
		return false;
	const struct host_op_table *ops = &trace->host_ops;
	int64_t first_ns = INT64_MAX;
	for (uint32_t i = 0; i < ops->head.count; i++)
		if (ops->start_ns[i] < first_ns)
			first_ns = ops->start_ns[i];
	uint32_t kept = 0;
	bool has_step = false; /* zero_grad alone ends no step */
	for (uint32_t i = 0; i < steps->count; i++) {
		bool followed = false;
		has_step = has_step || strncmp(steps->items[i].name, "Optimizer.step", 14) == 0;
		if (i + 1 < steps->count) {
			const int64_t from = steps->items[i].end_ns,
				      to = steps->items[i + 1].start_ns;
			for (uint32_t j = 0; j < ops->head.count && !followed; j++)
				followed = ops->start_ns[j] >= from && ops->start_ns[j] < to &&
					   ops->sequence[j] != NULL_I64;
		}
		if ((!followed && i + 1 < steps->count) || !has_step) {
			has_step = has_step && !followed;
			continue;
		}
		has_step = false;
		struct host_step *step = &steps->items[kept];
		step->end_ns = steps->items[i].end_ns;
		step->start_ns = kept ? steps->items[kept - 1].end_ns : first_ns;
		step->name = arena_format(arena, err, "step %u", kept + 1);
		if (!step->name)
			return false;
		kept++;
	}
	steps->count = kept;
	return true;
}

bool host_steps_find(const struct trace *trace, const struct roles *roles, struct arena *arena,
	struct host_steps *ret, struct err *err)
{
	*ret = (struct host_steps){.how = "ProfilerStep", .thread_id = NULL_U32};
	if (!collect_ops(trace, roles, OP_STEP, arena, ret, err))
		return false;
	if (!ret->count) {
		ret->how = "marker";
		if (!collect_ops(trace, roles, OP_MARK_STEP, arena, ret, err))
			return false;
	}
	if (!ret->count) {
		if (!collect_markers(trace, arena, ret, err))
			return false;
	}
	if (!ret->count) {
		ret->how = "optimizer";
		if (!collect_optimizer(trace, roles, arena, ret, err))
			return false;
	}
	if (!ret->count)
		ret->how = "unknown";
	/* The host does a little between two step ranges; it belongs to the earlier one. */
	for (uint32_t i = 0; i + 1 < ret->count; i++)
		ret->items[i].end_ns = ret->items[i + 1].start_ns;
	return true;
}

uint32_t host_steps_at(const struct host_steps *steps, int64_t at_ns)
{
	uint32_t low = 0, high = steps->count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (steps->items[middle].start_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at_ns < steps->items[low - 1].end_ns ? low - 1 : NULL_U32;
}
