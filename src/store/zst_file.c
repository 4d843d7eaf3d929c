#include "store/zst_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/mem.h"

/*
 * Packs a trace's pages to a third, at 150 MB/s; level 19 gains a fifth more and takes sixty times
 * as long.
 */
#define LEVEL 3

#define BUFFER_BYTES (1u << 20)

struct packer {
	int from, to;
	ZSTD_CCtx *zstd;
	char *input, *output;
};

static bool open_packer(struct packer *packer, const char *from, const char *to, struct err *err)
{
	packer->input = mem_new(BUFFER_BYTES, 1, err);
	packer->output = packer->input ? mem_new(BUFFER_BYTES, 1, err) : NULL;
	if (!packer->output)
		return false;
	packer->zstd = ZSTD_createCCtx();
	if (!packer->zstd)
		return err_set(err, ERR_NOMEM, "out of memory (a zstd compressor)");
	packer->from = open(from, O_RDONLY | O_CLOEXEC);
	if (packer->from < 0)
		return err_set_errno(err, errno, "can't read what was written");
	packer->to = open(to, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (packer->to < 0)
		return err_set_errno(err, errno, "can't write");
	struct stat status;
	if (fstat(packer->from, &status) == 0)
		ZSTD_CCtx_setPledgedSrcSize(packer->zstd, (unsigned long long)status.st_size);
	/* The checksum tells a reader of damage that SQLite's pages would not show. */
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, LEVEL);
	return true;
}

static bool write_whole(int fd, const char *bytes, size_t count, struct err *err)
{
	while (count) {
		const ssize_t done = write(fd, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_set_errno(err, errno, "can't write");
		bytes += done;
		count -= (size_t)done;
	}
	return true;
}

/* Compresses what was read; the last piece ends the frame. */
static bool pack_piece(struct packer *packer, size_t count, bool is_last, struct err *err)
{
	ZSTD_inBuffer in = {packer->input, count, 0};
	for (;;) {
		ZSTD_outBuffer out = {packer->output, BUFFER_BYTES, 0};
		const size_t left = ZSTD_compressStream2(
			packer->zstd, &out, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return err_set(err, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(left));
		if (!write_whole(packer->to, packer->output, out.pos, err))
			return false;
		if (is_last ? left == 0 : in.pos == in.size)
			return true;
	}
}

static bool pack(struct packer *packer, struct err *err)
{
	for (;;) {
		const ssize_t got = read(packer->from, packer->input, BUFFER_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set_errno(err, errno, "can't read what was written");
		if (!pack_piece(packer, (size_t)got, got == 0, err))
			return false;
		if (got == 0)
			return true;
	}
}

bool zst_file_pack(const char *from, const char *to, struct err *err)
{
	struct packer packer = {.from = -1, .to = -1};
	bool ok = open_packer(&packer, from, to, err) && pack(&packer, err);
	if (packer.from >= 0)
		close(packer.from);
	if (packer.to >= 0 && close(packer.to) != 0 && ok)
		ok = err_set_errno(err, errno, "can't write");
	ZSTD_freeCCtx(packer.zstd);
	mem_free(packer.input);
	mem_free(packer.output);
	return ok;
}
