/*
 * The answer to one question about two or three runs: their recipes as numbers, the judgement, the
 * sentence, the advice and the stragglers.  Numbers and sentences only; src/render lays them out.
 * Everything points into the answer's arena, or into the breakdowns and comparisons it was made
 * from, which must outlive it.
 */
#pragma once

#include "compare/comparison.h"
#include "verdict/advice.h"
#include "verdict/measure.h"
#include "verdict/verdict.h"

/* One run and what the user said about it; doubles are NaN where nothing was said. */
struct answer_run {
	const struct breakdown *breakdown; /* NULL: no such run */
	int64_t gpu_memory_bytes;	   /* the smallest of its GPUs, NULL_I64 if unknown */
	double given_step_ns;
	double given_tokens_per_s;
};

struct answer_input {
	enum objective objective;
	struct answer_run run[ROLE_COUNT];
	bool base_failed;
	int64_t memory_limit_bytes;	     /* NULL_I64 without one */
	double memory_limit_frac;	     /* of the GPU; NaN without one */
	const struct comparison *comparison; /* base to checkpointed; NULL without base */
	const struct comparison *spent;	     /* base to spent; NULL without either */
};

struct answer {
	struct arena arena;
	enum objective objective;
	const struct breakdown *breakdown[ROLE_COUNT];
	struct recipe recipe[ROLE_COUNT];
	double traced_step_ns[ROLE_COUNT]; /* mean of the used path, NaN without one */
	int64_t memory_limit_bytes;	   /* as asked, in bytes; NULL_I64 without one */
	const struct comparison *comparison, *spent;
	bool is_same_run; /* base and the candidate are one recording */
	struct judgement judgement;
	struct judgement each[OBJECTIVE_COUNT]; /* with OBJECTIVE_NONE: each objective's */
	const char *sentence;			/* begins with the verdict's word */
	struct advice *advice;
	uint32_t advice_count;
	struct straggler *stragglers; /* of the candidate's path */
	uint32_t straggler_count;
};

/* CHECKPOINTED is needed, BASE for every objective but fit.  On failure `ret` holds nothing. */
bool answer_make(const struct answer_input *input, struct answer *ret, struct err *err);
void answer_done(struct answer *answer);

/*
 * Whether base, grown by SPENT's tokens, would stay under the memory limit: an upper bound of what
 * it would reserve, since parameters do not grow.
 */
bool answer_base_has_room(const struct answer *answer);

/* SPENT where given, else CHECKPOINTED. */
enum run_role answer_candidate(const struct answer *answer);
