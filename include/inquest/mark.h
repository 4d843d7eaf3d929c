/*
 * Markers for trainers in C and C++: they tell `inquest record` where steps, passes and checkpoint
 * regions are, as its Python hook does for PyTorch.  Header only, over NVTX 3 (any viewer of NVTX
 * shows them as ranges); without a tool attached a marker costs a nanosecond or, where it has a
 * number in it, the time to print it.
 *
 *     for (int64_t n = 0; n < steps; n++) {
 *             inquest_step_begin(n);
 *             inquest_forward_begin();
 *             inquest_checkpoint_begin(3, "layers.3");  // a region's forward
 *             inquest_checkpoint_end();
 *             inquest_forward_end();
 *             inquest_backward_begin();
 *             inquest_recompute_begin(3, "layers.3");   // the same region, run again
 *             inquest_recompute_end();
 *             inquest_backward_end();
 *             inquest_optimizer_begin();
 *             inquest_optimizer_end();
 *             inquest_value("tokens", 8192);
 *             inquest_step_end();
 *     }
 *
 * Ranges nest, and end on the thread that began them; a step runs from the end of the one before.
 * Values are of the step at hand: peak_allocated_bytes, peak_reserved_bytes, alloc_retries, tokens
 * (this rank's), micro_batch, sequence_length, forward_flop, recompute_flop, backward_flop.
 * In C++ a range may be an object, which ends it: `inquest::checkpoint mark(3, "layers.3");`.
 *
 * INQUEST_MARK_IS_ON says whether markers are compiled in: they are where <nvtx3/nvToolsExt.h> is
 * found and neither INQUEST_MARK_DISABLE nor NVTX_DISABLE is defined; else all this is empty.
 */
#ifndef INQUEST_MARK_H
#define INQUEST_MARK_H

#include <stdint.h>

#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>) && !defined(INQUEST_MARK_DISABLE) && !defined(NVTX_DISABLE)
#define INQUEST_MARK_IS_ON 1
#endif
#endif
#ifndef INQUEST_MARK_IS_ON
#define INQUEST_MARK_IS_ON 0
#endif

#if INQUEST_MARK_IS_ON
#include <inttypes.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#endif

/* As long as a text may be in the recording. */
#define INQUEST_MARK_TEXT_MAX 240

/* Opens a range of any text; what begins with "inquest:" has a meaning, see the functions below. */
static inline void inquest_range_begin(const char *text)
{
#if INQUEST_MARK_IS_ON
	(void)nvtxRangePushA(text);
#else
	(void)text;
#endif
}

/* Closes the thread's innermost range. */
static inline void inquest_range_end(void)
{
#if INQUEST_MARK_IS_ON
	(void)nvtxRangePop();
#endif
}

/* Optimizer step n, the first range of a step. */
static inline void inquest_step_begin(int64_t n)
{
#if INQUEST_MARK_IS_ON
	char text[INQUEST_MARK_TEXT_MAX + 1];
	(void)snprintf(text, sizeof text, "inquest:step:%" PRId64, n);
	inquest_range_begin(text);
#else
	(void)n;
#endif
}

/* A forward pass, one a micro-batch. */
static inline void inquest_forward_begin(void)
{
	inquest_range_begin("inquest:forward");
}

/* A backward pass, on the thread that asks for it. */
static inline void inquest_backward_begin(void)
{
	inquest_range_begin("inquest:backward");
}

/* The optimizer's update. */
static inline void inquest_optimizer_begin(void)
{
	inquest_range_begin("inquest:optimizer");
}

static inline void inquest_region_begin_(const char *what, int64_t region, const char *name)
{
#if INQUEST_MARK_IS_ON
	char text[INQUEST_MARK_TEXT_MAX + 1];
	(void)snprintf(
		text, sizeof text, "inquest:%s:%" PRId64 ":%s", what, region, name ? name : "");
	inquest_range_begin(text);
#else
	(void)what;
	(void)region;
	(void)name;
#endif
}

/* The forward of a checkpoint region: its number, the same whenever it runs, and a name or NULL. */
static inline void inquest_checkpoint_begin(int64_t region, const char *name)
{
	inquest_region_begin_("checkpoint", region, name);
}

/* That region's recomputation inside backward. */
static inline void inquest_recompute_begin(int64_t region, const char *name)
{
	inquest_region_begin_("recompute", region, name);
}

/* Each closes the thread's innermost range; the names are for whoever reads the trainer. */
static inline void inquest_step_end(void)
{
	inquest_range_end();
}
static inline void inquest_forward_end(void)
{
	inquest_range_end();
}
static inline void inquest_backward_end(void)
{
	inquest_range_end();
}
static inline void inquest_optimizer_end(void)
{
	inquest_range_end();
}
static inline void inquest_checkpoint_end(void)
{
	inquest_range_end();
}
static inline void inquest_recompute_end(void)
{
	inquest_range_end();
}

/* A number of the step at hand. */
static inline void inquest_value(const char *name, int64_t number)
{
#if INQUEST_MARK_IS_ON
	char text[INQUEST_MARK_TEXT_MAX + 1];
	(void)snprintf(text, sizeof text, "inquest:value:%s:%" PRId64, name ? name : "", number);
	nvtxMarkA(text);
#else
	(void)name;
	(void)number;
#endif
}

#ifdef __cplusplus
namespace inquest
{
/* What the ranges below have in common: not copied, ended by the destructor. */
class open_range
{
      public:
	open_range(const open_range &) = delete;
	open_range &operator=(const open_range &) = delete;

      protected:
	open_range() = default;
	~open_range()
	{
		inquest_range_end();
	}
};

struct range : open_range {
	explicit range(const char *text)
	{
		inquest_range_begin(text);
	}
};

struct step : open_range {
	explicit step(int64_t n)
	{
		inquest_step_begin(n);
	}
};

struct forward : open_range {
	forward()
	{
		inquest_forward_begin();
	}
};

struct backward : open_range {
	backward()
	{
		inquest_backward_begin();
	}
};

struct optimizer : open_range {
	optimizer()
	{
		inquest_optimizer_begin();
	}
};

struct checkpoint : open_range {
	explicit checkpoint(int64_t region, const char *name = nullptr)
	{
		inquest_checkpoint_begin(region, name);
	}
};

struct recompute : open_range {
	explicit recompute(int64_t region, const char *name = nullptr)
	{
		inquest_recompute_begin(region, name);
	}
};
} // namespace inquest
#endif

#endif
