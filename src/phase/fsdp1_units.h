/*
 * FSDP1's ranges name no unit.  Units are told by the order in which their forwards run: backward
 * meets them in reverse, one post-backward hook each, and message sizes check the result.
 * src/phase only.
 */
#pragma once

#include "phase/phases.h"

/*
 * Sets `unit` of the all-gathers that were launched in FSDP1's hooks; `order` holds them by launch
 * time.  One whose size contradicts its place keeps the unit unknown.
 */
bool fsdp1_name_units(const struct trace *trace, struct phases *phases, const uint32_t *order,
	uint32_t order_count, struct err *err);
