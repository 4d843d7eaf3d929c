/*
 * libcupti, found at run time: the one that the process has already, else one that can be loaded.
 * One binary serves CUPTI 11 to 13, so nothing of NVIDIA's headers is used; what a version lacks is
 * left out.  Knows which activities are wanted; refuses to know what their records mean.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Versions as cuptiGetVersion counts them. */
#define CUPTI_VERSION_12_0 19u
#define CUPTI_VERSION_12_3 21u
#define CUPTI_VERSION_12_5 23u
#define CUPTI_VERSION_12_8 26u
#define CUPTI_VERSION_13_0 130000u

/*
 * Loads libcupti, takes its only place for a tool, registers the buffers; enables nothing yet.
 * False with the reason in words: not there, too old, or another tool has the place.
 */
bool cupti_begin(char *reason, size_t reason_bytes);

/* Whether cupti_begin succeeded. */
bool cupti_is_open(void);

uint32_t cupti_version(void);

/* Turns the activities on or off; the caller sees to it that one thread does so at a time. */
void cupti_enable(void);
void cupti_disable(void);

/* Hands over the buffers whose records are complete; with `all`, the others too. */
void cupti_flush(bool all);

/* The record behind `record` in a completed buffer, or the first for NULL; NULL at its end. */
const void *cupti_next_record(uint8_t *buffer, size_t valid_bytes, const void *record);

/* Records that CUPTI dropped for want of a buffer since the last call. */
uint64_t cupti_take_dropped(void *context, uint32_t stream);

/* An id for the launches of this thread until it is popped. */
bool cupti_push_id(uint64_t id);
void cupti_pop_id(void);
