/* What each command says, as blocks of a report. */
#pragma once

#include "render/inventory.h"
#include "render/kept.h"
#include "render/report.h"
#include "verdict/answer.h"

/* The answer first, then what it rests on. */
void report_verdict(struct report *report, const struct answer *answer);

/* The causes of the difference, with bars, and the evidence behind them; part of the verdict. */
void report_causes(struct report *report, const struct answer *answer);

/* The observations behind the larger causes; last, for who checks. */
void report_evidence(struct report *report, const struct answer *answer);

/* The partition of the path and of the ranks, averaged over the used steps; `has_steps` adds every
 * step. */
void report_breakdown(struct report *report, const struct breakdown *const *runs,
	uint32_t run_count, bool has_steps);

void report_gathers(struct report *report, const struct breakdown *const *runs, uint32_t run_count);

void report_info(struct report *report, const struct inventory *inventory);

/* The files that were written. */
void report_import(struct report *report, const struct kept *kept);

/* Who was waited for, a table; one line where nobody was, or where one rank is always late.  For
 * runs of several ranks. */
void report_stragglers(struct report *report, const struct breakdown *run,
	const struct straggler *stragglers, uint32_t count);

/* The diagnostics: what is lost or wrong in full, the rest by name; all in full if `in_full`. */
void report_findings(struct report *report, const struct findings *findings, bool in_full);
