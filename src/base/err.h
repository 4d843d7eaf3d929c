/*
 * Errors as values: the caller owns a `struct err`, zero-initialised, and passes it down last.
 * The first cause wins; upper layers only put a phrase in front of it, so that the user reads one
 * line: "rank 3: x.json.gz: byte 81920: bad number".  Nothing here prints.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* What went wrong, by what the user can do about it; src/cli maps it to an exit code. */
enum err_code {
	ERR_NONE,
	ERR_USAGE,    /* the request makes no sense */
	ERR_INPUT,    /* the input can't be read, or isn't what it was said to be */
	ERR_IO,	      /* reading or writing failed in the system */
	ERR_NOMEM,    /* an allocation failed */
	ERR_INTERNAL, /* a law of the program is broken: a sum that doesn't close */
};

struct err {
	enum err_code code;
	char msg[768]; /* one line, no newline at its end, NUL-terminated */
};

/* Records a cause unless one is recorded already.  Always returns false.  `err` may be NULL. */
bool err_set(struct err *err, enum err_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for ERR_IO, with the text of `errno_value` at the end. */
bool err_set_errno(struct err *err, int errno_value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "PHRASE: " in front of a recorded cause.  Always returns false. */
bool err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
