/* The words of objectives, verdicts and roles. */
#include "verdict/verdict.h"

#define WORD_ITEM(name, word) word,

const char *objective_word(enum objective objective)
{
	static const char *const words[] = {OBJECTIVES(WORD_ITEM)};
	return words[objective];
}

const char *verdict_text(enum verdict_word verdict)
{
	static const char *const words[] = {VERDICTS(WORD_ITEM)};
	return words[verdict];
}

const char *role_word(enum run_role role)
{
	static const char *const words[] = {ROLES(WORD_ITEM)};
	return words[role];
}
