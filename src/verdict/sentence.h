/* The answer as one sentence: what changed, what it came from, what follows. */
#pragma once

#include "base/err.h"

struct answer;

/* Fills answer->sentence from the rest of the answer. */
bool sentence_make(struct answer *answer, struct err *err);
