/*
 * A finished file, compressed as zstd into another.  (The way back is src/read's byte source.)
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* Replaces what `to` holds; `to` exists.  ERR_IO when either can't be read or written. */
bool zst_file_pack(const char *from, const char *to, struct err *err);
