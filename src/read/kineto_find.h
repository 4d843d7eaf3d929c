/*
 * Where to go on in a trace after bytes that are no JSON.  Called by kineto alone.
 */
#pragma once

#include <stdbool.h>

struct byte_window;

/*
 * Goes on to what looks like the start of another event (its brace is next), or like the end of the
 * list (its bracket is next).  `last` is the byte before, or NUL.  False at the end of the bytes.
 */
bool kineto_find_event(struct byte_window *window, char last);

/* Goes on to a key of the document that we know.  False at the end of the bytes. */
bool kineto_find_key(struct byte_window *window);
