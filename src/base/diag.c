#include "base/diag.h"

static const struct {
	const char *word;
	enum severity severity;
	const char *meaning;
} kinds[] = {
#define X(name, word, severity, meaning) {word, SEVERITY_##severity, meaning},
	DIAG_KINDS(X)
#undef X
};

void diag_add(struct diag *diag, enum diag_kind kind, int64_t count, int64_t first_byte)
{
	if (count <= 0)
		return;
	struct diag_row *row = &diag->row[kind];
	if (!row->count)
		row->first_byte = first_byte;
	if (__builtin_add_overflow(row->count, count, &row->count))
		row->count = INT64_MAX;
}

void diag_set(struct diag *diag, enum diag_kind kind, int64_t count)
{
	diag->row[kind] = (struct diag_row){.count = count, .first_byte = -1};
}

const char *diag_word(enum diag_kind kind)
{
	return kinds[kind].word;
}

const char *diag_meaning(enum diag_kind kind)
{
	return kinds[kind].meaning;
}

enum severity diag_severity(enum diag_kind kind)
{
	return kinds[kind].severity;
}

const char *severity_word(enum severity severity)
{
	static const char *const words[] = {"info", "data_loss", "error"};
	return words[severity];
}
