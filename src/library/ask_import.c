/* Keeps a run as SQLite, one file a rank. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "base/text.h"
#include "library/load.h"
#include "render/archive.h"
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

static bool write_ranks(struct inquest *inquest, const struct run *run,
	const struct breakdown *breakdown, uint64_t hash, const char *directory, bool compress)
{
	struct text names = {0};
	char stem[200];
	file_stem(run, stem, sizeof stem);
	bool ok = true;
	for (uint32_t i = 0; ok && i < run->trace_count; i++) {
		const struct trace *trace = &run->traces[i];
		const uint32_t index = breakdown ? rank_index(breakdown, trace->rank) : NULL_U32;
		struct text path = {0};
		text_add(&path, "%s/%s.rank%d.inq%s", directory, stem,
			trace->rank == NULL_I32 ? (int)i : trace->rank, compress ? ".zst" : "");
		ok = text_ok(&path, &inquest->err);
		if (ok) {
			handle_progress(inquest, "writing", path.bytes);
			ok = may_replace(path.bytes, compress, &inquest->err) &&
			     archive_write(path.bytes, trace, index == NULL_U32 ? NULL : breakdown,
				     index == NULL_U32 ? 0 : index, hash, compress, &inquest->err);
			text_add(&names, "%s\n", path.bytes);
		}
		text_done(&path);
	}
	ok = ok && text_ok(&names, &inquest->err);
	if (ok)
		inquest->bytes = names.bytes;
	else
		text_done(&names);
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

enum inquest_status inquest_import(struct inquest *inquest, const char *directory, bool compress)
{
	struct run run;
	struct breakdown breakdown;
	const struct load_options options = {
		.tokens = inquest->added_tokens, .keep_intervals = true};
	handle_reset(inquest);
	if (inquest->added_count != 1 || !directory || !directory[0]) {
		err_set(&inquest->err, ERR_USAGE,
			"import needs one run and a directory to write to");
		return handle_status(inquest);
	}
	struct rules *rules = load_rules(inquest);
	if (!rules)
		return handle_status(inquest);
	if (load_run(inquest, inquest->added[0], &run)) {
		/* Without GPU ops there are no results, but still a trace to keep. */
		const bool is_broken_down =
			load_breakdown(inquest, rules, &run, &options, &breakdown);
		if (!is_broken_down && inquest->err.code == ERR_INPUT)
			inquest->err = (struct err){0};
		if (inquest->err.code == ERR_NONE && make_directory(directory, &inquest->err))
			write_ranks(inquest, &run, is_broken_down ? &breakdown : NULL,
				rules_hash(rules), directory, compress);
		if (is_broken_down)
			breakdown_done(&breakdown);
		run_done(&run);
	}
	rules_free(rules);
	return handle_status(inquest);
}
