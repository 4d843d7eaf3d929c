/* Floating-point operations by phase, from the shapes of the ops that do them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/dims.h"
#include "attribute/shapes.h"
#include "base/mem.h"

/* Datasheet peaks of dense 16-bit matrix products (bf16 or fp16, no sparsity), FLOP/s. */
static const struct {
	const char *name; /* in the device's name; the first match counts */
	double peak_16bit;
} gpus[] = {
	{"GH200", 989.5e12},
	{"H200", 989.5e12},
	{"H100 PCIe", 756e12},
	{"H100 NVL", 835.5e12},
	{"H100", 989.5e12},
	{"H800", 989.5e12},
	{"GB200", 2500e12},
	{"B200", 2250e12},
	{"A100", 312e12},
	{"A800", 312e12},
	{"A40", 149.7e12},
	{"L40S", 362e12},
	{"L40", 181.05e12},
	{"L4", 121e12},
	{"V100", 125e12},
	{"MI250", 383e12},
	{"MI300X", 1307.4e12},
	{"MI325X", 1307.4e12},
};

enum flop_kind {
	FLOP_NONE,
	FLOP_MM,
	FLOP_ADDMM,
	FLOP_BMM,
	FLOP_BADDBMM,
	FLOP_SDPA,
	FLOP_SDPA_BACK
};

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Only ops that call kernels themselves: aten::linear and aten::matmul end in one of these. */
static enum flop_kind kind_of(const char *name)
{
	if (strcmp(name, "aten::mm") == 0)
		return FLOP_MM;
	if (strcmp(name, "aten::addmm") == 0)
		return FLOP_ADDMM;
	if (strcmp(name, "aten::bmm") == 0)
		return FLOP_BMM;
	if (strcmp(name, "aten::baddbmm") == 0)
		return FLOP_BADDBMM;
	/* The one that is made of other ops counts by them. */
	if (begins(name, "aten::_scaled_dot_product_") && !strstr(name, "_math"))
		return strstr(name, "backward") ? FLOP_SDPA_BACK : FLOP_SDPA;
	return FLOP_NONE;
}

/* The op's FLOPs; 0 if its shapes don't say. */
static double flops_of(enum flop_kind kind, const struct dims *dims)
{
	const uint32_t a = kind == FLOP_ADDMM || kind == FLOP_BADDBMM ? 1 : 0, b = a + 1;
	if (dims->count <= b)
		return 0;
	if (kind == FLOP_SDPA || kind == FLOP_SDPA_BACK) {
		/* Forward takes q, k, v; backward the gradient before them. */
		const uint32_t q = kind == FLOP_SDPA ? 0 : 1, k = q + 1;
		if (dims->count <= k || dims->rank[q] != 4 || dims->rank[k] != 4)
			return 0;
		const double product = (double)dims->size[q][0] * (double)dims->size[q][1] *
				       (double)dims->size[q][2] * (double)dims->size[k][2] *
				       (double)dims->size[q][3];
		return (kind == FLOP_SDPA ? 4 : 10) * product;
	}
	const uint32_t rank = kind == FLOP_MM || kind == FLOP_ADDMM ? 2 : 3;
	if (dims->rank[a] != rank || dims->rank[b] != rank)
		return 0;
	const double batch = rank == 3 ? (double)dims->size[a][0] : 1;
	return 2 * batch * (double)dims->size[a][rank - 2] * (double)dims->size[a][rank - 1] *
	       (double)dims->size[b][rank - 1];
}

/* A launch of a matrix or attention kernel. */
struct heavy {
	int64_t at_ns;
	uint32_t thread_id, step, gpu_op;
	uint8_t base;
	bool counted;
};

static int by_thread_time(const void *a, const void *b)
{
	const struct heavy *left = a, *right = b;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	if (left->at_ns != right->at_ns)
		return left->at_ns < right->at_ns ? -1 : 1;
	return (left->gpu_op > right->gpu_op) - (left->gpu_op < right->gpu_op);
}

/* All launches of compute kernels in used steps, sorted. */
static struct heavy *collect_launches(
	const struct rank_analysis *rank, const bool *used, uint32_t *ret_count, struct err *err)
{
	const struct gpu_op_table *ops = &rank->trace->gpu_ops;
	struct heavy *items = mem_new(ops->head.count, sizeof *items, err);
	uint32_t count = 0;
	for (uint32_t i = 0; items && i < ops->head.count; i++) {
		const struct launch *launch = &rank->phases.launches[i];
		if (launch->start_ns == NULL_I64 || launch->step == NULL_U32 ||
			!used[launch->step] || ops->kind[i] != GPU_KERNEL)
			continue;
		/* Compiled graphs are told apart kernel by kernel, so the phase itself counts. */
		const uint8_t base = launch->phase == PHASE_FSDP ? launch->base : launch->phase;
		items[count++] = (struct heavy){
			launch->start_ns, launch->thread_id, launch->step, i, base, false};
	}
	if (items && count)
		qsort(items, count, sizeof *items, by_thread_time);
	*ret_count = count;
	return items;
}

static uint32_t first_launch(
	const struct heavy *items, uint32_t count, uint32_t thread_id, int64_t at_ns)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		if (items[middle].thread_id < thread_id ||
			(items[middle].thread_id == thread_id && items[middle].at_ns < at_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct totals {
	double flop[PHASE_COUNT];
	char dtype[32];
	bool any;
};

static void add_op(const struct rank_analysis *rank, uint32_t op, enum flop_kind kind,
	struct heavy *launches, uint32_t count, struct totals *totals)
{
	const struct host_op_table *ops = &rank->trace->host_ops;
	uint32_t at = first_launch(launches, count, ops->thread_id[op], ops->start_ns[op]);
	if (at == count || launches[at].thread_id != ops->thread_id[op] ||
		launches[at].at_ns >= ops->end_ns[op])
		return; /* replayed from a cache, or outside of the used steps */
	struct dims dims;
	if (!dims_read(intern_text(&rank->trace->strings, ops->shapes_id[op]), &dims))
		return;
	const double flop = flops_of(kind, &dims);
	if (flop <= 0)
		return;
	totals->any = true;
	totals->flop[launches[at].base] += flop;
	if (!totals->dtype[0])
		memcpy(totals->dtype, dims.type, sizeof totals->dtype);
	for (; at < count && launches[at].thread_id == ops->thread_id[op] &&
		launches[at].at_ns < ops->end_ns[op];
		at++)
		launches[at].counted = true;
}

static int by_name(const void *a, const void *b)
{
	const struct named_count *left = a, *right = b;
	return strcmp(left->name, right->name);
}

/* Names the matrix and attention kernels that no counted op launched. */
static bool name_unknown(const struct rank_analysis *rank, const struct heavy *launches,
	uint32_t count, struct arena *arena, struct flop_use *ret, struct err *err)
{
	const struct trace *trace = rank->trace;
	int64_t *by_id = mem_new(trace->strings.count, sizeof *by_id, err);
	if (!by_id)
		return false;
	uint32_t distinct = 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t id = trace->gpu_ops.name_id[launches[i].gpu_op];
		const uint8_t role = rank->roles.kernel[id];
		if (launches[i].counted || (role != KERNEL_GEMM && role != KERNEL_ATTENTION))
			continue;
		distinct += by_id[id]++ == 0;
	}
	struct named_count *names = arena_new(arena, distinct, sizeof *names, err);
	bool ok = names;
	for (uint32_t id = 0; id < trace->strings.count && ok; id++) {
		if (!by_id[id])
			continue;
		names[ret->unknown_op_count] = (struct named_count){
			arena_text(arena, intern_text(&trace->strings, id), err), by_id[id]};
		ok = names[ret->unknown_op_count++].name;
	}
	mem_free(by_id);
	if (ok)
		qsort(names, distinct, sizeof *names, by_name);
	ret->unknown_ops = names;
	return ok;
}

/* "A40" is in "NVIDIA A40", not in "NVIDIA RTX A4000". */
static bool has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		const bool begins_word = at == text || !isalnum((unsigned char)at[-1]);
		if (begins_word && !isalnum((unsigned char)at[length]))
			return true;
	}
	return false;
}

static double peak_of(const char *gpu, const char *dtype)
{
	if (!strcasestr(dtype, "bfloat16") && !strcasestr(dtype, "half") &&
		!strcasestr(dtype, "float16"))
		return NAN;
	for (uint32_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
		if (has_word(gpu, gpus[i].name))
			return gpus[i].peak_16bit;
	return NAN;
}

/* The recorder's hook counts one early step by the framework's own formulas. */
static void take_marked(const struct trace *trace, struct flop_use *ret)
{
	const struct {
		const char *name;
		int64_t *value;
	} values[] = {{"forward_flop", &ret->forward_flop},
		{"recompute_flop", &ret->recompute_flop}, {"backward_flop", &ret->backward_flop}};
	for (uint32_t i = 0; i < trace->markers.head.count; i++)
		for (uint32_t v = 0; v < sizeof values / sizeof *values; v++)
			if (trace->markers.kind[i] == MARKER_OTHER &&
				strcmp(intern_text(&trace->strings, trace->markers.name_id[i]),
					values[v].name) == 0)
				*values[v].value = trace->markers.value[i];
}

static const char *gathered_dtype(const struct trace *trace)
{
	for (uint32_t c = 0; c < trace->collectives.head.count; c++)
		if (trace->collectives.kind[c] == COLLECTIVE_ALL_GATHER)
			return intern_text(&trace->strings, trace->collectives.dtype_id[c]);
	return "";
}

/* Rates from the counts; NaN where a count is missing. */
static void set_rates(struct flop_use *use, double step_ns, double peak)
{
	if (use->forward_flop == NULL_I64 || use->backward_flop == NULL_I64)
		return;
	const double model = (double)use->forward_flop + (double)use->backward_flop;
	const double extra = use->recompute_flop == NULL_I64 ? 0 : (double)use->recompute_flop;
	use->achieved_flop_per_s = (model + extra) / step_ns * 1e9;
	use->mfu = model / step_ns * 1e9 / peak;
}

bool flops_count(const struct rank_analysis *rank, const bool *used, double step_ns,
	struct arena *arena, struct flop_use *ret, struct err *err)
{
	const struct trace *trace = rank->trace;
	*ret = (struct flop_use){.forward_flop = NULL_I64,
		.recompute_flop = NULL_I64,
		.backward_flop = NULL_I64,
		.achieved_flop_per_s = NAN,
		.mfu = NAN};
	uint32_t count = 0, steps_used = 0;
	for (uint32_t s = 0; s < rank->phases.steps.count; s++)
		steps_used += used[s];
	struct heavy *launches = collect_launches(rank, used, &count, err);
	if (!launches)
		return false;
	struct totals totals = {0};
	for (uint32_t i = 0; i < trace->host_ops.head.count; i++) {
		if (!trace->host_ops.shapes_id[i])
			continue;
		const enum flop_kind kind =
			kind_of(intern_text(&trace->strings, trace->host_ops.name_id[i]));
		if (kind != FLOP_NONE)
			add_op(rank, i, kind, launches, count, &totals);
	}
	bool ok = true;
	if (totals.any && steps_used) {
		ret->forward_flop = (int64_t)(totals.flop[PHASE_FORWARD] / steps_used);
		ret->recompute_flop = (int64_t)(totals.flop[PHASE_RECOMPUTE] / steps_used);
		ret->backward_flop = (int64_t)(totals.flop[PHASE_BACKWARD] / steps_used);
	} else {
		take_marked(trace, ret);
	}
	/* The hook says no dtype: that of the gathered parameters is what the products run in. */
	const char *dtype = totals.any ? totals.dtype : gathered_dtype(trace);
	set_rates(ret, step_ns, peak_of(intern_text(&trace->strings, trace->gpu_name_id), dtype));
	if (trace->has.shapes)
		ok = name_unknown(rank, launches, count, arena, ret, err);
	mem_free(launches);
	return ok;
}
