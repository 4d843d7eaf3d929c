/*
 * Version 5 of NCCL's profiler interface (NCCL 2.28): the calls and the launches are told as well.
 */
#include "collect/nccl_v5.h"

static void note_collective(const void *context, const struct nccl_event_v5 *event)
{
	const struct nccl_task task = {
		.function = event->collective.function,
		.dtype = event->collective.dtype,
		.algorithm = event->collective.algorithm,
		.protocol = event->collective.protocol,
		.sequence = event->collective.sequence,
		.count = event->collective.count,
		.api = event->parent,
	};
	nccl_note_task(context, &task);
}

static void note_point_to_point(const void *context, const struct nccl_event_v5 *event)
{
	const struct nccl_task task = {
		.function = event->point.function,
		.dtype = event->point.dtype,
		.sequence = UINT64_MAX,
		.count = event->point.count,
		.api = event->parent,
	};
	nccl_note_task(context, &task);
}

int nccl_start_v5(void *context, void **ret_handle, struct nccl_event_v5 *event)
{
	if (!ret_handle || !event)
		return 0;
	*ret_handle = NULL;
	switch (event->kind) {
	case NCCL_GROUP_API:
		*ret_handle = nccl_begin_group_api();
		break;
	case NCCL_COLLECTIVE_API:
		*ret_handle = nccl_begin_api(event->collective_api.dtype);
		break;
	case NCCL_POINT_TO_POINT_API:
		*ret_handle = nccl_begin_api(event->point_api.dtype);
		break;
	case NCCL_LAUNCH:
		*ret_handle = nccl_begin_launch();
		break;
	case NCCL_COLLECTIVE:
		note_collective(context, event);
		break;
	case NCCL_POINT_TO_POINT:
		note_point_to_point(context, event);
		break;
	default:
		break;
	}
	return 0;
}

static int init(void **ret_context, uint64_t communicator, int *ret_mask, const char *name,
	int node_count, int rank_count, int rank, void (*log)(void))
{
	(void)node_count;
	(void)rank;
	(void)log;
	void *context = nccl_join_known(ret_mask, NCCL_MASK_V5, name, communicator, rank_count);
	if (ret_context)
		*ret_context = context;
	return 0;
}

extern const struct nccl_table_v5 ncclProfiler_v5;
__attribute__((visibility("default"))) const struct nccl_table_v5 ncclProfiler_v5 = {
	"inquest", init, nccl_start_v5, nccl_stop, nccl_record_state, nccl_finalize};
