/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command as the program would on a machine that lacks something: the named host facts are taken as disproved
 * before the plan is made, so that the fallbacks can be tried here.
 *
 * usage: poorer FACT[,FACT...] [OPTION=VALUE...] -- COMMAND [ARG...]
 * Facts: overlay, fresh-proc, idmap, landlock, net, watch, or landlock=N for an older Landlock. Options are keys of the
 * configuration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"
#include "pinfold.h"

static const struct {
	const char *name;
	enum host_fact fact;
	const char *step;
	int errnum;
} facts[] = {
	{"overlay", FACT_OVERLAY, "mount the overlay on", 1},
	{"fresh-proc", FACT_FRESH_PROC, "mount proc on", 1},
	{"idmap", FACT_IDMAP, "map the ids of", 22},
	{"net", FACT_NET_NAMESPACE, "make namespaces for", 1},
	{"namespaces", FACT_NAMESPACES, "make namespaces for", 1},
	{"seccomp", FACT_SECCOMP, "install the seccomp filter", 22},
	{"watch", FACT_WATCH, "hand out", 13},
};

static void fail(const char *what, const struct pinfold_error *err)
{
	char text[2048];

	pinfold_error_text(err, text, sizeof(text));
	fprintf(stderr, "poorer: %s: %s\n", what, text);
	exit(125);
}

static void take_away(struct pinfold_host *host, const char *name)
{
	if (strncmp(name, "landlock", 8) == 0) {
		host->landlock_abi = name[8] == '=' ? atoi(name + 9) : 0;
		if (host->landlock_abi == 0)
			host_learn(host, FACT_LANDLOCK, "create a Landlock ruleset", "", 38);
		return;
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (strcmp(facts[i].name, name) == 0) {
			host_learn(host, facts[i].fact, facts[i].step, "", facts[i].errnum);
			return;
		}
	fprintf(stderr, "poorer: unknown fact '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct pinfold_policy *policy = pinfold_policy_new();
	struct pinfold_host *host = pinfold_host_new();
	struct pinfold_outcome *outcome = NULL;
	struct pinfold_plan *plan = NULL;
	struct pinfold_error err = { 0 };
	char *cwd = getcwd(NULL, 0), *save = NULL;
	int i = 2, status;

	if (argc < 4 || !policy || !host || !cwd)
		return 2;
	for (char *name = strtok_r(argv[1], ",", &save); name; name = strtok_r(NULL, ",", &save))
		take_away(host, name);
	for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return 2;
		*value++ = '\0';
		if (pinfold_policy_set(policy, argv[i], value, &err) < 0)
			fail("set", &err);
	}
	if (pinfold_policy_load(policy, cwd, &err) < 0)
		fail("load", &err);
	if (pinfold_plan_new(&plan, policy, host, argv + i + 1, false, &err) < 0)
		fail("plan", &err);
	if (pinfold_run_here(plan, NULL, &outcome, &err) < 0)
		fail("run", &err);
	status = pinfold_outcome_status(outcome);
	if (pinfold_outcome_error(outcome))
		fail("outcome", pinfold_outcome_error(outcome));
	pinfold_outcome_free(outcome);
	pinfold_plan_free(plan);
	pinfold_host_free(host);
	pinfold_policy_free(policy);
	free(cwd);
	return status;
}
