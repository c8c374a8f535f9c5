/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold status`: inside a run what it may do, outside what a run here would hold. Whether this is inside is decided
 * by what the kernel says of this process; the variable only tells what the pen holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static enum pinfold_format format_of(const struct request *request)
{
	return request->is_json ? PINFOLD_JSON : PINFOLD_TEXT;
}

/* A pen that did not tell, or whose word was taken out of the environment. */
static int unknown_pen(const struct request *request)
{
	say("PINFOLD_STATUS is not set, so what this pen holds is not known");
	fputs(request->is_json ? "{\"confined\":true}\n" : "confined: yes\n", stdout);
	return print_end();
}

static int outside(const struct request *request);

static int inside(const struct request *request, const char *value)
{
	struct pinfold_error error;
	char *text;
	int told = pinfold_status_read(value, format_of(request), &text, &error);
	bool is_confined = pinfold_is_confined();

	if (told < 0)
		return say_error(&error);
	if (told && !is_confined) {
		free(text);
		say("PINFOLD_STATUS says that this is a pen, but it is none: the variable is not believed");
		return outside(request);
	}
	if (is_confined && !told)
		say("PINFOLD_STATUS says that this is no pen, but it is one");
	if (print_text(text) != EXIT_YES)
		return EXIT_REFUSED;
	return told ? EXIT_YES : EXIT_NO;
}

/* Of what a run here would have, without the line that tells the command inside that it is confined. */
static const char *without_verdict(const char *text)
{
	static const char verdict[] = "confined: yes\n";

	return strncmp(text, verdict, sizeof(verdict) - 1) == 0 ? text + sizeof(verdict) - 1 : text;
}

static int print_outside(const struct request *request, const struct pinfold_plan *plan, struct pinfold_error *err)
{
	bool is_refused = pinfold_plan_refusal(plan, err) < 0;
	char *text;

	if (pinfold_plan_status(plan, format_of(request), &text, err) < 0)
		return say_error(err);
	if (request->is_json)
		printf("{\"confined\":false,\"refused\":%s,\"run\":%.*s}\n", is_refused ? "true" : "false",
		       (int)strcspn(text, "\n"), text);
	else
		printf("not confined; a run here %s:\n%s", is_refused ? "would be refused" : "would have",
		       without_verdict(text));
	free(text);
	return print_end() == EXIT_YES ? EXIT_NO : EXIT_REFUSED;
}

/* JSON is one string: a client that puts its description together wants no lines. */
static int print_notice(const struct request *request, const struct pinfold_plan *plan, struct pinfold_error *err)
{
	char *text;

	if (pinfold_plan_description(plan, &text, err) < 0)
		return say_error(err);
	if (!request->is_json)
		return print_text(text);
	fputs("{\"notice\":", stdout);
	print_json_string(text);
	fputs("}\n", stdout);
	free(text);
	return print_end();
}

static int outside(const struct request *request)
{
	static char word[] = "true";
	char *const command[] = { word, NULL };
	struct session session = { 0 };
	struct pinfold_error error;
	int status;

	if (session_open(&session, request, &error) < 0 || session_plan(&session, command, true, &error) < 0)
		status = say_error(&error);
	else if (request->is_notice)
		status = print_notice(request, session.plan, &error);
	else
		status = print_outside(request, session.plan, &error);
	session_close(&session);
	return status;
}

int status_command(const struct command *command, char **argv)
{
	const char *value = getenv("PINFOLD_STATUS");
	struct request request;
	struct pinfold_error error;
	int r = request_parse(&request, command->where, argv, &error);
	int status;

	if (r == 0 && request.rest[0])
		r = usage_error(&error, "status: '%.64s' is one word too many", request.rest[0]);
	status = request_end(command, &request, r, &error);
	if (status >= 0)
		;
	else if (request.is_notice)
		status = outside(&request);
	else if (value && *value)
		status = inside(&request, value);
	else
		status = pinfold_is_confined() ? unknown_pen(&request) : outside(&request);
	request_free(&request);
	return status;
}
