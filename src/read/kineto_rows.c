#include "read/kineto_rows.h"

#include <string.h>

#include "base/mem.h"
#include "read/json_bytes.h"
#include "read/kineto_collective.h"
#include "read/kineto_names.h"

/* Two such times can be subtracted and added; the year 2043 is below it. */
#define MAX_TIME_NS	(INT64_C(1) << 61)
#define MAX_TOTAL_BYTES (INT64_C(1) << 52) /* 4 PiB: no GPU has it */

bool rows_init(
	struct kineto_rows *rows, struct trace *trace, struct json_scan *scan, struct err *err)
{
	*rows = (struct kineto_rows){.trace = trace, .scan = scan, .last_thread = NULL_U32};
	rows->scratch_bytes = 4096;
	rows->scratch = mem_new(rows->scratch_bytes, 1, err);
	return rows->scratch != NULL;
}

void rows_done(struct kineto_rows *rows)
{
	key_map_done(&rows->threads);
	key_map_done(&rows->streams);
	key_map_done(&rows->labels);
	mem_free(rows->name_flags);
	mem_free(rows->scratch);
	mem_free(rows->comms);
	mem_free(rows->label);
	*rows = (struct kineto_rows){0};
}

char *rows_scratch(struct kineto_rows *rows, size_t bytes, struct err *err)
{
	if (bytes > rows->scratch_bytes) {
		if (!mem_resize(&rows->scratch, bytes * 2, 1, err))
			return NULL;
		rows->scratch_bytes = bytes * 2;
	}
	return rows->scratch;
}

uint32_t rows_intern(struct kineto_rows *rows, const struct json_text *text, struct err *err)
{
	const char *bytes = json_text_bytes(rows->scan, text);
	size_t length = text->length;
	if (!text->is_plain) {
		char *scratch = rows_scratch(rows, length * 3 + 1, err);
		if (!scratch)
			return UINT32_MAX;
		length = json_text_decode(bytes, length, scratch);
		bytes = scratch;
	}
	return intern_put(&rows->trace->strings, bytes, length, err);
}

bool rows_name(struct kineto_rows *rows, const struct json_text *name, uint32_t *ret_id,
	uint8_t *ret_flags, struct err *err)
{
	const uint32_t id = rows_intern(rows, name, err);
	if (id == UINT32_MAX)
		return false;
	if (id >= rows->name_flags_count) {
		const uint32_t count = rows->trace->strings.capacity;
		if (!mem_resize(&rows->name_flags, count, 1, err))
			return false;
		memset(rows->name_flags + rows->name_flags_count, 0,
			count - rows->name_flags_count);
		rows->name_flags_count = count;
	}
	if (!rows->name_flags[id])
		rows->name_flags[id] = name_flags_of(intern_text(&rows->trace->strings, id));
	*ret_id = id;
	*ret_flags = rows->name_flags[id];
	return true;
}

static void count(struct kineto_rows *rows, enum diag_kind kind, const struct event *event)
{
	diag_add(&rows->trace->diag, kind, 1, (int64_t)event->offset);
}

/* A place as a number; texts get one that no process has, from their string's id. */
static bool number_of_place(
	struct kineto_rows *rows, const struct event_place *place, int64_t *ret, struct err *err)
{
	*ret = place->number;
	if (place->number != NULL_I64 || place->text.length == 0)
		return true;
	const uint32_t id = rows_intern(rows, &place->text, err);
	*ret = INT64_MIN + 1 + id;
	return id != UINT32_MAX;
}

static bool thread_of(
	struct kineto_rows *rows, const struct event *event, uint32_t *ret, struct err *err)
{
	int64_t pid, tid;
	if (!number_of_place(rows, &event->pid, &pid, err) ||
		!number_of_place(rows, &event->tid, &tid, err))
		return false;
	if (pid == rows->last_pid && tid == rows->last_tid && rows->last_thread != NULL_U32) {
		*ret = rows->last_thread;
		return true;
	}
	uint32_t thread = key_map_get(&rows->threads, pid, tid);
	if (thread == UINT32_MAX) {
		thread = rows->trace->threads.head.count;
		if (!TRACE_PUSH(
			    &rows->trace->threads, thread_table, err, .pid = pid, .os_tid = tid) ||
			!key_map_put(&rows->threads, pid, tid, thread, err))
			return false;
	}
	rows->last_pid = pid;
	rows->last_tid = tid;
	*ret = rows->last_thread = thread;
	return true;
}

static int32_t fit_i32(int64_t value)
{
	return value < INT32_MIN || value > INT32_MAX ? NULL_I32 : (int32_t)value;
}

static uint32_t fit_u32(int64_t value)
{
	return value < 0 || value >= NULL_U32 ? NULL_U32 : (uint32_t)value;
}

/* CUPTI counts from 1 in 32 bits; 0 stands for none. */
static uint32_t correlation_of(const struct event *event)
{
	const int64_t value = event_integer(event, ARG_CORRELATION, 0);
	return value == 0 ? NULL_U32 : (uint32_t)value;
}

static bool stream_row(struct kineto_rows *rows, int64_t device, int64_t stream, int64_t context,
	int64_t priority, uint32_t *ret, struct err *err)
{
	const uint32_t known = key_map_get(&rows->streams, device, stream);
	struct stream_table *streams = &rows->trace->streams;
	if (known != UINT32_MAX) {
		/* The least wins where they differ, so that the order of events doesn't. */
		int32_t *held = &streams->context[known];
		if (context != NULL_I32 && (*held == NULL_I32 || context < *held))
			*held = (int32_t)context;
		held = &streams->priority[known];
		if (priority != NULL_I32 && (*held == NULL_I32 || priority < *held))
			*held = (int32_t)priority;
		*ret = known;
		return true;
	}
	*ret = streams->head.count;
	return TRACE_PUSH(streams, stream_table, err, .device = fit_i32(device),
		       .cuda_stream = stream, .context = (int32_t)context,
		       .priority = (int32_t)priority) &&
	       key_map_put(&rows->streams, device, stream, *ret, err);
}

/* The number of a row that was a text once: "stream 7". */
static int64_t trailing_number(const struct kineto_rows *rows, const struct event_place *place)
{
	if (place->number != NULL_I64)
		return place->number;
	const char *text = json_text_bytes(rows->scan, &place->text);
	uint32_t from = place->text.length;
	while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9')
		from--;
	struct decimal number;
	int64_t value;
	if (!decimal_from_text(text + from, place->text.length - from, &number) ||
		!decimal_i64(&number, &value))
		return 0;
	return value;
}

static bool stream_of(
	struct kineto_rows *rows, const struct event *event, uint32_t *ret, struct err *err)
{
	const int64_t device = event_has(event, ARG_DEVICE) ? event->integer[ARG_DEVICE]
			       : event_has_key(event, KEY_PID) && event->pid.number != NULL_I64
				       ? event->pid.number
				       : 0;
	const int64_t stream = event_has(event, ARG_STREAM)    ? event->integer[ARG_STREAM]
			       : event_has_key(event, KEY_TID) ? trailing_number(rows, &event->tid)
							       : 0;
	return stream_row(rows, device, stream,
		fit_i32(event_integer(event, ARG_CONTEXT, NULL_I32)),
		fit_i32(event_integer(event, ARG_PRIORITY, NULL_I32)), ret, err);
}

/* Start and end of a complete event; false and counted where they are not to be had. */
static bool times_of(
	struct kineto_rows *rows, const struct event *event, int64_t *ret_start, int64_t *ret_end)
{
	int64_t duration = event->dur_ns;
	if (event->ts_ns == NULL_I64 || duration == NULL_I64 || !event_has_key(event, KEY_NAME)) {
		count(rows, DIAG_BAD_FIELD, event);
		return false;
	}
	if (duration < 0) {
		count(rows, DIAG_NEGATIVE_DURATION, event);
		duration = 0;
	}
	*ret_start = event->ts_ns;
	if (event->ts_ns < -MAX_TIME_NS || event->ts_ns > MAX_TIME_NS || duration > MAX_TIME_NS) {
		count(rows, DIAG_BAD_FIELD, event);
		return false;
	}
	*ret_end = event->ts_ns + duration;
	return true;
}

/* Bytes of JSON as they stand, with what is no printable ASCII made harmless. */
static size_t copy_raw(const struct kineto_rows *rows, const struct json_text *raw, char *to)
{
	const char *from = json_text_bytes(rows->scan, raw);
	for (uint32_t i = 0; i < raw->length; i++)
		to[i] = (unsigned char)(from[i] - 0x20) < 0x5f ? from[i] : ' ';
	return raw->length;
}

static bool shapes_of(
	struct kineto_rows *rows, const struct event *event, uint32_t *ret, struct err *err)
{
	*ret = 0;
	if (!event_has(event, ARG_DIMS))
		return true;
	const struct json_text *dims = &event->text[ARG_DIMS];
	const struct json_text none = {0};
	const struct json_text *types =
		event_has(event, ARG_TYPES) ? &event->text[ARG_TYPES] : &none;
	char *text = rows_scratch(rows, (size_t)dims->length + types->length + 1, err);
	if (!text)
		return false;
	size_t length = copy_raw(rows, dims, text);
	text[length++] = '\n';
	if (types->length)
		length += copy_raw(rows, types, text + length);
	*ret = intern_put(&rows->trace->strings, text, length, err);
	return *ret != UINT32_MAX;
}

static bool is_false(const struct kineto_rows *rows, const struct json_text *text)
{
	return text->length == 5 && memcmp(json_text_bytes(rows->scan, text), "false", 5) == 0;
}

static bool add_host_op(
	struct kineto_rows *rows, const struct event *event, enum host_kind kind, struct err *err)
{
	struct trace *trace = rows->trace;
	struct host_op_table_row row = {.kind = (uint8_t)kind};
	uint8_t flags;
	if (kind != HOST_PYTHON)
		trace->host_event_count++;
	if (!times_of(rows, event, &row.start_ns, &row.end_ns))
		return true;
	if (event_has(event, ARG_FINISHED) && is_false(rows, &event->text[ARG_FINISHED]))
		count(rows, DIAG_UNFINISHED_EVENT, event);
	if (!rows_name(rows, &event->name, &row.name_id, &flags, err) ||
		!thread_of(rows, event, &row.thread_id, err))
		return false;
	row.sequence = event_integer(event, ARG_SEQUENCE, NULL_I64);
	row.forward_thread = fit_i32(event_integer(event, ARG_FORWARD_THREAD, NULL_I32));
	if (flags & NAME_KEEPS_SHAPES && !shapes_of(rows, event, &row.shapes_id, err))
		return false;
	if (flags & NAME_IS_COMMS && !rows_note_comms(rows, event, &row, err))
		return false;
	trace->has.shapes |= event_has(event, ARG_DIMS);
	return host_op_table_push(&trace->host_ops, &row, err);
}

static bool add_api_call(struct kineto_rows *rows, const struct event *event, struct err *err)
{
	struct api_call_table_row row = {.result = NULL_I32};
	uint8_t flags;
	rows->trace->host_event_count++;
	if (!times_of(rows, event, &row.start_ns, &row.end_ns))
		return true;
	if (!rows_name(rows, &event->name, &row.name_id, &flags, err))
		return false;
	if (flags & NAME_IS_QUERY)
		return true;
	if (!thread_of(rows, event, &row.thread_id, err))
		return false;
	row.correlation = correlation_of(event);
	return api_call_table_push(&rows->trace->api_calls, &row, err);
}

static bool add_gpu_op(
	struct kineto_rows *rows, const struct event *event, enum gpu_kind kind, struct err *err)
{
	struct trace *trace = rows->trace;
	struct gpu_op_table_row row = {.api_call_id = NULL_U32, .kind = (uint8_t)kind};
	uint8_t flags;
	if (!times_of(rows, event, &row.start_ns, &row.end_ns))
		return true;
	if (!rows_name(rows, &event->name, &row.name_id, &flags, err) ||
		!stream_of(rows, event, &row.stream_id, err))
		return false;
	const uint32_t none[3] = {NULL_U32, NULL_U32, NULL_U32};
	const uint32_t *grid = event_has(event, ARG_GRID) ? event->grid : none;
	const uint32_t *block = event_has(event, ARG_BLOCK) ? event->block : none;
	row.bytes = kind == GPU_KERNEL ? NULL_I64 : event_integer(event, ARG_BYTES, NULL_I64);
	row.graph_node = event_integer(event, ARG_GRAPH_NODE, NULL_I64);
	row.correlation = correlation_of(event);
	row.grid_x = grid[0];
	row.grid_y = grid[1];
	row.grid_z = grid[2];
	row.block_x = block[0];
	row.block_y = block[1];
	row.block_z = block[2];
	row.shared_bytes = fit_u32(event_integer(event, ARG_SHARED, -1));
	const uint32_t gpu_op = trace->gpu_ops.head.count;
	if (!gpu_op_table_push(&trace->gpu_ops, &row, err))
		return false;
	return kind != GPU_KERNEL || !(flags & NAME_IS_NCCL) ||
	       rows_add_collective(rows, event, gpu_op, row.name_id, err);
}

/*
 * A stream that waits for an event.  Until rows_finish both calls' columns hold correlation ids,
 * since the calls may not have been read yet.
 */
static bool add_sync(struct kineto_rows *rows, const struct event *event, struct err *err)
{
	uint32_t name_id, waiting, recorded = NULL_U32;
	uint8_t flags;
	if (!event_has_key(event, KEY_NAME))
		return true;
	if (!rows_name(rows, &event->name, &name_id, &flags, err))
		return false;
	if (strcmp(intern_text(&rows->trace->strings, name_id), "Stream Wait Event") != 0)
		return true;
	rows->trace->has.sync_edges = true;
	if (!stream_of(rows, event, &waiting, err))
		return false;
	const int64_t recorded_stream = event_integer(event, ARG_WAIT_STREAM, -1);
	if (recorded_stream >= 0 && !stream_row(rows, rows->trace->streams.device[waiting],
					    recorded_stream, NULL_I32, NULL_I32, &recorded, err))
		return false;
	const int64_t record = event_integer(event, ARG_WAIT_RECORD, 0);
	return TRACE_PUSH(&rows->trace->stream_waits, stream_wait_table, err,
		.api_call_id = correlation_of(event), .waiting_stream_id = waiting,
		.recorded_stream_id = recorded,
		.record_call_id = record > 0 ? fit_u32(record) : NULL_U32,
		.event = event_integer(event, ARG_WAIT_EVENT, NULL_I64));
}

/* A total of bytes; one that no machine has is unknown. */
static int64_t total_bytes(struct kineto_rows *rows, const struct event *event, enum event_arg arg)
{
	const int64_t bytes = event_integer(event, arg, NULL_I64);
	if (bytes >= 0 && bytes <= MAX_TOTAL_BYTES)
		return bytes;
	if (bytes != NULL_I64)
		count(rows, DIAG_BAD_FIELD, event);
	return NULL_I64;
}

static bool add_instant(struct kineto_rows *rows, const struct event *event, struct err *err)
{
	static const char memory[] = "[memory]";
	if (event->name.length != sizeof memory - 1 || !event_has_key(event, KEY_NAME) ||
		memcmp(json_text_bytes(rows->scan, &event->name), memory, sizeof memory - 1) != 0)
		return true;
	rows->trace->has.memory = true;
	if (event_integer(event, ARG_DEVICE_TYPE, 0) != 1)
		return true; /* 0 is the host's own memory */
	if (event->ts_ns < -MAX_TIME_NS || event->ts_ns > MAX_TIME_NS ||
		!event_has(event, ARG_MEMORY_BYTES)) {
		count(rows, DIAG_BAD_FIELD, event);
		return true;
	}
	return TRACE_PUSH(&rows->trace->memory, memory_table, err, .at_ns = event->ts_ns,
		.address = event_integer(event, ARG_ADDRESS, NULL_I64),
		.bytes = event->integer[ARG_MEMORY_BYTES],
		.allocated_bytes = total_bytes(rows, event, ARG_TOTAL_ALLOCATED),
		.reserved_bytes = total_bytes(rows, event, ARG_TOTAL_RESERVED),
		.device = fit_i32(event_integer(event, ARG_DEVICE_ID, NULL_I32)));
}

/*
 * thread_name records: "thread 644 (pt_autograd_0)", "stream 7 ".  A thread may have several, as
 * `python` and then its own: pt_autograd wins wherever it stands, else the last in the alphabet, so
 * that the order of events plays no part.
 */
static bool add_label(struct kineto_rows *rows, const struct event *event, struct err *err)
{
	static const char autograd[] = "pt_autograd";
	if (!event_has_key(event, KEY_NAME) || !event_has(event, ARG_LABEL) ||
		event->name.length != strlen("thread_name") ||
		memcmp(json_text_bytes(rows->scan, &event->name), "thread_name",
			event->name.length) != 0)
		return true;
	struct json_text name = event->text[ARG_LABEL];
	const char *bytes = json_text_bytes(rows->scan, &name);
	if (name.length >= 7 && memcmp(bytes, "stream ", 7) == 0)
		return true;
	const char *open = memchr(bytes, '(', name.length);
	if (open && name.length > 1 && bytes[name.length - 1] == ')') {
		const uint32_t skipped = (uint32_t)(open - bytes) + 1;
		name.offset += skipped;
		name.length -= skipped + 1;
	}
	struct thread_label label = {0};
	label.name_id = rows_intern(rows, &name, err);
	if (label.name_id == UINT32_MAX || !number_of_place(rows, &event->pid, &label.pid, err) ||
		!number_of_place(rows, &event->tid, &label.tid, err))
		return false;
	const char *text = intern_text(&rows->trace->strings, label.name_id);
	label.is_autograd = strncmp(text, autograd, sizeof autograd - 1) == 0;
	const uint32_t known = key_map_get(&rows->labels, label.pid, label.tid);
	if (known != UINT32_MAX) {
		struct thread_label *held = &rows->label[known];
		const int order = strcmp(text, intern_text(&rows->trace->strings, held->name_id));
		if (label.is_autograd > held->is_autograd ||
			(label.is_autograd == held->is_autograd && order > 0))
			*held = label;
		return true;
	}
	if (rows->label_count == rows->label_capacity) {
		const uint32_t capacity = rows->label_capacity ? rows->label_capacity * 2 : 32;
		if (!mem_resize(&rows->label, capacity, sizeof *rows->label, err))
			return false;
		rows->label_capacity = capacity;
	}
	rows->label[rows->label_count] = label;
	return key_map_put(&rows->labels, label.pid, label.tid, rows->label_count++, err);
}

bool rows_add(struct kineto_rows *rows, const struct event *event, struct err *err)
{
	switch (event->class) {
	case EVENT_HOST_OP:
		return add_host_op(rows, event, HOST_OP, err);
	case EVENT_ANNOTATION:
		return add_host_op(rows, event, HOST_ANNOTATION, err);
	case EVENT_PYTHON:
		rows->trace->has.stacks |= event->is_left_out;
		return event->is_left_out || add_host_op(rows, event, HOST_PYTHON, err);
	case EVENT_API_CALL:
		return add_api_call(rows, event, err);
	case EVENT_KERNEL:
		return add_gpu_op(rows, event, GPU_KERNEL, err);
	case EVENT_MEMCPY:
		return add_gpu_op(rows, event, GPU_MEMCPY, err);
	case EVENT_MEMSET:
		return add_gpu_op(rows, event, GPU_MEMSET, err);
	case EVENT_SYNC:
		return add_sync(rows, event, err);
	case EVENT_INSTANT:
		return add_instant(rows, event, err);
	case EVENT_METADATA:
		return add_label(rows, event, err);
	case EVENT_UNKNOWN:
		count(rows, DIAG_UNKNOWN_CATEGORY, event);
		return true;
	case EVENT_UNSURE:
		count(rows, DIAG_BAD_FIELD, event);
		return true;
	case EVENT_IGNORED:
		break;
	}
	return true;
}
