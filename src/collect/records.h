/*
 * One CUPTI record, taken apart.  The layouts only ever grow at their end, so a record is read at
 * fixed offsets, and what a version lacks is absent.  Knows bytes; refuses to know rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum record_kind {
	RECORD_GPU_OP,
	RECORD_CALL,
	RECORD_SYNC,
	RECORD_EVENT,
	RECORD_EXTERNAL,
	RECORD_OVERHEAD,
	RECORD_MEMORY,
	RECORD_DEVICE,
	RECORD_CONTEXT,
};

enum record_op {
	RECORD_KERNEL,
	RECORD_MEMCPY,
	RECORD_MEMSET
};

#define RECORD_SYNC_WAIT 2u /* of record_sync: a stream was told to wait for an event */

struct record_gpu_op {
	uint64_t start_ns, end_ns; /* 0 where CUPTI could not tell */
	uint64_t bytes;		   /* of copies and memsets */
	uint64_t graph_node;	   /* 0 if none */
	uint32_t device, context, stream, correlation;
	uint32_t grid[3], block[3], shared_bytes; /* of kernels */
	const char *name;			  /* of kernels; CUPTI's, and mangled */
	uint8_t op;				  /* enum record_op */
	uint8_t copy_kind, from_kind, to_kind;	  /* CUPTI's, of copies; to_kind of memsets too */
};

struct record_call {
	uint64_t start_ns, end_ns;
	uint32_t call; /* in wanted_calls */
	uint32_t thread, correlation, result;
};

struct record_sync {
	uint64_t sync_id; /* pairs it with the event's record; 0 before CUPTI 12.8 */
	uint32_t type, correlation, context, stream, event;
};

struct record_event {
	uint64_t sync_id; /* as above */
	uint32_t correlation, context, stream, event;
};

struct record_external {
	uint64_t id;
	uint32_t correlation;
};

struct record_overhead {
	uint64_t start_ns, end_ns;
	uint32_t kind;
};

struct record_memory {
	uint64_t address, bytes, at_ns;
	uint32_t device;
	bool is_release;
};

struct record_device {
	uint64_t memory_bytes;
	const char *name;
	uint32_t device;
};

struct record_context {
	uint32_t context, device;
};

struct record {
	enum record_kind kind;
	union {
		struct record_gpu_op gpu_op;
		struct record_call call;
		struct record_sync sync;
		struct record_event event;
		struct record_external external;
		struct record_overhead overhead;
		struct record_memory memory;
		struct record_device device;
		struct record_context context;
	};
};

/* False for a record that is not wanted: an unknown kind, a call off the list, host memory. */
bool record_decode(const void *raw, uint32_t cupti_version, struct record *ret);

/* Whether the record is of something that ran on the GPU. */
bool record_is_gpu_op(const void *raw);

/* "HtoD" and "Pinned", as Kineto writes them. */
const char *record_copy_word(uint8_t copy_kind);
const char *record_memory_word(uint8_t memory_kind);

/* A kind of overhead as a word for a key: "buffer_flush". */
const char *record_overhead_word(uint32_t kind);
