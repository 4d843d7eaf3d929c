/*
 * What belongs together, though its records come in any order: a collective and the kernel that
 * carries it, a stream's wait and the event it waits for.  Remembers the newest of each in tables
 * of fixed size, so that a long run costs no more than a short one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collect/records.h"

/* Rows of the file, as they are added. */
void links_call(uint32_t correlation, uint32_t api_call);
void links_gpu_op(uint32_t correlation, uint32_t gpu_op);
void links_external(const struct record_external *external);
void links_collective(uint64_t external_id, uint32_t collective);
void links_event(const struct record_event *event);
void links_sync(const struct record_sync *sync);

/* Adds the rows of the waits whose parts are all known, and of those that have waited long. */
void links_settle(bool is_last);

/* Collectives that no kernel was found for, so far. */
uint64_t links_unlinked(void);
