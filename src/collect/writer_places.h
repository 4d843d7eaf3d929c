/*
 * Where things happen, as rows: threads by their system id, streams by context and number.
 */
#pragma once

#include <stdint.h>

uint32_t places_thread(uint32_t tid);

uint32_t places_stream(uint32_t context, uint32_t stream);

/* The device that a context is of; streams seen before it was known learn it. */
void places_know_context(uint32_t context, uint32_t device);
