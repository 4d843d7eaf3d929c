/*
 * Recomputation inside compiled backward graphs.  The partitioner hides it there, but a kernel of
 * the forward graph that returns in the backward graph, by name, grid, block and shared memory, is
 * one that was computed again (DESIGN section 3, `matched`).  Matrix products and attention kernels
 * that do not return are backward; what fused kernels hold can't be told, and stays unknown.
 * Checked on two recorded pairs: without checkpointing nothing returns; with it the forward's whole
 * chain does.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"
#include "phase/phases.h"

#define MIN_MATCHED 3 /* fewer kernels that return are taken for chance */

struct signatures {
	uint64_t *slot; /* open addressing; 0 is free */
	uint32_t mask;
};

static uint64_t signature(const struct gpu_op_table *ops, uint32_t op)
{
	const uint32_t key[] = {ops->name_id[op], ops->grid_x[op], ops->grid_y[op], ops->grid_z[op],
		ops->block_x[op], ops->block_y[op], ops->block_z[op], ops->shared_bytes[op]};
	return XXH3_64bits(key, sizeof key) | 1;
}

/* The slot that holds `key`, or the free one where it belongs. */
static uint64_t *find(const struct signatures *set, uint64_t key)
{
	uint32_t at = (uint32_t)(key >> 8) & set->mask;
	while (set->slot[at] && set->slot[at] != key)
		at = (at + 1) & set->mask;
	return &set->slot[at];
}

static bool has(const struct signatures *set, uint64_t key)
{
	return *find(set, key) == key;
}

bool phases_match_compiled(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	uint32_t forward_count = 0, matched = 0, matched_heavy = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		forward_count += phases->launches[i].compiled == 1;
		phases->compiled_ops += phases->launches[i].compiled == 2;
	}
	if (!phases->compiled_ops)
		return true;
	uint32_t size = 64;
	while (size < 2 * forward_count)
		size *= 2;
	struct signatures set = {mem_new(size, sizeof *set.slot, err), size - 1};
	if (!set.slot)
		return false;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (phases->launches[i].compiled == 1 && ops->kind[i] == GPU_KERNEL)
			*find(&set, signature(ops, i)) = signature(ops, i);
	}
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (phases->launches[i].compiled != 2 || !has(&set, signature(ops, i)))
			continue;
		const uint8_t role = roles->kernel[ops->name_id[i]];
		matched++;
		matched_heavy += role == KERNEL_GEMM || role == KERNEL_ATTENTION;
	}
	const bool believed = matched >= MIN_MATCHED && matched_heavy;
	phases->compiled_ops = 0;
	for (uint32_t i = 0; i < ops->head.count; i++) {
		struct launch *launch = &phases->launches[i];
		if (launch->compiled != 2 || launch->hook)
			continue;
		const uint8_t role = roles->kernel[ops->name_id[i]];
		launch->how = HOW_MATCHED;
		if (believed && has(&set, signature(ops, i))) {
			launch->phase = launch->base = PHASE_RECOMPUTE;
		} else if (role == KERNEL_GEMM || role == KERNEL_ATTENTION) {
			launch->phase = PHASE_BACKWARD;
		} else {
			launch->phase = PHASE_UNKNOWN;
			launch->how = HOW_UNKNOWN;
			phases->compiled_ops++;
		}
	}
	mem_free(set.slot);
	return true;
}
