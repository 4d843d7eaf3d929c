/*
 * Text that grows.  A failed append is remembered, not returned: writers append without looking
 * and ask once, at the end, with text_ok.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct text {
	char *bytes; /* NUL-terminated once anything was appended, else NULL */
	size_t length, capacity;
	struct err err; /* the first failure */
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_add_repeated(struct text *text, char byte, size_t count);

/* Whether every append worked; hands the failure to `err` otherwise. */
bool text_ok(const struct text *text, struct err *err);

/* A copy in the arena, and the text is done; NULL on a failure now or earlier. */
const char *text_take(struct text *text, struct arena *arena, struct err *err);

void text_done(struct text *text);

/* Columns that `bytes` fill on a terminal, by the locale's LC_CTYPE; UTF-8 code points where that
 * is not UTF-8. */
size_t text_columns(const char *bytes, size_t length);

/* How many of the bytes, whole characters, fit into so many columns. */
size_t text_bytes_in(const char *bytes, size_t length, size_t columns);
