/*
 * What each GPU op was for: its phase, from the host call stack at its launch (DESIGN section 3),
 * and for collectives what the ledger needs (section 4).  One rank's.
 */
#pragma once

#include "base/arena.h"
#include "classify/roles.h"
#include "phase/steps.h"
#include "trace/trace.h"
#include "trace/words.h"

/* What the host was in, where that explains why a launch came late. */
enum span_kind {
	SPAN_ALLOCATOR,
	SPAN_SYNC,
	SPAN_DATA,
	SPAN_GC,
	SPAN_HOOK,
	SPAN_GATHER, /* a range that may launch a gather or its copies */
	SPAN_KIND_COUNT
};

/* A stretch of one thread inside one of those; spans of one kind and thread don't overlap. */
struct span {
	int64_t start_ns, end_ns;
	uint32_t thread_id;
	uint32_t range; /* the host op it is, for SPAN_GATHER */
	uint8_t kind;	/* enum span_kind */
};

/* The host's situation at one launch. */
struct launch {
	int64_t start_ns, end_ns; /* of the launch call; NULL_I64 without a record of it */
	uint32_t thread_id;
	uint32_t step;	/* in host_steps, NULL_U32 if none */
	uint32_t unit;	/* id in roles.units of the innermost range that names one, NULL_U32 if none
			 */
	uint32_t range; /* host op of the innermost hook range, NULL_U32 if none */
	uint16_t micro_batch; /* within its step, from 0 */
	uint8_t phase;	      /* enum phase; of a collective or a copy: that of its launch */
	uint8_t base; /* the phase around the hook when phase is fsdp: forward, recompute, backward
		       */
	uint8_t how;  /* enum how */
	uint8_t hook; /* enum op_role of the innermost FSDP hook range, 0 if none */
	bool prefetched; /* launched inside a prefetch range */
	bool in_gather;	 /* launched inside a range that names a gather: its copy-in, its collective
			  */
	bool is_copy_out; /* launched inside a gather's copy-out range */
	uint8_t compiled; /* 1: in a compiled forward graph, 2: in a compiled backward graph */
};

/*
 * Device memory calls that follow one another inside one host op.  A retry is cudaFree of what the
 * cache held and then cudaMalloc: the allocator had to make room.  A cudaMalloc that fails before
 * them is not needed for the sign, since a limit set in the process is checked without calling
 * CUDA.
 */
struct alloc_group {
	int64_t start_ns, end_ns;
	int64_t call_ns; /* inside cudaMalloc and cudaFree themselves */
	uint32_t thread_id;
	uint32_t step; /* in host_steps, NULL_U32 if none */
	uint32_t alloc_calls, free_calls;
	bool is_retry;
};

/* FSDP1's ranges have no names; its units are told by the order of these. */
enum fsdp1_event_kind {
	FSDP1_FORWARD_BEGIN,   /* a unit's forward, in the forward pass */
	FSDP1_RECOMPUTE_BEGIN, /* a unit's forward inside backward */
	FSDP1_HOOK_BEGIN,      /* pre-backward hook */
	FSDP1_POST_END,	       /* post-backward hook that has launched a reduce-scatter */
};

struct fsdp1_event {
	int64_t at_ns;
	int64_t end_ns; /* of the range */
	uint32_t step;
	uint16_t micro_batch;
	uint8_t kind;  /* enum fsdp1_event_kind */
	uint8_t depth; /* FSDP1 forward ranges around it */
};

/* One collective's place in the ledger; parallel to trace.collectives. */
struct gather {
	uint32_t unit;	/* id in phases.units, NULL_U32 if unknown */
	uint8_t reason; /* enum gather_reason, WORD_NONE if it is no all-gather */
	uint8_t how;	/* enum how */
};

/* A host range whose time is part of one gather's bill. */
struct billed_range {
	uint32_t range; /* host op */
	uint32_t gather;
};

struct phases {
	struct arena arena;
	struct host_steps steps;
	struct launch *launches; /* by gpu_op */
	struct span *spans;	 /* by kind, thread, start */
	uint32_t span_count;
	/* Spans of kind k: [span_first[k], span_first[k + 1]). */
	uint32_t span_first[SPAN_KIND_COUNT + 1];
	struct alloc_group *allocs; /* by thread, start */
	uint32_t alloc_count;
	struct fsdp1_event *fsdp1; /* by time */
	uint32_t fsdp1_count;
	struct gather *gathers; /* by collective */
	uint32_t *billed;	/* by gpu_op: the gather whose copy-in, copy-out or self it is, or
				   NULL_U32 */
	struct billed_range *billed_ranges; /* by range */
	uint32_t billed_range_count;
	struct intern units;	    /* unit names for people: "(root)", "layers.3", "unit 2" */
	uint32_t compute_stream;    /* NULL_U32 if no compute op is there */
	uint32_t compiled_ops;	    /* GPU ops of compiled regions in backward */
	uint32_t micro_batch_count; /* the most that a step has, 0 if unknown */
	/* Autograd nodes that recompute before they go back, and those of them that do so by the
	 * reentrant implementation. */
	uint32_t regions, reentrant_regions;
	bool is_fsdp1, is_fsdp2;
};

/* How the host stacks were read: fills launches, spans, fsdp1. */
bool phases_read_stacks(const struct trace *trace, const struct roles *roles, struct phases *phases,
	struct err *err);

/* Tells recomputation inside compiled backward graphs by the forward's kernels that return there.
 */
bool phases_match_compiled(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err);

/* Tells units and reasons of gathers: fills gathers and units. */
bool phases_count_gathers(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err);

/* The gather that host range `range` works for, or NULL_U32. */
uint32_t phases_billed_range(const struct phases *phases, uint32_t range);

/* The gather that host range `range` works for, or NULL_U32. */
uint32_t phases_billed_range(const struct phases *phases, uint32_t range);

/* All of it. */
bool phases_make(
	const struct trace *trace, const struct roles *roles, struct phases *ret, struct err *err);
void phases_done(struct phases *phases);
