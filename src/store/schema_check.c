#include "store/schema_check.h"

#include "store/schema.h"
#include "trace/trace.h"

static bool check_version(sqlite3 *db, struct err *err)
{
	int64_t id, version;
	if (!database_integer(db, "PRAGMA application_id", &id, err) ||
		!database_integer(db, "PRAGMA user_version", &version, err))
		return false;
	if (id != SCHEMA_APPLICATION_ID)
		return err_set(err, ERR_INPUT, "is a SQLite database, but no trace of inquest's");
	if (version > SCHEMA_VERSION)
		return err_set(err, ERR_INPUT,
			"was written by a newer inquest (format %lld; this one reads up to %d)",
			(long long)version, SCHEMA_VERSION);
	if (version < 1)
		return err_set(
			err, ERR_INPUT, "is of format %lld, which never was", (long long)version);
	return true;
}

/* `ret_columns`: how many the table has, its id included. */
static bool check_table(
	sqlite3_stmt *select, const char *table, int64_t *ret_columns, struct err *err)
{
	bool has_row = false;
	sqlite3_reset(select);
	if (sqlite3_bind_text(select, 1, table, -1, SQLITE_STATIC) != SQLITE_OK)
		return database_fail(sqlite3_db_handle(select), "SQLite", err);
	if (!database_next(select, &has_row, err))
		return false;
	/* Two of one name can't be made, but a damaged schema can hold them. */
	if (sqlite3_column_int64(select, 0) != 1)
		return err_set(err, ERR_INPUT, "there is no table %s", table);
	if (sqlite3_column_int64(select, 2) != 0)
		return err_set(err, ERR_INPUT, "table %s has computed columns", table);
	*ret_columns = sqlite3_column_int64(select, 1);
	return true;
}

static bool check_tables(sqlite3 *db, int64_t *extra, struct err *err)
{
	static const char *const others[] = {"meta", "string", "diagnostic"}; /* that are read */
	int64_t columns;
	sqlite3_stmt *select;
	bool ok = database_prepare(db,
		"SELECT (SELECT count(*) FROM sqlite_schema"
		"	WHERE type = 'table' AND rootpage > 0 AND name = ?1 COLLATE NOCASE),"
		"	(SELECT count(*) FROM pragma_table_xinfo(?1)),"
		"	(SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden <> 0)",
		&select, err);
	for (size_t i = 0; ok && i < sizeof others / sizeof *others; i++)
		ok = check_table(select, others[i], &columns, err);
	for (uint32_t t = 0; ok && t < trace_table_count; t++) {
		ok = check_table(select, trace_tables[t].name, &columns, err);
		columns -= (int64_t)trace_tables[t].desc->column_count + 1;
		if (ok && columns > 0)
			*extra += columns;
	}
	sqlite3_finalize(select);
	return ok;
}

static bool is_known_table(const char *name)
{
	for (uint32_t t = 0; t < trace_table_count; t++)
		if (sqlite3_stricmp(name, trace_tables[t].name) == 0)
			return true;
	for (uint32_t t = 0; t < schema_other_table_count; t++)
		if (sqlite3_stricmp(name, schema_other_tables[t]) == 0)
			return true;
	return sqlite3_strnicmp(name, "sqlite_", 7) == 0;
}

static bool count_extra_tables(sqlite3 *db, int64_t *extra, struct err *err)
{
	sqlite3_stmt *select;
	bool has_row = true;
	bool ok = database_prepare(
		db, "SELECT name FROM sqlite_schema WHERE type = 'table'", &select, err);
	while (ok && has_row) {
		ok = database_next(select, &has_row, err);
		if (!ok || !has_row)
			break;
		const char *name = (const char *)sqlite3_column_text(select, 0);
		*extra += !name || !is_known_table(name);
	}
	sqlite3_finalize(select);
	return ok;
}

bool schema_check(sqlite3 *db, int64_t *ret_extra, struct err *err)
{
	*ret_extra = 0;
	return check_version(db, err) && check_tables(db, ret_extra, err) &&
	       count_extra_tables(db, ret_extra, err);
}
