/*
 * See recorded.h.
 */
#include "recorded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trainee.h"

static void concat(sqlite3_context *context, int count, sqlite3_value **values)
{
	char text[1000] = "";
	size_t at = 0;
	for (int v = 0; v < count; v++)
		if (sqlite3_value_type(values[v]) != SQLITE_NULL)
			at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at ? " " : "",
				(const char *)sqlite3_value_text(values[v]));
	sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static void open_db(struct recorded *recorded)
{
	assert_int_equal(
		sqlite3_open_v2(recorded->path, &recorded->db, SQLITE_OPEN_READWRITE, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_create_function(recorded->db, "concat_ws_", -1, SQLITE_UTF8, NULL,
				 concat, NULL, NULL),
		SQLITE_OK);
}

void recorded_open(struct recorded *recorded, const char *name)
{
	snprintf(recorded->path, sizeof recorded->path, "%s/%s", trainee_folder(), name);
	assert_int_equal(access(recorded->path, R_OK), 0);
	open_db(recorded);
	assert_sql(recorded, "ok", "PRAGMA integrity_check");
}

void recorded_close(struct recorded *recorded)
{
	sqlite3_close(recorded->db);
	recorded->db = NULL;
}

static void ask(struct recorded *recorded, const char *sql, char *text, size_t bytes)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(recorded->db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(recorded->db));
	const int result = sqlite3_step(statement);
	const char *value =
		result == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
	snprintf(text, bytes, "%s", value ? value : "(null)");
	sqlite3_finalize(statement);
}

void assert_sql(struct recorded *recorded, const char *expected, const char *sql)
{
	char text[1000];
	ask(recorded, sql, text, sizeof text);
	if (strcmp(text, expected) != 0)
		fail_msg("'%s' and not '%s': %s", text, expected, sql);
}

long long sql_number(struct recorded *recorded, const char *sql)
{
	char text[100];
	ask(recorded, sql, text, sizeof text);
	return atoll(text);
}

void assert_meta(struct recorded *recorded, const char *key, const char *expected)
{
	char sql[200];
	snprintf(sql, sizeof sql, "SELECT value FROM meta WHERE key = '%s'", key);
	assert_sql(recorded, expected, sql);
}

bool is_recorded(const char *name)
{
	char path[300];
	snprintf(path, sizeof path, "%s/%s", trainee_folder(), name);
	return access(path, F_OK) == 0;
}

void assert_readable(struct recorded *recorded, const char *expected)
{
	const char *program = getenv("INQUEST");
	if (!program)
		return;
	recorded_close(recorded);
	char line[1000], output[20000] = "";
	snprintf(line, sizeof line, "%s info --format json '%s' 2>&1", program, recorded->path);
	FILE *pipe = popen(line, "r");
	assert_non_null(pipe);
	const size_t got = fread(output, 1, sizeof output - 1, pipe);
	output[got] = '\0';
	const int status = pclose(pipe);
	if (status != 0 || !strstr(output, expected))
		fail_msg("inquest info: status %d: %s", status, output);
	open_db(recorded);
}
