#include "store/meta_sql.h"

bool meta_write_begin(struct meta_sql *meta, sqlite3 *db, struct err *err)
{
	return database_prepare(
		db, "INSERT INTO meta (key, value) VALUES (?, ?)", &meta->statement, err);
}

bool meta_read_begin(struct meta_sql *meta, sqlite3 *db, struct err *err)
{
	return database_prepare(db, "SELECT value FROM meta WHERE key = ?", &meta->statement, err);
}

void meta_end(struct meta_sql *meta)
{
	sqlite3_finalize(meta->statement);
	meta->statement = NULL;
}

static bool bind_key(struct meta_sql *meta, const char *key, struct err *err)
{
	return sqlite3_bind_text(meta->statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK ||
	       database_fail(sqlite3_db_handle(meta->statement), "SQLite", err);
}

static bool put(struct meta_sql *meta, const char *key, int bound, struct err *err)
{
	if (bound != SQLITE_OK)
		return database_fail(sqlite3_db_handle(meta->statement), "SQLite", err);
	return bind_key(meta, key, err) && database_insert(meta->statement, err);
}

bool meta_put_integer(struct meta_sql *meta, const char *key, int64_t value, struct err *err)
{
	return put(meta, key, sqlite3_bind_int64(meta->statement, 2, value), err);
}

bool meta_put_real(struct meta_sql *meta, const char *key, double value, struct err *err)
{
	return put(meta, key, sqlite3_bind_double(meta->statement, 2, value), err);
}

bool meta_put_text(struct meta_sql *meta, const char *key, const char *value, struct err *err)
{
	return put(
		meta, key, sqlite3_bind_text(meta->statement, 2, value, -1, SQLITE_TRANSIENT), err);
}

bool meta_put_null(struct meta_sql *meta, const char *key, struct err *err)
{
	return put(meta, key, sqlite3_bind_null(meta->statement, 2), err);
}

/* Steps to the key's row; its type is SQLITE_NULL when there is none. */
static bool find(struct meta_sql *meta, const char *key, int *ret_type, struct err *err)
{
	bool has_row;
	sqlite3_reset(meta->statement);
	if (!bind_key(meta, key, err) || !database_next(meta->statement, &has_row, err))
		return false;
	*ret_type = has_row ? sqlite3_column_type(meta->statement, 0) : SQLITE_NULL;
	return true;
}

bool meta_get_integer(struct meta_sql *meta, const char *key, int64_t low, int64_t high,
	int64_t null, int64_t *ret, struct err *err)
{
	int type;
	if (!find(meta, key, &type, err))
		return false;
	if (type == SQLITE_NULL) {
		*ret = null;
		return true;
	}
	if (type != SQLITE_INTEGER)
		return err_set(err, ERR_INPUT, "meta: %s is no integer", key);
	const int64_t value = sqlite3_column_int64(meta->statement, 0);
	if (value < low || value > high)
		return err_set(err, ERR_INPUT, "meta: %s is out of range", key);
	*ret = value;
	return true;
}

bool meta_get_text(struct meta_sql *meta, const char *key, const char **ret, struct err *err)
{
	int type;
	if (!find(meta, key, &type, err))
		return false;
	if (type != SQLITE_NULL && type != SQLITE_TEXT)
		return err_set(err, ERR_INPUT, "meta: %s is no text", key);
	*ret = NULL;
	if (type == SQLITE_NULL)
		return true;
	*ret = (const char *)sqlite3_column_text(meta->statement, 0);
	return *ret || database_fail(sqlite3_db_handle(meta->statement), "SQLite", err);
}
