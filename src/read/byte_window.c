#include "read/byte_window.h"

#include <string.h>

#include "base/mem.h"
#include "read/byte_pump.h"
#include "read/byte_source.h"

static bool make_buffer(struct byte_window *window, size_t window_bytes, struct err *err)
{
	if (window_bytes == 0)
		window_bytes = BYTE_WINDOW_DEFAULT;
	if (window_bytes < BYTE_WINDOW_LEAST)
		window_bytes = BYTE_WINDOW_LEAST;
	window->hold = NO_HOLD;
	window->capacity = window_bytes;
	window->buffer = mem_new(window_bytes + BYTE_WINDOW_PADDING, 1, err);
	window->at = window->end = window->buffer;
	return window->buffer != NULL;
}

bool byte_window_open(
	struct byte_window *window, const char *path, size_t window_bytes, struct err *err)
{
	*window = (struct byte_window){0};
	window->source = byte_source_open(path, err);
	if (window->source && make_buffer(window, window_bytes, err))
		return true;
	byte_window_done(window);
	return false;
}

bool byte_window_over(struct byte_window *window, const char *bytes, size_t length,
	size_t window_bytes, struct err *err)
{
	*window = (struct byte_window){0};
	window->source = byte_source_over(bytes, length, err);
	if (window->source && make_buffer(window, window_bytes, err))
		return true;
	byte_window_done(window);
	return false;
}

void byte_window_read_ahead(struct byte_window *window)
{
	if (!window->pump && byte_source_encoding(window->source) != BYTES_PLAIN)
		window->pump = byte_pump_start(window->source);
}

void byte_window_done(struct byte_window *window)
{
	byte_pump_stop(window->pump);
	byte_source_close(window->source);
	mem_free(window->buffer);
	*window = (struct byte_window){0};
}

/* Makes room after the bytes that stay: moves them to the front, or doubles the buffer. */
static bool make_room(struct byte_window *window)
{
	const uint64_t at = byte_window_offset(window);
	const uint64_t keep_from = window->hold < at ? window->hold : at;
	const size_t gone = (size_t)(keep_from - window->base);
	const size_t kept = (size_t)(window->end - window->buffer) - gone;
	size_t at_index = (size_t)(window->at - window->buffer);
	/* Growing at half full keeps the bytes moved below the bytes read. */
	if (kept > window->capacity / 2) {
		if (window->capacity >= BYTE_WINDOW_LIMIT) {
			window->is_overfull = true;
			return false;
		}
		const size_t capacity = window->capacity * 2;
		if (!mem_resize(&window->buffer, capacity + BYTE_WINDOW_PADDING, 1, &window->err))
			return false;
		window->capacity = capacity;
	}
	memmove(window->buffer, window->buffer + gone, kept);
	at_index -= gone;
	window->base += gone;
	window->at = window->buffer + at_index;
	window->end = window->buffer + kept;
	return true;
}

bool byte_window_more(struct byte_window *window)
{
	if (window->is_at_end || !make_room(window))
		return false;
	const size_t held = (size_t)(window->end - window->buffer);
	size_t got = 0;
	char *to = window->buffer + held;
	const size_t room = window->capacity - held;
	if (!(window->pump ? byte_pump_read(window->pump, to, room, &got, &window->err)
			   : byte_source_read(window->source, to, room, &got, &window->err)))
		got = 0;
	window->end = window->buffer + held + got;
	memset(window->buffer + held + got, 0, BYTE_WINDOW_PADDING);
	if (got == 0) {
		window->is_at_end = true;
		window->is_truncated = byte_source_is_truncated(window->source);
	}
	return got != 0;
}

char byte_window_ahead(struct byte_window *window, size_t ahead)
{
	while ((size_t)(window->end - window->at) <= ahead)
		if (!byte_window_more(window))
			return '\0';
	return window->at[ahead];
}

size_t byte_window_space_ahead(struct byte_window *window, size_t ahead)
{
	for (;; ahead++) {
		const char c = byte_window_ahead(window, ahead);
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return ahead;
	}
}
