/*
 * Phases of a recording that has no host ops to tell them by: from which thread launched a kernel,
 * the optimizer's own kernels, and the forward's kernels that return in backward (DESIGN section 3,
 * `matched`).  src/phase only.
 */
#pragma once

#include "phase/phases.h"

/* Whether the host side says anything of phases: markers, autograd nodes, steps, optimizer ranges.
 */
bool sequence_is_needed(const struct trace *trace, const struct roles *roles);

/* Steps that end with the optimizer's last kernel after a backward; `how` is "period". */
bool sequence_find_steps(const struct trace *trace, const struct roles *roles, struct arena *arena,
	struct host_steps *ret, struct err *err);

/* Sets the launches' phases. */
bool sequence_tell_phases(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err);
