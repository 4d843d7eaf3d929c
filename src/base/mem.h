/*
 * The one door to the heap.  Every allocation of the library goes through here, so that a test can
 * make the Nth one fail and see that nothing is lost but the request.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* `count` items of `size` bytes, zeroed; NULL and ERR_NOMEM when there is no room. */
void *mem_new(size_t count, size_t size, struct err *err);

/*
 * Grows or shrinks `*block` (NULL is fine) to `count` items of `size` bytes.  New bytes are not
 * initialised.  On failure `*block` is left as it was.
 */
bool mem_resize(void *block_pointer, size_t count, size_t size, struct err *err);

void mem_free(void *block);

/* Test hook: the allocation numbered `nth` from now on (1 is the next) fails; 0 turns it off. */
void mem_fail_after(int64_t nth);

/* Test hook: whether the failure asked for has happened. */
bool mem_has_failed(void);
