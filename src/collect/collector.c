/*
 * The collector's state.  It begins off; an entry point starts it: then it listens, that is, takes
 * notes but has neither CUPTI nor a thread, since a process that never uses CUDA must not notice
 * us.  CUDA's entry point makes it run.  From every state it may go inert, and stays so.
 */
#include "collect/collector.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/cupti.h"
#include "collect/guest.h"
#include "collect/notes.h"
#include "collect/protocol.h"
#include "collect/windows.h"
#include "collect/writer.h"

#define EXIT_LIMIT_NS INT64_C(2000000000)
#define NO_TIME	      INT64_MAX

enum state {
	STATE_OFF,
	STATE_LISTENING,
	STATE_RUNNING,
	STATE_INERT
};

static _Atomic int state = STATE_OFF;
static _Atomic bool is_recording;
static _Atomic uint64_t last_launch_id;
static _Thread_local uint32_t pushed_depth;

static pthread_once_t start_once = PTHREAD_ONCE_INIT, cuda_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t switch_lock = PTHREAD_MUTEX_INITIALIZER; /* of the four below */
static bool is_wanted;				     /* recording, or as soon as CUDA is there */
static bool is_enabled;				     /* CUPTI's activities */
static bool was_open;				     /* notes are taken */
static int64_t begin_ns = NO_TIME, end_ns = NO_TIME; /* of --after and --for */

static struct windows windows;
static int64_t after_ns = -1, for_ns = -1; /* -1: not asked */
static char dir[PATH_MAX], no_cupti[200], stop_reason[200];
static _Atomic bool is_stopped;
static struct writer_setup setup;

/* Recording where it is wanted and possible; the caller holds the lock. */
static void switch_to(bool wanted)
{
	const int now = atomic_load(&state);
	is_wanted = wanted;
	const bool can =
		(now == STATE_LISTENING || now == STATE_RUNNING) && !atomic_load(&is_stopped);
	const bool enable = wanted && can && now == STATE_RUNNING && cupti_is_open();
	if (!wanted || !can)
		atomic_store_explicit(&is_recording, false, memory_order_relaxed);
	if (enable && !is_enabled)
		cupti_enable();
	else if (!enable && is_enabled)
		cupti_disable();
	is_enabled = enable;
	if (was_open != (wanted && can)) {
		if (was_open)
			windows_close(notes_now_ns());
		else
			windows_reopen(notes_now_ns());
		was_open = wanted && can;
	}
	if (wanted && can)
		atomic_store_explicit(&is_recording, true, memory_order_relaxed);
}

static void in_child(void)
{
	/* What has no thread and no CUPTI yet can start anew in the child; a lock may be held. */
	if (atomic_load(&state) == STATE_LISTENING) {
		notes_forget();
		pthread_mutex_init(&switch_lock, NULL);
		return;
	}
	atomic_store(&state, STATE_INERT);
	atomic_store(&is_recording, false);
	pushed_depth = 0;
	notes_go_inert();
	guest_release_term();
}

/* NCCL's STATIC_PLUGIN looks for its tables in the global scope, where a library that CUDA loaded
 * is not. */
static void show_symbols(void)
{
	Dl_info self;
	if (dladdr((void *)show_symbols, &self) && self.dli_fname)
		(void)dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_NOW | RTLD_GLOBAL);
}

static bool take_seconds(const char *name, int64_t *ret_ns)
{
	const char *text = getenv(name);
	if (!text || !*text)
		return true;
	char *end;
	const double seconds = strtod(text, &end);
	if (*end || !(seconds >= 0 && seconds < 1e9))
		return false;
	*ret_ns = (int64_t)(seconds * 1e9);
	return true;
}

static int32_t number_of(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = getenv(names[i]);
		if (!text || !*text)
			continue;
		char *end;
		const long value = strtol(text, &end, 10);
		return *end || value < 0 || value > INT32_MAX ? -1 : (int32_t)value;
	}
	return -1;
}

static void start(void)
{
	const char *parent = getenv(INQUEST_ENV_PARENT), *folder = getenv(INQUEST_ENV_DIR);
	const char *steps = getenv(INQUEST_ENV_STEPS);
	if (!parent || !*parent || !folder || *folder != '/' || strlen(folder) >= sizeof dir ||
		(steps && !windows_parse(steps, &windows)) ||
		!take_seconds(INQUEST_ENV_AFTER, &after_ns) ||
		!take_seconds(INQUEST_ENV_FOR, &for_ns) || !guest_watch_fork(in_child)) {
		atomic_store(&state, STATE_INERT);
		return;
	}
	strcpy(dir, folder);
	setup.dir = dir;
	show_symbols();
	atomic_store(&state, STATE_LISTENING);
	pthread_mutex_lock(&switch_lock);
	switch_to(windows.count == 0 && after_ns < 0 && for_ns < 0);
	pthread_mutex_unlock(&switch_lock);
}

void collector_start(void)
{
	pthread_once(&start_once, start);
}

static void on_tick(int64_t now_ns)
{
	pthread_mutex_lock(&switch_lock);
	const bool is_timed = begin_ns != NO_TIME;
	const bool is_now = now_ns >= begin_ns && now_ns < end_ns;
	if (atomic_load(&is_stopped) ? is_wanted : is_timed && is_now != is_wanted)
		switch_to(is_timed && is_now && !atomic_load(&is_stopped));
	pthread_mutex_unlock(&switch_lock);
}

static const char *why_stopped(void)
{
	return atomic_load_explicit(&is_stopped, memory_order_acquire) ? stop_reason : NULL;
}

static void before_finish(void)
{
	pthread_mutex_lock(&switch_lock);
	switch_to(false);
	pthread_mutex_unlock(&switch_lock);
}

/* The writer has closed the file and ends. */
static void after_finish(void)
{
	atomic_store(&is_recording, false);
	atomic_store(&state, STATE_INERT);
	guest_die_if_told();
	guest_release_term();
}

static void at_exit(void)
{
	if (atomic_load(&state) == STATE_RUNNING) {
		writer_ask(WRITER_FINISH);
		if (!writer_wait(EXIT_LIMIT_NS))
			fprintf(stderr,
				"inquest: recording is cut: its last rows were not written in time "
				"at exit\n");
	}
	/* Our handler may be what woke the program up to exit: it must not look as if it had ended
	 * by itself. */
	guest_die_if_told();
	guest_release_term();
}

/* Not before CUDA is used: a program that starts its ranks itself tells each its number late. */
static void take_rank(void)
{
	static const char *const ranks[] = INQUEST_RANK_ENVS, *const worlds[] = INQUEST_WORLD_ENVS;
	setup.rank = number_of(ranks, sizeof ranks / sizeof *ranks);
	setup.world_size = number_of(worlds, sizeof worlds / sizeof *worlds);
}

static void start_cuda(void)
{
	if (atomic_load(&state) != STATE_LISTENING)
		return;
	take_rank();
	if (!cupti_begin(no_cupti, sizeof no_cupti))
		setup.no_cupti = no_cupti;
	setup.tick = on_tick;
	setup.stopped = why_stopped;
	setup.before_finish = before_finish;
	setup.after_finish = after_finish;
	pthread_mutex_lock(&switch_lock);
	if (after_ns >= 0 || for_ns >= 0) {
		begin_ns = notes_now_ns() + (after_ns > 0 ? after_ns : 0);
		end_ns = for_ns >= 0 ? begin_ns + for_ns : NO_TIME;
		is_wanted = after_ns <= 0;
	}
	atomic_store(&state, STATE_RUNNING);
	switch_to(is_wanted);
	pthread_mutex_unlock(&switch_lock);
	if (writer_start(&setup)) {
		guest_watch_end(at_exit);
		return;
	}
	pthread_mutex_lock(&switch_lock);
	switch_to(false);
	atomic_store(&state, STATE_INERT);
	pthread_mutex_unlock(&switch_lock);
}

void collector_start_cuda(void)
{
	collector_start();
	pthread_once(&cuda_once, start_cuda);
}

bool collector_is_recording(void)
{
	return atomic_load_explicit(&is_recording, memory_order_relaxed);
}

void collector_note_step(int64_t step)
{
	const int now = atomic_load_explicit(&state, memory_order_relaxed);
	if (windows.count == 0 || (now != STATE_LISTENING && now != STATE_RUNNING))
		return;
	pthread_mutex_lock(&switch_lock);
	const bool wanted = windows_hold(&windows, step);
	if (wanted != is_wanted)
		switch_to(wanted);
	pthread_mutex_unlock(&switch_lock);
}

void collector_give_up(const char *reason)
{
	static _Atomic bool is_taken;
	if (atomic_exchange(&is_taken, true))
		return;
	snprintf(stop_reason, sizeof stop_reason, "%s", reason);
	atomic_store_explicit(&is_recording, false, memory_order_relaxed);
	/* The writer turns CUPTI off: this may be a thread inside one of its callbacks. */
	atomic_store_explicit(&is_stopped, true, memory_order_release);
	writer_ask(WRITER_FINISH);
}

uint64_t collector_push_launch(void)
{
	if (!collector_is_recording() || !cupti_is_open() ||
		atomic_load_explicit(&state, memory_order_relaxed) != STATE_RUNNING)
		return 0;
	const uint64_t id = atomic_fetch_add_explicit(&last_launch_id, 1, memory_order_relaxed) + 1;
	if (!cupti_push_id(id))
		return 0;
	pushed_depth++;
	return id;
}

void collector_pop_launch(void)
{
	/* What was pushed is popped, even if the window has closed since. */
	if (pushed_depth == 0 || atomic_load_explicit(&state, memory_order_relaxed) == STATE_INERT)
		return;
	pushed_depth--;
	cupti_pop_id();
}
