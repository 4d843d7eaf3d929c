#include "base/err.h"

#include <stdio.h>
#include <string.h>

/* Messages are one line whatever the input's names hold. */
static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

static void set_text(struct err *err, enum err_code code, const char *format, va_list arguments)
{
	err->code = code;
	vsnprintf(err->msg, sizeof err->msg, format, arguments);
	make_one_line(err->msg);
}

bool err_set(struct err *err, enum err_code code, const char *format, ...)
{
	if (!err || err->code != ERR_NONE)
		return false;
	va_list arguments;
	va_start(arguments, format);
	set_text(err, code, format, arguments);
	va_end(arguments);
	return false;
}

bool err_set_errno(struct err *err, int errno_value, const char *format, ...)
{
	if (!err || err->code != ERR_NONE)
		return false;
	va_list arguments;
	va_start(arguments, format);
	set_text(err, ERR_IO, format, arguments);
	va_end(arguments);
	const size_t used = strlen(err->msg);
	snprintf(err->msg + used, sizeof err->msg - used, ": %s", strerror(errno_value));
	return false;
}

bool err_prefix(struct err *err, const char *format, ...)
{
	if (!err)
		return false;
	char phrase[sizeof err->msg];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(phrase, sizeof phrase, format, arguments);
	va_end(arguments);
	make_one_line(phrase);

	char whole[2 * sizeof err->msg + 3];
	snprintf(whole, sizeof whole, "%s: %s", phrase, err->msg);
	memcpy(err->msg, whole, sizeof err->msg - 1);
	err->msg[sizeof err->msg - 1] = '\0';
	return false;
}
