/*
 * NVTX's side of the collector.  Two stand-ins: programs with NVIDIA's own NVTX (where its header
 * is installed; else those cases are skipped), and a table made by hand, as old and as odd as NVTX
 * may hand one over.
 *
 * Usage: nvtx_test COLLECTOR [CLIENT CLIENT]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/nvtx.h"
#include "note_keeper.h"
#include "nvtx_client.h"

static const struct note_keeper *keeper;
static const struct nvtx_client *clients[2];
static void (*marked_step_in_cxx)(int64_t n); /* NULL without a compiler for C++ */
static int (*entry)(nvtx_export_table tables), (*old_entry)(nvtx_export_table tables);

static int set_up(void **state)
{
	(void)state;
	keeper->clear();
	return 0;
}

static void assert_note(size_t index, enum note_kind kind, const char *text)
{
	const struct note *note = keeper->at(index);
	assert_non_null(note);
	assert_int_equal(note->kind, kind);
	assert_string_equal(note->text, text);
	assert_int_equal(note->text_length, strlen(text));
	assert_int_equal(note->tid, gettid());
	assert_true(note->at_ns > INT64_C(1600000000000000000));
}

/* cmocka's own skip() is a failure to meson. */
static bool lacks(bool is_lacking, const char *what)
{
	if (is_lacking)
		printf("# left out: no %s\n", what);
	return is_lacking;
}

static bool lacks_clients(void)
{
	return lacks(!clients[0] || !clients[1], "NVTX headers");
}

/* An NVTX made by hand: two modules, whose slots are filled in by who attaches. */

#define SLOTS 24
static void (*core[SLOTS])(void), (*core2[SLOTS])(void);
static void (**core_slots[SLOTS])(void), (**core2_slots[SLOTS])(void);
static unsigned core_slot_count, core2_slot_count;

static int module_functions(unsigned module, void (****ret_slots)(void), unsigned *ret_count)
{
	if ((module != 1 || !core_slot_count) && (module != 5 || !core2_slot_count))
		return 0;
	*ret_slots = module == 1 ? core_slots : core2_slots;
	*ret_count = module == 1 ? core_slot_count : core2_slot_count;
	return 1;
}

static struct {
	size_t struct_size;
	int (*module_functions)(unsigned, void (****)(void), unsigned *);
} callbacks = {sizeof callbacks, module_functions};

static const void *tables(uint32_t id)
{
	return id == 1 ? &callbacks : NULL;
}

static const void *no_tables(uint32_t id)
{
	(void)id;
	return NULL;
}

static void make_by_hand(unsigned core_count, unsigned core2_count)
{
	for (size_t i = 0; i < SLOTS; i++) {
		core[i] = core2[i] = NULL;
		core_slots[i] = i ? &core[i] : NULL;
		core2_slots[i] = i ? &core2[i] : NULL;
	}
	core_slot_count = core_count;
	core2_slot_count = core2_count;
}

typedef int (*push_function)(const char *text);
typedef int (*pop_function)(void);
typedef int (*domain_push_function)(const void *domain, const void *attributes);
typedef const void *(*register_function)(const void *domain, const char *text);
typedef const void *(*create_function)(const char *name);

static void test_tables_by_hand(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	assert_int_equal(entry(tables), 1);
	assert_int_equal(keeper->starts(), 1);
	const int core_attached[] = {1, 2, 3, 4, 5, 6, 8, 9, 10, 11};
	const int core2_attached[] = {1, 2, 4, 5, 10, 11, 12, 13};
	for (size_t i = 0; i < sizeof core_attached / sizeof *core_attached; i++)
		assert_non_null(core[core_attached[i]]);
	for (size_t i = 0; i < sizeof core2_attached / sizeof *core2_attached; i++)
		assert_non_null(core2[core2_attached[i]]);
	assert_null(core[7]);
	assert_null(core2[14]);
	assert_int_equal(((push_function)core[9])("a"), -2);
	assert_int_equal(((pop_function)core[11])(), -2);
	assert_note(0, NOTE_PUSH, "a");
	assert_note(1, NOTE_POP, "");
}

static void test_old_and_odd_tables(void **state)
{
	(void)state;
	make_by_hand(12, 0); /* NVTX 1: no domains */
	assert_int_equal(old_entry(tables), 1);
	assert_non_null(core[11]);
	make_by_hand(10, 6); /* shorter than ours */
	core_slots[9] = NULL;
	assert_int_equal(old_entry(tables), 1);
	assert_null(core[9]);
	assert_null(core[10]);
	assert_non_null(core2[5]);
	assert_null(core2[10]);
	make_by_hand(0, 0);
	assert_int_equal(entry(tables), 0);
	assert_int_equal(entry(no_tables), 0);
	assert_int_equal(entry(NULL), 0);
	callbacks.struct_size = sizeof(size_t);
	make_by_hand(16, 16);
	assert_int_equal(entry(tables), 0);
	callbacks.struct_size = sizeof callbacks;
}

static void test_process_that_is_not_recorded(void **state)
{
	(void)state;
	char *parent = strdup(getenv("INQUEST_RECORD_PARENT"));
	unsetenv("INQUEST_RECORD_PARENT");
	make_by_hand(16, 16);
	assert_int_equal(entry(tables), 0);
	assert_null(core[9]);
	assert_int_equal(keeper->starts(), 0);
	setenv("INQUEST_RECORD_PARENT", parent, 1);
	free(parent);
}

/* The layout of event attributes, said again here. */
struct attributes {
	uint16_t version, size;
	uint32_t category, color_kind, color;
	int32_t payload_kind, reserved;
	uint64_t payload;
	int32_t message_kind;
	const void *message;
};

static void test_odd_attributes(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	domain_push_function push = (domain_push_function)core2[4];
	pop_function pop = (pop_function)core[11];
	struct attributes good = {3, sizeof good, .message_kind = 1, .message = "x"};
	struct attributes small = good, foreign = good, none = good;
	small.size = 8;
	foreign.message_kind = 3;
	foreign.message = &good; /* another tool's handle */
	none.message_kind = 0;
	static const char *const expected[] = {"x", "", "?", "", "", "?:x"};
	push(NULL, &good);
	push(NULL, &small);
	push(NULL, &foreign);
	push(NULL, &none);
	push(NULL, NULL);
	push(&good, &good); /* a domain of another tool */
	((push_function)core[9])(NULL);
	for (size_t i = 0; i < 6; i++)
		assert_note(i, NOTE_PUSH, expected[i]);
	assert_note(6, NOTE_PUSH, "");
	for (int i = 0; i < 9; i++) /* two more than were pushed */
		pop();
	assert_int_equal(keeper->count(), 14);
}

static void test_numbers(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	struct attributes a = {3, sizeof a, .message_kind = 1, .message = "n"};
	const struct {
		int32_t kind;
		uint64_t bits;
		const char *text;
	} cases[] = {
		{1, UINT64_MAX, "n [18446744073709551615]"},
		{2, (uint64_t)INT64_MIN, "n [-9223372036854775808]"},
		{2, 0, "n [0]"},
		{3, 0x4059000000000000, "n [100]"}, /* 100.0 */
		{3, 0x3ff8000000000000, "n [1.5]"},
		{3, 0x7ff8000000000000, "n [nan]"},
		{4, 0xffffffff, "n [4294967295]"},
		{5, 0xffffffff, "n [-1]"},
		{6, 0x3f000000, "n [0.5]"},
		{(int32_t)0xdfbd0009, 0xdead, "n"}, /* binary: an address, not followed */
		{77, 1, "n"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		a.payload_kind = cases[i].kind;
		a.payload = cases[i].bits;
		((domain_push_function)core2[4])(NULL, &a);
		assert_note(i, NOTE_PUSH, cases[i].text);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		((pop_function)core[11])();
}

static void test_texts_are_cut(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	char text[1000], cut[NOTE_TEXT_MAX + 1];
	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	memcpy(cut, text, NOTE_TEXT_MAX);
	cut[NOTE_TEXT_MAX] = '\0';
	((push_function)core[9])(text);
	assert_note(0, NOTE_PUSH, cut);
	struct attributes a = {3, sizeof a, .message_kind = 1, .message = text, .payload_kind = 1};
	((domain_push_function)core2[4])(((create_function)core2[12])(text), &a);
	assert_note(1, NOTE_PUSH, cut);
	((pop_function)core[11])();
	((pop_function)core[11])();
}

/* What is registered without end doesn't take memory without end. */
static void test_full_store(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	register_function keep = (register_function)core2[10];
	struct attributes a = {3, sizeof a, .message_kind = 3, .message = keep(NULL, "early")};
	((domain_push_function)core2[4])(NULL, &a);
	for (int i = 0; i < 100000; i++)
		a.message = keep(NULL, i < 50000 ? "a text of some length: soon too much" : "");
	((domain_push_function)core2[4])(((create_function)core2[12])("late"), &a);
	assert_note(0, NOTE_PUSH, "early");
	assert_note(1, NOTE_PUSH, "?:?");
	((pop_function)core[11])();
	((pop_function)core[11])();
}

/* The notes of a thread pair up, whatever windows cut. */
static void test_pops_close_noted_pushes_only(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	push_function push = (push_function)core[9];
	pop_function pop = (pop_function)core[11];
	keeper->record(false);
	push("before");
	keeper->record(true);
	push("inside");
	keeper->refuse(true);
	push("dropped");
	keeper->refuse(false);
	push("outlives");
	keeper->record(false);
	push("after");
	for (int i = 0; i < 5; i++)
		pop();
	assert_int_equal(keeper->count(), 4);
	assert_note(0, NOTE_PUSH, "inside");
	assert_note(1, NOTE_PUSH, "outlives");
	assert_note(2, NOTE_POP, "");
	assert_note(3, NOTE_POP, "");
	for (int i = 0; i < 3; i++)
		pop();
	assert_int_equal(keeper->count(), 4);
}

static void test_steps_are_told_while_nothing_is_recorded(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	push_function push = (push_function)core[9];
	pop_function pop = (pop_function)core[11];
	keeper->record(false);
	push("inquest:step:9");
	assert_int_equal(keeper->step(), 9);
	pop();
	assert_int_equal(keeper->count(), 0);
	push("inquest:step:10");
	pop();
	push("inquest:step:x");
	push("inquest:stepping");
	push("inquest:step:");
	assert_int_equal(keeper->step(), 10);
	push("inquest:step:20");
	for (int i = 0; i < 4; i++)
		pop();
	assert_int_equal(keeper->step(), 20);
	assert_int_equal(keeper->count(), 8);
	assert_note(0, NOTE_PUSH, "inquest:step:10");
	assert_note(4, NOTE_PUSH, "inquest:step:");
	assert_note(7, NOTE_POP, "");
	struct attributes a = {3, sizeof a, .message_kind = 1, .message = "inquest:step:11"};
	((domain_push_function)core2[4])(NULL, &a);
	assert_int_equal(keeper->step(), 11);
	((domain_push_function)core2[4])(((create_function)core2[12])("other"), &a);
	assert_note(9, NOTE_PUSH, "other:inquest:step:11");
	pop();
	pop();
}

static void test_child_of_a_fork(void **state)
{
	(void)state;
	make_by_hand(16, 16);
	entry(tables);
	((push_function)core[9])("parent's");
	pid_t child = fork();
	if (child == 0) {
		((pop_function)core[11])();
		bool is_right = keeper->count() == 1;
		((push_function)core[9])("child's");
		const struct note *note = keeper->at(1);
		_exit(is_right && note && note->tid == gettid() ? 0 : 1);
	}
	int status = -1;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	((pop_function)core[11])();
	assert_note(1, NOTE_POP, "");
}

static void test_two_clients(void **state)
{
	(void)state;
	if (lacks_clients())
		return;
	for (size_t i = 0; i < 2; i++) {
		keeper->clear();
		assert_int_equal(clients[i]->push("FSDP::all_gather (layers.3)"), -2);
		assert_int_equal(keeper->starts(), 1); /* each object attaches once */
		clients[i]->push_number("batch", 32);
		clients[i]->mark_real("loss", 0.25);
		clients[i]->mark("here");
		clients[i]->pop();
		clients[i]->pop();
		assert_note(0, NOTE_PUSH, "FSDP::all_gather (layers.3)");
		assert_note(1, NOTE_PUSH, "batch [32]");
		assert_note(2, NOTE_MARK, "loss [0.25]");
		assert_note(3, NOTE_MARK, "here");
		assert_note(4, NOTE_POP, "");
		assert_note(5, NOTE_POP, "");
		assert_int_equal(keeper->count(), 6);
	}
}

static void test_domains_and_wide_texts(void **state)
{
	(void)state;
	if (lacks_clients())
		return;
	clients[0]->domain_range("NCCL", "ncclAllGather");
	assert_note(0, NOTE_PUSH, "NCCL:ncclAllGather");
	assert_note(1, NOTE_POP, "");
	clients[0]->push_wide(L"\u00fcber \u2192 \U0001f600");
	clients[0]->pop();
	assert_note(2, NOTE_PUSH,
		"\xc3\xbc"
		"ber \xe2\x86\x92 \xf0\x9f\x98\x80");
	uint64_t left_out = keeper->ranges_left_out();
	clients[0]->start_and_end("not kept");
	assert_int_equal(keeper->ranges_left_out(), left_out + 1);
	assert_int_equal(keeper->count(), 4);
}

static void test_markers_of_c(void **state)
{
	(void)state;
	if (lacks_clients())
		return;
	clients[1]->marked_step(9);
	assert_int_equal(keeper->count(), 0);
	clients[1]->marked_step(12);
	static const char *const texts[] = {"inquest:step:12", "inquest:forward",
		"inquest:checkpoint:3:layers.3", "", "", "inquest:backward",
		"inquest:recompute:3:", "", "", "inquest:optimizer", "",
		"inquest:value:tokens:8192", ""};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_note(i, i == 11 ? NOTE_MARK : *texts[i] ? NOTE_PUSH : NOTE_POP, texts[i]);
}

static void test_markers_of_cxx(void **state)
{
	(void)state;
	if (lacks_clients() || lacks(!marked_step_in_cxx, "C++ compiler of the same make"))
		return;
	marked_step_in_cxx(12);
	static const char *const texts[] = {"inquest:step:12", "inquest:forward",
		"inquest:checkpoint:3:layers.3", "", "", "inquest:backward",
		"inquest:recompute:3:", "", "", "inquest:optimizer", "any text",
		"inquest:value:tokens:8192", "", "", ""};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_note(i, i == 11 ? NOTE_MARK : *texts[i] ? NOTE_PUSH : NOTE_POP, texts[i]);
}

static const struct nvtx_client *open_client(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library && !marked_step_in_cxx)
		*(void **)&marked_step_in_cxx = dlsym(library, "marked_step_in_cxx");
	return library ? dlsym(library, "nvtx_client") : NULL;
}

int main(int argc, char **argv)
{
	void *collector = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!collector)
		return 1;
	keeper = dlsym(collector, "note_keeper");
	*(void **)&entry = dlsym(collector, "InitializeInjectionNvtx2");
	*(void **)&old_entry = dlsym(collector, "InitializeInjectionNvtx");
	setenv("NVTX_INJECTION64_PATH", argv[1], 1);
	setenv("INQUEST_RECORD_PARENT", "1", 1);
	for (int i = 0; i < 2 && i + 2 < argc; i++)
		clients[i] = open_client(argv[i + 2]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_tables_by_hand, set_up),
		cmocka_unit_test_setup(test_old_and_odd_tables, set_up),
		cmocka_unit_test_setup(test_process_that_is_not_recorded, set_up),
		cmocka_unit_test_setup(test_odd_attributes, set_up),
		cmocka_unit_test_setup(test_numbers, set_up),
		cmocka_unit_test_setup(test_texts_are_cut, set_up),
		cmocka_unit_test_setup(test_pops_close_noted_pushes_only, set_up),
		cmocka_unit_test_setup(test_steps_are_told_while_nothing_is_recorded, set_up),
		cmocka_unit_test_setup(test_child_of_a_fork, set_up),
		cmocka_unit_test_setup(test_two_clients, set_up),
		cmocka_unit_test_setup(test_domains_and_wide_texts, set_up),
		cmocka_unit_test_setup(test_markers_of_c, set_up),
		cmocka_unit_test_setup(test_markers_of_cxx, set_up),
		cmocka_unit_test_setup(test_full_store, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
