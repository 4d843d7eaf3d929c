#include "compare/comparison.h"

#define WORD(name, word)		     word,
#define CAUSE_WORD(name, word, headline)     word,
#define CAUSE_HEADLINE(name, word, headline) HEADLINE_##headline,

const char *cause_word(enum cause cause)
{
	static const char *const words[] = {CAUSES(CAUSE_WORD)};
	return words[cause];
}

enum headline cause_headline(enum cause cause)
{
	static const enum headline headlines[] = {CAUSES(CAUSE_HEADLINE)};
	return headlines[cause];
}

const char *headline_word(enum headline headline)
{
	static const char *const words[] = {HEADLINES(WORD)};
	return words[headline];
}

bool comparison_is_confounded(const struct comparison *comparison)
{
	return comparison->confounders && comparison->confounders[0];
}

int64_t comparison_hidden_ns(const struct comparison *comparison)
{
	const int64_t recomputed_ns = comparison->causes[CAUSE_RECOMPUTE].ns;
	const int64_t gained_ns = -comparison->causes[CAUSE_LOST_OVERLAP].ns;
	if (comparison->normalised_to_tokens || !comparison->checkpointing_is_only_difference ||
		!comparison->is_job || gained_ns <= 0 || recomputed_ns <= 0)
		return 0;
	return gained_ns < recomputed_ns ? gained_ns : recomputed_ns;
}

void comparison_done(struct comparison *comparison)
{
	arena_done(&comparison->arena);
	*comparison = (struct comparison){0};
}
