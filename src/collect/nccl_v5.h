/*
 * Events of version 5 of NCCL's profiler interface, which version 6 only adds to.
 */
#pragma once

#include "collect/nccl.h"

struct nccl_event_v5 {
	uint64_t kind; /* enum nccl_event_kind */
	void *parent;
	int rank;
	union {
		struct {
			const char *function;
			size_t count; /* as the caller gave it, of elements of its dtype */
			const char *dtype;
			int root;
			void *stream;
			bool is_captured;
		} collective_api;
		struct {
			const char *function;
			size_t count;
			const char *dtype;
			void *stream;
			bool is_captured;
		} point_api;
		struct {
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *recv_buffer;
			size_t count;
			int root;
			const char *dtype;
			uint8_t channels;
			uint8_t warps;
			const char *algorithm;
			const char *protocol;
			void *group;
		} collective;
		struct {
			const char *function;
			void *buffer;
			const char *dtype;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
		} point;
		/* Copy-engine collectives, from version 6 on. */
		struct {
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *recv_buffer;
			size_t count;
			int root;
			const char *dtype;
			const char *synchronisation;
			bool synchronises_in_batch;
			uint32_t batch_size;
			uint32_t batch_count;
			uint32_t copy_sequence;
			void *stream;
		} copy_engine;
	}; /* other kinds are not asked for, or carry nothing that is kept */
};
_Static_assert(offsetof(struct nccl_event_v5, collective.count) == 56, "NCCL's layout");
_Static_assert(offsetof(struct nccl_event_v5, collective.protocol) == 96, "NCCL's layout");
_Static_assert(offsetof(struct nccl_event_v5, point.count) == 48, "NCCL's layout");
_Static_assert(offsetof(struct nccl_event_v5, copy_engine.synchronisation) == 80, "NCCL's layout");

struct nccl_table_v5 {
	const char *name;
	int (*init)(void **ret_context, uint64_t communicator, int *ret_mask, const char *name,
		int node_count, int rank_count, int rank, void (*log)(void));
	int (*start)(void *context, void **ret_handle, struct nccl_event_v5 *event);
	int (*stop)(void *handle);
	int (*record_state)(void *handle, int state, void *arguments);
	int (*finalize)(void *context);
};

/* Version 5's start, for the kinds that version 6 did not add. */
int nccl_start_v5(void *context, void **ret_handle, struct nccl_event_v5 *event);
