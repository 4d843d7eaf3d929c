/*
 * Two runs made by hand with the numbers of big_none and big_ac_block, and their comparison: what
 * verdict and render work on, without a trace.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "attribute/facts.h"
#include "base/table.h"
#include "compare/comparison.h"
#include "verdict/answer.h"

#define SAMPLE_MS INT64_C(1000000)

/* One rank, two steps, a few parts; `recompute_ms` 0 for the run without checkpointing. */
struct sample_run {
	struct part parts[6];
	struct step_part steps[2];
	struct path_step path[2];
	struct hop hop;
	struct gather_row gathers[3];
	struct rank_result rank;
	struct run_facts facts;
	struct breakdown breakdown;
};

static inline struct part sample_part(
	uint8_t state, uint8_t phase, uint8_t on, uint8_t reason, int64_t ns)
{
	return (struct part){.ns = ns,
		.rank = NULL_I32,
		.state = state,
		.phase = phase,
		.on = on,
		.wait_for = WORD_NONE,
		.reason = reason,
		.how = HOW_STRUCTURAL};
}

static inline void sample_run_fill(
	struct sample_run *run, const char *name, int64_t recompute_ms, int64_t reserved_bytes)
{
	const uint8_t none = WORD_NONE;
	*run = (struct sample_run){0};
	uint32_t count = 0;
	run->parts[count++] = sample_part(STATE_BUSY, PHASE_BACKWARD, none, none, 75 * SAMPLE_MS);
	run->parts[count++] = sample_part(STATE_BUSY, PHASE_FORWARD, none, none, 36 * SAMPLE_MS);
	if (recompute_ms)
		run->parts[count++] = sample_part(
			STATE_BUSY, PHASE_RECOMPUTE, none, none, recompute_ms * SAMPLE_MS);
	run->parts[count++] = sample_part(
		STATE_BLOCKED, none, HOLDER_ALL_GATHER, GATHER_BACKWARD, 14 * SAMPLE_MS);
	run->parts[count++] =
		sample_part(STATE_BLOCKED, none, HOLDER_REDUCE_SCATTER, none, 4 * SAMPLE_MS);
	run->parts[count++] =
		sample_part(STATE_STARVED, PHASE_FSDP, none, STARVE_DISPATCH, 3 * SAMPLE_MS);
	const int64_t wall_ns = (132 + recompute_ms) * SAMPLE_MS;
	run->hop = (struct hop){"all_gather layers.3 backward", 0, 1, 2 * SAMPLE_MS};
	for (int i = 0; i < 2; i++) {
		const struct part_list parts = {.items = run->parts, .count = count};
		run->steps[i] = (struct step_part){.name = i ? "ProfilerStep#2" : "ProfilerStep#1",
			.closed = true,
			.used = true,
			.wall_ns = wall_ns,
			.parts = parts};
		run->path[i] = (struct path_step){.name = run->steps[i].name,
			.used = true,
			.wall_ns = wall_ns,
			.parts = parts,
			.hops = &run->hop,
			.hop_count = 1};
	}
	run->gathers[0] = (struct gather_row){.unit = "layers.0",
		.reason = GATHER_FORWARD,
		.how = HOW_STRUCTURAL,
		.count = 2,
		.bytes = 2 << 20,
		.kernel_ns = 4 * SAMPLE_MS,
		.peer_wait_ns = NULL_I64};
	run->gathers[1] = run->gathers[2] = run->gathers[0];
	run->gathers[1].reason = GATHER_BACKWARD;
	run->gathers[1].blocked_ns = 28 * SAMPLE_MS;
	run->gathers[1].prefetched = true;
	run->gathers[2].reason = GATHER_REPEAT;
	run->rank = (struct rank_result){.rank = 0,
		.file = "big.rank0.json",
		.source = "kineto",
		.gpu = "NVIDIA H200",
		.steps_used = 2,
		.steps = run->steps,
		.step_count = 2,
		.steps_how = "ProfilerStep",
		.gathers = run->gathers,
		.gather_count = 2,
		.memory = {.peak_allocated_bytes = reserved_bytes - 5000000,
			.peak_reserved_bytes = reserved_bytes},
		.flops = {.forward_flop = 4450000000000,
			.recompute_flop = recompute_ms * 100000000000,
			.backward_flop = 9180000000000,
			.achieved_flop_per_s = 1.46e14,
			.mfu = NAN}};
	run->breakdown = (struct breakdown){.name = name,
		.facts = &run->facts,
		.world_size = 2,
		.tokens_per_step = 16384,
		.tokens_how = "inferred",
		.sequence_length = 4096,
		.micro_batch = 2,
		.accumulation = 1,
		.ranks = &run->rank,
		.rank_count = 1,
		.path = run->path,
		.path_count = 2,
		.path_used = 2,
		.path_is_job = true,
		.peer_wait_at_least_ns = NULL_I64,
		.tail_reduce_scatter_ns = 4 * SAMPLE_MS};
}

/* +28 ms: 30 of recomputation, -2 of better overlap. */
static inline struct comparison sample_comparison(void)
{
	static const struct evidence evidence = {"count", "regions recomputed", 0, 4, "count"};
	struct comparison out = {.comparable = true,
		.recomputes = {false, true},
		.checkpointing_is_only_difference = true,
		.is_job = true,
		.same_work = true,
		.token_ratio = 1,
		.base_ns = 132 * SAMPLE_MS,
		.checkpointed_ns = 160 * SAMPLE_MS,
		.delta_ns = 28 * SAMPLE_MS,
		.delta_ci95_ns = {NULL_I64, NULL_I64},
		.is_floor = true,
		.noise_ns = 3300000};
	for (int i = 0; i < CAUSE_COUNT; i++) {
		out.causes[i].ci95_ns[0] = out.causes[i].ci95_ns[1] = NULL_I64;
		out.causes[i].how = HOW_STRUCTURAL;
	}
	out.causes[CAUSE_RECOMPUTE].ns = 30 * SAMPLE_MS;
	out.causes[CAUSE_RECOMPUTE].evidence = &evidence;
	out.causes[CAUSE_RECOMPUTE].evidence_count = 1;
	out.causes[CAUSE_LOST_OVERLAP].ns = -2 * SAMPLE_MS;
	return out;
}

static inline struct answer_input sample_question(enum objective objective,
	const struct sample_run *base, const struct sample_run *checkpointed,
	const struct comparison *comparison)
{
	struct answer_input input = {.objective = objective,
		.memory_limit_bytes = NULL_I64,
		.memory_limit_frac = NAN,
		.comparison = comparison};
	for (int i = 0; i < ROLE_COUNT; i++)
		input.run[i] = (struct answer_run){.gpu_memory_bytes = NULL_I64,
			.given_step_ns = NAN,
			.given_tokens_per_s = NAN};
	input.run[ROLE_BASE].breakdown = &base->breakdown;
	input.run[ROLE_CHECKPOINTED].breakdown = &checkpointed->breakdown;
	return input;
}
