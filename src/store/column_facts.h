/*
 * What a column's declaration says about its values, as code: whether they may be null, what they
 * refer to, which enumeration they are of.  Derived from the name and the meaning in the lists of
 * trace/columns.h, so that there is no second list to keep.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

#define TARGET_NONE   UINT32_MAX       /* refers to nothing */
#define TARGET_STRING (UINT32_MAX - 1) /* to a string */

/* Times, references and enumerations are NOT NULL unless their meaning mentions null. */
bool column_is_required(const struct column_desc *column);

/* A time point: what analyses subtract, so its range is limited on reading. */
bool column_is_time(const struct column_desc *column);

/* The index in trace_tables[] that the values are row numbers of, or TARGET_STRING, TARGET_NONE. */
uint32_t column_target(const struct column_desc *column);

/* How many words an enumeration column has; 0 for other columns. */
uint32_t column_word_count(const struct column_desc *column);
