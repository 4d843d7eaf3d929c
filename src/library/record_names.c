#include "library/record_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/column_facts.h"

/* Of the C++ ABI; there is no header for C. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

/* The strings of a trace on their way into a new interner. */
struct moving {
	struct trace *trace;
	struct intern to;
	uint32_t *moved;     /* by old id: the new one, UINT32_MAX before it is asked for */
	uint8_t *is_mangled; /* by old id: names a GPU op, and is C++'s */
};

static bool put_name(struct moving *moving, uint32_t id, struct err *err)
{
	const struct intern *from = &moving->trace->strings;
	const char *text = intern_text(from, id);
	char *plain = moving->is_mangled[id] ? __cxa_demangle(text, NULL, NULL, &(int){0}) : NULL;
	moving->moved[id] = plain ? intern_put(&moving->to, plain, strlen(plain), err)
				  : intern_put(&moving->to, text, from->length[id], err);
	free(plain);
	return moving->moved[id] != UINT32_MAX;
}

static bool move_ids(struct moving *moving, uint32_t *ids, uint32_t count, struct err *err)
{
	for (uint32_t row = 0; row < count; row++) {
		if (moving->moved[ids[row]] == UINT32_MAX && !put_name(moving, ids[row], err))
			return false;
		ids[row] = moving->moved[ids[row]];
	}
	return true;
}

static bool move_table(struct moving *moving, const struct trace_table *table, struct err *err)
{
	char *base = (char *)moving->trace + table->offset;
	const uint32_t count = ((const struct table_head *)base)->count;
	for (uint32_t c = 0; c < table->desc->column_count; c++) {
		const struct column_desc *column = &table->desc->columns[c];
		if (column_target(column) == TARGET_STRING &&
			!move_ids(moving, *(uint32_t **)(base + column->offset), count, err))
			return false;
	}
	return true;
}

static void find_mangled(struct moving *moving)
{
	const struct gpu_op_table *ops = &moving->trace->gpu_ops;
	for (uint32_t op = 0; op < ops->head.count; op++) {
		const uint32_t id = ops->name_id[op];
		moving->is_mangled[id] =
			strncmp(intern_text(&moving->trace->strings, id), "_Z", 2) == 0;
	}
}

static bool move_all(struct moving *moving, struct err *err)
{
	const uint32_t count = moving->trace->strings.count;
	moving->moved = mem_new(count, sizeof *moving->moved, err);
	moving->is_mangled = moving->moved ? mem_new(count, 1, err) : NULL;
	if (!moving->is_mangled || !intern_init(&moving->to, err))
		return false;
	memset(moving->moved, 0xff, count * sizeof *moving->moved);
	find_mangled(moving);
	for (uint32_t t = 0; t < trace_table_count; t++)
		if (!move_table(moving, &trace_tables[t], err))
			return false;
	return move_ids(moving, &moving->trace->gpu_name_id, 1, err);
}

bool record_names_demangle(struct trace *trace, struct err *err)
{
	struct moving moving = {.trace = trace};
	const bool is_moved = move_all(&moving, err);
	if (is_moved) {
		const struct intern old = trace->strings;
		trace->strings = moving.to;
		moving.to = old;
	}
	intern_done(&moving.to);
	mem_free(moving.moved);
	mem_free(moving.is_mangled);
	if (!is_moved)
		return false;
	/* What sealing counts is counted already. */
	const struct diag diag = trace->diag;
	const bool is_sealed = trace_seal(trace, err);
	trace->diag = diag;
	return is_sealed;
}
