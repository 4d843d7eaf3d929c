/*
 * Version 3 of NCCL's profiler interface (NCCL 2.26): version 2 without the traffic.
 */
#include "collect/nccl.h"

struct event {
	uint8_t kind; /* enum nccl_event_kind */
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t communicator;
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *recv_buffer;
			size_t count;
			int root;
			const char *dtype;
			uint8_t channel_limit;
			uint8_t warps;
			const char *algorithm;
			const char *protocol;
		} collective;
		struct {
			const char *name;
			uint64_t communicator;
			const char *function;
			void *buffer;
			const char *dtype;
			size_t count;
			int peer;
		} point;
	}; /* other kinds are not asked for */
};
_Static_assert(offsetof(struct event, collective.count) == 72, "NCCL's layout");
_Static_assert(offsetof(struct event, collective.protocol) == 112, "NCCL's layout");
_Static_assert(offsetof(struct event, point.count) == 64, "NCCL's layout");

static void note_collective(const void *context, const struct event *event)
{
	const struct nccl_task task = {
		.function = event->collective.function,
		.dtype = event->collective.dtype,
		.algorithm = event->collective.algorithm,
		.protocol = event->collective.protocol,
		.sequence = event->collective.sequence,
		.count = event->collective.count,
		.name = event->collective.name,
		.communicator = event->collective.communicator,
	};
	nccl_note_task(context, &task);
}

static void note_point_to_point(const void *context, const struct event *event)
{
	const struct nccl_task task = {
		.function = event->point.function,
		.dtype = event->point.dtype,
		.sequence = UINT64_MAX,
		.count = event->point.count,
		.name = event->point.name,
		.communicator = event->point.communicator,
	};
	nccl_note_task(context, &task);
}

static int start(void *context, void **ret_handle, struct event *event)
{
	if (!ret_handle || !event)
		return 0;
	*ret_handle = event->kind == NCCL_GROUP ? nccl_begin_group() : NULL;
	if (event->kind == NCCL_COLLECTIVE)
		note_collective(context, event);
	else if (event->kind == NCCL_POINT_TO_POINT)
		note_point_to_point(context, event);
	return 0;
}

static int init(void **ret_context, int *ret_mask)
{
	void *context = nccl_join(ret_mask, NCCL_MASK_V1);
	if (ret_context)
		*ret_context = context;
	return 0;
}

struct table {
	const char *name;
	int (*init)(void **ret_context, int *ret_mask);
	int (*start)(void *context, void **ret_handle, struct event *event);
	int (*stop)(void *handle);
	int (*record_state)(void *handle, int state, void *arguments);
	int (*finalize)(void *context);
};

extern const struct table ncclProfiler_v3;
__attribute__((visibility("default"))) const struct table ncclProfiler_v3 = {
	"inquest", init, start, nccl_stop, nccl_record_state, nccl_finalize};
