/* inquest gathers RUN */
#include "cli/command.h"

struct gathers_arguments {
	struct command command;
	const char *run;
};

static const char doc[] =
	"The bill of every all-gather: which unit, why, how often, how long it was waited for.\v"
	"A gather is `forward` or `backward` when it is the first of its unit in that pass, and "
	"`repeat` when it fetches again what the pass had gathered already. A RUN is a file, a "
	"directory or a quoted glob: all ranks of one job.\n\n"
	"Examples:\n"
	"  inquest gathers ac/\n"
	"  inquest gathers 'ac.rank*.json.gz' --format markdown";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct gathers_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = state->child_inputs[1] = command;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->run)
			return command_refuse(command,
				"gathers takes one run; '%s' is one more (files of one run go "
				"into a quoted glob)",
				value);
		arguments->run = value;
		return command_check(command, inquest_add_run(command->inquest, value));
	case ARGP_KEY_END:
		if (!arguments->run)
			return command_refuse(
				command, "gathers needs a run; 'inquest gathers --help' shows how");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_gathers(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&command_format_argp, 0, NULL, 0}, {&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.parser = parse, .args_doc = "RUN", .doc = doc, .children = children};
	struct gathers_arguments arguments = {.command = {.name = "inquest gathers"}};
	struct command *command = &arguments.command;
	int code;
	if (!command_parse(command, &argp, &arguments, argc, argv, &code))
		return code;
	command_begin(command);
	code = command_print(command, inquest_gathers(command->inquest, command->format));
	inquest_free(command->inquest);
	return code;
}
