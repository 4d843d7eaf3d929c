/*
 * Walks the host ranges of one thread as a stack and says, for any instant in time order, what the
 * thread is in.  src/phase only.
 */
#pragma once

#include "classify/roles.h"
#include "trace/trace.h"
#include "trace/words.h"

#define STACK_MAX_DEPTH 1024 /* ranges deeper than that are left out of the context */

/* What an open range means for the launches inside it; inherited from the range around it. */
struct context {
	int64_t end_ns;
	uint32_t host_op;    /* the innermost open range, NULL_U32 at the bottom */
	uint32_t evaluate;   /* number of the innermost autograd node, in order; NULL_U32 if none */
	uint32_t unit;	     /* id in roles.units, NULL_U32 if none */
	uint32_t range;	     /* host op of the innermost hook range, NULL_U32 if none */
	uint8_t base;	     /* enum phase: forward, recompute, backward, optimizer or unknown */
	uint8_t hook;	     /* enum op_role of the innermost FSDP hook, 0 if none */
	uint8_t compiled;    /* 1: compiled forward graph, 2: compiled backward graph */
	uint8_t fsdp1_depth; /* FSDP1 forward ranges around */
	bool is_forward_op;  /* this very range is an op with a sequence number and forward thread 0
			      */
	bool under_forward_op; /* it or one around it, within the innermost autograd node, is one */
	bool prefetched, in_gather, is_copy_out;
	bool is_node;	/* this very range is an autograd node that runs backward */
	bool marked;	/* base comes from one of the recorder's markers */
	bool reentrant; /* inside CheckpointFunctionBackward, not in a node below it */
};

/* Opens the next range of the walk: `parent` is what is around it. */
struct context context_enter(const struct trace *trace, const struct roles *roles, uint32_t host_op,
	const struct context *parent, uint32_t *evaluate_count);

/* The range is a forward op inside backward: the core rule of recomputation. */
bool context_recomputes(const struct context *context);

struct stack {
	const struct trace *trace;
	const struct roles *roles;
	uint32_t next, end;	 /* host ops not yet opened: [next, end) */
	uint32_t evaluate_count; /* autograd nodes opened so far, over all threads walked */
	uint32_t depth;
	struct context frames[STACK_MAX_DEPTH];
};

/* Begins a thread: host ops [first, end), in a context at the bottom of its stack. */
void stack_begin(struct stack *stack, uint32_t first, uint32_t end, struct context bottom);

/*
 * Opens the next range that starts at or before `until_ns`, closing those that end before it
 * starts; false when there is none.  The range opened is stack_top().
 */
bool stack_open_next(struct stack *stack, int64_t until_ns);

/* Closes what ends at or before `at_ns`. */
void stack_close(struct stack *stack, int64_t at_ns);

static inline const struct context *stack_top(const struct stack *stack)
{
	return &stack->frames[stack->depth];
}
