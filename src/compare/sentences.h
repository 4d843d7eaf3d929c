/* What a table of causes does not say by itself, in words.  src/compare only. */
#pragma once

#include "compare/evidence.h"

bool sentences_add(const struct pair_facts *pair, struct comparison *ret, struct err *err);
