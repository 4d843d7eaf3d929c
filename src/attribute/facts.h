/*
 * What a comparison needs of a run beside its parts: everything is on the job path and a used
 * step's, in the order of the path's used steps.  Lives in the breakdown's arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/words.h"

/* The path's time of one step by what owns it; sums to the step. */
struct path_sums {
	int64_t wall_ns;
	int64_t busy_ns[PHASE_COUNT];
	int64_t blocked_ns[HOLDER_COUNT];
	int64_t dispatch_ns[PHASE_COUNT]; /* starved for dispatch, by phase */
	int64_t starved_ns[STARVE_COUNT]; /* by reason; [STARVE_DISPATCH] is the sum of the above */
	int64_t queued_ns; /* blocked on a reduce-scatter while the op waits for a gather behind it
			    */
	int64_t tail_ns;   /* blocked on reduce-scatters after the last backward op */
};

/* What one unit's gathers of one reason cost. */
struct bill {
	const char *unit;
	enum gather_reason reason;
	int64_t unit_bytes; /* of one gather, NULL_I64 if unknown or not always the same */
	double count;	    /* a step's, on one rank */
	double bytes;	    /* a step's, on one rank */
	int64_t *blocked_ns, *busy_ns,
		*dispatch_ns; /* by used step: on it, its copies, its range */
};

/* One kernel's share of the path's busy time. */
struct kernel_use {
	const char *name;
	enum phase phase;
	double count; /* a step's; a kernel that the path holds in part counts in part */
	double ns;    /* a step's */
};

/* One kind of host call on the threads that launch. */
struct call_use {
	const char *name;
	double count; /* a step's, mean over ranks */
	double median_ns;
};

struct run_facts {
	uint32_t step_count; /* used steps of the path */
	struct path_sums *steps;
	struct bill *bills;
	uint32_t bill_count;
	struct kernel_use *kernels; /* by phase, then name */
	uint32_t kernel_count;
	struct call_use *calls; /* by name */
	uint32_t call_count;
	double host_events; /* a step's, mean over ranks: what torch.profiler had to record; 0 where
			       something else recorded */
	bool has_stacks;    /* Python's among them */

	const char *gpu;
	int64_t gpu_memory_bytes;   /* NULL_I64 if unknown */
	const char *gathered_dtype; /* "" if unknown */
	uint64_t forward_hash;	/* of the forward kernels' names on the first rank, order-free */
	double forward_kernels; /* a step's */
	double gathers[GATHER_COUNT]; /* a step's, one rank's, by reason */
	int64_t uncounted_gathers;    /* gather ranges in which no collective was launched: copies,
					 fused    kernels; the counts above then mean nothing */
	int64_t unit_count;	      /* units gathered, 0 if unknown */
	int64_t parameter_bytes;      /* gathered once: the sum of the units' sizes */
	double reduce_scatters;	      /* a step's, one rank's */
	double regions, reentrant_regions; /* recomputed autograd nodes a step, one rank's */
	bool is_fsdp1, is_fsdp2;
	bool has_compiled;	   /* compiled regions in backward that can't be told apart */
	bool gathers_in_recompute; /* gathers launched while recomputing: checkpoint(FSDP(block)) */
	double retries, alloc_calls, free_calls; /* a step's, the most of any rank */
	int64_t *alloc_call_ns;			 /* by rank: a step's time inside them */
	int64_t *alloc_starved_ns;		 /* by rank: of it, what the GPU waited for */
	uint32_t rank_count;
};
