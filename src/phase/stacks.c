#include "phase/stacks.h"

static bool is_prefetch(uint8_t role)
{
	return role == OP_FSDP2_PREFETCH || role == OP_FSDP1_PREFETCH;
}

/* FSDP's own hooks re-create views with grad on, which must not look like recomputation. */
bool context_recomputes(const struct context *context)
{
	return context->is_forward_op && context->evaluate != NULL_U32 && !context->hook &&
	       context->compiled != 2;
}

/* What a marker says of the launches inside it: PHASE_COUNT if nothing. */
static enum phase marked_phase(uint8_t role)
{
	switch (role) {
	case OP_MARK_FORWARD:
		return PHASE_FORWARD;
	case OP_MARK_BACKWARD:
		return PHASE_BACKWARD;
	case OP_MARK_OPTIMIZER:
		return PHASE_OPTIMIZER;
	case OP_MARK_RECOMPUTE:
		return PHASE_RECOMPUTE;
	default:
		return PHASE_COUNT;
	}
}

struct context context_enter(const struct trace *trace, const struct roles *roles, uint32_t host_op,
	const struct context *parent, uint32_t *evaluate_count)
{
	const struct host_op_table *ops = &trace->host_ops;
	const uint32_t name_id = ops->name_id[host_op];
	const uint8_t role = roles->op[name_id];
	struct context c = *parent;
	c.end_ns = ops->end_ns[host_op];
	c.host_op = host_op;
	c.is_forward_op = ops->sequence[host_op] != NULL_I64 && ops->forward_thread[host_op] == 0;

	/* Profiles of before torch 1.10 have the nodes alone, without the engine's range around;
	 * the oldest say nothing of the forward thread either, and a node is told by its name. */
	c.is_node = role == OP_EVALUATE ||
		    (parent->evaluate == NULL_U32 &&
			    (role == OP_NODE || ops->forward_thread[host_op] > 0));
	switch (c.is_node ? OP_EVALUATE : role) {
	case OP_EVALUATE:
		c.evaluate = (*evaluate_count)++;
		c.base = PHASE_BACKWARD;
		c.hook = 0;
		c.range = NULL_U32;
		c.compiled = 0;
		c.is_forward_op = c.under_forward_op = c.prefetched = c.in_gather = false;
		c.is_copy_out = c.reentrant = false;
		break;
	case OP_OPTIMIZER:
		c.base = PHASE_OPTIMIZER;
		break;
	case OP_COMPILED:
		c.compiled = c.compiled ? c.compiled : 1;
		break;
	case OP_COMPILED_BACKWARD:
		c.compiled = 2;
		break;
	case OP_CHECKPOINT_BACKWARD:
		c.reentrant = true;
		break;
	case OP_FSDP1_FORWARD:
		c.fsdp1_depth = (uint8_t)(c.fsdp1_depth + (c.fsdp1_depth < UINT8_MAX));
		/* A module's forward inside a backward node recomputes, its first op or not. */
		if (c.evaluate != NULL_U32 && c.base == PHASE_BACKWARD && !c.marked)
			c.base = PHASE_RECOMPUTE;
		break;
	default:
		break;
	}
	if (op_is_fsdp_hook(role)) {
		c.hook = role;
		/* Newer versions have a range for the copy-in, inside the gather's own. */
		c.range = role == OP_FSDP_OP || parent->in_gather ? c.range : host_op;
		c.prefetched = c.prefetched || is_prefetch(role);
		c.in_gather = c.in_gather || role == OP_FSDP2_GATHER;
		c.is_copy_out = c.is_copy_out || role == OP_FSDP2_COPY_OUT;
		if (roles->unit[name_id] != NULL_U32)
			c.unit = roles->unit[name_id];
	}
	if (op_is_mark(role) && marked_phase(role) != PHASE_COUNT) {
		c.base = (uint8_t)marked_phase(role);
		c.marked = true;
		c.hook = 0;
		c.range = NULL_U32;
	}
	c.under_forward_op = c.under_forward_op || c.is_forward_op || role == OP_MARK_FORWARD ||
			     role == OP_FSDP1_FORWARD || c.compiled == 1;
	if (c.base == PHASE_BACKWARD && context_recomputes(&c))
		c.base = PHASE_RECOMPUTE;
	return c;
}

void stack_begin(struct stack *stack, uint32_t first, uint32_t end, struct context bottom)
{
	stack->next = first;
	stack->end = end;
	stack->depth = 0;
	stack->frames[0] = bottom;
}

void stack_close(struct stack *stack, int64_t at_ns)
{
	while (stack->depth && stack->frames[stack->depth].end_ns <= at_ns)
		stack->depth--;
}

bool stack_open_next(struct stack *stack, int64_t until_ns)
{
	const struct host_op_table *ops = &stack->trace->host_ops;
	if (stack->next == stack->end || ops->start_ns[stack->next] > until_ns)
		return false;
	const uint32_t host_op = stack->next++;
	stack_close(stack, ops->start_ns[host_op]);
	const struct context *parent = &stack->frames[stack->depth];
	const struct context opened =
		context_enter(stack->trace, stack->roles, host_op, parent, &stack->evaluate_count);
	if (stack->depth + 1 < STACK_MAX_DEPTH)
		stack->depth++;
	stack->frames[stack->depth] = opened;
	return true;
}
