/*
 * NVTX's pushes and pops, thread by thread, as host ops; those that begin "inquest:" as markers
 * too.
 */
#pragma once

#include <stdint.h>

#include "collect/notes.h"

/* A note of a push, a pop or a mark; in order within its thread. */
void ranges_take(const struct note *note, int64_t base_ns);

/* Closes what is still open; how many there were. */
uint32_t ranges_finish(int64_t at_ns, int64_t base_ns);
