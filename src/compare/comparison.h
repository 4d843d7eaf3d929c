/*
 * The pair: what differs between two runs, and the difference of their step times split exactly
 * over causes (DESIGN section 6).  Numbers only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribute/breakdown.h"

/* X(NAME, word, HEADLINE) in the order they are printed */
#define CAUSES(X)                                                       \
	X(RECOMPUTE, "recompute", EXTRA_FLOPS)                          \
	X(RECOMPUTE_DISPATCH, "recompute_dispatch", EXTRA_FLOPS)        \
	X(REPEATED_ALL_GATHER, "repeated_all_gather", REPEATED_GATHERS) \
	X(LOST_OVERLAP, "lost_overlap", INDUCED_STALLS)                 \
	X(UNIT_OVERHEAD, "unit_overhead", INDUCED_STALLS)               \
	X(WRAPPER_DISPATCH, "wrapper_dispatch", INDUCED_STALLS)         \
	X(KERNEL_SPEED, "kernel_speed", NOT_CHECKPOINTING)              \
	X(OTHER_WORK, "other_work", NOT_CHECKPOINTING)                  \
	X(HOST_SPEED, "host_speed", NOT_CHECKPOINTING)                  \
	X(ALLOCATOR, "allocator", NOT_CHECKPOINTING)                    \
	X(HOST, "host", NOT_CHECKPOINTING)                              \
	X(COPIES, "copies", NOT_CHECKPOINTING)                          \
	X(OTHER, "other", NOT_CHECKPOINTING)

#define HEADLINES(X)                                 \
	X(EXTRA_FLOPS, "extra FLOPs")                \
	X(REPEATED_GATHERS, "repeated all-gathers")  \
	X(INDUCED_STALLS, "wrapping-induced stalls") \
	X(NOT_CHECKPOINTING, "not checkpointing's doing")

/*
 * With fewer than four windows a run no interval can be told, and a floor stands in.  A recipe's
 * step time spreads by 2.5 % between processes, by 15 % when it is launch-bound (measured ranges);
 * a difference of two carries two such spreads, so the floor of a difference is larger by the
 * square root of two: 3.5 and 21 % of base's step.
 */
#define NOISE_MIN_WINDOWS	 4
#define NOISE_SPREAD_FRAC	 0.025
#define NOISE_SPREAD_LAUNCH_FRAC 0.15
#define NOISE_OF_DIFFERENCE	 1.4142135623730951

#define ENUM_ITEM_HEADLINE(name, word)	      HEADLINE_##name,
#define ENUM_ITEM_CAUSE(name, word, headline) CAUSE_##name,
enum headline {
	HEADLINES(ENUM_ITEM_HEADLINE) HEADLINE_COUNT
};
enum cause {
	CAUSES(ENUM_ITEM_CAUSE) CAUSE_COUNT
};

const char *cause_word(enum cause cause);
enum headline cause_headline(enum cause cause);
const char *headline_word(enum headline headline);

/* One observation behind a cause: `name` went from `base` to `checkpointed`, in `unit`. */
struct evidence {
	const char *kind; /* "unit", "kernel", "count", "time", "call" */
	const char *name;
	double base, checkpointed; /* a step's */
	const char *unit;	   /* "ns", "bytes", "count", "flop" */
};

struct cause_result {
	int64_t ns;	    /* a step's; all causes sum to delta_ns */
	int64_t ci95_ns[2]; /* equal to NULL_I64 where a floor stands in */
	enum how how;
	const struct evidence *evidence;
	uint32_t evidence_count;
	const char *words; /* one sentence, or NULL */
};

struct comparison {
	struct arena arena;
	bool comparable;
	const char **differences; /* a sentence each */
	uint32_t difference_count;
	bool normalised_to_tokens; /* the numbers below are for base's tokens a step */
	double token_ratio;	   /* checkpointed's tokens a step over base's, NaN if unknown */
	int64_t base_ns,
		checkpointed_ns;  /* mean traced step on the job path, after normalisation */
	int64_t delta_ns;	  /* checkpointed_ns - base_ns */
	int64_t delta_ci95_ns[2]; /* NULL_I64 where a floor stands in */
	bool is_floor;		  /* fewer than four windows a run: noise_ns is a floor */
	int64_t noise_ns;	  /* half width of the interval, or the floor */
	struct cause_result causes[CAUSE_COUNT];
	bool checkpointing_is_only_difference;
	bool same_work;		    /* tokens, micro-batch and sequence, as far as they are known */
	const char *confounders;    /* what differs beside checkpointing, by name: while it does,
				       checkpointing's own share can't be told; "" or NULL if none */
	bool is_job;		    /* false: of a run there is one rank only, whose waits may
				       be its peers' doing */
	bool recomputes[2];	    /* base, checkpointed: any recomputation on the path */
	bool launch_bound;	    /* either run */
	int64_t inflation_ns[2][2]; /* base, checkpointed: the profiler's cost a step, from, to */
};

/*
 * What of the recomputation runs beside collectives that would be waited for anyway: never more
 * than was recomputed.  0 where fewer waits need not be its doing: something else differs, or the
 * waits are one rank's.
 */
int64_t comparison_hidden_ns(const struct comparison *comparison);

bool comparison_is_confounded(const struct comparison *comparison);

void comparison_done(struct comparison *comparison);
