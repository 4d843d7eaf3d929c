/*
 * A file that appears whole or not at all: written under another name in the same directory,
 * synced, then renamed.  Whatever happens in between, atomic_file_done leaves no half file.  Errors
 * don't name the path.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct atomic_file {
	char *path;	 /* the name it shall have */
	char *temporary; /* the name it has until then; NULL once it is committed */
};

/*
 * Creates the temporary file, empty.  ERR_IO also when what is there already is
 * no regular file, since renaming over a device would destroy it.
 */
bool atomic_file_begin(struct atomic_file *ret, const char *path, struct err *err);

/* Syncs and renames.  The file must be closed by now. */
bool atomic_file_commit(struct atomic_file *file, struct err *err);

/* Removes what was not committed.  Takes {0}. */
void atomic_file_done(struct atomic_file *file);
