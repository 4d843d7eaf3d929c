/*
 * The functions of libcupti by name, and what is asked of them.
 */
#include "collect/cupti.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/calls.h"
#include "collect/cupti_buffers.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_layout.h"
#include "collect/protocol.h"

#define OK	      0
#define ERROR_TAKEN   39 /* another tool subscribed before us */
#define FLUSH_FORCED  1u
#define FLUSH_MS      1000u
#define THREAD_SYSTEM 1u

/* Attributes. */
#define ZEROED_BUFFERS	   5u
#define PER_THREAD_BUFFERS 9u

/* X(result, name, needed, parameters) */
#define FUNCTIONS(X)                                                                             \
	X(GetVersion, true, (uint32_t * version))                                                \
	X(Subscribe, true, (void **subscriber, void *callback, void *user))                      \
	X(Unsubscribe, false, (void *subscriber))                                                \
	X(GetResultString, false, (int result, const char **text))                               \
	X(ActivityEnable, true, (uint32_t kind))                                                 \
	X(ActivityDisable, true, (uint32_t kind))                                                \
	X(ActivityRegisterCallbacks, true, (void *request, void *complete))                      \
	X(ActivityGetNextRecord, true, (uint8_t * buffer, size_t valid, const void **record))    \
	X(ActivityGetNumDroppedRecords, true, (void *context, uint32_t stream, size_t *dropped)) \
	X(ActivityFlushAll, true, (uint32_t flag))                                               \
	X(ActivityFlushPeriod, false, (uint32_t ms))                                             \
	X(ActivitySetAttribute, false, (uint32_t attribute, size_t * bytes, void *value))        \
	X(ActivityEnableRuntimeApi, false, (uint32_t cbid, uint8_t enable))                      \
	X(ActivityEnableDriverApi, false, (uint32_t cbid, uint8_t enable))                       \
	X(ActivityEnableAllSyncRecords, false, (uint8_t enable))                                 \
	X(SetThreadIdType, false, (uint32_t type))                                               \
	X(ActivityPushExternalCorrelationId, true, (uint32_t kind, uint64_t id))                 \
	X(ActivityPopExternalCorrelationId, true, (uint32_t kind, uint64_t * last))              \
	X(EnableCallback, false, (uint32_t enable, void *subscriber, int domain, uint32_t cbid))

#define X(name, needed, parameters) int(*name) parameters;
static struct {
	FUNCTIONS(X)
} cupti;
#undef X

static _Atomic bool is_open;
static uint32_t version;
/* Past the last call of CUPTI 13.4; ids that a version has not are refused one by one. */
#define RUNTIME_CALLS_END 640
#define DRIVER_CALLS_END  960

static bool by_callback; /* API calls come as callbacks, not as records */
static void *subscriber;
static bool is_filtered; /* CUPTI itself filters the API calls */

static const uint32_t early_kinds[] = {KIND_DEVICE, KIND_CONTEXT};

static const uint32_t kinds[] = {KIND_KERNEL, KIND_MEMCPY, KIND_MEMCPY2, KIND_MEMSET,
	KIND_SYNCHRONIZATION, KIND_CUDA_EVENT, KIND_OVERHEAD, KIND_MEMORY2};

/* Only where API calls are records. */
static const uint32_t call_kinds[] = {KIND_EXTERNAL, KIND_RUNTIME, KIND_DRIVER};
#define CALL_KIND_COUNT (sizeof call_kinds / sizeof *call_kinds)

static bool fail(char *reason, size_t bytes, const char *what, int result)
{
	const char *text = NULL;
	if (result == ERROR_TAKEN)
		snprintf(reason, bytes, "another profiler holds CUPTI in this process");
	else if (cupti.GetResultString && cupti.GetResultString(result, &text) == OK && text)
		snprintf(reason, bytes, "%s: %s", what, text);
	else
		snprintf(reason, bytes, "%s: error %d", what, result);
	return false;
}

/* Two of them in one process corrupt each other, so one that is there already comes first. */
static void *find_library(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
		"libcupti.so.11.7", "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4",
		"libcupti.so.11.3", "libcupti.so.11.2", "libcupti.so.11.1", "libcupti.so"};
	const char *named = getenv(INQUEST_ENV_CUPTI);
	if (named && *named)
		return dlopen(named, RTLD_NOW | RTLD_LOCAL);
	void *library = NULL;
	for (int load = 0; load < 2 && !library; load++)
		for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
			library =
				dlopen(names[i], RTLD_NOW | RTLD_LOCAL | (load ? 0 : RTLD_NOLOAD));
	return library;
}

static bool find_functions(void *library, char *reason, size_t bytes)
{
	const struct {
		const char *name;
		bool is_needed;
		void *to;
	} functions[] = {
#define X(name, needed, parameters) {"cupti" #name, needed, &cupti.name},
		FUNCTIONS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		*(void **)functions[i].to = dlsym(library, functions[i].name);
		if (!*(void **)functions[i].to && functions[i].is_needed) {
			snprintf(reason, bytes, "libcupti lacks %s", functions[i].name);
			return false;
		}
	}
	return true;
}

static void set_flag(uint32_t attribute, uint8_t value)
{
	size_t bytes = sizeof value;
	if (cupti.ActivitySetAttribute)
		(void)cupti.ActivitySetAttribute(attribute, &bytes, &value);
}

static void set_attributes(void)
{
	set_flag(ZEROED_BUFFERS, 1);
	/* Much cheaper, but its flush was not safe among threads before an update of 12.6. */
	if (version >= CUPTI_VERSION_12_3)
		set_flag(PER_THREAD_BUFFERS, version >= CUPTI_VERSION_12_8);
	if (cupti.SetThreadIdType)
		(void)cupti.SetThreadIdType(THREAD_SYSTEM);
}

bool cupti_begin(char *reason, size_t bytes)
{
	void *library = find_library();
	if (!library) {
		snprintf(reason, bytes, "no libcupti was found");
		return false;
	}
	if (!find_functions(library, reason, bytes))
		return false;
	int result = cupti.GetVersion(&version);
	if (result != OK)
		return fail(reason, bytes, "cuptiGetVersion", result);
	/* Without the place of the subscriber another tool would take away our buffers. */
	result = cupti.Subscribe(&subscriber, (void *)calls_on_callback, NULL);
	if (result != OK)
		return fail(reason, bytes, "cuptiSubscribe", result);
	set_attributes();
	if (!buffers_init()) {
		snprintf(reason, bytes, "no memory for CUPTI's buffers");
		return false;
	}
	result = cupti.ActivityRegisterCallbacks((void *)buffers_request, (void *)buffers_complete);
	if (result != OK)
		return fail(reason, bytes, "cuptiActivityRegisterCallbacks", result);
	if (cupti.ActivityFlushPeriod)
		(void)cupti.ActivityFlushPeriod(FLUSH_MS);
	by_callback = cupti.EnableCallback != NULL;
	is_filtered = version >= CUPTI_VERSION_12_5 && cupti.ActivityEnableRuntimeApi &&
		      cupti.ActivityEnableDriverApi;
	/* Devices and contexts announce themselves once, when they come up: listen from the start.
	 */
	for (size_t i = 0; i < sizeof early_kinds / sizeof *early_kinds; i++)
		(void)cupti.ActivityEnable(early_kinds[i]);
	atomic_store_explicit(&is_open, true, memory_order_release);
	return true;
}

bool cupti_is_open(void)
{
	return atomic_load_explicit(&is_open, memory_order_acquire);
}

uint32_t cupti_version(void)
{
	return version;
}

/*
 * The API calls that nobody wants are taken out one by one of what the kinds bring.  The other way
 * round, asking for the wanted ones without their kinds, brings nothing once the process has made
 * its first call (seen with CUPTI 13.0 on driver 580).
 */
static void leave_out_calls(void)
{
	for (uint32_t cbid = 1; cbid < RUNTIME_CALLS_END; cbid++)
		if (wanted_call_find(CALL_RUNTIME, cbid) == UINT32_MAX)
			(void)cupti.ActivityEnableRuntimeApi(cbid, 0);
	for (uint32_t cbid = 1; cbid < DRIVER_CALLS_END; cbid++)
		if (wanted_call_find(CALL_DRIVER, cbid) == UINT32_MAX)
			(void)cupti.ActivityEnableDriverApi(cbid, 0);
}

static void switch_callbacks(uint32_t enable)
{
	for (uint32_t i = 0; i < wanted_call_count; i++)
		(void)cupti.EnableCallback(enable, subscriber,
			wanted_calls[i].domain == CALL_RUNTIME ? CALLBACK_RUNTIME : CALLBACK_DRIVER,
			wanted_calls[i].cbid);
}

void cupti_enable(void)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		(void)cupti.ActivityEnable(kinds[i]);
	/* Not a record for each "not ready" of a query. */
	if (cupti.ActivityEnableAllSyncRecords)
		(void)cupti.ActivityEnableAllSyncRecords(0);
	if (by_callback) {
		calls_begin_anew();
		switch_callbacks(1);
		return;
	}
	/* Where CUPTI can't filter, the decoder does. */
	for (size_t i = 0; i < CALL_KIND_COUNT; i++)
		(void)cupti.ActivityEnable(call_kinds[i]);
	if (is_filtered)
		leave_out_calls();
}

void cupti_disable(void)
{
	if (by_callback)
		switch_callbacks(0);
	else
		for (size_t i = CALL_KIND_COUNT; i-- > 0;)
			(void)cupti.ActivityDisable(call_kinds[i]);
	for (size_t i = sizeof kinds / sizeof *kinds; i-- > 0;)
		(void)cupti.ActivityDisable(kinds[i]);
}

void cupti_flush(bool all)
{
	(void)cupti.ActivityFlushAll(all ? FLUSH_FORCED : 0);
}

const void *cupti_next_record(uint8_t *buffer, size_t valid_bytes, const void *record)
{
	return cupti.ActivityGetNextRecord(buffer, valid_bytes, &record) == OK ? record : NULL;
}

uint64_t cupti_take_dropped(void *context, uint32_t stream)
{
	size_t dropped = 0;
	return cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == OK ? dropped : 0;
}

bool cupti_push_id(uint64_t id)
{
	calls_set_launch_id(id);
	if (by_callback)
		return true;
	return cupti.ActivityPushExternalCorrelationId(EXTERNAL_KIND_OURS, id) == OK;
}

void cupti_pop_id(void)
{
	calls_set_launch_id(0);
	if (by_callback)
		return;
	uint64_t last;
	(void)cupti.ActivityPopExternalCorrelationId(EXTERNAL_KIND_OURS, &last);
}
