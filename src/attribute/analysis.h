/*
 * From a run's traces to its breakdown: classify, steps and phases, partition, job path, ledger,
 * memory, tokens, FLOPs.  The one entry into src/classify, src/phase and src/attribute.
 */
#pragma once

#include "attribute/breakdown.h"
#include "classify/rules.h"
#include "read/run.h"

struct analysis_options {
	int64_t tokens_per_step; /* given by the user, NULL_I64 to infer */
	bool keep_intervals; /* keep each rank's intervals and gpu_op phases, for the SQLite results
			      */
	uint32_t thread_count; /* ranks analysed at once; 0 for the number of cores */
	bool has_path_from;    /* start the path on rank path_from, not on the last to arrive */
	int32_t path_from;     /* a rank of the run */
};

/* ERR_INPUT when no GPU op is there, ERR_INTERNAL when a sum does not close. */
bool breakdown_make(const struct run *run, const struct rules *rules,
	const struct analysis_options *options, struct breakdown *ret, struct err *err);
