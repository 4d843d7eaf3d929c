#include <stdio.h>
#include <string.h>

#include "store/column_facts.h"
#include "store/meta_sql.h"
#include "store/schema_check.h"
#include "store/source_words.h"
#include "store/table_sql.h"
#include "store/trace_sql.h"

/* A difference of two times must fit, whatever the file says; no clock is near (146 years). */
#define TIME_LIMIT_NS (INT64_C(1) << 62)

/* Ids are positions in the interner, so texts must come in order, each new. */
static bool read_strings(sqlite3 *db, struct intern *strings, struct err *err)
{
	sqlite3_stmt *select;
	bool ok = database_prepare(db, "SELECT id, value FROM string ORDER BY id", &select, err);
	for (int64_t id = 0; ok; id++) {
		bool has_row;
		ok = database_next(select, &has_row, err);
		if (!ok || !has_row)
			break;
		if (sqlite3_column_type(select, 0) != SQLITE_INTEGER ||
			sqlite3_column_int64(select, 0) != id ||
			sqlite3_column_type(select, 1) != SQLITE_TEXT) {
			ok = err_set(err, ERR_INPUT, "table string: id %lld is missing or no text",
				(long long)id);
			break;
		}
		const char *text = (const char *)sqlite3_column_text(select, 1);
		const size_t length = (size_t)sqlite3_column_bytes(select, 1);
		if (!text)
			ok = database_fail(db, "table string", err);
		else if (intern_put(strings, text, length, err) == id)
			continue;
		else
			ok = err_set(err, ERR_INPUT, "table string: id %lld %s", (long long)id,
				id ? "repeats an earlier text" : "is not the empty text");
	}
	sqlite3_finalize(select);
	return ok;
}

static bool read_diagnostics(sqlite3 *db, struct diag *diag, struct err *err)
{
	sqlite3_stmt *select;
	bool ok = database_prepare(db,
		"SELECT count, first_byte FROM diagnostic WHERE kind = ? AND count > 0", &select,
		err);
	for (int kind = 0; ok && kind < DIAG_KIND_COUNT; kind++) {
		bool has_row = false;
		ok = sqlite3_bind_text(select, 1, diag_word((enum diag_kind)kind), -1,
			     SQLITE_STATIC) == SQLITE_OK
			     ? database_next(select, &has_row, err)
			     : database_fail(db, "SQLite", err);
		if (ok && has_row && sqlite3_column_type(select, 0) == SQLITE_INTEGER) {
			const bool has_byte = sqlite3_column_type(select, 1) == SQLITE_INTEGER;
			const int64_t byte = has_byte ? sqlite3_column_int64(select, 1) : -1;
			diag_add(diag, (enum diag_kind)kind, sqlite3_column_int64(select, 0),
				byte < 0 ? -1 : byte);
		}
		sqlite3_reset(select);
	}
	sqlite3_finalize(select);
	return ok;
}

static bool read_flags(struct meta_sql *meta, struct trace_has *has, struct err *err)
{
	const struct {
		const char *key;
		bool *to;
	} flags[] = {
		{"has_shapes", &has->shapes},
		{"has_memory", &has->memory},
		{"has_stacks", &has->stacks},
		{"has_sync_edges", &has->sync_edges},
		{"has_nccl", &has->nccl},
	};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		int64_t value;
		if (!meta_get_integer(meta, flags[i].key, 0, 1, 0, &value, err))
			return false;
		*flags[i].to = value != 0;
	}
	return true;
}

static bool read_numbers(
	struct meta_sql *meta, struct trace *trace, bool *is_sealed, struct err *err)
{
	int64_t sealed, rank, world_size, data_parallel;
	if (!meta_get_integer(meta, "sealed", 0, 1, 0, &sealed, err) ||
		!meta_get_integer(meta, "rank", 0, INT32_MAX, NULL_I32, &rank, err) ||
		!meta_get_integer(meta, "world_size", 1, INT32_MAX, NULL_I32, &world_size, err) ||
		!meta_get_integer(
			meta, "data_parallel", 1, INT32_MAX, NULL_I32, &data_parallel, err) ||
		!meta_get_integer(meta, "base_unix_ns", -TIME_LIMIT_NS, TIME_LIMIT_NS, 0,
			&trace->base_unix_ns, err) ||
		!meta_get_integer(
			meta, "event_count", 0, TIME_LIMIT_NS, 0, &trace->event_count, err) ||
		!meta_get_integer(meta, "host_event_count", 0, TIME_LIMIT_NS, 0,
			&trace->host_event_count, err) ||
		!meta_get_integer(meta, "gpu_memory_bytes", 0, TIME_LIMIT_NS, NULL_I64,
			&trace->gpu_memory_bytes, err))
		return false;
	*is_sealed = sealed != 0;
	trace->rank = (int32_t)rank;
	trace->world_size = (int32_t)world_size;
	trace->data_parallel = (int32_t)data_parallel;
	return true;
}

static bool read_texts(struct meta_sql *meta, struct trace *trace, struct err *err)
{
	const char *text;
	if (!meta_get_text(meta, "source", &text, err))
		return false;
	trace->source = text ? source_from_word(text) : SOURCE_UNKNOWN;
	if (!meta_get_text(meta, "file", &text, err) ||
		(text && !trace_set_file(trace, text, err)) ||
		!meta_get_text(meta, "gpu", &text, err))
		return false;
	trace->gpu_name_id = text ? intern_put(&trace->strings, text, strlen(text), err) : 0;
	return trace->gpu_name_id != UINT32_MAX;
}

static bool read_meta(sqlite3 *db, struct trace *trace, bool *ret_is_sealed, struct err *err)
{
	struct meta_sql meta;
	const bool ok = meta_read_begin(&meta, db, err) &&
			read_numbers(&meta, trace, ret_is_sealed, err) &&
			read_flags(&meta, &trace->has, err) && read_texts(&meta, trace, err);
	meta_end(&meta);
	return ok;
}

/* How many rows the values of a column may number: of a table, of strings or of words. */
static bool find_limit(
	const struct trace *trace, const struct column_desc *column, uint32_t *ret_limit)
{
	const uint32_t target = column_target(column);
	*ret_limit = column_word_count(column);
	if (target == TARGET_STRING)
		*ret_limit = trace->strings.count;
	else if (target != TARGET_NONE)
		*ret_limit = ((const struct table_head *)((const char *)trace +
							  trace_tables[target].offset))
				     ->count;
	return target != TARGET_NONE || column->type == COLUMN_U8;
}

/* Every reference points to something, every time is one that can be subtracted. */
static bool check_column(const struct trace *trace, const struct trace_table *table,
	const struct column_desc *column, struct err *err)
{
	const char *base = (const char *)trace + table->offset;
	const uint32_t count = ((const struct table_head *)base)->count;
	uint32_t limit;
	const bool has_limit = find_limit(trace, column, &limit);
	const bool is_time = column_is_time(column);
	if (!has_limit && !is_time)
		return true;
	for (uint32_t row = 0; row < count; row++) {
		bool is_null;
		const int64_t value = table_get(base, column, row, &is_null);
		if (is_null || (is_time ? value >= -TIME_LIMIT_NS && value <= TIME_LIMIT_NS
					: value >= 0 && value < limit))
			continue;
		return err_set(err, ERR_INPUT, "table %s: id %u: %s is %lld, which %s", table->name,
			row, column->name, (long long)value,
			is_time ? "is no time" : "refers to nothing");
	}
	return true;
}

static const struct column_desc *find_column(const struct table_desc *desc, const char *name)
{
	for (uint32_t c = 0; c < desc->column_count; c++)
		if (strcmp(desc->columns[c].name, name) == 0)
			return &desc->columns[c];
	return NULL;
}

static bool check_table(const struct trace *trace, const struct trace_table *table, struct err *err)
{
	const struct table_desc *desc = table->desc;
	for (uint32_t c = 0; c < desc->column_count; c++)
		if (!check_column(trace, table, &desc->columns[c], err))
			return false;
	const struct column_desc *start = find_column(desc, "start_ns");
	const struct column_desc *end = find_column(desc, "end_ns");
	const char *base = (const char *)trace + table->offset;
	const uint32_t count = ((const struct table_head *)base)->count;
	for (uint32_t row = 0; start && end && row < count; row++) {
		bool is_null;
		if (table_get(base, end, row, &is_null) < table_get(base, start, row, &is_null))
			return err_set(err, ERR_INPUT, "table %s: id %u ends before it starts",
				table->name, row);
	}
	return true;
}

bool trace_sql_read(sqlite3 *db, struct trace *trace, bool *ret_is_sealed, struct err *err)
{
	int64_t extra;
	if (!schema_check(db, &extra, err) || !read_strings(db, &trace->strings, err) ||
		!read_meta(db, trace, ret_is_sealed, err) ||
		!read_diagnostics(db, &trace->diag, err))
		return false;
	for (uint32_t t = 0; t < trace_table_count; t++)
		if (!table_sql_read(db, trace_tables[t].name,
			    (char *)trace + trace_tables[t].offset, trace_tables[t].desc, err))
			return false;
	for (uint32_t t = 0; t < trace_table_count; t++)
		if (!check_table(trace, &trace_tables[t], err))
			return false;
	diag_add(&trace->diag, DIAG_EXTRA_SCHEMA, extra, -1);
	return true;
}
