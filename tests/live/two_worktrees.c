/* SPDX-License-Identifier: Apache-2.0 */
/*
 * two_worktrees set|load after|together FIRST SECOND: one process, two runs, each of which writes into its own worktree
 * and tries the other's (F094). `set`: the worktree is a key; `load`: it is the directory given to pinfold_policy_load.
 * `together`: the second starts while the first still runs. Ends with 0 when both could write only their own.
 */
#include <pinfold.h>
#include <stdio.h>
#include <string.h>

struct job {
	const char *own;
	char script[2048];
	struct pinfold_policy *policy;
	struct pinfold_host *host;
	struct pinfold_plan *plan;
	struct pinfold_run *run;
	struct pinfold_error error;
	int status;
};

static int start(struct job *job, const char *foreign, int is_set)
{
	char shell[] = "sh", option[] = "-c", *words[] = { shell, option, job->script, NULL };
	struct pinfold_error *err = &job->error;
	int r = 0;

	snprintf(job->script, sizeof(job->script),
		 "touch '%s/own' || exit 3; touch '%s/foreign' 2>/dev/null && exit 4; sleep 0.2; exit 0", job->own,
		 foreign);
	job->policy = pinfold_policy_new();
	if (!job->policy || !job->host)
		return -1;
	if (is_set)
		r = pinfold_policy_set(job->policy, "worktree", job->own, err);
	if (r == 0)
		r = pinfold_policy_load(job->policy, job->own, err);
	if (r == 0)
		r = pinfold_plan_new(&job->plan, job->policy, job->host, words, false, err);
	return r == 0 ? pinfold_run_start(&job->run, job->plan, NULL, err) : r;
}

static int finish(struct job *job)
{
	struct pinfold_outcome *outcome = NULL;
	int r = pinfold_run_wait(job->run, -1, &outcome, &job->error);

	if (r == 0) {
		const struct pinfold_error *error = pinfold_outcome_error(outcome);

		job->status = pinfold_outcome_status(outcome);
		if (error)
			job->error = *error;
	}
	pinfold_outcome_free(outcome);
	return r;
}

static int free_job(struct job *job, int r)
{
	char text[1024];

	if (r < 0 || job->status != 0) {
		pinfold_error_text(&job->error, text, sizeof(text));
		fprintf(stderr, "%s: result %d, status %d: %s\n", job->own, r, job->status, text);
	}
	pinfold_run_free(job->run);
	pinfold_plan_free(job->plan);
	pinfold_policy_free(job->policy);
	return r < 0 || job->status != 0;
}

int main(int argc, char **argv)
{
	struct pinfold_host *host = pinfold_host_new(); /* shared: what it remembers must not be one run's worktree */
	struct job first = { .own = argc == 5 ? argv[3] : "", .host = host };
	struct job second = { .own = argc == 5 ? argv[4] : "", .host = host };
	int is_set, is_together, r1, r2 = 0, failed;

	if (argc != 5)
		return 2;
	is_set = !strcmp(argv[1], "set");
	is_together = !strcmp(argv[2], "together");
	r1 = start(&first, second.own, is_set);
	if (is_together)
		r2 = start(&second, first.own, is_set);
	if (r1 == 0)
		r1 = finish(&first);
	if (!is_together)
		r2 = start(&second, first.own, is_set);
	if (r2 == 0)
		r2 = finish(&second);
	failed = free_job(&first, r1);
	failed |= free_job(&second, r2);
	pinfold_host_free(host);
	return failed;
}
