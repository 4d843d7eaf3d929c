/*
 * The ledger's rows and the gathers' bills (DESIGN section 4): counts and bytes of one rank, and
 * what they cost it.  src/attribute only.
 */
#pragma once

#include "attribute/breakdown.h"
#include "attribute/ranks.h"

/* The name of a collective's unit; "unknown" where it can't be told. */
const char *unit_name(const struct phases *phases, uint32_t unit);

/* Fills the rank's gather rows from its used steps; `used` is by the rank's own windows. */
bool bills_make(const struct ranks *ranks, uint32_t rank, const bool *used, struct arena *arena,
	struct rank_result *ret, struct err *err);
