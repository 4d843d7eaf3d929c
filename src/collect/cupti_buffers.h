/*
 * The buffers that CUPTI writes its records into, and the way they take: clean, lent to CUPTI,
 * full, and clean again once the writer has read them.  CUPTI's threads, that is, the training's,
 * only ever take a clean one or mark a full one; no lock, and no system call but where none is
 * clean. Never hands out NULL, which CUPTI before 12.9 does not survive.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFER_BYTES (2u << 20)
#define BUFFER_MAX   64u

struct full_buffer {
	uint8_t *bytes;
	size_t valid_bytes;
	void *context; /* as CUPTI names them, for asking what was dropped */
	uint32_t stream;
};

bool buffers_init(void);

/* CUPTI's two callbacks. */
void buffers_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
void buffers_complete(
	void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* The writer's side.  The full buffer that has waited longest; false when there is none. */
bool buffers_take_full(struct full_buffer *ret);
/* Hands the taken one back, to be cleaned. */
void buffers_give_back(const struct full_buffer *buffer);
/* Like take_full, but leaves it: the `index`th that waits. */
bool buffers_peek_full(uint32_t index, struct full_buffer *ret);
/* Keeps some clean ones ready, so that the training's threads need not touch fresh memory. */
void buffers_prepare(void);

/* Times that a buffer's worth of records or less was lost because none was left. */
uint64_t buffers_lost(void);
