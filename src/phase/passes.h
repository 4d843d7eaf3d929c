/*
 * The first walk over the host stacks: which thread runs backward, where in each autograd node
 * recomputation begins and ends, and where each micro-batch begins.  src/phase only.
 */
#pragma once

#include "phase/phases.h"
#include "phase/stacks.h"

struct rows {
	uint32_t first, end;
};

/* Recomputation inside one autograd node, by the ops that prove it. */
struct bracket {
	int64_t first_ns, last_ns; /* their first and last start; first_ns is NULL_I64 if none */
	bool reentrant;
};

struct passes {
	struct arena arena;
	struct rows *ops;   /* host ops of each thread */
	struct rows *calls; /* API calls of each thread */
	bool *is_backward;  /* of each thread: it runs autograd nodes and not the steps */
	bool *has_ops;
	bool is_marked;		  /* the recorder's markers are there */
	struct bracket *brackets; /* by autograd node, in the order of the walk */
	uint32_t bracket_count;
	uint32_t marked_regions; /* recomputations that the recorder marked */
	int64_t *micro_batch_ns; /* where the second and later micro-batches of a step begin */
	uint32_t micro_batch_count;
	int64_t *last_forward_ns;   /* of each step, NULL_I64 if none */
	int64_t *first_backward_ns; /* of each step, NULL_I64 if none */
	int64_t *last_backward_ns;  /* of each step, NULL_I64 if none */
};

bool passes_make(const struct trace *trace, const struct roles *roles,
	const struct host_steps *steps, struct passes *ret, struct err *err);
void passes_done(struct passes *passes);

/* The number within its step of the micro-batch that time `at_ns` of `step` lies in. */
uint16_t passes_micro_batch(
	const struct passes *passes, const struct host_steps *steps, uint32_t step, int64_t at_ns);

/* What a thread is in when no range is open. */
struct context passes_bottom(const struct passes *passes, uint32_t thread_id);
