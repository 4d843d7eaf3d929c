/*
 * What a name says, decided once a distinct name: which API calls are pure queries and left out,
 * which host ops keep their shapes, which kernels are collectives.  Also the words of c10d.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

enum name_flag {
	NAME_IS_KNOWN = 1,     /* the others were decided */
	NAME_IS_QUERY = 2,     /* an API call that neither launches, waits nor allocates */
	NAME_KEEPS_SHAPES = 4, /* a host op whose FLOPs or tokens are counted */
	NAME_IS_NCCL = 8,      /* a kernel of NCCL or RCCL */
	NAME_IS_BACKWARD = 16, /* the autograd engine at work */
	NAME_IS_COMMS = 32,    /* record_param_comms */
	NAME_IS_STEP = 64,     /* ProfilerStep# */
	NAME_IS_LAUNCH = 128,  /* an API call that launches a kernel */
};

uint8_t name_flags_of(const char *name);

/* From `Collective name`, or from a kernel's name. */
enum collective_kind collective_kind_of(const char *name);

/* Bytes of one element of c10d's or NCCL's `dtype`, 0 if unknown. */
int64_t dtype_bytes(const char *dtype);
