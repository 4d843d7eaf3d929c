#include "store/table_sql.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "store/column_facts.h"

#define SQL_BYTES     2048u
#define MAX_ROW_BYTES 256u

/*
 * "SELECT id, a, b FROM t ORDER BY id" or "INSERT INTO t (id, a, b) VALUES (?, ?, ?)".  Every name
 * in it is one of our own declarations.
 */
static void make_sql(char *sql, bool is_insert, const char *name, const struct table_desc *desc)
{
	size_t at = 0;
	if (is_insert)
		at += (size_t)snprintf(sql, SQL_BYTES, "INSERT INTO %s (id", name);
	else
		at += (size_t)snprintf(sql, SQL_BYTES, "SELECT id");
	for (uint32_t c = 0; c < desc->column_count; c++)
		at += (size_t)snprintf(sql + at, SQL_BYTES - at, ", %s", desc->columns[c].name);
	if (!is_insert) {
		at += (size_t)snprintf(sql + at, SQL_BYTES - at, " FROM %s ORDER BY id", name);
	} else {
		at += (size_t)snprintf(sql + at, SQL_BYTES - at, ") VALUES (?");
		for (uint32_t c = 0; c < desc->column_count; c++)
			at += (size_t)snprintf(sql + at, SQL_BYTES - at, ", ?");
		at += (size_t)snprintf(sql + at, SQL_BYTES - at, ")");
	}
	assert(at < SQL_BYTES);
	(void)at;
}

static bool insert_row(sqlite3_stmt *insert, const void *table, const struct table_desc *desc,
	uint32_t row, struct err *err)
{
	int result = sqlite3_bind_int64(insert, 1, row);
	for (uint32_t c = 0; c < desc->column_count && result == SQLITE_OK; c++) {
		bool is_null;
		const int64_t value = table_get(table, &desc->columns[c], row, &is_null);
		result = is_null ? sqlite3_bind_null(insert, (int)c + 2)
				 : sqlite3_bind_int64(insert, (int)c + 2, value);
	}
	if (result != SQLITE_OK)
		return database_fail(sqlite3_db_handle(insert), "SQLite", err);
	return database_insert(insert, err);
}

bool table_sql_write(sqlite3 *db, const char *name, const void *table,
	const struct table_desc *desc, struct err *err)
{
	const uint32_t count = ((const struct table_head *)table)->count;
	char sql[SQL_BYTES];
	make_sql(sql, true, name, desc);
	sqlite3_stmt *insert;
	bool ok = database_prepare(db, sql, &insert, err);
	for (uint32_t row = 0; ok && row < count; row++)
		ok = insert_row(insert, table, desc, row, err);
	sqlite3_finalize(insert);
	return ok || err_prefix(err, "table %s", name);
}

/* Puts a value where its type fits it; false when it does not. */
static bool put_value(char *to, const struct column_desc *column, int64_t value)
{
	switch (column->type) {
	case COLUMN_I64:
		memcpy(to, &value, sizeof value);
		return value != NULL_I64;
	case COLUMN_I32: {
		const int32_t narrow = (int32_t)value;
		memcpy(to, &narrow, sizeof narrow);
		return narrow == value && narrow != NULL_I32;
	}
	case COLUMN_U32: {
		const uint32_t narrow = (uint32_t)value;
		memcpy(to, &narrow, sizeof narrow);
		return narrow == value && narrow != NULL_U32;
	}
	case COLUMN_U8:
		*to = (char)value;
		return value >= 0 && value <= UINT8_MAX;
	}
	return false;
}

static void put_null(char *to, const struct column_desc *column)
{
	switch (column->type) {
	case COLUMN_I64:
		memcpy(to, &(int64_t){NULL_I64}, sizeof(int64_t));
		break;
	case COLUMN_I32:
		memcpy(to, &(int32_t){NULL_I32}, sizeof(int32_t));
		break;
	case COLUMN_U32:
		memcpy(to, &(uint32_t){NULL_U32}, sizeof(uint32_t));
		break;
	case COLUMN_U8:
		*to = 0;
	}
}

static bool take_value(sqlite3_stmt *select, int at, char *row, const struct column_desc *column,
	bool is_required, struct err *err)
{
	char *to = row + column->row_offset;
	const int type = sqlite3_column_type(select, at);
	if (type == SQLITE_INTEGER) {
		if (put_value(to, column, sqlite3_column_int64(select, at)))
			return true;
		return err_set(err, ERR_INPUT, "%s is out of range", column->name);
	}
	if (type != SQLITE_NULL)
		return err_set(err, ERR_INPUT, "%s is no integer", column->name);
	if (is_required)
		return err_set(err, ERR_INPUT, "%s is null", column->name);
	put_null(to, column);
	return true;
}

static bool read_rows(sqlite3_stmt *select, const char *name, void *table,
	const struct table_desc *desc, struct err *err)
{
	alignas(max_align_t) char row[MAX_ROW_BYTES];
	bool is_required[MAX_ROW_BYTES];
	assert(desc->column_count <= MAX_ROW_BYTES);
	for (uint32_t c = 0; c < desc->column_count; c++) {
		assert(desc->columns[c].row_offset + desc->columns[c].size <= MAX_ROW_BYTES);
		is_required[c] = column_is_required(&desc->columns[c]);
	}
	for (int64_t number = 0;; number++) {
		bool has_row;
		if (!database_next(select, &has_row, err))
			return false;
		if (!has_row)
			return true;
		if (sqlite3_column_type(select, 0) != SQLITE_INTEGER ||
			sqlite3_column_int64(select, 0) != number)
			return err_set(err, ERR_INPUT, "the ids of table %s leave a gap at %lld",
				name, (long long)number);
		for (uint32_t c = 0; c < desc->column_count; c++)
			if (!take_value(select, (int)c + 1, row, &desc->columns[c], is_required[c],
				    err))
				return err_prefix(
					err, "table %s: id %lld", name, (long long)number);
		if (!table_push(table, desc, row, err))
			return false;
	}
}

bool table_sql_read(
	sqlite3 *db, const char *name, void *table, const struct table_desc *desc, struct err *err)
{
	char sql[SQL_BYTES];
	make_sql(sql, false, name, desc);
	sqlite3_stmt *select;
	if (!database_prepare(db, sql, &select, err))
		return err_prefix(err, "table %s", name);
	const bool ok = read_rows(select, name, table, desc, err);
	sqlite3_finalize(select);
	return ok;
}
