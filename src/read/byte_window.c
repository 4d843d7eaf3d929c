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
	window->own = window->buffer = mem_new(window_bytes + BYTE_WINDOW_PADDING, 1, err);
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
	if (!window->pump)
		window->pump = byte_pump_start(window->source);
}

void byte_window_done(struct byte_window *window)
{
	byte_pump_stop(window->pump);
	byte_source_close(window->source);
	mem_free(window->own);
	*window = (struct byte_window){0};
}

/* The bytes that stay, from buffer + `*ret_gone` to `end`. */
static size_t kept_bytes(const struct byte_window *window, size_t *ret_gone)
{
	const uint64_t at = byte_window_offset(window);
	*ret_gone = (size_t)((window->hold < at ? window->hold : at) - window->base);
	return (size_t)(window->end - window->buffer) - *ret_gone;
}

/* The bytes that stay are now at `buffer`, where `held` bytes are. */
static void move_to(struct byte_window *window, char *buffer, size_t gone, size_t held)
{
	const size_t at_index = (size_t)(window->at - window->buffer) - gone;
	window->buffer = buffer;
	window->base += gone;
	window->at = buffer + at_index;
	window->end = buffer + held;
}

/* Makes room after the bytes that stay: moves them to the front of `own`, perhaps doubled. */
static bool make_room(struct byte_window *window)
{
	size_t gone;
	const size_t kept = kept_bytes(window, &gone);
	/* Growing at half full keeps the bytes moved below the bytes read. */
	if (kept > window->capacity / 2) {
		if (window->capacity >= BYTE_WINDOW_LIMIT) {
			window->is_overfull = true;
			return false;
		}
		const bool is_own = window->buffer == window->own;
		const size_t at_index = (size_t)(window->at - window->buffer);
		const size_t end_index = (size_t)(window->end - window->buffer);
		const size_t capacity = window->capacity * 2;
		if (!mem_resize(&window->own, capacity + BYTE_WINDOW_PADDING, 1, &window->err))
			return false;
		window->capacity = capacity;
		if (is_own) {
			window->buffer = window->own;
			window->at = window->own + at_index;
			window->end = window->own + end_index;
		}
	}
	memmove(window->own, window->buffer + gone, kept);
	move_to(window, window->own, gone, kept);
	return true;
}

/* Looks at the next piece read ahead where it lies.  False if it must be copied. */
static bool view_piece(struct byte_window *window, size_t *ret_got)
{
	size_t gone;
	const size_t kept = kept_bytes(window, &gone);
	/* A smaller window was asked for to be one. */
	if (!window->pump || window->capacity < BYTE_WINDOW_DEFAULT || kept > BYTE_PUMP_FRONT ||
		!byte_pump_can_view(window->pump))
		return false;
	char *bytes;
	if (!byte_pump_view(
		    window->pump, window->buffer + gone, kept, &bytes, ret_got, &window->err))
		*ret_got = 0;
	move_to(window, bytes, gone, kept + *ret_got);
	return true;
}

static bool copy_more(struct byte_window *window, size_t *ret_got)
{
	if (!make_room(window))
		return false;
	const size_t held = (size_t)(window->end - window->buffer);
	char *to = window->own + held;
	const size_t room = window->capacity - held;
	if (!(window->pump ? byte_pump_read(window->pump, to, room, ret_got, &window->err)
			   : byte_source_read(window->source, to, room, ret_got, &window->err)))
		*ret_got = 0;
	window->end = to + *ret_got;
	memset(to + *ret_got, 0, BYTE_WINDOW_PADDING);
	return true;
}

bool byte_window_more(struct byte_window *window)
{
	size_t got = 0;
	if (window->is_at_end || (!view_piece(window, &got) && !copy_more(window, &got)))
		return false;
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
