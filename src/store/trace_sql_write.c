#include <string.h>

#include "store/meta_sql.h"
#include "store/schema.h"
#include "store/source_words.h"
#include "store/table_sql.h"
#include "store/trace_sql.h"

static bool write_strings(sqlite3 *db, const struct intern *strings, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok =
		database_prepare(db, "INSERT INTO string (id, value) VALUES (?, ?)", &insert, err);
	for (uint32_t id = 0; ok && id < strings->count; id++) {
		ok = (sqlite3_bind_int64(insert, 1, id) == SQLITE_OK &&
			     sqlite3_bind_text(insert, 2, intern_text(strings, id),
				     (int)strings->length[id], SQLITE_STATIC) == SQLITE_OK) ||
		     database_fail(db, "SQLite", err);
		ok = ok && database_insert(insert, err);
	}
	sqlite3_finalize(insert);
	return ok;
}

static bool write_diagnostic(
	sqlite3_stmt *insert, const struct trace *trace, enum diag_kind kind, struct err *err)
{
	const struct diag_row *row = &trace->diag.row[kind];
	int result = sqlite3_bind_text(insert, 1, diag_word(kind), -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(
			insert, 2, severity_word(diag_severity(kind)), -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = sqlite3_bind_int64(insert, 3, row->count);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(insert, 4, trace->file, -1, SQLITE_STATIC);
	if (result == SQLITE_OK)
		result = row->first_byte < 0 ? sqlite3_bind_null(insert, 5)
					     : sqlite3_bind_int64(insert, 5, row->first_byte);
	if (result == SQLITE_OK)
		result = sqlite3_bind_text(insert, 6, diag_meaning(kind), -1, SQLITE_STATIC);
	if (result != SQLITE_OK)
		return database_fail(sqlite3_db_handle(insert), "SQLite", err);
	return database_insert(insert, err);
}

static bool write_diagnostics(sqlite3 *db, const struct trace *trace, struct err *err)
{
	sqlite3_stmt *insert;
	bool ok = database_prepare(db,
		"INSERT INTO diagnostic (kind, severity, count, first_file, first_byte, meaning)"
		" VALUES (?, ?, ?, ?, ?, ?)",
		&insert, err);
	for (int kind = 0; ok && kind < DIAG_KIND_COUNT; kind++)
		if (trace->diag.row[kind].count)
			ok = write_diagnostic(insert, trace, (enum diag_kind)kind, err);
	sqlite3_finalize(insert);
	return ok;
}

static bool write_facts(struct meta_sql *meta, const struct trace *trace, struct err *err)
{
	const struct {
		const char *key;
		int64_t value, null;
	} facts[] = {
		{"sealed", 1, NULL_I64},
		{"rank", trace->rank, NULL_I32},
		{"world_size", trace->world_size, NULL_I32},
		{"data_parallel", trace->data_parallel, NULL_I32},
		{"base_unix_ns", trace->base_unix_ns, NULL_I64},
		{"event_count", trace->event_count, NULL_I64},
		{"host_event_count", trace->host_event_count, NULL_I64},
		{"gpu_memory_bytes", trace->gpu_memory_bytes, NULL_I64},
		{"has_shapes", trace->has.shapes, NULL_I64},
		{"has_memory", trace->has.memory, NULL_I64},
		{"has_stacks", trace->has.stacks, NULL_I64},
		{"has_sync_edges", trace->has.sync_edges, NULL_I64},
		{"has_nccl", trace->has.nccl, NULL_I64},
	};
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (facts[i].value == facts[i].null
				? !meta_put_null(meta, facts[i].key, err)
				: !meta_put_integer(meta, facts[i].key, facts[i].value, err))
			return false;
	char program[64] = "inquest ";
	strncat(program, embedded_version, sizeof program - sizeof "inquest ");
	return meta_put_text(meta, "program", program, err) &&
	       meta_put_text(meta, "source", source_word(trace->source), err) &&
	       meta_put_text(meta, "file", trace->file, err) &&
	       meta_put_text(meta, "gpu", intern_text(&trace->strings, trace->gpu_name_id), err);
}

bool trace_sql_write(sqlite3 *db, const struct trace *trace, struct err *err)
{
	struct meta_sql meta;
	const bool ok = meta_write_begin(&meta, db, err) && write_facts(&meta, trace, err);
	meta_end(&meta);
	if (!ok || !write_strings(db, &trace->strings, err) || !write_diagnostics(db, trace, err))
		return false;
	for (uint32_t t = 0; t < trace_table_count; t++)
		if (!table_sql_write(db, trace_tables[t].name,
			    (const char *)trace + trace_tables[t].offset, trace_tables[t].desc,
			    err))
			return false;
	return true;
}
