/*
 * Where each field of a CUPTI record lies.  The offsets hold from the version named to the newest
 * known (13.4); tests/collect compares them with NVIDIA's headers where those are installed.
 */
#include "collect/records.h"

#include <string.h>

#include "collect/cupti.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_layout.h"

static uint8_t u8_at(const uint8_t *raw, size_t offset)
{
	return raw[offset];
}

static uint16_t u16_at(const uint8_t *raw, size_t offset)
{
	uint16_t value;
	memcpy(&value, raw + offset, sizeof value);
	return value;
}

static uint32_t u32_at(const uint8_t *raw, size_t offset)
{
	uint32_t value;
	memcpy(&value, raw + offset, sizeof value);
	return value;
}

static uint64_t u64_at(const uint8_t *raw, size_t offset)
{
	uint64_t value;
	memcpy(&value, raw + offset, sizeof value);
	return value;
}

static const char *text_at(const uint8_t *raw, size_t offset)
{
	const char *value;
	memcpy(&value, raw + offset, sizeof value);
	return value;
}

static bool decode_kernel(const uint8_t *raw, struct record_gpu_op *ret)
{
	*ret = (struct record_gpu_op){
		.op = RECORD_KERNEL,
		.start_ns = u64_at(raw, KERNEL_START),
		.end_ns = u64_at(raw, KERNEL_END),
		.device = u32_at(raw, KERNEL_DEVICE),
		.context = u32_at(raw, KERNEL_CONTEXT),
		.stream = u32_at(raw, KERNEL_STREAM),
		.correlation = u32_at(raw, KERNEL_CORRELATION),
		.graph_node = u64_at(raw, KERNEL_GRAPH_NODE),
		.name = text_at(raw, KERNEL_NAME),
	};
	for (size_t axis = 0; axis < 3; axis++) {
		ret->grid[axis] = u32_at(raw, KERNEL_GRID + 4 * axis);
		ret->block[axis] = u32_at(raw, KERNEL_BLOCK + 4 * axis);
	}
	ret->shared_bytes = u32_at(raw, KERNEL_STATIC_SHARED) + u32_at(raw, KERNEL_DYNAMIC_SHARED);
	return true;
}

static bool decode_copy(const uint8_t *raw, bool is_peer, struct record_gpu_op *ret)
{
	*ret = (struct record_gpu_op){
		.op = RECORD_MEMCPY,
		.copy_kind = u8_at(raw, MEMCPY_COPY_KIND),
		.from_kind = u8_at(raw, MEMCPY_FROM_KIND),
		.to_kind = u8_at(raw, MEMCPY_TO_KIND),
		.bytes = u64_at(raw, MEMCPY_BYTES),
		.start_ns = u64_at(raw, MEMCPY_START),
		.end_ns = u64_at(raw, MEMCPY_END),
		.device = u32_at(raw, MEMCPY_DEVICE),
		.context = u32_at(raw, MEMCPY_CONTEXT),
		.stream = u32_at(raw, MEMCPY_STREAM),
		.correlation = u32_at(raw, is_peer ? MEMCPY2_CORRELATION : MEMCPY_CORRELATION),
		.graph_node = u64_at(raw, is_peer ? MEMCPY2_GRAPH_NODE : MEMCPY_GRAPH_NODE),
	};
	return true;
}

static bool decode_memset(const uint8_t *raw, struct record_gpu_op *ret)
{
	*ret = (struct record_gpu_op){
		.op = RECORD_MEMSET,
		.to_kind = (uint8_t)u16_at(raw, MEMSET_MEMORY_KIND),
		.bytes = u64_at(raw, MEMSET_BYTES),
		.start_ns = u64_at(raw, MEMSET_START),
		.end_ns = u64_at(raw, MEMSET_END),
		.device = u32_at(raw, MEMSET_DEVICE),
		.context = u32_at(raw, MEMSET_CONTEXT),
		.stream = u32_at(raw, MEMSET_STREAM),
		.correlation = u32_at(raw, MEMSET_CORRELATION),
		.graph_node = u64_at(raw, MEMSET_GRAPH_NODE),
	};
	return true;
}

static bool decode_call(const uint8_t *raw, enum call_domain domain, struct record_call *ret)
{
	const uint32_t call = wanted_call_find(domain, u32_at(raw, API_CBID));
	*ret = (struct record_call){
		.call = call,
		.start_ns = u64_at(raw, API_START),
		.end_ns = u64_at(raw, API_END),
		.thread = u32_at(raw, API_THREAD),
		.correlation = u32_at(raw, API_CORRELATION),
		.result = u32_at(raw, API_RESULT),
	};
	return call != UINT32_MAX;
}

static bool decode_sync(const uint8_t *raw, uint32_t version, struct record_sync *ret)
{
	*ret = (struct record_sync){
		.type = u32_at(raw, SYNC_TYPE),
		.correlation = u32_at(raw, SYNC_CORRELATION),
		.context = u32_at(raw, SYNC_CONTEXT),
		.stream = u32_at(raw, SYNC_STREAM),
		.event = u32_at(raw, SYNC_EVENT),
	};
	if (version >= CUPTI_VERSION_12_8)
		ret->sync_id = u64_at(raw, SYNC_ID);
	return true;
}

static bool decode_event(const uint8_t *raw, uint32_t version, struct record_event *ret)
{
	*ret = (struct record_event){
		.correlation = u32_at(raw, EVENT_CORRELATION),
		.context = u32_at(raw, EVENT_CONTEXT),
		.stream = u32_at(raw, EVENT_STREAM),
		.event = u32_at(raw, EVENT_EVENT),
	};
	if (version >= CUPTI_VERSION_12_8)
		ret->sync_id = u64_at(raw, EVENT_SYNC_ID);
	return true;
}

static bool decode_memory(const uint8_t *raw, struct record_memory *ret)
{
	const uint32_t operation = u32_at(raw, MEMORY_OPERATION);
	*ret = (struct record_memory){
		.is_release = operation == MEMORY_RELEASE,
		.address = u64_at(raw, MEMORY_ADDRESS),
		.bytes = u64_at(raw, MEMORY_BYTES),
		.at_ns = u64_at(raw, MEMORY_AT),
		.device = u32_at(raw, MEMORY_DEVICE),
	};
	return u32_at(raw, MEMORY_KIND) == MEMORY_KIND_DEVICE &&
	       (operation == MEMORY_ALLOCATION || operation == MEMORY_RELEASE);
}

static bool decode_external(const uint8_t *raw, struct record_external *ret)
{
	ret->id = u64_at(raw, EXTERNAL_ID);
	ret->correlation = u32_at(raw, EXTERNAL_CORRELATION);
	return u32_at(raw, EXTERNAL_KIND) == EXTERNAL_KIND_OURS;
}

static bool decode_rest(const uint8_t *raw, struct record *ret)
{
	switch (u32_at(raw, 0)) {
	case KIND_OVERHEAD:
		ret->kind = RECORD_OVERHEAD;
		ret->overhead = (struct record_overhead){.kind = u32_at(raw, OVERHEAD_KIND),
			.start_ns = u64_at(raw, OVERHEAD_START),
			.end_ns = u64_at(raw, OVERHEAD_END)};
		return true;
	case KIND_DEVICE:
		ret->kind = RECORD_DEVICE;
		ret->device = (struct record_device){.device = u32_at(raw, DEVICE_ID),
			.memory_bytes = u64_at(raw, DEVICE_MEMORY_BYTES),
			.name = text_at(raw, DEVICE_NAME)};
		return true;
	case KIND_CONTEXT:
		ret->kind = RECORD_CONTEXT;
		ret->context = (struct record_context){
			.context = u32_at(raw, CONTEXT_ID), .device = u32_at(raw, CONTEXT_DEVICE)};
		return true;
	default:
		return false;
	}
}

bool record_decode(const void *record, uint32_t version, struct record *ret)
{
	const uint8_t *raw = record;
	switch (u32_at(raw, 0)) {
	case KIND_KERNEL:
		ret->kind = RECORD_GPU_OP;
		return decode_kernel(raw, &ret->gpu_op);
	case KIND_MEMCPY:
	case KIND_MEMCPY2:
		ret->kind = RECORD_GPU_OP;
		return decode_copy(raw, u32_at(raw, 0) == KIND_MEMCPY2, &ret->gpu_op);
	case KIND_MEMSET:
		ret->kind = RECORD_GPU_OP;
		return decode_memset(raw, &ret->gpu_op);
	case KIND_RUNTIME:
	case KIND_DRIVER:
		ret->kind = RECORD_CALL;
		return decode_call(raw, u32_at(raw, 0) == KIND_RUNTIME ? CALL_RUNTIME : CALL_DRIVER,
			&ret->call);
	case KIND_SYNCHRONIZATION:
		ret->kind = RECORD_SYNC;
		return decode_sync(raw, version, &ret->sync);
	case KIND_CUDA_EVENT:
		ret->kind = RECORD_EVENT;
		return decode_event(raw, version, &ret->event);
	case KIND_EXTERNAL:
		ret->kind = RECORD_EXTERNAL;
		return decode_external(raw, &ret->external);
	case KIND_MEMORY2:
		ret->kind = RECORD_MEMORY;
		return decode_memory(raw, &ret->memory);
	default:
		return decode_rest(raw, ret);
	}
}

bool record_is_gpu_op(const void *raw)
{
	const uint32_t kind = u32_at(raw, 0);
	return kind == KIND_KERNEL || kind == KIND_MEMCPY || kind == KIND_MEMCPY2 ||
	       kind == KIND_MEMSET;
}

const char *record_copy_word(uint8_t copy_kind)
{
	static const char *const words[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
		"AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
	return words[copy_kind < sizeof words / sizeof *words ? copy_kind : 0];
}

const char *record_memory_word(uint8_t memory_kind)
{
	static const char *const words[] = {"Unknown", "Pageable", "Pinned", "Device", "Array",
		"Managed", "Device Static", "Managed Static"};
	return words[memory_kind < sizeof words / sizeof *words ? memory_kind : 0];
}

const char *record_overhead_word(uint32_t kind)
{
	static const char *const words[] = {"unknown", "buffer_flush", "instrumentation",
		"resource", "module_load", "lazy_load", "command_buffer_full", "buffer_request",
		"uvm_init"};
	if (kind == 1)
		return "compiler";
	return words[kind >> 16 < sizeof words / sizeof *words ? kind >> 16 : 0];
}
