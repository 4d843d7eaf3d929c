#include "read/json_repair.h"

#include <string.h>

#include "read/byte_window.h"

#define MAX_REPAIRED_BYTES 65536u /* a repair that needs more has missed the closing quote */

/* Whether what comes at `ahead` may follow an object's value: its end, or another key. */
static bool fits_after_value(struct byte_window *window, size_t ahead)
{
	ahead = byte_window_space_ahead(window, ahead);
	const char c = byte_window_ahead(window, ahead);
	if (c == '}')
		return true;
	if (c != ',')
		return false;
	ahead = byte_window_space_ahead(window, ahead + 1);
	if (byte_window_ahead(window, ahead) != '"')
		return false;
	for (ahead++;; ahead++) {
		const char key = byte_window_ahead(window, ahead);
		if (key == '"')
			break;
		if ((unsigned char)key < 0x20)
			return false;
	}
	return byte_window_ahead(window, byte_window_space_ahead(window, ahead + 1)) == ':';
}

static bool fits_after_text(struct byte_window *window, size_t ahead)
{
	const char c = byte_window_ahead(window, byte_window_space_ahead(window, ahead));
	return c == ',' || c == ':' || c == '}' || c == ']';
}

enum repair json_repair_measure(struct byte_window *window, bool is_value, size_t *ret_length)
{
	bool has_raw_quote = false;
	for (size_t ahead = 1; ahead < MAX_REPAIRED_BYTES; ahead++) {
		const char c = byte_window_ahead(window, ahead);
		if (c == '\0' && window->at + ahead == window->end)
			return REPAIR_CUT;
		if (c == '\\') {
			ahead++;
			continue;
		}
		if (c != '"')
			continue;
		if (is_value ? fits_after_value(window, ahead + 1)
			     : fits_after_text(window, ahead + 1)) {
			if (has_raw_quote && memmem(window->at, ahead, "\"ph\"", strlen("\"ph\"")))
				return REPAIR_IMPOSSIBLE;
			*ret_length = ahead - 1;
			return has_raw_quote ? REPAIR_NEEDED : REPAIR_UNNEEDED;
		}
		has_raw_quote = true;
	}
	return REPAIR_IMPOSSIBLE;
}
