/* The public interface: what it refuses, what it hands out, and that nothing is lost but the
 * request when memory is. */
#include "inquest/inquest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define SAMPLE(name) SOURCE_ROOT "/samples/" name ".rank*"

static void refuses_nonsense(void **state)
{
	(void)state;
	struct inquest *inquest = inquest_new();
	assert_string_equal(inquest_bytes(inquest, NULL), "");
	assert_int_equal(inquest_outcome(inquest), INQUEST_NOT_ASKED);
	assert_int_equal(inquest_set_step_ms(inquest, INQUEST_BASE, -1), INQUEST_BAD_REQUEST);
	assert_int_equal(
		inquest_set_step_ms(inquest, (enum inquest_role)7, 1), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_set_tokens(inquest, INQUEST_BASE, 0), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_set_memory_limit_frac(inquest, 1.5), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_set_memory_limit_bytes(inquest, 0), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_verdict(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	assert_true(inquest_message(inquest)[0]);
	assert_int_equal(inquest_breakdown(inquest, INQUEST_JSON, false), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_gathers(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_info(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	assert_int_equal(inquest_import(inquest, INQUEST_JSON, "x", false), INQUEST_BAD_REQUEST);
	inquest_free(inquest);
	inquest_free(NULL);
}

static void refuses_what_does_not_fit(void **state)
{
	(void)state;
	struct inquest *inquest = inquest_new();
	inquest_set_run(inquest, INQUEST_CHECKPOINTED, SAMPLE("big_none"));
	inquest_set_objective(inquest, INQUEST_THROUGHPUT);
	assert_int_equal(inquest_verdict(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	inquest_set_run(inquest, INQUEST_BASE, SAMPLE("big_none"));
	inquest_set_base_failed(inquest, true);
	assert_int_equal(inquest_verdict(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	inquest_set_base_failed(inquest, false);
	inquest_set_step_ms(inquest, INQUEST_SPENT, 100);
	assert_int_equal(inquest_verdict(inquest, INQUEST_JSON), INQUEST_BAD_REQUEST);
	assert_non_null(strstr(inquest_message(inquest), "spent"));
	inquest_free(inquest);
}

static void answers_one_question_after_another(void **state)
{
	(void)state;
	struct inquest *inquest = inquest_new();
	size_t length;
	inquest_set_run(inquest, INQUEST_BASE, SAMPLE("big_none"));
	inquest_set_run(inquest, INQUEST_CHECKPOINTED, SAMPLE("big_ac_block"));
	inquest_set_objective(inquest, INQUEST_THROUGHPUT);
	assert_int_equal(inquest_verdict(inquest, INQUEST_TEXT), INQUEST_OK);
	assert_int_equal(inquest_outcome(inquest), INQUEST_UNSPENT);
	assert_memory_equal(inquest_bytes(inquest, &length), "unspent: ", 9);
	assert_int_equal(length, strlen(inquest_bytes(inquest, NULL)));
	assert_string_equal(inquest_message(inquest), "");

	inquest_set_run(inquest, INQUEST_SPENT, SAMPLE("big_ac_block_mb4"));
	assert_int_equal(inquest_verdict(inquest, INQUEST_JSON), INQUEST_OK);
	assert_int_equal(inquest_outcome(inquest), INQUEST_FAILED);
	inquest_set_objective(inquest, INQUEST_MEMORY);
	assert_int_equal(inquest_verdict(inquest, INQUEST_MARKDOWN), INQUEST_OK);
	assert_int_equal(inquest_outcome(inquest), INQUEST_WORKED);

	/* A failure leaves no old answer behind, and the handle can go on. */
	inquest_set_run(inquest, INQUEST_SPENT, SOURCE_ROOT "/samples/nothing.json");
	assert_int_not_equal(inquest_verdict(inquest, INQUEST_TEXT), INQUEST_OK);
	assert_string_equal(inquest_bytes(inquest, NULL), "");
	assert_non_null(strstr(inquest_message(inquest), "nothing.json"));
	inquest_set_run(inquest, INQUEST_SPENT, NULL);
	assert_int_equal(inquest_verdict(inquest, INQUEST_TEXT), INQUEST_OK);
	inquest_free(inquest);
}

static void counts_stages(void *data, const char *stage)
{
	assert_true(stage[0]);
	++*(int *)data;
}

static void tells_what_it_does(void **state)
{
	(void)state;
	struct inquest *inquest = inquest_new();
	int stages = 0;
	inquest_set_progress(inquest, counts_stages, &stages);
	inquest_add_run(inquest, SAMPLE("big_none"));
	assert_int_equal(inquest_gathers(inquest, INQUEST_TEXT), INQUEST_OK);
	assert_int_equal(stages, 2);
	inquest_set_path_from(inquest, 5);
	assert_int_equal(inquest_breakdown(inquest, INQUEST_TEXT, true), INQUEST_BAD_REQUEST);
	inquest_set_path_from(inquest, -1);
	assert_int_equal(inquest_breakdown(inquest, INQUEST_TEXT, true), INQUEST_OK);
	assert_int_equal(inquest_info(inquest, INQUEST_TEXT), INQUEST_OK);
	inquest_free(inquest);
}

/* The answer to a question during which the Nth allocation fails: NULL, or text to be freed. */
static char *ask(int64_t nth, bool *ret_has_failed)
{
	struct inquest *inquest = inquest_new();
	enum inquest_status status = INQUEST_NO_MEMORY;
	inquest_set_threads(inquest, 1);
	inquest_set_objective(inquest, INQUEST_THROUGHPUT);
	mem_fail_after(nth);
	if (inquest_set_run(inquest, INQUEST_BASE, SAMPLE("big_none")) == INQUEST_OK &&
		inquest_set_run(inquest, INQUEST_CHECKPOINTED, SAMPLE("big_ac_block")) ==
			INQUEST_OK)
		status = inquest_verdict(inquest, INQUEST_TEXT);
	*ret_has_failed = mem_has_failed();
	mem_fail_after(0);
	char *text = status == INQUEST_OK ? strdup(inquest_bytes(inquest, NULL)) : NULL;
	if (!text)
		assert_int_equal(status, INQUEST_NO_MEMORY);
	inquest_free(inquest);
	return text;
}

/* A pair of real traces makes thousands of allocations: the first ones fail one by one, then ever
 * fewer do.  Giving memory back may fail in silence; then the answer is the same. */
static void allocations_may_fail(void **state)
{
	(void)state;
	bool has_failed = false;
	char *expected = ask(0, &has_failed);
	assert_non_null(expected);
	uint32_t refused = 0;
	has_failed = true;
	for (int64_t nth = 1; has_failed; nth += 1 + nth / 20) {
		char *text = ask(nth, &has_failed);
		assert_true(text || has_failed);
		if (text)
			assert_string_equal(text, expected);
		else
			refused++;
		free(text);
	}
	assert_true(refused > 50);
	free(expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(refuses_what_does_not_fit),
		cmocka_unit_test(answers_one_question_after_another),
		cmocka_unit_test(tells_what_it_does),
		cmocka_unit_test(allocations_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
