/*
 * Stands in for NCCL: finds a profiler's tables by name, the newest that it knows first, and calls
 * them with the layouts and in the order of real NCCL (2.23 for version 1 to 2.29 for version 6).
 * The layouts are written as byte offsets, so that they don't share a mistake with the collector.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct standin_nccl {
	int version; /* of the table in use, 0 if none was found */
	const void *table;
	int mask; /* one for the process, as in NCCL */
};

struct standin_comm {
	struct standin_nccl *nccl;
	void *context;
	const char *name;
	uint64_t hash;
	int rank_count, rank;
	uint64_t sequences[16]; /* by function */
};

/* One call of the user: `count` elements of NCCL's type number `dtype`. */
struct standin_call {
	const char *function; /* "AllGather", ..., "Send", "Recv" */
	size_t count;
	unsigned dtype;
	const char *algorithm, *protocol;
	bool is_symmetric;   /* a symmetric-memory kernel: only the call is announced */
	bool is_copy_engine; /* version 6 announces it as such */
};

struct standin_group {
	struct standin_call calls[8];
	size_t count, calls_per_kernel;
	bool is_nonblocking;	       /* launches from a thread of its own */
	bool fails;		       /* in the first launch, whose stop never comes */
	void (*launch)(void *context); /* in the place of cuLaunchKernelEx */
	void *launch_context;
};

/* Looks for ncclProfiler_v<newest> and older in a dlopen'ed library; false if there is none. */
bool standin_open(struct standin_nccl *nccl, void *library, int newest);

int standin_comm_init(struct standin_comm *comm, struct standin_nccl *nccl, const char *name,
	uint64_t hash, int rank_count, int rank);
void standin_comm_destroy(struct standin_comm *comm);

/* A group of calls, launched; returns when its threads have ended. */
void standin_group_run(struct standin_comm *comm, const struct standin_group *group);

/* Things that NCCL should not do: NULL everywhere, unknown kinds, handles of no one. */
void standin_misbehave(struct standin_nccl *nccl);
