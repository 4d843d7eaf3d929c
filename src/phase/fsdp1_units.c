#include "phase/fsdp1_units.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/*
 * One micro-batch of one step.  Its units are numbered by the order of their forwards: 0 is the
 * outermost, the root.  Backward goes from the last to 1, then to the root.
 */
struct pass {
	uint32_t step;
	uint16_t micro_batch;
	uint32_t first_event, end_event; /* in phases.fsdp1 */
	uint32_t unit_count;
};

struct naming {
	const struct trace *trace;
	struct phases *phases;
	int64_t *unit_bytes; /* gathered bytes of each unit where known, else NULL_I64 */
	uint32_t unit_max;
};

static bool same_pass(const struct fsdp1_event *a, const struct fsdp1_event *b)
{
	return a->step == b->step && a->micro_batch == b->micro_batch;
}

/* The unit that backward is at after `done` post-backward hooks. */
static uint32_t backward_unit(const struct pass *pass, uint32_t done)
{
	return done + 1 < pass->unit_count ? pass->unit_count - 1 - done : 0;
}

/* The unit whose forward range is innermost around `at_ns`, in the forward pass. */
static uint32_t forward_unit(const struct naming *naming, const struct pass *pass, int64_t at_ns)
{
	uint32_t unit = 0, found = NULL_U32;
	for (uint32_t e = pass->first_event; e < pass->end_event; e++) {
		const struct fsdp1_event *event = &naming->phases->fsdp1[e];
		if (event->kind != FSDP1_FORWARD_BEGIN)
			continue;
		if (event->at_ns <= at_ns && at_ns < event->end_ns)
			found = unit;
		unit++;
	}
	return found;
}

/*
 * In backward: between two post-backward hooks all belongs to the unit whose turn it is, but for
 * prefetches, which are the next unit's, and for the pass's first pre-backward hook, the root's.
 * A region that spans several units recomputes them in forward order before their hooks fire.
 */
static uint32_t backward_gather_unit(
	const struct naming *naming, const struct pass *pass, int64_t at_ns, bool prefetched)
{
	uint32_t done = 0, recomputed_before = 0, recomputed = 0, hooks = 0;
	bool in_root_hook = false, in_recompute = false;
	for (uint32_t e = pass->first_event; e < pass->end_event; e++) {
		const struct fsdp1_event *event = &naming->phases->fsdp1[e];
		const bool before = event->at_ns <= at_ns, around = before && at_ns < event->end_ns;
		switch (event->kind) {
		case FSDP1_POST_END:
			if (before) {
				done++;
				recomputed = recomputed_before = 0;
				in_recompute = false;
			} else {
				e = pass->end_event - 1;
			}
			break;
		case FSDP1_HOOK_BEGIN:
			in_root_hook = in_root_hook || (around && hooks == 0 && done == 0);
			hooks += before;
			break;
		case FSDP1_RECOMPUTE_BEGIN:
			recomputed++;
			if (around) {
				in_recompute = true;
				recomputed_before = recomputed;
			}
			break;
		default:
			break;
		}
	}
	if (in_root_hook)
		return prefetched ? backward_unit(pass, 0) : 0;
	if (in_recompute) {
		const uint32_t last = backward_unit(pass, done);
		const uint32_t behind = recomputed - recomputed_before;
		return last > behind ? last - behind : NULL_U32;
	}
	return backward_unit(pass, prefetched ? done + 1 : done);
}

static bool take_unit(struct naming *naming, uint32_t collective, uint32_t unit, struct err *err)
{
	if (unit == NULL_U32 || unit >= naming->unit_max)
		return true;
	/* A unit's gathers are all of one size: the first seen, in the forward pass, sets it. */
	const int64_t bytes = naming->trace->collectives.recv_bytes[collective];
	if (naming->unit_bytes[unit] == NULL_I64)
		naming->unit_bytes[unit] = bytes;
	if (bytes != NULL_I64 && naming->unit_bytes[unit] != bytes)
		return true;
	char name[32] = "(root)";
	if (unit)
		snprintf(name, sizeof name, "unit %u", unit);
	const uint32_t id = intern_put(&naming->phases->units, name, strlen(name), err);
	naming->phases->gathers[collective].unit = id;
	return id != NULL_U32;
}

static bool name_pass(struct naming *naming, const struct pass *pass, const uint32_t *order,
	uint32_t order_count, struct err *err)
{
	for (uint32_t i = 0; i < order_count; i++) {
		const uint32_t collective = order[i];
		const struct launch *launch =
			&naming->phases->launches[naming->trace->collectives.gpu_op_id[collective]];
		if (launch->step != pass->step || launch->micro_batch != pass->micro_batch ||
			launch->hook < OP_FSDP1_PRE_FORWARD || launch->hook > OP_FSDP1_HOOK)
			continue;
		uint32_t unit;
		if (launch->base == PHASE_FORWARD)
			unit = forward_unit(naming, pass, launch->start_ns);
		else
			unit = backward_gather_unit(
				naming, pass, launch->start_ns, launch->prefetched);
		if (!take_unit(naming, collective, unit, err))
			return false;
	}
	return true;
}

bool fsdp1_name_units(const struct trace *trace, struct phases *phases, const uint32_t *order,
	uint32_t order_count, struct err *err)
{
	struct naming naming = {.trace = trace, .phases = phases};
	for (uint32_t e = 0, units = 0; e < phases->fsdp1_count; e++) {
		if (e && !same_pass(&phases->fsdp1[e], &phases->fsdp1[e - 1]))
			units = 0;
		units += phases->fsdp1[e].kind == FSDP1_FORWARD_BEGIN;
		if (units > naming.unit_max)
			naming.unit_max = units;
	}
	if (!naming.unit_max)
		return true;
	naming.unit_bytes = mem_new(naming.unit_max, sizeof *naming.unit_bytes, err);
	if (!naming.unit_bytes)
		return false;
	for (uint32_t u = 0; u < naming.unit_max; u++)
		naming.unit_bytes[u] = NULL_I64;

	bool ok = true;
	for (uint32_t e = 0; e < phases->fsdp1_count && ok;) {
		struct pass pass = {.step = phases->fsdp1[e].step,
			.micro_batch = phases->fsdp1[e].micro_batch,
			.first_event = e};
		for (; e < phases->fsdp1_count &&
			same_pass(&phases->fsdp1[e], &phases->fsdp1[pass.first_event]);
			e++)
			pass.unit_count += phases->fsdp1[e].kind == FSDP1_FORWARD_BEGIN;
		pass.end_event = e;
		if (pass.step != NULL_U32 && pass.unit_count)
			ok = name_pass(&naming, &pass, order, order_count, err);
	}
	mem_free(naming.unit_bytes);
	return ok;
}
