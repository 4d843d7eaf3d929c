#include "base/table.h"

#include <string.h>

#include "base/mem.h"

static char **column_of(void *table, const struct column_desc *column)
{
	return (char **)((char *)table + column->offset);
}

bool table_grow(void *table, const struct table_desc *desc, struct err *err)
{
	struct table_head *head = table;
	if (head->count >= TABLE_MAX_ROWS / 2)
		return err_set(
			err, ERR_INPUT, "more than %u rows of %s", TABLE_MAX_ROWS / 2, desc->name);
	const uint32_t capacity = head->capacity ? head->capacity * 2 : 64;
	for (uint32_t c = 0; c < desc->column_count; c++)
		if (!mem_resize(column_of(table, &desc->columns[c]), capacity,
			    desc->columns[c].size, err))
			return false;
	head->capacity = capacity;
	return true;
}

bool table_push(void *table, const struct table_desc *desc, const void *row, struct err *err)
{
	struct table_head *head = table;
	if (head->count == head->capacity && !table_grow(table, desc, err))
		return false;
	for (uint32_t c = 0; c < desc->column_count; c++) {
		const struct column_desc *column = &desc->columns[c];
		char *to = *column_of(table, column) + (size_t)head->count * column->size;
		const char *from = (const char *)row + column->row_offset;
		switch (column->size) {
		case 8:
			memcpy(to, from, 8);
			break;
		case 4:
			memcpy(to, from, 4);
			break;
		default:
			*to = *from;
		}
	}
	head->count++;
	return true;
}

bool table_reorder(
	void *table, const struct table_desc *desc, const uint32_t *order, struct err *err)
{
	struct table_head *head = table;
	const uint32_t count = head->count;
	/* One for all columns: memory touched for the first time is dear. */
	void *sorted = mem_new(count, sizeof(int64_t), err);
	if (!sorted)
		return false;
	for (uint32_t c = 0; c < desc->column_count; c++) {
		const size_t size = desc->columns[c].size;
		char *column = *column_of(table, &desc->columns[c]);
		if (size == 8)
			for (uint32_t i = 0; i < count; i++)
				((uint64_t *)sorted)[i] = ((const uint64_t *)column)[order[i]];
		else if (size == 4)
			for (uint32_t i = 0; i < count; i++)
				((uint32_t *)sorted)[i] = ((const uint32_t *)column)[order[i]];
		else
			for (uint32_t i = 0; i < count; i++)
				((char *)sorted)[i] = column[order[i]];
		memcpy(column, sorted, count * size);
	}
	mem_free(sorted);
	return true;
}

void table_filter(void *table, const struct table_desc *desc, const uint8_t *keep)
{
	struct table_head *head = table;
	uint32_t kept = 0;
	for (uint32_t c = 0; c < desc->column_count; c++) {
		const size_t size = desc->columns[c].size;
		char *column = *column_of(table, &desc->columns[c]);
		kept = 0;
		for (uint32_t i = 0; i < head->count; i++)
			if (keep[i])
				memmove(column + kept++ * size, column + i * size, size);
	}
	head->count = kept;
}

void table_trim(void *table, const struct table_desc *desc)
{
	struct table_head *head = table;
	if (head->capacity == head->count)
		return;
	/* A shrink that fails leaves the larger block, which is as good. */
	for (uint32_t c = 0; c < desc->column_count; c++)
		mem_resize(column_of(table, &desc->columns[c]), head->count, desc->columns[c].size,
			NULL);
	head->capacity = head->count;
}

void table_done(void *table, const struct table_desc *desc)
{
	for (uint32_t c = 0; c < desc->column_count; c++) {
		char **column = column_of(table, &desc->columns[c]);
		mem_free(*column);
		*column = NULL;
	}
	*(struct table_head *)table = (struct table_head){0};
}

int64_t table_get(const void *table, const struct column_desc *column, uint32_t row, bool *ret_null)
{
	const char *at =
		*(char *const *)((const char *)table + column->offset) + row * column->size;
	switch (column->type) {
	case COLUMN_I64: {
		int64_t value;
		memcpy(&value, at, sizeof value);
		*ret_null = value == NULL_I64;
		return value;
	}
	case COLUMN_I32: {
		int32_t value;
		memcpy(&value, at, sizeof value);
		*ret_null = value == NULL_I32;
		return value;
	}
	case COLUMN_U32: {
		uint32_t value;
		memcpy(&value, at, sizeof value);
		*ret_null = value == NULL_U32;
		return value;
	}
	case COLUMN_U8:
		break;
	}
	*ret_null = false;
	return (uint8_t)*at;
}
