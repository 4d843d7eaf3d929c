/*
 * Our own files: .inq (SQLite, schemas/trace.sql), and .inq.zst, into a sealed trace.
 * The file may come from anyone; whatever it holds, the answer is a trace or one line.
 *
 * A compressed one is unpacked into a file in TMPDIR (else /var/tmp) that has no name any more once
 * it is open: SQLite reads pages in any order, and traces of gigabytes don't belong in memory.
 */
#pragma once

#include <stdbool.h>

#include "trace/trace.h"

/*
 * `is_zst`: the file is compressed.  The trace's file is the one that was imported, when the
 * writer knew it, so that what is printed doesn't change with the form of the trace.
 * Errors begin with the path: ERR_INPUT for what is no trace of ours, ERR_IO.
 */
bool inq_read(const char *path, bool is_zst, struct trace *ret, struct err *err);
