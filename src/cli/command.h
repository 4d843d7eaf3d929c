/*
 * What the subcommands share: the options that most of them take, the way a problem is told, and
 * the exit codes.  Each subcommand is one file, cmd_NAME.c, with one function, command_NAME.
 */
#pragma once

#include <argp.h>
#include <stdbool.h>

#include "inquest/inquest.h"

enum exit_code {
	EXIT_ANSWERED = 0,
	EXIT_FAILED = 1, /* the verdict is "failed" */
	EXIT_BAD_USAGE = 2,
	EXIT_UNREADABLE = 3,
	EXIT_NO_ANSWER = 4, /* inconclusive, or not comparable */
	EXIT_BROKEN = 5,    /* a mistake in the program, memory out, or nowhere to print */
};

/* One call of a subcommand, from parsing to the exit code. */
struct command {
	struct inquest *inquest;
	const char *name; /* "inquest verdict" */
	enum inquest_format format;
	bool has_color_off;
	bool is_in_order;  /* set before parsing: options end at the first argument */
	bool is_done;	   /* --help was answered */
	char problem[512]; /* the first; "" if none, or if getopt printed it */
};

/* Parses the arguments behind the subcommand's name.  False when the command is over: then
 * `ret_code` says with what. */
bool command_parse(struct command *command, const struct argp *argp, void *input, int argc,
	char **argv, int *ret_code);

/* Records a problem with the arguments; returns what a parser returns then. */
error_t command_refuse(struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, with the library's message, when `status` is not INQUEST_OK; else 0. */
error_t command_check(struct command *command, enum inquest_status status);

/* A parser's ARGP_KEY_INIT: silences argp's second lines. */
void command_init(struct argp_state *state);

/* For a struct argp with a short option: leaves out what argp explains of those. */
char *command_filter_help(int key, const char *text, void *input);

/* Options of all subcommands, and those that print an answer: children for a struct argp, whose
 * input is the struct command. */
extern const struct argp command_common_argp;
extern const struct argp command_format_argp;

/* Prints the handle's answer, or its message; the exit code of a question without a verdict. */
int command_print(const struct command *command, enum inquest_status status);

/* Sets the handle's text style by the terminal, and shows progress on a slow one. */
void command_begin(struct command *command);

int command_verdict(int argc, char **argv);
int command_breakdown(int argc, char **argv);
int command_gathers(int argc, char **argv);
int command_info(int argc, char **argv);
int command_import(int argc, char **argv);
int command_record(int argc, char **argv);
