#include "phase/sequence.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/mem.h"

#define MIN_RUN 4 /* kernels in a row that must return to be taken for recomputation */

bool sequence_is_needed(const struct trace *trace, const struct roles *roles)
{
	for (uint32_t i = 0; i < trace->host_ops.head.count; i++) {
		const uint8_t role = roles->op[trace->host_ops.name_id[i]];
		if (op_is_mark(role) || role == OP_EVALUATE || role == OP_NODE || role == OP_STEP ||
			role == OP_OPTIMIZER)
			return false;
	}
	return trace->markers.head.count == 0;
}

/* One kernel launch, in the order of time. */
struct shot {
	int64_t at_ns;
	uint32_t op;
	bool backward, optimizer;
};

struct shots {
	struct shot *items;
	uint32_t count;
};

static int by_time(const void *a, const void *b)
{
	const struct shot *left = a, *right = b;
	if (left->at_ns != right->at_ns)
		return left->at_ns < right->at_ns ? -1 : 1;
	return (left->op > right->op) - (left->op < right->op);
}

/* The thread that launches most is the trainer's own unless threads have names that say otherwise.
 */
static uint32_t main_thread(const struct trace *trace, const uint32_t *launches)
{
	uint32_t best = NULL_U32;
	for (uint32_t t = 0; t < trace->threads.head.count; t++) {
		if (trace->threads.role[t] == THREAD_AUTOGRAD)
			continue;
		if (best == NULL_U32 || launches[t] > launches[best])
			best = t;
	}
	return best;
}

static bool collect(
	const struct trace *trace, const struct roles *roles, struct shots *ret, struct err *err)
{
	const struct gpu_op_table *ops = &trace->gpu_ops;
	*ret = (struct shots){mem_new(ops->head.count, sizeof *ret->items, err), 0};
	uint32_t *launches = mem_new(trace->threads.head.count, sizeof *launches, err);
	bool ok = ret->items && launches;
	for (uint32_t i = 0; ok && i < ops->head.count; i++)
		if (ops->api_call_id[i] != NULL_U32)
			launches[trace->api_calls.thread_id[ops->api_call_id[i]]]++;
	const uint32_t trainer = ok ? main_thread(trace, launches) : NULL_U32;
	for (uint32_t i = 0; ok && i < ops->head.count; i++) {
		const uint32_t call = ops->api_call_id[i];
		if (call == NULL_U32 || ops->kind[i] != GPU_KERNEL)
			continue;
		const uint32_t thread = trace->api_calls.thread_id[call];
		/* Threads that launch next to nothing, as NCCL's own, are no autograd workers. */
		const bool backward =
			trace->threads.role[thread] == THREAD_AUTOGRAD ||
			(thread != trainer && launches[thread] > launches[trainer] / 4);
		ret->items[ret->count++] = (struct shot){trace->api_calls.start_ns[call], i,
			backward, !backward && roles->kernel[ops->name_id[i]] == KERNEL_OPTIMIZER};
	}
	if (ok && ret->count)
		qsort(ret->items, ret->count, sizeof *ret->items, by_time);
	mem_free(launches);
	if (!ok)
		mem_free(ret->items);
	return ok;
}

bool sequence_find_steps(const struct trace *trace, const struct roles *roles, struct arena *arena,
	struct host_steps *ret, struct err *err)
{
	struct shots shots;
	if (!collect(trace, roles, &shots, err))
		return false;
	uint32_t ends = 0;
	for (uint32_t i = 0; i < shots.count; i++)
		ends += shots.items[i].optimizer;
	ret->items = arena_new(arena, ends, sizeof *ret->items, err);
	bool ok = ret->items, after_backward = false;
	int64_t start_ns = shots.count ? shots.items[0].at_ns : 0;
	for (uint32_t i = 0; i < shots.count && ok; i++) {
		after_backward = after_backward || shots.items[i].backward;
		const bool last = shots.items[i].optimizer && after_backward &&
				  (i + 1 == shots.count || !shots.items[i + 1].optimizer);
		if (!last)
			continue;
		const int64_t end_ns =
			i + 1 < shots.count ? shots.items[i + 1].at_ns : shots.items[i].at_ns + 1;
		const char *name = arena_format(arena, err, "step %u", ret->count + 1);
		ok = name;
		ret->items[ret->count++] = (struct host_step){name, start_ns, end_ns};
		start_ns = end_ns;
		after_backward = false;
	}
	if (ret->count)
		ret->how = "period";
	mem_free(shots.items);
	return ok;
}

static uint64_t signature(const struct gpu_op_table *ops, uint32_t op)
{
	const uint32_t key[] = {ops->name_id[op], ops->grid_x[op], ops->grid_y[op], ops->grid_z[op],
		ops->block_x[op], ops->block_y[op], ops->block_z[op], ops->shared_bytes[op]};
	return XXH3_64bits(key, sizeof key);
}

/* One step's compute kernels of forward and of backward, as signatures. */
struct step_kernels {
	uint64_t *forward, *backward;
	uint32_t *backward_op;
	uint32_t forward_count, backward_count;
};

/* The longest run of `k->forward` that begins at `at` of backward. */
static uint32_t longest_run(const struct step_kernels *k, uint32_t at)
{
	uint32_t best = 0;
	for (uint32_t f = 0; f < k->forward_count; f++) {
		uint32_t run = 0;
		while (f + run < k->forward_count && at + run < k->backward_count &&
			k->forward[f + run] == k->backward[at + run])
			run++;
		if (run > best)
			best = run;
	}
	return best;
}

/* A run counts when it is long enough and holds a matrix product or attention. */
static void match_step(const struct trace *trace, const struct roles *roles,
	const struct step_kernels *k, struct phases *phases)
{
	for (uint32_t at = 0; at < k->backward_count;) {
		const uint32_t run = longest_run(k, at);
		bool heavy = false;
		for (uint32_t i = at; i < at + run; i++) {
			const uint8_t role =
				roles->kernel[trace->gpu_ops.name_id[k->backward_op[i]]];
			heavy = heavy || role == KERNEL_GEMM || role == KERNEL_ATTENTION;
		}
		if (run < MIN_RUN || !heavy) {
			at++;
			continue;
		}
		for (uint32_t i = at; i < at + run; i++) {
			struct launch *launch = &phases->launches[k->backward_op[i]];
			launch->base = PHASE_RECOMPUTE;
			launch->phase = launch->hook ? PHASE_FSDP : PHASE_RECOMPUTE;
			launch->how = HOW_MATCHED;
		}
		at += run;
	}
}

static void set_phase(struct launch *launch, enum phase phase)
{
	launch->base = (uint8_t)phase;
	launch->phase = launch->hook ? PHASE_FSDP : (uint8_t)phase;
	launch->how = HOW_MATCHED;
}

/* The number of the last backward launch of `step`, looked for from launch `from` on; `from` - 1 if
 * none follows. */
static uint32_t last_backward(
	const struct shots *shots, const struct phases *phases, uint32_t from, uint32_t step)
{
	uint32_t last = from - 1;
	for (uint32_t i = from; i < shots->count; i++) {
		if (phases->launches[shots->items[i].op].step != step)
			break;
		if (shots->items[i].backward)
			last = i;
	}
	return last;
}

bool sequence_tell_phases(const struct trace *trace, const struct roles *roles,
	struct phases *phases, struct err *err)
{
	struct shots shots;
	if (!collect(trace, roles, &shots, err))
		return false;
	struct step_kernels k = {mem_new(shots.count, sizeof *k.forward, err),
		mem_new(shots.count, sizeof *k.backward, err),
		mem_new(shots.count, sizeof *k.backward_op, err), 0, 0};
	const bool ok = k.forward && k.backward && k.backward_op;
	bool after_backward = false;
	uint32_t step = NULL_U32;
	for (uint32_t i = 0; i <= shots.count && ok; i++) {
		struct launch *launch =
			i < shots.count ? &phases->launches[shots.items[i].op] : NULL;
		if (!launch || launch->step != step) {
			match_step(trace, roles, &k, phases);
			k.forward_count = k.backward_count = 0;
			after_backward = false;
		}
		if (!launch)
			break;
		step = launch->step;
		const uint32_t op = shots.items[i].op;
		const bool moves = kernel_is_collective(roles->kernel[trace->gpu_ops.name_id[op]]);
		after_backward = after_backward || shots.items[i].backward;
		if (step == NULL_U32) {
			continue;
		} else if (shots.items[i].backward) {
			set_phase(launch, PHASE_BACKWARD);
			if (!moves) {
				k.backward_op[k.backward_count] = op;
				k.backward[k.backward_count++] = signature(&trace->gpu_ops, op);
			}
		} else if (after_backward && i > last_backward(&shots, phases, i, step)) {
			set_phase(launch, PHASE_OPTIMIZER);
		} else {
			set_phase(launch, PHASE_FORWARD);
			if (!moves)
				k.forward[k.forward_count++] = signature(&trace->gpu_ops, op);
		}
	}
	mem_free(k.forward);
	mem_free(k.backward);
	mem_free(k.backward_op);
	mem_free(shots.items);
	return ok;
}
