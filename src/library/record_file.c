#include "library/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "library/record_names.h"
#include "read/inq.h"
#include "store/meta_sql.h"
#include "store/schema.h"
#include "store/store_file.h"
#include "store/trace_sql.h"

/* A rank that ends at the same time as the command may need a moment to let go of its file. */
#define PATIENCE_MS 5000

/* Folds the log into the database, so that one file is all there is. */
static bool settle(sqlite3 *db, struct err *err)
{
	if (sqlite3_busy_timeout(db, PATIENCE_MS) != SQLITE_OK)
		return database_fail(db, "SQLite", err);
	sqlite3_stmt *statement;
	bool has_row = false;
	bool ok = database_run(db, "PRAGMA wal_checkpoint(TRUNCATE)", err) &&
		  database_prepare(db, "PRAGMA journal_mode = DELETE", &statement, err);
	if (!ok)
		return false;
	ok = database_next(statement, &has_row, err);
	const char *mode = ok && has_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
	if (ok && (!mode || strcmp(mode, "delete") != 0))
		ok = err_set(err, ERR_IO, "the write-ahead log can't be folded in");
	sqlite3_finalize(statement);
	return ok;
}

/* Whether the recorder got as far as its schema, which is its first transaction. */
static bool open_and_settle(const char *path, bool *ret_has_schema, struct err *err)
{
	sqlite3 *db = NULL;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	int64_t id = 0;
	bool ok = sqlite3_open_v2(path, &db, flags, NULL) == SQLITE_OK ||
		  database_fail(db, "can't open", err);
	ok = ok && settle(db, err) && database_integer(db, "PRAGMA application_id", &id, err);
	if (!ok && db && (sqlite3_errcode(db) & 0xff) == SQLITE_BUSY) {
		*err = (struct err){0};
		err_set(err, ERR_IO, "its process still runs and writes it");
	}
	database_close(db);
	*ret_has_schema = id == SCHEMA_APPLICATION_ID;
	return ok;
}

/* Rows of the raw file that a trace has no place for: its writer's own facts and its reasons. */
static bool copy_rows(
	sqlite3 *from, sqlite3 *to, const char *select_sql, const char *insert_sql, struct err *err)
{
	sqlite3_stmt *select = NULL, *insert = NULL;
	bool has_row = true;
	bool ok = database_prepare(from, select_sql, &select, err) &&
		  database_prepare(to, insert_sql, &insert, err);
	while (ok && has_row) {
		ok = database_next(select, &has_row, err);
		if (!ok || !has_row)
			break;
		for (int c = 0; c < sqlite3_column_count(select); c++)
			sqlite3_bind_value(insert, c + 1, sqlite3_column_value(select, c));
		ok = database_insert(insert, err);
	}
	sqlite3_finalize(select);
	sqlite3_finalize(insert);
	return ok;
}

static bool copy_facts(sqlite3 *from, sqlite3 *to, struct err *err)
{
	return copy_rows(from, to, "SELECT key, value FROM meta",
		       "INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", err) &&
	       copy_rows(from, to,
		       "SELECT kind, severity, count, first_file, first_byte, meaning"
		       " FROM diagnostic",
		       /* The recorder's own words tell more than those for the kind. */
		       "INSERT INTO diagnostic"
		       " (kind, severity, count, first_file, first_byte, meaning)"
		       " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind) DO UPDATE"
		       " SET meaning = excluded.meaning WHERE excluded.meaning <> ''",
		       err);
}

static bool read_stopped(sqlite3 *db, struct record_outcome *outcome, struct err *err)
{
	struct meta_sql meta;
	const char *text = NULL;
	const bool ok = meta_read_begin(&meta, db, err) &&
			meta_get_text(&meta, "recorder_stopped", &text, err);
	snprintf(outcome->stopped, sizeof outcome->stopped, "%s", text ? text : "");
	meta_end(&meta);
	return ok;
}

static bool write_file(
	const char *path, bool compress, const struct trace *trace, sqlite3 *raw, struct err *err)
{
	struct store_file file = {0};
	const bool ok = store_file_begin(&file, path, compress, err) &&
			trace_sql_write(file.db, trace, err) && copy_facts(raw, file.db, err) &&
			store_file_commit(&file, err);
	store_file_done(&file);
	return ok;
}

/* Steps that an optimizer has ended: the last one is often but begun when the program ends. */
static int64_t count_steps(const struct marker_table *markers)
{
	int64_t count = 0, end_ns = INT64_MIN;
	bool is_counted = false;
	for (uint32_t m = 0; m < markers->head.count; m++) {
		if (markers->kind[m] == MARKER_STEP) {
			end_ns = markers->end_ns[m];
			is_counted = false;
		} else if (markers->kind[m] == MARKER_OPTIMIZER && !is_counted &&
			   markers->start_ns[m] < end_ns) {
			count++;
			is_counted = true;
		}
	}
	return count;
}

static void look(const struct trace *trace, struct record_outcome *outcome)
{
	outcome->rank = trace->rank;
	outcome->begin_ns = trace->base_unix_ns;
	outcome->steps = count_steps(&trace->markers);
	outcome->dropped = trace->diag.row[DIAG_DROPPED_RECORDS].count;
	outcome->is_cut = trace->diag.row[DIAG_RECORDING_CUT].count > 0;
	outcome->is_empty = !trace->gpu_ops.head.count && !trace->host_ops.head.count &&
			    !trace->api_calls.head.count && !trace->collectives.head.count;
}

static bool replace(const char *path, const char *target, const struct trace *trace,
	struct record_outcome *outcome, struct err *err)
{
	sqlite3 *raw = NULL;
	struct stat status = {0};
	bool ok =
		database_open(path, &raw, err) && read_stopped(raw, outcome, err) &&
		(outcome->is_empty || write_file(target, outcome->is_compressed, trace, raw, err));
	database_close(raw);
	if (ok && outcome->is_empty)
		return unlink(path) == 0 || err_set_errno(err, errno, "can't remove it");
	if (ok && strcmp(path, target) != 0)
		ok = unlink(path) == 0 || err_set_errno(err, errno, "can't remove it");
	ok = ok && (stat(target, &status) == 0 || err_set_errno(err, errno, "%s", target));
	outcome->bytes = status.st_size;
	return ok;
}

static bool finish(
	const char *path, const char *target, struct record_outcome *outcome, struct err *err)
{
	struct trace trace;
	if (!inq_read(path, false, &trace, err))
		return false;
	/* The recording is its own source; a name would be that of a place it may leave. */
	mem_free(trace.file);
	trace.file = NULL;
	look(&trace, outcome);
	const bool ok = (record_names_demangle(&trace, err) &&
				replace(path, target, &trace, outcome, err)) ||
			err_prefix(err, "%s", path);
	trace_done(&trace);
	return ok;
}

bool record_file_finish(
	const char *path, bool compress, struct record_outcome *ret, struct err *err)
{
	struct record_outcome outcome = {.is_compressed = compress};
	struct text target = {0};
	bool has_schema;
	text_add(&target, "%s%s", path, compress ? ".zst" : "");
	bool ok = text_ok(&target, err) &&
		  (open_and_settle(path, &has_schema, err) || err_prefix(err, "%s", path));
	if (ok && !has_schema) {
		outcome.is_empty = true;
		ok = unlink(path) == 0 || err_set_errno(err, errno, "%s: can't remove it", path);
	} else {
		ok = ok && finish(path, target.bytes, &outcome, err);
	}
	text_done(&target);
	if (ok)
		*ret = outcome;
	return ok;
}
