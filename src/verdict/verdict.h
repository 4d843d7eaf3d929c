/*
 * Whether checkpointing did what it was meant to do, as a function of numbers, not of traces: the
 * same function judges a table from a published report (DESIGN section 7).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

#define OBJECTIVES(X)               \
	X(NONE, "none")             \
	X(THROUGHPUT, "throughput") \
	X(MEMORY, "memory")         \
	X(FIT, "fit")               \
	X(BATCH, "batch")           \
	X(SEQUENCE, "sequence")

#define VERDICTS(X)                         \
	X(WORKED, "worked")                 \
	X(UNSPENT, "unspent")               \
	X(FAILED, "failed")                 \
	X(INCONCLUSIVE, "inconclusive")     \
	X(NOT_COMPARABLE, "not-comparable") \
	X(NO_OBJECTIVE, "no-objective")

#define ROLES(X)                        \
	X(BASE, "base")                 \
	X(CHECKPOINTED, "checkpointed") \
	X(SPENT, "spent")

#define ENUM_ITEM_OBJECTIVE(name, word) OBJECTIVE_##name,
#define ENUM_ITEM_VERDICT(name, word)	VERDICT_##name,
#define ENUM_ITEM_ROLE(name, word)	ROLE_##name,
enum objective {
	OBJECTIVES(ENUM_ITEM_OBJECTIVE) OBJECTIVE_COUNT
};
enum verdict_word {
	VERDICTS(ENUM_ITEM_VERDICT) VERDICT_COUNT
};
enum run_role {
	ROLES(ENUM_ITEM_ROLE) ROLE_COUNT
};

const char *objective_word(enum objective objective);
const char *verdict_text(enum verdict_word verdict);
const char *role_word(enum run_role role);

#define MEMORY_LIMIT_FRAC 0.95 /* of the GPU, where no limit is given */

/* One recipe, as its numbers.  Nulls: NULL_I64, NaN. */
struct recipe {
	bool given;
	bool could_not_run;	/* --base-failed */
	double step_ns;		/* mean */
	double step_ci95_ns[2]; /* NaN without an interval */
	double step_variance;	/* of one step, ns^2; NaN if unknown */
	uint32_t steps;		/* used windows behind step_ns */
	double busy_ns;		/* of a traced step, the GPU's; NaN if unknown */
	bool step_time_given;	/* --step-time or --tokens-per-s, not the trace */
	bool launch_bound;
	bool maybe_launch_bound; /* one rank's trace, whose GPU waits as much: it can't be told */
	bool recomputes_nothing; /* by its trace, in which no graph may hide recomputation */
	int64_t tokens_per_step;
	double tokens_per_s;
	int64_t peak_allocated_bytes, peak_reserved_bytes, gpu_memory_bytes;
	int64_t alloc_retries;
	int64_t sequences_per_rank, sequence_length;
};

/* The bytes that a run of the recipe may reserve: `given_bytes`, else MEMORY_LIMIT_FRAC of its GPU.
 * NULL_I64 where neither is known. */
int64_t recipe_memory_limit(const struct recipe *recipe, int64_t given_bytes);

/* A given step time below this share of the busy time is no step time: profilers slow the host,
 * and kernels by no more than a few per cent. */
#define BUSY_SLACK_FRAC 0.9
bool recipe_is_impossible(const struct recipe *recipe);

/* Retries well below the limit show that something else sets it: a cap on the process, or another
 * one on the GPU. */
#define DOUBTFUL_LIMIT_FRAC 0.8

/* Of runs that retried allocations so, the first; ROLE_COUNT without one, or where the limit was
 * given. */
enum run_role recipes_doubt_limit(const struct recipe recipe[ROLE_COUNT], int64_t given_bytes);

struct judge_input {
	enum objective objective;
	struct recipe recipe[ROLE_COUNT];
	bool comparable;
	bool differ_only_in_noise;  /* the same recipe twice */
	int64_t memory_limit_bytes; /* --memory-limit, NULL_I64: 95 % of the GPU */
};

struct judgement {
	enum verdict_word verdict;
	const char *noise_method; /* "welch", "floor" or "given" */
	double noise_ns;	  /* the difference of step times that noise alone makes */
	const char *reason;	  /* one sentence with numbers */
};

/* Never fails but for ERR_NOMEM; strings live in `arena`. */
bool judge(const struct judge_input *input, struct arena *arena, struct judgement *ret,
	struct err *err);
