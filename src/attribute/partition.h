/*
 * Every nanosecond of one rank gets one owner (DESIGN section 2): busy, blocked or starved, with
 * the detail kept.  src/attribute only.
 */
#pragma once

#include "attribute/intervals.h"
#include "phase/phases.h"

/* A wait that ends so soon after all it can have waited for is the machine's own latency. */
#define LATENCY_NS 25000

/* The window of one step on the GPU's timeline. */
struct window {
	int64_t start_ns, end_ns;
	uint32_t first, end; /* its intervals: [first, end) */
	bool closed;	     /* false: the start is not in the trace */
	bool empty;	     /* the step launched nothing on the compute stream */
};

/*
 * Intervals touch one another from the first GPU op to the last window's end, so they also cover
 * what precedes the first window; those have step NULL_U32.
 */
struct partition {
	struct interval *items;
	uint32_t count, capacity;
	struct window *windows; /* by host step; without host steps one, over all GPU ops */
	uint32_t window_count;
};

bool partition_make(const struct trace *trace, const struct roles *roles,
	const struct phases *phases, struct partition *ret, struct err *err);
void partition_done(struct partition *partition);

/* The last interval that starts at or before `at_ns`; NULL_U32 before the first. */
uint32_t partition_at(const struct partition *partition, int64_t at_ns);

/* What kind of holder a collective is. */
enum holder holder_of(uint8_t collective_kind);
