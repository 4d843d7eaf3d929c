/* Keeps a run as SQLite, one file a rank. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "base/text.h"
#include "library/load.h"
#include "render/archive.h"
#include "render/json_reports.h"
#include "render/reports.h"
#include "store/schema.h"

/* A run's name without what a file name can't hold. */
static const char *file_stem(const struct run *run, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", run->name && run->name[0] ? run->name : "run");
	for (char *byte = buffer; *byte; byte++)
		if (*byte == '/' || (unsigned char)*byte < 0x20)
			*byte = '_';
	return buffer[0] == '.' ? "run" : buffer;
}

static uint32_t rank_index(const struct breakdown *breakdown, int32_t rank)
{
	for (uint32_t i = 0; i < breakdown->rank_count; i++)
		if (breakdown->ranks[i].rank == rank)
			return i;
	return NULL_U32;
}

/* A file that another program wrote is never replaced.  A compressed one is taken by its name. */
static bool may_replace(const char *path, bool compress, struct err *err)
{
	uint8_t head[SCHEMA_MAGIC_BYTES];
	FILE *file = fopen(path, "rbe");
	if (!file)
		return errno == ENOENT || err_set_errno(err, errno, "%s", path);
	const size_t size = fread(head, 1, sizeof head, file);
	fclose(file);
	if (compress || schema_is_ours(head, size))
		return true;
	return err_set(err, ERR_USAGE,
		"%s: is there already, and inquest did not write it: nothing is replaced", path);
}

/* One import: what is asked for, and what became of it. */
struct import {
	enum inquest_format format;
	const char *directory;
	bool compress;
	struct rules *rules;
	struct inventory inventory; /* for its findings, and its arena */
	struct kept kept;
	struct store_file *pending; /* of the kept files, so many: */
	uint32_t pending_count;
};

/* Whether each rank's file may be written, before any is. */
static bool name_ranks(struct inquest *inquest, struct import *import, const struct run *run)
{
	struct arena *arena = &import->inventory.arena;
	char stem[200];
	file_stem(run, stem, sizeof stem);
	import->kept.files =
		arena_new(arena, run->trace_count, sizeof *import->kept.files, &inquest->err);
	import->pending =
		arena_new(arena, run->trace_count, sizeof *import->pending, &inquest->err);
	if (!import->kept.files || !import->pending)
		return false;
	for (uint32_t i = 0; i < run->trace_count; i++) {
		const int32_t rank = run->traces[i].rank;
		const char *path = arena_format(arena, &inquest->err, "%s/%s.rank%d.inq%s",
			import->directory, stem, rank == NULL_I32 ? (int)i : rank,
			import->compress ? ".zst" : "");
		if (!path || !may_replace(path, import->compress, &inquest->err))
			return false;
		import->kept.files[i] = (struct kept_file){.rank = rank, .path = path};
	}
	import->kept.count = run->trace_count;
	return true;
}

static bool write_rank(struct inquest *inquest, struct import *import, const struct run *run,
	const struct breakdown *breakdown, uint32_t i)
{
	const struct trace *trace = &run->traces[i];
	const uint32_t index = breakdown ? rank_index(breakdown, trace->rank) : NULL_U32;
	const char *path = import->kept.files[i].path;
	handle_progress(inquest, "writing", path);
	return archive_prepare(&import->pending[i], path, trace,
		index == NULL_U32 ? NULL : breakdown, index == NULL_U32 ? 0 : index,
		rules_hash(import->rules), import->compress, &inquest->err);
}

static bool commit_rank(struct inquest *inquest, struct import *import, uint32_t i)
{
	struct kept_file *file = &import->kept.files[i];
	struct stat status;
	if (!store_file_commit(&import->pending[i], &inquest->err))
		return err_prefix(&inquest->err, "%s", file->path);
	if (stat(file->path, &status) != 0)
		return err_set_errno(&inquest->err, errno, "%s", file->path);
	file->bytes = status.st_size;
	return true;
}

/* A folder with the ranks of two jobs would be read as one: no file gets its name before all are
 * whole. */
static bool write_ranks(struct inquest *inquest, struct import *import, const struct run *run,
	const struct breakdown *breakdown)
{
	bool ok = name_ranks(inquest, import, run) &&
		  inventory_add(&import->inventory, run, breakdown, &inquest->err);
	for (uint32_t i = 0; ok && i < run->trace_count; i++) {
		ok = write_rank(inquest, import, run, breakdown, i);
		import->pending_count += ok;
	}
	for (uint32_t i = 0; ok && i < run->trace_count; i++)
		ok = commit_rank(inquest, import, i);
	for (uint32_t i = 0; i < import->pending_count; i++)
		store_file_done(&import->pending[i]);
	import->kept.findings = import->inventory.findings;
	return ok;
}

static bool make_directory(const char *path, struct err *err)
{
	struct stat status;
	if (mkdir(path, 0777) == 0)
		return true;
	if (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return true;
	return err_set_errno(err, errno == EEXIST ? ENOTDIR : errno, "%s", path);
}

static void import_run(struct inquest *inquest, struct import *import)
{
	struct run run;
	struct breakdown breakdown;
	const struct load_options options = {
		.tokens = inquest->added_tokens, .keep_intervals = true};
	if (!load_run(inquest, inquest->added[0], &run))
		return;
	/* Without GPU ops there are no results, but still a trace to keep. */
	const bool is_broken_down =
		load_breakdown(inquest, import->rules, &run, &options, &breakdown);
	if (!is_broken_down && inquest->err.code == ERR_INPUT)
		inquest->err = (struct err){0};
	if (inquest->err.code == ERR_NONE && make_directory(import->directory, &inquest->err))
		write_ranks(inquest, import, &run, is_broken_down ? &breakdown : NULL);
	if (is_broken_down)
		breakdown_done(&breakdown);
	run_done(&run);
}

/* Plain text is for scripts: a path a line. */
static void print_names(struct inquest *inquest, const struct kept *kept)
{
	struct text names = {0};
	for (uint32_t i = 0; i < kept->count; i++)
		text_add(&names, "%s\n", kept->files[i].path);
	if (text_ok(&names, &inquest->err))
		inquest->bytes = names.bytes;
	else
		text_done(&names);
}

static void print(struct inquest *inquest, const struct import *import)
{
	struct report report = {0};
	switch (import->format) {
	case INQUEST_JSON:
		inquest->bytes = json_import(&import->kept, &inquest->err);
		break;
	case INQUEST_MARKDOWN:
		report_import(&report, &import->kept);
		handle_print(inquest, &report, import->format);
		break;
	default:
		print_names(inquest, &import->kept);
	}
}

enum inquest_status inquest_import(
	struct inquest *inquest, enum inquest_format format, const char *directory, bool compress)
{
	struct import import = {.format = format, .directory = directory, .compress = compress};
	handle_reset(inquest);
	if (inquest->added_count != 1 || !directory || !directory[0]) {
		err_set(&inquest->err, ERR_USAGE,
			"import needs one run and a directory to write to");
		return handle_status(inquest);
	}
	import.rules = load_rules(inquest);
	if (import.rules)
		import_run(inquest, &import);
	if (inquest->err.code == ERR_NONE)
		print(inquest, &import);
	inventory_done(&import.inventory);
	rules_free(import.rules);
	return handle_status(inquest);
}
