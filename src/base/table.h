/*
 * Tables of columns: one array a field, rows told by index.  A table's fields are declared once, in
 * an X-macro list of (C type, name, meaning); from the list come the struct, the row for literals,
 * and a description that generic code (growth, reordering, SQL) reads.
 *
 * A column without a value holds its type's null: INT64_MIN, INT32_MIN or UINT32_MAX.  uint8_t
 * columns hold enumerations, whose 0 is the word `unknown` or `none`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define NULL_I64 INT64_MIN
#define NULL_I32 INT32_MIN
#define NULL_U32 UINT32_MAX

#define TABLE_MAX_ROWS (UINT32_MAX - 1) /* row numbers are uint32_t; UINT32_MAX is null */

enum column_type {
	COLUMN_I64,
	COLUMN_I32,
	COLUMN_U32,
	COLUMN_U8
};

struct column_desc {
	const char *name;
	enum column_type type;
	size_t offset;	   /* of the column pointer in the table struct */
	size_t row_offset; /* of the value in the row struct */
	size_t size;	   /* bytes of one value */
	const char *doc;
};

struct table_desc {
	const char *name;
	const struct column_desc *columns;
	uint32_t column_count;
};

/* Every table struct begins so. */
struct table_head {
	uint32_t count;
	uint32_t capacity;
};

#define COLUMN_TYPE(type)               \
	_Generic((type)0, int64_t       \
		 : COLUMN_I64, int32_t  \
		 : COLUMN_I32, uint32_t \
		 : COLUMN_U32, uint8_t  \
		 : COLUMN_U8)

/* Adds a row (a pointer to the table's row struct).  ERR_NOMEM, or ERR_INPUT past the row limit. */
bool table_push(void *table, const struct table_desc *desc, const void *row, struct err *err);

/* Makes room for as many rows again. */
bool table_grow(void *table, const struct table_desc *desc, struct err *err);

#define TABLE_FIELD_(type, name, doc)	  type *name;
#define TABLE_ROW_FIELD_(type, name, doc) type name;
#define TABLE_PUT_(type, name, doc)	  table->name[at] = row->name;

/*
 * Declares `struct TABLE`, `struct TABLE_row`, `extern const struct table_desc TABLE_desc`, and
 * `TABLE_push`, which is table_push where the columns are known.
 */
#define TABLE_DECLARE(table_name, COLUMNS)                                                     \
	struct table_name {                                                                    \
		struct table_head head;                                                        \
		COLUMNS(TABLE_FIELD_)                                                          \
	};                                                                                     \
	struct table_name##_row {                                                              \
		COLUMNS(TABLE_ROW_FIELD_)                                                      \
	};                                                                                     \
	extern const struct table_desc table_name##_desc;                                      \
	static inline bool table_name##_push(                                                  \
		struct table_name *table, const struct table_name##_row *row, struct err *err) \
	{                                                                                      \
		if (table->head.count == table->head.capacity &&                               \
			!table_grow(table, &table_name##_desc, err))                           \
			return false;                                                          \
		const uint32_t at = table->head.count++;                                       \
		COLUMNS(TABLE_PUT_)                                                            \
		return true;                                                                   \
	}

/* Puts the rows into the order `order[0..count)`, which is a permutation of the row numbers. */
bool table_reorder(
	void *table, const struct table_desc *desc, const uint32_t *order, struct err *err);

/* Keeps the rows whose `keep` byte isn't zero, in their order. */
void table_filter(void *table, const struct table_desc *desc, const uint8_t *keep);

/* Gives back what growth took too much of. */
void table_trim(void *table, const struct table_desc *desc);

void table_done(void *table, const struct table_desc *desc);

/* One value of a row as int64_t; `ret_null` says that it is its type's null. */
int64_t table_get(
	const void *table, const struct column_desc *column, uint32_t row, bool *ret_null);
