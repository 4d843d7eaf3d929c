#include "compare/sentences.h"

#include <math.h>

static double ms(double ns)
{
	return ns / 1e6;
}

static double mean_queued(const struct run_facts *facts)
{
	double sum_ns = 0;
	for (uint32_t s = 0; s < facts->step_count; s++)
		sum_ns += (double)facts->steps[s].queued_ns / facts->step_count;
	return sum_ns;
}

static bool say(struct comparison *ret, enum cause cause, char *text)
{
	ret->causes[cause].words = text;
	return text;
}

/* Recomputation that runs while a collective is in flight costs less than it takes. */
static bool say_recompute(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	const double recompute = (double)ret->causes[CAUSE_RECOMPUTE].ns;
	const double overlap = (double)ret->causes[CAUSE_LOST_OVERLAP].ns;
	if (recompute <= 0)
		return true;
	/* With other shapes fewer waits need not be the recomputation's doing. */
	if (!pair->same_work)
		return say(ret, CAUSE_RECOMPUTE,
			arena_format(&ret->arena, err, "%.1f ms recomputed for base's tokens",
				ms(recompute)));
	if (!ret->checkpointing_is_only_difference)
		return true;
	if (!ret->is_job)
		return say(ret, CAUSE_RECOMPUTE,
			arena_format(&ret->arena, err,
				"%.1f ms recomputed; what collectives hide of it can't be told "
				"from "
				"one rank's trace",
				ms(recompute)));
	if (overlap >= -0.05 * recompute)
		return say(ret, CAUSE_RECOMPUTE,
			arena_format(&ret->arena, err, "%.1f ms recomputed, none of it hidden",
				ms(recompute)));
	const double hidden = (double)comparison_hidden_ns(ret);
	return say(ret, CAUSE_RECOMPUTE,
		arena_format(&ret->arena, err,
			"%.1f ms recomputed, %.1f ms of it hidden in collectives: it costs %.1f ms",
			ms(recompute), ms(hidden), ms(recompute - hidden)));
}

static bool say_repeats(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	const double base = pair->base->facts->gathers[GATHER_REPEAT];
	const double checkpointed = pair->checkpointed->facts->gathers[GATHER_REPEAT];
	if (base > 0 || checkpointed > 0)
		return say(ret, CAUSE_REPEATED_ALL_GATHER,
			arena_format(&ret->arena, err,
				"gathers repeated within a pass: %.4g a step against %.4g", base,
				checkpointed));
	const double b0 = pair->base->facts->gathers[GATHER_BACKWARD];
	const double b1 = pair->checkpointed->facts->gathers[GATHER_BACKWARD];
	if ((b0 > 0) != (b1 > 0))
		return say(ret, CAUSE_REPEATED_ALL_GATHER,
			arena_format(&ret->arena, err,
				"backward gathers: %.4g a step against %.4g; no gather repeats "
				"within "
				"a pass",
				b0, b1));
	return true;
}

static bool say_overlap(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	const double change = mean_queued(pair->checkpointed->facts) * pair->scale -
			      mean_queued(pair->base->facts);
	const double overlap = (double)ret->causes[CAUSE_LOST_OVERLAP].ns;
	if (overlap > 0 && change > 0.2 * overlap)
		return say(ret, CAUSE_LOST_OVERLAP,
			arena_format(&ret->arena, err,
				"gathers waited behind reduce-scatters %.1f ms longer: one "
				"communicator "
				"runs one collective at a time",
				ms(change)));
	const double hidden = (double)comparison_hidden_ns(ret);
	if (hidden <= 0.05 * (double)ret->causes[CAUSE_RECOMPUTE].ns)
		return true;
	if (hidden < -overlap)
		return say(ret, CAUSE_LOST_OVERLAP,
			arena_format(&ret->arena, err,
				"collectives are better hidden by %.1f ms: recomputation runs "
				"while "
				"they are in flight, which explains %.1f ms of it at most",
				ms(-overlap), ms(hidden)));
	return say(ret, CAUSE_LOST_OVERLAP,
		arena_format(&ret->arena, err,
			"collectives are better hidden by %.1f ms: recomputation runs while they "
			"are in flight",
			ms(-overlap)));
}

static bool say_rest(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	const struct run_facts *a = pair->base->facts, *b = pair->checkpointed->facts;
	if (ret->causes[CAUSE_WRAPPER_DISPATCH].ns > 0 &&
		!say(ret, CAUSE_WRAPPER_DISPATCH,
			arena_format(&ret->arena, err,
				"the checkpoint wrappers' own host work, over %.4g regions a step",
				b->regions - a->regions)))
		return false;
	if ((a->retries > 0 || b->retries > 0) &&
		!say(ret, CAUSE_ALLOCATOR,
			arena_format(&ret->arena, err,
				"the allocator freed its cache to make room and allocated again: "
				"%.4g "
				"times "
				"a step against %.4g",
				a->retries, b->retries)))
		return false;
	if ((a->has_compiled || b->has_compiled) && ret->causes[CAUSE_OTHER_WORK].ns != 0 &&
		!say(ret, CAUSE_OTHER_WORK,
			arena_format(&ret->arena, err,
				"compiled backward graphs: may contain recomputation")))
		return false;
	return true;
}

bool sentences_add(const struct pair_facts *pair, struct comparison *ret, struct err *err)
{
	return say_recompute(pair, ret, err) && say_repeats(pair, ret, err) &&
	       say_overlap(pair, ret, err) && say_rest(pair, ret, err);
}
