#include "trace/trace.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

/* X(table, the name it is stored under, its columns, the member of struct trace) */
#define TABLES(X)                                                            \
	X(thread_table, thread, THREAD_COLUMNS, threads)                     \
	X(stream_table, stream, STREAM_COLUMNS, streams)                     \
	X(host_op_table, host_op, HOST_OP_COLUMNS, host_ops)                 \
	X(api_call_table, api_call, API_CALL_COLUMNS, api_calls)             \
	X(gpu_op_table, gpu_op, GPU_OP_COLUMNS, gpu_ops)                     \
	X(collective_table, collective, COLLECTIVE_COLUMNS, collectives)     \
	X(stream_wait_table, stream_wait, STREAM_WAIT_COLUMNS, stream_waits) \
	X(marker_table, marker, MARKER_COLUMNS, markers)                     \
	X(memory_table, memory, MEMORY_COLUMNS, memory)                      \
	X(clock_table, clock, CLOCK_COLUMNS, clocks)

/* A column's list can't name its table, so each description is made with TABLE set to it. */
#define COLUMN(type, name, doc)                                                              \
	{#name, COLUMN_TYPE(type), offsetof(struct TABLE, name), offsetof(struct ROW, name), \
		sizeof(type), doc},

#define TABLE thread_table
#define ROW   thread_table_row
static const struct column_desc thread_table_columns[] = {THREAD_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE stream_table
#define ROW   stream_table_row
static const struct column_desc stream_table_columns[] = {STREAM_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE host_op_table
#define ROW   host_op_table_row
static const struct column_desc host_op_table_columns[] = {HOST_OP_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE api_call_table
#define ROW   api_call_table_row
static const struct column_desc api_call_table_columns[] = {API_CALL_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE gpu_op_table
#define ROW   gpu_op_table_row
static const struct column_desc gpu_op_table_columns[] = {GPU_OP_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE collective_table
#define ROW   collective_table_row
static const struct column_desc collective_table_columns[] = {COLLECTIVE_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE stream_wait_table
#define ROW   stream_wait_table_row
static const struct column_desc stream_wait_table_columns[] = {STREAM_WAIT_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE marker_table
#define ROW   marker_table_row
static const struct column_desc marker_table_columns[] = {MARKER_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE memory_table
#define ROW   memory_table_row
static const struct column_desc memory_table_columns[] = {MEMORY_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW
#define TABLE clock_table
#define ROW   clock_table_row
static const struct column_desc clock_table_columns[] = {CLOCK_COLUMNS(COLUMN)};
#undef TABLE
#undef ROW

#define X(table, name, columns, member)          \
	const struct table_desc table##_desc = { \
		#name, table##_columns, sizeof table##_columns / sizeof *table##_columns};
TABLES(X)
#undef X

const struct trace_table trace_tables[] = {
#define X(table, name, columns, member) {#name, &table##_desc, offsetof(struct trace, member)},
	TABLES(X)
#undef X
};

const uint32_t trace_table_count = sizeof trace_tables / sizeof *trace_tables;

bool trace_init(struct trace *trace, struct err *err)
{
	*trace = (struct trace){
		.rank = NULL_I32,
		.world_size = NULL_I32,
		.data_parallel = NULL_I32,
		.gpu_memory_bytes = NULL_I64,
	};
	if (intern_init(&trace->strings, err))
		return true;
	trace_done(trace);
	return false;
}

void trace_done(struct trace *trace)
{
	for (uint32_t t = 0; t < trace_table_count; t++)
		table_done((char *)trace + trace_tables[t].offset, trace_tables[t].desc);
	intern_done(&trace->strings);
	mem_free(trace->file);
	mem_free(trace->opened);
	*trace = (struct trace){0};
}

static bool replace_name(char **name, const char *path, struct err *err)
{
	const size_t size = strlen(path) + 1;
	char *copy = mem_new(size, 1, err);
	if (!copy)
		return false;
	memcpy(copy, path, size);
	mem_free(*name);
	*name = copy;
	return true;
}

bool trace_set_file(struct trace *trace, const char *path, struct err *err)
{
	return replace_name(&trace->file, path, err);
}

bool trace_set_opened(struct trace *trace, const char *path, struct err *err)
{
	return replace_name(&trace->opened, path, err);
}

const char *trace_called(const struct trace *trace)
{
	return trace->opened ? trace->opened : trace->file ? trace->file : "";
}
