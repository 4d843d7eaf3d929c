/* The question that the program is for. */
#include <math.h>

#include "base/mem.h"
#include "base/table.h"
#include "compare/pair.h"
#include "library/load.h"
#include "library/role_ranks.h"
#include "render/json_reports.h"
#include "render/reports.h"
#include "verdict/answer.h"

/* Everything between the paths and the answer; {0} is empty. */
struct inquiry {
	struct rules *rules;
	struct breakdown breakdown[ROLE_COUNT];
	bool has_breakdown[ROLE_COUNT];
	struct comparison comparison, spent;
	bool has_comparison, has_spent;
	struct answer_input input;
	struct answer answer;
};

static bool check_request(const struct inquest *inquest, struct err *err)
{
	const struct role_request *role = inquest->role;
	const bool is_fit =
		inquest->objective == OBJECTIVE_FIT || inquest->objective == OBJECTIVE_NONE;
	if (!role[ROLE_CHECKPOINTED].path)
		return err_set(err, ERR_USAGE, "verdict needs a run with checkpointing");
	if (!role[ROLE_BASE].path && inquest->objective != OBJECTIVE_FIT)
		return err_set(err, ERR_USAGE,
			"verdict needs BASE and CHECKPOINTED; only for the objective fit may BASE "
			"be missing");
	if (inquest->base_failed && !is_fit)
		return err_set(err, ERR_USAGE,
			"a base that failed answers the objective fit, not %s",
			objective_word(inquest->objective));
	for (int i = 0; i < ROLE_COUNT; i++) {
		const bool is_about = !isnan(role[i].step_ns) || !isnan(role[i].tokens_per_s) ||
				      role[i].tokens != NULL_I64;
		if (is_about && !role[i].path)
			return err_set(err, ERR_USAGE,
				"numbers are given for %s, but no such run is",
				role_word((enum run_role)i));
		if (!isnan(role[i].step_ns) && !isnan(role[i].tokens_per_s))
			return err_set(err, ERR_USAGE,
				"both a step time and tokens a second are given for %s: one is "
				"enough",
				role_word((enum run_role)i));
	}
	return true;
}

static bool load_roles(struct inquest *inquest, struct inquiry *inquiry)
{
	inquiry->rules = load_rules(inquest);
	if (!inquiry->rules)
		return false;
	for (int i = 0; i < ROLE_COUNT; i++) {
		const struct role_request *role = &inquest->role[i];
		struct answer_run *run = &inquiry->input.run[i];
		*run = (struct answer_run){.gpu_memory_bytes = NULL_I64,
			.given_step_ns = role->step_ns,
			.given_tokens_per_s = role->tokens_per_s};
		if (!role->path)
			continue;
		if (load_path(inquest, inquiry->rules, role->path, role->tokens,
			    &inquiry->breakdown[i], &run->gpu_memory_bytes)) {
			inquiry->has_breakdown[i] = true;
			run->breakdown = &inquiry->breakdown[i];
		} else if (i == ROLE_BASE && inquest->base_failed &&
			   inquest->err.code == ERR_INPUT) {
			/* What a run left that failed may hold nothing: it is as if absent. */
			inquest->err = (struct err){0};
		} else {
			return false;
		}
	}
	return true;
}

/* What the command line has mixed up, by the ranks that came. */
static bool check_ranks(struct inquest *inquest, struct inquiry *inquiry)
{
	const struct breakdown *runs[ROLE_COUNT];
	for (int i = 0; i < ROLE_COUNT; i++)
		runs[i] = inquiry->input.run[i].breakdown;
	if (!role_ranks_check(inquest->role, runs, &inquest->err))
		return false;
	for (int i = 0; i < ROLE_COUNT; i++)
		if (i != ROLE_BASE && runs[ROLE_BASE] && runs[i] &&
			!role_ranks_share(runs[ROLE_BASE], runs[i]))
			diag_set(&inquiry->breakdown[i].diag, DIAG_OTHER_RANK, 1);
	return true;
}

static bool compare_roles(struct inquest *inquest, struct inquiry *inquiry)
{
	const struct breakdown *runs = inquiry->breakdown;
	if (!inquiry->has_breakdown[ROLE_BASE] || inquest->base_failed)
		return true;
	handle_progress(inquest, "comparing", runs[ROLE_CHECKPOINTED].name);
	if (!compare_runs(&runs[ROLE_BASE], &runs[ROLE_CHECKPOINTED], &inquiry->comparison,
		    &inquest->err))
		return false;
	inquiry->has_comparison = true;
	inquiry->input.comparison = &inquiry->comparison;
	if (!inquiry->has_breakdown[ROLE_SPENT])
		return true;
	if (!compare_runs(&runs[ROLE_BASE], &runs[ROLE_SPENT], &inquiry->spent, &inquest->err))
		return false;
	inquiry->has_spent = true;
	inquiry->input.spent = &inquiry->spent;
	return true;
}

static bool make_answer(struct inquest *inquest, struct inquiry *inquiry)
{
	struct answer_input *input = &inquiry->input;
	const int candidate = inquiry->has_breakdown[ROLE_SPENT] ? ROLE_SPENT : ROLE_CHECKPOINTED;
	input->objective = inquest->objective;
	input->base_failed = inquest->base_failed;
	input->memory_limit_bytes = inquest->memory_limit_bytes;
	input->memory_limit_frac = inquest->memory_limit_frac;
	if (!isnan(input->memory_limit_frac) && input->run[candidate].gpu_memory_bytes == NULL_I64)
		return err_set(&inquest->err, ERR_USAGE,
			"the memory limit is a share of the GPU, whose size %s does not say: give "
			"bytes",
			inquest->role[candidate].path);
	return answer_make(input, &inquiry->answer, &inquest->err);
}

static void print(struct inquest *inquest, const struct answer *answer, enum inquest_format format)
{
	static const enum inquest_outcome outcomes[] = {
		[VERDICT_WORKED] = INQUEST_WORKED,
		[VERDICT_UNSPENT] = INQUEST_UNSPENT,
		[VERDICT_FAILED] = INQUEST_FAILED,
		[VERDICT_INCONCLUSIVE] = INQUEST_INCONCLUSIVE,
		[VERDICT_NOT_COMPARABLE] = INQUEST_NOT_COMPARABLE,
		[VERDICT_NO_OBJECTIVE] = INQUEST_OPEN,
	};
	struct report report = {0};
	if (format == INQUEST_JSON) {
		inquest->bytes = json_verdict(answer, &inquest->err);
	} else {
		report_verdict(&report, answer);
		handle_print(inquest, &report, format);
	}
	inquest->outcome = outcomes[answer->judgement.verdict];
}

enum inquest_status inquest_verdict(struct inquest *inquest, enum inquest_format format)
{
	struct inquiry inquiry = {0};
	handle_reset(inquest);
	if (check_request(inquest, &inquest->err) && load_roles(inquest, &inquiry) &&
		check_ranks(inquest, &inquiry) && compare_roles(inquest, &inquiry) &&
		make_answer(inquest, &inquiry))
		print(inquest, &inquiry.answer, format);
	answer_done(&inquiry.answer);
	if (inquiry.has_spent)
		comparison_done(&inquiry.spent);
	if (inquiry.has_comparison)
		comparison_done(&inquiry.comparison);
	for (int i = 0; i < ROLE_COUNT; i++)
		if (inquiry.has_breakdown[i])
			breakdown_done(&inquiry.breakdown[i]);
	rules_free(inquiry.rules);
	return handle_status(inquest);
}
