/* Lays a report out as GitHub's markdown.  Bars become short rows of number signs. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "render/report.h"

#define BAR_WIDTH 20

/* Names come from traces: what markdown or HTML would read as its own is escaped. */
static void add_escaped(struct text *out, const char *text)
{
	for (; *text; text++) {
		const unsigned char byte = (unsigned char)*text;
		if (byte < 0x20 || byte == 0x7f)
			text_add(out, "?");
		else if (byte == '<')
			text_add(out, "&lt;");
		else if (strchr("|*`\\[", byte))
			text_add(out, "\\%c", byte);
		else
			text_add_bytes(out, text, 1);
	}
}

static void add_bar(
	struct text *out, const struct report_table *table, uint32_t column, double value)
{
	double most = 0;
	for (uint32_t row = 0; row < table->row_count; row++) {
		const double bar = table->cells[(size_t)row * table->column_count + column].bar;
		if (!isnan(bar))
			most = fmax(most, fabs(bar));
	}
	if (isnan(value) || most == 0)
		return;
	const long length = lround(fabs(value) / most * BAR_WIDTH);
	if (length > 0) {
		text_add(out, "`");
		text_add_repeated(out, value < 0 ? '-' : '#', (size_t)length);
		text_add(out, "`");
	}
}

static void add_table(struct text *out, const struct report_table *table)
{
	for (uint32_t i = 0; i < table->column_count; i++) {
		text_add(out, "| ");
		add_escaped(out, table->columns[i].name);
		text_add(out, " ");
	}
	text_add(out, "|\n");
	for (uint32_t i = 0; i < table->column_count; i++)
		text_add(out, table->columns[i].align == ALIGN_RIGHT ? "| ---: " : "| --- ");
	text_add(out, "|\n");
	for (uint32_t row = 0; row < table->row_count; row++) {
		for (uint32_t i = 0; i < table->column_count; i++) {
			const struct report_cell *cell =
				&table->cells[(size_t)row * table->column_count + i];
			/* Leading blanks are indentation, which a cell would lose. */
			const char *text = cell->text ? cell->text : "";
			const size_t indent = strspn(text, " ");
			const bool is_strong = cell->tone == TONE_STRONG && text[indent];
			text_add(out, "| ");
			for (size_t k = 0; k < indent; k++)
				text_add(out, "&nbsp;");
			text_add(out, "%s", is_strong ? "**" : "");
			add_escaped(out, text + indent);
			text_add(out, "%s", is_strong ? "**" : "");
			if (table->columns[i].align == ALIGN_BAR)
				add_bar(out, table, i, cell->bar);
			text_add(out, " ");
		}
		text_add(out, "|\n");
	}
}

static void add_named(struct text *out, const struct report_block *block)
{
	const size_t toned = block->toned_bytes;
	text_add(out, "**");
	text_add_bytes(out, block->text, toned);
	text_add(out, "**");
	add_escaped(out, block->text + toned);
	text_add(out, "\n");
}

static void add_block(struct text *out, const struct report_block *block, uint32_t item)
{
	switch (block->kind) {
	case BLOCK_HEADING:
		text_add(out, "## ");
		add_escaped(out, block->text);
		text_add(out, "\n");
		break;
	case BLOCK_ITEM:
		text_add(out, "%u. ", item);
		add_escaped(out, block->text);
		text_add(out, "\n");
		break;
	case BLOCK_TABLE:
		add_table(out, block->table);
		break;
	default:
		if (block->toned_bytes) {
			add_named(out, block);
			break;
		}
		add_escaped(out, block->text);
		text_add(out, "\n");
	}
}

char *report_print_markdown(const struct report *report, struct err *err)
{
	struct text out = {0};
	uint32_t item = 0;
	if (report->err.code != ERR_NONE) {
		err_set(err, report->err.code, "%s", report->err.msg);
		return NULL;
	}
	for (const struct report_block *block = report->first; block; block = block->next) {
		item = block->kind == BLOCK_ITEM ? item + 1 : 0;
		if (block != report->first && item < 2)
			text_add(&out, "\n");
		add_block(&out, block, item);
	}
	text_add(&out, "%s", "");
	if (!text_ok(&out, err)) {
		text_done(&out);
		return NULL;
	}
	return out.bytes;
}
