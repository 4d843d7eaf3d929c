/*
 * A piece of work for each of a number of items, on as many threads as there are cores.  Items are
 * taken in order; the caller's thread works too.
 */
#pragma once

#include <stdint.h>

typedef void worker(void *context, uint32_t item);

/* How many threads that means: 0 stands for the number of cores. */
uint32_t workers_count(uint32_t thread_count);

/* Returns when all items are done. */
void workers_run(uint32_t thread_count, uint32_t item_count, worker *work, void *context);
