/* From a path to a breakdown, under the settings of a handle; for src/library only. */
#pragma once

#include "attribute/breakdown.h"
#include "classify/rules.h"
#include "library/handle.h"
#include "read/run.h"

/* The handle's rules; free with rules_free.  NULL on failure, which is in inquest->err. */
struct rules *load_rules(struct inquest *inquest);

/* The traces of a run.  On failure, which is in inquest->err, `ret` holds nothing. */
bool load_run(struct inquest *inquest, const char *path, struct run *ret);

struct load_options {
	int64_t tokens;	     /* NULL_I64: inferred */
	bool keep_intervals; /* for the SQLite results */
};
bool load_breakdown(struct inquest *inquest, const struct rules *rules, const struct run *run,
	const struct load_options *options, struct breakdown *ret);

/* Both, without keeping the traces.  `ret_gpu_memory_bytes`, which may be NULL, gets the memory of
 * the run's smallest GPU, NULL_I64 if no trace says it. */
bool load_path(struct inquest *inquest, const struct rules *rules, const char *path, int64_t tokens,
	struct breakdown *ret, int64_t *ret_gpu_memory_bytes);
