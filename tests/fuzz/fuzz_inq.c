/*
 * Any bytes as a .inq file, or as a .inq.zst when they begin as zstd does: a trace or one line.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read/inq.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* SQLite wants a name; the file has one while it is read. */
static int write_input(char *path, size_t path_size, const uint8_t *data, size_t size)
{
	const char *folder = getenv("TMPDIR");
	snprintf(path, path_size, "%s/fuzz_inq.XXXXXX", folder ? folder : "/tmp");
	const int fd = mkstemp(path);
	if (fd < 0)
		return -1;
	const ssize_t done = write(fd, data, size);
	close(fd);
	return done == (ssize_t)size ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	char path[256];
	struct trace trace;
	struct err err = {0};
	if (write_input(path, sizeof path, data, size) != 0)
		return 0;
	const bool is_zst = size >= sizeof zstd && memcmp(data, zstd, sizeof zstd) == 0;
	if (inq_read(path, is_zst, &trace, &err))
		trace_done(&trace);
	else if (err.code == ERR_NONE || err.code == ERR_INTERNAL || strchr(err.msg, '\n'))
		abort();
	unlink(path);
	return 0;
}
