/* Copies out of runs what `info` prints. */
#include "render/inventory.h"

#include <string.h>

#include "base/table.h"

const char *inventory_source_word(enum trace_source source)
{
	static const char *const words[] = {
		[SOURCE_UNKNOWN] = "unknown",
		[SOURCE_KINETO] = "kineto",
		[SOURCE_NSYS] = "nsys",
		[SOURCE_RECORDER] = "recorder",
	};
	return words[source];
}

static bool has_mark(const struct trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->markers.head.count; i++)
		if (trace->markers.kind[i] == MARKER_OTHER && trace->markers.value[i] != NULL_I64 &&
			strcmp(intern_text(&trace->strings, trace->markers.name_id[i]), name) == 0)
			return true;
	return false;
}

/* The recorder's marks say tokens, with them FLOPs, and peaks, for which others need the rows. */
static struct trace_has what_is_told(const struct trace *trace)
{
	struct trace_has told = trace->has;
	told.shapes = told.shapes || has_mark(trace, "tokens");
	told.memory = told.memory || has_mark(trace, "peak_allocated_bytes");
	return told;
}

static bool copy_rank(struct inventory *inventory, const struct trace *trace,
	const struct breakdown *breakdown, struct inventory_rank *ret, struct err *err)
{
	*ret = (struct inventory_rank){
		.rank = trace->rank,
		.file = arena_text(&inventory->arena, trace->file ? trace->file : "", err),
		.opened = arena_text(&inventory->arena, trace_called(trace), err),
		.gpu = arena_text(
			&inventory->arena, intern_text(&trace->strings, trace->gpu_name_id), err),
		.source = trace->source,
		.event_count = trace->event_count,
		.gpu_op_count = trace->gpu_ops.head.count,
		.step_count = NULL_I64,
		.has = trace->has,
		.told = what_is_told(trace),
	};
	for (uint32_t i = 0; breakdown && i < breakdown->rank_count; i++)
		if (breakdown->ranks[i].rank == trace->rank)
			ret->step_count = breakdown->ranks[i].step_count;
	findings_add_trace(&inventory->findings, &trace->diag, ret->file);
	return ret->file && ret->opened && ret->gpu;
}

/* What the analysis found beyond what the readers had counted. */
static bool add_analysis_findings(struct inventory *inventory, const struct run *run,
	const struct breakdown *breakdown, struct err *err)
{
	for (int kind = 0; breakdown && kind < DIAG_KIND_COUNT; kind++) {
		int64_t counted = run->diag.row[kind].count;
		for (uint32_t i = 0; i < run->trace_count; i++)
			counted += run->traces[i].diag.row[kind].count;
		struct diag more = {0};
		more.row[kind] = breakdown->diag.row[kind];
		more.row[kind].count -= counted;
		if (more.row[kind].count <= 0)
			continue;
		const char *file = breakdown->diag_file[kind];
		if (file && !(file = arena_text(&inventory->arena, file, err)))
			return false;
		findings_add_trace(&inventory->findings, &more, file);
	}
	return true;
}

static bool has_room(struct inventory *inventory, struct err *err)
{
	if (inventory->run_count < inventory->run_capacity)
		return true;
	const uint32_t capacity = inventory->run_capacity ? 2 * inventory->run_capacity : 4;
	struct inventory_run *runs = arena_new(&inventory->arena, capacity, sizeof *runs, err);
	if (!runs)
		return false;
	if (inventory->runs)
		memcpy(runs, inventory->runs, inventory->run_count * sizeof *runs);
	inventory->runs = runs;
	inventory->run_capacity = capacity;
	return true;
}

bool inventory_add(struct inventory *inventory, const struct run *run,
	const struct breakdown *breakdown, struct err *err)
{
	if (!has_room(inventory, err))
		return false;
	struct inventory_run *copy = &inventory->runs[inventory->run_count];
	*copy = (struct inventory_run){
		.name = arena_text(&inventory->arena, run->name, err),
		.world_size = NULL_I32,
		.ranks = arena_new(&inventory->arena, run->trace_count, sizeof *copy->ranks, err),
		.rank_count = run->trace_count,
	};
	if (!copy->name || !copy->ranks)
		return false;
	for (uint32_t i = 0; i < run->trace_count; i++) {
		const struct trace *trace = &run->traces[i];
		if (trace->world_size > copy->world_size)
			copy->world_size = trace->world_size;
		if (!copy_rank(inventory, trace, breakdown, &copy->ranks[i], err))
			return false;
	}
	findings_add_trace(&inventory->findings, &run->diag, NULL);
	if (!add_analysis_findings(inventory, run, breakdown, err))
		return false;
	inventory->run_count++;
	return true;
}

void inventory_done(struct inventory *inventory)
{
	arena_done(&inventory->arena);
	*inventory = (struct inventory){0};
}
