/*
 * Whether an opened database may be read as a trace at all, before a row of it is touched.
 */
#pragma once

#include <stdint.h>

#include "store/database.h"

/*
 * ERR_INPUT in one line for a foreign database, a newer version, or a table that is missing or is
 * none (a view, a virtual table, computed columns: they would run the file's own code).
 * `ret_extra`: tables and columns that the schema does not know.
 */
bool schema_check(sqlite3 *db, int64_t *ret_extra, struct err *err);
