/*
 * Version 6 of NCCL's profiler interface (NCCL 2.29 and later): collectives on the copy engines.
 */
#include "collect/nccl_v5.h"

/* No kernel carries it and no launch was told: the writer links its copies by time. */
static void note_copy_engine(const void *context, const struct nccl_event_v5 *event)
{
	const struct nccl_task task = {
		.function = event->copy_engine.function,
		.dtype = event->copy_engine.dtype,
		.algorithm = "CE",
		.protocol = event->copy_engine.synchronisation,
		.sequence = event->copy_engine.sequence,
		.count = event->copy_engine.count,
		.api = event->parent,
		.is_copy_engine = true,
	};
	nccl_note_task(context, &task);
}

static int start(void *context, void **ret_handle, struct nccl_event_v5 *event)
{
	if (!ret_handle || !event || event->kind != NCCL_COPY_ENGINE)
		return nccl_start_v5(context, ret_handle, event);
	*ret_handle = NULL;
	note_copy_engine(context, event);
	return 0;
}

static int init(void **ret_context, uint64_t communicator, int *ret_mask, const char *name,
	int node_count, int rank_count, int rank, void (*log)(void))
{
	(void)node_count;
	(void)rank;
	(void)log;
	void *context = nccl_join_known(ret_mask, NCCL_MASK_V6, name, communicator, rank_count);
	if (ret_context)
		*ret_context = context;
	return 0;
}

extern const struct nccl_table_v5 ncclProfiler_v6;
__attribute__((visibility("default"))) const struct nccl_table_v5 ncclProfiler_v6 = {
	"inquest", init, start, nccl_stop, nccl_record_state, nccl_finalize};
