/*
 * Building JSON with jansson, without asking after every call: a failed allocation is remembered
 * in the builder and told once, when the document is printed.  Values passed in are owned by the
 * callee.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "render/findings.h"

struct json_build {
	bool has_failed;
};

json_t *json_build_object(struct json_build *build);
json_t *json_build_array(struct json_build *build);
void json_build_put(struct json_build *build, json_t *object, const char *key, json_t *value);
void json_build_push(struct json_build *build, json_t *array, json_t *value);

/* Puts a text, as json_build_text makes it. */
void json_build_word(struct json_build *build, json_t *object, const char *key, const char *word);

/* Values.  Bytes that are no UTF-8 become U+FFFD; NULL_I64, NULL_I32 and what is not finite become
 * null; other doubles keep nine digits, so that the last bits of a sum are not printed. */
json_t *json_build_text(struct json_build *build, const char *text);
json_t *json_build_int(int64_t value);
json_t *json_build_int32(int32_t value);
json_t *json_build_number(double value);
json_t *json_build_ns(double ns); /* rounded to an integer */

/* The array that is `diagnostics` in every document. */
json_t *json_build_findings(struct json_build *build, const struct findings *findings);

/* NUL-terminated, with a newline at its end, to be freed with mem_free; takes `root`. */
char *json_build_print(struct json_build *build, json_t *root, struct err *err);
