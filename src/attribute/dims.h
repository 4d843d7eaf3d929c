/* Reads the shapes text of a host op: 'Input Dims' and 'Input type'.  src/attribute only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DIMS_MAX_INPUTS 16
#define DIMS_MAX_RANK	8

struct dims {
	uint32_t count; /* inputs read */
	uint32_t rank[DIMS_MAX_INPUTS];
	int64_t size[DIMS_MAX_INPUTS][DIMS_MAX_RANK];
	char type[32]; /* the first input's element type, "" if none */
};

/* False when the text is no list of lists of sizes. */
bool dims_read(const char *text, struct dims *ret);

/* The product of an input's sizes; 0 if there is no such input or it has no sizes. */
int64_t dims_elements(const struct dims *dims, uint32_t input);
