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

void comparison_done(struct comparison *comparison)
{
	arena_done(&comparison->arena);
	*comparison = (struct comparison){0};
}
