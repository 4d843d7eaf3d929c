/*
 * NVTX's, NCCL's and the API calls' side of the collector with the real notes and nothing else
 * behind them, to measure what an event costs.  The program finds this under the name
 * `noted_collector`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct noted_collector {
	void (*record)(bool is_recording);
	uint64_t (*drain)(void); /* reads all notes; how many were dropped so far */
	void (*on_callback)(void *user, int domain, uint32_t cbid, const void *data);
};
