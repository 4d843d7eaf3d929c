/*
 * All ranks of one run side by side: what each one's trace was found to say, which collectives
 * belong together, and how the ranks' clocks relate.  src/attribute only.
 */
#pragma once

#include "attribute/partition.h"
#include "phase/phases.h"

struct rank_analysis {
	const struct trace *trace;
	struct roles roles;
	struct phases phases;
	struct partition partition;
	int64_t clock_ns;	 /* added to its times gives the first rank's */
	uint32_t *match;	 /* by collective: number in ranks.matches, NULL_U32 if none */
	uint32_t *collective_of; /* by gpu_op: its first collective, NULL_U32 if none */
};

/* One collective, seen by the ranks that took part. */
struct match {
	int64_t arrived_ns; /* when the last of them began it, in the first rank's time */
	uint32_t last;	    /* that rank's number in `items` */
	uint32_t seen;	    /* ranks that it was found on */
};

struct ranks {
	struct rank_analysis *items;
	uint32_t count;
	struct match *matches;
	uint32_t match_count;
	uint32_t *collective; /* [match * count + rank]: the rank's row, NULL_U32 if it took no part
			       */
	uint32_t *step_of;    /* [rank * step_count + step]: the rank's number of a step all know */
	const char **step_names;
	uint32_t step_count; /* steps that every rank has, by name */
	int64_t unmatched;   /* collectives of those steps that not all members show */
};

/* Analyses each trace (in parallel) and relates them. */
bool ranks_make(const struct trace *traces, uint32_t count, const struct rules *rules,
	uint32_t thread_count, struct ranks *ret, struct err *err);
void ranks_done(struct ranks *ranks);
