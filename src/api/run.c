/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public functions of run and outcome, and the second try.
 *
 * The set-up of a run is the probe of the host: a step that fails before the command has started becomes a host fact,
 * the plan is made again without it, is asked again whether it holds what the policy asks, and only then carried out.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/limits.h"
#include "linux/enter.h"
#include "report/events.h"
#include "run/carry.h"

struct pinfold_run {
	struct pinfold_plan *plan;
	struct run_options options;
	struct run_handle handle; /* descriptors -1: ended */
	struct carry_handover handover;
	int fd;                   /* what the caller polls: the same number for every try */
	unsigned tried;           /* a bit for each host fact that was learned from this run */
	struct pinfold_outcome *outcome; /* empty until the run has ended */
	bool is_killed;
};

/* ---- the second try -------------------------------------------------------------------------------------------- */

/* What lies on disk stays as it was looked at: the survey moves into the new plan. */
static void swap_plans(struct pinfold_plan *a, struct pinfold_plan *b)
{
	struct pinfold_plan old = *a;

	*a = *b;
	*b = old;
	b->survey = (struct survey){ 0 };
	b->has_survey = false;
}

static int plan_again(struct pinfold_plan *plan, struct pinfold_error *err)
{
	struct pinfold_plan *fresh = calloc(1, sizeof(*fresh));
	int r;

	if (!fresh)
		return err_oom(err);
	fresh->survey = plan->survey;
	r = plan_build(fresh, plan->policy, plan->host, plan->argv.v, err);
	if (r == 0 && plan->pass_fd_count) {
		fresh->pass_fds = arena_memdup(&fresh->arena, plan->pass_fds, plan->pass_fd_count * sizeof(int));
		fresh->pass_fd_count = plan->pass_fd_count;
		r = fresh->pass_fds ? 0 : err_oom(err);
	}
	if (r == 0) {
		/* The caller's pointer stays what it is, and now means the plan that is carried out. */
		fresh->has_survey = true;
		swap_plans(plan, fresh);
	} else {
		plan->survey = fresh->survey; /* it may have grown */
	}
	pinfold_plan_free(fresh);
	return r;
}

enum { AGAIN_ONCE = 1 << 28, AGAIN_TWICE = 2 * AGAIN_ONCE };
_Static_assert(FACT_COUNT < 28, "a bit for each fact");

/*
 * A try failed before the command ran: make a new plan if the machine turned out to lack something that was not known.
 * Each fact counts once, and what is tried again as it is twice, so this ends. False: the result stands, with the error
 * of the new plan in it where that could not be made or is refused.
 */
static bool try_again(struct pinfold_plan *plan, struct run_result *result, unsigned *tried)
{
	unsigned bit;

	if (!result->ran && result->fact == ENTER_AGAIN && !(*tried & AGAIN_TWICE)) {
		*tried += AGAIN_ONCE;
		return plan_again(plan, &result->error) == 0;
	}
	if (result->fact == ENTER_AGAIN)
		result->fact = FACT_BWRAP;
	if (result->ran || result->fact < 0 || result->fact >= FACT_COUNT)
		return false;
	bit = 1u << result->fact;
	if (*tried & bit)
		return false;
	*tried |= bit;
	host_learn(plan->host, (enum host_fact)result->fact, result->error.operation, result->error.object,
		   result->error.errnum);
	return plan_again(plan, &result->error) == 0 && plan_refusal(plan, &result->error) == 0;
}

/* ---- options --------------------------------------------------------------------------------------------------- */

static int check_fd(int fd, struct pinfold_error *err)
{
	if (fcntl(fd, F_GETFD) >= 0)
		return 0;
	return err_say(err, PINFOLD_USAGE, EBADF, "descriptor %d is not open", fd);
}

/* Asked for by number, not by what it is: a directory of the host's would give all that lies below it, hidden or not.
 */
static int refuse_directory(const struct pinfold_plan *plan, int fd, struct pinfold_error *err)
{
	struct stat st;

	if (plan->backend == BACKEND_NONE || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return err_say(err, PINFOLD_REFUSED, EISDIR,
		       "descriptor %d is a directory: the command could leave the pen through it", fd);
}

static int take_pass_fds(struct pinfold_plan *plan, const int *fds, size_t count, struct pinfold_error *err)
{
	int r;

	if (count > LIMIT_PASS_FDS)
		return err_say(err, PINFOLD_USAGE, EINVAL, "more than %d descriptors to pass", LIMIT_PASS_FDS);
	for (size_t i = 0; i < count; i++)
		if ((r = check_fd(fds[i], err)) < 0 || (r = refuse_directory(plan, fds[i], err)) < 0)
			return r;
	plan->pass_fds = count ? arena_memdup(&plan->arena, fds, count * sizeof(*fds)) : NULL;
	plan->pass_fd_count = count;
	return count && !plan->pass_fds ? err_oom(err) : 0;
}

/* Is something else on fd than when the survey looked? After a run with other descriptors, say. */
static bool has_changed(const struct survey_stdio *seen, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return seen->kind != STDIO_CLOSED;
	return st.st_dev != seen->node.dev || st.st_ino != seen->node.ino;
}

/*
 * The survey looked at the caller's own 0, 1 and 2, and the plan says which of them are opened again inside (E110a: a
 * file that is only read must not be changed through /proc/self/fd), and what may be opened by the name /dev/stdout.
 * Others are looked at here, and the plan is made again.
 */
static int take_stdio(struct pinfold_plan *plan, const int stdio[3], struct pinfold_error *err)
{
	int others[3], r;

	for (int i = 0; i < 3; i++) {
		others[i] = stdio[i];
		if (stdio[i] < 0 && has_changed(&plan->survey.stdio[i], i))
			others[i] = i;
	}
	if (others[0] < 0 && others[1] < 0 && others[2] < 0)
		return 0;
	r = survey_look_stdio(&plan->survey, others, err);
	plan->survey.terminal.is_all = false;
	return r < 0 ? r : plan_again(plan, err);
}

static int take_configs_again(struct pinfold_plan *plan, struct pinfold_error *err)
{
	int r = survey_renew_configs(&plan->survey, err);

	return r > 0 ? plan_again(plan, err) : r;
}

static int take_options(struct pinfold_plan *plan, const struct pinfold_run_options *options, struct run_options *ret,
			struct pinfold_error *err)
{
	struct run_options checked = { .stdio = { -1, -1, -1 }, .handover_fd = -1, .event_fd = -1 };
	int r;

	if (options && options->size != sizeof(*options))
		return err_say(err, PINFOLD_USAGE, EINVAL, "run options of %zu bytes are of another version",
			       options->size);
	for (int i = 0; options && i < 3; i++) {
		if (options->stdio[i] >= 0 && (r = check_fd(options->stdio[i], err)) < 0)
			return r;
		checked.stdio[i] = options->stdio[i];
	}
	if (options && options->event_fd >= 0 && (r = check_fd(options->event_fd, err)) < 0)
		return r;
	checked.event_fd = options ? options->event_fd : -1;
	r = take_pass_fds(plan, options ? options->pass_fds : NULL, options ? options->pass_fd_count : 0, err);
	if (r == 0)
		r = take_configs_again(plan, err);
	if (r == 0)
		r = take_stdio(plan, checked.stdio, err);
	if (r == 0)
		*ret = checked;
	return r;
}

/* ---- git's configuration ---------------------------------------------------------------------------------------- */

/* For one try: the plan, and with it the number of copies, may be another one at the next. */
static int open_handover(struct pinfold_plan *plan, struct carry_handover *handover, struct run_options *options,
			 struct pinfold_error *err)
{
	int r;

	carry_close(handover);
	r = options->event_fd >= 0 ? events_prepare(plan) : 0;
	if (r < 0)
		return err_oom(err);
	r = carry_open(plan, handover);
	options->handover_fd = handover->out;
	return r < 0 ? err_sys(err, PINFOLD_INTERNAL, -r, "make", "a socket") : 0;
}

/* After everything else has been looked at: what is carried over is no change that the command made. */
static void carry(const struct pinfold_plan *plan, struct carry_handover *handover, struct pinfold_outcome *outcome)
{
	const char *said = NULL;

	if (outcome->result.ran && carry_over(plan, handover, &outcome->arena, &said) < 0)
		said = "git's configuration: what was changed was not kept: out of memory";
	outcome->has_dropped = said != NULL;
	/* where there is no room for the line, there is none for the record either, which fails aloud */
	if (said && strv_add(&outcome->arena, &outcome->notices, said) == 0)
		strv_add(&outcome->arena, &outcome->warnings, said);
	carry_close(handover);
}

/* ---- in this process ------------------------------------------------------------------------------------------- */

static struct run_result no_result(const struct pinfold_error *error)
{
	return (struct run_result){ .code = -1, .fact = -1, .error = *error };
}

/* A supervisor that ended without a word may have let the command run. */
static bool may_have_run(const struct run_result *result)
{
	return result->ran || (result->error.code == PINFOLD_INTERNAL && result->error.errnum == EIO);
}

static void complete(struct pinfold_outcome *outcome, const struct pinfold_plan *plan, const struct run_result *result)
{
	outcome_fill(outcome, plan, NULL, result);
	if (may_have_run(result))
		outcome_check(outcome, plan);
}

/* Until the command has run, or cannot. What fails before a try fails the whole. */
static int try_here(struct pinfold_plan *plan, struct carry_handover *handover, struct run_options *options,
		    struct run_result *result, struct pinfold_error *err)
{
	unsigned tried = 0;
	int r;

	do {
		r = open_handover(plan, handover, options, err);
		if (r < 0)
			return r;
		r = run_here(plan, options, result);
		if (r < 0)
			return err_sys(err, PINFOLD_INTERNAL, -r, "run the command", NULL);
	} while (try_again(plan, result, &tried));
	return 0;
}

int pinfold_run_here(struct pinfold_plan *plan, const struct pinfold_run_options *options, struct pinfold_outcome **ret,
		     struct pinfold_error *err)
{
	struct run_result result = { .code = -1, .fact = -1 };
	struct carry_handover handover = { -1, -1 };
	struct pinfold_outcome *outcome;
	struct run_options checked;
	int r = take_options(plan, options, &checked, err);

	if (r < 0)
		return r;
	outcome = outcome_new();
	if (!outcome)
		return err_oom(err);
	checked.own_terminal = true;
	if (plan_refusal(plan, &result.error) == 0)
		r = try_here(plan, &handover, &checked, &result, err);
	if (r == 0) {
		complete(outcome, plan, &result);
		carry(plan, &handover, outcome);
		*ret = outcome;
	} else {
		outcome_destroy(outcome);
	}
	carry_close(&handover);
	return r;
}

/* ---- beside this process --------------------------------------------------------------------------------------- */

/* Starts one try. The descriptor that the caller polls keeps its number: a poll set stays valid over a second try. */
static int start_try(struct pinfold_run *run, struct pinfold_error *err)
{
	struct run_handle handle;
	int r = open_handover(run->plan, &run->handover, &run->options, err);

	if (r == 0)
		r = run_start(run->plan, &run->options, &handle, err);
	fd_close(&run->handover.out);
	if (r < 0)
		return r;
	if (run->fd < 0) {
		run->fd = handle.result_fd;
	} else if (dup3(handle.result_fd, run->fd, O_CLOEXEC) < 0) {
		r = -errno;
		close(handle.control_fd);
		close(handle.result_fd);
		return err_sys(err, PINFOLD_UNAVAILABLE, -r, "dup3", NULL);
	} else {
		close(handle.result_fd);
	}
	run->handle = handle;
	run->handle.result_fd = run->fd;
	return 0;
}

int pinfold_run_start(struct pinfold_run **ret, struct pinfold_plan *plan, const struct pinfold_run_options *options,
		      struct pinfold_error *err)
{
	struct pinfold_run *run;
	struct run_options checked;
	int r = take_options(plan, options, &checked, err);

	if (r == 0)
		r = plan_refusal(plan, err);
	if (r < 0)
		return r;
	run = calloc(1, sizeof(*run));
	if (run)
		run->outcome = outcome_new();
	if (!run || !run->outcome) {
		free(run);
		return err_oom(err);
	}
	run->plan = plan;
	run->options = checked;
	run->fd = run->handle.control_fd = run->handle.result_fd = -1;
	run->handover = (struct carry_handover){ -1, -1 };
	r = start_try(run, err);
	if (r < 0)
		pinfold_run_free(run);
	else
		*ret = run;
	return r;
}

int pinfold_run_fd(const struct pinfold_run *run)
{
	return run->fd;
}

static int wait_readable(int fd, int timeout_ms, struct pinfold_error *err)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	int n = poll(&poller, 1, timeout_ms);

	if (n > 0)
		return 0;
	return n == 0 || errno == EINTR ? err_sys(err, PINFOLD_UNAVAILABLE, ETIMEDOUT, "wait for the run", NULL) :
					  err_sys(err, PINFOLD_INTERNAL, errno, "poll", NULL);
}

/* The end of one try; afterwards the run has no process any more. */
static void read_result(struct pinfold_run *run, struct run_result *ret)
{
	ssize_t n = fd_read_all(run->fd, ret, sizeof(*ret));

	if (n != (ssize_t)sizeof(*ret)) {
		*ret = (struct run_result){ .code = -1, .fact = -1 };
		err_say(&ret->error, PINFOLD_INTERNAL, EIO, "the supervisor of the run ended without a result");
	}
	fd_close(&run->handle.control_fd);
}

int pinfold_run_wait(struct pinfold_run *run, int timeout_ms, struct pinfold_outcome **ret, struct pinfold_error *err)
{
	struct run_result result;
	int r;

	if (run->fd < 0)
		return err_say(err, PINFOLD_USAGE, EINVAL, "the outcome of this run was handed over");
	for (;;) {
		r = wait_readable(run->fd, timeout_ms, err);
		if (r < 0)
			return r;
		read_result(run, &result);
		if (run->is_killed || !try_again(run->plan, &result, &run->tried))
			break;
		r = start_try(run, &result.error);
		if (r < 0)
			break;
	}
	complete(run->outcome, run->plan, &result);
	carry(run->plan, &run->handover, run->outcome);
	fd_close(&run->fd);
	*ret = run->outcome;
	run->outcome = NULL;
	return 0;
}

void pinfold_run_kill(struct pinfold_run *run)
{
	run->is_killed = true;
	fd_close(&run->handle.control_fd);
}

struct pinfold_run *pinfold_run_free(struct pinfold_run *run)
{
	struct run_result result;

	if (!run)
		return NULL;
	if (run->fd >= 0) {
		pinfold_run_kill(run);
		read_result(run, &result);
		fd_close(&run->fd);
		/* Nobody hears of it, but what it has planted must not stay. */
		complete(run->outcome, run->plan, &result);
	}
	pinfold_outcome_free(run->outcome);
	carry_close(&run->handover);
	free(run);
	return NULL;
}

/* ---- outcome --------------------------------------------------------------------------------------------------- */

int pinfold_outcome_failure(struct pinfold_outcome **ret, const struct pinfold_plan *plan, char *const argv[],
			    const struct pinfold_error *error, struct pinfold_error *err)
{
	struct run_result result = no_result(error);
	struct pinfold_outcome *outcome = outcome_new();

	if (!outcome)
		return err_oom(err);
	outcome_fill(outcome, plan, argv, &result);
	*ret = outcome;
	return 0;
}

struct pinfold_outcome *pinfold_outcome_free(struct pinfold_outcome *outcome)
{
	if (outcome)
		outcome_destroy(outcome);
	return NULL;
}

int pinfold_outcome_status(const struct pinfold_outcome *outcome)
{
	return outcome_status(&outcome->result);
}

bool pinfold_outcome_ran(const struct pinfold_outcome *outcome)
{
	return outcome->result.ran;
}

bool pinfold_outcome_timed_out(const struct pinfold_outcome *outcome)
{
	return outcome->result.timed_out;
}

const struct pinfold_error *pinfold_outcome_error(const struct pinfold_outcome *outcome)
{
	return outcome->result.error.code == PINFOLD_OK ? NULL : &outcome->result.error;
}

const char *pinfold_outcome_notice(const struct pinfold_outcome *outcome, size_t index)
{
	return index < outcome->notices.n ? outcome->notices.v[index] : NULL;
}

int pinfold_outcome_guarantee(const struct pinfold_outcome *outcome, size_t index, struct pinfold_guarantee *ret)
{
	const struct outcome_guarantee *guarantee;

	if (!outcome->has_plan || index >= GUARANTEE_COUNT)
		return -ENOENT;
	guarantee = &outcome->guarantee[index];
	*ret = (struct pinfold_guarantee){
		.name = guarantee_defs[index].name,
		.promise = guarantee_defs[index].promise,
		.state = (enum pinfold_state)guarantee->state,
		.by = guarantee->by,
		.why = guarantee->why,
		.notes = guarantee->notes,
		.accepted = guarantee->accepted,
		.accepted_by = guarantee->accepted_by,
		.missing = guarantee->fact,
	};
	return 0;
}

int pinfold_outcome_violation(const struct pinfold_outcome *outcome, size_t index, struct pinfold_violation *ret)
{
	const struct check_violation *violation;

	if (index >= outcome->check.count)
		return -ENOENT;
	violation = &outcome->check.violations[index];
	*ret = (struct pinfold_violation){
		.path = violation->path,
		.below = violation->below,
		.what = violation->what,
		.action = check_action_names[violation->action],
		.moved_to = violation->moved_to,
	};
	return 0;
}

bool pinfold_outcome_check_is_complete(const struct pinfold_outcome *outcome)
{
	return !outcome->check.is_done || outcome->check.is_complete;
}

int pinfold_outcome_events(const struct pinfold_outcome *outcome, char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);

	return api_give(&out, events_after(outcome, &out), ret, err);
}

int pinfold_outcome_json(const struct pinfold_outcome *outcome, char **ret, struct pinfold_error *err)
{
	struct buf out = BUF_INIT(LIMIT_TEXT_BYTES);

	return api_give(&out, record_json(outcome, &out), ret, err);
}
