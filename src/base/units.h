/*
 * Numbers as people read them: "132.7 ms", "23.5 GiB", "123.5k", "+21 %".  Every function returns
 * its text by value, so that it can stand in a printf's arguments; none depends on the locale.
 * Null (NULL_I64, NaN) is "?".
 */
#pragma once

#include <stdint.h>

struct units {
	char text[32];
};

/* Whether a plus stands before what is not negative. */
enum units_sign {
	UNITS_PLAIN,
	UNITS_SIGNED,
};

/* Decimals of a millisecond that a report about steps of this length uses throughout. */
int units_ms_decimals(double step_ns);

struct units units_ms(double ns, int decimals, enum units_sign sign);	   /* "132.7 ms" */
struct units units_ms_bare(double ns, int decimals, enum units_sign sign); /* "132.7" */

/* By size: B, KiB, MiB, GiB, TiB. */
struct units units_bytes(int64_t bytes, enum units_sign sign);

/* 1000 and up in thousands, millions, ...: "987", "123.5k", "1.20M". */
struct units units_rate(double per_s);

/* Digits in groups of three: "16,384". */
struct units units_count(int64_t count);

/* A fraction as per cent: one decimal below ten, none from there. */
struct units units_percent(double frac, enum units_sign sign);
