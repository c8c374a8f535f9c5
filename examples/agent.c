/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent's tool through the library: runs a shell command offline, for at most a minute, and tells what happened. The
 * process may have threads, as this one has: supervision needs no signal handler and no child of ours.
 *   cc agent.c $(pkg-config --cflags --libs pinfold) -pthread && ./a.out 'make check'
 */
#include <pinfold.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *stream(void *fd)
{
	char text[4096];

	for (ssize_t n; (n = read(*(int *)fd, text, sizeof(text))) > 0;)
		fwrite(text, 1, (size_t)n, stdout); /* to the model, in a real agent */
	return NULL;
}

/* 0 with the outcome, which lives on its own, or a negative errno. The output of the command goes to `output`. */
static int run_command(char *const argv[], int output, struct pinfold_outcome **ret, struct pinfold_error *err)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	struct pinfold_policy *policy = pinfold_policy_new();
	struct pinfold_host *host = pinfold_host_new(); /* a real agent keeps it: it remembers what runs found out */
	struct pinfold_plan *plan = NULL;
	struct pinfold_run *run = NULL;
	int r = -1;

	options.stdio[1] = options.stdio[2] = output;
	if (policy && host && (r = pinfold_policy_set(policy, "network", "offline", err)) == 0 &&
	    (r = pinfold_policy_set(policy, "time", "1m", err)) == 0 &&
	    (r = pinfold_policy_load(policy, NULL, err)) == 0 &&
	    (r = pinfold_plan_new(&plan, policy, host, argv, false, err)) == 0)
		r = pinfold_run_start(&run, plan, &options, err);
	close(output); /* ours; the command has its own, and its end is the end of the output */
	if (r == 0)
		r = pinfold_run_wait(run, -1, ret, err);
	pinfold_run_free(run);
	pinfold_plan_free(plan);
	pinfold_host_free(host);
	pinfold_policy_free(policy);
	return r;
}

int main(int argc, char **argv)
{
	char shell[] = "sh", option[] = "-c", *words[] = { shell, option, argv[argc - 1], NULL }, text[1024];
	struct pinfold_error error = { .text = "out of memory" };
	struct pinfold_outcome *outcome = NULL;
	pthread_t reader;
	int output[2];

	if (argc < 2)
		return fputs("usage: agent COMMAND\n", stderr), 1;
	if (pipe(output) < 0 || pthread_create(&reader, NULL, stream, &output[0]) != 0)
		return 125;
	if (run_command(words, output[1], &outcome, &error) == 0 && !pinfold_outcome_ran(outcome))
		error = *pinfold_outcome_error(outcome);
	pthread_join(reader, NULL);
	if (outcome && pinfold_outcome_timed_out(outcome))
		printf("[time is up]\n");
	else if (outcome && pinfold_outcome_ran(outcome))
		printf("[exit status %d]\n", pinfold_outcome_status(outcome));
	else if (pinfold_error_text(&error, text, sizeof(text)))
		printf("[not run: %s]\n", text); /* a refusal is no failure of the command */
	pinfold_outcome_free(outcome);
	return 0;
}
