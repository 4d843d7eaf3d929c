/* inquest import RUN -o DIRECTORY */
#include <signal.h>

#include "cli/command.h"

enum {
	KEY_COMPRESS = 0x200,
};

struct import_arguments {
	struct command command;
	const char *run, *directory;
	bool has_compression;
};

static const struct argp_option options[] = {
	{"output", 'o', "DIRECTORY", 0, "Where to write; made where it is missing", 1},
	{"compress", KEY_COMPRESS, 0, 0, "Write .inq.zst", 1},
	{0},
};

static const char doc[] =
	"Keeps a recording as SQLite, one .inq file a rank, with the analysis stored beside the "
	"raw rows and views that people can ask.\v"
	"A RUN is a file, a directory or a quoted glob: all ranks of one job. inquest reads what "
	"import writes.\n\n"
	"Examples:\n"
	"  inquest import 'ac.rank*.json.gz' -o kept\n"
	"  sqlite3 kept/ac.rank0.inq 'SELECT * FROM kernels_by_phase'\n"
	"  inquest breakdown kept/";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct import_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = state->child_inputs[1] = command;
		return 0;
	case 'o':
		arguments->directory = value;
		return 0;
	case KEY_COMPRESS:
		arguments->has_compression = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->run)
			return command_refuse(command,
				"import takes one run; '%s' is one more (files of one run go into "
				"a quoted glob)",
				value);
		arguments->run = value;
		return command_check(command, inquest_add_run(command->inquest, value));
	case ARGP_KEY_END:
		if (!arguments->run)
			return command_refuse(
				command, "import needs a run; 'inquest import --help' shows how");
		if (!arguments->directory)
			return command_refuse(command, "import needs -o DIRECTORY");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_import(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&command_format_argp, 0, NULL, 0}, {&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "RUN",
		.doc = doc,
		.children = children,
		.help_filter = command_filter_help};
	struct import_arguments arguments = {.command = {.name = "inquest import"}};
	struct command *command = &arguments.command;
	int code;
	if (!command_parse(command, &argp, &arguments, argc, argv, &code))
		return code;
	command_begin(command);
	/* A limit of file size is an error like a full disk: nothing half is left. */
	signal(SIGXFSZ, SIG_IGN);
	code = command_print(command, inquest_import(command->inquest, command->format,
					      arguments.directory, arguments.has_compression));
	inquest_free(command->inquest);
	return code;
}
