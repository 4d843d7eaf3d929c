/*
 * A file of any size seen through a small window, for scanners that walk forward and look back only
 * a little.  Between `at` and `end` the bytes are plain memory, and `*end` is NUL, with enough NULs
 * behind it for a 16-byte load; a scanner meets the NUL, and only then asks for more.  Bytes from
 * `hold` on stay in memory; what a scanner must look at again, it names by its offset in the
 * (uncompressed) file, since pointers move when the window does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define BYTE_WINDOW_DEFAULT (256u << 10) /* stays in a core's own cache */
#define BYTE_WINDOW_LEAST   16u
#define BYTE_WINDOW_LIMIT   (64u << 20) /* held bytes make the window grow, up to here */
#define BYTE_WINDOW_PADDING 64u
#define NO_HOLD		    UINT64_MAX

struct byte_source;
struct byte_pump;

struct byte_window {
	const char *at;	 /* the next byte; the scanner moves it */
	const char *end; /* after the last byte in memory */
	uint64_t hold;	 /* offset from which bytes must stay, or NO_HOLD */
	uint64_t base;	 /* offset of buffer[0] */
	char *buffer;	 /* `own`, or a piece that was read ahead, looked at where it lies */
	char *own;
	size_t capacity;	/* of `own` */
	struct byte_pump *pump; /* NULL unless the source is read ahead */
	struct byte_source *source;
	bool is_at_end;	   /* nothing follows `end` */
	bool is_truncated; /* the compressed data stopped early */
	bool is_overfull;  /* more was held than the limit allows */
	struct err err;	   /* why reading failed, if it did; the data then seems to end */
};

/* `window_bytes` 0 is the default.  Any size gives the same bytes. */
bool byte_window_open(
	struct byte_window *window, const char *path, size_t window_bytes, struct err *err);

/* The same over `length` bytes in memory, which are copied through the window piece by piece. */
bool byte_window_over(struct byte_window *window, const char *bytes, size_t length,
	size_t window_bytes, struct err *err);

/* Reads and decompresses in another thread from now on, if that can be. */
void byte_window_read_ahead(struct byte_window *window);

void byte_window_done(struct byte_window *window);

/*
 * Brings in more bytes after `end`; bytes before the lesser of `at` and `hold` may go, and what
 * stays may move.  False when there are no more.
 */
bool byte_window_more(struct byte_window *window);

/* The byte `ahead` of `at`, brought in if need be; NUL at the end of the bytes. */
char byte_window_ahead(struct byte_window *window, size_t ahead);

/* How far ahead the first byte from `ahead` on is that isn't JSON's white space. */
size_t byte_window_space_ahead(struct byte_window *window, size_t ahead);

static inline uint64_t byte_window_offset(const struct byte_window *window)
{
	return window->base + (uint64_t)(window->at - window->buffer);
}

/* The byte at a held offset. */
static inline const char *byte_window_at(const struct byte_window *window, uint64_t offset)
{
	return window->buffer + (offset - window->base);
}
