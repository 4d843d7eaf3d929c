/* What is printed: laws of the layout, the JSON against the words, hostile names. */
#include "render/reports.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/mem.h"
#include "base/text.h"
#include "render/json_reports.h"
#include "sample_runs.h"

static struct sample_run base, checkpointed;
static struct comparison comparison;
static struct answer answer;

static int make(void **state)
{
	(void)state;
	struct err err = {0};
	sample_run_fill(&base, "big_none", 0, INT64_C(25222447104));
	sample_run_fill(&checkpointed, "big_ac_block", 28, INT64_C(18408800256));
	comparison = sample_comparison();
	const struct answer_input input =
		sample_question(OBJECTIVE_THROUGHPUT, &base, &checkpointed, &comparison);
	return answer_make(&input, &answer, &err) ? 0 : -1;
}

static int done(void **state)
{
	(void)state;
	answer_done(&answer);
	return 0;
}

static char *verdict_text_of(uint32_t width, bool has_color)
{
	const struct text_style style = {.width = width, .has_color = has_color};
	struct report report = {0};
	struct err err = {0};
	report_verdict(&report, &answer);
	char *text = report_print_text(&report, &style, &err);
	assert_non_null(text);
	report_done(&report);
	return text;
}

static void lines_fit_the_width(void **state)
{
	(void)state;
	static const uint32_t widths[] = {72, 80, 100, 120, 200};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		char *text = verdict_text_of(widths[i], false);
		assert_null(strchr(text, '\033'));
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
			const size_t length = strcspn(line, "\n");
			assert_true(length <= widths[i]);
			assert_true(!length || line[length - 1] != ' ');
		}
		mem_free(text);
	}
}

static void the_answer_comes_first(void **state)
{
	(void)state;
	char *text = verdict_text_of(100, false);
	assert_memory_equal(text, "unspent: the step went from 132.0 to 160.0 ms", 45);
	mem_free(text);
	text = verdict_text_of(100, true);
	assert_memory_equal(text, "\033[33munspent\033[0m: the step", 25);
	mem_free(text);
}

/* Bars: 30 ms to the right, 2 ms to the left, of one scale. */
static void bars_have_two_sides(void **state)
{
	(void)state;
	char *text = verdict_text_of(100, false);
	const char *up = strstr(text, "    recompute "), *down = strstr(text, "    lost_overlap ");
	assert_non_null(up);
	assert_non_null(down);
	const size_t up_start = strcspn(up, "#"), down_end = strcspn(down, "-") + 4;
	assert_true(strspn(up + up_start, "#") > 30);
	/* After "-2.0" come blanks and the bar, which ends where the other begins. */
	const char *bar = down + down_end + strcspn(down + down_end, "-");
	const size_t length = strspn(bar, "-");
	assert_true(length >= 1 && length <= 4);
	assert_int_equal((size_t)(bar - down) + length, up_start);
	mem_free(text);
}

/* The path that stays on a late rank is said in one sentence with who waits for it. */
static void a_rank_that_is_always_late(void **state)
{
	(void)state;
	static struct sample_run run;
	sample_run_fill(&run, "late", 0, 1 << 30);
	struct part ahead[] = {sample_part(STATE_BLOCKED, WORD_NONE, HOLDER_ALL_GATHER,
				       GATHER_FORWARD, 60 * SAMPLE_MS),
		sample_part(STATE_BUSY, PHASE_FORWARD, WORD_NONE, WORD_NONE, 72 * SAMPLE_MS)};
	struct rank_result ranks[] = {run.rank, run.rank};
	struct step_part steps[] = {run.steps[0], run.steps[1]};
	for (int i = 0; i < 2; i++) {
		steps[i].parts = (struct part_list){.items = ahead, .count = 2};
		run.path[i].hop_count = 0;
	}
	for (size_t i = 0; i < sizeof run.parts / sizeof *run.parts; i++)
		run.parts[i].rank = 0;
	ranks[1].rank = 1;
	ranks[1].steps = steps;
	run.breakdown.ranks = ranks;
	run.breakdown.rank_count = 2;
	struct report report = {0};
	struct err err = {0};
	const struct text_style style = {.width = 200};
	report_stragglers(&report, &run.breakdown, NULL, 0);
	char *text = report_print_text(&report, &style, &err);
	assert_non_null(text);
	assert_non_null(strstr(text,
		"The path stays on rank 0, which is late throughout: its GPU starves 3.0 ms a "
		"step, and rank 1 is blocked 60.0 ms, 42.0 more than rank 0."));
	assert_null(strstr(text, "No hop"));
	mem_free(text);
	report_done(&report);
}

static void markdown_is_escaped(void **state)
{
	(void)state;
	struct report report = {0};
	struct err err = {0};
	static const struct report_column columns[] = {{"name", ALIGN_LEFT}, {"ms", ALIGN_RIGHT}};
	struct report_table *table = report_table(&report, columns, 2);
	report_cell(&report, table, TONE_STRONG, "  a|b<script>");
	report_cell(&report, table, TONE_PLAIN, "1\n2");
	report_row(&report, table);
	char *text = report_print_markdown(&report, &err);
	assert_string_equal(text, "| name | ms |\n| --- | ---: |\n"
				  "| &nbsp;&nbsp;**a\\|b&lt;script>** | 1?2 |\n");
	mem_free(text);
	report_done(&report);
}

/* A name from a trace may hold anything: no escape sequence of it reaches the terminal. */
static void hostile_names(void **state)
{
	(void)state;
	struct report report = {0};
	struct err err = {0};
	const struct text_style style = {.width = 80};
	report_text(&report, TONE_PLAIN, "unit %s", "\033[2Jx\r\n\x7f");
	char *text = report_print_text(&report, &style, &err);
	assert_string_equal(text, "  unit ?[2Jx???\n");
	mem_free(text);
	report_done(&report);

	base.breakdown.name = "bad \xff\xc0\xaf name \xe2\x82\xac";
	char *json = json_verdict(&answer, &err);
	assert_non_null(json);
	assert_non_null(strstr(json, "bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd name \xe2\x82\xac"));
	mem_free(json);
}

static void causes_sum_in_json(void **state)
{
	(void)state;
	struct err err = {0};
	char *text = json_verdict(&answer, &err);
	json_error_t error;
	json_t *root = json_loads(text, 0, &error);
	assert_non_null(root);
	json_t *cause;
	size_t i;
	json_int_t sum = 0;
	json_array_foreach(json_object_get(root, "causes"), i, cause) sum +=
		json_integer_value(json_object_get(cause, "ns"));
	assert_int_equal(i, CAUSE_COUNT);
	assert_int_equal(sum,
		json_integer_value(json_object_get(json_object_get(root, "delta_ns"), "mean")));
	assert_true(json_is_null(json_object_get(root, "normalised_to_tokens")));
	assert_null(json_object_get(root, "objectives"));
	json_decref(root);
	mem_free(text);
}

static json_t *load_schema(const char *name)
{
	char path[512];
	json_error_t error;
	snprintf(path, sizeof path, SOURCE_ROOT "/schemas/%s.schema.json", name);
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(root);
	return root;
}

static json_t *dig(json_t *root, const char *const *keys)
{
	for (; *keys; keys++)
		root = json_object_get(root, *keys);
	assert_true(json_is_array(root));
	return root;
}

#define assert_enum(root, words, ...)                                                     \
	do {                                                                              \
		const char *const path[] = {__VA_ARGS__, "enum", NULL};                   \
		json_t *list = dig((root), path);                                         \
		assert_int_equal(json_array_size(list), sizeof(words) / sizeof *(words)); \
		for (size_t w = 0; w < json_array_size(list); w++)                        \
			assert_string_equal(                                              \
				json_string_value(json_array_get(list, w)), (words)[w]);  \
	} while (0)

#define WORD(name, word, ...) word,

/* The schemas list the words that the code prints, no more and no fewer. */
static void schemas_list_the_words(void **state)
{
	(void)state;
	static const char *const
		states[] = {STATES(WORD)},
		*const phases[] = {PHASES(WORD)}, *const holders[] = {HOLDERS(WORD)},
		*const hows[] = {HOWS(WORD)}, *const reasons[] = {GATHER_REASONS(WORD)},
		*const causes[] = {CAUSES(WORD)}, *const headlines[] = {HEADLINES(WORD)},
		*const objectives[] = {OBJECTIVES(WORD)}, *const verdicts[] = {VERDICTS(WORD)},
		*const roles[] = {ROLES(WORD)}, *const kinds[] = {DIAG_KINDS(WORD)};
	static const char *const documents[] = {"info", "breakdown", "gathers", "verdict"};
	json_t *root = load_schema("breakdown");
	assert_enum(root, states, "definitions", "part", "properties", "state");
	assert_enum(root, phases, "definitions", "part", "properties", "phase");
	assert_enum(root, holders, "definitions", "part", "properties", "on");
	assert_enum(root, hows, "definitions", "part", "properties", "how");
	assert_enum(root, reasons, "definitions", "gather", "properties", "reason");
	json_decref(root);
	root = load_schema("verdict");
	assert_enum(root, objectives, "properties", "objective");
	assert_enum(root, verdicts, "properties", "verdict");
	assert_enum(root, roles, "properties", "runs", "items", "properties", "role");
	assert_enum(root, causes, "properties", "causes", "items", "properties", "cause");
	assert_enum(root, headlines, "properties", "causes", "items", "properties", "headline");
	json_decref(root);
	for (size_t i = 0; i < 4; i++) {
		root = load_schema(documents[i]);
		assert_enum(root, kinds, "definitions", "diagnostic", "properties", "kind");
		json_decref(root);
	}
}

static char *print_everything(int what, struct err *err)
{
	const struct breakdown *runs[] = {&base.breakdown, &checkpointed.breakdown};
	const struct text_style style = {.width = 80, .has_color = true};
	struct report report = {0};
	switch (what) {
	case 0:
		return json_breakdown(runs, 2, err);
	case 1:
		return json_gathers(runs, 2, err);
	case 2:
		return json_verdict(&answer, err);
	case 3:
		report_verdict(&report, &answer);
		break;
	case 4:
		report_breakdown(&report, runs, 2, true);
		break;
	default:
		report_gathers(&report, runs, 2);
	}
	char *text = what % 2 ? report_print_text(&report, &style, err)
			      : report_print_markdown(&report, err);
	report_done(&report);
	return text;
}

/* Whichever allocation fails, nothing is printed rather than a part. */
static void every_allocation_may_fail(void **state)
{
	(void)state;
	for (int what = 0; what < 6; what++) {
		for (int64_t nth = 1;; nth++) {
			struct err err = {0};
			mem_fail_after(nth);
			char *text = print_everything(what, &err);
			const bool has_failed = mem_has_failed();
			mem_fail_after(0);
			assert_true((text != NULL) != has_failed);
			assert_int_equal(err.code, text ? ERR_NONE : ERR_NOMEM);
			mem_free(text);
			if (!has_failed) {
				assert_true(nth > 1);
				break;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_fit_the_width, make, done),
		cmocka_unit_test_setup_teardown(the_answer_comes_first, make, done),
		cmocka_unit_test_setup_teardown(bars_have_two_sides, make, done),
		cmocka_unit_test(a_rank_that_is_always_late),
		cmocka_unit_test(markdown_is_escaped),
		cmocka_unit_test_setup_teardown(hostile_names, make, done),
		cmocka_unit_test_setup_teardown(causes_sum_in_json, make, done),
		cmocka_unit_test(schemas_list_the_words),
		cmocka_unit_test_setup_teardown(every_allocation_may_fail, make, done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
