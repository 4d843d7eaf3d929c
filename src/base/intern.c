#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

#define FIRST_SLOTS 1024u

static bool same_text(const struct intern *in, uint32_t id, const char *text, size_t length)
{
	return in->length[id] == length && memcmp(in->bytes + in->offset[id], text, length) == 0;
}

/* The slot that holds `text`, or the free one where it belongs. */
static uint32_t find_slot(const struct intern *in, const char *text, size_t length)
{
	const uint32_t mask = in->slot_count - 1;
	uint32_t at = (uint32_t)XXH3_64bits(text, length) & mask;
	while (in->slot[at] && !same_text(in, in->slot[at] - 1, text, length))
		at = (at + 1) & mask;
	return at;
}

static bool grow_slots(struct intern *in, struct err *err)
{
	const uint32_t slot_count = in->slot_count ? in->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slot = mem_new(slot_count, sizeof *slot, err);
	if (!slot)
		return false;
	mem_free(in->slot);
	in->slot = slot;
	in->slot_count = slot_count;
	for (uint32_t id = 0; id < in->count; id++)
		slot[find_slot(in, in->bytes + in->offset[id], in->length[id])] = id + 1;
	return true;
}

static bool reserve(struct intern *in, size_t length, struct err *err)
{
	if (in->count == in->capacity) {
		const uint32_t capacity = in->capacity ? in->capacity * 2 : 256;
		if (!mem_resize(&in->offset, capacity, sizeof *in->offset, err) ||
			!mem_resize(&in->length, capacity, sizeof *in->length, err))
			return false;
		in->capacity = capacity;
	}
	if (in->byte_count + length + 1 > in->byte_capacity) {
		uint64_t capacity = in->byte_capacity ? in->byte_capacity * 2 : 16384;
		while (capacity < in->byte_count + length + 1)
			capacity *= 2;
		if (!mem_resize(&in->bytes, capacity, 1, err))
			return false;
		in->byte_capacity = capacity;
	}
	if (2 * (in->count + 1) > in->slot_count)
		return grow_slots(in, err);
	return true;
}

bool intern_init(struct intern *in, struct err *err)
{
	*in = (struct intern){0};
	if (intern_put(in, "", 0, err) == 0)
		return true;
	intern_done(in);
	return false;
}

void intern_done(struct intern *in)
{
	mem_free(in->offset);
	mem_free(in->length);
	mem_free(in->bytes);
	mem_free(in->slot);
	*in = (struct intern){0};
}

uint32_t intern_put(struct intern *in, const char *text, size_t length, struct err *err)
{
	if (length > INTERN_MAX_BYTES)
		length = INTERN_MAX_BYTES;
	if (in->slot_count) {
		const uint32_t at = find_slot(in, text, length);
		if (in->slot[at])
			return in->slot[at] - 1;
	}
	if (!reserve(in, length, err))
		return UINT32_MAX;
	const uint32_t id = in->count++;
	in->offset[id] = in->byte_count;
	in->length[id] = (uint32_t)length;
	memcpy(in->bytes + in->byte_count, text, length);
	in->bytes[in->byte_count + length] = '\0';
	in->byte_count += length + 1;
	in->slot[find_slot(in, text, length)] = id + 1;
	return id;
}

uint32_t intern_find(const struct intern *in, const char *text, size_t length)
{
	if (!in->slot_count)
		return UINT32_MAX;
	const uint32_t held = in->slot[find_slot(in, text, length)];
	return held ? held - 1 : UINT32_MAX;
}

const char *intern_text(const struct intern *in, uint32_t id)
{
	return id < in->count ? in->bytes + in->offset[id] : "";
}

static int compare_texts(const void *a, const void *b, void *context)
{
	const struct intern *in = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const uint32_t shorter =
		in->length[left] < in->length[right] ? in->length[left] : in->length[right];
	const int order =
		memcmp(in->bytes + in->offset[left], in->bytes + in->offset[right], shorter);
	if (order)
		return order;
	return (in->length[left] > in->length[right]) - (in->length[left] < in->length[right]);
}

bool intern_rank(const struct intern *in, uint32_t *rank, struct err *err)
{
	uint32_t *order = mem_new(in->count, sizeof *order, err);
	if (!order)
		return false;
	for (uint32_t id = 0; id < in->count; id++)
		order[id] = id;
	qsort_r(order, in->count, sizeof *order, compare_texts, (void *)in);
	for (uint32_t at = 0; at < in->count; at++)
		rank[order[at]] = at;
	mem_free(order);
	return true;
}
