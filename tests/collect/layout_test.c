/*
 * The collector's offsets against NVIDIA's own header: it compiles, or the offsets are wrong.
 */
#include <cupti.h>
#include <stddef.h>
#include <stdio.h>

#include "collect/cupti_calls.h"
#include "collect/cupti_layout.h"

#define AT(type, field, offset) \
	_Static_assert(offsetof(type, field) == (offset), #type "." #field " is elsewhere")
#define IS(a, b) _Static_assert((unsigned)(a) == (unsigned)(b), #a " has another number")

IS(CUPTI_ACTIVITY_KIND_MEMCPY, KIND_MEMCPY);
IS(CUPTI_ACTIVITY_KIND_MEMSET, KIND_MEMSET);
IS(CUPTI_ACTIVITY_KIND_DRIVER, KIND_DRIVER);
IS(CUPTI_ACTIVITY_KIND_RUNTIME, KIND_RUNTIME);
IS(CUPTI_ACTIVITY_KIND_DEVICE, KIND_DEVICE);
IS(CUPTI_ACTIVITY_KIND_CONTEXT, KIND_CONTEXT);
IS(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, KIND_KERNEL);
IS(CUPTI_ACTIVITY_KIND_OVERHEAD, KIND_OVERHEAD);
IS(CUPTI_ACTIVITY_KIND_MEMCPY2, KIND_MEMCPY2);
IS(CUPTI_ACTIVITY_KIND_CUDA_EVENT, KIND_CUDA_EVENT);
IS(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, KIND_SYNCHRONIZATION);
IS(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, KIND_EXTERNAL);
IS(CUPTI_ACTIVITY_KIND_MEMORY2, KIND_MEMORY2);
IS(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, EXTERNAL_KIND_OURS);
IS(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, MEMORY_ALLOCATION);
IS(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, MEMORY_RELEASE);
IS(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, MEMORY_KIND_DEVICE);

#define KERNEL(field, offset)                     \
	AT(CUpti_ActivityKernel5, field, offset); \
	AT(CUpti_ActivityKernel9, field, offset)
KERNEL(start, KERNEL_START);
KERNEL(end, KERNEL_END);
KERNEL(deviceId, KERNEL_DEVICE);
KERNEL(contextId, KERNEL_CONTEXT);
KERNEL(streamId, KERNEL_STREAM);
KERNEL(gridX, KERNEL_GRID);
KERNEL(blockX, KERNEL_BLOCK);
KERNEL(staticSharedMemory, KERNEL_STATIC_SHARED);
KERNEL(dynamicSharedMemory, KERNEL_DYNAMIC_SHARED);
KERNEL(correlationId, KERNEL_CORRELATION);
KERNEL(name, KERNEL_NAME);
KERNEL(graphNodeId, KERNEL_GRAPH_NODE);

#define COPY(field, offset)                       \
	AT(CUpti_ActivityMemcpy4, field, offset); \
	AT(CUpti_ActivityMemcpy5, field, offset); \
	AT(CUpti_ActivityMemcpyPtoP3, field, offset)
COPY(copyKind, MEMCPY_COPY_KIND);
COPY(srcKind, MEMCPY_FROM_KIND);
COPY(dstKind, MEMCPY_TO_KIND);
COPY(bytes, MEMCPY_BYTES);
COPY(start, MEMCPY_START);
COPY(end, MEMCPY_END);
COPY(deviceId, MEMCPY_DEVICE);
COPY(contextId, MEMCPY_CONTEXT);
COPY(streamId, MEMCPY_STREAM);
AT(CUpti_ActivityMemcpy4, correlationId, MEMCPY_CORRELATION);
AT(CUpti_ActivityMemcpy4, graphNodeId, MEMCPY_GRAPH_NODE);
AT(CUpti_ActivityMemcpyPtoP3, correlationId, MEMCPY2_CORRELATION);
AT(CUpti_ActivityMemcpyPtoP3, graphNodeId, MEMCPY2_GRAPH_NODE);

#define FILL(field, offset)                       \
	AT(CUpti_ActivityMemset3, field, offset); \
	AT(CUpti_ActivityMemset4, field, offset)
FILL(bytes, MEMSET_BYTES);
FILL(start, MEMSET_START);
FILL(end, MEMSET_END);
FILL(deviceId, MEMSET_DEVICE);
FILL(contextId, MEMSET_CONTEXT);
FILL(streamId, MEMSET_STREAM);
FILL(correlationId, MEMSET_CORRELATION);
FILL(memoryKind, MEMSET_MEMORY_KIND);
FILL(graphNodeId, MEMSET_GRAPH_NODE);

AT(CUpti_ActivityAPI, cbid, API_CBID);
AT(CUpti_ActivityAPI, start, API_START);
AT(CUpti_ActivityAPI, end, API_END);
AT(CUpti_ActivityAPI, threadId, API_THREAD);
AT(CUpti_ActivityAPI, correlationId, API_CORRELATION);
AT(CUpti_ActivityAPI, returnValue, API_RESULT);

AT(CUpti_ActivitySynchronization, type, SYNC_TYPE);
AT(CUpti_ActivitySynchronization, correlationId, SYNC_CORRELATION);
AT(CUpti_ActivitySynchronization, contextId, SYNC_CONTEXT);
AT(CUpti_ActivitySynchronization, streamId, SYNC_STREAM);
AT(CUpti_ActivitySynchronization, cudaEventId, SYNC_EVENT);
AT(CUpti_ActivityCudaEvent, correlationId, EVENT_CORRELATION);
AT(CUpti_ActivityCudaEvent, contextId, EVENT_CONTEXT);
AT(CUpti_ActivityCudaEvent, streamId, EVENT_STREAM);
AT(CUpti_ActivityCudaEvent, eventId, EVENT_EVENT);
#if CUPTI_API_VERSION >= 26
AT(CUpti_ActivitySynchronization2, cudaEventId, SYNC_EVENT);
AT(CUpti_ActivitySynchronization2, cudaEventSyncId, SYNC_ID);
AT(CUpti_ActivityCudaEvent2, eventId, EVENT_EVENT);
AT(CUpti_ActivityCudaEvent2, cudaEventSyncId, EVENT_SYNC_ID);
#endif

AT(CUpti_ActivityExternalCorrelation, externalKind, EXTERNAL_KIND);
AT(CUpti_ActivityExternalCorrelation, externalId, EXTERNAL_ID);
AT(CUpti_ActivityExternalCorrelation, correlationId, EXTERNAL_CORRELATION);
AT(CUpti_ActivityOverhead, overheadKind, OVERHEAD_KIND);
AT(CUpti_ActivityOverhead, start, OVERHEAD_START);
AT(CUpti_ActivityOverhead, end, OVERHEAD_END);
AT(CUpti_ActivityMemory2, memoryOperationType, MEMORY_OPERATION);
AT(CUpti_ActivityMemory2, memoryKind, MEMORY_KIND);
AT(CUpti_ActivityMemory2, address, MEMORY_ADDRESS);
AT(CUpti_ActivityMemory2, bytes, MEMORY_BYTES);
AT(CUpti_ActivityMemory2, timestamp, MEMORY_AT);
AT(CUpti_ActivityMemory2, deviceId, MEMORY_DEVICE);
AT(CUpti_ActivityDevice4, globalMemorySize, DEVICE_MEMORY_BYTES);
AT(CUpti_ActivityDevice4, id, DEVICE_ID);
AT(CUpti_ActivityDevice4, name, DEVICE_NAME);
AT(CUpti_ActivityContext, contextId, CONTEXT_ID);
AT(CUpti_ActivityContext, deviceId, CONTEXT_DEVICE);

AT(CUpti_CallbackData, callbackSite, CALLBACK_SITE);
AT(CUpti_CallbackData, functionReturnValue, CALLBACK_RETURN_VALUE);
AT(CUpti_CallbackData, correlationId, CALLBACK_CORRELATION);
IS(CUPTI_CB_DOMAIN_DRIVER_API, CALLBACK_DRIVER);
IS(CUPTI_CB_DOMAIN_RUNTIME_API, CALLBACK_RUNTIME);
IS(CUPTI_API_EXIT, CALLBACK_SITE_EXIT);

/* Calls whose number matters most, by their names in the header. */
static const struct {
	enum call_domain domain;
	uint32_t cbid;
} calls[] = {
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020},
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuMemCreate},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuMemSetAccess},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent},
#if CUPTI_API_VERSION >= 130000
	{CALL_RUNTIME, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000},
	{CALL_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2},
#endif
};

int main(void)
{
	int failed = 0;
	for (uint32_t i = 1; i < wanted_call_count; i++)
		if (wanted_calls[i].domain < wanted_calls[i - 1].domain ||
			(wanted_calls[i].domain == wanted_calls[i - 1].domain &&
				wanted_calls[i].cbid <= wanted_calls[i - 1].cbid))
			failed++;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		failed += wanted_call_find(calls[i].domain, calls[i].cbid) == UINT32_MAX;
	printf("1..2\nok 1 - the records lie as the header says\n%s 2 - the calls are listed\n",
		failed ? "not ok" : "ok");
	return failed != 0;
}
