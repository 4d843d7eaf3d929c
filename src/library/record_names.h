/*
 * Kernel names as people write them: the recorder stores what CUPTI says, which is C++'s mangled
 * form.  Demangling is libstdc++'s, linked in as one object of its static archive (libiberty's is
 * the same code, in a package more): names are then those of a PyTorch trace, to the letter.
 */
#pragma once

#include <stdbool.h>

#include "trace/trace.h"

/*
 * Renames the GPU ops of a sealed trace and drops the strings that nothing refers to any more.  The
 * trace is sealed anew, since names are part of the order.  A name that can't be demangled stays.
 */
bool record_names_demangle(struct trace *trace, struct err *err);
