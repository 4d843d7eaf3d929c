/*
 * What two runs differ in beside checkpointing, by name: with any of it, checkpointing's own share
 * of the difference can't be told.  Tokens and batches are none: whole recipes are compared at
 * equal tokens.  Gathers that recomputation repeats are none either: a wrap order is a part of how
 * the run checkpoints, unless both do.  src/compare only.
 */
#pragma once

#include "compare/differences.h"

/* "torch.compile and the FSDP units", "" without any; in `arena`, NULL on ERR_NOMEM. */
const char *confounders_name(const struct breakdown *base, const struct breakdown *checkpointed,
	const struct differences *differences, struct arena *arena, struct err *err);
