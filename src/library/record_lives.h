/*
 * A rank that was started again, by an elastic launcher or by hand, left a file each time; a run
 * has one a rank.  The last of them with a whole step is the run's, the last of all where none has
 * one: so all ranks keep the same life, and a helper of the training that used the GPU keeps none.
 * The others go into the folder "earlier" below the run's, where no command looks by itself.
 */
#pragma once

#include <stdint.h>

#include "base/text.h"
#include "library/record_file.h"

/* A file that is finished.  `path` is its name now, of the caller's, and changes with it. */
struct record_life {
	char **path;
	const struct record_outcome *outcome;
};

/* `lives` may be reordered.  What was done, or failed, is told in `to`, a line a rank. */
void record_lives_settle(
	const char *directory, struct record_life *lives, uint32_t count, struct text *to);
