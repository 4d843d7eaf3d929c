/*
 * What each op of the compute stream waits for, where the trace says so: stream waits (the
 * recorder's, or Kineto's cuda_sync events) name the event, and the event's record names what comes
 * before it on the other stream.  src/attribute only.
 */
#pragma once

#include "phase/phases.h"

struct edges {
	uint32_t *awaited; /* by gpu_op: the op of another stream that it waits for and that ends
			      last, NULL_U32 if none; NULL where the trace has no edges */
};

bool edges_make(
	const struct trace *trace, const struct phases *phases, struct edges *ret, struct err *err);
void edges_done(struct edges *edges);
