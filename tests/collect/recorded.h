/*
 * A recording, looked at with SQL and with the command.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

struct recorded {
	sqlite3 *db;
	char path[300];
};

/* Opens FOLDER/NAME, which must be there, and whole. */
void recorded_open(struct recorded *recorded, const char *name);
void recorded_close(struct recorded *recorded);

/* The query's only value as text.  SQL may use concat_ws_(...): what is not null, by blanks. */
void assert_sql(struct recorded *recorded, const char *expected, const char *sql);
long long sql_number(struct recorded *recorded, const char *sql);
void assert_meta(struct recorded *recorded, const char *key, const char *expected);

/* `inquest info` reads it, and its JSON has `expected` in it; closes the database before. */
void assert_readable(struct recorded *recorded, const char *expected);

/* Whether FOLDER/NAME is there. */
bool is_recorded(const char *name);
