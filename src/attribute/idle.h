/*
 * Who owns an instant in which nothing computes: the host, a collective, a copy, latency, or nobody
 * that can be named.  src/attribute only.
 */
#pragma once

#include "attribute/edges.h"
#include "attribute/partition.h"
#include "attribute/timeline.h"

struct idle {
	const struct trace *trace;
	const struct roles *roles;
	const struct phases *phases;
	const struct timeline *timeline;
	const struct edges *edges;
	struct partition *partition;
	uint32_t next_stream; /* in timeline.stream: the first that starts after the stretches seen
			       */
	uint32_t next_collective; /* in timeline.collectives: those before ended long ago */
	uint32_t next_copy;
	uint32_t *around; /* room for the ops around one wait */
	uint32_t around_capacity;
	bool lead_is_lost; /* since an allocator stall the host has not been ahead */
};

/* Owners of the stretch [start_ns, end_ns) in which no compute op runs; stretches come in order. */
bool idle_attribute(struct idle *idle, int64_t start_ns, int64_t end_ns, struct err *err);

/* A compute op of the compute stream has begun: whether its launch was in time. */
void idle_note_start(struct idle *idle, uint32_t op, int64_t idle_since_ns);

/* Appends an interval, or lengthens the last one when it is alike. */
bool partition_push(struct partition *partition, const struct interval *interval, struct err *err);
