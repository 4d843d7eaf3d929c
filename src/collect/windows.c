/*
 * The list of windows of steps, as the environment has it.
 */
#include "collect/windows.h"

#include <stdatomic.h>

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

#define MAX_GAPS 1024u /* those beyond are not known: their ranges look longer */

static struct {
	int64_t closed_ns, opened_ns;
} gaps[MAX_GAPS];
static _Atomic uint32_t gap_count; /* whole ones */
static int64_t pending_ns;
static bool is_pending;

void windows_close(int64_t at_ns)
{
	pending_ns = at_ns;
	is_pending = true;
}

void windows_reopen(int64_t at_ns)
{
	const uint32_t count = atomic_load_explicit(&gap_count, memory_order_relaxed);
	if (!is_pending || count == MAX_GAPS)
		return;
	gaps[count].closed_ns = pending_ns;
	gaps[count].opened_ns = at_ns;
	is_pending = false;
	atomic_store_explicit(&gap_count, count + 1, memory_order_release);
}

bool windows_gap_between(int64_t from_ns, int64_t to_ns, int64_t *ret_closed_ns)
{
	/* The newest are asked for. */
	const uint32_t count = atomic_load_explicit(&gap_count, memory_order_acquire);
	bool is_found = false;
	for (uint32_t g = count; g-- > 0 && gaps[g].closed_ns >= from_ns;)
		if (gaps[g].opened_ns <= to_ns) {
			*ret_closed_ns = gaps[g].closed_ns;
			is_found = true;
		}
	return is_found;
}
