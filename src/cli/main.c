/* inquest COMMAND: finds the subcommand, and sees to it that what was printed arrived. */
#include <errno.h>
#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static const struct {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"record", "records a run while it trains", command_record},
	{"verdict", "did checkpointing do what it was meant to do?", command_verdict},
	{"breakdown", "where the time of a step went", command_breakdown},
	{"gathers", "the bill of every all-gather", command_gathers},
	{"info", "what a recording holds, lacks, and has wrong", command_info},
	{"import", "keeps a recording as SQLite", command_import},
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

static int print_help(void)
{
	printf("Usage: inquest COMMAND [OPTION...] RUN...\n"
	       "Says where the time of a PyTorch training run went, and whether activation\n"
	       "checkpointing failed. A RUN is all ranks of one job: a file, a directory, or a\n"
	       "quoted glob.\n\nCommands:\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-11s%s\n", commands[i].name, commands[i].summary);
	printf("\nOptions:\n"
	       "  --help     print this, or after a command what it takes, and exit\n"
	       "  --version  print the version and exit\n"
	       "\nExamples:\n"
	       "    inquest verdict none/ ac/ --objective throughput\n"
	       "    inquest breakdown 'ac.rank*.json.gz'\n"
	       "    inquest COMMAND --help\n");
	return EXIT_ANSWERED;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	if (!word) {
		fprintf(stderr, "inquest: a command is missing; 'inquest --help' lists them\n");
		return EXIT_BAD_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return print_help();
	if (strcmp(word, "--version") == 0) {
		printf("inquest %s\n", inquest_version());
		return EXIT_ANSWERED;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(word, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "inquest: '%s' is no command; 'inquest --help' lists them\n", word);
	return EXIT_BAD_USAGE;
}

int main(int argc, char **argv)
{
	/* Only what characters are: numbers stay as they are in every locale. */
	setlocale(LC_CTYPE, "");
#ifdef M_MMAP_THRESHOLD
	/* Left alone, glibc learns from the first large block that is freed to keep such blocks;
	 * columns then grow in a heap with holes, a fifth more of it. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
	const int code = dispatch(argc, argv);
	const bool had_failed = ferror(stdout);
	errno = 0;
	if (fclose(stdout) != 0 || had_failed) {
		fprintf(stderr, "inquest: the answer could not be written%s%s\n", errno ? ": " : "",
			errno ? strerror(errno) : "");
		return EXIT_BROKEN;
	}
	return code;
}
