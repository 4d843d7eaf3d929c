#include "read/gunzip.h"

#include "base/mem.h"

#if HAVE_ISAL
#include <isa-l.h>
#else
#include <zlib.h>
#endif

#define MAX_STEP_BYTES (1u << 30) /* both libraries count in 32 bits */

static unsigned step_bytes(size_t bytes)
{
	return bytes < MAX_STEP_BYTES ? (unsigned)bytes : MAX_STEP_BYTES;
}

#if HAVE_ISAL

struct gunzip {
	struct inflate_state state;
};

struct gunzip *gunzip_new(struct err *err)
{
	return mem_new(1, sizeof(struct gunzip), err);
}

void gunzip_free(struct gunzip *gunzip)
{
	mem_free(gunzip);
}

void gunzip_reset(struct gunzip *gunzip)
{
	isal_inflate_init(&gunzip->state);
	gunzip->state.crc_flag = ISAL_GZIP;
}

enum gunzip_state gunzip_step(struct gunzip *gunzip, const char *input, size_t held,
	size_t *ret_used, char *to, size_t room, size_t *ret_got)
{
	struct inflate_state *state = &gunzip->state;
	state->next_in = (uint8_t *)input;
	state->avail_in = step_bytes(held);
	state->next_out = (uint8_t *)to;
	state->avail_out = step_bytes(room);
	const int result = isal_inflate(state);
	*ret_used = (size_t)(state->next_in - (const uint8_t *)input);
	*ret_got = (size_t)(state->next_out - (uint8_t *)to);
	/* Above zero the library only asks for more input or room. */
	if (result < ISAL_DECOMP_OK)
		return GUNZIP_DAMAGED;
	return state->block_state == ISAL_BLOCK_FINISH ? GUNZIP_MEMBER_END : GUNZIP_GOES_ON;
}

#else

struct gunzip {
	z_stream stream;
};

struct gunzip *gunzip_new(struct err *err)
{
	struct gunzip *gunzip = mem_new(1, sizeof *gunzip, err);
	/* 16 asks for the gzip wrapper around the largest window. */
	if (gunzip && inflateInit2(&gunzip->stream, 16 + MAX_WBITS) != Z_OK) {
		err_set(err, ERR_NOMEM, "out of memory (a gzip decompressor)");
		mem_free(gunzip);
		return NULL;
	}
	return gunzip;
}

void gunzip_free(struct gunzip *gunzip)
{
	if (!gunzip)
		return;
	inflateEnd(&gunzip->stream);
	mem_free(gunzip);
}

void gunzip_reset(struct gunzip *gunzip)
{
	inflateReset(&gunzip->stream);
}

enum gunzip_state gunzip_step(struct gunzip *gunzip, const char *input, size_t held,
	size_t *ret_used, char *to, size_t room, size_t *ret_got)
{
	z_stream *stream = &gunzip->stream;
	stream->next_in = (Bytef *)input;
	stream->avail_in = step_bytes(held);
	stream->next_out = (Bytef *)to;
	stream->avail_out = step_bytes(room);
	const int result = inflate(stream, Z_NO_FLUSH);
	*ret_used = (size_t)((char *)stream->next_in - input);
	*ret_got = (size_t)((char *)stream->next_out - to);
	if (result == Z_STREAM_END)
		return GUNZIP_MEMBER_END;
	return result == Z_OK || result == Z_BUF_ERROR ? GUNZIP_GOES_ON : GUNZIP_DAMAGED;
}

#endif
