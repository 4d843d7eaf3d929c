/*
 * The vocabulary of the partition, the ledger and the causes (DESIGN: words, sections 2 to 6), and
 * the words they are printed as.  One list each; the JSON Schemas list the same words.
 */
#pragma once

/* X(NAME, word) */
#define STATES(X)             \
	X(BUSY, "busy")       \
	X(BLOCKED, "blocked") \
	X(STARVED, "starved")

/* Several at once: the first in this order owns the instant. */
#define PHASES(X)                 \
	X(FORWARD, "forward")     \
	X(RECOMPUTE, "recompute") \
	X(BACKWARD, "backward")   \
	X(OPTIMIZER, "optimizer") \
	X(FSDP, "fsdp")           \
	X(UNKNOWN, "unknown")

/* What holds the link or the engine while the compute stream is blocked. */
#define HOLDERS(X)                              \
	X(ALL_GATHER, "all_gather")             \
	X(REDUCE_SCATTER, "reduce_scatter")     \
	X(ALL_REDUCE, "all_reduce")             \
	X(SEND_RECV, "send_recv")               \
	X(BROADCAST, "broadcast")               \
	X(OTHER_COLLECTIVE, "other_collective") \
	X(COPY, "copy")                         \
	X(LATENCY, "latency")                   \
	X(UNEXPLAINED, "unexplained")

#define GATHER_REASONS(X)       \
	X(FORWARD, "forward")   \
	X(BACKWARD, "backward") \
	X(REPEAT, "repeat")     \
	X(UNKNOWN, "unknown")

/* Why the next op is not launched yet. */
#define STARVE_REASONS(X)         \
	X(DISPATCH, "dispatch")   \
	X(ALLOCATOR, "allocator") \
	X(LEAD_LOST, "lead_lost") \
	X(SYNC, "sync")           \
	X(DATA, "data")           \
	X(GC, "gc")

/* How an answer was reached, best first. */
#define HOWS(X)                     \
	X(MARKED, "marked")         \
	X(STRUCTURAL, "structural") \
	X(MATCHED, "matched")       \
	X(INFERRED, "inferred")     \
	X(EXACT, "exact")           \
	X(UNKNOWN, "unknown")

#define ENUM_ITEM_STATE(name, word)  STATE_##name,
#define ENUM_ITEM_PHASE(name, word)  PHASE_##name,
#define ENUM_ITEM_HOLDER(name, word) HOLDER_##name,
#define ENUM_ITEM_GATHER(name, word) GATHER_##name,
#define ENUM_ITEM_STARVE(name, word) STARVE_##name,
#define ENUM_ITEM_HOW(name, word)    HOW_##name,

enum state {
	STATES(ENUM_ITEM_STATE) STATE_COUNT
};
enum phase {
	PHASES(ENUM_ITEM_PHASE) PHASE_COUNT
};
enum holder {
	HOLDERS(ENUM_ITEM_HOLDER) HOLDER_COUNT
};
enum gather_reason {
	GATHER_REASONS(ENUM_ITEM_GATHER) GATHER_COUNT
};
enum starve_reason {
	STARVE_REASONS(ENUM_ITEM_STARVE) STARVE_COUNT
};
enum how {
	HOWS(ENUM_ITEM_HOW) HOW_COUNT
};

/* "does not apply" for any of the above when it is kept in a byte. */
#define WORD_NONE 0xff

const char *state_word(enum state state);
const char *phase_word(enum phase phase);
const char *holder_word(enum holder holder);
const char *gather_word(enum gather_reason reason);
const char *starve_word(enum starve_reason reason);
const char *how_word(enum how how);
