/* Reads and breaks down runs. */
#include "library/load.h"

#include "attribute/analysis.h"
#include "base/table.h"

struct rules *load_rules(struct inquest *inquest)
{
	return rules_load(inquest->rules_path, &inquest->err);
}

bool load_run(struct inquest *inquest, const char *path, struct run *ret)
{
	const struct read_options options = {
		.window_bytes = inquest->window_bytes, .thread_count = inquest->thread_count};
	handle_progress(inquest, "reading", path);
	return run_read(path, &options, ret, &inquest->err);
}

static bool has_rank(const struct run *run, int32_t rank)
{
	for (uint32_t i = 0; i < run->trace_count; i++)
		if (run->traces[i].rank == rank)
			return true;
	return false;
}

bool load_breakdown(struct inquest *inquest, const struct rules *rules, const struct run *run,
	const struct load_options *options, struct breakdown *ret)
{
	const struct analysis_options analysis = {
		.tokens_per_step = options->tokens,
		.keep_intervals = options->keep_intervals,
		.thread_count = inquest->thread_count,
		.has_path_from = inquest->path_from != NULL_I32,
		.path_from = inquest->path_from,
	};
	if (analysis.has_path_from && !has_rank(run, analysis.path_from))
		return err_set(&inquest->err, ERR_USAGE, "%s has no rank %d to start the path on",
			run->argument, analysis.path_from);
	handle_progress(inquest, "breaking down", run->argument);
	if (breakdown_make(run, rules, &analysis, ret, &inquest->err))
		return true;
	return err_prefix(&inquest->err, "%s", run->argument);
}

static int64_t smallest_gpu(const struct run *run)
{
	int64_t least = NULL_I64;
	for (uint32_t i = 0; i < run->trace_count; i++) {
		const int64_t bytes = run->traces[i].gpu_memory_bytes;
		if (bytes != NULL_I64 && bytes > 0 && (least == NULL_I64 || bytes < least))
			least = bytes;
	}
	return least;
}

bool load_path(struct inquest *inquest, const struct rules *rules, const char *path, int64_t tokens,
	struct breakdown *ret, int64_t *ret_gpu_memory_bytes)
{
	struct run run;
	if (!load_run(inquest, path, &run))
		return false;
	const struct load_options options = {.tokens = tokens};
	const bool ok = load_breakdown(inquest, rules, &run, &options, ret);
	if (ok && ret_gpu_memory_bytes)
		*ret_gpu_memory_bytes = smallest_gpu(&run);
	run_done(&run);
	return ok;
}
