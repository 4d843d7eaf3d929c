/* inquest record [-o DIR] -- COMMAND... */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/record_launch.h"
#include "cli/record_places.h"
#include "cli/values.h"

enum {
	KEY_STEPS = 0x200,
	KEY_AFTER,
	KEY_FOR,
	KEY_NO_PYTHON,
	KEY_NO_FLOPS,
	KEY_COMPRESS,
	KEY_FORCE,
};

struct record_arguments {
	struct command command;
	const char *folder, *steps, *after, *duration;
	bool has_python, has_flops, has_compression, has_force;
	char **recorded; /* the command behind "--"; NULL without one */
};

static const struct argp_option options[] = {
	{"output", 'o', "DIRECTORY", 0,
		"Where to record, a file a rank; inquest-DATE-PID without it", 1},
	{"steps", KEY_STEPS, "A:B[,C:D]", 0,
		"Record optimizer steps A to B-1 (from 0), and C to D-1; every step without it", 1},
	{"after", KEY_AFTER, "SECONDS", 0, "Begin so long after the first CUDA call", 1},
	{"for", KEY_FOR, "SECONDS", 0, "Record for so long", 1},
	{"no-python", KEY_NO_PYTHON, 0, 0, "No hook in Python: no steps and phases are marked", 2},
	{"no-flops", KEY_NO_FLOPS, 0, 0, "Don't count the FLOPs of the second step", 2},
	{"compress", KEY_COMPRESS, 0, 0, "Finish as .inq.zst", 2},
	{"force", KEY_FORCE, 0, 0, "Replace the run that is in DIRECTORY", 2},
	{0},
};

static const char doc[] =
	"Runs COMMAND and records its CUDA work, collectives and phases, one .inq file a rank, "
	"without a change to the training code. Its exit code is COMMAND's.\v"
	"Examples:\n"
	"  inquest record -o base -- torchrun --nproc-per-node 2 train.py\n"
	"  inquest record -o ckpt --steps 10:20,30:40 -- torchrun train_ckpt.py\n"
	"  inquest verdict base ckpt --objective throughput\n\n"
	"Exit status: COMMAND's; 128 and the signal's number when a signal ended it; 126 or 127 "
	"when it can't be run. Before it runs: 2 usage; 3 DIRECTORY can't be written to; 5 the "
	"recorder's own files are missing.";

/* "A:B,C:D", whole numbers, A < B <= C < D. */
static bool is_steps(const char *text)
{
	unsigned long long last = 0;
	do {
		unsigned long long from, to;
		int used = 0;
		if (strspn(text, "0123456789") == 0 ||
			sscanf(text, "%19llu:%n", &from, &used) != 1 || used == 0)
			return false;
		text += used;
		if (strspn(text, "0123456789") == 0 || sscanf(text, "%19llu%n", &to, &used) != 1 ||
			from >= to || from < last)
			return false;
		last = to;
		text += used;
	} while (*text++ == ',');
	return text[-1] == '\0';
}

static error_t check_seconds(struct command *command, const char *option, const char *value)
{
	double number;
	if (value_number(value, &number))
		return 0;
	return command_refuse(
		command, "--%s is a number of seconds above 0, not '%s'", option, value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct record_arguments *arguments = state->input;
	struct command *command = &arguments->command;
	switch (key) {
	case ARGP_KEY_INIT:
		command_init(state);
		state->child_inputs[0] = command;
		return 0;
	case 'o':
		arguments->folder = value;
		return *value ? 0 : command_refuse(command, "-o needs the name of a folder");
	case KEY_STEPS:
		arguments->steps = value;
		return is_steps(value) ? 0
				       : command_refuse(command,
						 "--steps is A:B or A:B,C:D in rising order, "
						 "not '%s'",
						 value);
	case KEY_AFTER:
		arguments->after = value;
		return check_seconds(command, "after", value);
	case KEY_FOR:
		arguments->duration = value;
		return check_seconds(command, "for", value);
	case KEY_NO_PYTHON:
		arguments->has_python = false;
		return 0;
	case KEY_NO_FLOPS:
		arguments->has_flops = false;
		return 0;
	case KEY_COMPRESS:
		arguments->has_compression = true;
		return 0;
	case KEY_FORCE:
		arguments->has_force = true;
		return 0;
	case ARGP_KEY_ARG:
		return command_refuse(command, "'--' belongs before the command '%s'", value);
	case ARGP_KEY_END:
		if (arguments->recorded)
			return 0;
		return command_refuse(command,
			"record needs '--' and a command; 'inquest record --help' shows how");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What stands behind "--" is the command's, options and all: argp must not see it. */
static int cut_off(struct record_arguments *arguments, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			if (argv[i + 1])
				arguments->recorded = argv + i + 1;
			return i;
		}
	return argc;
}

/* Tells what was recorded, or why nothing was. */
static void finish(struct record_arguments *arguments)
{
	struct command *command = &arguments->command;
	uint32_t kept = 0;
	command_begin(command);
	const enum inquest_status status = inquest_finish(
		command->inquest, arguments->folder, arguments->has_compression, &kept);
	progress_end();
	if (status != INQUEST_OK) {
		fprintf(stderr, "inquest: %s\n", inquest_message(command->inquest));
		return;
	}
	const char *line = inquest_bytes(command->inquest, NULL);
	if (!*line)
		fprintf(stderr,
			"inquest: nothing was recorded: no process of the command used CUDA%s\n",
			arguments->steps || arguments->after || arguments->duration
				? " in the part that was to be recorded"
				: "");
	while (*line) {
		const size_t length = strcspn(line, "\n");
		fprintf(stderr, "inquest: %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
	if (!kept)
		rmdir(arguments->folder); /* if it is empty */
}

static int record(struct record_arguments *arguments)
{
	struct record_places places;
	char problem[PATH_MAX + 200], folder[PATH_MAX], standard[64];
	if (record_is_taken(problem, sizeof problem)) {
		fprintf(stderr, "inquest: %s\n", problem);
		return EXIT_BAD_USAGE;
	}
	if (!record_find_places(&places, problem, sizeof problem)) {
		fprintf(stderr, "inquest: %s\n", problem);
		return EXIT_BROKEN;
	}
	if (!arguments->folder) {
		char date[16];
		const time_t now = time(NULL);
		strftime(date, sizeof date, "%Y-%m-%d", localtime(&now));
		snprintf(standard, sizeof standard, "inquest-%s-%ld", date, (long)getpid());
		arguments->folder = standard;
	}
	const enum folder_answer answer = record_make_folder(
		arguments->folder, arguments->has_force, folder, problem, sizeof problem);
	if (answer != FOLDER_READY) {
		fprintf(stderr, "inquest: %s\n", problem);
		return answer == FOLDER_REFUSED ? EXIT_BAD_USAGE : EXIT_UNREADABLE;
	}
	bool has_run;
	const int code = record_launch(
		&(struct record_request){
			.folder = folder,
			.collector = places.collector,
			.hook = arguments->has_python ? places.hook : NULL,
			.steps = arguments->steps,
			.after = arguments->after,
			.duration = arguments->duration,
			.has_flops = arguments->has_flops,
			.command = arguments->recorded,
		},
		&has_run);
	if (has_run)
		finish(arguments);
	else
		rmdir(folder);
	return code;
}

int command_record(int argc, char **argv)
{
	static const struct argp_child children[] = {{&command_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {.options = options,
		.parser = parse,
		.args_doc = "-- COMMAND...",
		.doc = doc,
		.children = children,
		.help_filter = command_filter_help};
	struct record_arguments arguments = {
		/* What follows an argument is a command's, which lacks its "--". */
		.command = {.name = "inquest record", .is_in_order = true},
		.has_python = true,
		.has_flops = true};
	int code;
	record_ignore_signals();
	argc = cut_off(&arguments, argc, argv);
	if (!command_parse(&arguments.command, &argp, &arguments, argc, argv, &code))
		return code;
	code = record(&arguments);
	inquest_free(arguments.command.inquest);
	return code;
}
