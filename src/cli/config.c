/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold config`: the effective policy, and what it is made of. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static enum pinfold_format format_of(const struct request *request)
{
	return request->is_json ? PINFOLD_JSON : PINFOLD_TEXT;
}

static int no_more_words(const struct request *request, struct pinfold_error *err)
{
	return request->rest[0] ? usage_error(err, "config: '%.64s' is one word too many", request->rest[0]) : 0;
}

static int show(const struct request *request, struct pinfold_error *err)
{
	struct session session = { 0 };
	char *text;
	int r = no_more_words(request, err);

	if (r == 0)
		r = session_open(&session, request, err);
	if (r == 0)
		r = pinfold_policy_show(session.policy, session.host, format_of(request), &text, err);
	session_close(&session);
	return r < 0 ? say_error(err) : print_text(text);
}

static int paths(const struct request *request, struct pinfold_error *err)
{
	struct session session = { 0 };
	char *text;
	int r = no_more_words(request, err);

	if (r == 0)
		r = session_open(&session, request, err);
	if (r == 0)
		r = pinfold_policy_paths(session.policy, format_of(request), &text, err);
	session_close(&session);
	return r < 0 ? say_error(err) : print_text(text);
}

static int schema(const struct request *request, struct pinfold_error *err)
{
	char *text;
	int r = no_more_words(request, err);

	if (r == 0)
		r = pinfold_policy_schema(&text, err);
	return r < 0 ? say_error(err) : print_text(text);
}

static int print_verdict(int r, const struct pinfold_error *err)
{
	char text[2048];

	printf("{\"valid\": %s", r == 0 ? "true" : "false");
	if (r < 0) {
		pinfold_error_text(err, text, sizeof(text));
		printf(", \"message\": ");
		print_json_string(text);
	}
	puts("}");
	return print_end();
}

/* One file, or all that a run here would read. */
static int check(const struct request *request, struct pinfold_error *err)
{
	struct session session = { 0 };
	int r;

	if (request->rest[0] && request->rest[1])
		return say_error((usage_error(err, "config check: one file at a time"), err));
	r = request->rest[0] ? pinfold_policy_check_file(request->rest[0], err) : session_open(&session, request, err);
	session_close(&session);
	if (request->is_json && print_verdict(r, err) != EXIT_YES)
		return EXIT_REFUSED;
	if (r < 0)
		say_error(err);
	return r < 0 ? EXIT_NO : EXIT_YES;
}

static const struct {
	const char *name;
	int (*run)(const struct request *request, struct pinfold_error *err);
} topics[] = { { "show", show }, { "check", check }, { "schema", schema }, { "paths", paths } };

int config_command(const struct command *command, char **argv)
{
	int (*run)(const struct request *request, struct pinfold_error *err) = NULL;
	struct request request;
	struct pinfold_error error;
	int status;

	if (!argv[0] || argv[0][0] == '-')
		run = show;
	for (size_t i = 0; !run && i < sizeof(topics) / sizeof(topics[0]); i++)
		if (strcmp(argv[0], topics[i].name) == 0) {
			run = topics[i].run;
			argv++;
		}
	if (!run) {
		usage_error(&error, "config: unknown topic '%.64s'", argv[0]);
		usage_hint(&error, "show, check, schema or paths");
		return say_error(&error);
	}
	status = request_end(command, &request, request_parse(&request, command->where, argv, &error), &error);
	if (status < 0)
		status = run(&request, &error);
	request_free(&request);
	return status;
}
