/*
 * API calls of the training's threads, taken down as CUPTI calls back at their entry and exit: only
 * the wanted ones, each as a note.  Cheaper than CUPTI's own records of calls, whose kinds slow
 * every call down, the unwanted ones too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* CUPTI's callback; `data` is its CUpti_CallbackData. */
void calls_on_callback(void *user, int domain, uint32_t cbid, const void *data);

/* Calls that were entered before now don't count any more: the callbacks were off since. */
void calls_begin_anew(void);

/* The launches of this thread carry `id` until it is 0 again. */
void calls_set_launch_id(uint64_t id);
