/* inquest info RUN... */
#include "cli/command.h"

struct info_arguments {
	struct command command;
	bool has_runs;
};

static const char doc[] = "What a recording holds, what it lacks, and what is wrong with it.\v"
			  "A RUN is a file, a directory or a quoted glob: all ranks of one job.\n\n"
			  "Examples:\n"
			  "  inquest info traces/\n"
			  "  inquest info 'ac.rank*.json.gz' --format json";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct info_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = state->child_inputs[1] = command;
		return 0;
	case ARGP_KEY_ARG:
		arguments->has_runs = true;
		return command_check(command, inquest_add_run(command->inquest, value));
	case ARGP_KEY_END:
		if (!arguments->has_runs)
			return command_refuse(
				command, "info needs a run; 'inquest info --help' shows how");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_info(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&command_format_argp, 0, NULL, 0}, {&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.parser = parse, .args_doc = "RUN...", .doc = doc, .children = children};
	struct info_arguments arguments = {.command = {.name = "inquest info"}};
	struct command *command = &arguments.command;
	int code;
	if (!command_parse(command, &argp, &arguments, argc, argv, &code))
		return code;
	command_begin(command);
	code = command_print(command, inquest_info(command->inquest, command->format));
	inquest_free(command->inquest);
	return code;
}
