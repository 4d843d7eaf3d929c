/* The document of `verdict`. */
#include <math.h>

#include "base/table.h"
#include "render/json_build.h"
#include "render/json_reports.h"

/* [low, high], or null where there is no interval. */
static json_t *interval_json(struct json_build *build, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return json_null();
	json_t *out = json_build_array(build);
	json_build_push(build, out, json_build_ns(low));
	json_build_push(build, out, json_build_ns(high));
	return out;
}

static json_t *integer_interval_json(struct json_build *build, const int64_t ci95_ns[2])
{
	if (ci95_ns[0] == NULL_I64 || ci95_ns[1] == NULL_I64)
		return json_null();
	json_t *out = json_build_array(build);
	json_build_push(build, out, json_integer(ci95_ns[0]));
	json_build_push(build, out, json_integer(ci95_ns[1]));
	return out;
}

static void put_comparable(struct json_build *build, json_t *root, const struct answer *answer)
{
	const struct comparison *pairs[] = {answer->comparison, answer->spent};
	json_t *out = json_build_object(build), *differences = json_build_array(build);
	bool ok = true;
	for (int i = 0; i < 2; i++) {
		if (!pairs[i])
			continue;
		ok = ok && pairs[i]->comparable;
		for (uint32_t k = 0; k < pairs[i]->difference_count; k++)
			json_build_push(build, differences,
				json_build_text(build, pairs[i]->differences[k]));
	}
	json_build_put(build, out, "ok", json_boolean(ok));
	json_build_put(build, out, "differences", differences);
	json_build_put(build, root, "comparable", out);
}

static void put_noise(struct json_build *build, json_t *root, const struct judgement *judgement)
{
	json_t *out = json_build_object(build);
	json_build_word(build, out, "method", judgement->noise_method);
	json_build_put(build, out, "ns", json_build_ns(judgement->noise_ns));
	json_build_put(build, root, "noise", out);
}

/* How much of the step waits for the host, and what the profiler is estimated to add to it. */
static void put_launch_bound(
	struct json_build *build, json_t *run, const struct answer *answer, enum run_role role)
{
	const struct comparison *comparison = answer->comparison;
	if (!comparison || !comparison->launch_bound || role == ROLE_SPENT)
		return;
	const int64_t *cost_ns = comparison->inflation_ns[role == ROLE_CHECKPOINTED];
	json_t *out = json_build_object(build), *cost = json_null();
	if (cost_ns[1] > 0) {
		cost = json_build_array(build);
		for (int i = 0; i < 2; i++)
			json_build_push(build, cost, json_integer(cost_ns[i]));
	}
	json_build_put(build, out, "starved_frac",
		json_build_number(answer->breakdown[role]->starved_frac));
	json_build_put(build, out, "profiler_cost_ns", cost);
	json_build_put(build, run, "launch_bound", out);
}

static json_t *run_json(struct json_build *build, const struct answer *answer, enum run_role role)
{
	const struct recipe *recipe = &answer->recipe[role];
	const struct breakdown *run = answer->breakdown[role];
	json_t *out = json_build_object(build), *step = json_build_object(build);
	json_build_word(build, out, "role", role_word(role));
	json_build_word(build, out, "name", run->name);
	json_build_put(build, out, "world_size", json_build_int32(run->world_size));
	json_build_put(build, out, "steps_used", json_integer(recipe->steps));
	json_build_put(build, step, "mean", json_build_ns(recipe->step_ns));
	json_build_put(build, step, "ci95",
		interval_json(build, recipe->step_ci95_ns[0], recipe->step_ci95_ns[1]));
	json_build_word(build, step, "source", recipe->step_time_given ? "given" : "traced");
	json_build_put(build, out, "step_ns", step);
	json_build_put(build, out, "traced_step_ns", json_build_ns(answer->traced_step_ns[role]));
	json_build_put(build, out, "tokens_per_step", json_build_int(recipe->tokens_per_step));
	json_build_put(build, out, "tokens_per_s", json_build_number(recipe->tokens_per_s));
	json_build_put(
		build, out, "peak_allocated_bytes", json_build_int(recipe->peak_allocated_bytes));
	json_build_put(
		build, out, "peak_reserved_bytes", json_build_int(recipe->peak_reserved_bytes));
	put_launch_bound(build, out, answer, role);
	return out;
}

static void put_runs(struct json_build *build, json_t *root, const struct answer *answer)
{
	json_t *out = json_build_array(build);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (answer->breakdown[role])
			json_build_push(build, out, run_json(build, answer, (enum run_role)role));
	json_build_put(build, root, "runs", out);
}

static json_t *evidence_json(struct json_build *build, const struct cause_result *cause)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < cause->evidence_count; i++) {
		const struct evidence *evidence = &cause->evidence[i];
		json_t *item = json_build_object(build);
		json_build_word(build, item, "kind", evidence->kind);
		json_build_word(build, item, "name", evidence->name);
		json_build_put(build, item, "base", json_build_number(evidence->base));
		json_build_put(
			build, item, "checkpointed", json_build_number(evidence->checkpointed));
		json_build_word(build, item, "unit", evidence->unit);
		json_build_push(build, out, item);
	}
	return out;
}

static void put_causes(struct json_build *build, json_t *root, const struct comparison *comparison)
{
	json_t *delta = json_build_object(build), *causes = json_build_array(build);
	json_build_put(build, delta, "mean", json_integer(comparison->delta_ns));
	json_build_put(
		build, delta, "ci95", integer_interval_json(build, comparison->delta_ci95_ns));
	json_build_put(build, root, "delta_ns", delta);
	for (int i = 0; i < CAUSE_COUNT; i++) {
		const struct cause_result *cause = &comparison->causes[i];
		json_t *item = json_build_object(build);
		json_build_word(
			build, item, "headline", headline_word(cause_headline((enum cause)i)));
		json_build_word(build, item, "cause", cause_word((enum cause)i));
		json_build_put(build, item, "ns", json_integer(cause->ns));
		json_build_put(build, item, "ci95", integer_interval_json(build, cause->ci95_ns));
		json_build_word(build, item, "how", how_word(cause->how));
		json_build_put(build, item, "evidence", evidence_json(build, cause));
		json_build_push(build, causes, item);
	}
	json_build_put(build, root, "causes", causes);
}

static void put_advice(struct json_build *build, json_t *root, const struct answer *answer)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < answer->advice_count; i++) {
		const struct advice *advice = &answer->advice[i];
		if (advice->is_remark)
			continue;
		json_t *item = json_build_object(build), *moves = json_build_object(build);
		json_build_word(build, item, "what", advice->what);
		json_build_word(build, item, "why", advice->why);
		json_t *ns = advice->has_ns ? json_build_array(build) : json_null();
		for (int k = 0; advice->has_ns && k < 2; k++)
			json_build_push(build, ns, json_integer(advice->ns[k]));
		json_build_put(build, moves, "ns", ns);
		json_build_put(build, moves, "bytes", json_build_int(advice->bytes));
		json_build_put(build, item, "moves", moves);
		json_build_push(build, out, item);
	}
	json_build_put(build, root, "advice", out);
}

static void put_remarks(struct json_build *build, json_t *root, const struct answer *answer)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < answer->advice_count; i++) {
		if (!answer->advice[i].is_remark)
			continue;
		json_t *item = json_build_object(build);
		json_build_word(build, item, "what", answer->advice[i].what);
		json_build_word(build, item, "why", answer->advice[i].why);
		json_build_push(build, out, item);
	}
	json_build_put(build, root, "remarks", out);
}

static void put_stragglers(struct json_build *build, json_t *root, const struct answer *answer)
{
	json_t *out = json_build_array(build);
	for (uint32_t i = 0; i < answer->straggler_count; i++) {
		const struct straggler *straggler = &answer->stragglers[i];
		json_t *item = json_build_object(build);
		json_build_word(build, item, "collective", straggler->collective);
		json_build_put(build, item, "from_rank", json_build_int32(straggler->from_rank));
		json_build_put(build, item, "to_rank", json_build_int32(straggler->to_rank));
		json_build_put(build, item, "count", json_integer(straggler->count));
		json_build_put(build, item, "ns", json_build_ns(straggler->ns));
		json_build_push(build, out, item);
	}
	json_build_put(build, root, "stragglers", out);
}

/* Without an objective there is no single word: each objective's answer stands side by side. */
static void put_objectives(struct json_build *build, json_t *root, const struct answer *answer)
{
	json_t *out = json_build_array(build);
	for (int i = OBJECTIVE_NONE + 1; i < OBJECTIVE_COUNT; i++) {
		json_t *item = json_build_object(build);
		json_build_word(build, item, "objective", objective_word((enum objective)i));
		json_build_word(build, item, "verdict", verdict_text(answer->each[i].verdict));
		json_build_word(build, item, "reason", answer->each[i].reason);
		json_build_push(build, out, item);
	}
	json_build_put(build, root, "objectives", out);
}

char *json_verdict(const struct answer *answer, struct err *err)
{
	struct json_build build = {0};
	struct findings findings = {0};
	const struct comparison *comparison = answer->comparison;
	json_t *root = json_build_object(&build);
	json_build_word(&build, root, "schema", "inquest.verdict/1");
	json_build_word(&build, root, "objective", objective_word(answer->objective));
	json_build_word(&build, root, "verdict", verdict_text(answer->judgement.verdict));
	json_build_word(&build, root, "sentence", answer->sentence);
	if (answer->judgement.verdict == VERDICT_NO_OBJECTIVE)
		put_objectives(&build, root, answer);
	put_comparable(&build, root, answer);
	put_noise(&build, root, &answer->judgement);
	/* The tokens that the causes are for; null where both runs had the same. */
	json_build_put(&build, root, "normalised_to_tokens",
		comparison && comparison->normalised_to_tokens
			? json_build_int(answer->recipe[ROLE_BASE].tokens_per_step)
			: json_null());
	put_runs(&build, root, answer);
	if (comparison && comparison->comparable)
		put_causes(&build, root, comparison);
	put_advice(&build, root, answer);
	put_remarks(&build, root, answer);
	if (answer->breakdown[answer_candidate(answer)]->path_is_job)
		put_stragglers(&build, root, answer);
	for (int role = 0; role < ROLE_COUNT; role++)
		if (answer->breakdown[role])
			findings_add_run(&findings, &answer->breakdown[role]->diag,
				answer->breakdown[role]->diag_file);
	json_build_put(&build, root, "diagnostics", json_build_findings(&build, &findings));
	return json_build_print(&build, root, err);
}
