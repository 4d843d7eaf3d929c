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

/*
 * Gaps: the times between two windows, in which nothing was noted.  Ranges that were open before a
 * gap have lost their end in it.  Added in order, by one thread at a time; asked by any.
 */
void windows_close(int64_t at_ns);
void windows_reopen(int64_t at_ns);

/* Whether a gap lies between two times, and when the first such began. */
bool windows_gap_between(int64_t from_ns, int64_t to_ns, int64_t *ret_closed_ns);
