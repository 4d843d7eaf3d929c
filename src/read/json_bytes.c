#include "read/json_bytes.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * The bytes of the UTF-8 sequence at `text`, 0 if it is none: no overlong forms, no surrogates,
 * nothing above U+10FFFF.
 */
static size_t utf8_length(const unsigned char *text, size_t length)
{
	const unsigned char first = text[0];
	if (first < 0x80)
		return 1;
	const size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4 || length < count)
		return 0;
	for (size_t i = 1; i < count; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if (first == 0xe0 && text[1] < 0xa0)
		return 0;
	if (first == 0xed && text[1] > 0x9f)
		return 0;
	if (first == 0xf0 && text[1] < 0x90)
		return 0;
	if (first == 0xf4 && text[1] > 0x8f)
		return 0;
	return count;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX, or -1. */
static int32_t hex_unit(const char *text, size_t length)
{
	if (length < 6 || text[0] != '\\' || text[1] != 'u')
		return -1;
	int32_t unit = 0;
	for (size_t i = 2; i < 6; i++) {
		const int digit = hex_value(text[i]);
		if (digit < 0)
			return -1;
		unit = unit * 16 + digit;
	}
	return unit;
}

static bool is_high_surrogate(int32_t unit)
{
	return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_surrogate(int32_t unit)
{
	return unit >= 0xdc00 && unit < 0xe000;
}

/* Of \uXXXX or a pair of them; 0 for no hexadecimal digits and for half a pair. */
static size_t unicode_escape_length(const char *text, size_t length)
{
	const int32_t unit = hex_unit(text, length);
	if (unit < 0 || is_low_surrogate(unit))
		return 0;
	if (!is_high_surrogate(unit))
		return 6;
	return length > 6 && is_low_surrogate(hex_unit(text + 6, length - 6)) ? 12 : 0;
}

bool json_text_is_clean(const char *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		const unsigned char c = (unsigned char)text[i];
		if (c < 0x20 || c == '"')
			return false;
		if (c != '\\') {
			const size_t count =
				utf8_length((const unsigned char *)text + i, length - i);
			if (count == 0)
				return false;
			i += count;
			continue;
		}
		if (i + 1 >= length || text[i + 1] == '\0')
			return false;
		if (text[i + 1] == 'u') {
			const size_t count = unicode_escape_length(text + i, length - i);
			if (count == 0)
				return false;
			i += count;
		} else if (strchr("\"\\/bfnrt", text[i + 1])) {
			i += 2;
		} else {
			return false;
		}
	}
	return true;
}

static size_t put_code_point(int32_t code, char *to)
{
	if (code == 0 || is_high_surrogate(code) || is_low_surrogate(code)) {
		memcpy(to, REPLACEMENT, 3);
		return 3;
	}
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Resolves the escape at `text`; returns the bytes it took. */
static size_t decode_escape(const char *text, size_t length, char *to, size_t *ret_written)
{
	static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	const int32_t unit = hex_unit(text, length);
	if (unit >= 0) {
		const int32_t low = length > 6 ? hex_unit(text + 6, length - 6) : -1;
		if (is_high_surrogate(unit) && is_low_surrogate(low)) {
			const int32_t code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
			*ret_written = put_code_point(code, to);
			return 12;
		}
		*ret_written = put_code_point(unit, to);
		return 6;
	}
	const char *known = length > 1 && text[1] ? strchr(from, text[1]) : NULL;
	*ret_written = 1;
	to[0] = known ? plain[known - from] : '\\';
	return known ? 2 : 1;
}

size_t json_text_decode(const char *text, size_t length, char *to)
{
	size_t written = 0;
	for (size_t i = 0; i < length;) {
		size_t count;
		if (text[i] == '\\') {
			i += decode_escape(text + i, length - i, to + written, &count);
			written += count;
			continue;
		}
		count = text[i] ? utf8_length((const unsigned char *)text + i, length - i) : 0;
		if (count) {
			memcpy(to + written, text + i, count);
			written += count;
			i += count;
		} else {
			memcpy(to + written, REPLACEMENT, 3);
			written += 3;
			i++;
		}
	}
	return written;
}
