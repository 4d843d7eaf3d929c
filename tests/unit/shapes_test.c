/* What shapes say: the text they come as, tokens, and FLOPs with worked numbers. */
#include "event_list.h"

#include <math.h>
#include <stdlib.h>

#include "attribute/dims.h"
#include "attribute/shapes.h"

#define K(at, name_)  KERNEL(0, at, 0, (at) + 5000, (at) + 5004, name_)
#define KB(at, name_) KERNEL(1, at, 0, (at) + 5000, (at) + 5004, name_)
#define BF16	      "\n[\"c10::BFloat16\", \"c10::BFloat16\"]"

static void dims_table(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool ok;
		uint32_t count;
		int64_t elements[3];
		const char *type;
	} cases[] = {
		{"[]", true, 0, {0, 0, 0}, ""},
		{"[[]]", true, 1, {0, 0, 0}, ""},
		{"[[2, 3], [3, 4]]\n[\"float\", \"int\"]", true, 2, {6, 12, 0}, "float"},
		{"[[2,3],[],[4]]\n[\"\",\"float\",\"int\"]", true, 3, {6, 0, 4}, ""},
		{" [ [ 2 , 3 ] , [ 7 ] ] ", true, 2, {6, 7, 0}, ""},
		{"[[[2, 3], [4]], [5]]", true, 2, {0, 5, 0}, ""},
		{"[[0, 3]]", true, 1, {0, 0, 0}, ""},
		{"[[4294967296, 4294967296]]", true, 1, {0, 0, 0}, ""},
		{"[[9223372036854775807]]", true, 1, {INT64_MAX, 0, 0}, ""},
		{"[[1,1,1,1,1,1,1,5,9]]", true, 1, {5, 0, 0}, ""},
		{"", false, 0, {0}, ""},
		{"[", false, 0, {0}, ""},
		{"[[", false, 0, {0}, ""},
		{"[[2", false, 0, {0}, ""},
		{"[[2]", false, 0, {0}, ""},
		{"2", false, 0, {0}, ""},
		{"[2]", false, 0, {0}, ""},
		{"[[x]]", false, 0, {0}, ""},
		{"[[-1]]", false, 0, {0}, ""},
		{"[[2.5]]", false, 0, {0}, ""},
		{"[[\"2\"]]", false, 0, {0}, ""},
		{"[[9223372036854775808]]", false, 0, {0}, ""},
		{"null", false, 0, {0}, ""},
	};
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct dims dims;
		if (dims_read(cases[i].text, &dims) != cases[i].ok)
			fail_msg("\"%s\"", cases[i].text);
		if (!cases[i].ok)
			continue;
		assert_int_equal(dims.count, cases[i].count);
		for (uint32_t d = 0; d < 3; d++)
			if (dims_elements(&dims, d) != cases[i].elements[d])
				fail_msg("\"%s\": %lld", cases[i].text,
					(long long)dims_elements(&dims, d));
		assert_string_equal(dims.type, cases[i].type);
	}
}

/* Many inputs, many sizes, long types: kept up to the limits, never beyond. */
static void dims_limits(void **state)
{
	(void)state;
	char text[4096] = "[";
	struct dims dims;
	for (int i = 0; i < 40; i++)
		strcat(text, i ? ", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]" : "[2]");
	strcat(text, "]\n[\"");
	for (int i = 0; i < 100; i++)
		strcat(text, "long");
	strcat(text, "\"]");
	assert_true(dims_read(text, &dims));
	assert_int_equal(dims.count, DIMS_MAX_INPUTS);
	assert_int_equal(dims.rank[1], DIMS_MAX_RANK);
	assert_int_equal(dims.size[15][7], 8);
	assert_string_equal(dims.type, "");
	assert_int_equal(dims_elements(&dims, DIMS_MAX_INPUTS), 0);
	assert_int_equal(dims_elements(&dims, NULL_U32), 0);
}

/* Mutated texts: whatever is read lies within the limits, and reading again gives the same. */
static void dims_any_text(void **state)
{
	(void)state;
	static const char *const seeds[] = {"[[2, 3], [3, 4]]\n[\"float\", \"int\"]",
		"[[[2, 3], [4]], [], [5, 6, 7, 8]]\n[\"c10::BFloat16\"]",
		"[[9223372036854775807]]"};
	static const char bytes[] = "[],0123456789 \n\t\"-+x.e";
	uint64_t seed = 1;
	for (uint32_t i = 0; i < 200000; i++) {
		/* Of its own size, so that a sanitizer sees a read behind its end. */
		char *text = strdup(seeds[i % COUNT(seeds)]);
		const size_t length = strlen(text);
		for (uint32_t change = 0; change < 1 + i % 5; change++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			text[(seed >> 33) % length] = bytes[(seed >> 13) % (sizeof bytes)];
		}
		struct dims once, twice;
		const bool ok = dims_read(text, &once);
		assert_int_equal(ok, dims_read(text, &twice));
		assert_memory_equal(&once, &twice, sizeof once);
		assert_true(once.count <= DIMS_MAX_INPUTS);
		for (uint32_t d = 0; d < DIMS_MAX_INPUTS; d++) {
			assert_true(once.rank[d] <= DIMS_MAX_RANK);
			assert_true(!ok || dims_elements(&once, d) >= 0);
		}
		assert_non_null(memchr(once.type, '\0', sizeof once.type));
		free(text);
	}
}

/* --- tokens and FLOPs of one rank --- */

static void break_down(
	const struct event *events, uint32_t count, const char *gpu, struct breakdown *ret)
{
	struct trace trace;
	struct err err = {0};
	list_trace(&trace, events, count, &(struct list_options){.world_size = 4});
	if (gpu)
		trace.gpu_name_id = list_string(&trace, gpu);
	trace.has.shapes = true;
	assert_true(trace_seal(&trace, &err));
	if (!list_break_down(&trace, 1, NULL, ret, &err))
		fail_msg("%s", err.msg);
	trace_done(&trace);
}

#define WARM					  HOST(0, 0, 100, "ProfilerStep#1"), K(5, "warm"), HOST(0, 100, 1000, "ProfilerStep#2")
#define SHAPED(thread_, from, to, name_, shapes_) OP(thread_, from, to, name_, .shapes = shapes_)

struct tokens {
	int64_t tokens, micro_batch, sequence;
};

static void expect_tokens(const struct event *events, uint32_t count, struct tokens expected)
{
	struct breakdown breakdown;
	break_down(events, count, NULL, &breakdown);
	assert_string_equal(
		breakdown.tokens_how, expected.tokens == NULL_I64 ? "unknown" : "inferred");
	assert_int_equal(breakdown.tokens_per_step, expected.tokens);
	assert_int_equal(breakdown.micro_batch, expected.micro_batch);
	assert_int_equal(breakdown.sequence_length, expected.sequence);
	breakdown_done(&breakdown);
}

static void tokens(void **state)
{
	(void)state;
	static const struct event embedding[] = {
		WARM,
		SHAPED(0, 110, 120, "aten::embedding", "[[32000, 64], [2, 128], [], [], []]"),
		SHAPED(0, 150, 160, "aten::nll_loss_forward", "[[99, 32000], [99]]"),
		/* recomputed, or of an unused step: not counted */
		NODE(1, 200, 300, "X"),
		SHAPED(1, 210, 220, "aten::embedding", "[[32000, 64], [2, 128], []]"),
		SHAPED(0, 10, 20, "aten::embedding", "[[32000, 64], [2, 128], []]"),
		K(400, "k"),
	};
	static const struct event loss[] = {
		WARM,
		SHAPED(0, 150, 160, "aten::nll_loss_forward", "[[99, 32000], [99]]"),
		SHAPED(0, 160, 170, "aten::nll_loss", "[[99, 32000], [99]]"),
		SHAPED(1, 180, 190, "aten::nll_loss_backward", "[[], [99, 32000], [99]]"),
		K(400, "k"),
	};
	/* The vocabulary's is the largest, whatever the order. */
	static const struct event several[] = {
		WARM,
		SHAPED(0, 105, 108, "aten::embedding", "[[128, 64], [1, 77]]"),
		SHAPED(0, 110, 120, "aten::embedding", "[[32000, 64], [2, 128]]"),
		SHAPED(0, 125, 128, "aten::embedding", "[[2, 64], [2, 99]]"),
		SHAPED(0, 130, 140, "aten::embedding", "[[32000, 64], [2, 128]]"), /* 2nd batch */
		K(400, "k"),
	};
	static const struct event nothing[] = {
		WARM,
		SHAPED(0, 105, 108, "aten::embedding", "garbage"),
		SHAPED(0, 110, 120, "aten::mm", "[[32000, 64], [2, 128]]"),
		K(400, "k"),
	};
	expect_tokens(embedding, COUNT(embedding), (struct tokens){4 * 256, 2, 128});
	expect_tokens(loss, COUNT(loss), (struct tokens){4 * 99, NULL_I64, NULL_I64});
	expect_tokens(several, COUNT(several), (struct tokens){4 * 512, 2, 128});
	expect_tokens(nothing, COUNT(nothing), (struct tokens){NULL_I64, NULL_I64, NULL_I64});
}

static void given_tokens(void **state)
{
	(void)state;
	static const struct event events[] = {WARM, K(400, "k")};
	const struct analysis_options options = {.tokens_per_step = 4096, .thread_count = 1};
	struct trace trace;
	struct breakdown breakdown;
	struct err err = {0};
	list_trace(&trace, events, COUNT(events), &(struct list_options){.world_size = 4});
	assert_true(list_break_down(&trace, 1, &options, &breakdown, &err));
	assert_int_equal(breakdown.tokens_per_step, 4096);
	assert_string_equal(breakdown.tokens_how, "given");
	breakdown_done(&breakdown);
	trace_done(&trace);
}

/* One op with one kernel: its formula. */
static void flop_formulas(void **state)
{
	(void)state;
	static const struct {
		const char *name, *shapes;
		int64_t flop; /* 0: not counted */
	} cases[] = {
		{"aten::mm", "[[2, 3], [3, 5]]" BF16, 2 * 2 * 3 * 5},
		{"aten::addmm", "[[5], [2, 3], [3, 5], [], []]" BF16, 2 * 2 * 3 * 5},
		{"aten::bmm", "[[7, 2, 3], [7, 3, 5]]" BF16, 7 * 2 * 2 * 3 * 5},
		{"aten::baddbmm", "[[7, 2, 5], [7, 2, 3], [7, 3, 5]]" BF16, 7 * 2 * 2 * 3 * 5},
		{"aten::_scaled_dot_product_flash_attention",
			"[[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]]" BF16,
			4 * 2 * 4 * 16 * 32 * 8},
		{"aten::_scaled_dot_product_efficient_attention",
			"[[2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]]" BF16,
			4 * 2 * 4 * 16 * 32 * 8},
		{"aten::_scaled_dot_product_flash_attention_backward",
			"[[2, 4, 16, 8], [2, 4, 16, 8], [2, 4, 32, 8], [2, 4, 32, 8]]" BF16,
			10 * 2 * 4 * 16 * 32 * 8},
		{"aten::mm", "[[2, 3, 4], [3, 5]]" BF16, 0},
		{"aten::mm", "[[2, 3]]" BF16, 0},
		{"aten::bmm", "[[2, 3], [3, 5]]" BF16, 0},
		{"aten::addmm", "[[2, 3], [3, 5]]" BF16, 0},
		{"aten::mm", "garbage", 0},
		{"aten::matmul", "[[2, 3], [3, 5]]" BF16, 0},
		{"aten::linear", "[[2, 3], [5, 3]]" BF16, 0},
		{"aten::_scaled_dot_product_flash_attention", "[[2, 4, 16], [2, 4, 16]]" BF16, 0},
	};
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		const struct event events[] = {
			WARM,
			SHAPED(0, 110, 120, cases[i].name, cases[i].shapes),
			K(112, "a_gemm"),
			K(400, "k"),
		};
		struct breakdown breakdown;
		break_down(events, COUNT(events), NULL, &breakdown);
		const struct flop_use *flops = &breakdown.ranks[0].flops;
		if (flops->forward_flop != (cases[i].flop ? cases[i].flop : NULL_I64))
			fail_msg("%s %s: %lld", cases[i].name, cases[i].shapes,
				(long long)flops->forward_flop);
		assert_int_equal(flops->unknown_op_count, cases[i].flop ? 0 : 1);
		if (!cases[i].flop)
			assert_string_equal(flops->unknown_ops[0].name, "a_gemm");
		breakdown_done(&breakdown);
	}
}

/* By phase, a step's; an op that launches nothing was replayed from a cache. */
static void flop_phases(void **state)
{
	(void)state;
	static const struct event events[] = {
		WARM,
		SHAPED(0, 110, 120, "aten::mm", "[[1000, 1000], [1000, 1000]]" BF16),
		K(112, "gemm"),
		SHAPED(0, 130, 140, "aten::mm", "[[9, 9], [9, 9]]" BF16),
		NODE(1, 200, 300, "X"),
		SHAPED(1, 210, 220, "aten::mm", "[[1000, 1000], [1000, 500]]" BF16),
		KB(212, "gemm"),
		KB(230, "flash_of_its_own"),
		KB(232, "flash_of_its_own"),
		{.is = EVENT_HOST,
			.thread = 1,
			.host_ns = US(240),
			.return_ns = US(250),
			.name = "aten::mm",
			.has_sequence = false,
			.shapes = "[[1000, 1000], [1000, 3000]]" BF16},
		KB(242, "gemm"),
		HOST(0, 1000, 1900, "ProfilerStep#3"),
		K(1100, "k"),
	};
	struct breakdown breakdown;
	break_down(events, COUNT(events), "NVIDIA H100 80GB HBM3", &breakdown);
	const struct flop_use *flops = &breakdown.ranks[0].flops;
	assert_int_equal(breakdown.ranks[0].steps_used, 2);
	assert_int_equal(flops->forward_flop, 1000000000); /* half: one of two used steps */
	assert_int_equal(flops->recompute_flop, 500000000);
	assert_int_equal(flops->backward_flop, 3000000000);
	assert_int_equal(flops->unknown_op_count, 1);
	assert_string_equal(flops->unknown_ops[0].name, "flash_of_its_own");
	assert_int_equal(flops->unknown_ops[0].count, 2);
	double step_ns = 0;
	for (uint32_t s = 1; s < 3; s++)
		step_ns += (double)breakdown.ranks[0].steps[s].wall_ns / 2;
	assert_true(fabs(flops->achieved_flop_per_s - 4.5e9 / step_ns * 1e9) < 1);
	assert_true(fabs(flops->mfu - 4.0e9 / step_ns * 1e9 / 989.5e12) < 1e-12);
	breakdown_done(&breakdown);
}

/* The peak is that of the named GPU for 16-bit types; others are not guessed. */
static void peaks(void **state)
{
	(void)state;
	static const struct {
		const char *gpu, *type;
		double peak; /* FLOP/s, 0: unknown */
	} cases[] = {
		{"NVIDIA H200", "c10::BFloat16", 989.5e12},
		{"NVIDIA H100 PCIe", "c10::BFloat16", 756e12},
		{"NVIDIA A100-SXM4-80GB", "c10::Half", 312e12},
		{"NVIDIA L40S", "c10::BFloat16", 362e12},
		{"NVIDIA L4", "c10::BFloat16", 121e12},
		{"NVIDIA B200", "c10::BFloat16", 2250e12},
		{"NVIDIA H200", "float", 0},
		{"NVIDIA GeForce GTX 1080", "c10::Half", 0},
		{"", "c10::Half", 0},
	};
	for (uint32_t i = 0; i < COUNT(cases); i++) {
		char shapes[96];
		snprintf(shapes, sizeof shapes, "[[1000, 1000], [1000, 1000]]\n[\"%s\"]",
			cases[i].type);
		const struct event events[] = {
			WARM,
			SHAPED(0, 110, 120, "aten::mm", shapes),
			K(112, "gemm"),
		};
		struct breakdown breakdown;
		break_down(events, COUNT(events), cases[i].gpu, &breakdown);
		const struct flop_use *flops = &breakdown.ranks[0].flops;
		const double expected = flops->achieved_flop_per_s / cases[i].peak;
		if (cases[i].peak > 0 ? fabs(flops->mfu - expected) > 1e-9 : !isnan(flops->mfu))
			fail_msg("%s, %s: %g", cases[i].gpu, cases[i].type, flops->mfu);
		breakdown_done(&breakdown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dims_table),
		cmocka_unit_test(dims_limits),
		cmocka_unit_test(dims_any_text),
		cmocka_unit_test(tokens),
		cmocka_unit_test(given_tokens),
		cmocka_unit_test(flop_formulas),
		cmocka_unit_test(flop_phases),
		cmocka_unit_test(peaks),
	};
	return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
