/*
 * CUPTI's records and NCCL's collectives as rows, and what is counted beside them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collect/notes.h"
#include "collect/records.h"

/* Facts that grow with the rows; written down at each commit. */
struct row_counts {
	uint64_t untimed;  /* GPU ops that CUPTI had no times for, left out */
	uint64_t negative; /* that end before they start; given no length */
	uint64_t foreign;  /* whose time is of no clock of ours, left out */
	uint64_t collectives;
};

void rows_begin(int64_t base_ns);
void rows_take_record(const struct record *record);
void rows_take_collective(const struct note *note);

const struct row_counts *rows_counts(void);

/* Name, memory and overheads, as far as they are known by now. */
void rows_write_facts(void);
