/* The rules file: what it refuses and in which words, which rule wins, and the units of FSDP. */
#include "classify/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "classify/roles.h"

static struct rules *parse(const char *text)
{
	struct err err = {0};
	struct rules *rules = rules_parse(text, "mine.rules", &err);
	if (!rules)
		fail_msg("%s", err.msg);
	return rules;
}

static void lines(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *message; /* its beginning; NULL: the text is fine */
	} cases[] = {
		{"", NULL},
		{"\n\n  \t\n# a comment\n   # another\n", NULL},
		{"op data ^x$", NULL},
		{"  op\tdata   ^x y$  \r\n", NULL},
		{"op data (?<unit>a)(?<unit2>b)", NULL},
		{"op", "mine.rules: line 1: a rule is DOMAIN CLASS PATTERN"},
		{"op data", "mine.rules: line 1: a rule is DOMAIN CLASS PATTERN"},
		{"op data   \t ", "mine.rules: line 1: a rule is DOMAIN CLASS PATTERN"},
		{"\n\nop data\n", "mine.rules: line 3: a rule is DOMAIN CLASS PATTERN"},
		{"ops data x", "mine.rules: line 1: no domain \"ops\"; known: kernel, call, op"},
		{"o data x", "mine.rules: line 1: no domain \"o\"; known: kernel, call, op"},
		{"op gemm x", "mine.rules: line 1: no op class \"gemm\"; known: other, step,"},
		{"# 1\ncall gem x",
			"mine.rules: line 2: no call class \"gem\"; known: other, launch,"},
		{"kernel step x", "mine.rules: line 1: no kernel class \"step\"; known: compute,"},
		{"op data a\nop data (b", "mine.rules: line 2: column 3 of the pattern: "},
		{"op data \\C", "mine.rules: line 1: column 3 of the pattern: "},
		{"op data [z-a]", "mine.rules: line 1: column 4 of the pattern: "},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {0};
		struct rules *rules = rules_parse(cases[i].text, "mine.rules", &err);
		if (!cases[i].message != !!rules)
			fail_msg("\"%s\": %s", cases[i].text, err.msg);
		if (cases[i].message &&
			strncmp(err.msg, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("\"%s\": %s", cases[i].text, err.msg);
		assert_int_equal(err.code, rules ? ERR_NONE : ERR_USAGE);
		rules_free(rules);
	}
}

static void expect(const struct rules *rules, enum rule_domain domain, const char *name,
	unsigned role, const char *unit)
{
	struct err err = {0};
	struct rule_match match;
	if (!rules_match(rules, domain, name, (uint32_t)strlen(name), &match, &err))
		fail_msg("%s: %s", name, err.msg);
	if (match.role != role)
		fail_msg("%s: class %u, not %u", name, match.role, role);
	if (match.has_unit != !!unit)
		fail_msg("%s: unit or no unit", name);
	if (unit && (strlen(unit) != match.unit_length ||
			    memcmp(unit, name + match.unit_start, match.unit_length) != 0))
		fail_msg("%s: unit \"%.*s\", not \"%s\"", name, (int)match.unit_length,
			name + match.unit_start, unit);
}

static void first_match_wins(void **state)
{
	(void)state;
	struct rules *rules = parse("op gc ^one\nop data ^on\nop step ^o\ncall sync ^one");
	expect(rules, DOMAIN_OP, "one", OP_GC, NULL);
	expect(rules, DOMAIN_OP, "on", OP_DATA, NULL);
	expect(rules, DOMAIN_OP, "o", OP_STEP, NULL);
	expect(rules, DOMAIN_OP, "no", OP_OTHER, NULL);
	expect(rules, DOMAIN_CALL, "one", CALL_SYNC, NULL);
	expect(rules, DOMAIN_KERNEL, "one", KERNEL_COMPUTE, NULL);
	rules_free(rules);
}

static void own_rules_come_first(void **state)
{
	(void)state;
	struct rules *built_in = parse("");
	struct rules *own =
		parse("op data ^ProfilerStep\nop fsdp2_gather ^MyGather <(?<unit>.*)>$\n"
		      "kernel compute ^ncclDevKernel_AllGather_Mine");
	expect(built_in, DOMAIN_OP, "ProfilerStep#3", OP_STEP, NULL);
	expect(own, DOMAIN_OP, "ProfilerStep#3", OP_DATA, NULL);
	expect(own, DOMAIN_OP, "MyGather <a.b>", OP_FSDP2_GATHER, "a.b");
	expect(built_in, DOMAIN_KERNEL, "ncclDevKernel_AllGather_Mine", KERNEL_ALL_GATHER, NULL);
	expect(own, DOMAIN_KERNEL, "ncclDevKernel_AllGather_Mine", KERNEL_COMPUTE, NULL);
	expect(own, DOMAIN_KERNEL, "ncclDevKernel_AllGather_RING_LL", KERNEL_ALL_GATHER, NULL);
	rules_free(built_in);
	rules_free(own);
}

static void fsdp_ranges(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum op_role role;
		const char *unit;
	} cases[] = {
		{"FSDP::all_gather (layers.3)", OP_FSDP2_GATHER, "layers.3"},
		{"FSDP::all_gather (layers.3._checkpoint_wrapped_module)", OP_FSDP2_GATHER,
			"layers.3._checkpoint_wrapped_module"},
		{"FSDP::all_gather (norm, output)", OP_FSDP2_GATHER, "norm, output"},
		{"FSDP::all_gather", OP_FSDP2_GATHER, ""},
		{"FSDP::all_gather (layers.3) [pg=1]", OP_FSDP2_GATHER, "layers.3"},
		{"FSDP::all_gather_copy_out (layers.3)", OP_FSDP2_COPY_OUT, "layers.3"},
		{"FSDP::all_gather_copy_out", OP_FSDP2_COPY_OUT, ""},
		{"FSDP::all_gather_copy_out (a, b) [pg=12]", OP_FSDP2_COPY_OUT, "a, b"},
		{"FSDP::pre_forward (layers.3)", OP_FSDP2_PRE_FORWARD, "layers.3"},
		{"FSDP::pre_forward", OP_FSDP2_PRE_FORWARD, ""},
		{"FSDP::pre_backward (layers.3)", OP_FSDP2_PRE_BACKWARD, "layers.3"},
		{"FSDP::pre_backward", OP_FSDP2_PRE_BACKWARD, ""},
		{"FSDP::backward_prefetch for layers.3", OP_FSDP2_PREFETCH, "layers.3"},
		{"FSDP::forward_prefetch for a, b", OP_FSDP2_PREFETCH, "a, b"},
		{"FSDP::backward_prefetch for layers.3 [pg=1]", OP_FSDP2_PREFETCH, "layers.3"},
		{"FSDP::backward_prefetch for ", OP_FSDP2_PREFETCH, ""},
		{"FSDP::backward_prefetch", OP_FSDP2_PREFETCH, ""},
		{"FSDP::post_backward_reduce (layers.3)", OP_FSDP2_REDUCE, "layers.3"},
		{"FSDP::post_backward_rs_wait (layers.3)", OP_FSDP2_REDUCE, "layers.3"},
		{"FSDP::post_backward_reshard (layers.3)", OP_FSDP2_HOOK, NULL},
		{"FSDP::post_backward_accumulate (layers.3)", OP_FSDP2_HOOK, NULL},
		{"FSDP::post_forward (layers.3)", OP_FSDP2_HOOK, NULL},
		{"FSDP::root_pre_forward", OP_FSDP2_HOOK, NULL},
		{"FSDP::root_post_backward_callback", OP_FSDP2_HOOK, NULL},
		{"FSDP::cast_forward_inputs", OP_FSDP2_HOOK, NULL},
		{"FSDP::of_a_later_version", OP_FSDP2_HOOK, NULL},
		{"fsdp::all_gather_copy_in", OP_FSDP_OP, NULL},
		{"fsdp::chunk_cat", OP_FSDP_OP, NULL},
		{"FullyShardedDataParallel.forward", OP_FSDP1_FORWARD, NULL},
		{"FullyShardedDataParallel._pre_forward", OP_FSDP1_PRE_FORWARD, NULL},
		{"FullyShardedDataParallel._post_forward", OP_FSDP1_HOOK, NULL},
		{"FullyShardedDataParallel._root_pre_forward", OP_FSDP1_HOOK, NULL},
		{"FullyShardedDataParallel._to_kwargs", OP_FSDP1_HOOK, NULL},
		{"FullyShardedDataParallel._pre_forward_prefetch", OP_FSDP1_PREFETCH, NULL},
		{"FullyShardedDataParallel._pre_backward_prefetch", OP_FSDP1_PREFETCH, NULL},
		{"FullyShardedDataParallel._post_backward_prefetch", OP_FSDP1_PREFETCH, NULL},
		{"FullyShardedDataParallel._pre_backward_hook", OP_FSDP1_PRE_BACKWARD, NULL},
		{"FullyShardedDataParallel._post_backward_hook", OP_FSDP1_POST_BACKWARD, NULL},
		{"FullyShardedDataParallel._post_backward_hook_reshard_only", OP_FSDP1_HOOK, NULL},
		{"FullyShardedDataParallel.rate_limiter", OP_FSDP1_HOOK, NULL},
	};
	struct rules *rules = parse("");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(rules, DOMAIN_OP, cases[i].name, cases[i].role, cases[i].unit);
	rules_free(rules);
}

static void built_in_names(void **state)
{
	(void)state;
	static const struct {
		enum rule_domain domain;
		const char *name;
		unsigned role;
	} cases[] = {
		{DOMAIN_KERNEL, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(x)",
			KERNEL_REDUCE_SCATTER},
		{DOMAIN_KERNEL, "ncclKernel_AllGather_RING_LL_Sum_int8_t(x)", KERNEL_ALL_GATHER},
		{DOMAIN_KERNEL, "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(x)", KERNEL_ALL_REDUCE},
		{DOMAIN_KERNEL, "ncclDevKernel_SendRecv(x)", KERNEL_SEND_RECV},
		{DOMAIN_KERNEL, "ncclDevKernel_Broadcast_RING_LL(x)", KERNEL_BROADCAST},
		{DOMAIN_KERNEL, "ncclDevKernel_Generic(x)", KERNEL_OTHER_COLLECTIVE},
		{DOMAIN_KERNEL, "not_ncclDevKernel_AllGather", KERNEL_COMPUTE},
		{DOMAIN_KERNEL, "nvjet_tst_128x256", KERNEL_GEMM},
		{DOMAIN_KERNEL, "pytorch_flash::flash_fwd_kernel", KERNEL_ATTENTION},
		{DOMAIN_KERNEL, "", KERNEL_COMPUTE},
		{DOMAIN_CALL, "cudaLaunchKernel", CALL_LAUNCH},
		{DOMAIN_CALL, "cudaLaunchKernelExC_v11060", CALL_LAUNCH},
		{DOMAIN_CALL, "cuLaunchKernelEx", CALL_LAUNCH},
		{DOMAIN_CALL, "cudaGraphLaunch", CALL_LAUNCH},
		{DOMAIN_CALL, "cudaMalloc", CALL_ALLOC},
		{DOMAIN_CALL, "cudaMallocHost", CALL_PINNED},
		{DOMAIN_CALL, "cudaHostAlloc", CALL_PINNED},
		{DOMAIN_CALL, "cudaFree", CALL_FREE},
		{DOMAIN_CALL, "cudaFreeHost", CALL_PINNED},
		{DOMAIN_CALL, "cuMemCreate", CALL_ALLOC},
		{DOMAIN_CALL, "cuMemUnmap", CALL_FREE},
		{DOMAIN_CALL, "cudaMemcpyAsync", CALL_COPY},
		{DOMAIN_CALL, "cudaMemcpy", CALL_SYNC},
		{DOMAIN_CALL, "cudaStreamSynchronize", CALL_SYNC},
		{DOMAIN_CALL, "cudaStreamWaitEvent", CALL_WAIT},
		{DOMAIN_CALL, "cudaEventRecord", CALL_RECORD},
		{DOMAIN_CALL, "cudaEventQuery", CALL_QUERY},
		{DOMAIN_CALL, "cudaSomethingElse", CALL_OTHER},
		{DOMAIN_OP, "Optimizer.step#AdamW.step", OP_OPTIMIZER},
		{DOMAIN_OP, "Optimizer.zero_grad#AdamW.zero_grad", OP_OPTIMIZER},
		{DOMAIN_OP, "CheckpointFunction", OP_CHECKPOINT},
		{DOMAIN_OP, "CheckpointFunctionBackward", OP_CHECKPOINT_BACKWARD},
		{DOMAIN_OP, "Torch-Compiled Region: 0/0", OP_COMPILED},
		{DOMAIN_OP, "CompiledFunction", OP_COMPILED},
		{DOMAIN_OP, "CompiledFunctionBackward", OP_COMPILED_BACKWARD},
		{DOMAIN_OP, "## Call CompiledFxGraph abc ##", OP_COMPILED},
		{DOMAIN_OP, "c10d::_allgather_base_", OP_COLLECTIVE_CALL},
		{DOMAIN_OP, "aten::mm", OP_OTHER},
	};
	struct rules *rules = parse("");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(rules, cases[i].domain, cases[i].name, cases[i].role, NULL);
	rules_free(rules);
}

/* A pattern that blows up ends in an error that names its line, in no time. */
static void hostile_patterns(void **state)
{
	(void)state;
	static const char *const patterns[] = {"# 1\nop data ^(a+)+$", "# 1\nop data ^(a|aa)+$",
		"# 1\nop data ^(?<unit>a+)+[^!]$"};
	char name[65];
	memset(name, 'a', sizeof name);
	name[63] = '!';
	name[64] = '\0';
	const clock_t before = clock();
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct rules *rules = parse(patterns[i]);
		struct rule_match match;
		struct err err = {0};
		assert_false(rules_match(rules, DOMAIN_OP, name, 64, &match, &err));
		assert_int_equal(err.code, ERR_USAGE);
		assert_non_null(strstr(err.msg, "line 2"));
		assert_non_null(strstr(err.msg, "gives up"));
		rules_free(rules);
	}
	assert_true(clock() - before < CLOCKS_PER_SEC / 2);
}

static void write_file(char *path, const char *bytes, size_t length)
{
	const int file = mkstemp(path);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, length), (ssize_t)length);
	close(file);
}

static void expect_file(const char *bytes, size_t length, const char *message)
{
	char path[] = "/tmp/inquest-rules-XXXXXX";
	struct err err = {0};
	write_file(path, bytes, length);
	struct rules *rules = rules_load(path, &err);
	unlink(path);
	if (!message != !!rules || (message && !strstr(err.msg, message)))
		fail_msg("%s", err.msg);
	assert_true(!message || strstr(err.msg, path));
	assert_int_equal(err.code, rules ? ERR_NONE : ERR_USAGE);
	rules_free(rules);
}

static void files(void **state)
{
	(void)state;
	const size_t size = 3u << 20;
	char *big = malloc(size);
	assert_non_null(big);
	memset(big, '#', size);
	expect_file(big, size, "not a rules file");
	expect_file(big, (1u << 20) + 1, "not a rules file");
	expect_file(big, 1u << 20, NULL);
	free(big);
	expect_file("op data x\0y\n", 12, "not a rules file");
	expect_file("op data x\nop nothing y\n", 23, "line 2: no op class");
	expect_file("", 0, NULL);
	struct err err = {0};
	assert_null(rules_load("/nonexistent/names.rules", &err));
	assert_int_equal(err.code, ERR_USAGE);
	assert_non_null(strstr(err.msg, "/nonexistent/names.rules"));
}

static void too_many_rules(void **state)
{
	(void)state;
	const char line[] = "op data x\n";
	const size_t count = 4097;
	char *text = malloc(count * (sizeof line - 1) + 1);
	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		memcpy(text + i * (sizeof line - 1), line, sizeof line);
	struct err err = {0};
	assert_null(rules_parse(text, "mine.rules", &err));
	assert_non_null(strstr(err.msg, "more than 4096 rules"));
	free(text);
}

static void hash_follows_the_text(void **state)
{
	(void)state;
	const char *const texts[] = {"", "op data x", "op data y", "op data x\n", "# op data x"};
	uint64_t hash[sizeof texts / sizeof *texts];
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct rules *rules = parse(texts[i]), *again = parse(texts[i]);
		hash[i] = rules_hash(rules);
		assert_true(hash[i] == rules_hash(again));
		for (size_t other = 0; other < i; other++)
			assert_true(hash[i] != hash[other]);
		rules_free(rules);
		rules_free(again);
	}
	struct err err = {0};
	struct rules *built_in = rules_load(NULL, &err);
	assert_true(rules_hash(built_in) == hash[0] || rules_hash(built_in) != hash[1]);
	rules_free(built_in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(first_match_wins),
		cmocka_unit_test(own_rules_come_first),
		cmocka_unit_test(fsdp_ranges),
		cmocka_unit_test(built_in_names),
		cmocka_unit_test(hostile_patterns),
		cmocka_unit_test(files),
		cmocka_unit_test(too_many_rules),
		cmocka_unit_test(hash_follows_the_text),
	};
	return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
