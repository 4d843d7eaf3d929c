/*
 * What the shapes of host ops say: tokens and floating-point operations (DESIGN section 5).
 * src/attribute only.
 */
#pragma once

#include "attribute/breakdown.h"
#include "attribute/ranks.h"

struct token_count {
	int64_t tokens;			      /* one rank's a step, NULL_I64 if it can't be told */
	int64_t sequence_length, micro_batch; /* of the embedding's input, NULL_I64 if unknown */
	bool is_marked;			      /* the recorder's hook saw the input itself */
};

/*
 * Tokens of the used steps' forward: elements of the index that the largest embedding is asked for,
 * else of the loss's target.
 */
bool tokens_count(const struct rank_analysis *rank, const bool *used, struct token_count *ret,
	struct err *err);

/*
 * FLOPs of matrix products (2 m n k) and attention (4 b h s t d forward, 10 b h s t d backward, as
 * if every query saw every key), by phase, a used step's.  Matrix and attention kernels that no
 * counted op launched are named.  `step_ns` is the mean used window; MFU needs the GPU's name and
 * dtype.
 */
bool flops_count(const struct rank_analysis *rank, const bool *used, double step_ns,
	struct arena *arena, struct flop_use *ret, struct err *err);
