#include "store/column_facts.h"

#include <string.h>

#include "trace/trace.h"

static bool ends_with(const char *text, const char *ending)
{
	const size_t length = strlen(text), ending_length = strlen(ending);
	return length >= ending_length && strcmp(text + length - ending_length, ending) == 0;
}

bool column_is_time(const struct column_desc *column)
{
	return column->type == COLUMN_I64 && ends_with(column->name, "_ns");
}

bool column_is_required(const struct column_desc *column)
{
	if (column->type == COLUMN_U8)
		return true;
	return (column_is_time(column) || ends_with(column->name, "_id")) &&
	       !strstr(column->doc, "null");
}

uint32_t column_target(const struct column_desc *column)
{
	if (strncmp(column->doc, "string:", 7) == 0)
		return TARGET_STRING;
	if (!ends_with(column->name, "_id"))
		return TARGET_NONE;
	if (strcmp(column->name, "record_call_id") == 0)
		return column_target(&(struct column_desc){.name = "api_call_id", .doc = ""});
	/* "waiting_stream_id" is of "stream". */
	for (uint32_t t = 0; t < trace_table_count; t++) {
		const char *table = trace_tables[t].name;
		const size_t length = strlen(column->name) - 3, table_length = strlen(table);
		if (length >= table_length &&
			memcmp(column->name + length - table_length, table, table_length) == 0)
			return t;
	}
	return TARGET_NONE;
}

uint32_t column_word_count(const struct column_desc *column)
{
	static const struct {
		const char *doc;
		uint32_t count;
	} enums[] = {
		{"enum thread_role", THREAD_AUTOGRAD + 1},
		{"enum host_kind", HOST_PYTHON + 1},
		{"enum gpu_kind", GPU_MEMSET + 1},
		{"enum collective_kind", COLLECTIVE_BROADCAST + 1},
		{"enum marker_kind", MARKER_UNIT + 1},
	};
	if (column->type != COLUMN_U8)
		return 0;
	for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
		if (strcmp(column->doc, enums[i].doc) == 0)
			return enums[i].count;
	return 0;
}
