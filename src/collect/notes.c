/*
 * The rings behind notes.h.  A ring belongs to one thread at a time and outlives it: rings are
 * never freed, since the writer may be reading one while its thread ends; the next new thread takes
 * over a ring that was left.  In a ring, records of different lengths, so that a short text costs
 * little.
 */
#include "collect/notes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define RING_BYTES (1u << 20) /* 10,000 notes and more; pages that are never used cost nothing */
#define MAX_RINGS  1024u
#define BUSY_BYTES (1u << 16) /* a thread that has left as much will use the whole ring */

/* A note as it lies in the ring, before its collective and its text; size 0: go on at the start. */
struct kept {
	uint16_t size; /* with this head, a multiple of 8 */
	uint8_t kind;
	uint8_t text_length;
	int32_t tid;
	int64_t at_ns;
};

struct ring {
	struct ring *next; /* set before the ring is shown, then constant */
	_Atomic uint32_t is_taken;
	_Atomic uint64_t dropped;
	_Atomic uint64_t written;	     /* bytes ever; moved by the thread */
	uint64_t seen_taken;		     /* the thread's own: `taken` when it last looked */
	_Alignas(64) _Atomic uint64_t taken; /* bytes ever; moved by the writer */
	bool is_faulted_in;		     /* the writer's own */
	_Alignas(64) char bytes[RING_BYTES];
};

static _Atomic(struct ring *) first_ring;
static _Atomic uint32_t ring_count;
static _Atomic uint64_t dropped_without_ring;
static _Atomic bool is_inert;
static _Atomic bool has_collective;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its destructor gives the ring back */
static bool has_key;
static _Thread_local struct ring *own_ring;

int64_t notes_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void give_back(void *ring)
{
	own_ring = NULL;
	atomic_store_explicit(&((struct ring *)ring)->is_taken, 0, memory_order_release);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, give_back) == 0;
}

static struct ring *take_left_ring(void)
{
	struct ring *ring = atomic_load_explicit(&first_ring, memory_order_acquire);
	for (; ring; ring = ring->next) {
		uint32_t free = 0;
		if (atomic_compare_exchange_strong_explicit(
			    &ring->is_taken, &free, 1, memory_order_acquire, memory_order_relaxed))
			return ring;
	}
	return NULL;
}

static struct ring *make_ring(void)
{
	if (atomic_fetch_add_explicit(&ring_count, 1, memory_order_relaxed) >= MAX_RINGS) {
		atomic_fetch_sub_explicit(&ring_count, 1, memory_order_relaxed);
		return NULL;
	}
	struct ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ring == MAP_FAILED)
		return NULL;
	atomic_store_explicit(&ring->is_taken, 1, memory_order_relaxed);
	struct ring *next = atomic_load_explicit(&first_ring, memory_order_relaxed);
	do
		ring->next = next;
	while (!atomic_compare_exchange_weak_explicit(
		&first_ring, &next, ring, memory_order_release, memory_order_relaxed));
	return ring;
}

static struct ring *find_ring(void)
{
	if (atomic_load_explicit(&is_inert, memory_order_relaxed))
		return NULL;
	pthread_once(&key_once, make_key);
	struct ring *ring = has_key ? take_left_ring() : NULL;
	if (has_key && !ring)
		ring = make_ring();
	if (ring && pthread_setspecific(key, ring) != 0) {
		give_back(ring);
		ring = NULL;
	}
	own_ring = ring;
	if (!ring)
		atomic_fetch_add_explicit(&dropped_without_ring, 1, memory_order_relaxed);
	return ring;
}

static uint8_t length_of(const struct note *note)
{
	return note->text_length > NOTE_TEXT_MAX ? NOTE_TEXT_MAX : note->text_length;
}

static size_t size_of(const struct note *note, size_t *ret_head)
{
	*ret_head = sizeof(struct kept) + (note->kind == NOTE_COLLECTIVE ? sizeof note->collective
						  : note->kind == NOTE_CALL ? sizeof note->call
									    : 0);
	return (*ret_head + length_of(note) + 7) & ~(size_t)7;
}

/* Where the thread's next record of that size goes; NULL when it is dropped.  It is shown by
 * moving `written` to *ret_written. */
static char *find_room(struct ring *ring, size_t size, uint64_t *ret_written)
{
	uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
	/* A record lies in one piece: where it doesn't fit before the end, the rest is skipped. */
	const size_t left = RING_BYTES - (written & (RING_BYTES - 1));
	const size_t skipped = left < size ? left : 0;
	const uint64_t end = written + skipped + size;
	/* The writer's line is fetched from its core only when the ring looks full. */
	if (end - ring->seen_taken > RING_BYTES) {
		ring->seen_taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
		if (end - ring->seen_taken > RING_BYTES) {
			atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
			return NULL;
		}
	}
	if (skipped) {
		memset(ring->bytes + (written & (RING_BYTES - 1)), 0, sizeof(uint16_t));
		written += skipped;
	}
	*ret_written = end;
	return ring->bytes + (written & (RING_BYTES - 1));
}

bool notes_put(const struct note *note)
{
	struct ring *ring = own_ring ? own_ring : find_ring();
	if (!ring)
		return false;
	size_t head;
	uint64_t written;
	const size_t size = size_of(note, &head);
	char *to = find_room(ring, size, &written);
	if (!to)
		return false;
	const struct kept kept = {.size = (uint16_t)size,
		.kind = note->kind,
		.text_length = length_of(note),
		.tid = note->tid,
		.at_ns = note->at_ns};
	memcpy(to, &kept, sizeof kept);
	if (note->kind == NOTE_COLLECTIVE)
		memcpy(to + sizeof kept, &note->collective, sizeof note->collective);
	memcpy(to + head, note->text, kept.text_length);
	atomic_store_explicit(&ring->written, written, memory_order_release);
	/* Read first: a line that every thread writes would go from core to core. */
	if (note->kind == NOTE_COLLECTIVE &&
		!atomic_load_explicit(&has_collective, memory_order_relaxed))
		atomic_store_explicit(&has_collective, true, memory_order_relaxed);
	return true;
}

bool notes_put_call(int64_t start_ns, int32_t tid, const struct note_call *call)
{
	const struct kept kept = {.size = (sizeof kept + sizeof *call + 7) & ~(size_t)7,
		.kind = NOTE_CALL,
		.tid = tid,
		.at_ns = start_ns};
	uint64_t written;
	struct ring *ring = own_ring ? own_ring : find_ring();
	char *to = ring ? find_room(ring, kept.size, &written) : NULL;
	if (!to)
		return false;
	memcpy(to, &kept, sizeof kept);
	memcpy(to + sizeof kept, call, sizeof *call);
	atomic_store_explicit(&ring->written, written, memory_order_release);
	return true;
}

/* Visits the note at `from`; its size in the ring, 0 where the rest of the ring is skipped. */
static size_t visit_one(
	const char *from, void (*visit)(void *context, const struct note *note), void *context)
{
	struct kept kept;
	memcpy(&kept.size, from, sizeof kept.size);
	if (kept.size == 0)
		return 0;
	memcpy(&kept, from, sizeof kept);
	struct note note;
	note.at_ns = kept.at_ns;
	note.tid = kept.tid;
	note.kind = kept.kind;
	note.text_length = kept.text_length;
	size_t head;
	size_of(&note, &head);
	if (note.kind == NOTE_COLLECTIVE)
		memcpy(&note.collective, from + sizeof kept, sizeof note.collective);
	else if (note.kind == NOTE_CALL)
		memcpy(&note.call, from + sizeof kept, sizeof note.call);
	memcpy(note.text, from + head, note.text_length);
	note.text[note.text_length] = '\0';
	visit(context, &note);
	return kept.size;
}

/* A page's first touch takes as long as twenty notes, so on a busy ring the writer's is the first.
 * In pieces, because the process's mappings are locked meanwhile; before Linux 5.14 it does
 * nothing. */
static void fault_in(struct ring *ring)
{
	const size_t piece = BUSY_BYTES;
	ring->is_faulted_in = true;
	for (size_t at = 0; at < sizeof *ring; at += piece)
		(void)madvise((char *)ring + at,
			at + piece < sizeof *ring ? piece : sizeof *ring - at, MADV_POPULATE_WRITE);
}

void notes_drain(void (*visit)(void *context, const struct note *note), void *context)
{
	struct ring *ring = atomic_load_explicit(&first_ring, memory_order_acquire);
	for (; ring; ring = ring->next) {
		/* Only up to here, or a busy thread would never let the writer go on. */
		const uint64_t end = atomic_load_explicit(&ring->written, memory_order_acquire);
		uint64_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);
		if (!ring->is_faulted_in && end >= BUSY_BYTES)
			fault_in(ring);
		while (at < end) {
			const uint64_t place = at & (RING_BYTES - 1);
			const size_t size = visit_one(ring->bytes + place, visit, context);
			at += size ? size : RING_BYTES - place;
			atomic_store_explicit(&ring->taken, at, memory_order_release);
		}
	}
}

uint64_t notes_dropped(void)
{
	uint64_t sum = atomic_load_explicit(&dropped_without_ring, memory_order_relaxed);
	const struct ring *ring = atomic_load_explicit(&first_ring, memory_order_acquire);
	for (; ring; ring = ring->next)
		sum += atomic_load_explicit(&ring->dropped, memory_order_relaxed);
	return sum;
}

bool notes_have_any(void)
{
	const struct ring *ring = atomic_load_explicit(&first_ring, memory_order_acquire);
	while (ring && atomic_load_explicit(&ring->written, memory_order_relaxed) == 0)
		ring = ring->next;
	return ring != NULL;
}

bool notes_have_collective(void)
{
	return atomic_load_explicit(&has_collective, memory_order_relaxed);
}

void notes_forget(void)
{
	atomic_store_explicit(&has_collective, false, memory_order_relaxed);
	atomic_store_explicit(&first_ring, NULL, memory_order_relaxed);
	atomic_store_explicit(&ring_count, 0, memory_order_relaxed);
	atomic_store_explicit(&dropped_without_ring, 0, memory_order_relaxed);
	own_ring = NULL;
}

void notes_go_inert(void)
{
	atomic_store_explicit(&is_inert, true, memory_order_relaxed);
	notes_forget();
}
