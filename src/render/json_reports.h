/*
 * The five JSON documents, as schemas/ has them.  Each returns NUL-terminated bytes with a newline
 * at their end, to be freed with mem_free, or NULL.
 */
#pragma once

#include "render/inventory.h"
#include "render/kept.h"
#include "verdict/answer.h"

char *json_info(const struct inventory *inventory, struct err *err);
char *json_import(const struct kept *kept, struct err *err);
char *json_breakdown(const struct breakdown *const *runs, uint32_t run_count, struct err *err);
char *json_gathers(const struct breakdown *const *runs, uint32_t run_count, struct err *err);
char *json_verdict(const struct answer *answer, struct err *err);
