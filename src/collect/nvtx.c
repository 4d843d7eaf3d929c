/*
 * The functions that NVTX's clients reach once the collector is attached.  They run in the
 * training's threads, thousands of times a step: when nothing is recorded they cost an atomic load
 * and a shift in the thread's own state.
 */
#include "collect/nvtx.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/collector.h"
#include "collect/notes.h"
#include "collect/nvtx_text.h"
#include "collect/protocol.h"

/* Numbers of NVTX's tables; they have not changed since NVTX 1, later ones are appended. */
enum {
	TABLE_CALLBACKS = 1
};
enum {
	MODULE_CORE = 1,
	MODULE_CORE2 = 5
};
enum {
	CORE_MARK_EX = 1,
	CORE_MARK_A,
	CORE_MARK_W,
	CORE_START_EX,
	CORE_START_A,
	CORE_START_W,
	CORE_END,
	CORE_PUSH_EX,
	CORE_PUSH_A,
	CORE_PUSH_W,
	CORE_POP,
};
enum {
	CORE2_MARK_EX = 1,
	CORE2_START_EX = 2,
	CORE2_PUSH_EX = 4,
	CORE2_POP = 5,
	CORE2_REGISTER_A = 10,
	CORE2_REGISTER_W = 11,
	CORE2_CREATE_A = 12,
	CORE2_CREATE_W = 13,
};

/* NVTX's word for "depth not followed", as its functions answer without a tool. */
#define DEPTH_NOT_FOLLOWED (-2)

typedef void (*any_function)(void);

struct callbacks_table {
	size_t struct_size;
	int (*module_functions)(
		unsigned module, any_function ***ret_slots, unsigned *ret_slot_count);
};

/* A thread's open ranges, innermost in the lowest bit: set where the push left a note.  Ranges
 * nested deeper than the bits forget that they were noted, and the writer closes them. */
struct thread_ranges {
	uint64_t noted;
	int32_t tid;
};

static _Thread_local struct thread_ranges ranges;
static _Atomic uint64_t left_out;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

uint64_t nvtx_ranges_left_out(void)
{
	return atomic_load_explicit(&left_out, memory_order_relaxed);
}

static void begin_note(struct note *note, enum note_kind kind, struct thread_ranges *mine)
{
	if (!mine->tid)
		mine->tid = (int32_t)gettid();
	note->at_ns = notes_now_ns();
	note->tid = mine->tid;
	note->kind = (uint8_t)kind;
	note->text_length = 0;
	note->text[0] = '\0';
}

/* The window of steps opens and closes here, so this is done whether or not it is open. */
static void look_for_step(const char *text)
{
	static const char prefix[] = INQUEST_MARK_PREFIX "step:";
	if (!text || text[0] != prefix[0] || strncmp(text, prefix, sizeof prefix - 1) != 0)
		return;
	const int saved = errno;
	char *end;
	const char *digits = text + sizeof prefix - 1;
	long long step = strtoll(digits, &end, 10);
	if (end != digits)
		collector_note_step(step);
	errno = saved;
}

static void opened(bool noted)
{
	ranges.noted = ranges.noted << 1 | noted;
}

static int push_bytes(const char *text)
{
	look_for_step(text);
	bool noted = collector_is_recording();
	if (noted) {
		struct note note;
		begin_note(&note, NOTE_PUSH, &ranges);
		nvtx_put_bytes(&note, text);
		noted = notes_put(&note);
	}
	opened(noted);
	return DEPTH_NOT_FOLLOWED;
}

static int push_wide(const wchar_t *text)
{
	bool noted = collector_is_recording();
	if (noted) {
		struct note note;
		begin_note(&note, NOTE_PUSH, &ranges);
		nvtx_put_wide(&note, text);
		noted = notes_put(&note);
	}
	opened(noted);
	return DEPTH_NOT_FOLLOWED;
}

static int domain_push(const void *domain, const struct nvtx_attributes *attributes)
{
	if (!domain)
		look_for_step(nvtx_message(attributes));
	bool noted = collector_is_recording();
	if (noted) {
		struct note note;
		begin_note(&note, NOTE_PUSH, &ranges);
		nvtx_put_event(&note, domain, attributes);
		noted = notes_put(&note);
	}
	opened(noted);
	return DEPTH_NOT_FOLLOWED;
}

static int push_attributes(const struct nvtx_attributes *attributes)
{
	return domain_push(NULL, attributes);
}

/* A noted range is closed even when its window has ended meanwhile. */
static int pop(void)
{
	struct thread_ranges *mine = &ranges;
	bool noted = mine->noted & 1;
	mine->noted >>= 1;
	if (noted) {
		struct note note;
		begin_note(&note, NOTE_POP, mine);
		(void)notes_put(&note);
	}
	return DEPTH_NOT_FOLLOWED;
}

/* Domains have stacks of their own in NVTX, and one in the notes: code closes what it opened
 * before it returns, whichever domain, so the innermost range is the one meant. */
static int domain_pop(const void *domain)
{
	(void)domain;
	return pop();
}

static void mark_bytes(const char *text)
{
	if (!collector_is_recording())
		return;
	struct note note;
	begin_note(&note, NOTE_MARK, &ranges);
	nvtx_put_bytes(&note, text);
	(void)notes_put(&note);
}

static void mark_wide(const wchar_t *text)
{
	if (!collector_is_recording())
		return;
	struct note note;
	begin_note(&note, NOTE_MARK, &ranges);
	nvtx_put_wide(&note, text);
	(void)notes_put(&note);
}

static void domain_mark(const void *domain, const struct nvtx_attributes *attributes)
{
	if (!collector_is_recording())
		return;
	struct note note;
	begin_note(&note, NOTE_MARK, &ranges);
	nvtx_put_event(&note, domain, attributes);
	(void)notes_put(&note);
}

static void mark_attributes(const struct nvtx_attributes *attributes)
{
	domain_mark(NULL, attributes);
}

/* 0 is the id that NVTX answers without a tool; whoever ends that range ends nothing. */
static uint64_t start_left_out(void)
{
	if (collector_is_recording())
		atomic_fetch_add_explicit(&left_out, 1, memory_order_relaxed);
	return 0;
}

static uint64_t start_any(const void *what)
{
	(void)what;
	return start_left_out();
}

static uint64_t domain_start(const void *domain, const struct nvtx_attributes *attributes)
{
	(void)domain;
	(void)attributes;
	return start_left_out();
}

static const void *register_bytes(const void *domain, const char *text)
{
	(void)domain;
	return nvtx_text_handle(text);
}

static const void *register_wide(const void *domain, const wchar_t *text)
{
	(void)domain;
	return nvtx_text_handle_wide(text);
}

struct hook {
	unsigned slot;
	any_function function;
};

static const struct hook core_hooks[] = {
	{CORE_MARK_EX, (any_function)mark_attributes},
	{CORE_MARK_A, (any_function)mark_bytes},
	{CORE_MARK_W, (any_function)mark_wide},
	{CORE_START_EX, (any_function)start_any},
	{CORE_START_A, (any_function)start_any},
	{CORE_START_W, (any_function)start_any},
	{CORE_PUSH_EX, (any_function)push_attributes},
	{CORE_PUSH_A, (any_function)push_bytes},
	{CORE_PUSH_W, (any_function)push_wide},
	{CORE_POP, (any_function)pop},
};

static const struct hook core2_hooks[] = {
	{CORE2_MARK_EX, (any_function)domain_mark},
	{CORE2_START_EX, (any_function)domain_start},
	{CORE2_PUSH_EX, (any_function)domain_push},
	{CORE2_POP, (any_function)domain_pop},
	{CORE2_REGISTER_A, (any_function)register_bytes},
	{CORE2_REGISTER_W, (any_function)register_wide},
	{CORE2_CREATE_A, (any_function)nvtx_domain_handle},
	{CORE2_CREATE_W, (any_function)nvtx_domain_handle_wide},
};

/* Slots that this NVTX does not have, or has empty, stay as they are. */
static bool attach(const struct callbacks_table *callbacks, unsigned module,
	const struct hook *hooks, size_t hook_count)
{
	any_function **slots = NULL;
	unsigned slot_count = 0;
	if (!callbacks->module_functions(module, &slots, &slot_count) || !slots)
		return false;
	for (size_t i = 0; i < hook_count; i++)
		if (hooks[i].slot < slot_count && slots[hooks[i].slot])
			*slots[hooks[i].slot] = hooks[i].function;
	return true;
}

/* The child has another thread id, and none of the notes of the ranges that are open in it. */
static void in_child(void)
{
	ranges = (struct thread_ranges){0};
}

static void watch_fork(void)
{
	(void)pthread_atfork(NULL, NULL, in_child);
}

int InitializeInjectionNvtx2(nvtx_export_table tables)
{
	/* Not ours to record: with 0 NVTX empties its functions, which is as cheap as it gets. */
	if (!getenv(INQUEST_ENV_PARENT) || !tables)
		return 0;
	const struct callbacks_table *callbacks = tables(TABLE_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof *callbacks ||
		!callbacks->module_functions)
		return 0;
	const int saved = errno;
	collector_start();
	errno = saved;
	pthread_once(&fork_once, watch_fork);
	bool core =
		attach(callbacks, MODULE_CORE, core_hooks, sizeof core_hooks / sizeof *core_hooks);
	bool core2 = attach(
		callbacks, MODULE_CORE2, core2_hooks, sizeof core2_hooks / sizeof *core2_hooks);
	return core || core2;
}

int InitializeInjectionNvtx(nvtx_export_table tables)
{
	return InitializeInjectionNvtx2(tables);
}
