/*
 * One rank's partition instant by instant, and what was found about each GPU op: what a breakdown
 * keeps only when asked (analysis_options.keep_intervals), for the SQLite results and the viewer.
 * Filled by src/attribute into the breakdown's arena; read by src/render.
 *
 * Law: the intervals of a step are in order of time, touch one another, begin at the step's
 * start_ns and end at start_ns + wall_ns.  So their sum is the window, to the nanosecond, and
 * summed by state, phase, on, wait_for, reason and how they are the step's parts.
 */
#pragma once

#include <stdint.h>

#include "base/table.h"
#include "trace/words.h"

/* A stretch of a window with one owner.  Bytes hold the enums of trace/words.h, or WORD_NONE. */
struct interval {
	int64_t start_ns, end_ns; /* trace time; never empty */
	uint32_t step;		  /* index into the rank's steps */
	uint32_t gpu_op_id; /* the op that is busy, or carries the collective or copy that holds the
			       link; NULL_U32 if none */
	uint32_t unit;	    /* index into units, NULL_U32 if none */
	uint32_t gather;  /* the all-gather that is billed for it, a row of collectives: blocked on
			     it, busy with its copies, starved inside its range; NULL_U32 if none */
	uint8_t state;	  /* enum state */
	uint8_t phase;	  /* enum phase: of busy, and of starved dispatch */
	uint8_t on;	  /* enum holder: of blocked */
	uint8_t wait_for; /* enum holder: what the op waits for, where edges tell */
	uint8_t reason;	  /* enum gather_reason of blocked on all_gather, enum starve_reason of
			     starved */
	uint8_t how;	  /* enum how */
};

struct rank_intervals {
	struct interval *items; /* by step, then by time */
	uint32_t count;
	uint32_t gpu_op_count;	  /* of the four below: the trace's gpu_ops */
	uint8_t *gpu_op_phase;	  /* enum phase; WORD_NONE for collectives and copies */
	uint8_t *gpu_op_how;	  /* enum how of the phase; WORD_NONE where that is */
	uint32_t *gpu_op_step;	  /* index into the rank's steps, NULL_U32 if none */
	uint32_t *gpu_op_unit;	  /* index into units, NULL_U32 if none */
	const char *const *units; /* names, as in struct gather_row */
	uint32_t unit_count;
};
