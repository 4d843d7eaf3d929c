/*
 * The diagnostics of several traces or runs as one table: counts add up, the first place seen
 * stays.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"

struct findings {
	struct diag diag;
	const char *file[DIAG_KIND_COUNT]; /* of the row's first_byte; NULL if unknown */
};

/* Counts of one trace, whose file stands behind all of them (NULL: no one file does). */
void findings_add_trace(struct findings *findings, const struct diag *diag, const char *file);

/* Counts of a run, with a file for each kind, as in struct breakdown.  The names must outlive it.
 */
void findings_add_run(struct findings *findings, const struct diag *diag,
	const char *const file[DIAG_KIND_COUNT]);
