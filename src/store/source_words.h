/*
 * The words for where a recording came from, as meta's "source" has them.
 */
#pragma once

#include "trace/trace.h"

const char *source_word(enum trace_source source);

/* SOURCE_UNKNOWN for a word that is none. */
enum trace_source source_from_word(const char *word);
