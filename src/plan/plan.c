/* SPDX-License-Identifier: Apache-2.0 */
/* Policy, host and survey become the plan. Nothing here looks at the machine, but for the survey that it takes along.
 */
#include "plan/plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "plan/internal.h"

/* A regular file that is only read is opened again inside, where its path is visible there (E110a). */
static void decide_stdio(struct pinfold_plan *plan)
{
	for (int i = 0; i < 3; i++) {
		const struct survey_stdio *stdio = &plan->survey.stdio[i];

		if (stdio->kind != STDIO_FILE || (stdio->flags & 3) != 0 || !stdio->path)
			continue;
		plan->reopen[i] = plan_shows(plan, stdio->path);
		plan->reopen_path[i] = stdio->path;
	}
}

/* A directory that was opened outside is a way out of the pen: fchdir, openat (E070). */
static int refuse_directories(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	for (int i = 0; plan->backend != BACKEND_NONE && i < 3; i++)
		if (plan->survey.stdio[i].kind == STDIO_DIRECTORY)
			return err_say(err, PINFOLD_REFUSED, EISDIR,
				       "descriptor %d is a directory: the command could leave the pen through it", i);
	return 0;
}

static const char *below_temporary(const struct survey *survey, const char *place)
{
	if (path_is_below(survey->worktree, place))
		return survey->worktree;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_below(survey->writes[i].path, place))
			return survey->writes[i].path;
	for (size_t i = 0; i < survey->home_count; i++)
		if (path_is_below(survey->home[i].path, place))
			return survey->home[i].path;
	return NULL;
}

/* What is bound below /tmp needs a place there: the private temp gets one, in a directory of the caller's it would be
 * left behind. */
static int refuse_covering(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	static const char *const places[] = { "/tmp", "/var/tmp" };

	for (size_t i = 0; plan->backend != BACKEND_NONE && plan->survey.tmp && i < 2; i++) {
		const char *covered = below_temporary(&plan->survey, places[i]);
		int r;

		if (!covered)
			continue;
		r = err_say(err, PINFOLD_REFUSED, EBUSY, "'%s' as %s would cover '%s'", plan->survey.tmp, places[i],
			    covered);
		err_hint(err, "leave --tmp out, or work outside of %s", places[i]);
		return r;
	}
	return 0;
}

static void decide_backend(struct pinfold_plan *plan)
{
	const struct pinfold_host *host = plan->host;

	plan->backend = BACKEND_OWN_NAMESPACES;
	if (policy_number(plan->policy, KEY_MODE) == MODE_OFF || host->fact[FACT_NAMESPACES].state == FACT_NO ||
	    host->fact[FACT_MOUNTS].state == FACT_NO)
		plan->backend = BACKEND_NONE;
	plan->offline = plan->backend != BACKEND_NONE && policy_number(plan->policy, KEY_NETWORK) == NETWORK_OFFLINE &&
			host->fact[FACT_NET_NAMESPACE].state != FACT_NO;
}

static int build_pen(struct pinfold_plan *plan)
{
	int r = plan_ids(plan);

	if (r == 0)
		r = plan_mounts(plan);
	if (r == 0)
		r = plan_landlock(plan);
	plan->has_seccomp = plan->host->fact[FACT_SECCOMP].state != FACT_NO;
	return r;
}

static bool needs_entries(const struct pinfold_plan *plan)
{
	if (plan->backend == BACKEND_NONE || policy_number(plan->policy, KEY_HOME) != HOME_MASKED)
		return false;
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (!plan_home_has_overlay(plan, i) && !plan_writable_root(plan, plan->survey.home[i].path))
			return true;
	return false;
}

/* A directory that only the home's overlay shows has another device and inode there; a hidden one is not there at all.
 */
static bool keeps_identity(const struct pinfold_plan *plan, const char *path)
{
	if (path_is_in(path, plan->survey.worktree) || plan_writable_root(plan, path))
		return true;
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (path_is_in(path, plan->survey.home[i].path) && plan_home_has_overlay(plan, i))
			return false;
	return true;
}

static int build(struct pinfold_plan *plan, char *const *argv, struct pinfold_error *err)
{
	int r;

	plan->limits = (struct plan_limits){
		.time_ms = policy_number(plan->policy, KEY_TIME),
		.memory = policy_number(plan->policy, KEY_MEMORY),
		.processes = policy_number(plan->policy, KEY_PROCESSES),
		.tmp_size = policy_number(plan->policy, KEY_TMP_SIZE),
	};
	plan->cwd = plan->survey.cwd;
	plan->cwd_dev = plan->survey.cwd_node.dev;
	plan->cwd_ino = keeps_identity(plan, plan->cwd) ? plan->survey.cwd_node.ino : 0;
	decide_backend(plan);
	if (needs_entries(plan)) {
		r = survey_list_entries(&plan->survey, err);
		if (r < 0)
			return r;
	}
	r = refuse_directories(plan, err);
	if (r == 0)
		r = refuse_covering(plan, err);
	if (r < 0)
		return r;
	decide_stdio(plan);
	r = plan->backend == BACKEND_NONE ? 0 : build_pen(plan);
	if (r == 0)
		r = plan_guarantees(plan);
	if (r == 0)
		r = plan_environment(plan);
	if (r == 0)
		r = plan_command(plan, argv);
	plan->warnings = plan->survey.notes; /* both live as long as the plan */
	return r < 0 ? err_oom(err) : 0;
}

int plan_build(struct pinfold_plan *plan, const struct pinfold_policy *policy, struct pinfold_host *host,
	       char *const *argv, struct pinfold_error *err)
{
	plan->policy = policy;
	plan->host = host;
	return build(plan, argv, err);
}
