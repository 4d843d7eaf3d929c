/*
 * The steps of one rank on the host: where each optimizer step's launches begin and end.  Knows
 * nothing of the GPU; the windows on the GPU's timeline are src/attribute's.
 */
#pragma once

#include "base/arena.h"
#include "classify/roles.h"
#include "trace/trace.h"

struct host_step {
	const char *name;
	int64_t start_ns, end_ns; /* launches that start within belong to it: [start, end) */
};

struct host_steps {
	struct host_step *items; /* by time, disjoint */
	uint32_t count;
	const char *how;    /* "ProfilerStep", "marker", "optimizer" or "unknown" */
	uint32_t thread_id; /* that the steps run on, NULL_U32 if unknown */
};

/* From step ranges, else markers, else optimizer ranges; with none of them count is 0. */
bool host_steps_find(const struct trace *trace, const struct roles *roles, struct arena *arena,
	struct host_steps *ret, struct err *err);

/* The step whose launches include time `at_ns`, or NULL_U32. */
uint32_t host_steps_at(const struct host_steps *steps, int64_t at_ns);
