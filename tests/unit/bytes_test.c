/* Bytes from plain, gzip and zstd files: the same whatever the window, and as many as there are. */
#include "reading.h"

#include <zlib.h>
#include <zstd.h>

#define PLAIN_BYTES 200000u

static char plain[PLAIN_BYTES];

/* Text that compresses somewhat, from a fixed sequence. */
static int make_plain(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (size_t i = 0; i < PLAIN_BYTES; i++) {
		seed = seed * 1664525 + 1013904223;
		plain[i] = (char)('a' + (seed >> 24) % 16);
	}
	return 0;
}

static void add_gzip(struct text *to, const char *bytes, size_t length)
{
	z_stream stream = {0};
	assert_int_equal(
		deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	const size_t room = deflateBound(&stream, length);
	char *packed = malloc(room);
	stream.next_in = (Bytef *)bytes;
	stream.avail_in = (unsigned)length;
	stream.next_out = (Bytef *)packed;
	stream.avail_out = (unsigned)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	text_add(to, packed, stream.total_out);
	deflateEnd(&stream);
	free(packed);
}

static void add_zstd(struct text *to, const char *bytes, size_t length)
{
	const size_t room = ZSTD_compressBound(length);
	char *packed = malloc(room);
	const size_t size = ZSTD_compress(packed, room, bytes, length, 3);
	assert_false(ZSTD_isError(size));
	text_add(to, packed, size);
	free(packed);
}

/* Whether another thread decompresses; every test is run both ways. */
static bool reads_ahead;

/* Everything the window shows, taken `step` bytes at a time. */
static struct text drain(
	const char *bytes, size_t length, size_t window_bytes, size_t step, bool *ret_truncated)
{
	struct byte_window window;
	struct err err = {0};
	struct text all = {0};
	assert_true(byte_window_over(&window, bytes, length, window_bytes, &err));
	if (reads_ahead)
		byte_window_read_ahead(&window);
	for (;;) {
		if (window.at == window.end && !byte_window_more(&window))
			break;
		assert_int_equal(*window.end, '\0');
		assert_int_equal(byte_window_offset(&window), all.length);
		const size_t held = (size_t)(window.end - window.at);
		const size_t taken = held < step ? held : step;
		text_add(&all, window.at, taken);
		window.at += taken;
	}
	assert_int_equal(window.err.code, ERR_NONE);
	*ret_truncated = window.is_truncated;
	byte_window_done(&window);
	return all;
}

static void assert_drains(const struct text *packed, size_t window_bytes, size_t step)
{
	bool is_truncated;
	struct text all = drain(packed->bytes, packed->length, window_bytes, step, &is_truncated);
	assert_int_equal(all.length, PLAIN_BYTES);
	assert_memory_equal(all.bytes, plain, PLAIN_BYTES);
	assert_false(is_truncated);
	free(all.bytes);
}

static void gives_the_same_bytes_through_any_window(void **state)
{
	(void)state;
	struct text packed[3] = {0};
	text_add(&packed[0], plain, PLAIN_BYTES);
	/* Three members, one of them empty. */
	add_gzip(&packed[1], plain, 70000);
	add_gzip(&packed[1], plain, 0);
	add_gzip(&packed[1], plain + 70000, PLAIN_BYTES - 70000);
	/* A frame that is to be skipped, an empty one, and two others. */
	text_add(&packed[2], "\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
	add_zstd(&packed[2], plain, 70000);
	add_zstd(&packed[2], plain, 0);
	add_zstd(&packed[2], plain + 70000, PLAIN_BYTES - 70000);
	for (int p = 0; p < 3; p++) {
		for (size_t window_bytes = 1; window_bytes <= 70; window_bytes += 3)
			assert_drains(&packed[p], window_bytes, 7);
		assert_drains(&packed[p], 4096, 4096);
		assert_drains(&packed[p], 0, 1u << 20);
		free(packed[p].bytes);
	}
}

static void takes_zeros_after_gzip_for_padding(void **state)
{
	(void)state;
	struct text packed = {0};
	add_gzip(&packed, plain, PLAIN_BYTES);
	text_add(&packed, "\0\0\0\0\0\0", 6);
	assert_drains(&packed, 0, 4096);
	text_add(&packed, "junk", 4);
	bool is_truncated;
	struct text all = drain(packed.bytes, packed.length, 0, 4096, &is_truncated);
	assert_int_equal(all.length, PLAIN_BYTES);
	assert_true(is_truncated);
	free(all.bytes);
	free(packed.bytes);
}

static void delivers_what_a_cut_file_holds(void **state)
{
	(void)state;
	for (int is_zstd = 0; is_zstd < 2; is_zstd++) {
		struct text packed = {0};
		(is_zstd ? add_zstd : add_gzip)(&packed, plain, 50000);
		(is_zstd ? add_zstd : add_gzip)(&packed, plain + 50000, PLAIN_BYTES - 50000);
		size_t before = 0;
		for (size_t length = 5; length < packed.length; length += 997) {
			bool is_truncated;
			struct text all = drain(packed.bytes, length, 0, 1u << 20, &is_truncated);
			assert_true(all.length >= before && all.length <= PLAIN_BYTES);
			if (all.length)
				assert_memory_equal(all.bytes, plain, all.length);
			/* Between two members nothing shows that more is to come. */
			assert_true(is_truncated || all.length == 50000);
			before = all.length;
			free(all.bytes);
		}
		assert_true(before > PLAIN_BYTES / 2);
		free(packed.bytes);
	}
}

static void stops_at_damage(void **state)
{
	(void)state;
	for (int is_zstd = 0; is_zstd < 2; is_zstd++) {
		struct text packed = {0};
		(is_zstd ? add_zstd : add_gzip)(&packed, plain, PLAIN_BYTES);
		packed.bytes[packed.length / 2] ^= 0x55;
		packed.bytes[packed.length / 2 + 1] ^= 0x55;
		packed.bytes[packed.length - 2] ^= 0x55;
		bool is_truncated;
		struct text all = drain(packed.bytes, packed.length, 0, 4096, &is_truncated);
		assert_true(is_truncated);
		free(all.bytes);
		free(packed.bytes);
	}
}

static void keeps_what_is_held(void **state)
{
	(void)state;
	struct byte_window window;
	struct err err = {0};
	assert_true(byte_window_over(&window, plain, PLAIN_BYTES, 16, &err));
	window.hold = 0;
	assert_true(byte_window_more(&window));
	for (size_t at = 0; at < 100000; at++) {
		if (window.at == window.end)
			assert_true(byte_window_more(&window));
		window.at++;
		if (at == 50000)
			window.hold = 40000;
	}
	assert_memory_equal(byte_window_at(&window, 40000), plain + 40000, 60000);
	assert_true(window.capacity < 4 * 60000);
	byte_window_done(&window);
}

static void drops_a_thread_that_is_ahead(void **state)
{
	(void)state;
	struct text packed = {0};
	struct byte_window window;
	struct err err = {0};
	for (int repeat = 0; repeat < 40; repeat++)
		add_zstd(&packed, plain, PLAIN_BYTES);
	for (int more = 0; more < 8; more++) {
		assert_true(byte_window_over(&window, packed.bytes, packed.length, 4096, &err));
		byte_window_read_ahead(&window);
		for (int m = 0; m < more; m++) {
			window.at = window.end;
			assert_true(byte_window_more(&window));
		}
		byte_window_done(&window);
	}
	free(packed.bytes);
}

static int read_ahead(void **state)
{
	(void)state;
	reads_ahead = true;
	return 0;
}

static int read_in_turn(void **state)
{
	(void)state;
	reads_ahead = false;
	return 0;
}

#define BOTH_WAYS(test)                                               \
	cmocka_unit_test(test),                                       \
	{                                                             \
		"ahead: " #test, test, read_ahead, read_in_turn, NULL \
	}

static void says_why_a_file_cannot_be_opened(void **state)
{
	(void)state;
	struct byte_window window;
	struct err err = {0};
	assert_false(byte_window_open(&window, "/nonexistent/file", 0, &err));
	assert_int_equal(err.code, ERR_IO);
	err = (struct err){0};
	assert_false(byte_window_open(&window, "/", 0, &err));
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.msg, "is a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH_WAYS(gives_the_same_bytes_through_any_window),
		BOTH_WAYS(takes_zeros_after_gzip_for_padding),
		BOTH_WAYS(delivers_what_a_cut_file_holds),
		BOTH_WAYS(stops_at_damage),
		cmocka_unit_test(drops_a_thread_that_is_ahead),
		cmocka_unit_test(keeps_what_is_held),
		cmocka_unit_test(says_why_a_file_cannot_be_opened),
	};
	return cmocka_run_group_tests(tests, make_plain, NULL);
}
