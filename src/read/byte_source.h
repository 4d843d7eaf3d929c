/*
 * The bytes of a file, decompressed on the way if they are gzip (any number of members) or zstd
 * (any number of frames).  The first bytes decide which, never the name.  Damage is no error: what
 * decompresses is delivered, and the source says that it stopped early.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum byte_encoding {
	BYTES_PLAIN,
	BYTES_GZIP,
	BYTES_ZSTD
};

struct byte_source; /* one open file; used by one thread at a time */

/* ERR_IO when the file can't be opened or read, ERR_INPUT when it is a directory. */
struct byte_source *byte_source_open(const char *path, struct err *err);
/* The same over bytes in memory, which must stay as long as the source does. */
struct byte_source *byte_source_over(const char *bytes, size_t length, struct err *err);

void byte_source_close(struct byte_source *source);

/* Fills up to `room` bytes at `to`.  `*ret_got` is 0 only at the end. */
bool byte_source_read(
	struct byte_source *source, char *to, size_t room, size_t *ret_got, struct err *err);

enum byte_encoding byte_source_encoding(const struct byte_source *source);

/* Whether the compressed data ended before its own end mark, or was damaged; known at the end. */
bool byte_source_is_truncated(const struct byte_source *source);
