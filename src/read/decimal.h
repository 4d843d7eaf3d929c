/*
 * Numbers as they are written, exactly.  Trace times have up to 19 digits, where a double is off by
 * hundreds of nanoseconds; nothing here ever is a double.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* mantissa * 10^exponent; past 19 digits the mantissa is cut, and `rounds_up` keeps the next. */
struct decimal {
	uint64_t mantissa;
	int32_t exponent;
	bool is_negative;
	bool rounds_up; /* the first digit cut off was 5 or more */
	bool is_finite; /* false for nan and inf, which are no JSON and yet are met */
	bool is_strict; /* as RFC 8259 has numbers: no leading zeros, no plus, no nan */
};

/*
 * Reads the number at `at`, whose text ends in some byte that can't belong to a number (NUL will
 * do).  Returns the byte after it, or NULL if there is no number.
 */
const char *decimal_parse(const char *at, struct decimal *ret);

/* The whole of `text` as a number, as some traces quote theirs. */
bool decimal_from_text(const char *text, size_t length, struct decimal *ret);

/* False if it doesn't fit.  A fraction is rounded, half away from zero. */
bool decimal_i64(const struct decimal *number, int64_t *ret);

/* The same times 1000: microseconds to nanoseconds. */
bool decimal_us_to_ns(const struct decimal *number, int64_t *ret);
