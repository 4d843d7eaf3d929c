#include "read/byte_pump.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "read/byte_source.h"

#define PIECE_COUNT 4u

struct piece {
	size_t length; /* 0 is the end */
	/* In front is room for what the reader still needs of the piece before. */
	char room[BYTE_PUMP_FRONT + BYTE_PUMP_PIECE + BYTE_PUMP_PADDING];
};

static char *bytes_of(struct piece *piece)
{
	return piece->room + BYTE_PUMP_FRONT;
}

struct byte_pump {
	struct byte_source *source;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t is_changed;
	/* Under the mutex.  Pieces are filled and taken in turn; both numbers only grow. */
	size_t filled, taken;
	bool must_stop;
	struct err err;
	/* Of the reader. */
	size_t offset;	/* within the piece being read */
	bool is_viewed; /* the piece `taken` is looked at in place */
	/* Piece n is the thread's while n >= filled, the reader's while taken <= n < filled. */
	struct piece piece[PIECE_COUNT];
};

/* Fills pieces until the source ends, which an empty one says, or the reader wants no more. */
static void *fill_pieces(void *argument)
{
	struct byte_pump *pump = argument;
	for (size_t at = 0;; at++) {
		pthread_mutex_lock(&pump->mutex);
		while (at - pump->taken == PIECE_COUNT && !pump->must_stop)
			pthread_cond_wait(&pump->is_changed, &pump->mutex);
		const bool must_stop = pump->must_stop;
		pthread_mutex_unlock(&pump->mutex);
		if (must_stop)
			return NULL;
		struct piece *piece = &pump->piece[at % PIECE_COUNT];
		struct err err = {0};
		if (!byte_source_read(
			    pump->source, bytes_of(piece), BYTE_PUMP_PIECE, &piece->length, &err))
			piece->length = 0;
		memset(bytes_of(piece) + piece->length, 0, BYTE_PUMP_PADDING);
		const bool is_end = piece->length == 0;
		pthread_mutex_lock(&pump->mutex);
		pump->filled = at + 1;
		pump->err = err;
		pthread_cond_signal(&pump->is_changed);
		pthread_mutex_unlock(&pump->mutex);
		if (is_end)
			return NULL;
	}
}

struct byte_pump *byte_pump_start(struct byte_source *source)
{
	struct byte_pump *pump = mem_new(1, sizeof *pump, NULL);
	if (!pump)
		return NULL;
	pump->source = source;
	pthread_mutex_init(&pump->mutex, NULL);
	pthread_cond_init(&pump->is_changed, NULL);
	if (pthread_create(&pump->thread, NULL, fill_pieces, pump) == 0)
		return pump;
	pthread_cond_destroy(&pump->is_changed);
	pthread_mutex_destroy(&pump->mutex);
	mem_free(pump);
	return NULL;
}

/* The piece that comes next, when it is filled. */
static struct piece *next_piece(struct byte_pump *pump, bool *ret_is_failed, struct err *err)
{
	pthread_mutex_lock(&pump->mutex);
	while (pump->filled == pump->taken + pump->is_viewed)
		pthread_cond_wait(&pump->is_changed, &pump->mutex);
	struct piece *piece = &pump->piece[(pump->taken + pump->is_viewed) % PIECE_COUNT];
	/* The error, if there is one, came after all the pieces before the empty one. */
	*ret_is_failed = piece->length == 0 && pump->err.code != ERR_NONE;
	if (*ret_is_failed)
		err_set(err, pump->err.code, "%s", pump->err.msg);
	pthread_mutex_unlock(&pump->mutex);
	return piece;
}

static void give_back(struct byte_pump *pump)
{
	pump->offset = 0;
	pthread_mutex_lock(&pump->mutex);
	pump->taken++;
	/* Waking a thread costs as much as reading half a piece: not for each. */
	if (pump->filled - pump->taken <= PIECE_COUNT / 2)
		pthread_cond_signal(&pump->is_changed);
	pthread_mutex_unlock(&pump->mutex);
}

void byte_pump_end_view(struct byte_pump *pump)
{
	if (!pump->is_viewed)
		return;
	pump->is_viewed = false;
	give_back(pump);
}

bool byte_pump_view(struct byte_pump *pump, const char *kept, size_t kept_length, char **ret_bytes,
	size_t *ret_got, struct err *err)
{
	bool is_failed;
	struct piece *piece = next_piece(pump, &is_failed, err);
	/* The piece before is left only now that its last bytes are copied. */
	char *bytes = bytes_of(piece) - kept_length;
	memcpy(bytes, kept, kept_length);
	byte_pump_end_view(pump);
	/* The empty piece is never taken, so that the end stays the end. */
	pump->is_viewed = piece->length > 0;
	*ret_bytes = bytes;
	*ret_got = piece->length;
	return !is_failed;
}

bool byte_pump_can_view(const struct byte_pump *pump)
{
	return pump->offset == 0;
}

bool byte_pump_read(struct byte_pump *pump, char *to, size_t room, size_t *ret_got, struct err *err)
{
	bool is_failed;
	byte_pump_end_view(pump);
	struct piece *piece = next_piece(pump, &is_failed, err);
	const size_t left = piece->length - pump->offset;
	const size_t got = left < room ? left : room;
	memcpy(to, bytes_of(piece) + pump->offset, got);
	pump->offset += got;
	*ret_got = got;
	if (pump->offset == piece->length && piece->length > 0)
		give_back(pump);
	return !is_failed;
}

void byte_pump_stop(struct byte_pump *pump)
{
	if (!pump)
		return;
	pthread_mutex_lock(&pump->mutex);
	pump->must_stop = true;
	pthread_cond_signal(&pump->is_changed);
	pthread_mutex_unlock(&pump->mutex);
	pthread_join(pump->thread, NULL);
	pthread_cond_destroy(&pump->is_changed);
	pthread_mutex_destroy(&pump->mutex);
	mem_free(pump);
}
