/*
 * The callbacks behind calls.h.  What a call costs here is two reads of the clock and little else:
 * anything that can wait, the look-up of the call too, is the writer's.
 */
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
static _Thread_local struct thread_call {
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

static void put(struct thread_call *mine, const void *data)
{
	if (mine->tid == 0)
		mine->tid = (int32_t)gettid();
	struct note_call call = {.end_ns = notes_now_ns(),
		.external_id = mine->launch_id,
		.correlation = u32_at(data, CALLBACK_CORRELATION),
		.cbid = (uint16_t)mine->cbid,
		.domain = mine->domain == CALLBACK_RUNTIME ? CALL_RUNTIME : CALL_DRIVER};
	const void *result = pointer_at(data, CALLBACK_RETURN_VALUE);
	if (result)
		memcpy(&call.result, result, sizeof call.result);
	notes_put_call(mine->start_ns, mine->tid, &call);
}

void calls_on_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user;
	if ((domain != CALLBACK_DRIVER && domain != CALLBACK_RUNTIME) || !data)
		return;
	struct thread_call *mine = &own;
	/* Opaque from here on: a compiler that knows it for a thread's own variable finds it anew
	 * at each use, which is a call, since the library is loaded late. */
	__asm__("" : "+r"(mine));
	const uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
	if (mine->generation != now) {
		mine->generation = now;
		mine->domain = 0;
	}
	const bool is_own = mine->domain == (uint32_t)domain && mine->cbid == cbid;
	if (u32_at(data, CALLBACK_SITE) != CALLBACK_SITE_EXIT) {
		if (mine->domain == 0) {
			mine->domain = (uint32_t)domain;
			mine->cbid = cbid;
			mine->depth = 0;
			mine->start_ns = notes_now_ns();
		} else if (is_own) {
			mine->depth++;
		}
		return;
	}
	if (!is_own || mine->depth-- > 0)
		return;
	if (collector_is_recording())
		put(mine, data);
	mine->domain = 0;
}
