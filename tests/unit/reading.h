/*
 * What the tests of the readers share: where the recorded traces are, whole files in memory, files
 * written for a test, and a trace as text, by which traces are compared.
 */
#pragma once

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/byte_source.h"
#include "read/byte_window.h"
#include "read/kineto.h"
#include "trace/trace.h"

/* The folder of shared traces, or NULL where it isn't. */
static inline const char *shared_folder(void)
{
	const char *folder = getenv("INQUEST_SHARED");
	if (!folder)
		folder = SOURCE_ROOT "/../shared";
	struct stat status;
	return stat(folder, &status) == 0 ? folder : NULL;
}

/* A growing text. */
struct text {
	char *bytes;
	size_t length, capacity;
};

static inline void text_add(struct text *text, const char *bytes, size_t length)
{
	if (text->length + length + 1 > text->capacity) {
		text->capacity = 2 * (text->length + length + 1);
		text->bytes = realloc(text->bytes, text->capacity);
		assert_non_null(text->bytes);
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void text_print(
	struct text *text, const char *format, ...)
{
	char line[4096];
	va_list arguments;
	va_start(arguments, format);
	const int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	text_add(text, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

/* All of a file, decompressed, through the source under test; free() it. */
static inline struct text whole_file(const char *path)
{
	struct err err = {0};
	struct text all = {0};
	struct byte_source *source = byte_source_open(path, &err);
	if (!source)
		fail_msg("%s: %s", path, err.msg);
	static char piece[1 << 16];
	for (size_t got = 1; got > 0;) {
		assert_true(byte_source_read(source, piece, sizeof piece, &got, &err));
		text_add(&all, piece, got);
	}
	byte_source_close(source);
	return all;
}

/* A folder of the test's own, which remove_folder takes away with its files. */
static inline void make_folder(char *path, size_t room)
{
	const char *base = getenv("TMPDIR");
	snprintf(path, room, "%s/inquest-test-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(path));
}

static inline void remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	for (const struct dirent *entry; folder && (entry = readdir(folder));) {
		char file[1024];
		snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
		unlink(file);
	}
	closedir(folder);
	rmdir(path);
}

static inline void write_file(
	const char *folder, const char *name, const void *bytes, size_t length)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* Every column of every table, strings as texts, and the counts; not the file or first places. */
static inline struct text trace_as_text(const struct trace *trace)
{
	struct text text = {0};
	text_print(&text,
		"rank %d of %d, base %lld, %lld events, %lld of the host, gpu '%s' %lld\n",
		trace->rank, trace->world_size, (long long)trace->base_unix_ns,
		(long long)trace->event_count, (long long)trace->host_event_count,
		intern_text(&trace->strings, trace->gpu_name_id),
		(long long)trace->gpu_memory_bytes);
	text_print(&text, "has %d%d%d%d%d\n", trace->has.shapes, trace->has.memory,
		trace->has.stacks, trace->has.sync_edges, trace->has.nccl);
	for (uint32_t t = 0; t < trace_table_count; t++) {
		const struct table_desc *desc = trace_tables[t].desc;
		const char *table = (const char *)trace + trace_tables[t].offset;
		const uint32_t count = ((const struct table_head *)table)->count;
		for (uint32_t row = 0; row < count; row++) {
			text_print(&text, "%s", trace_tables[t].name);
			for (uint32_t c = 0; c < desc->column_count; c++) {
				bool is_null;
				const int64_t value =
					table_get(table, &desc->columns[c], row, &is_null);
				if (strncmp(desc->columns[c].doc, "string:", 7) == 0)
					text_print(&text, " '%s'",
						intern_text(&trace->strings, (uint32_t)value));
				else if (is_null)
					text_print(&text, " -");
				else
					text_print(&text, " %lld", (long long)value);
			}
			text_add(&text, "\n", 1);
		}
	}
	for (int kind = 0; kind < DIAG_KIND_COUNT; kind++)
		if (trace->diag.row[kind].count)
			text_print(&text, "%s %lld\n", diag_word((enum diag_kind)kind),
				(long long)trace->diag.row[kind].count);
	return text;
}

/* Reads `length` bytes of JSON as a trace and seals it. */
static inline bool read_bytes(
	const char *bytes, size_t length, size_t window_bytes, struct trace *ret, struct err *err)
{
	struct byte_window window;
	if (!trace_init(ret, err))
		return false;
	bool is_read = byte_window_over(&window, bytes, length, window_bytes, err);
	if (is_read) {
		is_read = kineto_read_window(&window, ret, err) && trace_seal(ret, err);
		byte_window_done(&window);
	}
	if (!is_read)
		trace_done(ret);
	return is_read;
}
