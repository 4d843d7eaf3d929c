/*
 * One rank's recording as columns.  A reader fills it and seals it; from then on it is read-only.
 * Knows nothing of where it came from but the name of the source, and nothing of what it means.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/intern.h"
#include "base/table.h"
#include "trace/columns.h"

enum thread_role {
	THREAD_UNKNOWN,
	THREAD_MAIN,
	THREAD_AUTOGRAD
};
enum host_kind {
	HOST_OP,
	HOST_ANNOTATION,
	HOST_PYTHON
};
enum gpu_kind {
	GPU_KERNEL,
	GPU_MEMCPY,
	GPU_MEMSET
};
enum collective_kind {
	COLLECTIVE_OTHER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_SEND_RECV,
	COLLECTIVE_BROADCAST,
};
enum marker_kind {
	MARKER_OTHER,
	MARKER_STEP,
	MARKER_FORWARD,
	MARKER_BACKWARD,
	MARKER_OPTIMIZER,
	MARKER_CHECKPOINT,
	MARKER_RECOMPUTE,
	MARKER_UNIT,
};
enum trace_source {
	SOURCE_UNKNOWN,
	SOURCE_KINETO,
	SOURCE_NSYS,
	SOURCE_RECORDER
};

TABLE_DECLARE(thread_table, THREAD_COLUMNS)
TABLE_DECLARE(stream_table, STREAM_COLUMNS)
TABLE_DECLARE(host_op_table, HOST_OP_COLUMNS)
TABLE_DECLARE(api_call_table, API_CALL_COLUMNS)
TABLE_DECLARE(gpu_op_table, GPU_OP_COLUMNS)
TABLE_DECLARE(collective_table, COLLECTIVE_COLUMNS)
TABLE_DECLARE(stream_wait_table, STREAM_WAIT_COLUMNS)
TABLE_DECLARE(marker_table, MARKER_COLUMNS)
TABLE_DECLARE(memory_table, MEMORY_COLUMNS)
TABLE_DECLARE(clock_table, CLOCK_COLUMNS)

/* What the recording was asked to hold. */
struct trace_has {
	bool shapes;	 /* input shapes of host ops */
	bool memory;	 /* allocator events */
	bool stacks;	 /* Python stacks */
	bool sync_edges; /* which event a stream waits for */
	bool nccl;	 /* sizes and process groups of collectives */
};

struct trace {
	char *file;   /* the recording, as it was named to its first reader: what answers name */
	char *opened; /* the file this came from, for messages; equal unless it was imported */
	enum trace_source source;
	int32_t rank;		  /* null if unknown */
	int32_t world_size;	  /* null if unknown */
	int32_t data_parallel;	  /* ranks that train on different tokens, null if unknown */
	int64_t base_unix_ns;	  /* trace time 0 in CLOCK_REALTIME; 0 if the trace does not say */
	int64_t event_count;	  /* every whole element of the source's event list */
	int64_t host_event_count; /* host ops, annotations and API calls of the source, kept or not
				   */
	uint32_t gpu_name_id;	  /* string: the device's name, empty if unknown */
	int64_t gpu_memory_bytes; /* the device's memory, null if unknown */
	struct trace_has has;
	struct diag diag;
	struct intern strings;
	struct thread_table threads;
	struct stream_table streams;
	struct host_op_table host_ops;	     /* sealed: by thread, start, then longest first */
	struct api_call_table api_calls;     /* sealed: by thread, start, then longest first */
	struct gpu_op_table gpu_ops;	     /* sealed: by stream, start, end */
	struct collective_table collectives; /* sealed: by gpu_op_id, nulls last */
	struct stream_wait_table stream_waits;
	struct marker_table markers; /* sealed: by start, then longest first */
	struct memory_table memory;  /* sealed: by time */
	struct clock_table clocks;
};

bool trace_init(struct trace *trace, struct err *err);
void trace_done(struct trace *trace);

bool trace_set_file(struct trace *trace, const char *path, struct err *err);
bool trace_set_opened(struct trace *trace, const char *path, struct err *err);

/* What messages call the trace: the file that was opened, where that is known. */
const char *trace_called(const struct trace *trace);

/*
 * Sorts every table as said above (the order never depends on the order of the rows that came in),
 * joins GPU ops with their launch calls by correlation, trims, and counts what is off.
 * The collectives' gpu_op_id and the waits' call ids follow their rows.
 */
bool trace_seal(struct trace *trace, struct err *err);

/* Every stored table, for code that treats them alike. */
struct trace_table {
	const char *name;
	const struct table_desc *desc;
	size_t offset; /* of the table in struct trace */
};
extern const struct trace_table trace_tables[];
extern const uint32_t trace_table_count;

/* Shorthands: the row structs stay readable at the call. */
#define TRACE_PUSH(table, table_name, err, ...) \
	table_name##_push((table), &(struct table_name##_row){__VA_ARGS__}, (err))
