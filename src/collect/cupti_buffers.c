/*
 * One reserved stretch of memory cut into buffers, each with a state that changes by compare and
 * swap.  There are few, so looking through all of them is the simplest queue without a lock.
 */
#include "collect/cupti_buffers.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define READY_COUNT   6u /* clean and already touched */
#define DISCARD_BYTES (256u << 10)

enum buffer_state {
	BUFFER_RAW,   /* its memory was never touched, or was given back to the system */
	BUFFER_CLEAN, /* touched, and zero */
	BUFFER_LENT,
	BUFFER_FULL,
	BUFFER_TAKEN, /* by the writer */
};

struct buffer {
	_Atomic int state;
	uint64_t number; /* of its completion; these four are the owner's of the state */
	size_t valid_bytes;
	void *context;
	uint32_t stream;
};

static struct buffer buffers[BUFFER_MAX];
static uint8_t *memory, *discard;
static _Atomic uint64_t completed_count, lost_count;

bool buffers_init(void)
{
	const size_t bytes = (size_t)BUFFER_MAX * BUFFER_BYTES + DISCARD_BYTES;
	void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapped == MAP_FAILED)
		return false;
	memory = mapped;
	discard = memory + (size_t)BUFFER_MAX * BUFFER_BYTES;
	buffers_prepare();
	return true;
}

static uint8_t *bytes_of(uint32_t index)
{
	return memory + (size_t)index * BUFFER_BYTES;
}

static bool move(uint32_t index, int from, int to)
{
	return atomic_compare_exchange_strong_explicit(
		&buffers[index].state, &from, to, memory_order_acq_rel, memory_order_relaxed);
}

void buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*max_records = 0; /* as many as fit */
	*bytes = BUFFER_BYTES;
	for (int from = BUFFER_CLEAN; from >= BUFFER_RAW; from--)
		for (uint32_t b = 0; b < BUFFER_MAX; b++)
			if (atomic_load_explicit(&buffers[b].state, memory_order_relaxed) == from &&
				move(b, from, BUFFER_LENT)) {
				*buffer = bytes_of(b);
				return;
			}
	/* Several threads may write into it at once; nobody reads it. */
	atomic_fetch_add_explicit(&lost_count, 1, memory_order_relaxed);
	*buffer = discard;
	*bytes = DISCARD_BYTES;
}

void buffers_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	(void)bytes;
	if (!memory || buffer < memory || buffer >= discard)
		return;
	const uint32_t index = (uint32_t)((size_t)(buffer - memory) / BUFFER_BYTES);
	struct buffer *own = &buffers[index];
	own->context = context;
	own->stream = stream;
	own->valid_bytes = valid_bytes < BUFFER_BYTES ? valid_bytes : BUFFER_BYTES;
	own->number = atomic_fetch_add_explicit(&completed_count, 1, memory_order_relaxed);
	atomic_store_explicit(&own->state, BUFFER_FULL, memory_order_release);
}

bool buffers_peek_full(uint32_t index, struct full_buffer *ret)
{
	uint64_t after = 0; /* number + 1 of the one found last */
	uint32_t found = BUFFER_MAX;
	for (uint32_t rank = 0; rank <= index; rank++) {
		uint64_t least = UINT64_MAX;
		found = BUFFER_MAX;
		for (uint32_t b = 0; b < BUFFER_MAX; b++)
			if (atomic_load_explicit(&buffers[b].state, memory_order_acquire) ==
					BUFFER_FULL &&
				buffers[b].number >= after && buffers[b].number < least) {
				least = buffers[b].number;
				found = b;
			}
		if (found == BUFFER_MAX)
			return false;
		after = least + 1;
	}
	*ret = (struct full_buffer){.bytes = bytes_of(found),
		.valid_bytes = buffers[found].valid_bytes,
		.context = buffers[found].context,
		.stream = buffers[found].stream};
	return true;
}

bool buffers_take_full(struct full_buffer *ret)
{
	if (!buffers_peek_full(0, ret))
		return false;
	/* Only the writer takes full ones away, so it is still there. */
	return move((uint32_t)((size_t)(ret->bytes - memory) / BUFFER_BYTES), BUFFER_FULL,
		BUFFER_TAKEN);
}

static uint32_t count_clean(void)
{
	uint32_t count = 0;
	for (uint32_t b = 0; b < BUFFER_MAX; b++)
		count += atomic_load_explicit(&buffers[b].state, memory_order_relaxed) ==
			 BUFFER_CLEAN;
	return count;
}

void buffers_give_back(const struct full_buffer *buffer)
{
	const uint32_t index = (uint32_t)((size_t)(buffer->bytes - memory) / BUFFER_BYTES);
	const bool is_kept = count_clean() < 2 * READY_COUNT;
	/* CUPTI was told that what it gets is zero.  What is not needed soon goes back. */
	if (!is_kept && madvise(buffer->bytes, BUFFER_BYTES, MADV_DONTNEED) == 0) {
		atomic_store_explicit(&buffers[index].state, BUFFER_RAW, memory_order_release);
		return;
	}
	memset(buffer->bytes, 0, BUFFER_BYTES);
	atomic_store_explicit(&buffers[index].state, BUFFER_CLEAN, memory_order_release);
}

void buffers_prepare(void)
{
	uint32_t clean = count_clean();
	for (uint32_t b = 0; b < BUFFER_MAX && clean < READY_COUNT; b++) {
		if (!move(b, BUFFER_RAW, BUFFER_TAKEN))
			continue;
		memset(bytes_of(b), 0, BUFFER_BYTES);
		atomic_store_explicit(&buffers[b].state, BUFFER_CLEAN, memory_order_release);
		clean++;
	}
}

uint64_t buffers_lost(void)
{
	return atomic_load_explicit(&lost_count, memory_order_relaxed);
}
