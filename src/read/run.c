#include "read/run.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "read/detect.h"
#include "read/inq.h"
#include "read/kineto.h"
#include "read/run_files.h"
#include "read/workers.h"

/* What became of one file. */
struct outcome {
	struct trace trace;
	struct err err;
	bool is_read;
	bool is_foreign; /* by its first bytes, or because it is JSON and no trace */
};

struct reading {
	const struct run_files *files;
	struct kineto_options options;
	struct outcome *outcomes; /* of each file */
};

static bool read_file(
	const char *path, const struct kineto_options *options, struct outcome *outcome)
{
	struct file_kind kind;
	struct err *err = &outcome->err;
	if (!detect_file(path, &kind, err))
		return err_prefix(err, "%s", path);
	switch (kind.format) {
	case FORMAT_JSON:
		if (kineto_read(path, options, &outcome->trace, err))
			return true;
		outcome->is_foreign = err->code == ERR_INPUT;
		return false;
	case FORMAT_INQ:
	case FORMAT_INQ_ZST:
		return inq_read(path, kind.format == FORMAT_INQ_ZST, &outcome->trace, err);
	case FORMAT_NSYS:
	case FORMAT_FOREIGN:
		break;
	}
	outcome->is_foreign = true;
	detect_refuse(&kind, err);
	return err_prefix(err, "%s", path);
}

static void read_one(void *context, uint32_t item)
{
	struct reading *reading = context;
	struct outcome *outcome = &reading->outcomes[item];
	outcome->is_read = read_file(reading->files->path[item], &reading->options, outcome);
}

/* Fails for the first file that had to be read and was not; counts those that had not to. */
static bool check_outcomes(const struct reading *reading, struct run *run, struct err *err)
{
	uint32_t trace_count = 0;
	for (uint32_t f = 0; f < reading->files->count; f++) {
		const struct outcome *outcome = &reading->outcomes[f];
		trace_count += outcome->is_read;
		if (outcome->is_read)
			continue;
		if (!outcome->is_foreign || reading->files->is_named)
			return err_set(err, outcome->err.code, "%s", outcome->err.msg);
		diag_add(&run->diag, DIAG_UNRELATED_FILE, 1, -1);
	}
	if (trace_count > 0)
		return true;
	if (reading->files->count == 0)
		return err_set(err, ERR_INPUT, "%s: no file is there", run->argument);
	return err_set(err, ERR_INPUT, "%s: none of %u files is a trace; the first: %s",
		run->argument, reading->files->count, reading->outcomes[0].err.msg);
}

static bool is_rank_taken(const struct run *run, int32_t rank)
{
	for (uint32_t t = 0; t < run->trace_count; t++)
		if (run->traces[t].rank == rank)
			return true;
	return false;
}

/* Ranks that the content doesn't say: from the name, else the lowest that is free. */
static void fill_ranks(struct run *run)
{
	for (uint32_t t = 0; t < run->trace_count; t++) {
		struct trace *trace = &run->traces[t];
		if (trace->rank != NULL_I32)
			continue;
		diag_set(&trace->diag, DIAG_NO_RANK, 1);
		trace->rank = run_rank_from_name(trace->file);
	}
	int32_t free_rank = 0;
	for (uint32_t t = 0; t < run->trace_count; t++) {
		if (run->traces[t].rank != NULL_I32)
			continue;
		while (is_rank_taken(run, free_rank))
			free_rank++;
		run->traces[t].rank = free_rank;
	}
}

static void sort_by_rank(struct run *run)
{
	for (uint32_t t = 1; t < run->trace_count; t++) {
		const struct trace trace = run->traces[t];
		uint32_t to = t;
		for (; to > 0 && run->traces[to - 1].rank > trace.rank; to--)
			run->traces[to] = run->traces[to - 1];
		run->traces[to] = trace;
	}
}

static bool check_ranks(struct run *run, struct err *err)
{
	int32_t world_size = 0;
	for (uint32_t t = 0; t < run->trace_count; t++) {
		const struct trace *trace = &run->traces[t];
		if (t > 0 && trace->rank == run->traces[t - 1].rank)
			return err_set(err, ERR_INPUT,
				"%s: two files of rank %d: %s and %s; a run has one file a rank: "
				"give those of one run as a quoted glob",
				run->argument, trace->rank, trace_called(trace - 1),
				trace_called(trace));
		if (trace->world_size != NULL_I32 && trace->world_size > world_size)
			world_size = trace->world_size;
	}
	diag_add(&run->diag, DIAG_MISSING_RANK, (int64_t)world_size - run->trace_count, -1);
	return true;
}

static bool gather(const struct reading *reading, struct run *run, struct err *err)
{
	if (!check_outcomes(reading, run, err))
		return false;
	run->traces = mem_new(reading->files->count, sizeof *run->traces, err);
	if (!run->traces)
		return false;
	for (uint32_t f = 0; f < reading->files->count; f++) {
		struct outcome *outcome = &reading->outcomes[f];
		if (!outcome->is_read)
			continue;
		if (!trace_set_opened(&outcome->trace, reading->files->path[f], err))
			return false;
		run->traces[run->trace_count++] = outcome->trace;
		outcome->trace = (struct trace){0};
	}
	fill_ranks(run);
	sort_by_rank(run);
	return check_ranks(run, err);
}

static char *copy_text(const char *text, size_t length, struct err *err)
{
	char *copy = mem_new(length + 1, 1, err);
	return copy ? memcpy(copy, text, length) : NULL;
}

static bool name_run(const char *argument, struct run *run, struct err *err)
{
	const struct run_name name = run_name_of(argument);
	run->argument = copy_text(argument, strlen(argument), err);
	run->name = run->argument ? copy_text(name.start, name.length, err) : NULL;
	return run->name != NULL;
}

bool run_read(
	const char *argument, const struct read_options *options, struct run *ret, struct err *err)
{
	struct run run = {0};
	struct run_files files = {0};
	struct reading reading = {.files = &files};
	bool is_read = name_run(argument, &run, err) && run_files_find(argument, &files, err);
	if (is_read) {
		reading.outcomes = mem_new(files.count, sizeof *reading.outcomes, err);
		is_read = reading.outcomes != NULL;
	}
	if (is_read) {
		const uint32_t threads = workers_count(options ? options->thread_count : 0);
		reading.options.window_bytes = options ? options->window_bytes : 0;
		reading.options.reads_ahead = 2 * files.count <= threads;
		workers_run(threads, files.count, read_one, &reading);
		is_read = gather(&reading, &run, err);
	}
	for (uint32_t f = 0; reading.outcomes && f < files.count; f++)
		trace_done(&reading.outcomes[f].trace);
	mem_free(reading.outcomes);
	run_files_done(&files);
	if (is_read)
		*ret = run;
	else
		run_done(&run);
	return is_read;
}

void run_done(struct run *run)
{
	for (uint32_t t = 0; t < run->trace_count; t++)
		trace_done(&run->traces[t]);
	mem_free(run->traces);
	mem_free(run->name);
	mem_free(run->argument);
	*run = (struct run){0};
}
