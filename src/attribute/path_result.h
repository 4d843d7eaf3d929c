/* The job path as a breakdown holds it, and the facts a comparison needs.  src/attribute only. */
#pragma once

#include "attribute/breakdown.h"
#include "attribute/facts.h"
#include "attribute/path.h"

/*
 * Walks the path and fills `ret->path` and the path's part of `ret->facts`; decides which steps are
 * used: closed ones if there are any, and of three or more not the first when launch-bound.
 */
bool path_result_make(
	const struct ranks *ranks, uint32_t start_rank, struct breakdown *ret, struct err *err);

/* The rest of the facts: counts, host calls, the model. */
bool facts_make(const struct ranks *ranks, struct breakdown *ret, struct err *err);
