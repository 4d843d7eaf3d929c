/*
 * The writer's loop.  Ten times a second it empties the buffers and the rings; each half second it
 * asks CUPTI for what is complete and commits.  There is no file before the process has run
 * something on the GPU: helpers that training starts, with its environment, leave none.
 */
#include "collect/writer.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collect/cupti.h"
#include "collect/cupti_buffers.h"
#include "collect/cupti_calls.h"
#include "collect/notes.h"
#include "collect/records.h"
#include "collect/writer_file.h"
#include "collect/writer_links.h"
#include "collect/writer_names.h"
#include "collect/writer_ranges.h"
#include "collect/writer_rows.h"

#define TICK_MS	    100
#define COMMIT_NS   INT64_C(500000000)
#define CLOCK_NS    INT64_C(1000000000)
#define NICE	    10
#define MAX_WAITING (BUFFER_MAX / 2) /* buffers kept while there is no file */

static const struct writer_setup *setup;
static int wake_fd = -1;
static _Atomic int asked;
static sem_t has_ended;
static int64_t base_ns, committed_ns, clocked_ns;
static uint64_t dropped, unread;

static int64_t monotonic_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void add_clock(void)
{
	const int64_t realtime = notes_now_ns(), monotonic = monotonic_ns();
	FILE_ADD(FILE_CLOCK, realtime - base_ns, realtime, monotonic);
	clocked_ns = monotonic;
}

static void set_if_known(const char *key, int64_t value)
{
	file_set_number(key, value < 0 ? FILE_NULL : value);
}

static void write_first_facts(void)
{
	file_set_text("program", "inquest " INQUEST_VERSION);
	file_set_number("sealed", 0);
	file_set_text("source", "recorder");
	file_set_text("file", NULL);
	set_if_known("rank", setup->rank);
	set_if_known("world_size", setup->world_size);
	file_set_number("data_parallel", FILE_NULL);
	file_set_number("base_unix_ns", base_ns);
	file_set_text("gpu", "");
	file_set_number("gpu_memory_bytes", FILE_NULL);
	file_set_number("has_shapes", 0);
	file_set_number("has_memory", 0);
	file_set_number("has_stacks", 0);
	file_set_number("has_sync_edges", cupti_is_open());
	file_set_number("has_nccl", 0);
	file_set_number("pid", getpid());
	file_set_number("cupti_version", cupti_version());
	char host[256] = "";
	if (gethostname(host, sizeof host - 1) == 0)
		file_set_text("host", host);
	if (setup->no_cupti)
		file_diagnose("no_cupti", "data_loss", 1, setup->no_cupti);
	names_put_text("");
}

static void write_facts(void)
{
	const struct row_counts *counts = rows_counts();
	const int64_t host_events = (int64_t)file_count(FILE_HOST_OP) + file_count(FILE_API_CALL);
	file_set_number("host_event_count", host_events);
	file_set_number("event_count", host_events + file_count(FILE_GPU_OP) +
					       file_count(FILE_COLLECTIVE) +
					       file_count(FILE_MARKER));
	if (counts->collectives) {
		file_set_number("has_nccl", 1);
		file_set_number("unlinked_collectives", (int64_t)links_unlinked());
	}
	file_set_number("untimed_records", (int64_t)(counts->untimed + counts->foreign));
	file_set_number("dropped_notes", (int64_t)notes_dropped());
	file_set_number("dropped_buffers", (int64_t)(buffers_lost() + unread));
	file_set_number("dropped_by_cupti", (int64_t)dropped);
	rows_write_facts();
	file_diagnose("dropped_records", "data_loss",
		(int64_t)(counts->untimed + counts->foreign + notes_dropped() + buffers_lost() +
			  unread + dropped),
		"records that the recorder itself dropped");
	file_diagnose("negative_duration", "data_loss", (int64_t)counts->negative,
		"an event ends before it starts; it was given no length");
}

/* A call by callback is a record like CUPTI's own, and so is the launch it belongs to. */
static void take_call(const struct note *note)
{
	/* Looked up here and not in the callback, whose time is the training's. */
	const uint32_t call = wanted_call_find(note->call.domain, note->call.cbid);
	if (call == UINT32_MAX)
		return;
	struct record record = {.kind = RECORD_CALL,
		.call = {.start_ns = (uint64_t)note->at_ns,
			.end_ns = (uint64_t)note->call.end_ns,
			.call = call,
			.thread = (uint32_t)note->tid,
			.correlation = note->call.correlation,
			.result = (uint32_t)note->call.result}};
	rows_take_record(&record);
	if (note->call.external_id == 0)
		return;
	record = (struct record){.kind = RECORD_EXTERNAL,
		.external = {.id = note->call.external_id, .correlation = note->call.correlation}};
	rows_take_record(&record);
}

static void take_note(void *context, const struct note *note)
{
	(void)context;
	if (note->kind == NOTE_COLLECTIVE)
		rows_take_collective(note);
	else if (note->kind == NOTE_CALL)
		take_call(note);
	else
		ranges_take(note, base_ns);
}

static void read_buffer(const struct full_buffer *buffer)
{
	struct record record;
	const void *raw = NULL;
	while ((raw = cupti_next_record(buffer->bytes, buffer->valid_bytes, raw)))
		if (record_decode(raw, cupti_version(), &record))
			rows_take_record(&record);
	dropped += cupti_take_dropped(buffer->context, buffer->stream);
}

static void commit(void)
{
	links_settle(false);
	write_facts();
	file_commit();
	committed_ns = monotonic_ns();
}

static void drain(void)
{
	struct full_buffer buffer;
	notes_drain(take_note, NULL);
	while (cupti_is_open() && buffers_take_full(&buffer)) {
		read_buffer(&buffer);
		buffers_give_back(&buffer);
		/* A ring holds less than the buffers do. */
		notes_drain(take_note, NULL);
		/* However much comes at once, no transaction holds more than half a second of it.
		 */
		if (monotonic_ns() - committed_ns >= COMMIT_NS)
			commit();
	}
	if (cupti_is_open())
		buffers_prepare();
}

static bool holds_gpu_op(const struct full_buffer *buffer)
{
	const void *raw = NULL;
	while ((raw = cupti_next_record(buffer->bytes, buffer->valid_bytes, raw)))
		if (record_is_gpu_op(raw))
			return true;
	return false;
}

/* Whether this process does what is worth a file.  Looks at each waiting buffer once. */
static bool is_worth_a_file(void)
{
	static uint32_t looked_at;
	struct full_buffer buffer;
	if (!cupti_is_open())
		return notes_have_collective() || (setup->rank >= 0 && notes_have_any());
	for (; buffers_peek_full(looked_at, &buffer); looked_at++)
		if (holds_gpu_op(&buffer))
			return true;
	while (looked_at > MAX_WAITING && buffers_take_full(&buffer)) {
		unread++;
		buffers_give_back(&buffer);
		looked_at--;
	}
	return false;
}

static bool open_file(void)
{
	char stem[40];
	if (setup->rank >= 0)
		snprintf(stem, sizeof stem, "rank%d", setup->rank);
	else
		snprintf(stem, sizeof stem, "pid%d", (int)getpid());
	const bool is_created = file_create(setup->dir, stem);
	if (!is_created) {
		fprintf(stderr, "inquest: recording is off: %s\n", file_failure());
		return false;
	}
	rows_begin(base_ns);
	write_first_facts();
	add_clock();
	commit(); /* a file that opens, whatever comes */
	return true;
}

/* False when there is nothing more to do. */
static bool tick(void)
{
	setup->tick(notes_now_ns());
	const bool is_due = monotonic_ns() - committed_ns >= COMMIT_NS;
	if (is_due && cupti_is_open())
		cupti_flush(false);
	if (!file_is_open()) {
		if (is_due)
			committed_ns = monotonic_ns();
		if (!is_worth_a_file())
			return !setup->stopped();
		if (!open_file())
			return false;
	}
	drain();
	if (monotonic_ns() - clocked_ns >= CLOCK_NS)
		add_clock();
	if (is_due)
		commit();
	return !file_failure() && !setup->stopped();
}

static void finish(void)
{
	if (cupti_is_open()) {
		cupti_flush(true);
		if (!file_is_open() && !file_failure() && is_worth_a_file())
			(void)open_file();
	}
	if (!file_is_open())
		return;
	drain();
	links_settle(true);
	file_diagnose("unfinished_event", "info", ranges_finish(notes_now_ns(), base_ns),
		"a host event was still open at the end of the recording");
	add_clock();
	write_facts();
	file_finish(setup->stopped());
}

static void *loop(void *unused)
{
	(void)unused;
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	(void)pthread_setname_np(pthread_self(), "inquest");
	int request = 0;
	while (request != WRITER_FINISH) {
		struct pollfd wake = {.fd = wake_fd, .events = POLLIN};
		if (poll(&wake, 1, TICK_MS) > 0) {
			uint64_t count;
			(void)!read(wake_fd, &count, sizeof count);
		}
		request = atomic_exchange(&asked, 0);
		if (request == WRITER_FLUSH)
			committed_ns = 0;
		if (request != WRITER_FINISH && !tick())
			request = WRITER_FINISH;
	}
	setup->before_finish();
	finish();
	sem_post(&has_ended);
	setup->after_finish();
	return NULL;
}

bool writer_start(const struct writer_setup *given)
{
	sigset_t all, old;
	pthread_t thread;
	setup = given;
	base_ns = notes_now_ns();
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0 || sem_init(&has_ended, 0, 0) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	const bool is_started = pthread_create(&thread, NULL, loop, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (is_started)
		pthread_detach(thread);
	return is_started;
}

void writer_ask(enum writer_request request)
{
	int old = atomic_load(&asked);
	const uint64_t one = 1;
	/* To finish is never taken back. */
	while (old != WRITER_FINISH && !atomic_compare_exchange_weak(&asked, &old, (int)request))
		;
	if (wake_fd >= 0)
		(void)!write(wake_fd, &one, sizeof one);
}

bool writer_wait(int64_t limit_ns)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	/* Not sem_timedwait: its clock may be set back while it waits. */
	for (const int64_t from_ns = monotonic_ns(); sem_trywait(&has_ended) != 0;) {
		if (monotonic_ns() - from_ns > limit_ns)
			return false;
		(void)nanosleep(&moment, NULL);
	}
	return true;
}
