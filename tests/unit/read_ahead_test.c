/*
 * Bytes read ahead are looked at where they lie, or copied where much of them is held: whatever is
 * held, and however long, the bytes are those of the source.
 */
#include "reading.h"

#define BYTE_COUNT ((5u << 20) + 12345) /* the last piece is a short one */

static uint32_t seed = 3;

static uint32_t below(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % limit;
}

static char byte_of(uint64_t offset)
{
	return (char)(1 + (offset * 2654435761u >> 7) % 250);
}

static void check_held(const struct byte_window *window, uint64_t offset)
{
	for (uint64_t at = offset; at < byte_window_offset(window); at++)
		assert_int_equal(*byte_window_at(window, at), byte_of(at));
}

/* Goes through all bytes, holding now and then up to `most_held` of them. */
static void walk(struct byte_window *window, uint32_t most_held)
{
	uint64_t offset = 0, release = 0;
	for (;;) {
		while (window->at < window->end) {
			assert_int_equal(*window->at, byte_of(offset));
			window->at++;
			offset++;
			if (window->hold != NO_HOLD && offset >= release) {
				check_held(window, window->hold);
				window->hold = NO_HOLD;
			} else if (window->hold == NO_HOLD && below(2000) == 0) {
				window->hold = offset;
				release = offset + 1 + below(most_held);
			}
		}
		/* What the scanner's loops rely on at the end of the bytes in memory. */
		for (size_t i = 0; i < BYTE_WINDOW_PADDING; i++)
			assert_int_equal(window->end[i], 0);
		if (!byte_window_more(window))
			break;
		assert_int_equal(byte_window_offset(window), offset);
	}
	assert_int_equal(offset, BYTE_COUNT);
	assert_false(byte_window_more(window));
	assert_int_equal(window->err.code, ERR_NONE);
}

static void gives_the_bytes(void **state)
{
	(void)state;
	static const uint32_t most_held[] = {1, 5000, 40000, 1u << 20};
	char *bytes = malloc(BYTE_COUNT);
	assert_non_null(bytes);
	for (uint64_t i = 0; i < BYTE_COUNT; i++)
		bytes[i] = byte_of(i);
	for (size_t m = 0; m < sizeof most_held / sizeof *most_held; m++)
		for (size_t window_bytes = 0; window_bytes < 3000; window_bytes += 1000) {
			struct byte_window window;
			struct err err = {0};
			assert_true(
				byte_window_over(&window, bytes, BYTE_COUNT, window_bytes, &err));
			byte_window_read_ahead(&window);
			walk(&window, most_held[m]);
			byte_window_done(&window);
		}
	free(bytes);
}

/* A reader that stops early, as at an error, leaves no thread behind. */
static void may_be_left_early(void **state)
{
	(void)state;
	char *bytes = calloc(BYTE_COUNT, 1);
	assert_non_null(bytes);
	for (int pieces = 0; pieces < 12; pieces++) {
		struct byte_window window;
		struct err err = {0};
		assert_true(byte_window_over(&window, bytes, BYTE_COUNT, 0, &err));
		byte_window_read_ahead(&window);
		for (int p = 0; p < pieces; p++) {
			assert_true(byte_window_more(&window));
			window.at = window.end;
		}
		byte_window_done(&window);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_bytes),
		cmocka_unit_test(may_be_left_early),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
