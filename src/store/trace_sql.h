/*
 * A trace to the raw tables of the schema and back.  Law: what is read is what was written, in
 * every table, id and fact.  Knows nothing of files, nor of the results beside the raw tables.
 */
#pragma once

#include <stdbool.h>

#include "store/database.h"
#include "trace/trace.h"

/* Writes a sealed trace into an empty database of the schema. */
bool trace_sql_write(sqlite3 *db, const struct trace *trace, struct err *err);

/*
 * Reads into a trace that trace_init made.  The file may be anything: ERR_INPUT when its version
 * is newer, a table or column is missing, or a value is of the wrong type or refers to nothing.
 * Tables and columns beyond the schema are counted as extra_schema.
 * `ret_is_sealed` says that the writer had sealed the trace: its diagnostics already count what
 * sealing finds.  The order itself is not looked at.
 */
bool trace_sql_read(sqlite3 *db, struct trace *trace, bool *ret_is_sealed, struct err *err);
