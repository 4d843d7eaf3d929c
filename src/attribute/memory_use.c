#include "attribute/memory_use.h"

#include <string.h>

/* The device that the rank trains on: that of its compute stream. */
static int32_t own_device(const struct rank_analysis *rank)
{
	const uint32_t stream = rank->phases.compute_stream;
	return stream == NULL_U32 ? NULL_I32 : rank->trace->streams.device[stream];
}

static void find_peaks(const struct rank_analysis *rank, struct memory_use *use)
{
	const struct memory_table *memory = &rank->trace->memory;
	const int32_t device = own_device(rank);
	use->peak_allocated_bytes = use->peak_reserved_bytes = NULL_I64;
	for (uint32_t i = 0; i < memory->head.count; i++) {
		if (device != NULL_I32 && memory->device[i] != device)
			continue;
		/* The nulls are the least of all values. */
		if (memory->allocated_bytes[i] > use->peak_allocated_bytes)
			use->peak_allocated_bytes = memory->allocated_bytes[i];
		if (memory->reserved_bytes[i] > use->peak_reserved_bytes)
			use->peak_reserved_bytes = memory->reserved_bytes[i];
	}
}

/* The recorder's hook says the framework's own peaks once a step. */
static void take_marked(const struct trace *trace, struct memory_use *use)
{
	for (uint32_t i = 0; i < trace->markers.head.count; i++) {
		const char *name = intern_text(&trace->strings, trace->markers.name_id[i]);
		const int64_t value = trace->markers.value[i];
		if (trace->markers.kind[i] != MARKER_OTHER || value == NULL_I64)
			continue;
		if (strcmp(name, "peak_allocated_bytes") == 0 && value > use->peak_allocated_bytes)
			use->peak_allocated_bytes = value;
		if (strcmp(name, "peak_reserved_bytes") == 0 && value > use->peak_reserved_bytes)
			use->peak_reserved_bytes = value;
	}
}

void memory_use_make(const struct rank_analysis *rank, const bool *used, struct memory_use *ret)
{
	*ret = (struct memory_use){0};
	find_peaks(rank, ret);
	take_marked(rank->trace, ret);
	for (uint32_t i = 0; i < rank->phases.alloc_count; i++) {
		const struct alloc_group *group = &rank->phases.allocs[i];
		if (group->step == NULL_U32 ? rank->phases.steps.count : !used[group->step])
			continue;
		ret->alloc_retries += group->is_retry;
		ret->alloc_calls += group->alloc_calls;
		ret->free_calls += group->free_calls;
		ret->alloc_call_ns += group->call_ns;
	}
	for (uint32_t i = 0; i < rank->partition.count; i++) {
		const struct interval *interval = &rank->partition.items[i];
		if (interval->state == STATE_STARVED && interval->step != NULL_U32 &&
			used[interval->step] &&
			(interval->reason == STARVE_ALLOCATOR ||
				interval->reason == STARVE_LEAD_LOST))
			ret->alloc_stall_ns += interval->end_ns - interval->start_ns;
	}
}
