/*
 * Version 1 of NCCL's profiler interface (NCCL 2.23): functions, types and algorithms are numbers,
 * and the communicator is told with each event.
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
			uint8_t function;
			const void *send_buffer;
			void *recv_buffer;
			size_t count;
			int root;
			uint8_t dtype;
			uint32_t operation;
			size_t traffic_bytes;
			uint8_t channel_limit;
			uint8_t warps;
			uint8_t algorithm;
			uint8_t protocol;
			int is_collnet;
			int is_nvls;
		} collective;
		struct {
			const char *name;
			uint64_t communicator;
			uint8_t function;
			void *buffer;
			uint8_t dtype;
			size_t count;
			int peer;
		} point;
	}; /* other kinds are not asked for */
};
_Static_assert(offsetof(struct event, collective.count) == 72, "NCCL's layout");
_Static_assert(offsetof(struct event, collective.traffic_bytes) == 96, "NCCL's layout");
_Static_assert(offsetof(struct event, collective.protocol) == 107, "NCCL's layout");
_Static_assert(offsetof(struct event, point.count) == 64, "NCCL's layout");

/* NCCL's numbers; later functions and algorithms came with later versions. */
static const char *const functions[] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter",
	"AllReduce", "SendRecv", "Send", "Recv"};
static const char *const algorithms[] = {
	"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protocols[] = {"LL", "LL128", "SIMPLE"};

#define NAME_OF(names, code) ((code) < sizeof(names) / sizeof *(names) ? (names)[code] : NULL)

static void note_collective(const void *context, const struct event *event)
{
	const struct nccl_task task = {
		.function = NAME_OF(functions, event->collective.function),
		.dtype = nccl_dtype_name(event->collective.dtype),
		.algorithm = NAME_OF(algorithms, event->collective.algorithm),
		.protocol = NAME_OF(protocols, event->collective.protocol),
		.sequence = event->collective.sequence,
		.count = event->collective.count,
		.traffic_bytes = event->collective.traffic_bytes,
		.name = event->collective.name,
		.communicator = event->collective.communicator,
	};
	nccl_note_task(context, &task);
}

static void note_point_to_point(const void *context, const struct event *event)
{
	const struct nccl_task task = {
		.function = NAME_OF(functions, event->point.function),
		.dtype = nccl_dtype_name(event->point.dtype),
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

extern const struct table ncclProfiler_v1;
__attribute__((visibility("default"))) const struct table ncclProfiler_v1 = {
	"inquest", init, start, nccl_stop, nccl_record_state, nccl_finalize};
