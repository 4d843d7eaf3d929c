/* Shared options, problems, and printing. */
#include "cli/command.h"

#include <errno.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/values.h"

#define WIDTH_PIPED 100
#define WIDTH_MOST  240 /* wider lines are no easier to read */

enum {
	KEY_FORMAT = 0x100,
	KEY_RULES,
	KEY_THREADS,
	KEY_WINDOW,
	KEY_NO_COLOR,
};

error_t command_refuse(struct command *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	if (!command->problem[0])
		vsnprintf(command->problem, sizeof command->problem, format, arguments);
	va_end(arguments);
	return EINVAL;
}

error_t command_check(struct command *command, enum inquest_status status)
{
	if (status == INQUEST_OK)
		return 0;
	return command_refuse(command, "%s", inquest_message(command->inquest));
}

void command_init(struct argp_state *state)
{
	/* getopt says in one line what is wrong; argp would add where help is to be found. */
	state->err_stream = NULL;
}

char *command_filter_help(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static error_t parse_format(struct command *command, const char *word)
{
	static const struct {
		const char *word;
		enum inquest_format format;
	} formats[] = {
		{"text", INQUEST_TEXT}, {"json", INQUEST_JSON}, {"markdown", INQUEST_MARKDOWN}};
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(word, formats[i].word) == 0) {
			command->format = formats[i].format;
			return 0;
		}
	return command_refuse(command, "--format is text, json or markdown, not '%s'", word);
}

static error_t parse_common(int key, char *value, struct argp_state *state)
{
	struct command *command = state->input;
	int64_t count;
	switch (key) {
	case KEY_FORMAT:
		return parse_format(command, value);
	case KEY_NO_COLOR:
		command->has_color_off = true;
		return 0;
	case KEY_RULES:
		return command_check(command, inquest_set_rules(command->inquest, value));
	case KEY_THREADS:
		if (!value_count(value, &count) || count > 1024)
			return command_refuse(
				command, "--threads is a number up to 1024, not '%s'", value);
		inquest_set_threads(command->inquest, (uint32_t)count);
		return 0;
	case KEY_WINDOW:
		if (!value_bytes(value, &count) || count > INT32_MAX)
			return command_refuse(command,
				"--window is a number of bytes, as 4096 or 1MiB, not '%s'", value);
		inquest_set_window(command->inquest, (size_t)count);
		return 0;
	case 'h':
		/* argp names what it parses by argv[0] alone, after ARGP_KEY_INIT. */
		state->name = (char *)command->name;
		argp_state_help(
			state, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
		command->is_done = true;
		return ECANCELED;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option common_options[] = {
	{"rules", KEY_RULES, "FILE", 0, "Patterns for names, before the built-in ones", 8},
	{"threads", KEY_THREADS, "N", 0, "Ranks at once; as many as there are cores without it", 8},
	{"window", KEY_WINDOW, "BYTES", 0, "Window through which a file is read", 8},
	{"help", 'h', 0, 0, "Print this and exit", 9},
	{0},
};
const struct argp command_common_argp = {.options = common_options, .parser = parse_common};

static const struct argp_option format_options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0, "text (the default), json or markdown", 7},
	{"no-color", KEY_NO_COLOR, 0, 0, "No colours, not even on a terminal", 7},
	{0},
};
const struct argp command_format_argp = {.options = format_options, .parser = parse_common};

bool command_parse(struct command *command, const struct argp *argp, void *input, int argc,
	char **argv, int *ret_code)
{
	/* getopt begins its messages with argv[0]. */
	static char program[] = "inquest";
	argv[0] = program;
	command->inquest = inquest_new();
	if (!command->inquest) {
		fprintf(stderr, "inquest: out of memory\n");
		*ret_code = EXIT_BROKEN;
		return false;
	}
	const unsigned flags =
		ARGP_NO_HELP | ARGP_NO_EXIT | (command->is_in_order ? ARGP_IN_ORDER : 0);
	const error_t error = argp_parse(argp, argc, argv, flags, NULL, input);
	if (!error)
		return true;
	if (command->problem[0])
		fprintf(stderr, "inquest: %s\n", command->problem);
	inquest_free(command->inquest);
	command->inquest = NULL;
	*ret_code = command->is_done ? EXIT_ANSWERED : EXIT_BAD_USAGE;
	return false;
}

/* COLUMNS goes before the terminal's own word, so that a pipe can be told a width. */
static uint32_t text_width(bool is_terminal)
{
	struct winsize size;
	int64_t columns;
	const char *given = getenv("COLUMNS");
	if (given && value_count(given, &columns) && columns > 0)
		return columns < WIDTH_MOST ? (uint32_t)columns : WIDTH_MOST;
	if (is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col < WIDTH_MOST ? size.ws_col : WIDTH_MOST;
	return is_terminal ? 80 : WIDTH_PIPED;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && value[0];
}

void command_begin(struct command *command)
{
	const char *terminal = getenv("TERM");
	const bool is_terminal = isatty(STDOUT_FILENO) == 1;
	const bool has_color = is_terminal && !command->has_color_off && !is_set("NO_COLOR") &&
			       terminal && strcmp(terminal, "dumb") != 0;
	const bool has_unicode = is_terminal && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	inquest_set_text_style(command->inquest, text_width(is_terminal), has_color, has_unicode);
	progress_begin(command->inquest);
}

static enum exit_code code_of(enum inquest_status status)
{
	switch (status) {
	case INQUEST_OK:
		return EXIT_ANSWERED;
	case INQUEST_BAD_REQUEST:
		return EXIT_BAD_USAGE;
	case INQUEST_BAD_INPUT:
	case INQUEST_IO:
		return EXIT_UNREADABLE;
	default:
		return EXIT_BROKEN;
	}
}

int command_print(const struct command *command, enum inquest_status status)
{
	progress_end();
	size_t length;
	const char *bytes = inquest_bytes(command->inquest, &length);
	if (status != INQUEST_OK)
		fprintf(stderr, "inquest: %s\n", inquest_message(command->inquest));
	else
		fwrite(bytes, 1, length, stdout); /* main looks whether it worked */
	return code_of(status);
}
