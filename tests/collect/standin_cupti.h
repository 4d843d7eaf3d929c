/*
 * Stands in for libcupti: the same functions, and no GPU.  A test says what happened on it, and the
 * record goes through the registered buffers as CUPTI's own would, in the layout of the version
 * that STANDIN_CUPTI_VERSION names (130001 if unset): records of activities that are not enabled
 * are not written.  With STANDIN_CUPTI_TAKEN another tool has subscribed.  The layouts are structs
 * of their own, so that they don't share a mistake with the collector.
 *
 * API calls come as callbacks, or as records where those are enabled.  There is a second build that
 * lacks cuptiEnableCallback.
 *
 * The tests find the functions of struct standin_cupti under the name `standin_cupti`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call that goes on. */
struct standin_api {
	bool is_driver;
	int result; /* what it will return */
	uint32_t cbid, correlation;
	uint64_t own; /* 8 bytes for the callback's use */
};

struct standin_cupti {
	/* A call of the runtime or the driver; its correlation id.  The times are those of its
	 * record; a callback comes now. */
	uint32_t (*call)(bool is_driver, uint32_t cbid, int64_t start_ns, int64_t end_ns);
	/* The callbacks of one, apart: other calls may lie between, as may anything else. */
	void (*enter)(struct standin_api *api, bool is_driver, uint32_t cbid);
	void (*leave)(struct standin_api *api);
	void (*kernel)(uint32_t correlation, uint32_t stream, const char *name, int64_t start_ns,
		int64_t end_ns);
	void (*graph_kernel)(uint32_t correlation, uint32_t stream, const char *name,
		int64_t start_ns, int64_t end_ns, uint64_t node);
	void (*copy)(uint32_t correlation, uint32_t stream, bool is_peer, uint64_t bytes,
		int64_t start_ns, int64_t end_ns);
	void (*fill)(uint32_t correlation, uint32_t stream, uint64_t bytes, int64_t start_ns,
		int64_t end_ns);
	void (*event)(uint32_t correlation, uint32_t stream, uint32_t event, uint64_t sync_id);
	void (*sync)(uint32_t type, uint32_t correlation, uint32_t stream, uint32_t event,
		uint64_t sync_id);
	void (*overhead)(uint32_t kind, int64_t start_ns, int64_t end_ns);
	void (*memory)(
		uint32_t operation, uint32_t kind, uint64_t address, uint64_t bytes, int64_t at_ns);
	void (*device)(uint32_t device, const char *name, uint64_t memory_bytes);
	void (*unknown)(void);	      /* a record of a kind that nobody knows */
	void (*drop)(uint32_t count); /* CUPTI says it dropped as many */
	bool (*is_enabled)(uint32_t kind);
	bool (*is_call_enabled)(bool is_driver, uint32_t cbid);
	uint32_t (*depth)(void);       /* external ids pushed by this thread */
	void (*hang)(bool is_hanging); /* the next flushes never return */
	int64_t (*last_wrong)(
		void); /* what was done that CUPTI forbids, a line number; 0 if nothing */
};
