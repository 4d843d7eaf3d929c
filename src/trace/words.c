#include "trace/words.h"

#define WORD(name, word) word,

const char *state_word(enum state state)
{
	static const char *const words[] = {STATES(WORD)};
	return words[state];
}

const char *phase_word(enum phase phase)
{
	static const char *const words[] = {PHASES(WORD)};
	return words[phase];
}

const char *holder_word(enum holder holder)
{
	static const char *const words[] = {HOLDERS(WORD)};
	return words[holder];
}

const char *gather_word(enum gather_reason reason)
{
	static const char *const words[] = {GATHER_REASONS(WORD)};
	return words[reason];
}

const char *starve_word(enum starve_reason reason)
{
	static const char *const words[] = {STARVE_REASONS(WORD)};
	return words[reason];
}

const char *how_word(enum how how)
{
	static const char *const words[] = {HOWS(WORD)};
	return words[how];
}
