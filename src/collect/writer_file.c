/*
 * One SQLite connection.  WAL, so that a process that is killed leaves a file that opens; without
 * syncing, since what must survive is the process's death and not the machine's, and a sync on
 * shared storage takes as long as it likes.  Locked exclusively: WAL then needs no shared memory,
 * whose pages a full disk would turn into SIGBUS, in the training process.
 */
#include "collect/writer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_NAMES  1000
#define CUT	   "recording_cut"
#define FORGET_CUT "DELETE FROM diagnostic WHERE kind = '" CUT "'"

extern const char embedded_trace_sql[];

static sqlite3 *db;
static sqlite3_stmt *insert[FILE_TABLE_COUNT], *insert_string, *link_collective, *set_device;
static uint32_t count[FILE_TABLE_COUNT];
static bool is_in_transaction;
static char failure[200];

static const struct {
	const char *name, *columns;
} tables[] = {
#define X(name, table, columns) {#table, columns},
	FILE_TABLES(X)
#undef X
};

static bool fail(const char *what)
{
	if (!failure[0])
		snprintf(failure, sizeof failure, "%s: %s", what,
			db ? sqlite3_errmsg(db) : "out of memory");
	return false;
}

bool file_is_open(void)
{
	return db != NULL;
}

const char *file_failure(void)
{
	return failure[0] ? failure : NULL;
}

static bool is_working(void)
{
	return db && !failure[0];
}

static bool run(const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK || fail("SQLite");
}

static bool prepare(const char *sql, sqlite3_stmt **ret)
{
	return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK ||
	       fail("SQLite");
}

static int column_count(const char *columns)
{
	int commas = 0;
	for (; *columns; columns++)
		commas += *columns == ',';
	return commas + 1;
}

static bool prepare_inserts(void)
{
	for (int t = 0; t < FILE_TABLE_COUNT; t++) {
		char sql[400];
		int at = snprintf(sql, sizeof sql, "INSERT INTO %s (id, %s) VALUES (?",
			tables[t].name, tables[t].columns);
		for (int c = column_count(tables[t].columns); c > 0; c--)
			at += snprintf(sql + at, sizeof sql - (size_t)at, ", ?");
		snprintf(sql + at, sizeof sql - (size_t)at, ")");
		if (!prepare(sql, &insert[t]))
			return false;
	}
	return prepare("INSERT INTO string (id, value) VALUES (?, ?)", &insert_string) &&
	       prepare("UPDATE collective SET gpu_op_id = ? WHERE id = ?", &link_collective) &&
	       prepare("UPDATE stream SET device = ? WHERE id = ?", &set_device);
}

static bool step(sqlite3_stmt *statement)
{
	const bool is_done = sqlite3_step(statement) == SQLITE_DONE;
	if (!is_done)
		fail("SQLite");
	sqlite3_reset(statement);
	return is_done;
}

static bool begin(void)
{
	if (!is_in_transaction)
		is_in_transaction = run("BEGIN");
	return is_in_transaction;
}

/* The first of STEM.inq, STEM-2.inq, ... that isn't there: a restarted rank keeps both. */
static bool take_name(const char *dir, const char *stem, char *path, size_t bytes)
{
	for (int number = 1; number <= MAX_NAMES; number++) {
		char suffix[16] = "";
		if (number > 1)
			snprintf(suffix, sizeof suffix, "-%d", number);
		if (snprintf(path, bytes, "%s/%s%s.inq", dir, stem, suffix) >= (int)bytes)
			break;
		const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		if (errno != EEXIST)
			break;
		errno = EEXIST;
	}
	snprintf(failure, sizeof failure, "can't create a file in '%s': %s", dir, strerror(errno));
	return false;
}

bool file_create(const char *dir, const char *stem)
{
	char path[PATH_MAX];
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	if (!take_name(dir, stem, path, sizeof path))
		return false;
	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
		return fail("can't open the new file");
	/* It is cut until it has ended: nobody can say so afterwards. */
	return run("PRAGMA page_size = 8192; PRAGMA locking_mode = EXCLUSIVE;"
		   "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"
		   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;") &&
	       begin() && run(embedded_trace_sql) && prepare_inserts() &&
	       run("INSERT INTO diagnostic (kind, severity, count, meaning) VALUES ('" CUT
		   "', 'data_loss', 1, 'the recorder did not come to its end: the process was"
		   " killed, or did not wait for it; what came last may be missing')");
}

static int bind(sqlite3_stmt *statement, int at, int64_t value)
{
	return value == FILE_NULL ? sqlite3_bind_null(statement, at)
				  : sqlite3_bind_int64(statement, at, value);
}

uint32_t file_add(enum file_table table, const int64_t *values)
{
	sqlite3_stmt *statement = insert[table];
	const uint32_t id = count[table];
	if (!is_working() || !begin())
		return id;
	int result = sqlite3_bind_int64(statement, 1, id);
	const int bound = sqlite3_bind_parameter_count(statement);
	for (int c = 2; c <= bound && result == SQLITE_OK; c++)
		result = bind(statement, c, values[c - 2]);
	if (result != SQLITE_OK)
		fail("SQLite");
	else if (step(statement))
		count[table]++;
	return id;
}

uint32_t file_count(enum file_table table)
{
	return count[table];
}

void file_add_string(uint32_t id, const char *text, size_t length)
{
	if (!is_working() || !begin())
		return;
	if (sqlite3_bind_int64(insert_string, 1, id) != SQLITE_OK ||
		sqlite3_bind_text(insert_string, 2, text, (int)length, SQLITE_STATIC) != SQLITE_OK)
		fail("SQLite");
	else
		step(insert_string);
}

static void update(sqlite3_stmt *statement, int64_t value, int64_t id)
{
	if (!is_working() || !begin())
		return;
	if (bind(statement, 1, value) != SQLITE_OK || bind(statement, 2, id) != SQLITE_OK)
		fail("SQLite");
	else
		step(statement);
}

void file_link_collective(uint32_t collective, uint32_t gpu_op)
{
	update(link_collective, gpu_op, collective);
}

void file_set_stream_device(uint32_t stream, uint32_t device)
{
	update(set_device, device, stream);
}

static void set_meta(const char *key, int64_t number, const char *text, bool is_text)
{
	sqlite3_stmt *statement = NULL;
	if (!is_working() || !begin() ||
		!prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", &statement))
		return;
	int result = sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
	if (result == SQLITE_OK && is_text)
		result = sqlite3_bind_text(statement, 2, text, -1, SQLITE_STATIC);
	else if (result == SQLITE_OK)
		result = bind(statement, 2, number);
	if (result != SQLITE_OK)
		fail("SQLite");
	else
		step(statement);
	sqlite3_finalize(statement);
}

void file_set_number(const char *key, int64_t value)
{
	set_meta(key, value, NULL, false);
}

void file_set_text(const char *key, const char *value)
{
	set_meta(key, 0, value, true);
}

void file_diagnose(const char *kind, const char *severity, int64_t number, const char *meaning)
{
	sqlite3_stmt *statement = NULL;
	if (number <= 0 || !is_working() || !begin() ||
		!prepare("INSERT OR REPLACE INTO diagnostic (kind, severity, count, meaning)"
			 " VALUES (?, ?, ?, ?)",
			&statement))
		return;
	if (sqlite3_bind_text(statement, 1, kind, -1, SQLITE_STATIC) != SQLITE_OK ||
		sqlite3_bind_text(statement, 2, severity, -1, SQLITE_STATIC) != SQLITE_OK ||
		sqlite3_bind_int64(statement, 3, number) != SQLITE_OK ||
		sqlite3_bind_text(statement, 4, meaning, -1, SQLITE_STATIC) != SQLITE_OK)
		fail("SQLite");
	else
		step(statement);
	sqlite3_finalize(statement);
}

void file_commit(void)
{
	if (!is_in_transaction || !is_working())
		return;
	if (run("COMMIT"))
		is_in_transaction = false;
}

static void finalize_all(void)
{
	for (int t = 0; t < FILE_TABLE_COUNT; t++) {
		sqlite3_finalize(insert[t]);
		insert[t] = NULL;
	}
	sqlite3_finalize(insert_string);
	sqlite3_finalize(link_collective);
	sqlite3_finalize(set_device);
	insert_string = link_collective = set_device = NULL;
}

/*
 * The disk is full, most likely.  What was committed stays; the log's pages, once they are in the
 * database, may be written over, so there is often room for one more row.
 */
static void leave_reason(void)
{
	char reason[sizeof failure];
	strcpy(reason, failure);
	if (is_in_transaction)
		(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	is_in_transaction = false;
	failure[0] = '\0';
	(void)sqlite3_exec(db, "PRAGMA wal_checkpoint(RESTART)", NULL, NULL, NULL);
	file_diagnose("recorder_stopped", "data_loss", 1, reason);
	file_set_text("recorder_stopped", reason);
	(void)(is_working() && run(FORGET_CUT));
	file_commit();
	strcpy(failure, reason);
}

void file_finish(const char *stopped)
{
	if (!db)
		return;
	if (stopped) {
		file_diagnose("recorder_stopped", "data_loss", 1, stopped);
		file_set_text("recorder_stopped", stopped);
	}
	(void)(is_working() && begin() && run(FORGET_CUT));
	file_commit();
	finalize_all();
	if (failure[0])
		leave_reason();
	sqlite3_close(db);
	db = NULL;
}
