/* What `import` tells of the files it wrote. */
#pragma once

#include "render/findings.h"

struct kept_file {
	int32_t rank; /* NULL_I32 if unknown */
	const char *path;
	int64_t bytes;
};

struct kept {
	struct kept_file *files;
	uint32_t count;
	struct findings findings; /* of the reading */
};
