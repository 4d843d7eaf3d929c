/* Formatting of times, bytes, rates, counts and shares. */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/table.h"

static const struct units unknown = {"?"};

int units_ms_decimals(double step_ns)
{
	if (step_ns >= 10e6 || isnan(step_ns))
		return 1;
	return step_ns >= 1e6 ? 2 : 3;
}

/* printf of `value`; what rounds to zero gets no minus sign. */
static struct units format_number(
	double value, int decimals, enum units_sign sign, const char *suffix)
{
	struct units out;
	if (fabs(value) < 0.5 * pow(10, -decimals))
		value = 0;
	snprintf(out.text, sizeof out.text, sign == UNITS_SIGNED ? "%+.*f%s" : "%.*f%s", decimals,
		value, suffix);
	return out;
}

struct units units_ms(double ns, int decimals, enum units_sign sign)
{
	return isnan(ns) ? unknown : format_number(ns / 1e6, decimals, sign, " ms");
}

struct units units_ms_bare(double ns, int decimals, enum units_sign sign)
{
	return isnan(ns) ? unknown : format_number(ns / 1e6, decimals, sign, "");
}

struct units units_bytes(int64_t bytes, enum units_sign sign)
{
	static const char *const suffixes[] = {" B", " KiB", " MiB", " GiB", " TiB"};
	if (bytes == NULL_I64)
		return unknown;
	double value = (double)bytes;
	unsigned step = 0;
	/* 1023.95 would print as 1024.0 of the smaller unit. */
	while (fabs(value) >= (step ? 1023.95 : 1024) && step < 4) {
		value /= 1024;
		step++;
	}
	return format_number(value, step ? 1 : 0, sign, suffixes[step]);
}

struct units units_rate(double per_s)
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T", "P"};
	if (isnan(per_s))
		return unknown;
	unsigned step = 0;
	while (fabs(per_s) >= 999.5 && step < 5) {
		per_s /= 1000;
		step++;
	}
	const int decimals = !step ? (fabs(per_s) < 10 ? 2 : 0) : fabs(per_s) < 9.995 ? 2 : 1;
	return format_number(per_s, decimals, UNITS_PLAIN, suffixes[step]);
}

struct units units_count(int64_t count)
{
	if (count == NULL_I64)
		return unknown;
	char digits[24];
	const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
	struct units out;
	int used = 0;
	for (int i = 0; i < length; i++) {
		out.text[used++] = digits[i];
		const int left = length - 1 - i;
		if (left && left % 3 == 0 && digits[i] != '-')
			out.text[used++] = ',';
	}
	out.text[used] = '\0';
	return out;
}

struct units units_percent(double frac, enum units_sign sign)
{
	if (isnan(frac))
		return unknown;
	const double percent = 100 * frac;
	return format_number(percent, fabs(percent) < 9.95 ? 1 : 0, sign, " %");
}
