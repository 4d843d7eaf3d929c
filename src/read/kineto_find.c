#include "read/kineto_find.h"

#include <string.h>

#include "read/byte_window.h"

#define MAX_KEY_BYTES 40 /* longer than any key looked for */

/* Whether a quoted key and a colon come at `ahead`, and the key is one of `keys`. */
static bool is_key_ahead(
	struct byte_window *window, size_t ahead, const char *const *keys, size_t key_count)
{
	ahead = byte_window_space_ahead(window, ahead);
	if (byte_window_ahead(window, ahead) != '"')
		return false;
	const size_t from = ++ahead;
	while (ahead - from < MAX_KEY_BYTES && byte_window_ahead(window, ahead) != '"' &&
		byte_window_ahead(window, ahead) != '\0')
		ahead++;
	const size_t length = ahead - from;
	if (byte_window_ahead(window, ahead) != '"')
		return false;
	ahead = byte_window_space_ahead(window, ahead + 1);
	if (byte_window_ahead(window, ahead) != ':')
		return false;
	for (size_t k = 0; k < key_count; k++)
		if (strlen(keys[k]) == length && memcmp(window->at + from, keys[k], length) == 0)
			return true;
	return false;
}

bool kineto_find_event(struct byte_window *window, char last)
{
	static const char *const keys[] = {
		"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "s", "bp", "args"};
	for (;; window->at++) {
		const char c = byte_window_ahead(window, 0);
		if (c == '\0' && window->at == window->end)
			return false;
		/* The comma between two events may be what is missing. */
		if (c == '{' && (last == ',' || last == '}') &&
			is_key_ahead(window, 1, keys, sizeof keys / sizeof *keys))
			return true;
		if (c == ']' && last == '}')
			return true;
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			last = c;
	}
}

bool kineto_find_key(struct byte_window *window)
{
	static const char *const keys[] = {"traceEvents", "baseTimeNanoseconds", "displayTimeUnit",
		"distributedInfo", "deviceProperties", "traceName", "schemaVersion"};
	for (;; window->at++) {
		const char c = byte_window_ahead(window, 0);
		if (c == '\0' && window->at == window->end)
			return false;
		if (c == '"' && is_key_ahead(window, 0, keys, sizeof keys / sizeof *keys))
			return true;
	}
}
