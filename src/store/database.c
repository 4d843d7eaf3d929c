#include "store/database.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/intern.h"
#include "base/mem.h"

bool database_fail(sqlite3 *db, const char *what, struct err *err)
{
	enum err_code code = db && sqlite3_db_readonly(db, "main") == 1 ? ERR_INPUT : ERR_INTERNAL;
	switch (db ? sqlite3_errcode(db) & 0xff : SQLITE_NOMEM) {
	case SQLITE_NOMEM:
		code = ERR_NOMEM;
		break;
	case SQLITE_IOERR:
	case SQLITE_FULL:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		code = ERR_IO;
		break;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		code = ERR_INPUT;
		break;
	default:
		break;
	}
	return err_set(err, code, "%s: %s", what, db ? sqlite3_errmsg(db) : "out of memory");
}

bool database_create(const char *path, sqlite3 **ret, struct err *err)
{
	sqlite3 *db = NULL;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
		database_fail(db, "new database", err);
		database_close(db);
		return false;
	}
	if (!database_run(db,
		    "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;",
		    err)) {
		database_close(db);
		return false;
	}
	*ret = db;
	return true;
}

/* "file:PATH?OPTIONS" with the characters escaped that mean something in a URI. */
static char *make_uri(const char *path, const char *options, struct err *err)
{
	const size_t size = 3 * strlen(path) + strlen(options) + 8;
	char *uri = mem_new(size, 1, err);
	if (!uri)
		return NULL;
	char *to = stpcpy(uri, "file:");
	/* "file://x" would read x as a host: a leading "//" becomes "/". */
	while (path[0] == '/' && path[1] == '/')
		path++;
	for (; *path; path++)
		if (strchr("%?#", *path))
			to += sprintf(to, "%%%02X", (unsigned char)*path);
		else
			*to++ = *path;
	*to++ = '?';
	strcpy(to, options);
	return uri;
}

/* A recorder that was killed leaves its newest transactions in a log beside the file. */
static bool has_log(const char *path, bool *ret, struct err *err)
{
	const size_t size = strlen(path) + sizeof "-wal";
	char *log = mem_new(size, 1, err);
	if (!log)
		return false;
	snprintf(log, size, "%s-wal", path);
	struct stat status;
	*ret = stat(log, &status) == 0 && status.st_size > 0;
	mem_free(log);
	return true;
}

static bool defend(sqlite3 *db, struct err *err)
{
	static const struct {
		int option, value;
	} options[] = {
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_ENABLE_VIEW, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	};
	static const struct {
		int limit, value;
	} limits[] = {
		{SQLITE_LIMIT_LENGTH, 4 * INTERN_MAX_BYTES},
		{SQLITE_LIMIT_SQL_LENGTH, 256 << 10},
		{SQLITE_LIMIT_COLUMN, 200},
		{SQLITE_LIMIT_EXPR_DEPTH, 100},
		{SQLITE_LIMIT_COMPOUND_SELECT, 20},
		{SQLITE_LIMIT_VDBE_OP, 25000},
		{SQLITE_LIMIT_FUNCTION_ARG, 20},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_VARIABLE_NUMBER, 10},
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (sqlite3_db_config(db, options[i].option, options[i].value, NULL) != SQLITE_OK)
			return database_fail(db, "can't open it safely", err);
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(db, limits[i].limit, limits[i].value);
	/* No mapping: a file that is cut while it is read would kill the process. */
	return database_run(db,
		"PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;", err);
}

bool database_open(const char *path, sqlite3 **ret, struct err *err)
{
	bool is_live;
	if (!has_log(path, &is_live, err))
		return false;
	char *uri = make_uri(path, is_live ? "mode=ro" : "mode=ro&immutable=1", err);
	if (!uri)
		return false;
	sqlite3 *db = NULL;
	const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
			  SQLITE_OPEN_EXRESCODE;
	const bool is_open = sqlite3_open_v2(uri, &db, flags, NULL) == SQLITE_OK;
	mem_free(uri);
	if (!is_open || !defend(db, err)) {
		if (!is_open)
			database_fail(db, "can't open it", err);
		database_close(db);
		return false;
	}
	*ret = db;
	return true;
}

void database_close(sqlite3 *db)
{
	sqlite3_close(db);
}

bool database_run(sqlite3 *db, const char *sql, struct err *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ||
	       database_fail(db, "SQLite", err);
}

bool database_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	*ret = NULL;
	return sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK ||
	       database_fail(db, "SQLite", err);
}

bool database_insert(sqlite3_stmt *statement, struct err *err)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		return database_fail(sqlite3_db_handle(statement), "SQLite", err);
	return sqlite3_reset(statement) == SQLITE_OK ||
	       database_fail(sqlite3_db_handle(statement), "SQLite", err);
}

bool database_next(sqlite3_stmt *statement, bool *ret_has_row, struct err *err)
{
	const int result = sqlite3_step(statement);
	*ret_has_row = result == SQLITE_ROW;
	return result == SQLITE_ROW || result == SQLITE_DONE ||
	       database_fail(sqlite3_db_handle(statement), "SQLite", err);
}

bool database_integer(sqlite3 *db, const char *sql, int64_t *ret, struct err *err)
{
	sqlite3_stmt *statement;
	bool has_row = false;
	if (!database_prepare(db, sql, &statement, err))
		return false;
	const bool ok = database_next(statement, &has_row, err);
	if (ok)
		*ret = has_row ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return ok;
}
