/*
 * The library behind the command: traces of training runs in, an answer out, as text, JSON or
 * markdown.
 *
 *	struct inquest *inquest = inquest_new();
 *	inquest_set_run(inquest, INQUEST_BASE, "none/");
 *	inquest_set_run(inquest, INQUEST_CHECKPOINTED, "ac/");
 *	inquest_set_objective(inquest, INQUEST_THROUGHPUT);
 *	if (inquest_verdict(inquest, INQUEST_JSON) == INQUEST_OK)
 *		puts(inquest_bytes(inquest, NULL));
 *	else
 *		fprintf(stderr, "%s\n", inquest_message(inquest));
 *	inquest_free(inquest);
 *
 * One handle answers one question after another; what was set stays set.  Handles are independent
 * of each other; one handle is used by one thread at a time (it starts threads of its own).
 * Strings passed in are copied.  Strings handed out belong to the handle and are valid until its
 * next question or inquest_free.  Nothing here prints, exits, reads the environment or changes the
 * locale.
 */
#ifndef INQUEST_INQUEST_H
#define INQUEST_INQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INQUEST_API __attribute__((visibility("default")))
#else
#define INQUEST_API
#endif

struct inquest;

enum inquest_status {
	INQUEST_OK,
	INQUEST_BAD_REQUEST, /* the question makes no sense */
	INQUEST_BAD_INPUT,   /* a trace can't be read, or holds no GPU op where one is needed */
	INQUEST_IO,	     /* the system failed in reading or writing */
	INQUEST_NO_MEMORY,
	INQUEST_INTERNAL, /* a mistake in the library: a sum that does not close */
};

enum inquest_role {
	INQUEST_BASE,	      /* without activation checkpointing */
	INQUEST_CHECKPOINTED, /* with it */
	INQUEST_SPENT,	      /* with it, and with the freed memory used */
};

enum inquest_objective {
	INQUEST_NO_OBJECTIVE, /* each is answered, none decides */
	INQUEST_THROUGHPUT,
	INQUEST_MEMORY,
	INQUEST_FIT,
	INQUEST_BATCH,
	INQUEST_SEQUENCE,
};

enum inquest_outcome {
	INQUEST_NOT_ASKED, /* no verdict was asked for since the handle was made */
	INQUEST_WORKED,
	INQUEST_UNSPENT,
	INQUEST_FAILED,
	INQUEST_INCONCLUSIVE,
	INQUEST_NOT_COMPARABLE,
	INQUEST_OPEN, /* no objective was given */
};

enum inquest_format {
	INQUEST_TEXT,
	INQUEST_JSON,
	INQUEST_MARKDOWN,
};

/* NULL when memory is out. */
INQUEST_API struct inquest *inquest_new(void);
INQUEST_API void inquest_free(struct inquest *inquest); /* NULL is fine */

/* "0.1.0" */
INQUEST_API const char *inquest_version(void);

/*
 * The runs.  A run is a file, a directory or a glob.  A verdict uses the runs set by role, the
 * other questions those added, in their order.  `path` NULL takes a role's run away.
 */
INQUEST_API enum inquest_status inquest_set_run(
	struct inquest *inquest, enum inquest_role role, const char *path);
INQUEST_API enum inquest_status inquest_add_run(struct inquest *inquest, const char *path);

/* What the question is, and what the caller knows beside the traces. */
INQUEST_API void inquest_set_objective(struct inquest *inquest, enum inquest_objective objective);
INQUEST_API void inquest_set_base_failed(struct inquest *inquest, bool base_failed);

/* > 0; of the training log, without a profiler.  One of the two a role. */
INQUEST_API enum inquest_status inquest_set_step_ms(
	struct inquest *inquest, enum inquest_role role, double step_ms);
INQUEST_API enum inquest_status inquest_set_tokens_per_s(
	struct inquest *inquest, enum inquest_role role, double tokens_per_s);

/* > 0; tokens of one optimizer step over all ranks: of a role's run, or of those added. */
INQUEST_API enum inquest_status inquest_set_tokens(
	struct inquest *inquest, enum inquest_role role, int64_t tokens);
INQUEST_API enum inquest_status inquest_set_added_tokens(struct inquest *inquest, int64_t tokens);

/* What a GPU may hold: bytes, or a fraction of its memory, 0 to 1.  The later call counts. */
INQUEST_API enum inquest_status inquest_set_memory_limit_bytes(
	struct inquest *inquest, int64_t bytes);
INQUEST_API enum inquest_status inquest_set_memory_limit_frac(struct inquest *inquest, double frac);

/* A file of rules, tried before the built-in ones; NULL for those alone. */
INQUEST_API enum inquest_status inquest_set_rules(struct inquest *inquest, const char *path);

/* Ranks at once, 0 for the number of cores; bytes of the window a file is read through, 0 for the
 * default; the rank that the job path starts on, -1 for the last to arrive.  None changes what the
 * traces say. */
INQUEST_API void inquest_set_threads(struct inquest *inquest, uint32_t thread_count);
INQUEST_API void inquest_set_window(struct inquest *inquest, size_t bytes);
INQUEST_API void inquest_set_path_from(struct inquest *inquest, int32_t rank);

/* How text is laid out: columns (100 at first), and whether colours and block characters may be
 * used.  The latter needs a UTF-8 locale in LC_CTYPE. */
INQUEST_API void inquest_set_text_style(
	struct inquest *inquest, uint32_t width, bool has_color, bool has_unicode);

/* Called before each stage with what comes now, as "reading none/"; for a line of progress. */
INQUEST_API void inquest_set_progress(
	struct inquest *inquest, void (*call)(void *data, const char *stage), void *data);

/* The questions.  After INQUEST_OK, inquest_bytes has the answer; after anything else,
 * inquest_message has one line that says why. */
INQUEST_API enum inquest_status inquest_verdict(
	struct inquest *inquest, enum inquest_format format);
INQUEST_API enum inquest_status inquest_breakdown(
	struct inquest *inquest, enum inquest_format format, bool has_steps);
INQUEST_API enum inquest_status inquest_gathers(
	struct inquest *inquest, enum inquest_format format);
INQUEST_API enum inquest_status inquest_info(struct inquest *inquest, enum inquest_format format);

/* Writes one SQLite file a rank into `directory`, which is made where it is missing; the answer
 * names them, as text one a line.  Needs exactly one added run.  A file appears whole or not at
 * all; it replaces one of its name that inquest wrote, and no other. */
INQUEST_API enum inquest_status inquest_import(
	struct inquest *inquest, enum inquest_format format, const char *directory, bool compress);

/*
 * Finishes what `inquest record` left in `directory`, once the recorded processes have ended, also
 * where they were killed: each .inq file is sealed, names are demangled, a file without content is
 * removed.  `compress` makes .inq.zst files.  The answer is a line a file, one that could not be
 * finished too; `ret_kept` is how many files are there.
 */
INQUEST_API enum inquest_status inquest_finish(
	struct inquest *inquest, const char *directory, bool compress, uint32_t *ret_kept);

/* NUL-terminated; `ret_length`, which may be NULL, is without the NUL.  "" before an answer. */
INQUEST_API const char *inquest_bytes(const struct inquest *inquest, size_t *ret_length);

/* "" after INQUEST_OK. */
INQUEST_API const char *inquest_message(const struct inquest *inquest);

/* The word of the last verdict. */
INQUEST_API enum inquest_outcome inquest_outcome(const struct inquest *inquest);

#ifdef __cplusplus
}
#endif

#endif
