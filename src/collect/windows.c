/*
 * The list of windows of steps, as the environment has it.
 */
#include "collect/windows.h"

/* Digits only: no sign, no blank, nothing that overflows. */
static bool take_number(const char **at, int64_t *ret)
{
	int64_t value = 0;
	if (**at < '0' || **at > '9')
		return false;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (value > (INT64_MAX - 9) / 10)
			return false;
		value = value * 10 + (**at - '0');
	}
	*ret = value;
	return true;
}

bool windows_parse(const char *text, struct windows *ret)
{
	struct windows windows = {0};
	ret->count = 0;
	for (const char *at = text; *at; at++) {
		int64_t from, to;
		if (windows.count == WINDOWS_MAX || !take_number(&at, &from) || *at++ != ':' ||
			!take_number(&at, &to) || from >= to || (*at && *at != ','))
			return false;
		windows.item[windows.count].from = from;
		windows.item[windows.count++].to = to;
		if (!*at)
			break;
		if (!at[1])
			return false;
	}
	*ret = windows;
	return true;
}

bool windows_hold(const struct windows *windows, int64_t step)
{
	for (uint32_t w = 0; w < windows->count; w++)
		if (step >= windows->item[w].from && step < windows->item[w].to)
			return true;
	return false;
}
