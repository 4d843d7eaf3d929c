/*
 * A report as a list of blocks, neither text nor markdown yet: what to say is decided once, by the
 * report_*.c files, and laid out by print_text.c and print_markdown.c.
 * Builders do not return errors: the first failure is remembered in the report, and the printers
 * hand it on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum tone {
	TONE_PLAIN,
	TONE_STRONG,
	TONE_DIM,
	TONE_GOOD,
	TONE_BAD,
	TONE_WARN,
};

enum block_kind {
	BLOCK_HEADING,
	BLOCK_LEAD, /* what a reader sees first */
	BLOCK_TEXT,
	BLOCK_ITEM, /* numbered from 1 after whatever is no item */
	BLOCK_TABLE,
};

enum align {
	ALIGN_LEFT,
	ALIGN_CUT, /* left, and the first to be shortened when the table is too wide */
	ALIGN_RIGHT,
	ALIGN_BAR, /* cells hold numbers, drawn to one scale, below zero to the left */
};

struct report_column {
	const char *name;
	enum align align;
};

struct report_cell {
	const char *text; /* NULL is an empty cell */
	double bar;	  /* of ALIGN_BAR columns; NaN draws nothing */
	enum tone tone;
};

struct report_table {
	const struct report_column *columns; /* outlives the report: usually static */
	uint32_t column_count;
	struct report_cell *cells; /* row after row */
	uint32_t row_count, row_capacity;
	uint32_t cell_count; /* of the row being filled */
};

struct report_block {
	enum block_kind kind;
	const char *text;
	enum tone tone;
	uint32_t toned_bytes; /* of the text, from its start; 0 for all of it */
	struct report_table *table;
	struct report_block *next;
};

struct report {
	struct arena arena;
	struct err err;
	struct report_block *first, *last;
};

void report_heading(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void report_text(struct report *report, enum tone tone, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void report_item(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What was gathered in `text`, which is done then; "" if nothing was, or after a failure. */
struct text;
const char *report_take(struct report *report, struct text *text);

/* The answer; its first `toned_bytes` alone have the tone. */
void report_lead(struct report *report, enum tone tone, uint32_t toned_bytes, const char *text);

/* "NAME: ...", where the name alone has the tone. */
void report_named(struct report *report, enum tone tone, const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* NULL after a failure; the table functions below take that. */
struct report_table *report_table(
	struct report *report, const struct report_column *columns, uint32_t column_count);

/* The cells of a row, from the left; report_row ends the row, whose missing cells are empty. */
void report_cell(struct report *report, struct report_table *table, enum tone tone,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
void report_bar(struct report *report, struct report_table *table, enum tone tone, double value);
void report_blank(struct report *report, struct report_table *table);
void report_row(struct report *report, struct report_table *table);

/* How a terminal, or what stands for one, wants it. */
struct text_style {
	uint32_t width; /* columns */
	bool has_color;
	bool has_unicode; /* bars of block characters; the locale must be UTF-8 */
};

/* Both return NUL-terminated bytes to be freed with mem_free, or NULL. */
char *report_print_text(
	const struct report *report, const struct text_style *style, struct err *err);
char *report_print_markdown(const struct report *report, struct err *err);

void report_done(struct report *report);
