/* Kineto traces: what each kind of event becomes, every kind of dirt, and the laws of reading. */
#include "reading.h"

#include "base/mem.h"

/* A small trace with all that is kept, in the order and the layout of the writer itself. */
static const char head[] =
	"\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      "
	"\"id\": 0, \"name\": \"NVIDIA H200\", \"totalGlobalMem\": 150109880320,\n"
	"      \"numSms\": 132\n    , \"regs\": 65536\n    }\n  ],\n"
	"  \"record_shapes\": 1,\n  \"profile_memory\": 1,\n"
	"  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": \"1\", "
	"\"world_size\": 2, \"pg_config\": [{\"pg_name\": \"0\"}]},\n"
	"  \"displayTimeUnit\": \"ms\",\n"
	"  \"baseTimeNanoseconds\": 1790857026000000000,\n  \"traceEvents\": [\n  ";
static const char *const events[] = {
	"{\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#3\", "
	"\"pid\": "
	"10, \"tid\": 10,\n    \"ts\": 100.000, \"dur\": 900.000,\n    \"args\": {\n      "
	"\"External "
	"id\": 1,\"Ev Idx\": 0\n    }\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 10, \"tid\": "
	"10,\n    \"ts\": 110.125, \"dur\": 50.500,\n    \"args\": {\n      \"External id\": 2,"
	"\"Sequence number\": 7, \"Fwd thread id\": 0, \"Input type\": [\"float\", \"float\"], "
	"\"Input Dims\": [[2, 3], [3, 4]], \"Ev Idx\": 1\n    }\n  }",
	"{\n    \"ph\": \"s\", \"id\": 5, \"pid\": 10, \"tid\": 10, \"ts\": 120.000,\n    \"cat\": "
	"\"ac2g\", \"name\": \"ac2g\"\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": "
	"10, \"tid\": 10,\n    \"ts\": 120.000, \"dur\": 5.000,\n    \"args\": {\n      \"External "
	"id\": 2, \"cbid\": 211, \"correlation\": 5\n    }\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaEventQuery\", \"pid\": "
	"10, "
	"\"tid\": 10,\n    \"ts\": 126.000, \"dur\": 1.000,\n    \"args\": {\"cbid\": 1, "
	"\"correlation\": 6}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<float>(int, int)\", "
	"\"pid\": 0, \"tid\": 7,\n    \"ts\": 130.001, \"dur\": 20.250,\n    \"args\": {\n      "
	"\"External id\": 2, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, "
	"\"correlation\": 5, \"shared memory\": 1024, \"blocks per SM\": 2.42, \"grid\": [3, 2, "
	"1], "
	"\"block\": [128, 1, 1]\n    }\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"pid\": 10, "
	"\"tid\": 11,\n    \"ts\": 200.000, \"dur\": 50.000,\n    \"args\": {\"Collective name\": "
	"\"_allgather_base\", \"dtype\": \"BFloat16\", \"In msg nelems\": 1000, \"Out msg "
	"nelems\": "
	"2000, \"Group size\": 2, \"Process Group Name\": \"0\", \"Process Group Ranks\": \"[0, "
	"1]\", \"Seq\": 41}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": \"cuLaunchKernelEx\", \"pid\": "
	"10, \"tid\": 11,\n    \"ts\": 210.000, \"dur\": 5.000,\n    \"args\": {\"correlation\": "
	"8}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
	"\"ncclDevKernel_AllGather_RING_LL()\", "
	"\"pid\": 0, \"tid\": 22,\n    \"ts\": 220.000, \"dur\": 30.000,\n    \"args\": "
	"{\"device\": 0, \"context\": 1, \"stream\": 22, \"correlation\": 8}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": "
	"\"ncclDevKernel_ReduceScatter_Sum()\", "
	"\"pid\": 0, \"tid\": 22,\n    \"ts\": 260.000, \"dur\": 30.000,\n    \"args\": "
	"{\"device\": 0, \"stream\": 22, \"correlation\": 9, \"Collective name\": "
	"\"_reduce_scatter_base\", \"dtype\": \"Float\", \"In msg nelems\": 2000, \"Out msg "
	"nelems\": 1000, \"Group size\": 2, \"Process Group Name\": \"0\", \"Process Group "
	"Ranks\": \"[0, 1]\"}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD (Pinned -> "
	"Device)\", \"pid\": 0, \"tid\": 7,\n    \"ts\": 300.000, \"dur\": 2.000,\n    \"args\": "
	"{\"device\": 0, \"stream\": 7, \"correlation\": 12, \"bytes\": 4096}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaEventRecord\", \"pid\": "
	"10, \"tid\": 10,\n    \"ts\": 310.000, \"dur\": 1.000, \"args\": {\"correlation\": 20}\n  "
	"}",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaStreamWaitEvent\", "
	"\"pid\": 10, \"tid\": 10,\n    \"ts\": 312.000, \"dur\": 1.000, \"args\": "
	"{\"correlation\": 21}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"cuda_sync\", \"name\": \"Stream Wait Event\", \"pid\": "
	"0, "
	"\"tid\": 22,\n    \"ts\": 312.100, \"dur\": 0,\n    \"args\": {\"cuda_sync_kind\": "
	"\"Stream Wait Event\", \"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": 20, "
	"\"wait_on_cuda_event_id\": 3, \"stream\": 22, \"correlation\": 21, \"device\": 0, "
	"\"context\": 1}\n  }",
	"{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
	"\"[memory]\",\n    \"pid\": 10, \"tid\": 10,\n    \"ts\": 150.418,\n    \"args\": "
	"{\"Total "
	"Reserved\": 2000, \"Total Allocated\": 1000, \"Bytes\": -512, \"Device Id\": 0, \"Device "
	"Type\": 1, \"Addr\": 139874636136448, \"finished\": false}\n  }",
	"{\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": "
	"\"[memory]\",\n    \"pid\": 10, \"tid\": 10, \"ts\": 151.000, \"args\": {\"Bytes\": 64, "
	"\"Device Id\": -1, \"Device Type\": 0}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"train.py(1): step\", "
	"\"pid\": 10, \"tid\": 10,\n    \"ts\": 101.000, \"dur\": 10.000, \"args\": {\"Python "
	"id\": "
	"1}\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": "
	"\"torch/utils/data/dataloader.py(630): __next__\", \"pid\": 10, \"tid\": 10,\n    \"ts\": "
	"102.000, \"dur\": 3.000, \"args\": {\"Python id\": 2}\n  }",
	"{\n    \"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 1.000, \"pid\": 10, \"tid\": "
	"11,\n"
	"    \"args\": {\n      \"name\": \"thread 11 (pt_autograd_0)\"\n    }\n  }",
	"{\n    \"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 1.000, \"pid\": 10, \"tid\": "
	"11,\n"
	"    \"args\": {\n      \"name\": \"thread 11 (python)\"\n    }\n  }",
	"{\n    \"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 1.000, \"pid\": 0, \"tid\": 7,\n"
	"    \"args\": {\n      \"name\": \"stream 7 \"\n    }\n  }",
	"{\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": 1.000, \"dur\": 1000.000,\n    \"pid\": "
	"\"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n    "
	"\"args\": {\n      \"Op count\": 0\n    }\n  }",
};
#define EVENT_COUNT (sizeof events / sizeof *events)
static const char tail[] = "\n  ],\n  \"traceName\": \"/tmp/x.json\"\n}\n";

/* The trace's text with its events in the order `order`. */
static struct text small_trace(const size_t *order)
{
	struct text text = {0};
	text_add(&text, head, strlen(head));
	for (size_t e = 0; e < EVENT_COUNT; e++) {
		const char *event = events[order ? order[e] : e];
		if (e)
			text_add(&text, ",\n  ", 4);
		text_add(&text, event, strlen(event));
	}
	text_add(&text, tail, strlen(tail));
	return text;
}

static struct text read_as_text(const char *bytes, size_t length, size_t window_bytes)
{
	struct trace trace;
	struct err err = {0};
	if (!read_bytes(bytes, length, window_bytes, &trace, &err))
		fail_msg("%s", err.msg);
	struct text text = trace_as_text(&trace);
	trace_done(&trace);
	return text;
}

static void fills_every_table(void **state)
{
	(void)state;
	static const char expected[] =
		"rank 1 of 2, base 1790857026000000000, 22 events, 8 of the host, gpu 'NVIDIA "
		"H200' "
		"150109880320\n"
		"has 11111\n"
		"thread 10 10 '' 1\n"
		"thread 10 11 'pt_autograd_0' 2\n"
		"stream 0 1 7 -\n"
		"stream 0 1 22 -\n"
		"host_op 100000 1000000 - 0 'ProfilerStep#3' '' - 1\n"
		"host_op 102000 105000 - 0 'torch/utils/data/dataloader.py(630): __next__' '' - 2\n"
		"host_op 110125 160625 7 0 'aten::mm' '[[2, 3], [3, 4]]\n[\"float\", \"float\"]' 0 "
		"0\n"
		"host_op 200000 250000 - 1 'record_param_comms' '' - 0\n"
		"api_call 120000 125000 0 'cudaLaunchKernel' 5 -\n"
		"api_call 310000 311000 0 'cudaEventRecord' 20 -\n"
		"api_call 312000 313000 0 'cudaStreamWaitEvent' 21 -\n"
		"api_call 210000 215000 1 'cuLaunchKernelEx' 8 -\n"
		"gpu_op 130001 150251 - - 0 'void gemm<float>(int, int)' 5 0 3 2 1 128 1 1 1024 0\n"
		"gpu_op 300000 302000 4096 - 0 'Memcpy HtoD (Pinned -> Device)' 12 - - - - - - - - "
		"1\n"
		"gpu_op 220000 250000 - - 1 'ncclDevKernel_AllGather_RING_LL()' 8 3 - - - - - - - "
		"0\n"
		"gpu_op 260000 290000 - - 1 'ncclDevKernel_ReduceScatter_Sum()' 9 - - - - - - - - "
		"0\n"
		"collective 41 2000 4000 2 '0 [0, 1]' 'BFloat16' '' '' 2 1\n"
		"collective - 8000 4000 3 '0 [0, 1]' 'Float' '' '' 2 2\n"
		"stream_wait 2 1 0 1 3\n"
		"memory 150418 139874636136448 -512 1000 2000 0\n"
		"no_launch 2\n";
	struct text text = small_trace(NULL);
	struct text read = read_as_text(text.bytes, text.length, 0);
	assert_string_equal(read.bytes, expected);
	free(read.bytes);
	free(text.bytes);
}

static void is_the_same_through_every_window(void **state)
{
	(void)state;
	struct text text = small_trace(NULL);
	struct text whole = read_as_text(text.bytes, text.length, 0);
	for (size_t window_bytes = 1; window_bytes <= 90; window_bytes++) {
		struct text read = read_as_text(text.bytes, text.length, window_bytes);
		assert_string_equal(read.bytes, whole.bytes);
		free(read.bytes);
	}
	free(whole.bytes);
	free(text.bytes);
}

static void is_the_same_in_every_order(void **state)
{
	(void)state;
	struct text text = small_trace(NULL);
	struct text whole = read_as_text(text.bytes, text.length, 0);
	uint32_t seed = 1;
	for (int round = 0; round < 200; round++) {
		size_t order[EVENT_COUNT];
		for (size_t e = 0; e < EVENT_COUNT; e++) {
			seed = seed * 1664525 + 1013904223;
			const size_t other = (seed >> 8) % (e + 1);
			order[e] = order[other];
			order[other] = e;
		}
		struct text shuffled = small_trace(order);
		struct text read = read_as_text(shuffled.bytes, shuffled.length, 0);
		assert_string_equal(read.bytes, whole.bytes);
		free(read.bytes);
		free(shuffled.bytes);
	}
	free(whole.bytes);
	free(text.bytes);
}

/* Keys of events in another order, and the document's keys after the list. */
static void takes_keys_in_any_order(void **state)
{
	(void)state;
	static const char usual[] =
		"{\"baseTimeNanoseconds\": 5, \"distributedInfo\": {\"rank\": 3},"
		"\"traceEvents\": "
		"[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
		"\"ts\":1.5,\"dur\":2,\"args\":{\"stream\":7,\"correlation\":4,\"grid\":[1,2,3]}}]"
		"}";
	static const char other[] =
		"{\"traceEvents\": [{\"args\":{\"grid\":[1,2,3],\"correlation\":4,\"stream\":7},"
		"\"dur\":2,\"ts\":1.5,\"tid\":7,\"pid\":0,\"name\":\"k\",\"cat\":\"kernel\",\"ph\":"
		"\"X\""
		"}], \"distributedInfo\": {\"rank\": 3}, \"baseTimeNanoseconds\": 5}";
	struct text first = read_as_text(usual, strlen(usual), 0);
	struct text second = read_as_text(other, strlen(other), 0);
	assert_string_equal(first.bytes, second.bytes);
	assert_non_null(strstr(first.bytes, "rank 3 of"));
	assert_non_null(strstr(first.bytes, "gpu_op 1500 3500 - - 0 'k' 4 - 1 2 3 - - - - 0"));
	free(first.bytes);
	free(second.bytes);
}

#define OP(name, more)                                                                          \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":10," \
	"\"dur\":5" more "}"

#define MEMORY(allocated, reserved)                                                              \
	"{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2," \
	"\"ts\":150,\"args\":{\"Total Allocated\":" allocated ",\"Total Reserved\":" reserved    \
	",\"Bytes\":-512,\"Device Id\":0,\"Device Type\":1,\"Addr\":1}}"

/* One oddity at a time between two whole events. */
static const struct {
	const char *event;
	const char *seen;      /* in the trace's text */
	enum diag_kind kind;   /* counted once... */
	int64_t count, events; /* ...or so often, of so many whole elements */
} oddities[] = {
	{OP("Library(\"a\", \"IMPL\")\n(1): <m>", ""), "'Library(\"a\", \"IMPL\")\n(1): <m>'",
		DIAG_BAD_QUOTE, 1, 3},
	{OP("two\nlines", ""), "'two\nlines'", DIAG_BAD_TEXT, 1, 3},
	{OP("byte \xff", ""), "'byte \xef\xbf\xbd'", DIAG_BAD_TEXT, 1, 3},
	{OP("C:\\Users\\me", ""), "'C:\\Users\\me'", DIAG_BAD_TEXT, 1, 3},
	{OP("caf\\u00e9", ""), "'caf\xc3\xa9'", DIAG_BAD_TEXT, 0, 3},
	{OP("comma", ",\"args\":{\"Ev Idx\":1, }"), "'comma'", DIAG_STRAY_COMMA, 1, 3},
	{OP("empty", ",\"args\":{}"), "'empty'", DIAG_STRAY_COMMA, 0, 3},
	{OP("inf", ",\"args\":{\"x\":inf,\"y\":nan}"), "'inf'", DIAG_NOT_FINITE, 2, 3},
	{OP("nan", ",\"args\":{\"Sequence number\":nan}"), "10000 15000 - 0 'nan'", DIAG_NOT_FINITE,
		1, 3},
	{OP("twice", ",\"ts\":20"), "host_op 20000 25000 - 0 'twice'", DIAG_DUPLICATE_KEY, 1, 3},
	{OP("back", ",\"dur\":-3"), "host_op 10000 10000 - 0 'back'", DIAG_NEGATIVE_DURATION, 1, 3},
	{OP("text", ",\"ts\":\"30.5\",\"dur\":\"2\""), "host_op 30500 32500 - 0 'text'",
		DIAG_BAD_FIELD, 0, 3},
	{OP("big", ",\"args\":{\"Sequence number\":10159970886766084423}"), "15000 - 0 'big'",
		DIAG_BIG_NUMBER, 1, 3},
	{OP("open", ",\"args\":{\"finished\":\"false\"}"), "'open'", DIAG_UNFINISHED_EVENT, 1, 3},
	{OP("late", ",\"ts\":99999999999999999"), NULL, DIAG_BAD_FIELD, 1, 3},
	{"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"n\",\"pid\":1,\"tid\":2,\"dur\":5}", NULL,
		DIAG_BAD_FIELD, 1, 3},
	{"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5}", NULL,
		DIAG_BAD_FIELD, 1, 3},
	{"{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"n\",\"ts\":1}", NULL, DIAG_UNKNOWN_CATEGORY,
		1, 3},
	{"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"Python "
	 "GC\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5}",
		"'Python GC' '' - 2", DIAG_UNKNOWN_CATEGORY, 0, 3},
	{"{\"ph\":\"X\",\"cat\":\"mystery\",\"name\":\"n\",\"ts\":1,\"dur\":5}", NULL,
		DIAG_UNKNOWN_CATEGORY, 1, 3},
	{"{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"old\",\"pid\":1,\"tid\":\"77\",\"ts\":1,"
	 "\"dur\":5}",
		"'old'", DIAG_UNKNOWN_CATEGORY, 0, 3},
	{"{\"ph\":\"X\",\"cat\":\"Kernel\",\"name\":\"old\",\"pid\":0,\"tid\":\"stream 20\","
	 "\"ts\":1,\"dur\":5}",
		"stream 0 - 20 -", DIAG_NO_LAUNCH, 1, 3},
	{MEMORY("-5", "7"), "memory 150000 1 -512 - 7 0", DIAG_BAD_FIELD, 1, 3},
	{MEMORY("5", "9000000000000000000"), "memory 150000 1 -512 5 - 0", DIAG_BAD_FIELD, 1, 3},
	{"null", NULL, DIAG_BAD_FIELD, 1, 3},
	{"[1,{\"ph\":2}]", NULL, DIAG_BAD_FIELD, 1, 3},
	{"{\"ph\":\"X\" 5}", NULL, DIAG_BAD_EVENT, 1, 2},
	{"{\"ph\":\"X\",,}", NULL, DIAG_BAD_EVENT, 1, 2},
	{"{\"ph\":\"X\",\"name\":\"no end, \"pid\":1}", NULL, DIAG_BAD_EVENT, 1, 2},
	{"{\"ph\":\"X\",\"args\":{\"a\":[1,2}}", NULL, DIAG_BAD_EVENT, 1, 2},
	{"}", NULL, DIAG_BAD_EVENT, 1, 2},
	{"garbage", NULL, DIAG_BAD_EVENT, 1, 2},
};

static void counts_oddities_and_reads_on(void **state)
{
	(void)state;
	for (size_t o = 0; o < sizeof oddities / sizeof *oddities; o++)
		for (size_t window_bytes = 16; window_bytes <= 4096; window_bytes *= 4) {
			struct text text = {0};
			struct trace trace;
			struct err err = {0};
			text_print(&text, "{\"traceEvents\":[%s,%s,%s]}", OP("before", ""),
				oddities[o].event, OP("after", ""));
			if (!read_bytes(text.bytes, text.length, window_bytes, &trace, &err))
				fail_msg("%s: %s", oddities[o].event, err.msg);
			struct text read = trace_as_text(&trace);
			const int64_t count = trace.diag.row[oddities[o].kind].count;
			if (count != oddities[o].count || trace.event_count != oddities[o].events ||
				!strstr(read.bytes, "'before'") || !strstr(read.bytes, "'after'") ||
				(oddities[o].seen && !strstr(read.bytes, oddities[o].seen)) ||
				trace.diag.row[DIAG_TRUNCATED].count)
				fail_msg("%s gave %s", oddities[o].event, read.bytes);
			free(read.bytes);
			free(text.bytes);
			trace_done(&trace);
		}
}

/* Metadata that is no JSON doesn't hide the events, before them or after. */
static void steps_over_bad_metadata(void **state)
{
	(void)state;
	static const char *const documents[] = {
		"{\"label\": \"say \"hi\" there\",\n\"traceEvents\":[" OP("op", "") "]}",
		"{\"INFO\": [\"5\" disk\", \"x\"],\n \"rank\": 1,\n \"traceEvents\":[" OP(
			"op", "") "]}",
		"{\"traceEvents\":[" OP("op", "") "],\n\"INFO\": [\"5\" disk\"],\n"
						  "\"baseTimeNanoseconds\": 7}",
		"{\"traceEvents\":[" OP("op", "") "] \"x\": 1}",
	};
	for (size_t d = 0; d < sizeof documents / sizeof *documents; d++) {
		struct text read = read_as_text(documents[d], strlen(documents[d]), 0);
		if (!strstr(read.bytes, "'op'") || !strstr(read.bytes, "bad_metadata 1\n"))
			fail_msg("%s gave %s", documents[d], read.bytes);
		if (d == 2)
			assert_non_null(strstr(read.bytes, "base 7,"));
		free(read.bytes);
	}
}

/* Cut anywhere, a trace gives every event that is whole, and says that it was cut. */
static void keeps_every_whole_event_of_a_cut_file(void **state)
{
	(void)state;
	struct text text = small_trace(NULL);
	size_t ends[EVENT_COUNT]; /* where each event is whole */
	const char *at = text.bytes + strlen(head);
	for (size_t e = 0; e < EVENT_COUNT; e++) {
		at = strstr(at, events[e]) + strlen(events[e]);
		ends[e] = (size_t)(at - text.bytes);
	}
	const size_t list_begins = strlen(head) - 3; /* after its bracket */
	for (size_t length = 0; length < text.length - 2; length++) {
		struct trace trace;
		struct err err = {0};
		const bool is_read = read_bytes(text.bytes, length, 64, &trace, &err);
		if (length < list_begins) {
			assert_false(is_read);
			assert_int_equal(err.code, ERR_INPUT);
			continue;
		}
		if (!is_read)
			fail_msg("%zu bytes: %s", length, err.msg);
		int64_t whole = 0;
		while ((size_t)whole < EVENT_COUNT && ends[whole] <= length)
			whole++;
		if (trace.event_count != whole || trace.diag.row[DIAG_TRUNCATED].count != 1)
			fail_msg("%zu bytes: %lld events of %lld", length,
				(long long)trace.event_count, (long long)whole);
		trace_done(&trace);
	}
	free(text.bytes);
}

static void survives_every_failed_allocation(void **state)
{
	(void)state;
	struct text text = small_trace(NULL);
	bool is_read = false;
	int64_t nth = 1;
	for (; !is_read; nth++) {
		struct trace trace;
		struct err err = {0};
		mem_fail_after(nth);
		is_read = read_bytes(text.bytes, text.length, 64, &trace, &err);
		const bool has_failed = mem_has_failed();
		mem_fail_after(0);
		if (is_read)
			trace_done(&trace);
		else
			assert_int_equal(err.code, ERR_NOMEM);
		/* A shrink may fail and leave the larger block. */
		if (is_read && has_failed)
			is_read = false;
		assert_true(nth < 100000);
	}
	assert_true(nth > 100);
	free(text.bytes);
}

static void refuses_what_is_no_trace(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[[1, 2], [3, 4]]", "list without trace events"},
		{"{\"a\": 1}", "without traceEvents"},
		{"{}", "without traceEvents"},
		{"{\"a\": ", "ends before its traceEvents"},
		{"[\"x\"]", "list without trace events"},
		{"{\"traceEvents\": {}}", "without traceEvents"},
	};
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		struct trace trace;
		struct err err = {0};
		assert_false(read_bytes(cases[c].text, strlen(cases[c].text), 0, &trace, &err));
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, cases[c].message))
			fail_msg("%s: %s", cases[c].text, err.msg);
	}
	struct text read = read_as_text("{\"traceEvents\": []}", 19, 0);
	assert_non_null(strstr(read.bytes, "no_gpu_ops"));
	free(read.bytes);
}

/* What others counted in the public traces, by Python's json. */
static void counts_public_traces_right(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		int64_t events;
		uint32_t host_ops, gpu_ops;
		int32_t rank, world_size;
	} cases[] = {
		{"hta/nccl_data.json.gz", 40573, 14388, 3774, 0, 2},
		{"hta/ns_resolution_rank0.json.gz", 68692, 23980, 6095, 0, 1},
		{"hta/trace_diff_control.json.gz", 109123, 40794, 9450, 3, 8},
		{"kineto/tb_resnet50_toplevel_array.json.gz", 82276, 42438, 9927, NULL_I32,
			NULL_I32},
		{"tracelens/b200_eager_trace.json.gz", 24656, 4812, 929, 0, 8},
	};
	const char *shared = shared_folder();
	if (!shared)
		skip();
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		char path[1024];
		struct trace trace;
		struct err err = {0};
		snprintf(path, sizeof path, "%s/traces/public/%s", shared, cases[c].file);
		if (!kineto_read(
			    path, &(struct kineto_options){.reads_ahead = c % 2}, &trace, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(trace.event_count, cases[c].events);
		assert_int_equal(trace.host_ops.head.count, cases[c].host_ops);
		assert_int_equal(trace.gpu_ops.head.count, cases[c].gpu_ops);
		assert_int_equal(trace.rank, cases[c].rank);
		assert_int_equal(trace.world_size, cases[c].world_size);
		trace_done(&trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_every_table),
		cmocka_unit_test(is_the_same_through_every_window),
		cmocka_unit_test(is_the_same_in_every_order),
		cmocka_unit_test(takes_keys_in_any_order),
		cmocka_unit_test(counts_oddities_and_reads_on),
		cmocka_unit_test(steps_over_bad_metadata),
		cmocka_unit_test(keeps_every_whole_event_of_a_cut_file),
		cmocka_unit_test(survives_every_failed_allocation),
		cmocka_unit_test(refuses_what_is_no_trace),
		cmocka_unit_test(counts_public_traces_right),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
