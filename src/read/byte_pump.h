/*
 * A byte source read ahead by a thread of its own: decompressing and scanning take turns no more,
 * which pays when a core is free.  Called by byte_window alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct byte_source;
struct byte_pump;

/* NULL if there is no room or no thread to be had; the source then serves as it is. */
struct byte_pump *byte_pump_start(struct byte_source *source);

/* As byte_source_read.  After the end the thread no longer touches the source. */
bool byte_pump_read(
	struct byte_pump *pump, char *to, size_t room, size_t *ret_got, struct err *err);

/* Waits for the thread; the source stays open. */
void byte_pump_stop(struct byte_pump *pump);
