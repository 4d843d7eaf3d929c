/* The handle: what is set, and what comes back. */
#include "library/handle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "store/schema.h"

#define WIDTH_WITHOUT_TERMINAL 100

struct inquest *inquest_new(void)
{
	struct inquest *inquest = mem_new(1, sizeof *inquest, NULL);
	if (!inquest)
		return NULL;
	for (int role = 0; role < ROLE_COUNT; role++)
		inquest->role[role] = (struct role_request){
			.step_ns = NAN, .tokens_per_s = NAN, .tokens = NULL_I64};
	inquest->added_tokens = NULL_I64;
	inquest->memory_limit_bytes = NULL_I64;
	inquest->memory_limit_frac = NAN;
	inquest->path_from = NULL_I32;
	inquest->style.width = WIDTH_WITHOUT_TERMINAL;
	return inquest;
}

void inquest_free(struct inquest *inquest)
{
	if (!inquest)
		return;
	for (int role = 0; role < ROLE_COUNT; role++)
		mem_free(inquest->role[role].path);
	for (uint32_t i = 0; i < inquest->added_count; i++)
		mem_free(inquest->added[i]);
	mem_free(inquest->added);
	mem_free(inquest->rules_path);
	mem_free(inquest->bytes);
	mem_free(inquest);
}

const char *inquest_version(void)
{
	return embedded_version;
}

void handle_reset(struct inquest *inquest)
{
	mem_free(inquest->bytes);
	inquest->bytes = NULL;
	inquest->err = (struct err){0};
}

enum inquest_status handle_status(const struct inquest *inquest)
{
	switch (inquest->err.code) {
	case ERR_NONE:
		return INQUEST_OK;
	case ERR_USAGE:
		return INQUEST_BAD_REQUEST;
	case ERR_INPUT:
		return INQUEST_BAD_INPUT;
	case ERR_IO:
		return INQUEST_IO;
	case ERR_NOMEM:
		return INQUEST_NO_MEMORY;
	default:
		return INQUEST_INTERNAL;
	}
}

void handle_print(struct inquest *inquest, struct report *report, enum inquest_format format)
{
	inquest->bytes = format == INQUEST_MARKDOWN
				 ? report_print_markdown(report, &inquest->err)
				 : report_print_text(report, &inquest->style, &inquest->err);
	report_done(report);
}

void handle_progress(const struct inquest *inquest, const char *doing, const char *what)
{
	char stage[256];
	if (!inquest->progress)
		return;
	snprintf(stage, sizeof stage, "%s %s", doing, what);
	inquest->progress(inquest->progress_data, stage);
}

/* Puts a copy of `text` (NULL: nothing) in the place of what was there. */
static enum inquest_status replace_text(struct inquest *inquest, char **place, const char *text)
{
	char *copy = NULL;
	handle_reset(inquest);
	if (text) {
		copy = mem_new(strlen(text) + 1, 1, &inquest->err);
		if (!copy)
			return INQUEST_NO_MEMORY;
		strcpy(copy, text);
	}
	mem_free(*place);
	*place = copy;
	return INQUEST_OK;
}

static enum inquest_status refuse(struct inquest *inquest, const char *why)
{
	handle_reset(inquest);
	err_set(&inquest->err, ERR_USAGE, "%s", why);
	return INQUEST_BAD_REQUEST;
}

static bool is_role(enum inquest_role role)
{
	return (unsigned)role < ROLE_COUNT;
}

enum inquest_status inquest_set_run(
	struct inquest *inquest, enum inquest_role role, const char *path)
{
	if (!is_role(role))
		return refuse(inquest, "there is no such role");
	return replace_text(inquest, &inquest->role[role].path, path);
}

enum inquest_status inquest_add_run(struct inquest *inquest, const char *path)
{
	handle_reset(inquest);
	if (!path)
		return refuse(inquest, "a run needs a path");
	if (!mem_resize(&inquest->added, (size_t)inquest->added_count + 1, sizeof *inquest->added,
		    &inquest->err))
		return INQUEST_NO_MEMORY;
	inquest->added[inquest->added_count] = NULL;
	const enum inquest_status status =
		replace_text(inquest, &inquest->added[inquest->added_count], path);
	if (status == INQUEST_OK)
		inquest->added_count++;
	return status;
}

void inquest_set_objective(struct inquest *inquest, enum inquest_objective objective)
{
	static const enum objective ours[] = {
		[INQUEST_NO_OBJECTIVE] = OBJECTIVE_NONE,
		[INQUEST_THROUGHPUT] = OBJECTIVE_THROUGHPUT,
		[INQUEST_MEMORY] = OBJECTIVE_MEMORY,
		[INQUEST_FIT] = OBJECTIVE_FIT,
		[INQUEST_BATCH] = OBJECTIVE_BATCH,
		[INQUEST_SEQUENCE] = OBJECTIVE_SEQUENCE,
	};
	inquest->objective =
		(unsigned)objective < OBJECTIVE_COUNT ? ours[objective] : OBJECTIVE_NONE;
}

void inquest_set_base_failed(struct inquest *inquest, bool base_failed)
{
	inquest->base_failed = base_failed;
}

enum inquest_status inquest_set_step_ms(
	struct inquest *inquest, enum inquest_role role, double step_ms)
{
	if (!is_role(role) || !(step_ms > 0) || !isfinite(step_ms * 1e6))
		return refuse(inquest, "a step time is a positive number of milliseconds");
	inquest->role[role].step_ns = step_ms * 1e6;
	return INQUEST_OK;
}

enum inquest_status inquest_set_tokens_per_s(
	struct inquest *inquest, enum inquest_role role, double tokens_per_s)
{
	if (!is_role(role) || !(tokens_per_s > 0) || !isfinite(tokens_per_s))
		return refuse(inquest, "tokens a second are a positive number");
	inquest->role[role].tokens_per_s = tokens_per_s;
	return INQUEST_OK;
}

enum inquest_status inquest_set_tokens(
	struct inquest *inquest, enum inquest_role role, int64_t tokens)
{
	if (!is_role(role) || tokens <= 0)
		return refuse(inquest, "tokens of a step are a positive number");
	inquest->role[role].tokens = tokens;
	return INQUEST_OK;
}

enum inquest_status inquest_set_added_tokens(struct inquest *inquest, int64_t tokens)
{
	if (tokens <= 0)
		return refuse(inquest, "tokens of a step are a positive number");
	inquest->added_tokens = tokens;
	return INQUEST_OK;
}

enum inquest_status inquest_set_memory_limit_bytes(struct inquest *inquest, int64_t bytes)
{
	if (bytes <= 0)
		return refuse(inquest, "a memory limit is a positive number of bytes");
	inquest->memory_limit_bytes = bytes;
	inquest->memory_limit_frac = NAN;
	return INQUEST_OK;
}

enum inquest_status inquest_set_memory_limit_frac(struct inquest *inquest, double frac)
{
	if (!(frac > 0 && frac <= 1))
		return refuse(inquest, "a memory limit is more than 0 and at most all of the GPU");
	inquest->memory_limit_frac = frac;
	inquest->memory_limit_bytes = NULL_I64;
	return INQUEST_OK;
}

enum inquest_status inquest_set_rules(struct inquest *inquest, const char *path)
{
	return replace_text(inquest, &inquest->rules_path, path);
}

void inquest_set_threads(struct inquest *inquest, uint32_t thread_count)
{
	inquest->thread_count = thread_count;
}

void inquest_set_window(struct inquest *inquest, size_t bytes)
{
	inquest->window_bytes = bytes;
}

void inquest_set_path_from(struct inquest *inquest, int32_t rank)
{
	inquest->path_from = rank < 0 ? NULL_I32 : rank;
}

void inquest_set_text_style(
	struct inquest *inquest, uint32_t width, bool has_color, bool has_unicode)
{
	inquest->style = (struct text_style){
		.width = width, .has_color = has_color, .has_unicode = has_unicode};
}

void inquest_set_progress(
	struct inquest *inquest, void (*call)(void *data, const char *stage), void *data)
{
	inquest->progress = call;
	inquest->progress_data = data;
}

const char *inquest_bytes(const struct inquest *inquest, size_t *ret_length)
{
	const char *bytes = inquest->bytes ? inquest->bytes : "";
	if (ret_length)
		*ret_length = strlen(bytes);
	return bytes;
}

const char *inquest_message(const struct inquest *inquest)
{
	return inquest->err.msg;
}

enum inquest_outcome inquest_outcome(const struct inquest *inquest)
{
	return inquest->outcome;
}
