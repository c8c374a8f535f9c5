/* SPDX-License-Identifier: Apache-2.0 */
/* explain's answers, as lines and as JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "plan/explain.h"

static bool is_proved(const struct explain_answer *answer)
{
	return answer->allowed == (answer->errnum == 0);
}

static json_t *answer_json(const struct explain_answer *answer)
{
	json_t *object = json_object();
	int r = json_put(object, "allowed", json_boolean(answer->allowed));

	r |= json_put_bytes(object, "rule", answer->rule);
	r |= json_put_bytes(object, "source", answer->source);
	r |= json_put(object, "held", json_boolean(answer->is_held));
	if (answer->why)
		r |= json_put_bytes(object, "why", answer->why);
	if (answer->is_asked) {
		r |= json_put(object, "errno", json_integer(answer->errnum));
		r |= json_put(object, "proved", json_boolean(is_proved(answer)));
	}
	if (r == 0)
		return object;
	json_decref(object);
	return NULL;
}

static int give(json_t *object, int r, struct buf *out)
{
	json_write(json_done(object, r), JSON_COMPACT, out);
	buf_char(out, '\n');
	return out->error;
}

static void answer_line(struct buf *out, const char *right, const struct explain_answer *answer)
{
	buf_printf(out, "  %-8s %-4s ", right, answer->allowed ? "yes" : "no");
	if (answer->is_asked)
		buf_printf(out, "%s (kernel: %s) ", is_proved(answer) ? "proved" : "DISAGREES",
			   answer->errnum ? strerror(answer->errnum) : "done");
	buf_printable(out, answer->rule);
	buf_str(out, " (");
	buf_printable(out, answer->source);
	buf_char(out, ')');
	if (answer->why) {
		buf_str(out, answer->is_held ? ": " : ": NOT HELD: ");
		buf_printable(out, answer->why);
	}
	buf_char(out, '\n');
}

static int count_rights(const struct explain_path *path)
{
	return path->is_socket ? RIGHT_COUNT : RIGHT_CONNECT;
}

int explain_path_print(const struct explain_path *path, bool is_json, struct buf *out)
{
	json_t *object = is_json ? json_object() : NULL;
	int r = 0;

	if (!is_json) {
		buf_printable(out, path->path);
		if (strcmp(path->path, path->resolved) != 0) {
			buf_str(out, " is ");
			buf_printable(out, path->resolved);
		}
		buf_str(out, path->exists ? "\n" : ", which does not exist inside\n");
		for (int right = 0; right < count_rights(path); right++)
			answer_line(out, explain_right_names[right], &path->right[right]);
		return out->error;
	}
	r |= json_put_bytes(object, "path", path->path);
	r |= json_put_bytes(object, "resolved", path->resolved);
	r |= json_put(object, "exists", json_boolean(path->exists));
	for (int right = 0; right < count_rights(path); right++)
		r |= json_put(object, explain_right_names[right], answer_json(&path->right[right]));
	return give(object, r, out);
}

int explain_address_print(const struct explain_address *address, bool is_json, struct buf *out)
{
	json_t *object = is_json ? json_object() : NULL;
	int r = 0;

	if (!is_json) {
		buf_printable(out, address->host);
		buf_printf(out, ", port %u\n", address->port);
		answer_line(out, "connect", &address->connect);
		return out->error;
	}
	r |= json_put_bytes(object, "host", address->host);
	r |= json_put(object, "port", json_integer(address->port));
	r |= json_put(object, "connect", answer_json(&address->connect));
	return give(object, r, out);
}

int explain_command_print(const struct explain_command *command, bool is_json, struct buf *out)
{
	json_t *object = is_json ? json_object() : NULL;
	int r = 0;

	if (!is_json) {
		buf_printable(out, command->name);
		if (command->path) {
			buf_str(out, " is ");
			buf_printable(out, command->path);
		}
		buf_char(out, '\n');
		answer_line(out, "execute", &command->execute);
		return out->error;
	}
	r |= json_put_bytes(object, "command", command->name);
	r |= json_put_bytes(object, "path", command->path);
	r |= json_put(object, "status", json_integer(command->status));
	r |= json_put(object, "execute", answer_json(&command->execute));
	return give(object, r, out);
}
