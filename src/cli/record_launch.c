#include "cli/record_launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENV_CUDA "CUDA_INJECTION64_PATH"
#define ENV_NVTX "NVTX_INJECTION64_PATH"
#define ENV_NCCL "NCCL_PROFILER_PLUGIN"

static const int ignored[] = {SIGPIPE, SIGXFSZ};
#define IGNORED_COUNT (sizeof ignored / sizeof *ignored)
static struct sigaction before[IGNORED_COUNT];
static bool has_before;

void record_ignore_signals(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	for (size_t i = 0; i < IGNORED_COUNT; i++)
		sigaction(ignored[i], &ignore, &before[i]);
	has_before = true;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

bool record_is_taken(char *problem, size_t problem_size)
{
	static const char *const names[] = {ENV_CUDA, ENV_NVTX};
	if (is_set("INQUEST_RECORD_PARENT")) {
		snprintf(problem, problem_size, "another 'inquest record' records this already");
		return true;
	}
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_set(names[i])) {
			snprintf(problem, problem_size,
				"another tool is to trace this: %s is %s, and only one can",
				names[i], getenv(names[i]));
			return true;
		}
	return false;
}

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* Before what is there: the hook must be the first sitecustomize that Python finds. */
static void put_before(const char *name, const char *folder)
{
	char *joined;
	const char *now = getenv(name);
	if (asprintf(&joined, "%s%s%s", folder, now && *now ? ":" : "", now ? now : "") < 0)
		return;
	setenv(name, joined, 1);
	free(joined);
}

/* The names are those of src/collect/protocol.h, which belongs to another process. */
static void set_environment(const struct record_request *request, pid_t parent)
{
	char number[24];
	snprintf(number, sizeof number, "%ld", (long)parent);
	set("INQUEST_RECORD_PARENT", number);
	set("INQUEST_RECORD_DIR", request->folder);
	set("INQUEST_RECORD_COLLECTOR", request->collector);
	set("INQUEST_RECORD_STEPS", request->steps);
	set("INQUEST_RECORD_AFTER", request->after);
	set("INQUEST_RECORD_FOR", request->duration);
	set(ENV_CUDA, request->collector);
	set(ENV_NVTX, request->collector);
	/* Every NCCL takes this word, not every one a path; a plugin of the user's own stays. */
	if (!is_set(ENV_NCCL))
		set(ENV_NCCL, "STATIC_PLUGIN");
	if (!request->has_flops)
		set("INQUEST_RECORD_NO_FLOPS", "1");
	if (request->hook)
		put_before("PYTHONPATH", request->hook);
}

/* Whether keys pressed on a terminal signal this process, and so its group. */
static bool is_in_foreground(void)
{
	const int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (terminal < 0)
		return false;
	const bool is_ours = tcgetpgrp(terminal) == getpgrp();
	close(terminal);
	return is_ours;
}

_Noreturn static void become(const struct record_request *request, pid_t parent, bool has_own_group,
	const sigset_t *mask, int report)
{
	if (has_own_group)
		setpgid(0, 0);
	/* A parent that is killed can't pass anything on. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
	for (size_t i = 0; i < IGNORED_COUNT && has_before; i++)
		sigaction(ignored[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	set_environment(request, parent);
	execvp(request->command[0], request->command);
	const int problem = errno;
	if (write(report, &problem, sizeof problem) < 0)
		_exit(126);
	_exit(problem == ENOENT ? 127 : 126);
}

static void listen_to(sigset_t *ret)
{
	static const int numbers[] = {
		SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGALRM};
	sigemptyset(ret);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaddset(ret, numbers[i]);
}

/*
 * A command in our group has its signals from the terminal already, and from `timeout` and its like
 * (a group's leader that signals the group); one in its own group has them from us only.
 */
static bool must_pass(const siginfo_t *info, bool has_own_group)
{
	return has_own_group || (info->si_code <= 0 && info->si_pid != getpgrp());
}

static int watch(pid_t child, const sigset_t *signals, bool has_own_group)
{
	siginfo_t info;
	int status;
	for (;;) {
		if (sigwaitinfo(signals, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			if (must_pass(&info, has_own_group))
				kill(child, info.si_signo);
			continue;
		}
		const pid_t ended = waitpid(child, &status, WNOHANG);
		if (ended == child)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		if (ended < 0 && errno != EINTR)
			return 126;
	}
}

/* A second Ctrl-C that came in the meantime was meant for the command too. */
static void forget_pending(const sigset_t *signals)
{
	const struct timespec at_once = {0};
	while (sigtimedwait(signals, NULL, &at_once) > 0)
		;
}

int record_launch(const struct record_request *request, bool *ret_has_run)
{
	int report[2], problem = 0;
	sigset_t signals, mask;
	const pid_t parent = getpid();
	const bool has_own_group = !is_in_foreground();
	*ret_has_run = false;
	if (pipe2(report, O_CLOEXEC) != 0) {
		fprintf(stderr, "inquest: can't run the command: %s\n", strerror(errno));
		return 126;
	}
	listen_to(&signals);
	sigprocmask(SIG_BLOCK, &signals, &mask);
	const pid_t child = fork();
	if (child == 0)
		become(request, parent, has_own_group, &mask, report[1]);
	if (child < 0)
		problem = errno;
	close(report[1]);
	const int code = child < 0 ? 126 : watch(child, &signals, has_own_group);
	if (child > 0 && read(report[0], &problem, sizeof problem) != sizeof problem)
		problem = 0;
	close(report[0]);
	forget_pending(&signals);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	*ret_has_run = !problem;
	if (problem)
		fprintf(stderr, "inquest: can't run '%s': %s\n", request->command[0],
			strerror(problem));
	return code;
}
