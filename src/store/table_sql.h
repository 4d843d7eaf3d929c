/*
 * Any table of columns to SQL and back, from its description alone: a row a row, id the row's
 * number, a null where the column holds its type's null.
 */
#pragma once

#include "base/table.h"
#include "store/database.h"

/* Inserts every row. */
bool table_sql_write(sqlite3 *db, const char *name, const void *table,
	const struct table_desc *desc, struct err *err);

/*
 * Appends every row to the empty `table`.  ERR_INPUT, naming table, row and column, for ids that
 * leave a gap, another type than the column's, or a null where none may be; what rows refer to is
 * not looked at.
 */
bool table_sql_read(
	sqlite3 *db, const char *name, void *table, const struct table_desc *desc, struct err *err);
