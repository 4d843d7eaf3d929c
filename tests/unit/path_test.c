/*
 * The job path over several ranks: it goes where the others wait, its sums are exact, clocks do not
 * matter, and no trace, however odd, keeps it from ending.
 */
#include "event_list.h"

#include <stdlib.h>

#include "base/text.h"

#define RANKS	   4
#define MAX_EVENTS 256

/* Several ranks' rows and clocks. */
struct job {
	struct event events[RANKS][MAX_EVENTS];
	uint32_t count[RANKS];
	int64_t shift_ns[RANKS];
	uint32_t ranks;
	uint64_t seed;
};

static void put(struct job *job, uint32_t rank, struct event event)
{
	assert_true(job->count[rank] < MAX_EVENTS);
	job->events[rank][job->count[rank]++] = event;
}

static bool break_down(struct job *job, int32_t from, struct breakdown *ret, struct err *err)
{
	struct trace traces[RANKS];
	const struct analysis_options options = {.tokens_per_step = NULL_I64,
		.thread_count = 1,
		.has_path_from = from >= 0,
		.path_from = from};
	for (uint32_t r = 0; r < job->ranks; r++)
		list_trace(&traces[r], job->events[r], job->count[r],
			&(struct list_options){.rank = (int32_t)r,
				.world_size = (int32_t)job->ranks,
				.shift_ns = job->shift_ns[r]});
	const bool ok = list_break_down(traces, job->ranks, &options, ret, err);
	for (uint32_t r = 0; r < job->ranks; r++)
		trace_done(&traces[r]);
	return ok;
}

/* "NAME WALL: rank state ns, ...; from>to ns collective" of every step. */
static void write_path(struct text *text, const struct breakdown *breakdown)
{
	for (uint32_t s = 0; s < breakdown->path_count; s++) {
		const struct path_step *step = &breakdown->path[s];
		text_add(text, "%s%s %.10g:", s ? "\n" : "", step->name,
			(double)step->wall_ns / 1000);
		for (uint32_t p = 0; p < step->parts.count; p++) {
			const struct part *part = &step->parts.items[p];
			text_add(text, " %d %s %.10g,", part->rank,
				part->state == STATE_BLOCKED ? holder_word(part->on)
							     : state_word(part->state),
				(double)part->ns / 1000);
		}
		for (uint32_t h = 0; h < step->hop_count; h++)
			text_add(text, " %d>%d %.10g %s", step->hops[h].from_rank,
				step->hops[h].to_rank, (double)step->hops[h].ns / 1000,
				step->hops[h].collective);
	}
}

static void expect(struct job *job, int32_t from, const char *expected)
{
	struct breakdown breakdown;
	struct err err = {0};
	struct text text = {0};
	if (!break_down(job, from, &breakdown, &err))
		fail_msg("%s", err.msg);
	write_path(&text, &breakdown);
	assert_string_equal(text.bytes, expected);
	text_done(&text);
	breakdown_done(&breakdown);
}

/* One step before, which closes the window, and one in which a rank computes longer. */
static void put_straggler(struct job *job, uint32_t rank, int64_t until)
{
	const struct event events[] = {
		HOST(0, 0, 100, "ProfilerStep#1"),
		HOST(0, 100, 200, "ProfilerStep#2"),
		OP(0, 1, 199, "aten::mm"),
		KERNEL(0, 5, 0, 900, 1000, "a"),
		KERNEL(0, 105, 0, 1000, until, "b"),
		GATHER(0, 106, 1, until + 10, 1550, 64),
		KERNEL(0, 107, 0, 1550, 1600, "c"),
	};
	for (uint32_t i = 0; i < COUNT(events); i++)
		put(job, rank, events[i]);
}

static void two_ranks(void **state)
{
	(void)state;
	static struct job job;
	job = (struct job){.ranks = 2};
	put_straggler(&job, 0, 1200);
	put_straggler(&job, 1, 1500);
	/* Rank 0 was blocked on it from 1210 on; rank 1 came at 1510. */
	static const char *const from_0 = "ProfilerStep#1 100: 1 busy 100,\n"
					  "ProfilerStep#2 600: 1 busy 500, 0 busy 50, "
					  "0 all_gather 40, 1 unexplained 10, "
					  "0>1 300 all_gather unknown unknown";
	static const char *const from_1 = "ProfilerStep#1 100: 1 busy 100,\n"
					  "ProfilerStep#2 600: 1 busy 550, 1 all_gather 40, "
					  "1 unexplained 10,";
	const int64_t shifts[] = {0, 1, -7654321, 123456789};
	for (uint32_t i = 0; i < COUNT(shifts); i++) {
		for (uint32_t r = 0; r < 2; r++) {
			job.shift_ns[r] = shifts[i];
			job.shift_ns[1 - r] = 0;
			expect(&job, -1, from_0);
			expect(&job, 0, from_0);
			expect(&job, 1, from_1);
		}
	}
}

/* The path goes to the last of three, past the second, in one hop. */
static void three_ranks(void **state)
{
	(void)state;
	static struct job job;
	job = (struct job){.ranks = 3, .shift_ns = {0, 1000000, -3000000}};
	put_straggler(&job, 0, 1200);
	put_straggler(&job, 1, 1500);
	put_straggler(&job, 2, 1400);
	for (uint32_t r = 0; r < job.ranks; r++)
		for (uint32_t e = 0; e < job.count[r]; e++)
			job.events[r][e].group_size = 3;
	expect(&job, 2,
		"ProfilerStep#1 100: 1 busy 100,\n"
		"ProfilerStep#2 600: 1 busy 500, 2 busy 50, 2 all_gather 40, 1 unexplained 10, "
		"2>1 100 all_gather unknown unknown");
}

static void one_rank(void **state)
{
	(void)state;
	static struct job job;
	struct breakdown breakdown;
	struct err err = {0};
	job = (struct job){.ranks = 1};
	put_straggler(&job, 0, 1200);
	expect(&job, -1,
		"ProfilerStep#1 100: 0 busy 100,\n"
		"ProfilerStep#2 600: 0 all_gather 340, 0 busy 250, 0 unexplained 10,");
	assert_true(break_down(&job, -1, &breakdown, &err));
	assert_false(breakdown.path_is_job);
	assert_false(breakdown.launch_bound);
	breakdown_done(&breakdown);
}

/* No such rank to start on. */
static void start_elsewhere(void **state)
{
	(void)state;
	static struct job job;
	struct breakdown breakdown;
	struct err err = {0};
	job = (struct job){.ranks = 2};
	put_straggler(&job, 0, 1200);
	put_straggler(&job, 1, 1200);
	assert_false(break_down(&job, 2, &breakdown, &err));
	assert_int_equal(err.code, ERR_USAGE);
}

/* Only the ranks of a communicator wait for one another: 2 is in another pair than 0. */
static void subset_communicators(void **state)
{
	(void)state;
	static struct job job;
	job = (struct job){.ranks = 4};
	const int64_t until[] = {1200, 1500, 1300, 1250};
	for (uint32_t r = 0; r < job.ranks; r++) {
		put_straggler(&job, r, until[r]);
		for (uint32_t e = 0; e < job.count[r]; e++)
			if (job.events[r][e].collective)
				job.events[r][e].communicator = r / 2 ? "1 [2, 3]" : "1 [0, 1]";
	}
	/* With no collective of all ranks the steps part where the latest window begins. */
	expect(&job, 3,
		"ProfilerStep#1 100: 0 busy 100,\n"
		"ProfilerStep#2 600: 2 busy 300, 3 all_gather 240, 3 busy 50, 2 unexplained 10, "
		"3>2 50 all_gather unknown unknown");
	expect(&job, 0,
		"ProfilerStep#1 100: 0 busy 100,\n"
		"ProfilerStep#2 600: 1 busy 500, 0 busy 50, 0 all_gather 40, 1 unexplained 10, "
		"0>1 300 all_gather unknown unknown");
}

/* A collective that the other rank does not show holds no one up, and is told. */
static void unmatched(void **state)
{
	(void)state;
	static struct job job;
	struct breakdown breakdown;
	struct err err = {0};
	job = (struct job){.ranks = 2};
	put_straggler(&job, 0, 1200);
	put_straggler(&job, 1, 1500);
	put(&job, 0, (struct event)GATHER(0, 108, 1, 1560, 1590, 64));
	assert_true(break_down(&job, -1, &breakdown, &err));
	assert_int_equal(breakdown.diag.row[DIAG_UNMATCHED_COLLECTIVE].count, 1);
	assert_int_equal(breakdown.path[1].hop_count, 1);
	breakdown_done(&breakdown);
	job.count[1] -= 2; /* neither the gather nor what follows */
	assert_true(break_down(&job, -1, &breakdown, &err));
	assert_int_equal(breakdown.diag.row[DIAG_UNMATCHED_COLLECTIVE].count, 2);
	assert_int_equal(breakdown.path[1].hop_count, 0);
	breakdown_done(&breakdown);
}

/* Steps that not all ranks have are left out, whatever their numbers. */
static void other_steps(void **state)
{
	(void)state;
	static const char *const names[] = {
		"ProfilerStep#3", "ProfilerStep#4", "ProfilerStep#5", "ProfilerStep#6"};
	static struct job job;
	struct breakdown breakdown;
	struct err err = {0};
	job = (struct job){.ranks = 2, .shift_ns = {0, 5000000}};
	for (uint32_t r = 0; r < 2; r++) {
		for (int64_t s = r; s < 3 + r; s++) {
			const int64_t at = 1000 * s;
			put(&job, r, (struct event)HOST(0, at, at + 1000, names[s]));
			put(&job, r, (struct event)KERNEL(0, at + 5, 0, at + 100, at + 500, "a"));
			put(&job, r, (struct event)GATHER(0, at + 6, 1, at + 500, at + 700, 64));
			put(&job, r, (struct event)KERNEL(0, at + 7, 0, at + 700, at + 900, "b"));
		}
	}
	/* one more in a step that rank 1 has not */
	put(&job, 0, (struct event)GATHER(0, 50, 1, 720, 730, 64));
	assert_true(break_down(&job, -1, &breakdown, &err));
	assert_int_equal(breakdown.path_count, 2);
	assert_string_equal(breakdown.path[0].name, "ProfilerStep#4");
	assert_string_equal(breakdown.path[1].name, "ProfilerStep#5");
	assert_int_equal(breakdown.path[1].wall_ns, US(1000));
	assert_int_equal(breakdown.ranks[0].step_count, 3);
	assert_int_equal(breakdown.diag.row[DIAG_UNMATCHED_COLLECTIVE].count, 0);
	/* rank 1's first window is open, so the first common step is not used */
	assert_int_equal(breakdown.path_used, 1);
	breakdown_done(&breakdown);
}

/* Each waits for the other at the same time, which NCCL can't do: the walk still ends. */
static void cycles(void **state)
{
	(void)state;
	static struct job job;
	job = (struct job){.ranks = 2};
	for (uint32_t r = 0; r < 2; r++) {
		const int64_t late[] = {r ? 1350 : 1010, r ? 1010 : 1350};
		const struct event events[] = {
			HOST(0, 0, 100, "ProfilerStep#1"),
			HOST(0, 100, 200, "ProfilerStep#2"),
			KERNEL(0, 5, 0, 900, 1000, "a"),
			GATHER(0, 106, 1, late[0], 1400, 64, .communicator = "one"),
			GATHER(0, 108, 2, late[1], 1400, 64, .communicator = "two"),
			KERNEL(0, 107, 0, 1400, 1600, "c"),
		};
		for (uint32_t i = 0; i < COUNT(events); i++)
			put(&job, r, events[i]);
	}
	struct breakdown breakdown;
	struct err err = {0};
	assert_true(break_down(&job, -1, &breakdown, &err));
	assert_int_equal(breakdown.path[1].wall_ns, US(600));
	assert_true(breakdown.path[1].hop_count <= 2 * job.ranks);
	breakdown_done(&breakdown);
}

/* --- random jobs --- */

static uint64_t pull(struct job *job)
{
	job->seed ^= job->seed << 13;
	job->seed ^= job->seed >> 7;
	job->seed ^= job->seed << 17;
	return job->seed >> 11;
}

static int64_t below(struct job *job, int64_t limit)
{
	return (int64_t)(pull(job) % (uint64_t)limit);
}

/* One step as a cluster runs it: collectives begin when a rank comes and end for all together. */
static void put_step(struct job *job, int64_t step, int64_t now_us[RANKS])
{
	static const char *const names[] = {"ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3",
		"ProfilerStep#4", "ProfilerStep#5"};
	const int64_t at = step * 100;
	const int64_t layers = 1 + below(job, 5);
	for (uint32_t r = 0; r < job->ranks; r++)
		put(job, r, (struct event)HOST(0, at, at + 100, names[step]));
	for (int64_t l = 0; l < layers; l++) {
		int64_t last_us = 0;
		for (uint32_t r = 0; r < job->ranks; r++) {
			const int64_t length = 1 + below(job, 1000);
			put(job, r,
				(struct event)KERNEL(
					0, at + 4 * l, 0, now_us[r], now_us[r] + length, "a"));
			now_us[r] += length;
			last_us = now_us[r] > last_us ? now_us[r] : last_us;
		}
		const int64_t end_us = last_us + 1 + below(job, 300);
		for (uint32_t r = 0; r < job->ranks; r++) {
			put(job, r,
				(struct event)GATHER(0, at + 4 * l + 1, 1, now_us[r], end_us, 64,
					.group_size = (int32_t)job->ranks));
			now_us[r] = end_us;
		}
	}
	for (uint32_t r = 0; r < job->ranks; r++) {
		const int64_t length = 1 + below(job, 100);
		put(job, r,
			(struct event)KERNEL(
				0, at + 50, 0, now_us[r], now_us[r] + length, "optimizer"));
		now_us[r] += length;
	}
}

static void make_job(struct job *job, uint64_t seed)
{
	*job = (struct job){.seed = seed * 0x9e3779b97f4a7c15u + 1};
	job->ranks = 2 + (uint32_t)below(job, RANKS - 1);
	int64_t now_us[RANKS];
	for (uint32_t r = 0; r < RANKS; r++)
		now_us[r] = 10000;
	const int64_t steps = 2 + below(job, 4);
	for (int64_t s = 0; s < steps; s++)
		put_step(job, s, now_us);
}

static int64_t check_sums(const struct breakdown *breakdown)
{
	int64_t whole_ns = 0;
	for (uint32_t s = 0; s < breakdown->path_count; s++) {
		const struct path_step *step = &breakdown->path[s];
		int64_t sum_ns = 0;
		for (uint32_t p = 0; p < step->parts.count; p++)
			sum_ns += step->parts.items[p].ns;
		assert_int_equal(sum_ns, step->wall_ns);
		for (uint32_t h = 0; h < step->hop_count; h++) {
			assert_true(step->hops[h].ns >= 0);
			assert_int_not_equal(step->hops[h].from_rank, step->hops[h].to_rank);
		}
		whole_ns += step->wall_ns;
	}
	return whole_ns;
}

/* On the path of a job nobody waits for a peer: blocked is only what the collectives take. */
static int64_t blocked_ns(const struct breakdown *breakdown)
{
	int64_t sum_ns = 0;
	for (uint32_t s = 0; s < breakdown->path_count; s++)
		for (uint32_t p = 0; p < breakdown->path[s].parts.count; p++)
			if (breakdown->path[s].parts.items[p].state == STATE_BLOCKED)
				sum_ns += breakdown->path[s].parts.items[p].ns;
	return sum_ns;
}

/* The time that the job's gathers take once the last rank has come. */
static int64_t moving_ns(const struct job *job)
{
	int64_t sum_ns = 0;
	for (uint32_t e = 0; e < job->count[0]; e++) {
		if (!job->events[0][e].collective)
			continue;
		int64_t last_ns = 0;
		for (uint32_t r = 0; r < job->ranks; r++)
			if (job->events[r][e].start_ns > last_ns)
				last_ns = job->events[r][e].start_ns;
		sum_ns += job->events[0][e].end_ns - last_ns;
	}
	return sum_ns;
}

static void random_jobs(void **state)
{
	(void)state;
	static struct job job;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		make_job(&job, seed);
		struct breakdown plain, shifted;
		struct text a = {0}, b = {0};
		struct err err = {0};
		assert_true(break_down(&job, -1, &plain, &err));
		check_sums(&plain);
		assert_int_equal(blocked_ns(&plain), moving_ns(&job));
		for (uint32_t r = 0; r < job.ranks; r++)
			job.shift_ns[r] = below(&job, 100000000) - 50000000;
		assert_true(break_down(&job, -1, &shifted, &err));
		write_path(&a, &plain);
		write_path(&b, &shifted);
		assert_string_equal(a.bytes, b.bytes);
		text_done(&a);
		text_done(&b);
		breakdown_done(&plain);
		breakdown_done(&shifted);
	}
}

/* Rows taken out of a random job, and times that disagree: sums stay exact or it is refused. */
static void broken_jobs(void **state)
{
	(void)state;
	static struct job job;
	uint32_t answered = 0;
	for (uint64_t seed = 1; seed <= 600; seed++) {
		make_job(&job, seed);
		for (int64_t cuts = below(&job, 6); cuts > 0; cuts--) {
			const uint32_t r = (uint32_t)below(&job, job.ranks);
			const uint32_t at = (uint32_t)below(&job, job.count[r]);
			struct event *event = &job.events[r][at];
			if (event->is == EVENT_GPU && below(&job, 2))
				event->start_ns -= below(&job, 400000);
			else
				*event = job.events[r][--job.count[r]];
		}
		struct breakdown breakdown;
		struct err err = {0};
		if (break_down(&job, -1, &breakdown, &err)) {
			answered++;
			check_sums(&breakdown);
			breakdown_done(&breakdown);
		} else if (err.code != ERR_INPUT) {
			fail_msg("job %llu: %s", (unsigned long long)seed, err.msg);
		}
	}
	assert_true(answered > 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_ranks),
		cmocka_unit_test(three_ranks),
		cmocka_unit_test(one_rank),
		cmocka_unit_test(start_elsewhere),
		cmocka_unit_test(subset_communicators),
		cmocka_unit_test(unmatched),
		cmocka_unit_test(other_steps),
		cmocka_unit_test(cycles),
		cmocka_unit_test(random_jobs),
		cmocka_unit_test(broken_jobs),
	};
	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
