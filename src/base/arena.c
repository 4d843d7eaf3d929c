#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_BYTES (64u << 10)

struct arena_block {
	struct arena_block *older;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

static struct arena_block *add_block(struct arena *arena, size_t bytes, struct err *err)
{
	const size_t size = bytes > BLOCK_BYTES / 4 ? bytes : BLOCK_BYTES;
	struct arena_block *block = mem_new(1, sizeof *block + size, err);
	if (!block)
		return NULL;
	block->size = size;
	/* A block made for one big item goes behind the newest, whose room is not wasted so. */
	if (arena->block && size != BLOCK_BYTES) {
		block->older = arena->block->older;
		arena->block->older = block;
	} else {
		block->older = arena->block;
		arena->block = block;
	}
	return block;
}

void *arena_new(struct arena *arena, size_t count, size_t size, struct err *err)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
		err_set(err, ERR_NOMEM, "out of memory (%zu items of %zu bytes)", count, size);
		return NULL;
	}
	bytes = (bytes + alignof(max_align_t)) & ~(alignof(max_align_t) - 1);
	struct arena_block *block = arena->block;
	if (!block || block->size - block->used < bytes)
		block = add_block(arena, bytes, err);
	if (!block)
		return NULL;
	void *item = block->bytes + block->used;
	block->used += bytes;
	return item;
}

char *arena_text(struct arena *arena, const char *text, struct err *err)
{
	const size_t size = strlen(text) + 1;
	char *copy = arena_new(arena, size, 1, err);
	return copy ? memcpy(copy, text, size) : NULL;
}

char *arena_format(struct arena *arena, struct err *err, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	const int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	char *text = length < 0 ? NULL : arena_new(arena, (size_t)length + 1, 1, err);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	return text;
}

void arena_done(struct arena *arena)
{
	while (arena->block) {
		struct arena_block *older = arena->block->older;
		mem_free(arena->block);
		arena->block = older;
	}
}
