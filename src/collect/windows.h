/*
 * Which steps are recorded: "A:B,C:D" means A <= step < B, or C <= step < D.  Nothing else is a
 * list of windows; an empty text is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WINDOWS_MAX 64u

struct windows {
	uint32_t count;
	struct {
		int64_t from, to;
	} item[WINDOWS_MAX];
};

/* False, and no windows, for a text that is no list of windows or has too many. */
bool windows_parse(const char *text, struct windows *ret);

bool windows_hold(const struct windows *windows, int64_t step);
