/*
 * Strings as numbers: each distinct text gets an id, in order of first sight.  Id 0 is always the
 * empty text.  A 500 MB trace has a few thousand distinct names, so work that depends on a name is
 * done once an id, not once an event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define INTERN_MAX_BYTES (1u << 20) /* longest text taken; a longer one is cut there */

struct intern {
	uint32_t count;
	uint32_t capacity;
	uint64_t *offset; /* of each text in `bytes` */
	uint32_t *length; /* without the NUL that follows each text */
	char *bytes;
	uint64_t byte_count;
	uint64_t byte_capacity;
	uint32_t *slot; /* open addressing, id + 1; 0 is free */
	uint32_t slot_count;
};

bool intern_init(struct intern *in, struct err *err);
void intern_done(struct intern *in);

/* The id of `text`; UINT32_MAX on ERR_NOMEM. */
uint32_t intern_put(struct intern *in, const char *text, size_t length, struct err *err);

/* The id of `text` if it is known, else UINT32_MAX. */
uint32_t intern_find(const struct intern *in, const char *text, size_t length);

/* NUL-terminated; valid until the next intern_put. */
const char *intern_text(const struct intern *in, uint32_t id);

/*
 * `rank[id]` orders ids by their text's bytes: ties between events must not depend on the order in
 * which names were first seen.  `rank` has room for in->count.
 */
bool intern_rank(const struct intern *in, uint32_t *rank, struct err *err);
