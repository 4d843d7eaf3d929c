/*
 * The SQLite file while it grows: rows, texts, facts, transactions.  Knows the schema's tables and
 * nothing of what the rows mean.  After the first failure everything does nothing, and
 * file_failure() says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_NULL INT64_MIN /* a value that is stored as NULL */

/* X(NAME, table, columns in the order of the values) */
#define FILE_TABLES(X)                                                                             \
	X(THREAD, thread, "pid, os_tid, name_id, role")                                            \
	X(STREAM, stream, "device, context, cuda_stream, priority")                                \
	X(HOST_OP, host_op,                                                                        \
		"start_ns, end_ns, sequence, thread_id, name_id, shapes_id, forward_thread, kind") \
	X(API_CALL, api_call, "start_ns, end_ns, thread_id, name_id, correlation, result")         \
	X(GPU_OP, gpu_op,                                                                          \
		"start_ns, end_ns, bytes, graph_node, stream_id, name_id, correlation,"            \
		" api_call_id, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,"   \
		" kind")                                                                           \
	X(COLLECTIVE, collective,                                                                  \
		"sequence, send_bytes, recv_bytes, gpu_op_id, communicator_id, dtype_id,"          \
		" algorithm_id, protocol_id, group_size, kind")                                    \
	X(STREAM_WAIT, stream_wait,                                                                \
		"api_call_id, waiting_stream_id, recorded_stream_id, record_call_id, event")       \
	X(MARKER, marker, "start_ns, end_ns, region, value, thread_id, name_id, kind")             \
	X(MEMORY, memory, "at_ns, address, bytes, allocated_bytes, reserved_bytes, device")        \
	X(CLOCK, clock, "at_ns, realtime_ns, monotonic_ns")

enum file_table {
#define X(name, table, columns) FILE_##name,
	FILE_TABLES(X)
#undef X
	FILE_TABLE_COUNT
};

/* Creates DIR/STEM.inq, or STEM-2.inq and so on where that is taken; nothing is overwritten. */
bool file_create(const char *dir, const char *stem);

bool file_is_open(void);

/* NULL while all is well. */
const char *file_failure(void);

/* Adds a row of as many values as the table has columns but id; its id. */
uint32_t file_add(enum file_table table, const int64_t *values);
#define FILE_ADD(table, ...) file_add((table), (const int64_t[]){__VA_ARGS__})

/* Rows so far. */
uint32_t file_count(enum file_table table);

/* Texts must be told apart and numbered by the caller. */
void file_add_string(uint32_t id, const char *text, size_t length);

void file_link_collective(uint32_t collective, uint32_t gpu_op);
void file_set_stream_device(uint32_t stream, uint32_t device);

/* FILE_NULL and NULL are stored as NULL; a key is overwritten. */
void file_set_number(const char *key, int64_t value);
void file_set_text(const char *key, const char *value);

/* A diagnostic, in place of the one of that kind; a count of 0 is none. */
void file_diagnose(const char *kind, const char *severity, int64_t count, const char *meaning);

/* Rows are safe from the process's death once committed. */
void file_commit(void);

/* Commits and closes.  After a failure: undoes what wasn't committed and leaves the reason. */
void file_finish(const char *stopped);
