/* A growing buffer with a sticky error. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

size_t text_columns(const char *bytes, size_t length)
{
	size_t columns = 0;
	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return columns;
}
