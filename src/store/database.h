/*
 * SQLite with our errors: every call returns true, or false with one line in `err`.  Knows nothing
 * of traces.  Running out of memory is ERR_NOMEM, a failing disk ERR_IO; anything else is the
 * file's fault when reading (ERR_INPUT) and ours when writing (ERR_INTERNAL).
 *
 * Ownership: whoever prepares a statement finalises it, before the database is closed.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A new database in the empty file `path`, without a journal: the caller throws the file away when
 * anything fails, and syncs it itself.
 */
bool database_create(const char *path, sqlite3 **ret, struct err *err);

/*
 * A file that may be foreign, damaged or hostile, to be read only: no trust in its schema, no
 * views, no triggers, tight limits, and immutable unless a write-ahead log lies beside it.
 */
bool database_open(const char *path, sqlite3 **ret, struct err *err);

void database_close(sqlite3 *db); /* takes NULL */

/* Records the database's last error, with "WHAT: " in front.  Always returns false. */
bool database_fail(sqlite3 *db, const char *what, struct err *err);

/* Runs a script of constant SQL. */
bool database_run(sqlite3 *db, const char *sql, struct err *err);

bool database_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *err);

/* Runs a bound statement that gives no rows, and makes it ready for the next. */
bool database_insert(sqlite3_stmt *statement, struct err *err);

/* The next row of a statement, if there is one. */
bool database_next(sqlite3_stmt *statement, bool *ret_has_row, struct err *err);

/* A single integer, as of a PRAGMA; 0 when there is no row or another type. */
bool database_integer(sqlite3 *db, const char *sql, int64_t *ret, struct err *err);
