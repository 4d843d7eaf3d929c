/*
 * The table of recorded API calls.  Variants of one call (per-thread default stream, a later
 * version) bear one name, Kineto's, so that rules and comparisons treat them alike.
 */
#include "collect/cupti_calls.h"

#include <stddef.h>

#define R(cbid, name)                    \
	{                                \
		cbid, CALL_RUNTIME, name \
	}
#define D(cbid, name)                   \
	{                               \
		cbid, CALL_DRIVER, name \
	}

/* Sorted by domain and id. */
const struct wanted_call wanted_calls[] = {
	R(13, "cudaLaunch"),
	R(20, "cudaMalloc"),
	R(21, "cudaMallocPitch"),
	R(22, "cudaFree"),
	R(25, "cudaMallocHost"),
	R(26, "cudaFreeHost"),
	R(27, "cudaHostAlloc"),
	R(31, "cudaMemcpy"),
	R(32, "cudaMemcpy2D"),
	R(41, "cudaMemcpyAsync"),
	R(44, "cudaMemcpy2DAsync"),
	R(49, "cudaMemset"),
	R(50, "cudaMemset2D"),
	R(51, "cudaMemsetAsync"),
	R(52, "cudaMemset2DAsync"),
	R(131, "cudaStreamSynchronize"),
	R(135, "cudaEventRecord"),
	R(137, "cudaEventSynchronize"),
	R(145, "cudaMemcpy3DAsync"),
	R(147, "cudaStreamWaitEvent"),
	R(160, "cudaMemcpyPeer"),
	R(161, "cudaMemcpyPeerAsync"),
	R(163, "cudaMemcpy3DPeerAsync"),
	R(165, "cudaDeviceSynchronize"),
	R(206, "cudaMallocManaged"),
	R(211, "cudaLaunchKernel"),
	R(213, "cudaLaunch"),
	R(214, "cudaLaunchKernel"),
	R(215, "cudaMemcpy"),
	R(225, "cudaMemcpyAsync"),
	R(228, "cudaMemcpy2DAsync"),
	R(233, "cudaMemset"),
	R(235, "cudaMemsetAsync"),
	R(236, "cudaMemset2DAsync"),
	R(239, "cudaStreamSynchronize"),
	R(242, "cudaEventRecord"),
	R(246, "cudaMemcpy3DAsync"),
	R(247, "cudaStreamWaitEvent"),
	R(250, "cudaMemcpy3DPeerAsync"),
	R(269, "cudaLaunchCooperativeKernel"),
	R(270, "cudaLaunchCooperativeKernel"),
	R(272, "cudaLaunchCooperativeKernelMultiDevice"),
	R(311, "cudaGraphLaunch"),
	R(312, "cudaGraphLaunch"),
	R(370, "cudaEventRecordWithFlags"),
	R(371, "cudaEventRecordWithFlags"),
	R(373, "cudaMallocAsync"),
	R(374, "cudaMallocAsync"),
	R(375, "cudaFreeAsync"),
	R(376, "cudaFreeAsync"),
	R(391, "cudaMallocFromPoolAsync"),
	R(392, "cudaMallocFromPoolAsync"),
	R(430, "cudaLaunchKernelExC"),
	R(431, "cudaLaunchKernelExC"),
	R(482, "cudaMemcpyBatchAsync"),
	R(483, "cudaMemcpyBatchAsync"),
	R(505, "cudaLaunchKernel"), /* __cudaLaunchKernel, what CUDA 13's <<<>>> calls */
	R(506, "cudaLaunchKernel"),
	R(509, "cudaMemcpyBatchAsync"),
	R(510, "cudaMemcpyBatchAsync"),
	D(17, "cuCtxSynchronize"),
	D(115, "cuLaunch"),
	D(116, "cuLaunchGrid"),
	D(117, "cuLaunchGridAsync"),
	D(119, "cuEventRecord"),
	D(121, "cuEventSynchronize"),
	D(126, "cuStreamSynchronize"),
	D(216, "cuMemsetD8Async"),
	D(218, "cuMemsetD16Async"),
	D(220, "cuMemsetD32Async"),
	D(243, "cuMemAlloc"),
	D(244, "cuMemAllocPitch"),
	D(245, "cuMemFree"),
	D(277, "cuMemcpyHtoDAsync"),
	D(279, "cuMemcpyDtoHAsync"),
	D(281, "cuMemcpyDtoDAsync"),
	D(295, "cuStreamWaitEvent"),
	D(306, "cuMemcpyAsync"),
	D(307, "cuLaunchKernel"),
	D(319, "cuMemcpyPeerAsync"),
	D(418, "cuMemcpyAsync"),
	D(421, "cuMemcpyHtoDAsync"),
	D(422, "cuMemcpyDtoHAsync"),
	D(423, "cuMemcpyDtoDAsync"),
	D(428, "cuMemsetD8Async"),
	D(429, "cuMemsetD16Async"),
	D(430, "cuMemsetD32Async"),
	D(436, "cuStreamWaitEvent"),
	D(440, "cuStreamSynchronize"),
	D(441, "cuEventRecord"),
	D(442, "cuLaunchKernel"),
	D(477, "cuLaunchCooperativeKernel"),
	D(478, "cuLaunchCooperativeKernel"),
	D(480, "cuLaunchCooperativeKernelMultiDevice"),
	D(514, "cuGraphLaunch"),
	D(515, "cuGraphLaunch"),
	D(547, "cuMemAddressReserve"),
	D(548, "cuMemAddressFree"),
	D(549, "cuMemCreate"),
	D(550, "cuMemRelease"),
	D(551, "cuMemMap"),
	D(552, "cuMemUnmap"),
	D(553, "cuMemSetAccess"),
	D(587, "cuEventRecordWithFlags"),
	D(588, "cuEventRecordWithFlags"),
	D(598, "cuMemAllocAsync"),
	D(599, "cuMemAllocAsync"),
	D(600, "cuMemFreeAsync"),
	D(601, "cuMemFreeAsync"),
	D(611, "cuMemAllocFromPoolAsync"),
	D(612, "cuMemAllocFromPoolAsync"),
	D(652, "cuLaunchKernelEx"),
	D(653, "cuLaunchKernelEx"),
	D(776, "cuMemcpyBatchAsync"),
	D(777, "cuMemcpyBatchAsync"),
	D(796, "cuMemcpyBatchAsync"),
	D(797, "cuMemcpyBatchAsync"),
	D(800, "cuCtxSynchronize"),
};
#undef R
#undef D
const uint32_t wanted_call_count = sizeof wanted_calls / sizeof *wanted_calls;

uint32_t wanted_call_find(enum call_domain domain, uint32_t cbid)
{
	uint32_t low = 0, high = wanted_call_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct wanted_call *call = &wanted_calls[middle];
		if (call->domain < domain || (call->domain == domain && call->cbid < cbid))
			low = middle + 1;
		else
			high = middle;
	}
	const struct wanted_call *found = &wanted_calls[low];
	return low < wanted_call_count && found->domain == domain && found->cbid == cbid
		       ? low
		       : UINT32_MAX;
}
