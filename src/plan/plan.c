/* SPDX-License-Identifier: Apache-2.0 */
/* Policy, host and survey become the plan. Nothing here looks at the machine, but for the survey that it takes along.
 */
#include "plan/plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"
#include "plan/internal.h"

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

/* The pen is made of mounts. */
static bool has_mounts(const struct pinfold_plan *plan)
{
	return plan->backend == BACKEND_OWN_NAMESPACES || plan->backend == BACKEND_BUBBLEWRAP;
}

/* What is bound below /tmp needs a place there: the private temp gets one, in a directory of the caller's it would be
 * left behind. */
static int refuse_covering(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	static const char *const places[] = { "/tmp", "/var/tmp" };

	for (size_t i = 0; has_mounts(plan) && plan->survey.tmp && i < 2; i++) {
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

/*
 * Whoever is uid 0 inside may not nest. The kernel lets no namespace map that id without CAP_SETFCAP, so programs would
 * fail there; and with it, or under another id, a nested uid 0 could give a file of the worktree capabilities, which
 * the id map of a run started by root would turn into those of the host's root (E025).
 */
static int refuse_nesting(const struct pinfold_plan *plan, struct pinfold_error *err)
{
	int r;

	if (plan->backend != BACKEND_OWN_NAMESPACES || plan->survey.who.uid != 0 ||
	    !policy_number(plan->policy, KEY_NESTING))
		return 0;
	r = err_say(err, PINFOLD_REFUSED, EPERM, "option '--nesting': uid 0 cannot be given namespaces of its own");
	err_hint(err, "start the run as another user, or leave --nesting out");
	return r;
}

static bool needs_entries(const struct pinfold_plan *plan)
{
	if (!has_mounts(plan) || policy_number(plan->policy, KEY_HOME) != HOME_MASKED)
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
	if (!has_mounts(plan) || path_is_in(path, plan->survey.worktree) ||
	    plan_writable_root(plan, path))
		return true;
	for (size_t i = 0; i < plan->survey.home_count; i++)
		if (path_is_in(path, plan->survey.home[i].path) && plan_home_has_overlay(plan, i))
			return false;
	return true;
}

/* What only some plans need is looked at when one does. */
static int list_what_is_needed(struct pinfold_plan *plan, struct pinfold_error *err)
{
	if (plan->backend == BACKEND_ONLY_LANDLOCK)
		return survey_list_siblings(&plan->survey, policy_number(plan->policy, KEY_HOME) == HOME_HIDDEN,
					    policy_number(plan->policy, KEY_READ_ONLY) != 0, err);
	return needs_entries(plan) ? survey_list_entries(&plan->survey, err) : 0;
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
	r = plan_choose_backend(plan, err);
	if (r < 0)
		return r;
	plan->cwd = plan->survey.cwd;
	plan->cwd_dev = plan->survey.cwd_node.dev;
	plan->cwd_ino = keeps_identity(plan, plan->cwd) ? plan->survey.cwd_node.ino : 0;
	r = list_what_is_needed(plan, err);
	if (r < 0)
		return r;
	r = refuse_directories(plan, err);
	if (r == 0)
		r = refuse_covering(plan, err);
	if (r == 0)
		r = refuse_nesting(plan, err);
	if (r < 0)
		return r;
	r = plan->backend == BACKEND_NONE ? 0 : backend_defs[plan->backend].build(plan);
	if (r == 0)
		r = plan_guarantees(plan);
	if (r == 0)
		r = plan_environment(plan);
	if (r == 0)
		r = plan_command(plan, argv);
	if (r == 0)
		r = plan_words(plan);
	plan->warnings = plan->survey.notes; /* both live as long as the plan */
	if (r == 0 && plan->needs_network)
		r = strv_add_owned(&plan->arena, &plan->warnings,
				   arena_printf(&plan->arena, "'%s' needs the network, which is off",
						plan->needs_network));
	if (plan->arena.is_short || plan->survey.arena.is_short)
		return err_oom(err);
	return r < 0 ? err_oom(err) : 0;
}

int plan_build(struct pinfold_plan *plan, const struct pinfold_policy *policy, struct pinfold_host *host,
	       char *const *argv, struct pinfold_error *err)
{
	plan->policy = policy;
	plan->host = host;
	return build(plan, argv, err);
}
