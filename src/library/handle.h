/*
 * What stands behind the opaque handle of inquest/inquest.h, for src/library only: the request as
 * it was set, and the last answer.
 */
#pragma once

#include "base/err.h"
#include "inquest/inquest.h"
#include "render/report.h"
#include "verdict/verdict.h"

struct role_request {
	char *path;		      /* NULL: no such run */
	double step_ns, tokens_per_s; /* NaN: not given */
	int64_t tokens;		      /* NULL_I64: not given */
};

struct inquest {
	struct role_request role[ROLE_COUNT];
	char **added; /* paths */
	uint32_t added_count;
	int64_t added_tokens; /* NULL_I64: not given */
	enum objective objective;
	bool base_failed;
	int64_t memory_limit_bytes; /* NULL_I64: none */
	double memory_limit_frac;   /* NaN: none */
	char *rules_path;	    /* NULL: the built-in ones */
	uint32_t thread_count;
	size_t window_bytes;
	int32_t path_from; /* NULL_I32: the last rank to arrive */
	struct text_style style;
	void (*progress)(void *data, const char *stage);
	void *progress_data;

	char *bytes; /* the answer, NULL before one */
	struct err err;
	enum inquest_outcome outcome;
};

/* Forgets the last answer; the first thing every question does. */
void handle_reset(struct inquest *inquest);

/* The status of inquest->err. */
enum inquest_status handle_status(const struct inquest *inquest);

/* Takes the report: text or markdown of it is the answer. */
void handle_print(struct inquest *inquest, struct report *report, enum inquest_format format);

/* Tells the progress callback, if there is one. */
void handle_progress(const struct inquest *inquest, const char *doing, const char *what);
