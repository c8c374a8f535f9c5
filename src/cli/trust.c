/* SPDX-License-Identifier: Apache-2.0 */
/* `pinfold trust`: the user's word that a project's file may loosen, too. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static int trust(const struct request *request, struct pinfold_error *err)
{
	char *path;

	if (request->rest[0] && request->rest[1])
		return usage_error(err, "trust: one file at a time");
	if (change_directory(request->directory, err) < 0 ||
	    pinfold_trust(request->rest[0], &path, err) < 0)
		return -1;
	say("'%s' may loosen now, as long as it stays as it is", path);
	free(path);
	return 0;
}

int trust_command(const struct command *command, char **argv)
{
	struct request request;
	struct pinfold_error error;
	int status;

	status = request_end(command, &request, request_parse(&request, command->where, argv, &error), &error);
	if (status < 0)
		status = trust(&request, &error) < 0 ? say_error(&error) : EXIT_YES;
	request_free(&request);
	return status;
}
