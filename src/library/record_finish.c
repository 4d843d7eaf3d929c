/* Finishes what the recorder left in a folder, all ranks at once. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "library/handle.h"
#include "library/record_file.h"
#include "library/record_lives.h"
#include "read/run_files.h"
#include "read/workers.h"

struct finished {
	char *path; /* of what is there, once it is finished */
	bool compress;
	struct record_outcome outcome;
	struct err err;
};

static void finish_one(void *context, uint32_t item)
{
	struct finished *finished = &((struct finished *)context)[item];
	if (!record_file_finish(
		    finished->path, finished->compress, &finished->outcome, &finished->err) ||
		!finished->compress)
		return;
	struct text packed = {0};
	text_add(&packed, "%s.zst", finished->path);
	if (text_ok(&packed, &finished->err)) {
		mem_free(finished->path);
		finished->path = packed.bytes;
	} else {
		text_done(&packed);
	}
}

static bool is_raw(const char *path)
{
	const size_t length = strlen(path);
	return length > 4 && strcmp(path + length - 4, ".inq") == 0;
}

static void tell_kept(const struct finished *finished, struct text *to)
{
	const struct record_outcome *outcome = &finished->outcome;
	text_add(to, "%s: %s, ", finished->path, units_bytes(outcome->bytes, UNITS_PLAIN).text);
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
	else if (finished->outcome.is_cut)
		text_add(to, "; cut: its process was killed, or did not wait for the recorder");
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

/* Takes the names of what is to be finished. */
static uint32_t take_raw(struct run_files *files, bool compress, struct finished *items)
{
	uint32_t count = 0;
	for (uint32_t f = 0; f < files->count; f++)
		if (is_raw(files->path[f])) {
			items[count++] =
				(struct finished){.path = files->path[f], .compress = compress};
			files->path[f] = NULL;
		}
	qsort(items, count, sizeof *items, compare_ranks);
	return count;
}

/* Leaves one file a rank; false without memory. */
static bool settle_lives(const char *directory, struct finished *items, uint32_t count,
	struct text *lines, struct err *err)
{
	struct record_life *lives = mem_new(count ? count : 1, sizeof *lives, err);
	uint32_t live_count = 0;
	for (uint32_t i = 0; lives && i < count; i++)
		if (items[i].err.code == ERR_NONE && !items[i].outcome.is_empty)
			lives[live_count++] =
				(struct record_life){&items[i].path, &items[i].outcome};
	if (lives)
		record_lives_settle(directory, lives, live_count, lines);
	mem_free(lives);
	return lives != NULL;
}

static bool finish_all(struct inquest *inquest, const char *directory, struct finished *items,
	uint32_t count, struct text *lines, uint32_t *ret_kept)
{
	struct text of_lives = {0};
	workers_run(inquest->thread_count, count, finish_one, items);
	bool ok = settle_lives(directory, items, count, &of_lives, &inquest->err);
	for (uint32_t i = 0; i < count; i++) {
		tell(&items[i], lines);
		*ret_kept += items[i].err.code != ERR_NONE || !items[i].outcome.is_empty;
	}
	ok = ok && text_ok(&of_lives, &inquest->err);
	if (ok && of_lives.length)
		text_add_bytes(lines, of_lives.bytes, of_lives.length);
	text_done(&of_lives);
	return ok && text_ok(lines, &inquest->err);
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
		if (finish_all(inquest, directory, items, count, &lines, ret_kept))
			inquest->bytes = lines.bytes;
		else
			text_done(&lines);
		for (uint32_t i = 0; i < count; i++)
			mem_free(items[i].path);
	}
	mem_free(items);
	run_files_done(&files);
	return handle_status(inquest);
}
