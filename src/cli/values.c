/* Numbers, sizes and roles from the command line. */
#include "cli/values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* strtod would take blanks, hexadecimal and "nan". */
static bool read_number(const char *text, double *ret, const char **ret_end)
{
	char *end;
	if (!strchr("0123456789.", text[0]) || !text[0] || text[1] == 'x' || text[1] == 'X')
		return false;
	*ret = strtod(text, &end);
	*ret_end = end;
	return end != text && isfinite(*ret) && *ret > 0;
}

bool value_number(const char *text, double *ret)
{
	const char *end;
	return read_number(text, ret, &end) && !*end;
}

bool value_count(const char *text, int64_t *ret)
{
	if (!text[0] || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	*ret = strtoll(text, NULL, 10);
	return errno == 0;
}

bool value_bytes(const char *text, int64_t *ret)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = {
		{"", 1},
		{"B", 1},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"TB", 1e12},
		{"KiB", 0x1p10},
		{"MiB", 0x1p20},
		{"GiB", 0x1p30},
		{"TiB", 0x1p40},
	};
	double number;
	const char *end;
	if (!read_number(text, &number, &end))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		const double bytes = number * units[i].factor;
		if (strcmp(end, units[i].suffix) != 0)
			continue;
		if (bytes < 1 || bytes > 0x1p62)
			return false;
		*ret = (int64_t)bytes;
		return true;
	}
	return false;
}

bool value_percent(const char *text, double *ret)
{
	double number;
	const char *end;
	if (!read_number(text, &number, &end) || strcmp(end, "%") != 0 || number > 100)
		return false;
	*ret = number / 100;
	return true;
}

bool value_role(const char *text, enum inquest_role *ret_role, const char **ret_value)
{
	static const struct {
		const char *name;
		enum inquest_role role;
	} roles[] = {
		{"base", INQUEST_BASE},
		{"checkpointed", INQUEST_CHECKPOINTED},
		{"spent", INQUEST_SPENT},
	};
	const char *equals = strchr(text, '=');
	if (!equals)
		return false;
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		if (strlen(roles[i].name) != (size_t)(equals - text) ||
			strncmp(text, roles[i].name, (size_t)(equals - text)) != 0)
			continue;
		*ret_role = roles[i].role;
		*ret_value = equals + 1;
		return true;
	}
	return false;
}
