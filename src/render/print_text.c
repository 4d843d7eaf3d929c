/*
 * Lays a report out for a terminal: paragraphs are wrapped, tables are libsmartcols', bars are
 * drawn into the width that the other columns leave.
 */
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "render/report.h"

#define WIDTH_MIN    40
#define TABLE_INDENT 2
#define TEXT_HANG    4 /* of a paragraph's further lines */
#define CUT_MIN	     8 /* a cut text keeps so much */
#define ELLIPSIS     ".."
#define SEPARATOR    "  "
#define BAR_MIN	     10
#define BAR_MAX	     40

static const char *const tone_codes[] = {
	[TONE_PLAIN] = "",
	[TONE_STRONG] = "\033[1m",
	[TONE_DIM] = "\033[2m",
	[TONE_GOOD] = "\033[32m",
	[TONE_BAD] = "\033[31m",
	[TONE_WARN] = "\033[33m",
};
#define TONE_OFF "\033[0m"

struct printer {
	const struct text_style *style;
	size_t width;
	struct text out;
};

static void start_tone(struct printer *printer, enum tone tone)
{
	if (printer->style->has_color)
		text_add(&printer->out, "%s", tone_codes[tone]);
}

static void end_tone(struct printer *printer, enum tone tone)
{
	if (printer->style->has_color && tone != TONE_PLAIN)
		text_add(&printer->out, "%s", TONE_OFF);
}

/* Names come from traces: what would move the cursor is shown as a question mark. */
static void add_safely(struct text *out, const char *bytes, size_t length)
{
	size_t start = 0;
	for (size_t i = 0; i < length; i++) {
		const unsigned char byte = (unsigned char)bytes[i];
		if (byte >= 0x20 && byte != 0x7f)
			continue;
		text_add_bytes(out, bytes + start, i - start);
		text_add_bytes(out, "?", 1);
		start = i + 1;
	}
	text_add_bytes(out, bytes + start, length - start);
}

/* Word after word; lines but the first begin with `indent` blanks.  A word longer than a line
 * stands alone on its own. */
static void print_paragraph(
	struct printer *printer, const struct report_block *block, size_t column, size_t indent)
{
	const char *text = block->text;
	const size_t toned = block->toned_bytes ? block->toned_bytes : strlen(text);
	size_t at = 0;
	bool is_line_start = true;
	start_tone(printer, block->tone);
	while (text[at]) {
		const size_t length = strcspn(text + at, " ");
		const size_t columns = text_columns(text + at, length);
		if (!is_line_start && column + 1 + columns > printer->width) {
			text_add(&printer->out, "\n");
			text_add_repeated(&printer->out, ' ', indent);
			column = indent;
			is_line_start = true;
		}
		if (!is_line_start) {
			text_add(&printer->out, " ");
			column++;
		}
		if (at < toned && at + length >= toned) {
			add_safely(&printer->out, text + at, toned - at);
			end_tone(printer, block->tone);
			add_safely(&printer->out, text + toned, at + length - toned);
		} else {
			add_safely(&printer->out, text + at, length);
		}
		column += columns;
		is_line_start = false;
		at += length;
		at += strspn(text + at, " ");
	}
	text_add(&printer->out, "\n");
}

/* The largest value above and below zero of a bar column. */
static void bar_scale(const struct report_table *table, uint32_t column, double *up, double *down)
{
	*up = *down = 0;
	for (uint32_t row = 0; row < table->row_count; row++) {
		const double value = table->cells[(size_t)row * table->column_count + column].bar;
		if (isnan(value))
			continue;
		*up = fmax(*up, value);
		*down = fmax(*down, -value);
	}
}

static void draw_bar(
	struct text *text, double value, double up, double down, size_t width, bool has_unicode)
{
	const double unit = (double)width / (up + down);
	const size_t zero = (size_t)lround(down * unit);
	const size_t length = (size_t)lround(fabs(value) * unit);
	const size_t start = value < 0 ? zero - (length < zero ? length : zero) : zero;
	text_add_repeated(text, ' ', start);
	for (size_t i = 0; i < length && start + i < width; i++)
		text_add(text, "%s", has_unicode ? "\xe2\x96\x88" : value < 0 ? "-" : "#");
	/* What is too small for a bar still gets a mark. */
	if (!length && value != 0)
		text_add(text, "%s", has_unicode ? "\xe2\x96\x8f" : "'");
}

/* Columns that the texts of a table column fill at most. */
static size_t column_width(const struct report_table *table, uint32_t column)
{
	const char *name = table->columns[column].name;
	size_t widest = text_columns(name, strlen(name));
	for (uint32_t row = 0; row < table->row_count; row++) {
		const char *text = table->cells[(size_t)row * table->column_count + column].text;
		const size_t width = text ? text_columns(text, strlen(text)) : 0;
		widest = width > widest ? width : widest;
	}
	return widest;
}

/*
 * Columns of a table that are printed together.  A table that is too wide is folded into several
 * such bands, one below the other, each with the columns that name the rows.
 */
#define BAND_MAX 32

struct band {
	uint32_t column[BAND_MAX], count;
};

/* How wide bars are drawn, and how wide texts of ALIGN_CUT columns may be. */
struct fit {
	size_t bar, cut;
};

static struct fit fit_band(const struct report_table *table, const struct band *band, size_t width)
{
	size_t natural = 0, cut = 0;
	bool has_bar = false;
	for (uint32_t i = 0; i < band->count; i++) {
		const enum align align = table->columns[band->column[i]].align;
		const size_t widest = column_width(table, band->column[i]);
		natural += widest + (i ? strlen(SEPARATOR) : 0);
		has_bar = has_bar || align == ALIGN_BAR;
		if (align == ALIGN_CUT && widest > cut)
			cut = widest; /* of several the widest: shortening it is enough */
	}
	const size_t needed = natural + (has_bar ? BAR_MIN : 0);
	if (needed > width)
		cut = cut > CUT_MIN + needed - width ? cut - (needed - width) : CUT_MIN;
	const size_t left = natural + BAR_MIN < width ? width - natural : BAR_MIN;
	return (struct fit){.bar = left < BAR_MAX ? left : BAR_MAX, .cut = cut};
}

/* Columns that a table column fills at least. */
static size_t least_width(const struct report_table *table, uint32_t column)
{
	const enum align align = table->columns[column].align;
	const size_t widest = column_width(table, column);
	if (align == ALIGN_BAR)
		return widest > BAR_MIN ? widest : BAR_MIN;
	return align == ALIGN_CUT && widest > CUT_MIN ? CUT_MIN : widest;
}

/* The columns that say what a row is: the first, and the second if both are texts. */
static uint32_t count_keys(const struct report_table *table)
{
	for (uint32_t i = 0; i < 2; i++)
		if (i >= table->column_count || table->columns[i].align == ALIGN_RIGHT ||
			table->columns[i].align == ALIGN_BAR)
			return 1;
	return 2;
}

/* The next band, from column `*at` on, which moves on; it has a column more than the keys. */
static struct band next_band(const struct report_table *table, size_t width, uint32_t *at)
{
	struct band band = {.count = 0};
	size_t used = 0;
	for (uint32_t i = 0; i < count_keys(table) && i < *at; i++) {
		band.column[band.count++] = i;
		used += least_width(table, i) + strlen(SEPARATOR);
	}
	const uint32_t keys = band.count;
	for (; *at < table->column_count && band.count < BAND_MAX; (*at)++) {
		used += least_width(table, *at);
		if (used > width && band.count > (keys ? keys : count_keys(table)))
			break;
		band.column[band.count++] = *at;
		used += strlen(SEPARATOR);
	}
	return band;
}

/* Takes the middle out: names of runs and kernels differ at their ends. */
static void add_cut(struct text *out, const char *text, size_t columns)
{
	const size_t length = strlen(text), all = text_columns(text, length);
	if (all <= columns) {
		text_add(out, "%s", text);
		return;
	}
	const size_t tail = (columns - strlen(ELLIPSIS)) / 2;
	const size_t head = columns - strlen(ELLIPSIS) - tail;
	size_t left_out = text_bytes_in(text, length, all - tail);
	/* A wide character may stand across the edge. */
	if (text_columns(text + left_out, length - left_out) > tail)
		left_out = text_bytes_in(text, length, all - tail + 1);
	text_add_bytes(out, text, text_bytes_in(text, length, head));
	text_add(out, ELLIPSIS "%s", text + left_out);
}

static bool add_columns(
	struct libscols_table *out, const struct report_table *table, const struct band *band)
{
	for (uint32_t i = 0; i < band->count; i++) {
		const struct report_column *column = &table->columns[band->column[i]];
		const int flags = column->align == ALIGN_RIGHT ? SCOLS_FL_RIGHT
				  : column->align == ALIGN_CUT ? SCOLS_FL_TRUNC
							       : 0;
		/* smartcols shortens columns of small width hints last. */
		if (!scols_table_new_column(
			    out, column->name, column->align == ALIGN_CUT ? 0.5 : 1, flags))
			return false;
	}
	return true;
}

static bool set_cell(struct libscols_line *line, uint32_t column, const struct report_cell *cell,
	const char *text, bool has_color)
{
	if (scols_line_set_data(line, column, text) != 0)
		return false;
	if (!has_color || cell->tone == TONE_PLAIN)
		return true;
	return scols_cell_set_color(scols_line_get_cell(line, column), tone_codes[cell->tone]) == 0;
}

/* The text of a cell as it is printed, into `ret`, which is empty. */
static void cell_text(const struct printer *printer, const struct report_table *table,
	uint32_t column, const struct report_cell *cell, const struct fit *fit, struct text *ret)
{
	double up, down;
	switch (table->columns[column].align) {
	case ALIGN_BAR:
		bar_scale(table, column, &up, &down);
		if (!isnan(cell->bar) && up + down > 0)
			draw_bar(ret, cell->bar, up, down, fit->bar, printer->style->has_unicode);
		break;
	case ALIGN_CUT:
		add_cut(ret, cell->text ? cell->text : "", fit->cut);
		break;
	default:
		text_add(ret, "%s", cell->text ? cell->text : "");
	}
}

static bool add_row(const struct printer *printer, struct libscols_table *out,
	const struct report_table *table, const struct band *band, uint32_t row,
	const struct fit *fit)
{
	struct libscols_line *line = scols_table_new_line(out, NULL);
	bool ok = line != NULL;
	for (uint32_t i = 0; i < band->count && ok; i++) {
		const uint32_t column = band->column[i];
		const struct report_cell *cell =
			&table->cells[(size_t)row * table->column_count + column];
		struct text text = {0};
		cell_text(printer, table, column, cell, fit, &text);
		ok = text_ok(&text, NULL) && set_cell(line, i, cell, text.bytes ? text.bytes : "",
						     printer->style->has_color);
		text_done(&text);
	}
	return ok;
}

static bool add_rows(const struct printer *printer, struct libscols_table *out,
	const struct report_table *table, const struct band *band)
{
	const struct fit fit = fit_band(table, band, printer->width - TABLE_INDENT);
	for (uint32_t row = 0; row < table->row_count; row++)
		if (!add_row(printer, out, table, band, row, &fit))
			return false;
	return true;
}

/* Indents every line and drops the blanks at its end. */
static void add_lines(struct text *out, const char *lines)
{
	while (*lines) {
		const size_t length = strcspn(lines, "\n");
		size_t kept = length;
		while (kept && lines[kept - 1] == ' ')
			kept--;
		if (kept)
			text_add_repeated(out, ' ', TABLE_INDENT);
		text_add_bytes(out, lines, kept);
		text_add(out, "\n");
		lines += length + (lines[length] == '\n');
	}
}

static bool print_band(struct printer *printer, const struct report_table *table,
	const struct band *band, struct err *err)
{
	struct libscols_table *out = scols_new_table();
	char *lines = NULL;
	bool has_names = false;
	for (uint32_t i = 0; i < band->count; i++)
		has_names = has_names || table->columns[band->column[i]].name[0];
	const bool ok = out && scols_table_set_column_separator(out, SEPARATOR) == 0 &&
			scols_table_set_termforce(out, SCOLS_TERMFORCE_ALWAYS) == 0 &&
			scols_table_set_termwidth(out, printer->width - TABLE_INDENT) == 0 &&
			scols_table_enable_noheadings(out, !has_names) == 0 &&
			scols_table_enable_colors(out, printer->style->has_color) == 0 &&
			add_columns(out, table, band) && add_rows(printer, out, table, band) &&
			scols_print_table_to_string(out, &lines) == 0;
	scols_unref_table(out);
	if (ok && lines)
		add_lines(&printer->out, lines);
	free(lines);
	return ok || err_set(err, ERR_NOMEM, "out of memory (laying out a table)");
}

static bool print_table(struct printer *printer, const struct report_table *table, struct err *err)
{
	for (uint32_t at = 0; at < table->column_count;) {
		if (at)
			text_add(&printer->out, "\n");
		const struct band band = next_band(table, printer->width - TABLE_INDENT, &at);
		if (!print_band(printer, table, &band, err))
			return false;
	}
	return true;
}

static bool print_block(struct printer *printer, const struct report_block *block,
	const struct report_block *before, uint32_t *item, struct err *err)
{
	/* Paragraphs and items of one kind stand together; headings open a section. */
	if (before && (block->kind == BLOCK_HEADING || before->kind == BLOCK_LEAD))
		text_add(&printer->out, "\n");
	*item = block->kind == BLOCK_ITEM ? *item + 1 : 0;
	switch (block->kind) {
	case BLOCK_TABLE:
		return print_table(printer, block->table, err);
	case BLOCK_ITEM: {
		const size_t length = printer->out.length;
		text_add(&printer->out, "  %u. ", *item);
		const size_t indent = printer->out.length - length;
		print_paragraph(printer, block, indent, indent);
		return true;
	}
	case BLOCK_TEXT:
		text_add_repeated(&printer->out, ' ', TABLE_INDENT);
		print_paragraph(printer, block, TABLE_INDENT, TEXT_HANG);
		return true;
	default:
		print_paragraph(printer, block, 0, 0);
		return true;
	}
}

char *report_print_text(
	const struct report *report, const struct text_style *style, struct err *err)
{
	struct printer printer = {
		.style = style, .width = style->width < WIDTH_MIN ? WIDTH_MIN : style->width};
	uint32_t item = 0;
	if (report->err.code != ERR_NONE) {
		err_set(err, report->err.code, "%s", report->err.msg);
		return NULL;
	}
	const struct report_block *before = NULL;
	for (const struct report_block *block = report->first; block; block = block->next) {
		if (!print_block(&printer, block, before, &item, err)) {
			text_done(&printer.out);
			return NULL;
		}
		before = block;
	}
	text_add(&printer.out, "%s", "");
	if (!text_ok(&printer.out, err)) {
		text_done(&printer.out);
		return NULL;
	}
	return printer.out.bytes;
}
