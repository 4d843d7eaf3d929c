/*
 * The Kineto reader on any bytes, compressed ones too.  Laws: it ends; the window's size changes
 * nothing; what is sealed is in order and refers only to what is there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/byte_window.h"
#include "read/kineto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_bytes(
	const uint8_t *data, size_t size, size_t window_bytes, struct trace *ret, struct err *err)
{
	struct byte_window window;
	if (!trace_init(ret, err))
		abort();
	if (!byte_window_over(&window, (const char *)data, size, window_bytes, err))
		abort();
	const bool is_read = kineto_read_window(&window, ret, err) && trace_seal(ret, err);
	byte_window_done(&window);
	if (!is_read && err->code != ERR_INPUT)
		abort();
	return is_read;
}

static void must(bool law)
{
	if (!law)
		abort();
}

static void check(const struct trace *trace)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	for (uint32_t g = 0; g < ops->head.count; g++) {
		must(ops->start_ns[g] <= ops->end_ns[g]);
		must(ops->stream_id[g] < trace->streams.head.count);
		must(ops->name_id[g] < trace->strings.count);
		must(ops->api_call_id[g] == NULL_U32 ||
			ops->api_call_id[g] < trace->api_calls.head.count);
		must(g == 0 || ops->stream_id[g - 1] < ops->stream_id[g] ||
			(ops->stream_id[g - 1] == ops->stream_id[g] &&
				ops->start_ns[g - 1] <= ops->start_ns[g]));
	}
	const struct host_op_table *host = &trace->host_ops;
	for (uint32_t h = 0; h < host->head.count; h++) {
		must(host->start_ns[h] <= host->end_ns[h]);
		must(host->thread_id[h] < trace->threads.head.count);
		must(host->name_id[h] < trace->strings.count);
		must(host->shapes_id[h] < trace->strings.count);
	}
	for (uint32_t c = 0; c < trace->collectives.head.count; c++)
		must(trace->collectives.gpu_op_id[c] < ops->head.count);
}

/* Every value of every column, and every count. */
static void compare(const struct trace *a, const struct trace *b)
{
	must(a->event_count == b->event_count && a->strings.count == b->strings.count);
	must(memcmp(&a->diag, &b->diag, sizeof a->diag) == 0);
	for (uint32_t t = 0; t < trace_table_count; t++) {
		const struct table_desc *desc = trace_tables[t].desc;
		const char *left = (const char *)a + trace_tables[t].offset;
		const char *right = (const char *)b + trace_tables[t].offset;
		const uint32_t count = ((const struct table_head *)left)->count;
		must(count == ((const struct table_head *)right)->count);
		for (uint32_t c = 0; count && c < desc->column_count; c++)
			must(memcmp(*(char *const *)(left + desc->columns[c].offset),
				     *(char *const *)(right + desc->columns[c].offset),
				     count * desc->columns[c].size) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace wide, narrow;
	struct err wide_err = {0}, narrow_err = {0};
	const bool is_read = read_bytes(data, size, 0, &wide, &wide_err);
	must(is_read == read_bytes(data, size, 16 + size % 37, &narrow, &narrow_err));
	if (is_read) {
		check(&wide);
		compare(&wide, &narrow);
	} else {
		must(strcmp(wide_err.msg, narrow_err.msg) == 0);
	}
	trace_done(&wide);
	trace_done(&narrow);
	return 0;
}
