/*
 * What the six versions of NCCL's profiler interface have in common: communicators, the link from
 * a launch to its collectives, and the note that a collective leaves.  nccl_v1.c to nccl_v6.c lay
 * out one version's structures each and call this; NCCL takes the newest table that it knows.
 *
 * A collective's event comes after its kernel's launch, on the thread that launched, and several
 * may share the launch.  From version 5 on the launch is announced too: the external correlation
 * id pushed around it names the collectives that follow.  Before, the id is 0 and the writer goes
 * by the order on the thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events, as bits of the mask that a table's init answers. */
enum nccl_event_kind {
	NCCL_GROUP = 1 << 0,
	NCCL_COLLECTIVE = 1 << 1,
	NCCL_POINT_TO_POINT = 1 << 2,
	NCCL_GROUP_API = 1 << 8,
	NCCL_COLLECTIVE_API = 1 << 9,
	NCCL_POINT_TO_POINT_API = 1 << 10,
	NCCL_LAUNCH = 1 << 11,
	NCCL_COPY_ENGINE = 1 << 12,
};

/* Without an event for the group, versions up to 4 announce no collective. */
#define NCCL_MASK_V1 (NCCL_GROUP | NCCL_COLLECTIVE | NCCL_POINT_TO_POINT)
#define NCCL_MASK_V5                                                                    \
	(NCCL_GROUP_API | NCCL_COLLECTIVE_API | NCCL_POINT_TO_POINT_API | NCCL_LAUNCH | \
		NCCL_COLLECTIVE | NCCL_POINT_TO_POINT)
#define NCCL_MASK_V6 (NCCL_MASK_V5 | NCCL_COPY_ENGINE)

/* One collective or one half of a send and receive, as an event tells it; NULL and 0 where not. */
struct nccl_task {
	const char *function; /* "AllGather", "Send", ... */
	const char *dtype;    /* "ncclBfloat16", ... */
	const char *algorithm, *protocol;
	uint64_t sequence;     /* UINT64_MAX if unknown */
	size_t count;	       /* of elements; AllGather and Broadcast: of bytes, as ncclInt8 */
	size_t traffic_bytes;  /* count in bytes, times the ranks for some functions */
	const char *name;      /* the communicator's, where the event says it */
	uint64_t communicator; /* likewise */
	const void *api;       /* handle of the call that asked for it */
	bool is_copy_engine;   /* no kernel carries it */
};

/* Starts the collector; the communicator's context, and what events are wanted of this process.
 * Never fails: the mask is 0 when this process isn't recorded, NULL when there is no room. */
void *nccl_join(int *ret_mask, int wanted);
void *nccl_join_known(
	int *ret_mask, int wanted, const char *name, uint64_t communicator, int rank_count);

/* Handles for events that begin; a call's handle remembers the type of its elements. */
void *nccl_begin_group(void);
void *nccl_begin_group_api(void);
void *nccl_begin_api(const char *dtype);
void *nccl_begin_launch(void);

/* Leaves the note of a collective. */
void nccl_note_task(const void *context, const struct nccl_task *task);

/* NCCL's name for the number of a type of elements, NULL if unknown; for version 1. */
const char *nccl_dtype_name(unsigned code);

/* These are the same in every table.  They answer 0, success, whatever happens. */
int nccl_stop(void *handle);
int nccl_record_state(void *handle, int state, void *arguments);
int nccl_finalize(void *context);
