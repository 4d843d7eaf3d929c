/*
 * What the training pays for an NVTX range, for a collective's events and for an API call's
 * callbacks, with the notes of the real collector, recording or not.  Printed, never asserted.
 *
 * Usage: guest_cost COLLECTOR [CLIENT]; without a client, the functions are called from a table
 * made by hand, as NVTX calls them.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "collect/nvtx.h"
#include "noted_collector.h"
#include "nvtx_client.h"
#include "standin_nccl.h"

#define TIMES 2000
#define TRIES 400

static const struct noted_collector *collector;
static int (*push)(const char *text), (*pop)(void);
static void (*functions[16])(void), (**slots[16])(void);
static struct standin_nccl nccl;
static struct standin_comm comm;

static int64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void push_and_pop(void)
{
	push("FSDP::all_gather (layers.3)");
	pop();
}

static void clock_only(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
}

static void gather(void)
{
	static const struct standin_group group = {
		.calls = {{"AllGather", 1000, 9, "RING", "LL128"}}, .count = 1};
	standin_group_run(&comm, &group);
}

/* Calls of a training step in turn, with the two callbacks of each; CUPTI's own share is left out.
 */
static void call(void)
{
	static const struct {
		int domain; /* CUPTI's: 1 driver, 2 runtime */
		uint32_t cbid;
	} calls[] = {{2, 211}, {1, 652}, {2, 211}, {2, 147}, {2, 211}, {2, 370}, {2, 51}, {2, 211}};
	static uint32_t correlation;
	static int result;
	const uint32_t i = correlation++ % (sizeof calls / sizeof *calls);
	struct {
		uint32_t site;
		const void *function, *parameters;
		const int *result;
		const void *symbol, *context;
		uint32_t context_id;
		uint64_t *own;
		uint32_t correlation;
	} data = {.result = &result, .correlation = correlation};
	collector->on_callback(NULL, calls[i].domain, calls[i].cbid, &data);
	data.site = 1;
	collector->on_callback(NULL, calls[i].domain, calls[i].cbid, &data);
}

/* The best of many short stretches: what others do on the machine only adds. */
static void measure(const char *what, void (*act)(void))
{
	int64_t best = INT64_MAX;
	uint64_t dropped = 0;
	for (int i = 0; i < TRIES; i++) {
		const int64_t start = now_ns();
		for (int k = 0; k < TIMES; k++)
			act();
		const int64_t took = now_ns() - start;
		best = took < best ? took : best;
		dropped = collector->drain();
	}
	printf("# %-48s %7.1f ns, %llu dropped\n", what, (double)best / TIMES,
		(unsigned long long)dropped);
}

static int module_functions(unsigned module, void (****ret_slots)(void), unsigned *ret_count)
{
	*ret_slots = slots;
	*ret_count = 16;
	return module == 1;
}

static const void *tables(uint32_t id)
{
	static const struct {
		size_t size;
		int (*module_functions)(unsigned, void (****)(void), unsigned *);
	} callbacks = {sizeof callbacks, module_functions};
	return id == 1 ? &callbacks : NULL;
}

static void attach(void *library, const char *client_path)
{
	void *client_library = client_path ? dlopen(client_path, RTLD_NOW) : NULL;
	const struct nvtx_client *client =
		client_library ? dlsym(client_library, "nvtx_client") : NULL;
	if (client) {
		push = client->push;
		pop = client->pop;
		return;
	}
	for (size_t i = 1; i < 16; i++)
		slots[i] = &functions[i];
	int (*entry)(nvtx_export_table);
	*(void **)&entry = dlsym(library, "InitializeInjectionNvtx2");
	entry(tables);
	push = (int (*)(const char *))functions[9];
	pop = (int (*)(void))functions[11];
}

int main(int argc, char **argv)
{
	setenv("INQUEST_RECORD_PARENT", "1", 1);
	setenv("NVTX_INJECTION64_PATH", argc > 1 ? argv[1] : "", 1);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	collector = library ? dlsym(library, "noted_collector") : NULL;
	if (!collector)
		return 1;
	attach(library, argc > 2 ? argv[2] : NULL);
	measure("the clock, read once", clock_only);
	measure("push and pop, nothing recorded", push_and_pop);
	if (!standin_open(&nccl, library, 6))
		return 1;
	standin_comm_init(&comm, &nccl, "fsdp", 1, 8, 0);
	measure("a gather's events with the stand-in, not recorded", gather);
	measure("a call's callbacks, not recorded", call);
	collector->record(true);
	measure("push and pop, recorded", push_and_pop);
	measure("a gather's events with the stand-in, recorded", gather);
	measure("a call's callbacks, recorded", call);
	return 0;
}
