/*
 * What one run's traces say, as plain numbers: the partition of every rank and step, the job path,
 * the ledger, memory, tokens and FLOPs.  Made by breakdown_make; owns everything it points to, so
 * the traces can go.  src/compare and src/render read it; nothing in it is formatted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "trace/trace.h"
#include "trace/words.h"

#define LAUNCH_BOUND_FRAC 0.1 /* of the path, starved: above it the host decides the step */

/* A share of a window.  Bytes hold the enums of trace/words.h, or WORD_NONE where none applies. */
struct part {
	int64_t ns;
	int32_t rank;	  /* on the path: whose time; NULL_I32 in a rank's own partition */
	uint8_t state;	  /* enum state */
	uint8_t phase;	  /* enum phase: of busy, and of starved dispatch */
	uint8_t on;	  /* enum holder: of blocked */
	uint8_t wait_for; /* enum holder: what the op waits for, where edges tell; JSON "for" */
	uint8_t reason;	  /* enum gather_reason of blocked on all_gather, enum starve_reason of
			     starved */
	uint8_t how;	  /* enum how */
};

struct part_list {
	struct part *items; /* largest first; no two alike but in ns; none is zero */
	uint32_t count;
};

/* One window of one rank. */
struct step_part {
	const char *name;
	bool closed; /* both ends are in the trace */
	bool used;   /* counts in statistics */
	int64_t start_ns, wall_ns;
	struct part_list parts; /* sums to wall_ns, to the nanosecond */
};

/* Totals over the used steps of one rank. */
struct gather_row {
	const char *
		unit; /* "unknown" where it can't be told, "" is never used: the root is "(root)" */
	enum gather_reason reason;
	enum how how;
	bool prefetched;
	int64_t count, bytes;			     /* bytes gathered: this rank's output */
	int64_t kernel_ns, blocked_ns, peer_wait_ns; /* peer_wait_ns: NULL_I64 if unknown */
	int64_t queued_behind_ns; /* waited in line behind other collectives of its communicator */
};

struct memory_use {
	int64_t peak_allocated_bytes, peak_reserved_bytes; /* NULL_I64 if unknown */
	int64_t alloc_retries;	/* groups of failed cudaMalloc, frees, cudaMalloc in the used steps
				 */
	int64_t alloc_stall_ns; /* starved in the allocator and in lead_lost, used steps */
	int64_t alloc_calls, free_calls; /* cudaMalloc and cudaFree in the used steps */
	int64_t alloc_call_ns;		 /* time inside them */
};

struct named_count {
	const char *name;
	int64_t count;
};

struct flop_use { /* a step's, averaged over the used steps; NULL_I64 / NaN if unknown */
	int64_t forward_flop, recompute_flop, backward_flop;
	const struct named_count *unknown_ops;
	uint32_t unknown_op_count;
	double achieved_flop_per_s; /* all phases over the step's time */
	double mfu; /* model FLOPs (no recomputation) over the datasheet peak, 0..1 */
};

struct rank_result {
	int32_t rank;
	const char *file;
	const char *source; /* "kineto", "nsys", "recorder" */
	const char *gpu;    /* "" if unknown */
	int64_t event_count, gpu_op_count;
	struct trace_has has;
	uint32_t steps_used;
	struct step_part *steps;
	uint32_t step_count;
	const char *steps_how; /* "ProfilerStep", "marker", "optimizer", "period" or "unknown" */
	struct gather_row *gathers;
	uint32_t gather_count;
	struct memory_use memory;
	struct flop_use flops;
	const struct rank_intervals *intervals; /* attribute/intervals.h; NULL unless asked for */
};

struct hop {
	const char *collective; /* kind, unit and reason, as "all_gather layers.3 backward" */
	int32_t from_rank, to_rank;
	int64_t ns; /* how long from_rank would have waited for to_rank there */
};

/* The job path of one step: the same partition, with a rank to every part. */
struct path_step {
	const char *name;
	bool used;
	int64_t wall_ns;
	struct part_list parts;
	struct hop *hops;
	uint32_t hop_count;
};

struct breakdown {
	struct arena arena;
	const char *name;
	int32_t world_size;	 /* NULL_I32 if unknown */
	int64_t tokens_per_step; /* the whole job's, NULL_I64 if unknown */
	const char *tokens_how;	 /* "given", "marked", "inferred" or "unknown" */
	int64_t sequence_length, micro_batch, accumulation; /* NULL_I64 if unknown */
	struct rank_result *ranks;			    /* by rank */
	uint32_t rank_count;
	struct path_step *path;
	uint32_t path_count;
	uint32_t path_used;
	bool path_is_job;		/* false: one rank only, its raw partition stands in */
	int64_t peer_wait_at_least_ns;	/* with one rank: a step's, else NULL_I64 */
	int64_t tail_reduce_scatter_ns; /* a step's mean on the used path: blocked on
					   reduce_scatter after the last backward op; NULL_I64 if
					   unknown, 0 if none */
	double starved_frac;		/* of the used path */
	bool launch_bound;	 /* starved_frac > LAUNCH_BOUND_FRAC, never with one rank only */
	struct run_facts *facts; /* what src/compare needs beside: attribute/facts.h */
	struct diag diag;
	const char *diag_file[DIAG_KIND_COUNT]; /* the file of diag's first_byte */
};

void breakdown_done(struct breakdown *breakdown);
