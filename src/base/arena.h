/*
 * Memory that is freed all at once: what a stage's results point to lives in one arena, which the
 * holder of the results owns.  Blocks come zeroed.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct arena_block;

struct arena {
	struct arena_block *block; /* the newest */
};

/* `count` zeroed items of `size` bytes; NULL and ERR_NOMEM when there is no room. */
void *arena_new(struct arena *arena, size_t count, size_t size, struct err *err);

/* A copy of `text`, NUL-terminated. */
char *arena_text(struct arena *arena, const char *text, struct err *err);

/* printf into the arena. */
char *arena_format(struct arena *arena, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void arena_done(struct arena *arena);
