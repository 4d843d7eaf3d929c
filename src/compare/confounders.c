#include "compare/confounders.h"

#include <math.h>

#include "attribute/facts.h"

#define MAX_NAMES      6
#define SAME_FRAC      1e-6
#define SAME_WORK_FRAC 0.25 /* wrappers launch a few kernels of their own: beyond, other work */

/* Gathered again in backward, as a share of what forward gathers; NaN where it can't be told. */
static double regathered_frac(const struct run_facts *facts)
{
	if (facts->uncounted_gathers || facts->gathers[GATHER_UNKNOWN] > 0 ||
		!(facts->gathers[GATHER_FORWARD] > 0))
		return NAN;
	return facts->gathers[GATHER_BACKWARD] / facts->gathers[GATHER_FORWARD];
}

/* Repeats stand in for the backward's own gathers: beside them only all or nothing tells. */
static bool reshards_differently(
	const struct run_facts *a, const struct run_facts *b, bool same_units)
{
	const double fa = regathered_frac(a), fb = regathered_frac(b);
	const double ra = a->gathers[GATHER_REPEAT], rb = b->gathers[GATHER_REPEAT];
	if (isnan(fa) || isnan(fb))
		return false;
	if (ra > 0 || rb > 0 || !same_units)
		return (fa + ra > 0) != (fb + rb > 0);
	return differ_by(fa, fb, SAME_FRAC);
}

static const char *join(
	const char *const *names, uint32_t count, struct arena *arena, struct err *err)
{
	const char *text = count ? names[0] : "";
	for (uint32_t i = 1; text && i < count; i++)
		text = arena_format(
			arena, err, "%s%s%s", text, i + 1 == count ? " and " : ", ", names[i]);
	return text;
}

const char *confounders_name(const struct breakdown *base, const struct breakdown *checkpointed,
	const struct differences *differences, struct arena *arena, struct err *err)
{
	const struct run_facts *a = base->facts, *b = checkpointed->facts;
	const bool both = run_recomputes(base) && run_recomputes(checkpointed);
	const bool same_fsdp = a->is_fsdp1 == b->is_fsdp1 && a->is_fsdp2 == b->is_fsdp2;
	const char *names[MAX_NAMES];
	uint32_t count = 0;
	if (a->has_compiled != b->has_compiled)
		names[count++] = "torch.compile";
	else if (differences->same_work &&
		 differ_by(a->forward_kernels, b->forward_kernels, SAME_WORK_FRAC))
		names[count++] = "the forward's kernels";
	if (!same_fsdp)
		names[count++] = "the FSDP version";
	else if (!differences->same_units)
		names[count++] = "the FSDP units";
	if (reshards_differently(a, b, differences->same_units))
		names[count++] = "resharding after forward";
	if (both && a->regions > 0 && b->regions > 0 &&
		(a->reentrant_regions > 0) != (b->reentrant_regions > 0))
		names[count++] = "the checkpoint implementation";
	if (both && a->gathers_in_recompute != b->gathers_in_recompute)
		names[count++] = "the wrap order";
	return join(names, count, arena, err);
}
