/*
 * The rules file: what a name means.  PCRE2 patterns by domain, first match wins; see
 * schemas/names.rules for the format and the shipped rules, which are also built in.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rules;

/* The rules of the file at `path`, put before the built-in ones; NULL gives the built-in ones
 * alone. */
struct rules *rules_load(const char *path, struct err *err);
/* The same from text; `name` stands in error messages. */
struct rules *rules_parse(const char *text, const char *name, struct err *err);
void rules_free(struct rules *rules);
/* A number that changes when the rules do; stored beside results made with them. */
uint64_t rules_hash(const struct rules *rules);
