/* Merges diagnostics. */
#include "render/findings.h"

#include <stddef.h>

static void add(struct findings *findings, int kind, const struct diag_row *row, const char *file)
{
	struct diag_row *sum = &findings->diag.row[kind];
	if (!row->count)
		return;
	if (!sum->count) {
		sum->first_byte = row->first_byte;
		findings->file[kind] = file;
	}
	sum->count += row->count;
}

void findings_add_trace(struct findings *findings, const struct diag *diag, const char *file)
{
	for (int kind = 0; kind < DIAG_KIND_COUNT; kind++)
		add(findings, kind, &diag->row[kind], file);
}

void findings_add_run(
	struct findings *findings, const struct diag *diag, const char *const file[DIAG_KIND_COUNT])
{
	for (int kind = 0; kind < DIAG_KIND_COUNT; kind++)
		add(findings, kind, &diag->row[kind], file[kind]);
}
