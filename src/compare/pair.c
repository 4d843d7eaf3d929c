#include "compare/pair.h"

#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "compare/buckets.h"
#include "compare/confounders.h"
#include "compare/differences.h"
#include "compare/evidence.h"
#include "compare/sentences.h"

/* What torch.profiler costs a host event: from 1.7 to 5.7 us in 16 launch-bound runs, 10.2 in one
 * with Python's stacks. */
#define INFLATION_FROM_NS      1500
#define INFLATION_TO_NS	       6000
#define INFLATION_STACKS_TO_NS 11000

/* A cause's exact change and its interval before rounding. */
struct change {
	double ns;
	double half_ns; /* of the 95 % interval */
};

static struct change bucket_change(const struct buckets *a, const struct buckets *b, enum bucket k)
{
	return (struct change){
		stats_mean(b->ns[k], b->step_count) - stats_mean(a->ns[k], a->step_count),
		stats_welch_half_width(stats_variance(a->ns[k], a->step_count), a->step_count,
			stats_variance(b->ns[k], b->step_count), b->step_count)};
}

static void split_causes(const struct pair_facts *pair, const struct buckets *a,
	const struct buckets *b, bool only_checkpointing, struct change changes[CAUSE_COUNT])
{
	static const struct {
		enum cause cause;
		enum bucket bucket;
	} same[] = {
		{CAUSE_RECOMPUTE, BUCKET_RECOMPUTE},
		{CAUSE_RECOMPUTE_DISPATCH, BUCKET_RECOMPUTE_DISPATCH},
		{CAUSE_REPEATED_ALL_GATHER, BUCKET_REPEATED},
		{CAUSE_LOST_OVERLAP, BUCKET_OVERLAP},
		{CAUSE_UNIT_OVERHEAD, BUCKET_UNIT},
		{CAUSE_ALLOCATOR, BUCKET_ALLOCATOR},
		{CAUSE_HOST, BUCKET_HOST},
		{CAUSE_COPIES, BUCKET_COPIES},
		{CAUSE_OTHER, BUCKET_OTHER},
	};
	memset(changes, 0, CAUSE_COUNT * sizeof *changes);
	for (uint32_t i = 0; i < sizeof same / sizeof *same; i++)
		changes[same[i].cause] = bucket_change(a, b, same[i].bucket);

	/* The split of these two has no interval of its own: that of their sum bounds both. */
	const struct change work = bucket_change(a, b, BUCKET_WORK);
	const double speed_ns = evidence_kernel_speed(pair);
	changes[CAUSE_KERNEL_SPEED] = (struct change){speed_ns, work.half_ns};
	changes[CAUSE_OTHER_WORK] = (struct change){work.ns - speed_ns, work.half_ns};

	const struct change dispatch = bucket_change(a, b, BUCKET_DISPATCH);
	const double host_ns = evidence_host_speed(pair);
	changes[CAUSE_HOST_SPEED] = (struct change){host_ns, dispatch.half_ns};
	struct change *rest = &changes[only_checkpointing ? CAUSE_WRAPPER_DISPATCH : CAUSE_HOST];
	rest->ns += dispatch.ns - host_ns;
	rest->half_ns =
		only_checkpointing ? dispatch.half_ns : hypot(rest->half_ns, dispatch.half_ns);
}

/* Integers that sum to the whole exactly: what rounding leaves goes to the largest remainders. */
static void round_causes(const struct change changes[CAUSE_COUNT], int64_t whole_ns,
	struct cause_result causes[CAUSE_COUNT])
{
	int64_t sum_ns = 0;
	double remainder[CAUSE_COUNT];
	for (uint32_t c = 0; c < CAUSE_COUNT; c++) {
		const double down = floor(changes[c].ns);
		causes[c].ns = (int64_t)down;
		remainder[c] = changes[c].ns - down;
		sum_ns += causes[c].ns;
	}
	for (; sum_ns < whole_ns; sum_ns++) {
		uint32_t best = 0;
		for (uint32_t c = 1; c < CAUSE_COUNT; c++)
			if (remainder[c] > remainder[best])
				best = c;
		causes[best].ns++;
		remainder[best] -= 1;
	}
	for (; sum_ns > whole_ns; sum_ns--) {
		uint32_t best = 0;
		for (uint32_t c = 1; c < CAUSE_COUNT; c++)
			if (remainder[c] < remainder[best])
				best = c;
		causes[best].ns--;
		remainder[best] += 1;
	}
}

static void set_noise(const struct breakdown *base, const struct breakdown *checkpointed,
	const struct buckets *a, const struct buckets *b, const struct change changes[CAUSE_COUNT],
	struct comparison *ret)
{
	ret->launch_bound = base->launch_bound || checkpointed->launch_bound;
	ret->is_floor = a->step_count < NOISE_MIN_WINDOWS || b->step_count < NOISE_MIN_WINDOWS;
	double half_ns;
	if (ret->is_floor) {
		half_ns = (ret->launch_bound ? NOISE_SPREAD_LAUNCH_FRAC : NOISE_SPREAD_FRAC) *
			  NOISE_OF_DIFFERENCE * (double)ret->base_ns;
		ret->delta_ci95_ns[0] = ret->delta_ci95_ns[1] = NULL_I64;
	} else {
		half_ns = stats_welch_half_width(stats_variance(a->wall_ns, a->step_count),
			a->step_count, stats_variance(b->wall_ns, b->step_count), b->step_count);
		ret->delta_ci95_ns[0] = ret->delta_ns - llround(half_ns);
		ret->delta_ci95_ns[1] = ret->delta_ns + llround(half_ns);
	}
	ret->noise_ns = llround(half_ns);
	for (uint32_t c = 0; c < CAUSE_COUNT; c++) {
		struct cause_result *cause = &ret->causes[c];
		cause->ci95_ns[0] = cause->ci95_ns[1] = NULL_I64;
		if (ret->is_floor)
			continue;
		cause->ci95_ns[0] = cause->ns - llround(changes[c].half_ns);
		cause->ci95_ns[1] = cause->ns + llround(changes[c].half_ns);
	}
}

/* How most of the paths' time in a state (and a phase, if it has one) was reached. */
static enum how usual_how(
	const struct pair_facts *pair, enum state state, uint8_t phase, enum how otherwise)
{
	const struct breakdown *runs[] = {pair->base, pair->checkpointed};
	int64_t ns[HOW_COUNT] = {0};
	for (uint32_t r = 0; r < 2; r++) {
		for (uint32_t s = 0; s < runs[r]->path_count; s++) {
			const struct path_step *step = &runs[r]->path[s];
			for (uint32_t p = 0; step->used && p < step->parts.count; p++) {
				const struct part *part = &step->parts.items[p];
				const bool moves = part->on == HOLDER_ALL_GATHER ||
						   part->on == HOLDER_REDUCE_SCATTER;
				if (part->state == state && part->phase == phase &&
					(state != STATE_BLOCKED || moves))
					ns[part->how] += part->ns;
			}
		}
	}
	enum how best = otherwise;
	for (uint32_t h = 0; h < HOW_COUNT; h++)
		if (ns[h] > ns[best])
			best = h;
	return best;
}

/* How each cause was reached: the weakest link of what it is made of. */
static void set_hows(const struct pair_facts *pair, struct comparison *ret)
{
	static const uint8_t hows[CAUSE_COUNT] = {
		[CAUSE_RECOMPUTE] = HOW_STRUCTURAL,
		[CAUSE_RECOMPUTE_DISPATCH] = HOW_STRUCTURAL,
		[CAUSE_REPEATED_ALL_GATHER] = HOW_STRUCTURAL,
		[CAUSE_LOST_OVERLAP] = HOW_INFERRED,
		[CAUSE_UNIT_OVERHEAD] = HOW_STRUCTURAL,
		[CAUSE_WRAPPER_DISPATCH] = HOW_INFERRED,
		[CAUSE_KERNEL_SPEED] = HOW_MATCHED,
		[CAUSE_OTHER_WORK] = HOW_MATCHED,
		[CAUSE_HOST_SPEED] = HOW_INFERRED,
		[CAUSE_ALLOCATOR] = HOW_STRUCTURAL,
		[CAUSE_HOST] = HOW_INFERRED,
		[CAUSE_COPIES] = HOW_INFERRED,
		[CAUSE_OTHER] = HOW_UNKNOWN,
	};
	for (uint32_t c = 0; c < CAUSE_COUNT; c++)
		ret->causes[c].how = hows[c];
	ret->causes[CAUSE_RECOMPUTE].how = ret->causes[CAUSE_RECOMPUTE_DISPATCH].how =
		usual_how(pair, STATE_BUSY, PHASE_RECOMPUTE, HOW_STRUCTURAL);
	ret->causes[CAUSE_LOST_OVERLAP].how =
		usual_how(pair, STATE_BLOCKED, WORD_NONE, HOW_INFERRED);
}

static void set_times(const struct buckets *a, const struct buckets *b, struct comparison *ret)
{
	ret->base_ns = llround(stats_mean(a->wall_ns, a->step_count));
	ret->checkpointed_ns = llround(stats_mean(b->wall_ns, b->step_count));
	ret->delta_ns = ret->checkpointed_ns - ret->base_ns;
}

static void set_inflation(
	const struct breakdown *base, const struct breakdown *checkpointed, struct comparison *ret)
{
	const struct breakdown *runs[] = {base, checkpointed};
	for (uint32_t r = 0; r < 2; r++) {
		ret->inflation_ns[r][0] = llround(runs[r]->facts->host_events * INFLATION_FROM_NS);
		ret->inflation_ns[r][1] = llround(
			runs[r]->facts->host_events *
			(runs[r]->facts->has_stacks ? INFLATION_STACKS_TO_NS : INFLATION_TO_NS));
	}
}

static bool split(const struct breakdown *base, const struct breakdown *checkpointed,
	const struct differences *differences, struct comparison *ret, struct err *err)
{
	bool *base_chosen, *checkpointed_chosen;
	if (!bills_choose(base->facts, checkpointed->facts, differences->same_units, &ret->arena,
		    &base_chosen, err) ||
		!bills_choose(checkpointed->facts, base->facts, differences->same_units,
			&ret->arena, &checkpointed_chosen, err))
		return false;
	const struct pair_facts pair = {.base = base,
		.checkpointed = checkpointed,
		.base_chosen = base_chosen,
		.checkpointed_chosen = checkpointed_chosen,
		.scale = ret->normalised_to_tokens ? 1 / ret->token_ratio : 1,
		.same_work = differences->same_work,
		.only_checkpointing = ret->checkpointing_is_only_difference};
	struct buckets a, b;
	if (!buckets_make(base->facts, base_chosen, 1, &ret->arena, &a, err) ||
		!buckets_make(
			checkpointed->facts, checkpointed_chosen, pair.scale, &ret->arena, &b, err))
		return false;
	struct change changes[CAUSE_COUNT];
	split_causes(&pair, &a, &b, ret->checkpointing_is_only_difference, changes);
	set_times(&a, &b, ret);
	round_causes(changes, ret->delta_ns, ret->causes);
	set_noise(base, checkpointed, &a, &b, changes, ret);
	set_hows(&pair, ret);
	return evidence_add(&pair, ret, err) && sentences_add(&pair, ret, err);
}

/* A lone rank waits for nobody: its path is its job's. */
static bool is_whole(const struct breakdown *run)
{
	return run->path_is_job || run->world_size == 1;
}

bool compare_runs(const struct breakdown *base, const struct breakdown *checkpointed,
	struct comparison *ret, struct err *err)
{
	*ret = (struct comparison){.token_ratio = NAN};
	struct differences differences;
	if (!differences_find(base, checkpointed, &ret->arena, &differences, err)) {
		comparison_done(ret);
		return false;
	}
	ret->comparable = differences.comparable;
	ret->same_work = differences.same_work;
	ret->confounders = confounders_name(base, checkpointed, &differences, &ret->arena, err);
	if (!ret->confounders) {
		comparison_done(ret);
		return false;
	}
	ret->differences = differences.items;
	ret->difference_count = differences.count;
	ret->checkpointing_is_only_difference = differences.checkpointing_is_only_difference;
	/* Runs that can't be compared are shown as they are. */
	if (base->tokens_per_step > 0 && checkpointed->tokens_per_step > 0 && ret->comparable) {
		ret->token_ratio =
			(double)checkpointed->tokens_per_step / (double)base->tokens_per_step;
		ret->normalised_to_tokens = base->tokens_per_step != checkpointed->tokens_per_step;
	}
	ret->is_job = is_whole(base) && is_whole(checkpointed);
	ret->recomputes[0] = run_recomputes(base);
	ret->recomputes[1] = run_recomputes(checkpointed);
	set_inflation(base, checkpointed, ret);
	if (!split(base, checkpointed, &differences, ret, err)) {
		comparison_done(ret);
		return false;
	}
	return true;
}
