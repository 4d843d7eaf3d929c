/* Finishes what the recorder left in a folder, all ranks at once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "library/handle.h"
#include "library/record_file.h"
#include "read/run_files.h"
#include "read/workers.h"

struct finished {
	const char *path;
	bool compress;
	struct record_outcome outcome;
	struct err err;
};

static void finish_one(void *context, uint32_t item)
{
	struct finished *finished = &((struct finished *)context)[item];
	record_file_finish(finished->path, finished->compress, &finished->outcome, &finished->err);
}

static bool is_raw(const char *path)
{
	const size_t length = strlen(path);
	return length > 4 && strcmp(path + length - 4, ".inq") == 0;
}

static void tell_kept(const struct finished *finished, struct text *to)
{
	const struct record_outcome *outcome = &finished->outcome;
	text_add(to, "%s%s: %s, ", finished->path, outcome->is_compressed ? ".zst" : "",
		units_bytes(outcome->bytes, UNITS_PLAIN).text);
	if (outcome->steps)
		text_add(to, "%s step%s, %s a step", units_count(outcome->steps).text,
			outcome->steps == 1 ? "" : "s",
			units_bytes(outcome->bytes / outcome->steps, UNITS_PLAIN).text);
	else
		text_add(to, "no step marked");
	text_add(to, ", %s records dropped", units_count(outcome->dropped).text);
}

static void tell(const struct finished *finished, struct text *to)
{
	if (finished->err.code != ERR_NONE)
		text_add(to, "%s", finished->err.msg);
	else if (finished->outcome.is_empty)
		text_add(to, "%s: nothing was recorded; removed", finished->path);
	else
		tell_kept(finished, to);
	if (finished->outcome.stopped[0])
		text_add(to, "; the recorder stopped early: %s", finished->outcome.stopped);
	text_add(to, "\n");
}

/* By rank: "rank10" is behind "rank2". */
static int compare_ranks(const void *a, const void *b)
{
	const struct finished *one = a, *other = b;
	const int32_t rank = run_rank_from_name(one->path);
	const int32_t other_rank = run_rank_from_name(other->path);
	if (rank != other_rank)
		return rank < other_rank ? -1 : 1;
	return strcmp(one->path, other->path);
}

static uint32_t take_raw(const struct run_files *files, bool compress, struct finished *items)
{
	uint32_t count = 0;
	for (uint32_t f = 0; f < files->count; f++)
		if (is_raw(files->path[f]))
			items[count++] =
				(struct finished){.path = files->path[f], .compress = compress};
	qsort(items, count, sizeof *items, compare_ranks);
	return count;
}

enum inquest_status inquest_finish(
	struct inquest *inquest, const char *directory, bool compress, uint32_t *ret_kept)
{
	struct run_files files = {0};
	struct finished *items = NULL;
	struct text lines = {0};
	*ret_kept = 0;
	handle_reset(inquest);
	handle_progress(inquest, "finishing", directory);
	if (run_files_find(directory, &files, &inquest->err))
		items = mem_new(files.count ? files.count : 1, sizeof *items, &inquest->err);
	if (items) {
		const uint32_t count = take_raw(&files, compress, items);
		workers_run(inquest->thread_count, count, finish_one, items);
		for (uint32_t i = 0; i < count; i++) {
			tell(&items[i], &lines);
			*ret_kept += items[i].err.code != ERR_NONE || !items[i].outcome.is_empty;
		}
		if (text_ok(&lines, &inquest->err))
			inquest->bytes = lines.bytes;
		else
			text_done(&lines);
	}
	mem_free(items);
	run_files_done(&files);
	return handle_status(inquest);
}
