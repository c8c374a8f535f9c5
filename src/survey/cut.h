/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that cut the secrets out of settings files; survey.h has cut_settings itself. */
#ifndef SURVEY_CUT_H
#define SURVEY_CUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"

/*
 * What every reader does: 1 with the copy in out, 0 when it is not sure about anything, or -errno. It is handed text
 * without NUL and with "\n" ends only. A key's name decides about its value; the value alone can only make it worse.
 */
enum cut_value {
	CUT_KEEP,
	CUT_DROP,    /* the value goes, and its name with it */
	CUT_UNSURE,  /* an address with a secret in its path or query: without it names would be asked for in public */
};

/* Does the name say secret? Blanks, dashes, dots and case do not count: _authToken, auth-token, AUTH_TOKEN. */
bool cut_is_secret_name(const char *name, size_t len);
/* Public keys: without them nix and cabal trust no mirror any more. They look random and are shown. */
bool cut_is_public_name(const char *name, size_t len);
/* out: where a shortage of memory sticks; nothing is added. */
enum cut_value cut_judge(struct buf *out, const char *value, size_t len);
/* An address, a switch, a number, a path, an option: what a setting of a name of the user's own choice may show. */
bool cut_is_plain(const char *value, size_t len);
/* Adds the text without users and passwords of addresses, and without conda's /t/TOKEN. */
void cut_add(struct buf *out, const char *text, size_t len);

bool cut_is_blank(char c);
/* The next line without its end; false at the end of the text. */
bool cut_next_line(const char **text, size_t *len, const char **ret, size_t *ret_len);
size_t cut_trim(const char **text, size_t len); /* blanks on both sides */

/* name: the file's, without folders; 0 for one that is not known. */
int cut_lines(struct buf *out, const char *name, const char *text, size_t len);
int cut_yaml(struct arena *arena, struct buf *out, const char *text, size_t len, bool is_bundler);
int cut_xml(struct buf *out, const char *text, size_t len);

#endif
