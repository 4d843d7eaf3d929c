#include "store/source_words.h"

#include <string.h>

static const char *const words[] = {
	[SOURCE_UNKNOWN] = "unknown",
	[SOURCE_KINETO] = "kineto",
	[SOURCE_NSYS] = "nsys",
	[SOURCE_RECORDER] = "recorder",
};

const char *source_word(enum trace_source source)
{
	return words[source];
}

enum trace_source source_from_word(const char *word)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0)
			return (enum trace_source)i;
	return SOURCE_UNKNOWN;
}
