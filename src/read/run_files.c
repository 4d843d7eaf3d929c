#include "read/run_files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/table.h"

static bool add_path(struct run_files *files, const char *folder, const char *name, struct err *err)
{
	if (files->count == RUN_MAX_FILES)
		return err_set(err, ERR_INPUT, "%s: more than %u files", folder, RUN_MAX_FILES);
	if (files->count == files->capacity) {
		const uint32_t capacity = files->capacity ? files->capacity * 2 : 16;
		if (!mem_resize(&files->path, capacity, sizeof *files->path, err))
			return false;
		files->capacity = capacity;
	}
	const size_t folder_length = strlen(folder);
	const size_t size = folder_length + strlen(name) + 2;
	char *path = mem_new(size, 1, err);
	if (!path)
		return false;
	const bool has_slash = folder_length == 0 || folder[folder_length - 1] == '/';
	snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
	files->path[files->count++] = path;
	return true;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Regular files that are not hidden; what lies in folders below is not looked at. */
static bool find_in_directory(const char *argument, struct run_files *files, struct err *err)
{
	DIR *folder = opendir(argument);
	if (!folder) {
		err_set_errno(err, errno, "can't open the directory");
		return err_prefix(err, "%s", argument);
	}
	bool is_found = true;
	for (const struct dirent *entry; is_found && (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		is_found = add_path(files, argument, entry->d_name, err);
		struct stat status;
		if (is_found && (stat(files->path[files->count - 1], &status) != 0 ||
					!S_ISREG(status.st_mode)))
			mem_free(files->path[--files->count]);
	}
	closedir(folder);
	if (files->count)
		qsort(files->path, files->count, sizeof *files->path, compare_paths);
	return is_found;
}

static bool find_matches(const char *argument, struct run_files *files, struct err *err)
{
	glob_t matches;
	const int result = glob(argument, 0, NULL, &matches);
	if (result == GLOB_NOMATCH)
		return err_set(err, ERR_IO, "%s: no file matches", argument);
	if (result != 0)
		return err_set(err, ERR_IO, "%s: the pattern can't be followed", argument);
	bool is_found = true;
	for (size_t m = 0; is_found && m < matches.gl_pathc; m++) {
		struct stat status;
		if (stat(matches.gl_pathv[m], &status) == 0 && S_ISREG(status.st_mode))
			is_found = add_path(files, "", matches.gl_pathv[m], err);
	}
	globfree(&matches);
	if (files->count)
		qsort(files->path, files->count, sizeof *files->path, compare_paths);
	return is_found;
}

bool run_files_find(const char *argument, struct run_files *ret, struct err *err)
{
	struct run_files files = {0};
	struct stat status;
	bool is_found;
	if (stat(argument, &status) == 0) {
		files.is_named = !S_ISDIR(status.st_mode);
		is_found = files.is_named ? add_path(&files, "", argument, err)
					  : find_in_directory(argument, &files, err);
	} else if (strpbrk(argument, "*?[")) {
		is_found = find_matches(argument, &files, err);
	} else {
		err_set_errno(err, errno, "can't open");
		is_found = err_prefix(err, "%s", argument);
	}
	if (is_found)
		*ret = files;
	else
		run_files_done(&files);
	return is_found;
}

void run_files_done(struct run_files *files)
{
	for (uint32_t f = 0; f < files->count; f++)
		mem_free(files->path[f]);
	mem_free(files->path);
	*files = (struct run_files){0};
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

int32_t run_rank_from_name(const char *path)
{
	for (const char *at = last_part(path); (at = strstr(at, "rank")) != NULL; at++) {
		const char *digits = at + 4;
		if (*digits == '_' || *digits == '-' || *digits == '.')
			digits++;
		if (*digits < '0' || *digits > '9')
			continue;
		char *end;
		errno = 0;
		const long rank = strtol(digits, &end, 10);
		if (errno == 0 && rank <= INT32_MAX)
			return (int32_t)rank;
	}
	return NULL_I32;
}

/* Takes `ending` off the end; `*length` stays where it isn't there, or is all there is. */
static bool take_off(const char *start, size_t *length, const char *ending)
{
	const size_t ending_length = strlen(ending);
	if (*length <= ending_length ||
		memcmp(start + *length - ending_length, ending, ending_length) != 0)
		return false;
	*length -= ending_length;
	return true;
}

/* Takes ".rank3" off, whatever stands for the digits in a pattern. */
static bool take_rank_off(const char *start, size_t *length)
{
	size_t at = *length;
	while (at > 0 &&
		(strchr("*?[]-", start[at - 1]) || (start[at - 1] >= '0' && start[at - 1] <= '9')))
		at--;
	if (at > 0 && strchr("._-", start[at - 1]))
		at--;
	if (at < 5 || memcmp(start + at - 4, "rank", 4) != 0)
		return false;
	at -= 4;
	if (strchr("._-", start[at - 1]))
		at--;
	if (at == 0)
		return false;
	*length = at;
	return true;
}

struct run_name run_name_of(const char *argument)
{
	static const char *const endings[] = {".zst", ".gz", ".json", ".inq", ".sqlite",
		".pt.trace", ".trace", "*", ".", "_", "-"};
	size_t whole = strlen(argument);
	while (whole > 1 && argument[whole - 1] == '/')
		whole--;
	size_t from = whole;
	while (from > 0 && argument[from - 1] != '/')
		from--;
	const char *start = argument + from;
	size_t length = whole - from;
	for (bool is_shorter = true; is_shorter;) {
		is_shorter = take_rank_off(start, &length);
		for (size_t e = 0; e < sizeof endings / sizeof *endings; e++)
			is_shorter |= take_off(start, &length, endings[e]);
	}
	/* A bare pattern says nothing; its folder does. */
	if (length == 1 && *start == '*' && from > 1) {
		const size_t folder_end = from - 1;
		size_t folder = folder_end;
		while (folder > 0 && argument[folder - 1] != '/')
			folder--;
		return (struct run_name){argument + folder, folder_end - folder};
	}
	/* Of a root folder nothing is left. */
	return length ? (struct run_name){start, length}
		      : (struct run_name){argument, strlen(argument)};
}
