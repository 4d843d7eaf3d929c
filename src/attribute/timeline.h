/*
 * The GPU ops of one rank in order of time, whatever their stream, and in three kinds: what
 * computes, what moves data between ranks, what copies.  src/attribute only.
 */
#pragma once

#include "phase/phases.h"

/* Ops of one kind by start, and by end where that matters. */
struct op_list {
	uint32_t *items;
	uint32_t count;
};

struct timeline {
	struct op_list all;	    /* by start */
	struct op_list collectives; /* by start */
	struct op_list copies;	    /* by start */
	struct op_list stream;	    /* the compute stream's, by start */
	uint32_t *
		collective_of; /* by gpu_op: its first row in trace.collectives, NULL_U32 if none */
};

bool timeline_make(const struct trace *trace, const struct roles *roles,
	const struct phases *phases, struct timeline *ret, struct err *err);
void timeline_done(struct timeline *timeline);

static inline bool op_computes(const struct trace *trace, const struct roles *roles, uint32_t op)
{
	return trace->gpu_ops.kind[op] == GPU_KERNEL &&
	       !kernel_is_collective(roles->kernel[trace->gpu_ops.name_id[op]]);
}
