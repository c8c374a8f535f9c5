/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold run`: one command in the pen. A run that works prints nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* ---- what is said ---------------------------------------------------------------------------------------------- */

static bool is_open(const struct pinfold_guarantee *guarantee)
{
	return guarantee->state == PINFOLD_WEAKER || guarantee->state == PINFOLD_ABSENT;
}

static void say_guarantee(const struct pinfold_guarantee *guarantee)
{
	say("%s: %s%s%s", guarantee->name, pinfold_state_name(guarantee->state), guarantee->why ? ": " : "",
	    guarantee->why ? guarantee->why : "");
}

static bool has_mode(struct session *session, const char *mode)
{
	const char *word = pinfold_policy_get(session->policy, "mode");

	return word && strcmp(word, mode) == 0;
}

static bool is_verbose(struct session *session)
{
	const char *word = pinfold_policy_get(session->policy, "verbose");

	return word && strcmp(word, "true") == 0;
}

/* A bit for each guarantee that was named as open. */
struct said {
	unsigned weaker, absent;
};

static unsigned *said_as(struct said *said, const struct pinfold_guarantee *guarantee)
{
	return guarantee->state == PINFOLD_ABSENT ? &said->absent : &said->weaker;
}

/* Before the command starts. */
static void say_plan(struct session *session, const struct request *request, struct said *ret_said)
{
	bool is_auto = has_mode(session, "auto") && !request->is_quiet;
	struct pinfold_guarantee guarantee;
	const char *warning, *notice;

	*ret_said = (struct said){ 0 };
	for (size_t i = 0; !request->is_quiet && (notice = pinfold_plan_notice(session->plan, i)); i++)
		say("%s", notice);
	if (has_mode(session, "off"))
		say("warning: the command runs without any confinement (mode off)");
	/* refused otherwise */
	if (pinfold_plan_needs_network(session->plan) && !request->is_quiet && !is_verbose(session) &&
	    pinfold_plan_refusal(session->plan, NULL) == 0)
		say("warning: '%s' needs the network, which is off", pinfold_plan_needs_network(session->plan));
	for (size_t i = 0; pinfold_plan_guarantee(session->plan, i, &guarantee) == 0; i++) {
		if (!is_verbose(session) && !(is_auto && is_open(&guarantee)))
			continue;
		say_guarantee(&guarantee);
		if (is_open(&guarantee))
			*said_as(ret_said, &guarantee) |= 1u << i;
	}
	for (size_t i = 0; is_verbose(session) && (warning = pinfold_plan_warning(session->plan, i)); i++)
		say("warning: %s", warning);
}

/* Whether the guarantee, of this bit, is not as it was said to be. */
static bool is_news(struct said *said, const struct pinfold_guarantee *guarantee, unsigned bit)
{
	if (is_open(guarantee))
		return !(*said_as(said, guarantee) & bit);
	return (said->weaker | said->absent) & bit;
}

/* What the set-up found out is said late, but said: the plan was made again without it, or for another backend. */
static void say_late(struct session *session, const struct request *request, const struct pinfold_outcome *outcome,
		     struct said *said)
{
	struct pinfold_guarantee guarantee;

	if (request->is_quiet || !pinfold_outcome_ran(outcome) || !(has_mode(session, "auto") || is_verbose(session)))
		return;
	for (size_t i = 0; pinfold_outcome_guarantee(outcome, i, &guarantee) == 0; i++)
		if (is_news(said, &guarantee, 1u << i))
			say_guarantee(&guarantee);
}

/* The line of the hint is for the directory that the user is in. */
static void name_directory(struct pinfold_error *err, const char *directory)
{
	static const char run[] = "pinfold run ";
	struct pinfold_error before = *err;
	const char *line = strstr(before.hint, run);
	const char *quote;

	if (!directory || !line || strchr(directory, '\''))
		return;
	line += sizeof(run) - 1;
	quote = directory[strcspn(directory, " \t\n\"\\$`&|;<>()*?[]#~!{}")] ? "'" : "";
	snprintf(err->hint, sizeof(err->hint), "%.*s-C %s%s%s %s", (int)(line - before.hint), before.hint, quote,
		 directory, quote, line);
}

/* One line each: this is what somebody should know before anything outside reads the worktree. */
static void say_violations(const struct pinfold_outcome *outcome)
{
	struct pinfold_violation violation;

	for (size_t i = 0; pinfold_outcome_violation(outcome, i, &violation) == 0; i++) {
		const char *shown = violation.below && *violation.below ? violation.below : violation.path;

		if (!violation.moved_to)
			say("'%s' %s%s", shown, violation.what,
			    strcmp(violation.action, "left") == 0 ? ", and could not be moved away" : "");
		else
			say("'%s' %s: moved to '%s'; put it back if it is wanted", shown, violation.what,
			    violation.moved_to);
	}
	if (!pinfold_outcome_check_is_complete(outcome))
		say("warning: not everything that is protected could be looked at after the run; the record says what");
}

/* A script that calls us in a pen gets no second one like it. What helps is not to accept that less is held, but to
 * know why. */
static void name_outer_pen(struct pinfold_error *err, const struct pinfold_outcome *outcome)
{
	struct pinfold_guarantee writes;

	if (pinfold_outcome_ran(outcome) || err->code != PINFOLD_REFUSED || !pinfold_is_confined())
		return;
	if (pinfold_outcome_guarantee(outcome, 0, &writes) == 0 && is_open(&writes))
		usage_hint(err,
			   "this is a pen already ('pinfold status' tells which); run the command without pinfold");
}

static void say_outcome(const struct request *request, const struct pinfold_outcome *outcome)
{
	const struct pinfold_error *error = pinfold_outcome_error(outcome);
	struct pinfold_error quiet;
	const char *notice;

	if (pinfold_outcome_timed_out(outcome) && pinfold_outcome_ran(outcome))
		say("the time limit ended the run");
	say_violations(outcome);
	for (size_t i = 0; !request->is_quiet && (notice = pinfold_outcome_notice(outcome, i)); i++)
		say("%s", notice);
	if (!error)
		return;
	quiet = *error;
	name_directory(&quiet, request->directory);
	name_outer_pen(&quiet, outcome);
	if (request->is_quiet)
		quiet.hint[0] = '\0';
	say_error(&quiet);
}

static void say_hints(const struct pinfold_outcome *outcome)
{
	const char *hint;

	for (size_t i = 0; (hint = pinfold_outcome_hint(outcome, i)); i++)
		say("hint: %s", hint);
}

/* ---- the ways it ends ------------------------------------------------------------------------------------------ */

/* What is written beside the command's own output. */
struct files {
	struct record_file record, events;
};

static const struct files no_files = { { .fd = -1 }, { .fd = -1 } };

static int open_files(struct files *files, const struct request *request, const struct pinfold_plan *plan,
		      struct pinfold_error *err)
{
	int r = record_open(&files->record, "--record", request->record, plan, err);

	if (r == 0)
		r = record_open(&files->events, "--events", request->events, plan, err);
	return r == 0 ? record_empty(&files->events, err) : r;
}

static int write_events(struct record_file *file, const struct pinfold_outcome *outcome, struct pinfold_error *err)
{
	char *text;
	int r = file->fd < 0 ? 0 : pinfold_outcome_events(outcome, &text, err);

	if (r < 0 || file->fd < 0)
		return r;
	r = record_write_text(file, text, err);
	free(text);
	return r;
}

/* The record is the last thing that is done. If it fails after the command ran, the command's status stays. */
static int finish(const struct request *request, struct files *files, const struct pinfold_outcome *outcome)
{
	struct pinfold_error error;
	int status = pinfold_outcome_status(outcome);

	say_outcome(request, outcome);
	say_hints(outcome);
	if (write_events(&files->events, outcome, &error) < 0 || record_write(&files->record, outcome, &error) < 0) {
		say_error(&error);
		status = pinfold_outcome_ran(outcome) ? status : EXIT_REFUSED;
	}
	record_close(&files->record);
	record_close(&files->events);
	return status;
}

/* Nothing ran: the message, and a record that says so, where one was asked for. */
static int fail(const struct request *request, struct files *files, const struct pinfold_plan *plan,
		const struct pinfold_error *error)
{
	struct pinfold_outcome *outcome;
	struct pinfold_error second;
	int status;

	if (files->record.fd < 0 && files->events.fd < 0 && open_files(files, request, plan, &second) < 0)
		say_error(&second);
	if (pinfold_outcome_failure(&outcome, plan, request->rest, error, &second) < 0)
		return say_error(error);
	status = finish(request, files, outcome);
	pinfold_outcome_free(outcome);
	return status;
}

static int print_plan(const struct request *request, struct session *session)
{
	struct pinfold_error error;
	int refused = pinfold_plan_refusal(session->plan, &error);
	struct pinfold_error second;
	char *text;

	if (pinfold_plan_print(session->plan, request->is_json ? PINFOLD_JSON : PINFOLD_TEXT, &text, &second) < 0)
		return say_error(&second);
	if (print_text(text) != EXIT_YES)
		return EXIT_REFUSED;
	if (refused == 0)
		return EXIT_YES;
	name_directory(&error, request->directory);
	return say_error(&error);
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

/* Who is told why the command may have failed; PINFOLD_AUDIENCE_COUNT: nobody. */
static enum pinfold_audience audience_of(struct session *session, const struct request *request)
{
	const char *word = pinfold_policy_get(session->policy, "hints");

	if (request->is_quiet || !word || strcmp(word, "off") == 0)
		return PINFOLD_AUDIENCE_COUNT;
	return strcmp(word, "agent") == 0 ? PINFOLD_FOR_AGENT : PINFOLD_FOR_HUMAN;
}

/* A bare run is closed to nothing: what it prints need not be known. */
static int run_here(struct session *session, struct pinfold_run_options *options, enum pinfold_audience audience,
		    struct pinfold_outcome **ret, struct pinfold_error *err)
{
	struct relay relay = { .fd = -1, .control = -1 };
	size_t length = 0;
	char *text;
	int r;

	if (audience != PINFOLD_AUDIENCE_COUNT && !has_mode(session, "off"))
		relay_open(&relay, options->stdio);
	r = pinfold_run_here(session->plan, options, ret, err);
	relay_end(&relay);
	text = relay_text(&relay, &length);
	if (r == 0 && audience != PINFOLD_AUDIENCE_COUNT && pinfold_hints(*ret, audience, text, length, NULL) < 0)
		say("no memory for hints");
	free(text);
	relay_free(&relay);
	return r;
}

static int run_plan(const struct request *request, struct session *session)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	enum pinfold_audience audience = audience_of(session, request);
	struct files files = no_files;
	struct pinfold_outcome *outcome;
	struct pinfold_error error;
	struct said said;
	int status;

	if (open_files(&files, request, session->plan, &error) < 0) {
		record_close(&files.record);
		record_close(&files.events);
		return say_error(&error);
	}
	options.event_fd = files.events.fd;
	options.pass_fds = request->pass_fds;
	options.pass_fd_count = request->pass_fd_count;
	say_plan(session, request, &said);
	if (run_here(session, &options, audience, &outcome, &error) < 0)
		return fail(request, &files, session->plan, &error);
	say_late(session, request, outcome, &said);
	status = finish(request, &files, outcome);
	pinfold_outcome_free(outcome);
	return status;
}

/* --verbose is a key of the policy that the command line alone can set, and the last word counts. */
static bool is_verbose_and_quiet(const struct request *request)
{
	const char *verbose = "false";

	for (size_t i = 0; i < request->setting_count; i++)
		if (strcmp(request->settings[i].name, "verbose") == 0)
			verbose = request->settings[i].text;
	return request->is_quiet && strcmp(verbose, "true") == 0;
}

static int check_request(const struct request *request, struct pinfold_error *err)
{
	if (!request->rest[0]) {
		usage_error(err, "run: there is no command");
		usage_hint(err, "pinfold run [OPTION...] [--] COMMAND [ARG...]");
		return -1;
	}
	if (request->is_json && !request->is_plan)
		return usage_error(err, "--json belongs to --plan; --record writes what happened");
	if (request->is_plan && request->record)
		return usage_error(err, "--plan runs nothing that --record could tell");
	if (request->is_plan && request->events)
		return usage_error(err, "--plan runs nothing that --events could tell");
	if (is_verbose_and_quiet(request))
		return usage_error(err, "--verbose and --quiet contradict each other");
	return 0;
}

static int run_request(const struct request *request)
{
	struct files files = no_files;
	struct session session = { 0 };
	struct pinfold_error error;
	int status;

	if (check_request(request, &error) < 0)
		return fail(request, &files, NULL, &error);
	if (session_open(&session, request, &error) < 0 ||
	    session_plan(&session, request->rest, request->is_plan, &error) < 0)
		status = fail(request, &files, NULL, &error);
	else
		status = request->is_plan ? print_plan(request, &session) : run_plan(request, &session);
	session_close(&session);
	return status;
}

int run_command(const struct command *command, char **argv)
{
	struct files files = no_files;
	struct request request;
	struct pinfold_error error;
	int status;

	if (request_parse(&request, command->where, argv, &error) < 0)
		status = fail(&request, &files, NULL, &error);
	else
		status = request.is_help ? help_of(command) : run_request(&request);
	request_free(&request);
	return status;
}
