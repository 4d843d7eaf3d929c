/* inquest verdict BASE CHECKPOINTED [SPENT] */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/values.h"

enum {
	KEY_OBJECTIVE = 0x200,
	KEY_BASE_FAILED,
	KEY_MEMORY_LIMIT,
	KEY_STEP_TIME,
	KEY_TOKENS_PER_S,
	KEY_TOKENS,
};

struct verdict_arguments {
	struct command command;
	const char *runs[3];
	unsigned run_count;
	bool is_fit, has_failed_base;
};

static const struct argp_option options[] = {
	{"objective", KEY_OBJECTIVE, "OBJECTIVE", 0,
		"What checkpointing was meant to serve: throughput, memory, fit, batch or "
		"sequence; without it each is answered and none decides",
		1},
	{"base-failed", KEY_BASE_FAILED, 0, 0,
		"For fit: the run without checkpointing could not run; BASE may be left out", 1},
	{"memory-limit", KEY_MEMORY_LIMIT, "BYTES", 0,
		"What a GPU may hold, as 75GiB, 80GB or 95% (of its memory)", 1},
	{"step-time", KEY_STEP_TIME, "ROLE=MS", 0,
		"The step time of the training log, without a profiler; ROLE is base, "
		"checkpointed or spent",
		2},
	{"tokens-per-s", KEY_TOKENS_PER_S, "ROLE=N", 0,
		"The same as tokens a second of the whole job", 2},
	{"tokens", KEY_TOKENS, "ROLE=N", 0, "Tokens of one optimizer step, over all ranks", 2},
	{0},
};

static const char doc[] =
	"Did activation checkpointing do what it was meant to do, and where does the difference "
	"come from?\vBASE is a run without checkpointing, CHECKPOINTED one with it, SPENT one "
	"that uses the memory it freed. A RUN is a file, a directory or a quoted glob: all ranks "
	"of one job.\n\n"
	"Examples:\n"
	"  inquest verdict none/ ac/ --objective throughput\n"
	"  inquest verdict none/ ac/ ac_batch4/ --objective throughput\n"
	"  inquest verdict 'none.rank*.json.gz' 'ac.rank*.json.gz' --objective memory\n"
	"  inquest verdict none/ ac/ --objective throughput \\\n"
	"      --step-time base=118.4 --step-time checkpointed=131.0\n"
	"  inquest verdict ac/ --objective fit --base-failed --memory-limit 75GiB\n\n"
	"Exit status: 0 worked, unspent or no objective; 1 failed; 2 usage; 3 unreadable input; "
	"4 inconclusive or not comparable; 5 internal.";

static error_t parse_objective(struct verdict_arguments *arguments, const char *word)
{
	static const struct {
		const char *word;
		enum inquest_objective objective;
	} objectives[] = {
		{"throughput", INQUEST_THROUGHPUT},
		{"memory", INQUEST_MEMORY},
		{"fit", INQUEST_FIT},
		{"batch", INQUEST_BATCH},
		{"sequence", INQUEST_SEQUENCE},
	};
	for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
		if (strcmp(word, objectives[i].word) == 0) {
			inquest_set_objective(arguments->command.inquest, objectives[i].objective);
			arguments->is_fit = objectives[i].objective == INQUEST_FIT;
			return 0;
		}
	return command_refuse(&arguments->command,
		"--objective is throughput, memory, fit, batch or sequence, not '%s'", word);
}

static error_t parse_limit(struct command *command, const char *text)
{
	int64_t bytes;
	double frac, bare;
	if (value_number(text, &bare))
		return command_refuse(command,
			"--memory-limit needs a unit, as 75GiB, 80GB or 95%%, not '%s' alone",
			text);
	if (value_percent(text, &frac))
		return command_check(
			command, inquest_set_memory_limit_frac(command->inquest, frac));
	if (value_bytes(text, &bytes))
		return command_check(
			command, inquest_set_memory_limit_bytes(command->inquest, bytes));
	return command_refuse(
		command, "--memory-limit is a size as 75GiB, 80GB or 95%%, not '%s'", text);
}

static error_t parse_by_role(struct command *command, int key, const char *text)
{
	const char *option = key == KEY_STEP_TIME ? "step-time"
			     : key == KEY_TOKENS  ? "tokens"
						  : "tokens-per-s";
	enum inquest_role role;
	const char *value;
	double number;
	int64_t count;
	if (!value_role(text, &role, &value))
		return command_refuse(command,
			"--%s is ROLE=%s with base, checkpointed or spent for ROLE, not '%s'",
			option, key == KEY_STEP_TIME ? "MS" : "N", text);
	if (key == KEY_TOKENS) {
		if (!value_count(value, &count) || count == 0)
			return command_refuse(
				command, "--tokens is a whole number above 0, not '%s'", value);
		return command_check(command, inquest_set_tokens(command->inquest, role, count));
	}
	if (!value_number(value, &number))
		return command_refuse(command, "--%s is a number above 0, not '%s'", option, value);
	if (key == KEY_STEP_TIME)
		return command_check(command, inquest_set_step_ms(command->inquest, role, number));
	return command_check(command, inquest_set_tokens_per_s(command->inquest, role, number));
}

/* BASE may be missing for fit alone; then the one run is the checkpointed one. */
static error_t assign_runs(struct verdict_arguments *arguments)
{
	struct command *command = &arguments->command;
	const bool may_lack_base = arguments->is_fit || arguments->has_failed_base;
	const unsigned first = arguments->run_count == 1 && may_lack_base ? 1 : 0;
	if (arguments->run_count < 2 && !first)
		return command_refuse(command,
			"verdict needs two runs, BASE and CHECKPOINTED; 'inquest verdict --help' "
			"shows how");
	for (unsigned i = 0; i < arguments->run_count; i++) {
		const error_t error = command_check(
			command, inquest_set_run(command->inquest, (enum inquest_role)(i + first),
					 arguments->runs[i]));
		if (error)
			return error;
	}
	return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct verdict_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = state->child_inputs[1] = command;
		return 0;
	case KEY_OBJECTIVE:
		return parse_objective(arguments, value);
	case KEY_BASE_FAILED:
		inquest_set_base_failed(command->inquest, true);
		arguments->has_failed_base = true;
		return 0;
	case KEY_MEMORY_LIMIT:
		return parse_limit(command, value);
	case KEY_STEP_TIME:
	case KEY_TOKENS_PER_S:
	case KEY_TOKENS:
		return parse_by_role(command, key, value);
	case ARGP_KEY_ARG:
		if (arguments->run_count == 3)
			return command_refuse(command,
				"verdict takes at most three runs, BASE CHECKPOINTED SPENT; "
				"'%s' is one more (files of one run go into a quoted glob)",
				value);
		arguments->runs[arguments->run_count++] = value;
		return 0;
	case ARGP_KEY_END:
		return assign_runs(arguments);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int outcome_code(enum inquest_outcome outcome)
{
	switch (outcome) {
	case INQUEST_FAILED:
		return EXIT_FAILED;
	case INQUEST_INCONCLUSIVE:
	case INQUEST_NOT_COMPARABLE:
		return EXIT_NO_ANSWER;
	default:
		return EXIT_ANSWERED;
	}
}

int command_verdict(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&command_format_argp, 0, NULL, 0}, {&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "BASE CHECKPOINTED [SPENT]",
		.doc = doc,
		.children = children};
	struct verdict_arguments arguments = {.command = {.name = "inquest verdict"}};
	struct command *command = &arguments.command;
	int code;
	if (!command_parse(command, &argp, &arguments, argc, argv, &code))
		return code;
	command_begin(command);
	code = command_print(command, inquest_verdict(command->inquest, command->format));
	if (code == EXIT_ANSWERED)
		code = outcome_code(inquest_outcome(command->inquest));
	inquest_free(command->inquest);
	return code;
}
