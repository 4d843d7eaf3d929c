#include "cli/record_places.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COLLECTOR_NAME "libinquest-collect.so"
#define HOOK_FILE      "hook/sitecustomize.py"

/* Beside the program's own folder; the last is the build's. */
static const char *const folders[] = {
	"../lib/inquest", "../" RECORD_LIBDIR "/inquest", "../collect"};

static bool own_folder(char *ret, size_t size)
{
	const ssize_t length = readlink("/proc/self/exe", ret, size - 1);
	if (length <= 0)
		return false;
	ret[length] = '\0';
	char *slash = strrchr(ret, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* The absolute name of FOLDER/PART/NAME if it is there. */
static bool find(const char *folder, const char *part, const char *name, char ret[PATH_MAX])
{
	char path[PATH_MAX];
	return snprintf(path, sizeof path, "%s/%s/%s", folder, part, name) < (int)sizeof path &&
	       realpath(path, ret) != NULL;
}

bool record_find_places(struct record_places *ret, char *problem, size_t problem_size)
{
	char folder[PATH_MAX];
	const char *given = getenv("INQUEST_RECORD_COLLECTOR");
	bool has_collector = false, has_hook = false;
	if (!own_folder(folder, sizeof folder)) {
		snprintf(problem, problem_size, "can't tell where the program lies");
		return false;
	}
	if (given && *given)
		has_collector = realpath(given, ret->collector) != NULL;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		has_collector =
			has_collector || find(folder, folders[i], COLLECTOR_NAME, ret->collector);
		has_hook = has_hook || find(folder, folders[i], HOOK_FILE, ret->hook);
	}
	if (!has_collector || !has_hook) {
		snprintf(problem, problem_size,
			"%s is not in lib/inquest beside %s: build it with 'ninja -C build', or "
			"install it with 'meson install -C build'",
			has_collector ? HOOK_FILE : COLLECTOR_NAME, folder);
		return false;
	}
	*strrchr(ret->hook, '/') = '\0';
	return true;
}

/* Files of a run: RANK.inq, its compressed form, and what SQLite keeps beside it. */
static bool is_of_run(const char *name)
{
	static const char *const endings[] = {
		".inq", ".inq.zst", ".inq-wal", ".inq-shm", ".inq-journal"};
	const size_t length = strlen(name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		const size_t ending = strlen(endings[i]);
		if (length > ending && strcmp(name + length - ending, endings[i]) == 0)
			return true;
	}
	return false;
}

/* Removes a run's files, or counts them; -1 when that failed, with errno. */
static int visit_files(const char *folder, bool remove_them)
{
	DIR *directory = opendir(folder);
	int count = 0;
	if (!directory)
		return -1;
	for (const struct dirent *entry; count >= 0 && (entry = readdir(directory));)
		if (is_of_run(entry->d_name)) {
			count++;
			if (remove_them && unlinkat(dirfd(directory), entry->d_name, 0) != 0)
				count = -1;
		}
	const int problem = errno;
	closedir(directory);
	errno = problem;
	return count;
}

/* The same with the files of ranks that were started again (library/record_lives.h). */
static int visit_run(const char *folder, bool remove_them)
{
	char below[PATH_MAX];
	const int count = visit_files(folder, remove_them);
	if (count < 0 || snprintf(below, sizeof below, "%s/earlier", folder) >= (int)sizeof below)
		return count;
	const int more = visit_files(below, remove_them);
	if (more < 0)
		return errno == ENOENT || errno == ENOTDIR ? count : -1;
	if (more > 0 && remove_them)
		rmdir(below); /* if it is empty */
	return count + more;
}

static bool make_one(const char *folder)
{
	struct stat status;
	if (mkdir(folder, 0777) == 0)
		return true;
	if (errno != EEXIST || stat(folder, &status) != 0)
		return false;
	errno = ENOTDIR;
	return S_ISDIR(status.st_mode);
}

/* With the folders above it. */
static bool make(const char *folder)
{
	char part[PATH_MAX];
	if (snprintf(part, sizeof part, "%s", folder) >= (int)sizeof part) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (char *at = part + 1; part[0] && (at = strchr(at, '/')); at++) {
		*at = '\0';
		/* What is there may be what we can't make: a folder of the automounter's. */
		if (access(part, F_OK) != 0 && !make_one(part))
			return false;
		*at = '/';
	}
	return make_one(folder);
}

enum folder_answer record_make_folder(
	const char *folder, bool replace, char ret[PATH_MAX], char *problem, size_t problem_size)
{
	const bool is_there = make(folder) && realpath(folder, ret);
	const int count = is_there ? visit_run(ret, replace) : -1;
	if (count < 0 || access(ret, W_OK | X_OK) != 0) {
		snprintf(problem, problem_size, "%s: can't record there: %s", folder,
			strerror(errno));
		return FOLDER_FAILED;
	}
	if (count > 0 && !replace) {
		snprintf(problem, problem_size,
			"%s holds a run already; --force replaces it, -o names another folder",
			folder);
		return FOLDER_REFUSED;
	}
	return FOLDER_READY;
}
