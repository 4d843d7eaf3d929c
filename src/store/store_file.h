/*
 * A .inq file being written: an empty database with the schema and one open transaction, which
 * others put rows into; it gets its name only when it is whole.
 */
#pragma once

#include <stdbool.h>

#include "store/atomic_file.h"
#include "store/database.h"

struct store_file {
	struct atomic_file target; /* what gets the name */
	struct atomic_file plain;  /* the database, when the target is its compressed form */
	sqlite3 *db;
};

/* `compress`: the file is a .inq.zst.  Errors don't name the path. */
bool store_file_begin(struct store_file *ret, const char *path, bool compress, struct err *err);

/* Makes the indexes, ends the transaction, compresses: the file is whole, but for its name. */
bool store_file_finish(struct store_file *file, struct err *err);

/* Finishes it where that is still to be done; syncs, renames. */
bool store_file_commit(struct store_file *file, struct err *err);

/* Throws away what was not committed.  Takes {0}. */
void store_file_done(struct store_file *file);
