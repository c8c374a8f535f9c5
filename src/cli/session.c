/* SPDX-License-Identifier: Apache-2.0 */
/* From the words of a command line to a loaded policy, a host and a plan. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int descriptor_of(const char *text)
{
	char *end;
	long fd;

	if (strncmp(text, "fd:", 3) != 0)
		return -1;
	text += 3;
	errno = 0;
	fd = strtol(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && fd <= INT_MAX ? (int)fd : -2;
}

static int out_of_memory(struct pinfold_error *err)
{
	*err = (struct pinfold_error){ .code = PINFOLD_INTERNAL, .errnum = ENOMEM };
	return -ENOMEM;
}

int change_directory(const char *directory, struct pinfold_error *err)
{
	int r;

	if (directory && !*directory)
		return usage_error(err, "option '-C': the path is empty");
	r = !directory || chdir(directory) == 0 ? 0 : -errno;
	if (r < 0) {
		*err = (struct pinfold_error){ .code = PINFOLD_USAGE, .errnum = -r };
		snprintf(err->operation, sizeof(err->operation), "change to");
		snprintf(err->object, sizeof(err->object), "%s", directory);
	}
	return r;
}

int set_config_of(struct pinfold_policy *policy, const struct request *request, struct pinfold_error *err)
{
	const char *config = request->config;
	int fd = config ? descriptor_of(config) : -1;

	if (!config)
		return 0;
	if (!*config)
		return usage_error(err, "option '--config': the path is empty");
	if (fd == -2)
		return usage_error(err, "option '--config': '%.64s' is no descriptor", config);
	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		return usage_error(err, "option '--config': descriptor %d is not open", fd);
	return fd >= 0 ? pinfold_policy_config_fd(policy, fd, err) : pinfold_policy_config_file(policy, config, err);
}

/* A value that is the command's alone: where the run has no processes of its own it would find it in ours, and anybody
 * else who lists processes anywhere (F175). */
static void forget_value(const struct setting *setting)
{
	char *value = strcmp(setting->name, "env") == 0 ? strchr((char *)(uintptr_t)setting->text, '=') : NULL;

	if (value)
		memset(value + 1, 0, strlen(value + 1));
}

int session_open(struct session *session, const struct request *request, struct pinfold_error *err)
{
	int r;

	*session = (struct session){ .policy = pinfold_policy_new(), .host = pinfold_host_new() };
	if (!session->policy || !session->host)
		return out_of_memory(err);
	r = change_directory(request->directory, err);
	if (r == 0)
		r = set_config_of(session->policy, request, err);
	for (size_t i = 0; r == 0 && i < request->setting_count; i++)
		r = pinfold_policy_set(session->policy, request->settings[i].name, request->settings[i].text, err);
	for (size_t i = 0; i < request->setting_count; i++)
		forget_value(&request->settings[i]);
	return r == 0 ? pinfold_policy_load(session->policy, NULL, err) : r;
}

int session_plan(struct session *session, char *const argv[], bool is_preview, struct pinfold_error *err)
{
	return pinfold_plan_new(&session->plan, session->policy, session->host, argv, is_preview, err);
}

void session_close(struct session *session)
{
	session->plan = pinfold_plan_free(session->plan);
	session->policy = pinfold_policy_free(session->policy);
	session->host = pinfold_host_free(session->host);
}
