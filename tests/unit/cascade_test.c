/*
 * The Nth allocation fails, for every N at first and then for some, all the way from the files of a
 * recorded run to a comparison: nothing crashes, nothing is lost but the request, and the error
 * says what it was.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "attribute/analysis.h"
#include "base/mem.h"
#include "compare/pair.h"
#include "read/run.h"

#define SAMPLE	  SOURCE_ROOT "/samples/big_none.*.json.zst"
#define OTHER	  SOURCE_ROOT "/samples/big_ac_block.*.json.zst"
#define EVERY	  150 /* so many first allocations fail one by one */
#define THEN_FRAC 5   /* then each is so much later, as a part of its number */
#define A_THREAD  512 /* bytes the C library keeps with the stack of an ended thread */

struct work {
	struct run run, other;
	struct rules *rules;
	struct breakdown base, checkpointed;
};

/* One thing that allocates; what it made is freed again. */
typedef bool (*attempt)(struct work *work, struct err *err);

/* A table that can't be made smaller stays as large: that may go on, with the same rows. */
static bool read_run(struct work *work, struct err *err)
{
	const struct read_options options = {.thread_count = 1};
	struct run run;
	if (!run_read(SAMPLE, &options, &run, err))
		return false;
	assert_int_equal(run.trace_count, work->run.trace_count);
	for (uint32_t t = 0; t < run.trace_count; t++) {
		assert_int_equal(
			run.traces[t].gpu_ops.head.count, work->run.traces[t].gpu_ops.head.count);
		assert_int_equal(
			run.traces[t].host_ops.head.count, work->run.traces[t].host_ops.head.count);
	}
	run_done(&run);
	return true;
}

static bool load_rules(struct work *work, struct err *err)
{
	(void)work;
	struct rules *rules = rules_load(NULL, err);
	rules_free(rules);
	return rules != NULL;
}

static bool break_down(struct work *work, struct err *err)
{
	const struct analysis_options options = {
		.tokens_per_step = NULL_I64, .thread_count = 1, .keep_intervals = true};
	struct breakdown breakdown;
	if (!breakdown_make(&work->run, work->rules, &options, &breakdown, err))
		return false;
	breakdown_done(&breakdown);
	return true;
}

static bool compare(struct work *work, struct err *err)
{
	struct comparison comparison;
	if (!compare_runs(&work->base, &work->checkpointed, &comparison, err))
		return false;
	comparison_done(&comparison);
	return true;
}

/* Fails each chosen allocation of the attempt in turn, until there are no more. */
static void fail_each(struct work *work, attempt try, int64_t at_least)
{
	for (int64_t nth = 1;; nth += nth < EVERY ? 1 : nth / THEN_FRAC) {
		struct err err = {0};
		const size_t before = mallinfo2().uordblks;
		mem_fail_after(nth);
		const bool ok = try(work, &err);
		const bool failed = mem_has_failed();
		mem_fail_after(0);
		if ((ok != !failed && try != read_run) || err.code != (ok ? ERR_NONE : ERR_NOMEM))
			fail_msg("allocation %lld: %d, %s", (long long)nth, ok, err.msg);
		if (mallinfo2().uordblks > before + A_THREAD)
			fail_msg("allocation %lld: %zu bytes are lost", (long long)nth,
				mallinfo2().uordblks - before);
		if (!failed) {
			assert_true(nth >= at_least);
			return;
		}
	}
}

static void setup(struct work *work)
{
	struct err err = {0};
	const struct read_options options = {.thread_count = 1};
	const struct analysis_options analysis = {.tokens_per_step = NULL_I64, .thread_count = 1};
	*work = (struct work){.rules = rules_load(NULL, &err)};
	assert_non_null(work->rules);
	assert_true(run_read(SAMPLE, &options, &work->run, &err));
	assert_true(run_read(OTHER, &options, &work->other, &err));
	assert_int_equal(work->run.trace_count, 2);
	assert_true(breakdown_make(&work->run, work->rules, &analysis, &work->base, &err));
	assert_true(
		breakdown_make(&work->other, work->rules, &analysis, &work->checkpointed, &err));
}

static void every_stage(void **state)
{
	(void)state;
	static struct work work;
	setup(&work);
	fail_each(&work, load_rules, 20);
	fail_each(&work, read_run, 200);
	fail_each(&work, break_down, 100);
	fail_each(&work, compare, 2);
	breakdown_done(&work.base);
	breakdown_done(&work.checkpointed);
	run_done(&work.run);
	run_done(&work.other);
	rules_free(work.rules);
}

/*
 * The C library counts what it keeps for each thread's next requests as in use: how much that is
 * depends on timing.  Without that cache the count is that of the blocks.  It is read at the start
 * of a program only.
 */
static void count_blocks_only(char *argv[])
{
	static const char name[] = "GLIBC_TUNABLES", value[] = "glibc.malloc.tcache_count=0";
	const char *now = getenv(name);
	if ((now && strcmp(now, value) == 0) || setenv(name, value, 1) != 0)
		return;
	execv("/proc/self/exe", argv);
}

int main(int argc, char *argv[])
{
	(void)argc;
	count_blocks_only(argv);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_stage),
	};
	return cmocka_run_group_tests_name("cascade", tests, NULL, NULL);
}
