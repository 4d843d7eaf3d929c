/* A growing buffer with a sticky error. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/mem.h"

static bool reserve(struct text *text, size_t more)
{
	if (text->err.code != ERR_NONE)
		return false;
	const size_t needed = text->length + more + 1;
	if (needed <= text->capacity)
		return true;
	const size_t capacity = needed < 256 ? 256 : needed + needed / 2;
	if (!mem_resize(&text->bytes, capacity, 1, &text->err))
		return false;
	text->capacity = capacity;
	return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
	if (!reserve(text, length))
		return;
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void text_add_repeated(struct text *text, char byte, size_t count)
{
	if (!reserve(text, count))
		return;
	memset(text->bytes + text->length, byte, count);
	text->length += count;
	text->bytes[text->length] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
	va_list arguments, again;
	va_start(arguments, format);
	va_copy(again, arguments);
	const int length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length >= 0 && reserve(text, (size_t)length)) {
		vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
		text->length += (size_t)length;
	}
	va_end(again);
}

bool text_ok(const struct text *text, struct err *err)
{
	if (text->err.code == ERR_NONE)
		return true;
	return err_set(err, text->err.code, "%s", text->err.msg);
}

const char *text_take(struct text *text, struct arena *arena, struct err *err)
{
	const char *copy = NULL;
	if (text_ok(text, err))
		copy = arena_text(arena, text->bytes ? text->bytes : "", err);
	text_done(text);
	return copy;
}

void text_done(struct text *text)
{
	mem_free(text->bytes);
	*text = (struct text){0};
}

/* The bytes of the first character, and the columns it fills.  What the locale can't read is taken
 * for a character of one column that goes on to the next first byte of UTF-8. */
static size_t take_character(const char *bytes, size_t length, size_t *ret_columns)
{
	mbstate_t state = {0};
	wchar_t character;
	const size_t taken = mbrtowc(&character, bytes, length, &state);
	if (taken - 1 < length) {
		const int width = wcwidth(character);
		*ret_columns = width < 0 ? 1 : (size_t)width;
		return taken;
	}
	size_t at = 1;
	while (at < length && ((unsigned char)bytes[at] & 0xc0) == 0x80)
		at++;
	*ret_columns = 1;
	return at;
}

size_t text_columns(const char *bytes, size_t length)
{
	size_t sum = 0, columns;
	for (size_t at = 0; at < length; sum += columns)
		at += take_character(bytes + at, length - at, &columns);
	return sum;
}

size_t text_bytes_in(const char *bytes, size_t length, size_t columns)
{
	size_t at = 0, used = 0, more;
	while (at < length) {
		const size_t taken = take_character(bytes + at, length - at, &more);
		if (used + more > columns)
			break;
		used += more;
		at += taken;
	}
	return at;
}
