#include "collect/calls.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/cupti_calls.h"
#include "collect/notes.h"

/* CUpti_CallbackData in bytes (the same in CUPTI 11 to 13). */
#define DATA_SITE	      0
#define DATA_RETURN_VALUE     24
#define DATA_CORRELATION_DATA 56
#define DATA_CORRELATION      64
#define SITE_EXIT	      1u

#define DOMAIN_DRIVER  1
#define DOMAIN_RUNTIME 2

static _Atomic uint32_t generation;

/* A call of the runtime may call the driver: only the outermost counts. */
static _Thread_local struct {
	uint32_t generation, depth;
	int32_t tid;
	uint64_t launch_id;
} own;

static uint32_t u32_at(const void *data, size_t offset)
{
	uint32_t value;
	memcpy(&value, (const char *)data + offset, sizeof value);
	return value;
}

static void *pointer_at(const void *data, size_t offset)
{
	void *value;
	memcpy(&value, (const char *)data + offset, sizeof value);
	return value;
}

void calls_begin_anew(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

void calls_set_launch_id(uint64_t id)
{
	own.launch_id = id;
}

static void put(int domain, uint32_t cbid, const void *data, int64_t start_ns)
{
	const uint32_t call =
		wanted_call_find(domain == DOMAIN_RUNTIME ? CALL_RUNTIME : CALL_DRIVER, cbid);
	if (call == UINT32_MAX)
		return;
	if (own.tid == 0)
		own.tid = (int32_t)gettid();
	struct note note;
	note.at_ns = start_ns;
	note.tid = own.tid;
	note.kind = NOTE_CALL;
	note.text_length = 0;
	note.call = (struct note_call){.end_ns = notes_now_ns(),
		.external_id = own.launch_id,
		.call = call,
		.correlation = u32_at(data, DATA_CORRELATION)};
	const void *result = pointer_at(data, DATA_RETURN_VALUE);
	if (result)
		memcpy(&note.call.result, result, sizeof note.call.result);
	notes_put(&note);
}

void calls_on_callback(void *user, int domain, uint32_t cbid, const void *call_data)
{
	(void)user;
	if ((domain != DOMAIN_DRIVER && domain != DOMAIN_RUNTIME) || !call_data)
		return;
	const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	if (own.generation != now) {
		own.generation = now;
		own.depth = 0;
	}
	/* CUPTI keeps 8 bytes for us from the entry of a call to its exit: its start. */
	int64_t *start_ns = pointer_at(call_data, DATA_CORRELATION_DATA);
	if (u32_at(call_data, DATA_SITE) != SITE_EXIT) {
		if (own.depth++ == 0 && start_ns)
			*start_ns = notes_now_ns();
		return;
	}
	if (own.depth == 0 || --own.depth > 0)
		return;
	if (start_ns && *start_ns > 0 && collector_is_recording())
		put(domain, cbid, call_data, *start_ns);
}
