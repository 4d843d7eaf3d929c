/*
 * Gzip members to bytes, by isa-l where it is to be had (three times as fast), else by zlib.
 * Called by byte_source alone.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

enum gunzip_state {
	GUNZIP_GOES_ON,
	GUNZIP_MEMBER_END, /* and its checksum was right */
	GUNZIP_DAMAGED
};

struct gunzip;

struct gunzip *gunzip_new(struct err *err);
void gunzip_free(struct gunzip *gunzip);

/* Before each member. */
void gunzip_reset(struct gunzip *gunzip);

/* Takes `*ret_used` of the `held` bytes at `input` and writes `*ret_got` bytes. */
enum gunzip_state gunzip_step(struct gunzip *gunzip, const char *input, size_t held,
	size_t *ret_used, char *to, size_t room, size_t *ret_got);
