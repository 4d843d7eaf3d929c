#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define NAME_TRIES 1000u
#define NAME_BYTES 64u /* the temporary name's room beside its directory */

/* Bytes of the path up to and with its last slash. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

/*
 * mkstemp is not used: it makes files that only their owner may read, and what a file's mode should
 * be can't be asked without changing the process's umask.
 */
static bool create_temporary(struct atomic_file *file, struct err *err)
{
	const size_t length = directory_length(file->path);
	memcpy(file->temporary, file->path, length);
	for (unsigned i = 0; i < NAME_TRIES; i++) {
		snprintf(file->temporary + length, NAME_BYTES, ".inquest.%ld.%u.tmp",
			(long)getpid(), i);
		const int fd = open(
			file->temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOCTTY, 0666);
		if (fd >= 0) {
			close(fd);
			return true;
		}
		if (errno != EEXIST)
			return err_set_errno(err, errno, "can't write");
	}
	return err_set(err, ERR_IO, "too many files .inquest.*.tmp beside it");
}

bool atomic_file_begin(struct atomic_file *ret, const char *path, struct err *err)
{
	struct stat status;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return err_set(err, ERR_IO, "can't write: it is %s",
			S_ISDIR(status.st_mode) ? "a directory" : "no regular file");
	struct atomic_file file = {0};
	const size_t size = strlen(path) + 1;
	file.path = mem_new(size, 1, err);
	file.temporary = file.path ? mem_new(size + NAME_BYTES, 1, err) : NULL;
	if (!file.temporary) {
		mem_free(file.path);
		return false;
	}
	memcpy(file.path, path, size);
	if (!create_temporary(&file, err)) {
		mem_free(file.temporary);
		mem_free(file.path);
		return false;
	}
	*ret = file;
	return true;
}

static bool sync_file(const char *name, int flags)
{
	const int fd = open(name, flags | O_CLOEXEC);
	if (fd < 0)
		return false;
	const int result = fsync(fd);
	const int cause = errno;
	close(fd);
	errno = cause;
	return result == 0;
}

bool atomic_file_commit(struct atomic_file *file, struct err *err)
{
	if (!sync_file(file->temporary, O_WRONLY))
		return err_set_errno(err, errno, "can't write");
	if (rename(file->temporary, file->path) != 0)
		return err_set_errno(err, errno, "can't write");
	/* The file is there; that its name outlives a power cut is a best effort: some file systems
	   can't sync a directory. */
	const size_t length = directory_length(file->path);
	if (length) {
		memcpy(file->temporary, file->path, length);
		file->temporary[length] = '\0';
	} else {
		strcpy(file->temporary, ".");
	}
	(void)sync_file(file->temporary, O_RDONLY | O_DIRECTORY);
	mem_free(file->temporary);
	file->temporary = NULL;
	return true;
}

void atomic_file_done(struct atomic_file *file)
{
	if (file->temporary)
		unlink(file->temporary);
	mem_free(file->temporary);
	mem_free(file->path);
	*file = (struct atomic_file){0};
}
