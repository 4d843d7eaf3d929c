#include "compare/differences.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attribute/facts.h"

#define MAX_DIFFERENCES 24
#define MOST_TOKENS	1e4  /* times the other run's tokens: beyond, nothing is the same */
#define SAME_BYTES_FRAC 0.01 /* units pad their parameters differently */

struct list {
	struct arena *arena;
	struct differences *ret;
	struct err *err;
	uint32_t others; /* differences that are neither checkpointing nor what follows from it */
	bool ok;
};

__attribute__((format(printf, 2, 3))) static void add(struct list *list, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (!list->ok || list->ret->count == MAX_DIFFERENCES)
		return;
	char *copy = arena_text(list->arena, text, list->err);
	list->ok = copy;
	list->ret->items[list->ret->count++] = copy;
}

bool differ_by(double a, double b, double frac)
{
	return fabs(a - b) > frac * fmax(fabs(a), fabs(b));
}

static bool same_text(const char *a, const char *b)
{
	return !*a || !*b || strcmp(a, b) == 0; /* what one run doesn't say can't differ */
}

bool run_recomputes(const struct breakdown *run)
{
	for (uint32_t s = 0; s < run->facts->step_count; s++)
		if (run->facts->steps[s].busy_ns[PHASE_RECOMPUTE] > 0)
			return true;
	return false;
}

/* Steps of so different sizes have little in common, whatever is scaled. */
static bool is_far_in_tokens(const struct breakdown *a, const struct breakdown *b)
{
	if (a->tokens_per_step <= 0 || b->tokens_per_step <= 0)
		return false;
	const double ratio = (double)a->tokens_per_step / (double)b->tokens_per_step;
	return ratio > MOST_TOKENS || ratio < 1 / MOST_TOKENS;
}

/* What makes the times of two runs tell nothing about each other. */
static void find_blockers(struct list *list, const struct breakdown *a, const struct breakdown *b)
{
	const struct run_facts *fa = a->facts, *fb = b->facts;
	const uint32_t before = list->ret->count;
	if (a->world_size != NULL_I32 && b->world_size != NULL_I32 &&
		a->world_size != b->world_size)
		add(list, "world size: %d against %d", a->world_size, b->world_size);
	if (!same_text(fa->gpu, fb->gpu))
		add(list, "GPU: %s against %s", fa->gpu, fb->gpu);
	if (!same_text(fa->gathered_dtype, fb->gathered_dtype))
		add(list, "element type of gathered parameters: %s against %s", fa->gathered_dtype,
			fb->gathered_dtype);
	if (fa->parameter_bytes && fb->parameter_bytes &&
		differ_by(
			(double)fa->parameter_bytes, (double)fb->parameter_bytes, SAME_BYTES_FRAC))
		add(list, "model: %.2f GiB of parameters are gathered against %.2f GiB",
			(double)fa->parameter_bytes / (1 << 30),
			(double)fb->parameter_bytes / (1 << 30));
	if (is_far_in_tokens(a, b))
		add(list, "tokens a step: %" PRId64 " against %" PRId64, a->tokens_per_step,
			b->tokens_per_step);
	/* Compiled graphs may hide recomputation: then nothing can be said of the order. */
	if (run_recomputes(a) && !run_recomputes(b) && !fb->has_compiled)
		add(list, "BASE recomputes and the other run does not, as if the two were swapped");
	list->ret->comparable = list->ret->count == before;
}

static void find_shape(struct list *list, const struct breakdown *a, const struct breakdown *b)
{
	const struct {
		const char *name;
		int64_t a, b;
	} sizes[] = {
		{"tokens a step", a->tokens_per_step, b->tokens_per_step},
		{"micro-batch", a->micro_batch, b->micro_batch},
		{"micro-batches a step", a->accumulation, b->accumulation},
		{"sequence length", a->sequence_length, b->sequence_length},
	};
	list->ret->same_work = true;
	for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		if (sizes[i].a == NULL_I64 || sizes[i].b == NULL_I64 || sizes[i].a == sizes[i].b)
			continue;
		list->ret->same_work = false;
		if (i == 0 && is_far_in_tokens(a, b))
			continue; /* named already, as what makes them not comparable */
		add(list, "%s: %" PRId64 " against %" PRId64, sizes[i].name, sizes[i].a,
			sizes[i].b);
		list->others++;
	}
}

static const struct bill *bill_of(const struct run_facts *facts, const char *unit)
{
	for (uint32_t b = 0; b < facts->bill_count; b++)
		if (strcmp(facts->bills[b].unit, unit) == 0)
			return &facts->bills[b];
	return NULL;
}

static bool same_units(const struct run_facts *a, const struct run_facts *b)
{
	if (a->unit_count != b->unit_count)
		return false;
	for (uint32_t i = 0; i < a->bill_count; i++) {
		const struct bill *other = bill_of(b, a->bills[i].unit);
		if (strcmp(a->bills[i].unit, "unknown") == 0)
			continue;
		if (!other ||
			(a->bills[i].unit_bytes != NULL_I64 && other->unit_bytes != NULL_I64 &&
				a->bills[i].unit_bytes != other->unit_bytes))
			return false;
	}
	return true;
}

static const char *fsdp_word(const struct run_facts *facts)
{
	return facts->is_fsdp2 ? "FSDP2" : facts->is_fsdp1 ? "FSDP1" : "no FSDP";
}

static void find_wrapping(struct list *list, const struct run_facts *a, const struct run_facts *b)
{
	const uint32_t before = list->ret->count;
	if (a->is_fsdp1 != b->is_fsdp1 || a->is_fsdp2 != b->is_fsdp2)
		add(list, "%s against %s", fsdp_word(a), fsdp_word(b));
	list->ret->same_units = same_units(a, b) && same_units(b, a);
	if (!list->ret->same_units)
		add(list, "units gathered: %" PRId64 " against %" PRId64 "%s", a->unit_count,
			b->unit_count,
			a->unit_count == b->unit_count ? ", of other names or sizes" : "");
	static const char *const reasons[] = {"forward", "backward", "repeat", "unknown"};
	for (uint32_t r = 0; r < GATHER_COUNT; r++)
		if (differ_by(a->gathers[r], b->gathers[r], 1e-6))
			add(list, "%s gathers a step: %.4g against %.4g", reasons[r], a->gathers[r],
				b->gathers[r]);
	if (a->has_compiled != b->has_compiled)
		add(list, "compiled regions: %s against %s", a->has_compiled ? "yes" : "no",
			b->has_compiled ? "yes" : "no");
	list->others += list->ret->count - before;
}

static void find_checkpointing(
	struct list *list, const struct run_facts *a, const struct run_facts *b)
{
	if (differ_by(a->regions, b->regions, 1e-6))
		add(list, "checkpointed regions a step: %.4g against %.4g", a->regions, b->regions);
	const bool ra = a->reentrant_regions > 0, rb = b->reentrant_regions > 0;
	if (a->regions > 0 && b->regions > 0 && ra != rb) {
		add(list, "checkpoint implementation: %s against %s",
			ra ? "reentrant" : "non-reentrant", rb ? "reentrant" : "non-reentrant");
		list->others++;
	}
	if (a->gathers_in_recompute != b->gathers_in_recompute) {
		add(list, "gathers launched while recomputing: %s against %s",
			a->gathers_in_recompute ? "yes" : "no",
			b->gathers_in_recompute ? "yes" : "no");
		list->others++;
	}
	if (list->ret->same_work && differ_by(a->forward_kernels, b->forward_kernels, 1e-6)) {
		add(list, "forward kernels a step: %.6g against %.6g", a->forward_kernels,
			b->forward_kernels);
		/* Wrappers launch a few of their own; a quarter more is another model or compiler.
		 */
		list->others += differ_by(a->forward_kernels, b->forward_kernels, 0.25);
	}
}

bool differences_find(const struct breakdown *base, const struct breakdown *checkpointed,
	struct arena *arena, struct differences *ret, struct err *err)
{
	*ret = (struct differences){0};
	ret->items = arena_new(arena, MAX_DIFFERENCES, sizeof *ret->items, err);
	if (!ret->items)
		return false;
	struct list list = {.arena = arena, .ret = ret, .err = err, .ok = true};
	find_blockers(&list, base, checkpointed);
	find_shape(&list, base, checkpointed);
	find_wrapping(&list, base->facts, checkpointed->facts);
	find_checkpointing(&list, base->facts, checkpointed->facts);
	ret->checkpointing_is_only_difference =
		ret->comparable && !list.others &&
		differ_by(base->facts->regions, checkpointed->facts->regions, 1e-6);
	return list.ok;
}
