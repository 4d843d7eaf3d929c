/*
 * What to change in the candidate, each with the numbers of the traces that it rests on.  No advice
 * without one.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct answer;

struct advice {
	const char *what; /* an instruction */
	const char *why;  /* the evidence, with numbers */
	bool has_ns;
	int64_t ns[2];	/* time it could save: from, to; all for the tokens of one step of the
			   candidate's */
	int64_t bytes;	/* change of peak memory a rank: > 0 costs, < 0 frees; NULL_I64 if unsaid */
	bool is_remark; /* nothing to do: said so that nobody chases it */
};

/* Fills answer->advice from the rest of the answer: largest time first, remarks last. */
bool advice_make(struct answer *answer, struct err *err);
