/*
 * The rules of advice: one function each, which looks at its numbers and says nothing when they
 * are small.  A rule names what to do, what it saw, and what that would move.
 */
#include "verdict/advice.h"

#include <math.h>

#include "attribute/facts.h"
#include "base/table.h"
#include "base/units.h"
#include "verdict/answer.h"

#define ADVICE_MAX    16
#define WORTH_FRAC    0.01 /* of the candidate's step: less is not worth a change */
#define FREED_FRAC    0.01 /* of base's reserved memory */
#define OVERHEAD_FRAC 0.05 /* of the step: FSDP's own work above this is much */

struct advisor {
	struct answer *answer;
	const struct breakdown *base, *checkpointed, *candidate; /* base may be NULL */
	const struct comparison *comparison; /* NULL when there is none, or none that means
						anything */
	const struct comparison *own;	     /* of base and the candidate; NULL likewise */
	double step_ns;			     /* the candidate's, as traced */
	int decimals;
	struct arena *arena;
	struct err *err;
};

static bool is_worth_it(const struct advisor *advisor, double ns)
{
	return ns >= WORTH_FRAC * advisor->step_ns;
}

/* What is said with a NULL text is an allocation that failed. */
static bool advise(struct advisor *advisor, struct advice advice)
{
	struct answer *answer = advisor->answer;
	if (!advice.what || !advice.why)
		return false;
	if (answer->advice_count < ADVICE_MAX)
		answer->advice[answer->advice_count++] = advice;
	return true;
}

/* A comparison's times are for base's tokens: they are brought to its other run's own step. */
static double own_step(const struct comparison *comparison, double ns)
{
	return comparison->normalised_to_tokens ? ns * comparison->token_ratio : ns;
}

/* Another run's step has other tokens: its time for the candidate's.  NaN where unknown. */
static double for_candidate_tokens(const struct advisor *advisor, enum run_role role, double ns)
{
	const struct answer *answer = advisor->answer;
	const int64_t tokens = answer->recipe[role].tokens_per_step;
	const int64_t own = answer->recipe[answer_candidate(answer)].tokens_per_step;
	if (tokens == own)
		return ns;
	return tokens > 0 && own > 0 ? ns * (double)own / (double)tokens : NAN;
}

static struct units ms(const struct advisor *advisor, double ns)
{
	return units_ms(ns, advisor->decimals, UNITS_PLAIN);
}

/* Something beside checkpointing differs: what is checkpointing's doing can't be told. */
static bool is_confounded(const struct advisor *advisor)
{
	const struct comparison *spent = advisor->answer->spent;
	return (advisor->comparison && comparison_is_confounded(advisor->comparison)) ||
	       (spent && comparison_is_confounded(spent));
}

/* Reserved by base and not by the checkpointed run, which checkpoints; 0 where unknown. */
static double freed_bytes(const struct advisor *advisor)
{
	const struct recipe *recipe = advisor->answer->recipe;
	const int64_t before = recipe[ROLE_BASE].peak_reserved_bytes;
	const int64_t after = recipe[ROLE_CHECKPOINTED].peak_reserved_bytes;
	const struct comparison *comparison = advisor->comparison;
	if (!comparison || comparison->recomputes[0] || !comparison->recomputes[1])
		return 0;
	if (before == NULL_I64 || after == NULL_I64 ||
		(double)(before - after) <= FREED_FRAC * (double)before)
		return 0;
	return (double)(before - after);
}

/* Some run retried allocations where the GPU seems to have room: its size is no limit. */
static bool is_limit_doubtful(const struct advisor *advisor)
{
	return recipes_doubt_limit(advisor->answer->recipe, advisor->answer->memory_limit_bytes) !=
	       ROLE_COUNT;
}

/* Left on the GPU by the candidate, below the limit; NaN where unknown. */
static double room_bytes(const struct advisor *advisor)
{
	const struct answer *answer = advisor->answer;
	const struct recipe *recipe = &answer->recipe[answer_candidate(answer)];
	const int64_t limit = recipe_memory_limit(recipe, answer->memory_limit_bytes);
	if (limit == NULL_I64 || is_limit_doubtful(advisor) ||
		recipe->peak_reserved_bytes == NULL_I64)
		return NAN;
	return (double)(limit - recipe->peak_reserved_bytes);
}

/* On the path, not by rank: a rank whose host is ahead spins in its gathers and looks blocked. */
static double blocked_on(const struct advisor *advisor, enum gather_reason reason)
{
	return measure_path_ns(
		advisor->candidate, STATE_BLOCKED, MEASURE_ANY, HOLDER_ALL_GATHER, (uint8_t)reason);
}

/* A recompute that gathers what was gathered: the wrap order, or the reentrant implementation. */
static bool advise_wrap_order(struct advisor *advisor)
{
	struct gather_sum repeats;
	if (!measure_gathers(
		    advisor->candidate, GATHER_REPEAT, advisor->arena, &repeats, advisor->err))
		return false;
	if (repeats.count <= 0)
		return true;
	double low = blocked_on(advisor, GATHER_REPEAT), high = repeats.kernel_ns, lost = 0;
	if (advisor->own) {
		const struct cause_result *causes = advisor->own->causes;
		low = high = own_step(
			advisor->own, fmax(0, (double)causes[CAUSE_REPEATED_ALL_GATHER].ns));
		lost = own_step(advisor->own, fmax(0, (double)causes[CAUSE_LOST_OVERLAP].ns));
	}
	const char *queued = repeats.queued_ns < WORTH_FRAC * advisor->step_ns
				     ? ""
				     : arena_format(advisor->arena, advisor->err,
					       "; they waited %s behind other collectives, "
					       "reduce-scatters among them",
					       ms(advisor, repeats.queued_ns).text);
	if (!queued)
		return false;
	return advise(advisor,
		(struct advice){
			.what = "put the checkpoint inside the FSDP unit, FSDP(checkpoint(block)), "
				"and use the non-reentrant implementation (use_reentrant=False)",
			.why = arena_format(advisor->arena, advisor->err,
				"%.3g gathers a step (%s) fetch again what the pass had gathered "
				"already, in %s; %s of GPU time%s",
				repeats.count,
				units_bytes((int64_t)repeats.bytes, UNITS_PLAIN).text,
				repeats.units, ms(advisor, repeats.kernel_ns).text, queued),
			.has_ns = true,
			.ns = {llround(fmin(low, high)), llround(fmax(low, high) + lost)},
			.bytes = NULL_I64,
		});
}

/* Units resharded after forward are gathered again in backward; memory buys that back. */
static bool advise_keep_units(struct advisor *advisor)
{
	struct gather_sum backward;
	if (!measure_gathers(
		    advisor->candidate, GATHER_BACKWARD, advisor->arena, &backward, advisor->err))
		return false;
	const double room = room_bytes(advisor), blocked = blocked_on(advisor, GATHER_BACKWARD);
	if (!is_worth_it(advisor, blocked) || backward.count <= 0)
		return true;
	const char *where =
		is_limit_doubtful(advisor)
			? "allocations were retried far below the GPU's memory, so how much room "
			  "there is can't be told: give --memory-limit"
		: isnan(room)
			? "how much room the GPU has is not in the traces"
			: arena_format(advisor->arena, advisor->err, "the GPU has room for %s",
				  units_bytes((int64_t)room, UNITS_PLAIN).text);
	if (!where)
		return false;
	const bool all_fit = !(room < backward.unit_bytes);
	return advise(advisor,
		(struct advice){
			.what = all_fit ? "keep the units unsharded after forward "
					  "(reshard_after_forward=False), the last ones first"
					: "keep the last units unsharded after forward "
					  "(reshard_after_forward=False), as many as there is room "
					  "for",
			.why = arena_format(advisor->arena, advisor->err,
				"%.3g gathers a step in backward (%u units) block the GPU for %s "
				"of their %s; keeping all of them holds %s, and %s",
				backward.count, backward.unit_count, ms(advisor, blocked).text,
				ms(advisor, backward.kernel_ns).text,
				units_bytes((int64_t)backward.unit_bytes, UNITS_PLAIN).text, where),
			.has_ns = true,
			.ns = {0, llround(blocked)},
			.bytes = llround(all_fit ? backward.unit_bytes : fmax(room, 0)),
		});
}

/* Earlier gathers help only while the link has time to spare: where the forward's gathers take
 * longer than its kernels, the last of them is late however early the first is. */
static bool advise_prefetch(struct advisor *advisor)
{
	struct gather_sum forward;
	if (!measure_gathers(
		    advisor->candidate, GATHER_FORWARD, advisor->arena, &forward, advisor->err))
		return false;
	const double blocked = blocked_on(advisor, GATHER_FORWARD);
	const double late = forward.count - forward.prefetched_count;
	const double compute = measure_path_ns(
		advisor->candidate, STATE_BUSY, PHASE_FORWARD, MEASURE_ANY, MEASURE_ANY);
	if (!is_worth_it(advisor, blocked) || late < 0.5 || forward.kernel_ns > compute)
		return true;
	return advise(advisor,
		(struct advice){
			.what = "prefetch the forward's gathers explicitly "
				"(set_modules_to_forward_prefetch, or forward_prefetch=True)",
			.why = arena_format(advisor->arena, advisor->err,
				"%.3g gathers a step in forward block the GPU for %s, and %.3g of "
				"them were not prefetched",
				forward.count, ms(advisor, blocked).text, late),
			.has_ns = true,
			.ns = {0, llround(blocked)},
			.bytes = NULL_I64,
		});
}

/* What one more sequence a rank costs, from a run that had more; NULL where there is none. */
static const char *growth_text(struct advisor *advisor, double room)
{
	const struct recipe *less = &advisor->answer->recipe[ROLE_CHECKPOINTED];
	const struct recipe *more = &advisor->answer->recipe[ROLE_SPENT];
	if (isnan(room) || !more->given || less->sequences_per_rank == NULL_I64 ||
		more->sequences_per_rank == NULL_I64 ||
		more->sequences_per_rank <= less->sequences_per_rank ||
		less->peak_allocated_bytes == NULL_I64 || more->peak_allocated_bytes == NULL_I64 ||
		more->peak_allocated_bytes <= less->peak_allocated_bytes)
		return "";
	const double each = (double)(more->peak_allocated_bytes - less->peak_allocated_bytes) /
			    (double)(more->sequences_per_rank - less->sequences_per_rank);
	return arena_format(advisor->arena, advisor->err,
		"; each further sequence a rank allocates %s, so about %.0f more would fit",
		units_bytes((int64_t)each, UNITS_PLAIN).text, floor(room / each));
}

static double batch_of(const struct recipe *recipe)
{
	if (recipe->sequences_per_rank != NULL_I64 && recipe->sequence_length != NULL_I64)
		return (double)recipe->sequences_per_rank * (double)recipe->sequence_length;
	return recipe->tokens_per_step == NULL_I64 ? NAN : (double)recipe->tokens_per_step;
}

/* The candidate takes more at once than base did: it is the run that spends, whatever its role. */
static bool is_spending(const struct advisor *advisor)
{
	const struct recipe *recipe = advisor->answer->recipe;
	return recipe[ROLE_SPENT].given ||
	       batch_of(&recipe[ROLE_CHECKPOINTED]) > batch_of(&recipe[ROLE_BASE]);
}

static bool advise_spend(struct advisor *advisor)
{
	const double room = room_bytes(advisor), freed = freed_bytes(advisor);
	const bool is_spent = is_spending(advisor);
	/* Where allocations are retried, memory is short, whatever the GPU has. */
	if (measure_alloc_retries(advisor->candidate) > 0 || room <= 0)
		return true;
	/* Where a run that spends it is no better, more of the same is no advice. */
	if (freed <= 0 || (is_spent && (!(room > freed) || advisor->answer->judgement.verdict !=
								   VERDICT_WORKED)))
		return true;
	const char *growth = growth_text(advisor, room);
	const char *gpu = is_limit_doubtful(advisor)
				  ? "; how much more is free can't be told, since allocations were "
				    "retried far below the GPU's memory: give --memory-limit"
			  : isnan(room) || room <= 0
				  ? ""
				  : arena_format(advisor->arena, advisor->err,
					    ", and the GPU has %s free below its limit",
					    units_bytes((int64_t)room, UNITS_PLAIN).text);
	if (!growth || !gpu)
		return false;
	return advise(advisor,
		(struct advice){
			.what = is_spent ? "go on: a still larger micro-batch, or longer sequences"
					 : "spend the freed memory on a larger micro-batch or "
					   "longer "
					   "sequences, and give that run as SPENT",
			.why = arena_format(advisor->arena, advisor->err,
				"the checkpointed run reserves %s less than base%s%s",
				units_bytes((int64_t)freed, UNITS_PLAIN).text, gpu, growth),
			.bytes = llround(is_spent || room < freed ? room : freed),
		});
}

/* Over the limit: what grows with the batch has to shrink. */
static bool advise_smaller(struct advisor *advisor)
{
	const struct answer *answer = advisor->answer;
	const enum run_role role = answer_candidate(answer);
	const double room = room_bytes(advisor);
	if (answer->objective != OBJECTIVE_FIT || !(room < 0))
		return true;
	const struct recipe *recipe = &answer->recipe[role];
	return advise(advisor,
		(struct advice){
			.what = role == ROLE_SPENT
					? "give the spent run a smaller micro-batch or shorter "
					  "sequences"
					: "checkpoint more blocks, or give the run a smaller "
					  "micro-batch or shorter sequences",
			.why = arena_format(advisor->arena, advisor->err,
				"the %s run reserves %s, %s more than it may", role_word(role),
				units_bytes(recipe->peak_reserved_bytes, UNITS_PLAIN).text,
				units_bytes(llround(-room), UNITS_PLAIN).text),
			.bytes = llround(room),
		});
}

/* With its memory spent, checkpointing still loses: without it, the same tokens take less. */
static bool advise_take_off(struct advisor *advisor)
{
	const struct answer *answer = advisor->answer;
	const struct recipe *base = &answer->recipe[ROLE_BASE];
	const struct recipe *spent = &answer->recipe[ROLE_SPENT];
	if (answer->judgement.verdict != VERDICT_FAILED || !spent->given ||
		is_confounded(advisor) || answer->objective == OBJECTIVE_MEMORY ||
		answer->objective == OBJECTIVE_FIT || !(spent->tokens_per_s < base->tokens_per_s) ||
		!(spent->step_ns > 0))
		return true;
	const double saved = spent->step_ns * (1 - spent->tokens_per_s / base->tokens_per_s);
	return advise(advisor,
		(struct advice){
			.what = "take checkpointing off where base fits, or checkpoint fewer "
				"blocks",
			.why = arena_format(advisor->arena, advisor->err,
				"base handles %s tokens/s, checkpointing with its memory spent "
				"%s: a step's tokens take %s longer",
				units_rate(base->tokens_per_s).text,
				units_rate(spent->tokens_per_s).text, ms(advisor, saved).text),
			.has_ns = true,
			.ns = {llround(saved), llround(saved)},
			.bytes = NULL_I64,
		});
}

/* Recomputation in the checkpointed run's step, less what runs beside collectives that would be
 * waited for anyway. */
static double marginal_ns(const struct advisor *advisor)
{
	if (!advisor->comparison)
		return 0;
	const struct cause_result *causes = advisor->comparison->causes;
	const double gpu = (double)causes[CAUSE_RECOMPUTE].ns;
	const double host = (double)causes[CAUSE_RECOMPUTE_DISPATCH].ns;
	return own_step(advisor->comparison,
		gpu + host - (double)comparison_hidden_ns(advisor->comparison));
}

/* Recomputation is bought with memory that nobody needs: buy less of it. */
static bool advise_checkpoint_less(struct advisor *advisor)
{
	/* What else differs may have freed the memory, or cost the time. */
	if (advisor->answer->recipe[ROLE_SPENT].given || is_confounded(advisor))
		return true;
	const double marginal = marginal_ns(advisor), freed = freed_bytes(advisor);
	const bool is_unspent = advisor->answer->judgement.verdict == VERDICT_UNSPENT;
	const struct recipe *recipe = advisor->answer->recipe;
	const bool is_other_batch =
		batch_of(&recipe[ROLE_CHECKPOINTED]) != batch_of(&recipe[ROLE_BASE]);
	if (!is_worth_it(advisor, marginal) || freed <= 0)
		return true;
	/* Activations grow with the batch: only at base's is the difference what it saves. */
	const char *memory = is_other_batch
				     ? "memory that can't be told from runs of different batches"
				     : arena_format(advisor->arena, advisor->err, "%s%s",
					       units_bytes((int64_t)freed, UNITS_PLAIN).text,
					       is_unspent ? " that nobody uses" : "");
	if (!memory)
		return false;
	return advise(advisor,
		(struct advice){
			.what = "checkpoint fewer blocks, or selectively (save the matmuls, "
				"recompute the rest)",
			.why = arena_format(advisor->arena, advisor->err,
				"recomputation costs %s a step%s, for %s",
				ms(advisor, marginal).text,
				is_worth_it(
					advisor, (double)comparison_hidden_ns(advisor->comparison))
					? " net of what collectives hide"
					: "",
				memory),
			.has_ns = true,
			.ns = {0, llround(marginal)},
			.bytes = is_other_batch ? NULL_I64 : llround(freed),
		});
}

static bool advise_allocator_of(
	struct advisor *advisor, const struct breakdown *breakdown, enum run_role role)
{
	if (!breakdown)
		return true;
	const int64_t retries = measure_alloc_retries(breakdown);
	const double stall = measure_alloc_stall_ns(breakdown);
	const struct alloc_calls calls = measure_alloc_calls(breakdown);
	const double own_stall = for_candidate_tokens(advisor, role, stall);
	if (retries <= 0 && !is_worth_it(advisor, own_stall))
		return true;
	return advise(advisor,
		(struct advice){
			.what = arena_format(advisor->arena, advisor->err,
				"give %s's allocator room: "
				"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against "
				"fragmentation, or a smaller peak",
				role_word(role)),
			.why = arena_format(advisor->arena, advisor->err,
				"%.4g retries, %.4g cudaMalloc and %.4g cudaFree a step of its; "
				"the "
				"GPU starves for %s of that step in the allocator and until the "
				"host is ahead again",
				(double)retries / (breakdown->path_used ? breakdown->path_used : 1),
				calls.alloc_count, calls.free_count, ms(advisor, stall).text),
			.has_ns = !isnan(own_stall),
			.ns = {0, isnan(own_stall) ? 0 : llround(own_stall)},
			.bytes = NULL_I64,
		});
}

static bool advise_allocator(struct advisor *advisor)
{
	const bool is_spent = advisor->candidate != advisor->checkpointed;
	return advise_allocator_of(advisor, advisor->base, ROLE_BASE) &&
	       advise_allocator_of(advisor, advisor->checkpointed, ROLE_CHECKPOINTED) &&
	       (!is_spent || advise_allocator_of(advisor, advisor->candidate, ROLE_SPENT));
}

static double starved_in(const struct advisor *advisor, uint8_t phase)
{
	return measure_path_ns(
		advisor->candidate, STATE_STARVED, phase, MEASURE_ANY, STARVE_DISPATCH);
}

static bool advise_host(struct advisor *advisor)
{
	const double starved = starved_in(advisor, MEASURE_ANY);
	if (!advisor->candidate->launch_bound || !is_worth_it(advisor, starved))
		return true;
	return advise(advisor,
		(struct advice){
			.what = advisor->candidate->facts->has_compiled
					? "give the host less to launch: larger units, fewer "
					  "wrappers, or a larger micro-batch"
					: "give the host less to launch: torch.compile the blocks, "
					  "larger units, fewer wrappers, or a larger micro-batch",
			.why = arena_format(advisor->arena, advisor->err,
				"the GPU waits %s a step for launches: forward %s, recompute %s, "
				"backward %s, FSDP's hooks %s, optimizer %s; part of it is the "
				"profiler's own cost",
				ms(advisor, starved).text,
				ms(advisor, starved_in(advisor, PHASE_FORWARD)).text,
				ms(advisor, starved_in(advisor, PHASE_RECOMPUTE)).text,
				ms(advisor, starved_in(advisor, PHASE_BACKWARD)).text,
				ms(advisor, starved_in(advisor, PHASE_FSDP)).text,
				ms(advisor, starved_in(advisor, PHASE_OPTIMIZER)).text),
			.has_ns = true,
			.ns = {0, llround(starved)},
			.bytes = NULL_I64,
		});
}

static bool advise_coarser_units(struct advisor *advisor)
{
	const double starved = starved_in(advisor, PHASE_FSDP);
	struct gather_sum forward;
	/* Copies go by bytes, whatever the units: only the hooks are paid by the unit. */
	if (starved < OVERHEAD_FRAC * advisor->step_ns)
		return true;
	if (!measure_gathers(
		    advisor->candidate, GATHER_FORWARD, advisor->arena, &forward, advisor->err))
		return false;
	if (forward.unit_count < 2)
		return true;
	return advise(advisor,
		(struct advice){
			.what = "try fewer, larger FSDP units: FSDP's hooks are paid by the unit",
			.why = arena_format(advisor->arena, advisor->err,
				"the GPU waits %s a step in FSDP's hooks%s, for %u units of %s "
				"each "
				"on average",
				ms(advisor, starved).text,
				advisor->candidate->launch_bound
					? ", a part of what it waits for launches"
					: "",
				forward.unit_count,
				units_bytes((int64_t)(forward.unit_bytes / forward.unit_count),
					UNITS_PLAIN)
					.text),
			.has_ns = true,
			.ns = {0, llround(starved)},
			.bytes = NULL_I64,
		});
}

/* The last reduce-scatters have no compute left to hide behind. */
static bool remark_tail(struct advisor *advisor)
{
	const int64_t tail = advisor->candidate->tail_reduce_scatter_ns;
	const struct answer *answer = advisor->answer;
	if (tail <= 0 || tail == NULL_I64 || !is_worth_it(advisor, (double)tail) ||
		answer->is_same_run || (answer->comparison && !answer->comparison->comparable))
		return true;
	return advise(advisor,
		(struct advice){
			.what = "the end of backward can't be hidden",
			.why = arena_format(advisor->arena, advisor->err,
				"the reduce-scatters of the first unit and the root run after the "
				"last backward kernel, %s of the %s step: nothing is left to run "
				"beside them",
				ms(advisor, (double)tail).text, ms(advisor, advisor->step_ns).text),
			.bytes = NULL_I64,
			.is_remark = true,
		});
}

/* Spending has no time of its own; it is worth what is paid for the memory now. */
static double worth_of(const struct advisor *advisor, const struct advice *advice)
{
	if (advice->is_remark)
		return -1;
	return advice->has_ns ? (double)advice->ns[1] : marginal_ns(advisor);
}

/* By insertion, which keeps the order of the rules where two are worth the same. */
static void sort_by_worth(const struct advisor *advisor)
{
	struct answer *answer = advisor->answer;
	for (uint32_t i = 1; i < answer->advice_count; i++) {
		const struct advice moved = answer->advice[i];
		uint32_t k = i;
		for (; k && worth_of(advisor, &answer->advice[k - 1]) < worth_of(advisor, &moved);
			k--)
			answer->advice[k] = answer->advice[k - 1];
		answer->advice[k] = moved;
	}
}

bool advice_make(struct answer *answer, struct err *err)
{
	static bool (*const rules[])(struct advisor *) = {
		advise_wrap_order,
		advise_allocator,
		advise_smaller,
		advise_take_off,
		advise_spend,
		advise_checkpoint_less,
		advise_keep_units,
		advise_prefetch,
		advise_host,
		advise_coarser_units,
		remark_tail,
	};
	const enum run_role candidate = answer_candidate(answer);
	const struct comparison *own = candidate == ROLE_SPENT ? answer->spent : answer->comparison;
	const bool is_comparable = answer->comparison && answer->comparison->comparable;
	struct advisor advisor = {
		.answer = answer,
		.base = answer->breakdown[ROLE_BASE],
		.checkpointed = answer->breakdown[ROLE_CHECKPOINTED],
		.candidate = answer->breakdown[candidate],
		.comparison = is_comparable ? answer->comparison : NULL,
		.own = own && own->comparable ? own : NULL,
		.step_ns = answer->traced_step_ns[candidate],
		.decimals = units_ms_decimals(answer->traced_step_ns[candidate]),
		.arena = &answer->arena,
		.err = err,
	};
	answer->advice = arena_new(&answer->arena, ADVICE_MAX, sizeof *answer->advice, err);
	if (!answer->advice)
		return false;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!rules[i](&advisor))
			return false;
	sort_by_worth(&advisor);
	return true;
}
