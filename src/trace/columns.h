/*
 * The columns of a trace, declared once: readers fill them, analyses read them, the SQLite store
 * writes and reads them under the same names.  X(C type, name, meaning); names ending in `_id` are
 * row numbers of the table they name (`name_id`, `shapes_id`, `dtype_id`, ... of strings).
 * Times are int64 nanoseconds since the trace's base_unix_ns.
 */
#pragma once

#define THREAD_COLUMNS(X)                                                \
	X(int64_t, pid, "process id as the trace says it")               \
	X(int64_t, os_tid, "thread id as the trace says it")             \
	X(uint32_t, name_id, "string: the thread's name, empty if none") \
	X(uint8_t, role, "enum thread_role")

#define STREAM_COLUMNS(X)                                         \
	X(int32_t, device, "GPU ordinal")                         \
	X(int32_t, context, "CUDA context id, null if unknown")   \
	X(int64_t, cuda_stream, "stream id as the trace says it") \
	X(int32_t, priority, "CUDA stream priority, null if unknown")

#define HOST_OP_COLUMNS(X)                                                                       \
	X(int64_t, start_ns, "start")                                                            \
	X(int64_t, end_ns, "end, never before the start")                                        \
	X(int64_t, sequence, "autograd sequence number, null if none")                           \
	X(uint32_t, thread_id, "thread")                                                         \
	X(uint32_t, name_id, "string: the op's or range's name")                                 \
	X(uint32_t, shapes_id,                                                                   \
		"string: 'Input Dims' JSON, a newline, 'Input type' JSON; kept for ops whose "   \
		"tokens or FLOPs are counted; empty if none")                                    \
	X(int32_t, forward_thread,                                                               \
		"record-function id of the thread that ran the forward op; 0 for a forward op; " \
		"null if none")                                                                  \
	X(uint8_t, kind, "enum host_kind")

#define API_CALL_COLUMNS(X)                                                                   \
	X(int64_t, start_ns, "start")                                                         \
	X(int64_t, end_ns, "end: the call's return")                                          \
	X(uint32_t, thread_id, "thread")                                                      \
	X(uint32_t, name_id, "string: the call's name")                                       \
	X(uint32_t, correlation, "joins the call with the GPU ops it launched; null if none") \
	X(int32_t, result, "CUDA's return code, null if unknown")

#define GPU_OP_COLUMNS(X)                                                           \
	X(int64_t, start_ns, "start on the GPU")                                    \
	X(int64_t, end_ns, "end on the GPU, never before the start")                \
	X(int64_t, bytes, "bytes moved by a copy or a memset, null for kernels")    \
	X(int64_t, graph_node, "CUDA graph node id, null if none")                  \
	X(uint32_t, stream_id, "stream")                                            \
	X(uint32_t, name_id, "string: the kernel's name")                           \
	X(uint32_t, correlation, "as in api_call, null if none")                    \
	X(uint32_t, api_call_id, "api_call that launched it, null if not recorded") \
	X(uint32_t, grid_x, "blocks, null if unknown")                              \
	X(uint32_t, grid_y, "blocks, null if unknown")                              \
	X(uint32_t, grid_z, "blocks, null if unknown")                              \
	X(uint32_t, block_x, "threads, null if unknown")                            \
	X(uint32_t, block_y, "threads, null if unknown")                            \
	X(uint32_t, block_z, "threads, null if unknown")                            \
	X(uint32_t, shared_bytes, "shared memory a block, null if unknown")         \
	X(uint8_t, kind, "enum gpu_kind")

#define COLLECTIVE_COLUMNS(X)                                                                      \
	X(int64_t, sequence, "number within its communicator where the trace says one, else null") \
	X(int64_t, send_bytes, "bytes this rank contributes, null if unknown")                     \
	X(int64_t, recv_bytes, "bytes this rank ends with, null if unknown")                       \
	X(uint32_t, gpu_op_id, "gpu_op that carries it, null if none was seen")                    \
	X(uint32_t, communicator_id, "string: process group and its ranks, empty if unknown")      \
	X(uint32_t, dtype_id, "string: element type, empty if unknown")                            \
	X(uint32_t, algorithm_id, "string: NCCL algorithm, empty if unknown")                      \
	X(uint32_t, protocol_id, "string: NCCL protocol, empty if unknown")                        \
	X(int32_t, group_size, "ranks in the communicator, null if unknown")                       \
	X(uint8_t, kind, "enum collective_kind")

#define STREAM_WAIT_COLUMNS(X)                                                               \
	X(uint32_t, api_call_id, "api_call that asked for the wait, null if not recorded")   \
	X(uint32_t, waiting_stream_id, "stream that waits, null if unknown")                 \
	X(uint32_t, recorded_stream_id, "stream whose event is waited for, null if unknown") \
	X(uint32_t, record_call_id, "api_call that recorded the event, null if unknown")     \
	X(int64_t, event, "event id, null if unknown")

#define MARKER_COLUMNS(X)                                                    \
	X(int64_t, start_ns, "start")                                        \
	X(int64_t, end_ns, "end, never before the start")                    \
	X(int64_t, region, "checkpoint region or unit number, null if none") \
	X(int64_t, value, "a number the marker carries, null if none")       \
	X(uint32_t, thread_id, "thread")                                     \
	X(uint32_t, name_id, "string: what it marks, as a unit's name")      \
	X(uint8_t, kind, "enum marker_kind")

#define MEMORY_COLUMNS(X)                                                                \
	X(int64_t, at_ns, "when")                                                        \
	X(int64_t, address, "device address, null if none")                              \
	X(int64_t, bytes, "allocated, negative when freed")                              \
	X(int64_t, allocated_bytes, "allocated on the device after it, null if unknown") \
	X(int64_t, reserved_bytes, "reserved on the device after it, null if unknown")   \
	X(int32_t, device, "GPU ordinal")

#define CLOCK_COLUMNS(X)                                       \
	X(int64_t, at_ns, "trace time")                        \
	X(int64_t, realtime_ns, "CLOCK_REALTIME at that time") \
	X(int64_t, monotonic_ns, "CLOCK_MONOTONIC at that time")
