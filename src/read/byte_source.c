#include "read/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"
#include "read/gunzip.h"

#define INPUT_BYTES (256u << 10)

struct byte_source {
	int fd; /* -1 over memory */
	const char *memory;
	size_t memory_left;
	enum byte_encoding encoding;
	bool is_at_end;	   /* of the file */
	bool is_inside;	   /* a member or frame has begun and not ended */
	bool is_truncated; /* see the header */
	struct gunzip *gunzip;
	ZSTD_DStream *zstd;
	size_t input_at, input_end;
	char input[INPUT_BYTES];
};

/* read(2), or the same from memory. */
static ssize_t read_some(struct byte_source *source, char *to, size_t room)
{
	if (source->fd >= 0)
		return read(source->fd, to, room);
	const size_t got = source->memory_left < room ? source->memory_left : room;
	memcpy(to, source->memory, got);
	source->memory += got;
	source->memory_left -= got;
	return (ssize_t)got;
}

/* Reads on after what is left in `input`, which moves to its front. */
static bool fill_input(struct byte_source *source, struct err *err)
{
	const size_t left = source->input_end - source->input_at;
	memmove(source->input, source->input + source->input_at, left);
	source->input_at = 0;
	source->input_end = left;
	while (!source->is_at_end && source->input_end < INPUT_BYTES) {
		const ssize_t got = read_some(
			source, source->input + source->input_end, INPUT_BYTES - source->input_end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(err, errno, "can't read");
		if (got == 0)
			source->is_at_end = true;
		source->input_end += (size_t)got;
		if (got > 0 && source->encoding != BYTES_PLAIN)
			break;
	}
	return true;
}

static bool begin_encoding(struct byte_source *source, struct err *err)
{
	const unsigned char *magic = (const unsigned char *)source->input;
	const size_t count = source->input_end;
	const bool is_zstd_frame =
		count >= 4 && magic[0] == 0x28 && magic[1] == 0xb5 && magic[2] == 0x2f;
	/* A frame that decompressors skip may stand first, as seekable files have it. */
	const bool is_skippable_frame = count >= 4 && (magic[0] & 0xf0) == 0x50 &&
					magic[1] == 0x2a && magic[2] == 0x4d && magic[3] == 0x18;
	if (count >= 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
		source->encoding = BYTES_GZIP;
		source->gunzip = gunzip_new(err);
		return source->gunzip != NULL;
	}
	if ((is_zstd_frame && magic[3] == 0xfd) || is_skippable_frame) {
		source->encoding = BYTES_ZSTD;
		source->zstd = ZSTD_createDStream();
		if (!source->zstd)
			return err_set(err, ERR_NOMEM, "out of memory (a zstd decompressor)");
	}
	return true;
}

struct byte_source *byte_source_open(const char *path, struct err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_set_errno(err, errno, "can't open");
		return NULL;
	}
	struct stat status;
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		err_set(err, ERR_INPUT, "is a directory");
		return NULL;
	}
	struct byte_source *source = mem_new(1, sizeof *source, err);
	if (!source) {
		close(fd);
		return NULL;
	}
	source->fd = fd;
	if (!fill_input(source, err) || !begin_encoding(source, err)) {
		byte_source_close(source);
		return NULL;
	}
	return source;
}

struct byte_source *byte_source_over(const char *bytes, size_t length, struct err *err)
{
	struct byte_source *source = mem_new(1, sizeof *source, err);
	if (!source)
		return NULL;
	source->fd = -1;
	source->memory = bytes;
	source->memory_left = length;
	if (!fill_input(source, err) || !begin_encoding(source, err)) {
		byte_source_close(source);
		return NULL;
	}
	return source;
}

void byte_source_close(struct byte_source *source)
{
	if (!source)
		return;
	gunzip_free(source->gunzip);
	ZSTD_freeDStream(source->zstd);
	if (source->fd >= 0)
		close(source->fd);
	mem_free(source);
}

enum byte_encoding byte_source_encoding(const struct byte_source *source)
{
	return source->encoding;
}

bool byte_source_is_truncated(const struct byte_source *source)
{
	return source->is_truncated;
}

static bool read_plain(
	struct byte_source *source, char *to, size_t room, size_t *ret_got, struct err *err)
{
	const size_t held = source->input_end - source->input_at;
	if (held) {
		*ret_got = held < room ? held : room;
		memcpy(to, source->input + source->input_at, *ret_got);
		source->input_at += *ret_got;
		return true;
	}
	*ret_got = 0;
	while (!source->is_at_end) {
		const ssize_t got = read_some(source, to, room);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(err, errno, "can't read");
		source->is_at_end = got == 0;
		*ret_got = (size_t)got;
		break;
	}
	return true;
}

/* One step of the decompressor: consumes input, fills `to`.  False stops the source for good. */
static bool step_gzip(struct byte_source *source, char *to, size_t room, size_t *ret_got)
{
	const char *input = source->input + source->input_at;
	const size_t held = source->input_end - source->input_at;
	if (!source->is_inside) {
		/* Zeros after the last member are padding, as tapes and some writers leave it. */
		if (held < 2 || input[0] != 0x1f || (unsigned char)input[1] != 0x8b) {
			for (size_t i = 0; i < held; i++)
				source->is_truncated |= input[i] != 0;
			return false;
		}
		gunzip_reset(source->gunzip);
		source->is_inside = true;
	}
	size_t used = 0;
	const enum gunzip_state state =
		gunzip_step(source->gunzip, input, held, &used, to, room, ret_got);
	source->input_at += used;
	if (state == GUNZIP_MEMBER_END)
		source->is_inside = false;
	if (state == GUNZIP_DAMAGED)
		source->is_truncated = true;
	return state != GUNZIP_DAMAGED;
}

static bool step_zstd(struct byte_source *source, char *to, size_t room, size_t *ret_got)
{
	ZSTD_inBuffer input = {
		source->input + source->input_at, source->input_end - source->input_at, 0};
	ZSTD_outBuffer output = {to, room, 0};
	const size_t hint = ZSTD_decompressStream(source->zstd, &output, &input);
	source->input_at += input.pos;
	*ret_got = output.pos;
	if (ZSTD_isError(hint)) {
		source->is_truncated = true;
		return false;
	}
	source->is_inside = hint != 0;
	return true;
}

bool byte_source_read(
	struct byte_source *source, char *to, size_t room, size_t *ret_got, struct err *err)
{
	if (source->encoding == BYTES_PLAIN)
		return read_plain(source, to, room, ret_got, err);
	*ret_got = 0;
	while (*ret_got == 0 && !source->is_truncated) {
		const size_t held = source->input_end - source->input_at;
		if (held < 2 && !source->is_at_end && !fill_input(source, err))
			return false;
		const size_t before = source->input_end - source->input_at;
		if (before == 0 && source->is_at_end && !source->is_inside)
			return true;
		const bool goes_on = source->encoding == BYTES_GZIP
					     ? step_gzip(source, to, room, ret_got)
					     : step_zstd(source, to, room, ret_got);
		if (!goes_on)
			source->is_at_end = true, source->input_at = source->input_end,
			source->is_inside = false;
		/* Nothing in, nothing out, nothing more to come: the end is missing. */
		const bool is_stuck = *ret_got == 0 &&
				      before == source->input_end - source->input_at &&
				      source->is_at_end;
		if (is_stuck && source->is_inside) {
			source->is_truncated = true;
			return true;
		}
	}
	return true;
}
