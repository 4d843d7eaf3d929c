#include "collect/calls.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/cupti_calls.h"
#include "collect/cupti_layout.h"
#include "collect/notes.h"

static _Atomic uint32_t generation;

/*
 * The thread's outermost call that was seen to begin: a call of the runtime may call the driver,
 * and only the outer one counts.  What ends without having been seen to begin (the callbacks came
 * on inside it) is not it.
 */
static _Thread_local struct {
	int64_t start_ns;
	uint64_t launch_id;
	uint32_t generation;
	uint32_t domain, cbid; /* domain 0: none */
	uint32_t depth;	       /* calls of the same kind inside it */
	int32_t tid;
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

static void put(const void *data)
{
	const uint32_t call = wanted_call_find(
		own.domain == CALLBACK_RUNTIME ? CALL_RUNTIME : CALL_DRIVER, own.cbid);
	if (call == UINT32_MAX)
		return;
	if (own.tid == 0)
		own.tid = (int32_t)gettid();
	struct note note;
	note.at_ns = own.start_ns;
	note.tid = own.tid;
	note.kind = NOTE_CALL;
	note.text_length = 0;
	note.call = (struct note_call){.end_ns = notes_now_ns(),
		.external_id = own.launch_id,
		.call = call,
		.correlation = u32_at(data, CALLBACK_CORRELATION)};
	const void *result = pointer_at(data, CALLBACK_RETURN_VALUE);
	if (result)
		memcpy(&note.call.result, result, sizeof note.call.result);
	notes_put(&note);
}

void calls_on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user;
	if ((domain != CALLBACK_DRIVER && domain != CALLBACK_RUNTIME) || !data)
		return;
	const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	if (own.generation != now) {
		own.generation = now;
		own.domain = 0;
	}
	const bool is_own = own.domain == (uint32_t)domain && own.cbid == cbid;
	if (u32_at(data, CALLBACK_SITE) != CALLBACK_SITE_EXIT) {
		if (own.domain == 0) {
			own.domain = (uint32_t)domain;
			own.cbid = cbid;
			own.depth = 0;
			own.start_ns = notes_now_ns();
		} else if (is_own) {
			own.depth++;
		}
		return;
	}
	if (!is_own || own.depth-- > 0)
		return;
	if (collector_is_recording())
		put(data);
	own.domain = 0;
}
