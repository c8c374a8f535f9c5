/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold explain`: what would happen in a run here, and which rule says so. With --prove the path is tried in such a
 * run, and the kernel's word stands beside what was worked out. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { ANSWER_BYTES = 512 };

/* ---- asking the kernel ---- */

/* The whole of it, so that a pen that is still there cannot hold us up: the outcome is waited for first. */
static int read_answer(int fd, char *answer, struct pinfold_error *err)
{
	ssize_t length = read(fd, answer, ANSWER_BYTES - 1);

	if (length <= 0)
		return usage_error(err, "explain: the path could not be tried inside");
	answer[length] = '\0';
	return 0;
}

static int judge(const struct pinfold_outcome *outcome, struct pinfold_error *err)
{
	const struct pinfold_error *failure = pinfold_outcome_error(outcome);

	if (failure)
		*err = *failure;
	else if (pinfold_outcome_status(outcome) != 0)
		usage_error(err, "explain: trying the path inside ended with status %d",
			    pinfold_outcome_status(outcome));
	else
		return 0;
	if (err->code == PINFOLD_NOT_FOUND || err->code == PINFOLD_NOT_EXECUTABLE)
		usage_hint(err, "to prove it, pinfold's own program has to be visible inside: --read its directory");
	return -1;
}

/* Runs ourselves in the pen of the session, with a pipe for what it says. */
static int ask_kernel(struct session *session, char *answer, struct pinfold_error *err)
{
	struct pinfold_run_options options = PINFOLD_RUN_OPTIONS_INIT;
	struct pinfold_outcome *outcome = NULL;
	struct pinfold_run *run = NULL;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return usage_error(err, "explain: out of descriptors");
	options.stdio[1] = ends[1];
	r = pinfold_run_start(&run, session->plan, &options, err);
	do {
		r = r < 0 ? r : pinfold_run_wait(run, -1, &outcome, err);
	} while (r == -ETIMEDOUT);
	close(ends[1]);
	if (r == 0)
		r = judge(outcome, err);
	if (r == 0)
		r = read_answer(ends[0], answer, err);
	close(ends[0]);
	pinfold_outcome_free(outcome);
	pinfold_run_free(run);
	return r;
}

/* ---- */

static int make_session(struct session *session, const struct request *request, const char *word,
			struct pinfold_error *err)
{
	static char name[] = "true", try[] = "__try", self[PATH_MAX];
	char *nothing[] = { name, NULL }, *attempt[] = { self, try, (char *)word, NULL };
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[length > 0 ? length : 0] = '\0';
	if (session_open(session, request, err) < 0)
		return -1;
	if (request->is_prove)
		return session_plan(session, attempt, false, err);
	return session_plan(session, word ? nothing : request->rest, true, err);
}

/* One word to ask about, or, after a "--", a command. */
static int explain_one(const struct request *request, const char *word)
{
	struct session session = { 0 };
	struct pinfold_error error;
	char answer[ANSWER_BYTES], *text;
	int allowed = make_session(&session, request, word, &error), status;

	if (allowed == 0 && request->is_prove)
		allowed = ask_kernel(&session, answer, &error);
	if (allowed == 0)
		allowed = pinfold_plan_explain(session.plan, word, request->is_prove ? answer : NULL,
					       request->is_json ? PINFOLD_JSON : PINFOLD_TEXT, &text, &error);
	if (allowed < 0)
		status = say_error(&error);
	else
		status = print_text(text) == EXIT_YES ? (allowed == 1 ? EXIT_YES : EXIT_NO) : EXIT_REFUSED;
	if (allowed == 2)
		say("explain: the kernel disagrees: please report this");
	session_close(&session);
	return status;
}

static bool is_path(const char *word)
{
	return word && (word[0] == '/' || word[0] == '.' || word[0] == '~');
}

static int check(const struct request *request, struct pinfold_error *err)
{
	const char *word = request->rest[0];

	if (!word) {
		usage_error(err, "explain: what?");
		usage_hint(err, "pinfold explain PATH, HOST:PORT, or -- COMMAND");
		return -EINVAL;
	}
	if (!request->has_dashes && request->rest[1])
		return usage_error(err, "explain: '%.64s' is one word too many", request->rest[1]);
	if (request->is_prove && (request->has_dashes || !is_path(word)))
		return usage_error(err, "option '--prove': only a path can be tried");
	return 0;
}

int explain_command_line(const struct command *command, char **argv)
{
	struct request request;
	struct pinfold_error error;
	int r = request_parse(&request, command->where, argv, &error);
	int status;

	if (r == 0 && !request.is_help)
		r = check(&request, &error);
	status = request_end(command, &request, r, &error);
	if (status < 0)
		status = explain_one(&request, request.has_dashes ? NULL : request.rest[0]);
	request_free(&request);
	return status;
}
