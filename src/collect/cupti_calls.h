/*
 * The API calls that are recorded, by CUPTI's callback id, and the names they get: launches,
 * copies, synchronisations, event records and waits, allocations.  No queries: they come in storms
 * and say nothing.  Ids are only ever added by NVIDIA, so one list serves every version.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum call_domain {
	CALL_RUNTIME,
	CALL_DRIVER
};

struct wanted_call {
	uint16_t cbid;
	uint8_t domain; /* enum call_domain */
	const char *name;
};

extern const struct wanted_call wanted_calls[];
extern const uint32_t wanted_call_count;

/* The call's index in wanted_calls, UINT32_MAX if it is not wanted. */
uint32_t wanted_call_find(enum call_domain domain, uint32_t cbid);
