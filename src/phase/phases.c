#include "phase/phases.h"

#include "base/mem.h"
#include "phase/sequence.h"

/* The stream that runs most of the forward, recompute and backward time. */
static bool find_compute_stream(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	const uint32_t stream_count = trace->streams.head.count;
	int64_t *phase_ns = mem_new(stream_count, sizeof *phase_ns, err);
	int64_t *any_ns = mem_new(stream_count, sizeof *any_ns, err);
	if (!phase_ns || !any_ns) {
		mem_free(phase_ns);
		mem_free(any_ns);
		return false;
	}
	for (uint32_t i = 0; i < ops->head.count; i++) {
		if (ops->kind[i] != GPU_KERNEL ||
			kernel_is_collective(roles->kernel[ops->name_id[i]]))
			continue;
		const int64_t ns = ops->end_ns[i] - ops->start_ns[i];
		any_ns[ops->stream_id[i]] += ns;
		if (phases->launches[i].phase <= PHASE_BACKWARD)
			phase_ns[ops->stream_id[i]] += ns;
	}
	phases->compute_stream = NULL_U32;
	int64_t best_ns = 0;
	for (uint32_t s = 0; s < stream_count; s++) {
		if (phase_ns[s] > best_ns) {
			best_ns = phase_ns[s];
			phases->compute_stream = s;
		}
	}
	for (uint32_t s = 0; s < stream_count && phases->compute_stream == NULL_U32; s++)
		if (any_ns[s] > best_ns)
			best_ns = any_ns[s];
	for (uint32_t s = 0; s < stream_count && phases->compute_stream == NULL_U32; s++)
		if (best_ns && any_ns[s] == best_ns)
			phases->compute_stream = s;
	mem_free(phase_ns);
	mem_free(any_ns);
	return true;
}

bool phases_make(
	const struct trace *trace, const struct roles *roles, struct phases *ret, struct err *err)
{
	*ret = (struct phases){.compute_stream = NULL_U32};
	const bool by_sequence = sequence_is_needed(trace, roles);
	if (host_steps_find(trace, roles, &ret->arena, &ret->steps, err) &&
		(!by_sequence ||
			sequence_find_steps(trace, roles, &ret->arena, &ret->steps, err)) &&
		phases_read_stacks(trace, roles, ret, err) &&
		(!by_sequence || sequence_tell_phases(trace, roles, ret, err)) &&
		phases_match_compiled(trace, roles, ret, err) &&
		phases_count_gathers(trace, roles, ret, err) &&
		find_compute_stream(trace, roles, ret, err))
		return true;
	phases_done(ret);
	return false;
}

void phases_done(struct phases *phases)
{
	mem_free(phases->spans);
	mem_free(phases->allocs);
	mem_free(phases->fsdp1);
	intern_done(&phases->units);
	arena_done(&phases->arena);
	*phases = (struct phases){0};
}
