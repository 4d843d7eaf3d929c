/*
 * The keys of a Kineto event that anything is made of.  What each kind of value is, kineto_event.c
 * says; all other keys are skipped.
 */
#pragma once

/* X(NAME, key, kind): the keys of an event. */
#define EVENT_KEYS(X)         \
	X(PH, "ph", TEXT)     \
	X(CAT, "cat", TEXT)   \
	X(NAME, "name", TEXT) \
	X(PID, "pid", PLACE)  \
	X(TID, "tid", PLACE)  \
	X(TS, "ts", TIME)     \
	X(DUR, "dur", TIME)   \
	X(ARGS, "args", ARGS)

/* X(NAME, key, kind): the keys of its args that anything is made of. */
#define EVENT_ARGS(X)                                                \
	X(CORRELATION, "correlation", INTEGER)                       \
	X(DEVICE, "device", INTEGER)                                 \
	X(CONTEXT, "context", INTEGER)                               \
	X(STREAM, "stream", INTEGER)                                 \
	X(PRIORITY, "priority", INTEGER)                             \
	X(BYTES, "bytes", INTEGER)                                   \
	X(GRAPH_NODE, "graph node id", INTEGER)                      \
	X(SHARED, "shared memory", INTEGER)                          \
	X(GRID, "grid", TRIPLE)                                      \
	X(BLOCK, "block", TRIPLE)                                    \
	X(SEQUENCE, "Sequence number", INTEGER)                      \
	X(FORWARD_THREAD, "Fwd thread id", INTEGER)                  \
	X(DIMS, "Input Dims", RAW)                                   \
	X(TYPES, "Input type", RAW)                                  \
	X(FINISHED, "finished", WORD)                                \
	X(COLLECTIVE, "Collective name", TEXT)                       \
	X(DTYPE, "dtype", TEXT)                                      \
	X(IN_ELEMENTS, "In msg nelems", INTEGER)                     \
	X(OUT_ELEMENTS, "Out msg nelems", INTEGER)                   \
	X(GROUP_SIZE, "Group size", INTEGER)                         \
	X(GROUP_NAME, "Process Group Name", TEXT)                    \
	X(GROUP_RANKS, "Process Group Ranks", RAW)                   \
	X(COLLECTIVE_SEQUENCE, "Seq", INTEGER)                       \
	X(COMMUNICATOR, "Comms Id", INTEGER)                         \
	X(WAIT_STREAM, "wait_on_stream", INTEGER)                    \
	X(WAIT_RECORD, "wait_on_cuda_event_record_corr_id", INTEGER) \
	X(WAIT_EVENT, "wait_on_cuda_event_id", INTEGER)              \
	X(TOTAL_ALLOCATED, "Total Allocated", INTEGER)               \
	X(TOTAL_RESERVED, "Total Reserved", INTEGER)                 \
	X(MEMORY_BYTES, "Bytes", INTEGER)                            \
	X(DEVICE_TYPE, "Device Type", INTEGER)                       \
	X(DEVICE_ID, "Device Id", INTEGER)                           \
	X(ADDRESS, "Addr", INTEGER)                                  \
	X(LABEL, "name", TEXT)

enum event_key {
#define X(name, key, kind) KEY_##name,
	EVENT_KEYS(X)
#undef X
	KEY_COUNT
};

enum event_arg {
#define X(name, key, kind) ARG_##name,
	EVENT_ARGS(X)
#undef X
	ARG_COUNT
};
