/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses the library as an agent would, and checks what include/pinfold.h promises. Built by api.bats. */
#include <errno.h>
#include <fcntl.h>
#include <pinfold.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                          \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
			exit(1);                                                                  \
		}                                                                                 \
	} while (0)

static volatile sig_atomic_t children_heard;

static void hear_child(int sig)
{
	(void)sig;
	children_heard++;
}

struct made {
	struct pinfold_policy *policy;
	struct pinfold_host *host;
	struct pinfold_plan *plan;
};

static struct made make(const char *script)
{
	char shell[] = "sh", option[] = "-c", copy[512];
	char *argv[] = { shell, option, copy, NULL };
	struct made made = { pinfold_policy_new(), pinfold_host_new(), NULL };
	struct pinfold_error err;

	snprintf(copy, sizeof(copy), "%s", script);
	CHECK(pinfold_policy_load(made.policy, NULL, &err) == 0);
	CHECK(pinfold_plan_new(&made.plan, made.policy, made.host, argv, false, &err) == 0);
	return made;
}

static void unmake(struct made *made)
{
	made->plan = pinfold_plan_free(made->plan);
	made->policy = pinfold_policy_free(made->policy);
	made->host = pinfold_host_free(made->host);
	CHECK(!made->plan && !made->policy && !made->host);
}

static struct pinfold_run *start(struct made *made, const struct pinfold_run_options *options)
{
	struct pinfold_run *run = NULL;

	CHECK(pinfold_run_start(&run, made->plan, options, NULL) == 0);
	return run;
}

static struct pinfold_outcome *end_of(struct pinfold_run *run)
{
	struct pinfold_outcome *outcome = NULL;

	CHECK(pinfold_run_wait(run, 10000, &outcome, NULL) == 0);
	return outcome;
}

/* ---- what is promised ------------------------------------------------------------------------------------------ */

static void a_run_is_polled_and_its_outcome_lives_on(void)
{
	struct made made = make("exit 7");
	struct pinfold_run *run = start(&made, NULL);
	struct pollfd poller = { .fd = pinfold_run_fd(run), .events = POLLIN };
	struct pinfold_outcome *outcome;
	struct pinfold_guarantee guarantee;
	char *json;

	CHECK(poll(&poller, 1, 10000) == 1);
	outcome = end_of(run);
	CHECK(pinfold_run_fd(run) == -1);
	CHECK(pinfold_run_wait(run, 0, &outcome, NULL) == -EINVAL);
	pinfold_run_free(run);
	unmake(&made);
	CHECK(pinfold_outcome_ran(outcome) && pinfold_outcome_status(outcome) == 7);
	CHECK(!pinfold_outcome_error(outcome) && !pinfold_outcome_timed_out(outcome));
	CHECK(pinfold_outcome_guarantee(outcome, 0, &guarantee) == 0 && strcmp(guarantee.name, "writes") == 0);
	CHECK(guarantee.state == PINFOLD_HELD && guarantee.by[0]);
	CHECK(pinfold_outcome_guarantee(outcome, 99, NULL) == -ENOENT);
	CHECK(pinfold_outcome_json(outcome, &json, NULL) == 0 && strstr(json, "\"exit 7\""));
	free(json);
	CHECK(!pinfold_outcome_free(outcome));
}

static void a_running_one_times_out_and_is_killed(void)
{
	struct made made = make("sleep 60 & sleep 60");
	struct pinfold_run *run = start(&made, NULL);
	struct pinfold_outcome *outcome = NULL;
	struct pinfold_error err;
	time_t begin = time(NULL);

	CHECK(pinfold_run_wait(run, 200, &outcome, &err) == -ETIMEDOUT && !outcome);
	pinfold_run_kill(run);
	outcome = end_of(run);
	CHECK(pinfold_outcome_ran(outcome) && pinfold_outcome_status(outcome) == 137);
	pinfold_outcome_free(outcome);
	pinfold_run_free(run);

	run = start(&made, NULL);
	CHECK(pinfold_run_wait(run, 0, &outcome, NULL) == -ETIMEDOUT);
	CHECK(!pinfold_run_free(run)); /* ends it */
	unmake(&made);
	CHECK(time(NULL) - begin < 20);
}

static void output_goes_where_the_caller_says(void)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	struct made made = make("cat; echo err >&2");
	struct pinfold_run *run;
	char text[64] = "";
	int in[2], out[2];
	ssize_t n, len = 0;

	CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	options.stdio[0] = in[0];
	options.stdio[1] = options.stdio[2] = out[1];
	run = start(&made, &options);
	close(in[0]);
	close(out[1]);
	CHECK(write(in[1], "in\n", 3) == 3);
	close(in[1]);
	while ((n = read(out[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	close(out[0]);
	CHECK(strcmp(text, "in\nerr\n") == 0);
	pinfold_outcome_free(end_of(run));
	pinfold_run_free(run);
	unmake(&made);
}

/* E110a: the pen's mount is read-only, but a descriptor leads to the host's, where Landlock does not hold modes. */
static void a_file_that_is_read_cannot_be_changed(const char *path)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	struct made made = make("cat >/dev/null; echo forged >/proc/self/fd/0; chmod 400 /proc/self/fd/0");
	struct pinfold_run *run;
	struct stat st;
	char text[16] = "";
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, "notes", 5) == 5);
	close(fd);
	options.stdio[0] = open(path, O_RDONLY | O_CLOEXEC);
	options.stdio[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	run = start(&made, &options);
	close(options.stdio[0]);
	close(options.stdio[2]);
	pinfold_outcome_free(end_of(run));
	pinfold_run_free(run);
	unmake(&made);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(read(fd, text, sizeof(text) - 1) == 5 && strcmp(text, "notes") == 0);
	CHECK(fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0600);
	close(fd);
}

static void only_named_descriptors_are_passed(void)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	int passed = open("/dev/null", O_RDONLY), kept = open("/dev/null", O_RDONLY);
	struct pinfold_outcome *outcome;
	struct pinfold_run *run;
	struct made made;
	char script[128];

	snprintf(script, sizeof(script), "test -e /proc/self/fd/%d && test ! -e /proc/self/fd/%d", passed, kept);
	made = make(script);
	options.pass_fds = &passed;
	options.pass_fd_count = 1;
	run = start(&made, &options);
	outcome = end_of(run);
	CHECK(pinfold_outcome_status(outcome) == 0);
	pinfold_outcome_free(outcome);
	pinfold_run_free(run);
	close(passed);
	close(kept);
	CHECK(pinfold_run_start(&run, made.plan, &options, NULL) == -EBADF);
	options.size = 1;
	CHECK(pinfold_run_start(&run, made.plan, &options, NULL) == -EINVAL);
	unmake(&made);
}

static void misuse_is_an_error_and_no_crash(void)
{
	struct pinfold_policy *policy = pinfold_policy_new();
	struct pinfold_host *host = pinfold_host_new();
	char word[] = "true", *argv[] = { word, NULL }, *none[] = { NULL }, *text;
	struct pinfold_plan *plan;
	struct pinfold_error err;

	CHECK(pinfold_policy_set(policy, "bogus", "1", &err) == -EINVAL && err.code == PINFOLD_USAGE);
	CHECK(pinfold_policy_set(policy, "--time", "soon", &err) == -EINVAL && strcmp(err.key, "--time") == 0);
	CHECK(pinfold_policy_set(policy, "time", "soon", NULL) == -EINVAL);
	CHECK(pinfold_policy_show(policy, NULL, PINFOLD_TEXT, &text, &err) == -EINVAL);
	CHECK(pinfold_plan_new(&plan, policy, host, argv, true, &err) == -EINVAL);
	CHECK(!pinfold_policy_get(policy, "time"));
	CHECK(pinfold_policy_set(policy, "tmp_size", "64M", &err) == 0);
	CHECK(pinfold_policy_load(policy, NULL, &err) == 0);
	CHECK(strcmp(pinfold_policy_get(policy, "--tmp-size"), "64M") == 0);
	CHECK(strcmp(pinfold_policy_get(policy, "mode"), "required") == 0 && !pinfold_policy_get(policy, "time"));
	CHECK(pinfold_policy_set(policy, "time", "1s", &err) == -EINVAL);
	CHECK(pinfold_policy_load(policy, NULL, &err) == -EINVAL);
	CHECK(pinfold_plan_new(&plan, policy, host, none, true, &err) == -EINVAL);
	CHECK(pinfold_policy_show(policy, host, PINFOLD_JSON, &text, &err) == 0);
	free(text);
	CHECK(!pinfold_policy_free(policy) && !pinfold_policy_free(NULL) && !pinfold_host_free(host));
	CHECK(!pinfold_host_free(NULL) && !pinfold_plan_free(NULL));
	CHECK(!pinfold_run_free(NULL) && !pinfold_outcome_free(NULL));
}

/* Confined, and the thread that asked is not: what is set up is set up after the fork, in a process with one thread. */
static void *many_runs(void *arg)
{
	(void)arg;
	for (int i = 0; i < 5; i++) {
		struct made made = make("grep -q 'Seccomp:[^0-9]*2' /proc/self/status && ! touch ../beside 2>/dev/null "
					"&& exit 5");
		struct pinfold_run *run = start(&made, NULL);
		struct pinfold_outcome *outcome = end_of(run);

		CHECK(pinfold_outcome_status(outcome) == 5);
		pinfold_outcome_free(outcome);
		pinfold_run_free(run);
		unmake(&made);
		CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0);
	}
	return NULL;
}

static void threads_run_side_by_side(void)
{
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, many_runs, NULL) == 0);
	for (size_t i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Both ends of a run: the outcome that is waited for, and the one that nobody wants to hear. */
static void what_is_planted_is_moved(void)
{
	struct made made = make("echo x >.envrc; mkdir -p .vscode");
	struct pinfold_outcome *outcome = end_of(start(&made, NULL));
	struct pinfold_violation violation;

	CHECK(pinfold_outcome_violation(outcome, 0, &violation) == 0 && strcmp(violation.below, ".envrc") == 0);
	CHECK(strcmp(violation.action, "moved") == 0 && access(violation.moved_to, F_OK) == 0);
	CHECK(pinfold_outcome_violation(outcome, 1, &violation) == 0 && strcmp(violation.below, ".vscode") == 0);
	CHECK(pinfold_outcome_violation(outcome, 2, &violation) == -ENOENT);
	CHECK(pinfold_outcome_check_is_complete(outcome) && pinfold_outcome_status(outcome) == 0);
	CHECK(access(".envrc", F_OK) < 0 && access(".vscode", F_OK) < 0);
	pinfold_outcome_free(outcome);
	unmake(&made);

	made = make("echo x >.envrc; touch planted; sleep 60");
	struct pinfold_run *run = start(&made, NULL);

	for (int i = 0; i < 500 && access("planted", F_OK) < 0; i++)
		usleep(10000);
	CHECK(access(".envrc", F_OK) == 0);
	pinfold_run_free(run);
	CHECK(access(".envrc", F_OK) < 0);
	unmake(&made);
}

/* A supervisor that is nobody's child here watches the mounts as well (E011). */
static void what_the_host_replaces_stays_protected(void)
{
	struct made made;
	struct pinfold_outcome *outcome;
	struct pinfold_violation violation;
	struct pinfold_run *run;

	CHECK(system("echo old >.envrc") == 0);
	made = make("exec 2>/dev/null; touch there; while [ ! -e replaced ]; do sleep 0.02; done; echo evil >>.envrc");
	run = start(&made, NULL);
	for (int i = 0; i < 500 && access("there", F_OK) < 0; i++)
		usleep(10000);
	CHECK(system("echo host >new && mv new .envrc && sleep 0.3 && touch replaced") == 0);
	outcome = end_of(run);
	CHECK(pinfold_outcome_status(outcome) != 0);
	CHECK(pinfold_outcome_violation(outcome, 0, &violation) == 0 && strcmp(violation.below, ".envrc") == 0);
	CHECK(system("test \"$(cat .envrc)\" = host && rm .envrc") == 0);
	pinfold_outcome_free(outcome);
	pinfold_run_free(run);
	unmake(&made);
}

/* The second run sees what the first has left in git's configuration, and the check finds nothing wrong with it. */
static void a_plan_runs_twice_in_a_repository(void)
{
	struct pinfold_violation violation;
	struct made made;

	CHECK(system("git init -q -b main . && git config user.name T && git config user.email t@example.invalid && "
		     "git commit -q --allow-empty -m one") == 0);
	made = make("test -e .git/refs/heads/topic || exec git switch -q -c topic --track main; "
		    "git config alias.x y; test $(git rev-parse --abbrev-ref @{u}) = main");
	for (int i = 0; i < 2; i++) {
		struct pinfold_run *run = start(&made, NULL);
		struct pinfold_outcome *outcome = end_of(run);
		const char *notice = pinfold_outcome_notice(outcome, 0);

		CHECK(pinfold_outcome_status(outcome) == 0);
		CHECK(pinfold_outcome_violation(outcome, 0, &violation) == -ENOENT);
		CHECK(i == 0 ? !notice : notice && strstr(notice, "alias.x was not kept"));
		CHECK(!pinfold_outcome_notice(outcome, 1));
		pinfold_outcome_free(outcome);
		pinfold_run_free(run);
	}
	unmake(&made);
	CHECK(system("test \"$(git config branch.topic.merge)\" = refs/heads/main") == 0);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = hear_child }, usual = { .sa_handler = SIG_DFL }, after;
	int before = count_descriptors();

	sigaction(SIGCHLD, &action, NULL);
	a_run_is_polled_and_its_outcome_lives_on();
	a_running_one_times_out_and_is_killed();
	output_goes_where_the_caller_says();
	CHECK(argc == 2);
	a_file_that_is_read_cannot_be_changed(argv[1]);
	only_named_descriptors_are_passed();
	misuse_is_an_error_and_no_crash();
	threads_run_side_by_side();
	what_is_planted_is_moved();
	sigaction(SIGCHLD, &usual, NULL);
	what_the_host_replaces_stays_protected();
	a_plan_runs_twice_in_a_repository();
	sigaction(SIGCHLD, &action, NULL);
	/* The caller's process is as it was: its handler, its children, its descriptors. */
	sigaction(SIGCHLD, NULL, &after);
	CHECK(after.sa_handler == hear_child && children_heard == 0);
	CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	CHECK(count_descriptors() == before);
	puts("all kept");
	return 0;
}
