/*
 * A line on stderr that says what is being done, for work of more than a second and only on a
 * terminal.
 */
#pragma once

#include "inquest/inquest.h"

/* From now on the handle's stages are shown.  Without a terminal, nothing is. */
void progress_begin(struct inquest *inquest);

/* Wipes the line; nothing is shown from here on. */
void progress_end(void);
