/*
 * See note_keeper.h.  Steps 10 to 19 are a window: telling one of them starts recording and telling
 * any other stops it, as `--steps 10:20` would.
 */
#include "note_keeper.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "collect/nvtx.h"

#define MAX_NOTES 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct note kept[MAX_NOTES];
static size_t kept_count;
static atomic_bool is_recording = true, is_full;
static _Atomic int64_t last_step = -1;
static atomic_int start_count, cuda_start_count, push_depth;
static _Atomic uint64_t last_id;
static _Thread_local uint64_t pushed[8];
static _Thread_local int pushed_count;

void collector_start(void)
{
	atomic_fetch_add(&start_count, 1);
}

void collector_start_cuda(void)
{
	atomic_fetch_add(&cuda_start_count, 1);
}

bool collector_is_recording(void)
{
	return atomic_load_explicit(&is_recording, memory_order_relaxed);
}

void collector_note_step(int64_t step)
{
	last_step = step;
	is_recording = step >= 10 && step < 20;
}

uint64_t collector_push_launch(void)
{
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;
	pushed[pushed_count++] = id;
	atomic_fetch_add(&push_depth, 1);
	return id;
}

void collector_pop_launch(void)
{
	pushed_count--;
	atomic_fetch_sub(&push_depth, 1);
}

int64_t notes_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool notes_put(const struct note *note)
{
	pthread_mutex_lock(&lock);
	bool is_put = !is_full && kept_count < MAX_NOTES;
	if (is_put) {
		struct note *to = &kept[kept_count++];
		to->at_ns = note->at_ns;
		to->tid = note->tid;
		to->kind = note->kind;
		to->text_length = note->text_length;
		for (size_t i = 0; i <= note->text_length; i++)
			to->text[i] = note->text[i];
		if (note->kind == NOTE_COLLECTIVE)
			to->collective = note->collective;
	}
	pthread_mutex_unlock(&lock);
	return is_put;
}

static void clear(void)
{
	pthread_mutex_lock(&lock);
	kept_count = 0;
	pthread_mutex_unlock(&lock);
	is_full = false;
	is_recording = true;
	last_step = -1;
	start_count = 0;
	cuda_start_count = 0;
}

static void record(bool recording)
{
	is_recording = recording;
}

static void refuse(bool full)
{
	is_full = full;
}

static size_t count(void)
{
	pthread_mutex_lock(&lock);
	size_t counted = kept_count;
	pthread_mutex_unlock(&lock);
	return counted;
}

static const struct note *at(size_t index)
{
	return index < count() ? &kept[index] : NULL;
}

static int64_t step(void)
{
	return last_step;
}

static int starts(void)
{
	return start_count;
}

static int cuda_starts(void)
{
	return cuda_start_count;
}

static uint64_t pushed_id(void)
{
	return pushed_count ? pushed[pushed_count - 1] : 0;
}

static int depth(void)
{
	return push_depth;
}

extern const struct note_keeper note_keeper;
__attribute__((visibility("default"))) const struct note_keeper note_keeper = {clear, record,
	refuse, count, at, step, starts, cuda_starts, pushed_id, depth, nvtx_ranges_left_out};
