/*
 * Threads and streams: a few dozen of each, so a list and the last hit are enough.
 */
#include "collect/writer_places.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect/writer_file.h"
#include "collect/writer_names.h"

#define MAX_THREADS  4096u /* those beyond share the last one's row */
#define MAX_STREAMS  1024u
#define MAX_CONTEXTS 64u

/* Values of the schema's thread_role. */
#define ROLE_UNKNOWN  0
#define ROLE_MAIN     1
#define ROLE_AUTOGRAD 2

static struct {
	uint32_t tid, row;
} threads[MAX_THREADS];
static uint32_t thread_count, last_thread;

static struct {
	uint32_t context, stream, row;
	bool has_device;
} streams[MAX_STREAMS];
static uint32_t stream_count, last_stream;

static struct {
	uint32_t context, device;
} contexts[MAX_CONTEXTS];
static uint32_t context_count;

static void read_name(uint32_t tid, char *name, size_t bytes)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? 0 : read(fd, name, bytes - 1);
	if (fd >= 0)
		close(fd);
	name[got > 0 ? got : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static uint32_t add_thread(uint32_t tid)
{
	char name[32];
	read_name(tid, name, sizeof name);
	const uint32_t pid = (uint32_t)getpid();
	/* PyTorch's name for its backward threads, one a device. */
	const int role = tid == pid				 ? ROLE_MAIN
			 : strncmp(name, "pt_autograd", 11) == 0 ? ROLE_AUTOGRAD
								 : ROLE_UNKNOWN;
	return FILE_ADD(FILE_THREAD, pid, tid, names_put_text(name), role);
}

uint32_t places_thread(uint32_t tid)
{
	if (thread_count && threads[last_thread].tid == tid)
		return threads[last_thread].row;
	for (uint32_t t = 0; t < thread_count; t++)
		if (threads[t].tid == tid) {
			last_thread = t;
			return threads[t].row;
		}
	if (thread_count == MAX_THREADS)
		return threads[MAX_THREADS - 1].row;
	last_thread = thread_count++;
	threads[last_thread].tid = tid;
	return threads[last_thread].row = add_thread(tid);
}

static int64_t device_of(uint32_t context)
{
	for (uint32_t c = 0; c < context_count; c++)
		if (contexts[c].context == context)
			return contexts[c].device;
	return FILE_NULL;
}

uint32_t places_stream(uint32_t context, uint32_t stream)
{
	if (stream_count && streams[last_stream].stream == stream &&
		streams[last_stream].context == context)
		return streams[last_stream].row;
	for (uint32_t s = 0; s < stream_count; s++)
		if (streams[s].stream == stream && streams[s].context == context) {
			last_stream = s;
			return streams[s].row;
		}
	if (stream_count == MAX_STREAMS)
		return streams[MAX_STREAMS - 1].row;
	const int64_t device = device_of(context);
	last_stream = stream_count++;
	streams[last_stream].context = context;
	streams[last_stream].stream = stream;
	streams[last_stream].has_device = device != FILE_NULL;
	streams[last_stream].row = FILE_ADD(FILE_STREAM, device, context, stream, FILE_NULL);
	return streams[last_stream].row;
}

void places_know_context(uint32_t context, uint32_t device)
{
	if (device_of(context) != FILE_NULL || context_count == MAX_CONTEXTS)
		return;
	contexts[context_count].context = context;
	contexts[context_count++].device = device;
	for (uint32_t s = 0; s < stream_count; s++)
		if (streams[s].context == context && !streams[s].has_device) {
			streams[s].has_device = true;
			file_set_stream_device(streams[s].row, device);
		}
}
