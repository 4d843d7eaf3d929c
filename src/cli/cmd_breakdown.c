/* inquest breakdown RUN... */
#include "cli/command.h"
#include "cli/values.h"

enum {
	KEY_STEPS = 0x200,
	KEY_TOKENS,
	KEY_PATH_FROM,
};

struct breakdown_arguments {
	struct command command;
	bool has_steps, has_runs;
};

static const struct argp_option options[] = {
	{"steps", KEY_STEPS, 0, 0, "Every step, not only their average", 1},
	{"tokens", KEY_TOKENS, "N", 0, "Tokens of one optimizer step, over all ranks", 1},
	{"path-from", KEY_PATH_FROM, "RANK", 0,
		"Start the job path on this rank, not on the last to arrive", 1},
	{0},
};

static const char doc[] =
	"Where the time of a step goes: busy, blocked and starved, by what, on the job path and "
	"on each rank. The parts sum to the step, to the nanosecond.\v"
	"A RUN is a file, a directory or a quoted glob: all ranks of one job.\n\n"
	"Examples:\n"
	"  inquest breakdown ac/\n"
	"  inquest breakdown 'ac.rank*.json.gz' --steps\n"
	"  inquest breakdown none/ ac/ --format json";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct breakdown_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	int64_t count;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = state->child_inputs[1] = command;
		return 0;
	case KEY_STEPS:
		arguments->has_steps = true;
		return 0;
	case KEY_TOKENS:
		if (!value_count(value, &count) || count == 0)
			return command_refuse(
				command, "--tokens is a whole number above 0, not '%s'", value);
		return command_check(command, inquest_set_added_tokens(command->inquest, count));
	case KEY_PATH_FROM:
		if (!value_count(value, &count) || count > INT32_MAX)
			return command_refuse(command, "--path-from is a rank, not '%s'", value);
		inquest_set_path_from(command->inquest, (int32_t)count);
		return 0;
	case ARGP_KEY_ARG:
		arguments->has_runs = true;
		return command_check(command, inquest_add_run(command->inquest, value));
	case ARGP_KEY_END:
		if (!arguments->has_runs)
			return command_refuse(command,
				"breakdown needs a run; 'inquest breakdown --help' shows how");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_breakdown(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&command_format_argp, 0, NULL, 0}, {&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "RUN...",
		.doc = doc,
		.children = children};
	struct breakdown_arguments arguments = {.command = {.name = "inquest breakdown"}};
	struct command *command = &arguments.command;
	int code;
	if (!command_parse(command, &argp, &arguments, argc, argv, &code))
		return code;
	command_begin(command);
	code = command_print(
		command, inquest_breakdown(command->inquest, command->format, arguments.has_steps));
	inquest_free(command->inquest);
	return code;
}
