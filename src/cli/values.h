/* Reads the values of options.  All return false for anything but a whole, sensible value. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "inquest/inquest.h"

bool value_number(const char *text, double *ret); /* > 0, finite */
bool value_count(const char *text, int64_t *ret); /* >= 0; digits only */

/* "80GB", "75.5GiB", "1024": bytes, > 0. */
bool value_bytes(const char *text, int64_t *ret);

/* "95%": a fraction, > 0 and at most 1. */
bool value_percent(const char *text, double *ret);

/* "base=132.7": the role, and where the value begins. */
bool value_role(const char *text, enum inquest_role *ret_role, const char **ret_value);
