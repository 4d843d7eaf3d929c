/* Memory peaks, and what the allocator's retries cost (DESIGN section 5).  src/attribute only. */
#pragma once

#include "attribute/breakdown.h"
#include "attribute/ranks.h"

void memory_use_make(const struct rank_analysis *rank, const bool *used, struct memory_use *ret);
