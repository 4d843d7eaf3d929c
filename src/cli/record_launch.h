/*
 * Runs the command that is recorded, as if `inquest record` were not there: same terminal, same
 * standard streams, every signal once, its exit code.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct record_request {
	const char *folder;		      /* absolute */
	const char *collector;		      /* absolute */
	const char *hook;		      /* absolute; NULL: no Python hook */
	const char *steps, *after, *duration; /* as given; NULL: none */
	bool has_flops;
	char **command; /* NULL-terminated */
};

/* Others end with their reader, or at a limit of file size; this one has a command to see to its
 * end and files to finish.  The command gets the signals as they were. */
void record_ignore_signals(void);

/* Whether another tool already sits where the recorder would; one line in `problem`. */
bool record_is_taken(char *problem, size_t problem_size);

/*
 * The command's exit code, 128 and the signal's number when one ended it, as a shell has it; 127 or
 * 126 with a line on stderr when it can't be run, and then `ret_has_run` is false.
 */
int record_launch(const struct record_request *request, bool *ret_has_run);
