/*
 * What the names of one trace mean by the rules: one byte a distinct name and domain, decided once
 * a name.  The lists here are the classes that the rules file may name.
 */
#pragma once

#include <stdint.h>

#include "classify/rules.h"
#include "trace/trace.h"

/* X(NAME, word) */
#define KERNEL_ROLES(X)                     \
	X(COMPUTE, "compute")               \
	X(GEMM, "gemm")                     \
	X(ATTENTION, "attention")           \
	X(OPTIMIZER, "optimizer")           \
	X(ALL_GATHER, "all_gather")         \
	X(REDUCE_SCATTER, "reduce_scatter") \
	X(ALL_REDUCE, "all_reduce")         \
	X(SEND_RECV, "send_recv")           \
	X(BROADCAST, "broadcast")           \
	X(OTHER_COLLECTIVE, "other_collective")

#define CALL_ROLES(X)       \
	X(OTHER, "other")   \
	X(LAUNCH, "launch") \
	X(ALLOC, "alloc")   \
	X(FREE, "free")     \
	X(PINNED, "pinned") \
	X(SYNC, "sync")     \
	X(WAIT, "wait")     \
	X(RECORD, "record") \
	X(COPY, "copy")     \
	X(QUERY, "query")

#define OP_ROLES(X)                                   \
	X(OTHER, "other")                             \
	X(STEP, "step")                               \
	X(OPTIMIZER, "optimizer")                     \
	X(EVALUATE, "evaluate")                       \
	X(NODE, "node")                               \
	X(COMPILED, "compiled")                       \
	X(COMPILED_BACKWARD, "compiled_backward")     \
	X(CHECKPOINT, "checkpoint")                   \
	X(CHECKPOINT_BACKWARD, "checkpoint_backward") \
	X(FSDP2_GATHER, "fsdp2_gather")               \
	X(FSDP2_COPY_OUT, "fsdp2_copy_out")           \
	X(FSDP2_PRE_FORWARD, "fsdp2_pre_forward")     \
	X(FSDP2_PRE_BACKWARD, "fsdp2_pre_backward")   \
	X(FSDP2_PREFETCH, "fsdp2_prefetch")           \
	X(FSDP2_REDUCE, "fsdp2_reduce")               \
	X(FSDP2_HOOK, "fsdp2_hook")                   \
	X(FSDP_OP, "fsdp_op")                         \
	X(FSDP1_FORWARD, "fsdp1_forward")             \
	X(FSDP1_PRE_FORWARD, "fsdp1_pre_forward")     \
	X(FSDP1_PRE_BACKWARD, "fsdp1_pre_backward")   \
	X(FSDP1_PREFETCH, "fsdp1_prefetch")           \
	X(FSDP1_POST_BACKWARD, "fsdp1_post_backward") \
	X(FSDP1_HOOK, "fsdp1_hook")                   \
	X(DATA, "data")                               \
	X(GC, "gc")                                   \
	X(COLLECTIVE_CALL, "collective_call")         \
	X(MARK_STEP, "mark_step")                     \
	X(MARK_FORWARD, "mark_forward")               \
	X(MARK_BACKWARD, "mark_backward")             \
	X(MARK_OPTIMIZER, "mark_optimizer")           \
	X(MARK_CHECKPOINT, "mark_checkpoint")         \
	X(MARK_RECOMPUTE, "mark_recompute")

#define ENUM_ITEM_KERNEL(name, word) KERNEL_##name,
#define ENUM_ITEM_CALL(name, word)   CALL_##name,
#define ENUM_ITEM_OP(name, word)     OP_##name,
enum kernel_role {
	KERNEL_ROLES(ENUM_ITEM_KERNEL) KERNEL_ROLE_COUNT
};
enum call_role {
	CALL_ROLES(ENUM_ITEM_CALL) CALL_ROLE_COUNT
};
enum op_role {
	OP_ROLES(ENUM_ITEM_OP) OP_ROLE_COUNT
};

/* The three kinds of names a rule can speak of. */
enum rule_domain {
	DOMAIN_KERNEL,
	DOMAIN_CALL,
	DOMAIN_OP,
	DOMAIN_COUNT
};

/* One rule of a domain's list; src/classify only. */
struct rule;

/* The class of `text` in `domain`; `ret_unit`, if not NULL, gets the range of the unit's name. */
struct rule_match {
	uint8_t role;
	bool has_unit;
	uint32_t unit_start, unit_length;
};
bool rules_match(const struct rules *rules, enum rule_domain domain, const char *text,
	uint32_t length, struct rule_match *ret, struct err *err);

/* Indexed by string id; entries of ids that name nothing in their domain are 0. */
struct roles {
	uint8_t *kernel;     /* enum kernel_role */
	uint8_t *call;	     /* enum call_role */
	uint8_t *op;	     /* enum op_role */
	uint32_t *unit;	     /* of op names: an id in `units`, or NULL_U32 */
	struct intern units; /* the distinct unit names caught; the root's is "" */
};

bool roles_make(
	const struct rules *rules, const struct trace *trace, struct roles *ret, struct err *err);
void roles_done(struct roles *roles);

static inline bool kernel_is_collective(uint8_t role)
{
	return role >= KERNEL_ALL_GATHER;
}

/* One of the recorder's own markers (include/inquest/mark.h). */
static inline bool op_is_mark(uint8_t role)
{
	return role >= OP_MARK_STEP && role <= OP_MARK_RECOMPUTE;
}

/* Inside one of FSDP's hooks: FullyShardedDataParallel.forward holds the module's own forward and
 * is none. */
static inline bool op_is_fsdp_hook(uint8_t role)
{
	return role >= OP_FSDP2_GATHER && role <= OP_FSDP1_HOOK && role != OP_FSDP1_FORWARD;
}
