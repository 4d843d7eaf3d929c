/*
 * The table meta: facts of a trace by name.  Integers, texts, reals or null; a key that is not
 * there reads as null, and keys that a reader does not know mean nothing to it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "store/database.h"

struct meta_sql {
	sqlite3_stmt *statement;
};

bool meta_write_begin(struct meta_sql *meta, sqlite3 *db, struct err *err);
bool meta_read_begin(struct meta_sql *meta, sqlite3 *db, struct err *err);
void meta_end(struct meta_sql *meta); /* takes {0} */

bool meta_put_integer(struct meta_sql *meta, const char *key, int64_t value, struct err *err);
bool meta_put_real(struct meta_sql *meta, const char *key, double value, struct err *err);
bool meta_put_text(struct meta_sql *meta, const char *key, const char *value, struct err *err);
bool meta_put_null(struct meta_sql *meta, const char *key, struct err *err);

/* `null` where the key is null or not there; ERR_INPUT for another type or out of [low, high]. */
bool meta_get_integer(struct meta_sql *meta, const char *key, int64_t low, int64_t high,
	int64_t null, int64_t *ret, struct err *err);

/* NULL where the key is null or not there; valid until the next call. */
bool meta_get_text(struct meta_sql *meta, const char *key, const char **ret, struct err *err);
