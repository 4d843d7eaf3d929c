/* Where `inquest record` finds what it needs, and the folder it records into. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct record_places {
	char collector[PATH_MAX]; /* libinquest-collect.so */
	char hook[PATH_MAX];	  /* the folder with the Python hook */
};

/*
 * Installed, or copied with its folders, they lie in lib/inquest beside bin; built, in the build's
 * own folders.  INQUEST_RECORD_COLLECTOR names another collector.  False with one line in
 * `problem`.
 */
bool record_find_places(struct record_places *ret, char *problem, size_t problem_size);

enum folder_answer {
	FOLDER_READY,
	FOLDER_REFUSED, /* a run is there already */
	FOLDER_FAILED,	/* it can't be made or written to */
};

/*
 * Makes `folder` where it is missing, and gives its absolute name.  A run that is there is refused,
 * or removed with `replace`.
 */
enum folder_answer record_make_folder(
	const char *folder, bool replace, char ret[PATH_MAX], char *problem, size_t problem_size);
