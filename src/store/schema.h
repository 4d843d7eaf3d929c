/*
 * The SQLite schema of a trace, as the program carries it: the text of schemas/trace.sql (tables,
 * words, views) and of schemas/trace_indexes.sql (run after the rows are in).  That SQL is the
 * contract with every other program; the column lists of trace/columns.h are checked against it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_APPLICATION_ID 0x494e5154 /* "INQT": the file's application_id */
#define SCHEMA_VERSION	      1		 /* the file's user_version: a reader refuses a newer one */

#define SCHEMA_MAGIC_BYTES 100 /* of a file's head, for schema_is_ours */

extern const char embedded_trace_sql[];
extern const char embedded_trace_indexes_sql[];
extern const char embedded_version[]; /* the program's */

/* Whether a file that begins so is a SQLite database made to this schema, of whatever version. */
bool schema_is_ours(const uint8_t *head, size_t size);

/* Tables of the schema beside trace_tables[]. */
extern const char *const schema_other_tables[];
extern const uint32_t schema_other_table_count;
