#include "read/inq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "read/byte_source.h"
#include "store/database.h"
#include "store/schema.h"
#include "store/trace_sql.h"

#define PIECE_BYTES (1u << 20)

/* The size that SQLite's header states.  File format, section 1.3. */
static uint64_t stated_bytes(const uint8_t *head)
{
	const uint32_t page_bytes = (uint32_t)head[16] << 8 | head[17];
	const uint32_t page_count = (uint32_t)head[28] << 24 | (uint32_t)head[29] << 16 |
				    (uint32_t)head[30] << 8 | head[31];
	return (uint64_t)page_count * (page_bytes == 1 ? 65536 : page_bytes);
}

static bool write_whole(int fd, const char *bytes, size_t count, struct err *err)
{
	while (count) {
		const ssize_t done = write(fd, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_set_errno(
				err, errno, "can't unpack (TMPDIR says where there is room)");
		bytes += done;
		count -= (size_t)done;
	}
	return true;
}

/* Fills `piece` but at the end. */
static bool read_piece(struct byte_source *source, char *piece, size_t *ret_count, struct err *err)
{
	size_t count = 0, got = 1;
	while (got && count < PIECE_BYTES) {
		if (!byte_source_read(source, piece + count, PIECE_BYTES - count, &got, err))
			return false;
		count += got;
	}
	*ret_count = count;
	return true;
}

/*
 * Stops at once when what comes out is no trace, and when it is more than it says: a small file
 * may unpack to more than the disk holds.
 */
static bool unpack_pieces(struct byte_source *source, char *piece, int fd, struct err *err)
{
	uint64_t total = 0, limit = 0;
	for (;;) {
		size_t count;
		if (!read_piece(source, piece, &count, err))
			return false;
		if (total == 0) {
			if (!schema_is_ours((const uint8_t *)piece, count))
				return err_set(err, ERR_INPUT, "holds no trace of inquest's");
			limit = stated_bytes((const uint8_t *)piece);
		}
		total += count;
		if (total > limit)
			return err_set(err, ERR_INPUT, "unpacks to more than its database says");
		if (count == 0)
			break;
		if (!write_whole(fd, piece, count, err))
			return false;
	}
	if (byte_source_is_truncated(source) || total < limit)
		return err_set(err, ERR_INPUT, "is cut short or damaged");
	return true;
}

static bool unpack(const char *path, int fd, struct err *err)
{
	struct byte_source *source = byte_source_open(path, err);
	char *piece = source ? mem_new(PIECE_BYTES, 1, err) : NULL;
	const bool ok = piece && unpack_pieces(source, piece, fd, err);
	mem_free(piece);
	byte_source_close(source);
	return ok;
}

/* SQLite opens by name only, so the name lives until it has. */
static bool open_unpacked(const char *path, sqlite3 **ret, struct err *err)
{
	static const char name[] = "/inquest.XXXXXX";
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/var/tmp";
	const size_t size = strlen(folder) + sizeof name;
	char *temporary = mem_new(size, 1, err);
	if (!temporary)
		return false;
	snprintf(temporary, size, "%s%s", folder, name);
	const int fd = mkostemp(temporary, O_CLOEXEC);
	bool ok = fd >= 0 || err_set_errno(err, errno, "can't unpack into '%s'", folder);
	if (ok) {
		ok = unpack(path, fd, err);
		close(fd);
		ok = ok && database_open(temporary, ret, err);
		unlink(temporary);
	}
	mem_free(temporary);
	return ok;
}

/* SQLite itself notices a missing tail only where a row of it is asked for. */
static bool open_plain(const char *path, sqlite3 **ret, struct err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set_errno(err, errno, "can't open");
	uint8_t head[SCHEMA_MAGIC_BYTES];
	struct stat status;
	const bool is_whole = fstat(fd, &status) != 0 ||
			      pread(fd, head, sizeof head, 0) != sizeof head ||
			      !schema_is_ours(head, sizeof head) ||
			      (uint64_t)status.st_size >= stated_bytes(head);
	close(fd);
	if (!is_whole)
		return err_set(err, ERR_INPUT, "is cut short");
	return database_open(path, ret, err);
}

static bool read_trace(const char *path, sqlite3 *db, struct trace *trace, struct err *err)
{
	bool is_sealed;
	if (!trace_init(trace, err) || !trace_set_file(trace, path, err) ||
		!trace_sql_read(db, trace, &is_sealed, err))
		return false;
	/*
	 * What says that it is sealed is sealed again, which changes nothing if that is true, since
	 * analyses rely on it; but what sealing counts is counted already.
	 */
	const struct diag diag = trace->diag;
	if (!trace_seal(trace, err))
		return false;
	if (is_sealed)
		trace->diag = diag;
	return true;
}

bool inq_read(const char *path, bool is_zst, struct trace *ret, struct err *err)
{
	sqlite3 *db = NULL;
	struct trace trace = {0};
	bool ok = is_zst ? open_unpacked(path, &db, err) : open_plain(path, &db, err);
	ok = ok && read_trace(path, db, &trace, err);
	database_close(db);
	if (!ok) {
		trace_done(&trace);
		return err_prefix(err, "%s", path);
	}
	*ret = trace;
	return true;
}
