/*
 * Where a text ends whose quotes may not all be escaped, by what follows each of them; the rules
 * are in json_scan.h.  Called by the scanner when it is told to repair.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct byte_window;

enum repair {
	REPAIR_UNNEEDED,  /* the first quote fits */
	REPAIR_NEEDED,	  /* a later one does */
	REPAIR_CUT,	  /* the bytes end before */
	REPAIR_IMPOSSIBLE /* none does within reason */
};

/*
 * The length of the text whose opening quote is at the window's `at`.  `is_value`: it is the value
 * of an object's key, not a key or an item.
 */
enum repair json_repair_measure(struct byte_window *window, bool is_value, size_t *ret_length);
