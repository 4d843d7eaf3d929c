/* What `info` tells of a run: which ranks are there, what each trace holds, what is dirty. */
#pragma once

#include "attribute/breakdown.h"
#include "read/run.h"
#include "render/findings.h"

struct inventory_rank {
	int32_t rank; /* NULL_I32 if unknown */
	const char *file, *gpu;
	const char *opened; /* the file itself, where `file` is what it was imported from */
	enum trace_source source;
	int64_t event_count, gpu_op_count;
	int64_t step_count; /* NULL_I64 where steps can't be told */
	struct trace_has has;
	struct trace_has told; /* the same, or what marks say in its place */
};

struct inventory_run {
	const char *name;
	int32_t world_size; /* NULL_I32 if unknown */
	struct inventory_rank *ranks;
	uint32_t rank_count;
};

struct inventory {
	struct arena arena;
	struct inventory_run *runs;
	uint32_t run_count, run_capacity;
	struct findings findings;
};

/* Copies what it needs: the run can go.  `breakdown` is NULL where the run can't be broken down. */
bool inventory_add(struct inventory *inventory, const struct run *run,
	const struct breakdown *breakdown, struct err *err);
void inventory_done(struct inventory *inventory);

/* "kineto", "nsys", "recorder" or "unknown". */
const char *inventory_source_word(enum trace_source source);
