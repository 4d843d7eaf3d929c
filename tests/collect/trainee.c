/*
 * See trainee.h.
 */
#include "trainee.h"

#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SLOTS 24
enum {
	MARK = 2,
	PUSH = 9,
	POP = 11
};

static const char *collector_path, *cupti_path;
static char folder[64];

typedef void any_function(void);
static any_function *functions[SLOTS];
static any_function **slots[SLOTS + 1];

static void now_push(const char *text)
{
	if (functions[PUSH])
		(void)((int (*)(const char *))functions[PUSH])(text);
}

static void now_pop(void)
{
	if (functions[POP])
		(void)((int (*)(void))functions[POP])();
}

static void now_mark(const char *text)
{
	if (functions[MARK])
		((void (*)(const char *))functions[MARK])(text);
}

int64_t trainee_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_ms(int64_t ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static int module_functions(unsigned module, any_function ****ret_slots, unsigned *ret_count)
{
	if (module != 1)
		return 0;
	*ret_slots = slots;
	*ret_count = SLOTS;
	return 1;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t bytes;
		int (*module_functions)(unsigned, any_function ****, unsigned *);
	} table = {sizeof table, module_functions};
	return id == 1 ? &table : NULL;
}

void launch_many(const struct trainee *t, int count)
{
	for (int i = 0; i < count; i++) {
		const int64_t now = t->now_ns();
		t->cupti->kernel(
			t->cupti->call(false, 211, now, now + 1), 7, "k", now + 10, now + 11);
	}
}

void trainee_use(const char *collector, const char *cupti)
{
	(void)signal(SIGTERM, SIG_DFL); /* whoever runs the tests may ignore it */
	collector_path = collector;
	cupti_path = cupti;
	snprintf(folder, sizeof folder, "%s", "/tmp/inquest_recorder.XXXXXX");
	if (!mkdtemp(folder))
		exit(2);
}

void clear_folder(void)
{
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char path[400];
		snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] != '.')
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

int trainee_set_up(void **state)
{
	(void)state;
	static const char *const unset[] = {"STANDIN_CUPTI_TAKEN", "INQUEST_RECORD_STEPS",
		"INQUEST_RECORD_AFTER", "INQUEST_RECORD_FOR", "SLURM_PROCID", "SLURM_NTASKS",
		"TRAINEE_WITHOUT_CUDA", "TRAINEE_LATE_RANK"};
	clear_folder();
	for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
		unsetenv(unset[i]);
	setenv("STANDIN_CUPTI_VERSION", "130001", 1);
	setenv("INQUEST_RECORD_CUPTI", cupti_path, 1);
	setenv("INQUEST_RECORD_DIR", folder, 1);
	setenv("INQUEST_RECORD_PARENT", "1", 1);
	setenv("RANK", "0", 1);
	setenv("WORLD_SIZE", "2", 1);
	return 0;
}

void trainee_done(void)
{
	clear_folder();
	rmdir(folder);
}

const char *trainee_folder(void)
{
	return folder;
}

/* Libraries are loaded with a plain path of their own, as the driver does. */
static int live(void (*body)(const struct trainee *trainee))
{
	struct trainee trainee = {.push = now_push,
		.pop = now_pop,
		.mark = now_mark,
		.now_ns = trainee_now_ns,
		.sleep_ms = sleep_ms};
	for (int i = 0; i < SLOTS; i++)
		slots[i] = &functions[i];
	void *cupti = dlopen(cupti_path, RTLD_NOW | RTLD_LOCAL);
	trainee.collector = dlopen(collector_path, RTLD_NOW | RTLD_LOCAL);
	if (!cupti || !trainee.collector) {
		fprintf(stderr, "%s\n", dlerror());
		return 100;
	}
	trainee.cupti = dlsym(cupti, "standin_cupti");
	int (*nvtx)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(
		trainee.collector, "InitializeInjectionNvtx2");
	int (*cuda)(void) = (int (*)(void))dlsym(trainee.collector, "InitializeInjection");
	if (!trainee.cupti || !nvtx || !cuda)
		return 101;
	(void)nvtx(export_table);
	if (getenv("TRAINEE_LATE_RANK"))
		setenv("RANK", getenv("TRAINEE_LATE_RANK"), 1);
	if (!getenv("TRAINEE_WITHOUT_CUDA") && (cuda() != 1 || cuda() != 1))
		return 102;
	body(&trainee);
	const int64_t wrong = trainee.cupti->last_wrong();
	if (wrong) {
		fprintf(stderr, "standin_cupti.c:%d was reached\n", (int)wrong);
		return 103;
	}
	return 0;
}

int train_beside(void (*body)(const struct trainee *trainee))
{
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0) {
		fclose(stdout); /* TAP is the parent's */
		exit(live(body));
	}
	assert_true(pid > 0);
	return pid;
}

int wait_for(int pid)
{
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void train(void (*body)(const struct trainee *trainee), int expected_status)
{
	assert_int_equal(wait_for(train_beside(body)), expected_status);
}
