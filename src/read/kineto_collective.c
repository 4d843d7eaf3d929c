#include "read/kineto_collective.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/json_bytes.h"
#include "read/kineto_names.h"

#define MAX_ELEMENTS (INT64_C(1) << 44) /* above any collective: no sum of bytes overflows */

/* "0 [0, 1]": the process group's name and its ranks. */
static bool communicator_of(
	struct kineto_rows *rows, const struct event *event, uint32_t *ret, struct err *err)
{
	const struct json_text none = {0};
	const struct json_text *name =
		event_has(event, ARG_GROUP_NAME) ? &event->text[ARG_GROUP_NAME] : &none;
	const struct json_text *ranks =
		event_has(event, ARG_GROUP_RANKS) ? &event->text[ARG_GROUP_RANKS] : &none;
	*ret = 0;
	if (name->length + ranks->length == 0)
		return true;
	char *text = rows_scratch(rows, 3 * ((size_t)name->length + ranks->length) + 1, err);
	if (!text)
		return false;
	size_t length = 0;
	if (name->length)
		length = json_text_decode(json_text_bytes(rows->scan, name), name->length, text);
	if (ranks->length) {
		if (length)
			text[length++] = ' ';
		length += json_text_decode(
			json_text_bytes(rows->scan, ranks), ranks->length, text + length);
	}
	*ret = intern_put(&rows->trace->strings, text, length, err);
	return *ret != UINT32_MAX;
}

static int64_t bytes_of(const struct event *event, enum event_arg arg, int64_t element_bytes)
{
	const int64_t elements = event_integer(event, arg, -1);
	return elements < 0 || elements > MAX_ELEMENTS || element_bytes == 0
		       ? NULL_I64
		       : elements * element_bytes;
}

static const struct collective_table_row empty_row = {.sequence = NULL_I64,
	.send_bytes = NULL_I64,
	.recv_bytes = NULL_I64,
	.gpu_op_id = NULL_U32,
	.group_size = NULL_I32};

/* What the arguments of a kernel or a record_param_comms op say. */
static bool row_of_args(struct kineto_rows *rows, const struct event *event,
	struct collective_table_row *ret, struct err *err)
{
	*ret = empty_row;
	if (event_has(event, ARG_COLLECTIVE)) {
		const uint32_t name = rows_intern(rows, &event->text[ARG_COLLECTIVE], err);
		if (name == UINT32_MAX)
			return false;
		ret->kind = (uint8_t)collective_kind_of(intern_text(&rows->trace->strings, name));
	}
	if (event_has(event, ARG_DTYPE)) {
		ret->dtype_id = rows_intern(rows, &event->text[ARG_DTYPE], err);
		if (ret->dtype_id == UINT32_MAX)
			return false;
	}
	const int64_t element = dtype_bytes(intern_text(&rows->trace->strings, ret->dtype_id));
	ret->send_bytes = bytes_of(event, ARG_IN_ELEMENTS, element);
	ret->recv_bytes = bytes_of(event, ARG_OUT_ELEMENTS, element);
	const int64_t size = event_integer(event, ARG_GROUP_SIZE, -1);
	if (size > 0 && size <= INT32_MAX)
		ret->group_size = (int32_t)size;
	ret->sequence = event_integer(event, ARG_COLLECTIVE_SEQUENCE, NULL_I64);
	return communicator_of(rows, event, &ret->communicator_id, err);
}

bool rows_add_collective(struct kineto_rows *rows, const struct event *event, uint32_t gpu_op,
	uint32_t kernel_name_id, struct err *err)
{
	struct collective_table_row row;
	if (!row_of_args(rows, event, &row, err))
		return false;
	row.gpu_op_id = gpu_op;
	rows->trace->has.nccl |= event_has(event, ARG_IN_ELEMENTS);
	/* A kernel's own name is exact; arguments name the call, as coalesced ones do vaguely. */
	if (row.kind == COLLECTIVE_OTHER)
		row.kind = (uint8_t)collective_kind_of(
			intern_text(&rows->trace->strings, kernel_name_id));
	return collective_table_push(&rows->trace->collectives, &row, err);
}

bool rows_note_comms(struct kineto_rows *rows, const struct event *event,
	const struct host_op_table_row *op, struct err *err)
{
	if (!event_has(event, ARG_COLLECTIVE))
		return true;
	if (rows->comms_count == rows->comms_capacity) {
		const uint32_t capacity = rows->comms_capacity ? rows->comms_capacity * 2 : 64;
		if (!mem_resize(&rows->comms, capacity, sizeof *rows->comms, err))
			return false;
		rows->comms_capacity = capacity;
	}
	struct comms *comms = &rows->comms[rows->comms_count];
	*comms = (struct comms){
		.start_ns = op->start_ns, .end_ns = op->end_ns, .thread_id = op->thread_id};
	if (!row_of_args(rows, event, &comms->row, err))
		return false;
	rows->comms_count++;
	return true;
}

static int compare_comms(const void *a, const void *b)
{
	const struct comms *left = a, *right = b;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->end_ns != right->end_ns)
		return left->end_ns > right->end_ns ? -1 : 1;
	return (left->row.recv_bytes > right->row.recv_bytes) -
	       (left->row.recv_bytes < right->row.recv_bytes);
}

/* The innermost op on `thread` around `at_ns`; few are nested, so few are looked at. */
static const struct comms *comms_around(
	const struct kineto_rows *rows, uint32_t thread, int64_t at_ns)
{
	uint32_t low = 0, high = rows->comms_count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct comms *comms = &rows->comms[middle];
		if (comms->thread_id < thread ||
			(comms->thread_id == thread && comms->start_ns <= at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t back = 0; back < 16 && low > back; back++) {
		const struct comms *comms = &rows->comms[low - 1 - back];
		if (comms->thread_id != thread)
			break;
		if (at_ns < comms->end_ns)
			return comms;
	}
	return NULL;
}

static bool lacks_args(const struct collective_table *table, uint32_t row)
{
	return table->recv_bytes[row] == NULL_I64 && table->send_bytes[row] == NULL_I64;
}

static void take_args(struct collective_table *table, uint32_t row, const struct comms *comms)
{
	const struct collective_table_row *from = &comms->row;
	table->send_bytes[row] = from->send_bytes;
	table->recv_bytes[row] = from->recv_bytes;
	table->dtype_id[row] = from->dtype_id;
	table->communicator_id[row] = from->communicator_id;
	table->group_size[row] = from->group_size;
	if (table->kind[row] == COLLECTIVE_OTHER)
		table->kind[row] = from->kind;
}

void rows_complete_collectives(struct kineto_rows *rows, const struct key_map *calls)
{
	struct trace *trace = rows->trace;
	struct collective_table *table = &trace->collectives;
	if (rows->comms_count)
		qsort(rows->comms, rows->comms_count, sizeof *rows->comms, compare_comms);
	for (uint32_t c = 0; c < table->head.count; c++) {
		const bool lacks = lacks_args(table, c);
		if (!lacks && table->sequence[c] != NULL_I64)
			continue;
		const uint32_t correlation = trace->gpu_ops.correlation[table->gpu_op_id[c]];
		const uint32_t call =
			correlation == NULL_U32 ? UINT32_MAX : key_map_get(calls, correlation, 0);
		const struct comms *comms =
			call == UINT32_MAX ? NULL
					   : comms_around(rows, trace->api_calls.thread_id[call],
						     trace->api_calls.start_ns[call]);
		if (comms && lacks)
			take_args(table, c, comms);
		/* Several kernels of one call share its number; they are told by their order. */
		if (comms && table->sequence[c] == NULL_I64)
			table->sequence[c] = comms->row.sequence;
		trace->has.nccl |= !lacks_args(table, c);
		diag_add(&trace->diag, DIAG_NO_COLLECTIVE_ARGS, lacks_args(table, c), -1);
	}
}
