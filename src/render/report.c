/* Builds the list of blocks. */
#include "render/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define ROWS_AT_FIRST 16

static const char *format_text(struct report *report, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	const int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text =
		length < 0 ? NULL : arena_new(&report->arena, (size_t)length + 1, 1, &report->err);
	if (text)
		vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

static void add_block(struct report *report, struct report_block block)
{
	struct report_block *copy = arena_new(&report->arena, 1, sizeof *copy, &report->err);
	if (!copy)
		return;
	*copy = block;
	if (report->last)
		report->last->next = copy;
	else
		report->first = copy;
	report->last = copy;
}

void report_heading(struct report *report, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = format_text(report, format, arguments);
	va_end(arguments);
	add_block(report,
		(struct report_block){.kind = BLOCK_HEADING, .text = text, .tone = TONE_STRONG});
}

void report_text(struct report *report, enum tone tone, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = format_text(report, format, arguments);
	va_end(arguments);
	add_block(report, (struct report_block){.kind = BLOCK_TEXT, .text = text, .tone = tone});
}

void report_item(struct report *report, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = format_text(report, format, arguments);
	va_end(arguments);
	add_block(report, (struct report_block){.kind = BLOCK_ITEM, .text = text});
}

const char *report_take(struct report *report, struct text *text)
{
	const char *taken = text_take(text, &report->arena, &report->err);
	return taken ? taken : "";
}

void report_lead(struct report *report, enum tone tone, uint32_t toned_bytes, const char *text)
{
	add_block(report, (struct report_block){.kind = BLOCK_LEAD,
				  .text = arena_text(&report->arena, text, &report->err),
				  .tone = tone,
				  .toned_bytes = toned_bytes});
}

void report_named(struct report *report, enum tone tone, const char *name, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = format_text(report, format, arguments);
	va_end(arguments);
	if (text)
		text = arena_format(&report->arena, &report->err, "%s: %s", name, text);
	add_block(report, (struct report_block){.kind = BLOCK_TEXT,
				  .text = text,
				  .tone = tone,
				  .toned_bytes = (uint32_t)strlen(name)});
}

struct report_table *report_table(
	struct report *report, const struct report_column *columns, uint32_t column_count)
{
	struct report_table *table = arena_new(&report->arena, 1, sizeof *table, &report->err);
	if (!table)
		return NULL;
	table->columns = columns;
	table->column_count = column_count;
	add_block(report, (struct report_block){.kind = BLOCK_TABLE, .table = table});
	return table;
}

static bool has_room(struct report *report, struct report_table *table)
{
	if (table->row_count < table->row_capacity)
		return true;
	const uint32_t capacity = table->row_capacity ? 2 * table->row_capacity : ROWS_AT_FIRST;
	struct report_cell *cells = arena_new(&report->arena,
		(size_t)capacity * table->column_count, sizeof *cells, &report->err);
	if (!cells)
		return false;
	if (table->cells)
		memcpy(cells, table->cells,
			(size_t)table->row_count * table->column_count * sizeof *cells);
	table->cells = cells;
	table->row_capacity = capacity;
	return true;
}

static void add_cell(struct report *report, struct report_table *table, struct report_cell cell)
{
	if (!table || !has_room(report, table) || table->cell_count == table->column_count)
		return;
	table->cells[(size_t)table->row_count * table->column_count + table->cell_count] = cell;
	table->cell_count++;
}

void report_cell(
	struct report *report, struct report_table *table, enum tone tone, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const char *text = format_text(report, format, arguments);
	va_end(arguments);
	add_cell(report, table, (struct report_cell){.text = text, .tone = tone, .bar = NAN});
}

void report_bar(struct report *report, struct report_table *table, enum tone tone, double value)
{
	add_cell(report, table, (struct report_cell){.tone = tone, .bar = value});
}

void report_blank(struct report *report, struct report_table *table)
{
	add_cell(report, table, (struct report_cell){.bar = NAN});
}

void report_row(struct report *report, struct report_table *table)
{
	if (!table)
		return;
	while (report->err.code == ERR_NONE && table->cell_count < table->column_count)
		report_blank(report, table);
	if (table->cell_count == table->column_count) {
		table->cell_count = 0;
		table->row_count++;
	}
}

void report_done(struct report *report)
{
	arena_done(&report->arena);
	*report = (struct report){0};
}
