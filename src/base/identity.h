/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls: ids, homes, base directories. Read once, from /etc/passwd by ourselves (a static binary has no name
 * services), and from the environment only where that can add hidden paths, never take any away. */
#ifndef BASE_IDENTITY_H
#define BASE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"

struct identity {
	uid_t uid;
	gid_t gid;
	const char *user;         /* name, or NULL when /etc/passwd has no line for uid */
	const char *account_home; /* of /etc/passwd, canonical where it exists; NULL without a line */
	const char *home;         /* $HOME, canonical where it exists, absolute; else account_home; may be NULL */
	const char *home_spelling; /* $HOME as it was written (a link, say), normalised; may equal home */
	const char *shell;        /* of /etc/passwd, or "/bin/sh" */
	const char *config_home;  /* $XDG_CONFIG_HOME (absolute ones only) or home/.config; NULL without a home */
	const char *data_home;    /* $XDG_DATA_HOME or home/.local/share */
	const char *state_home;   /* $XDG_STATE_HOME or home/.local/state */
	const char *cache_home;   /* $XDG_CACHE_HOME or home/.cache */
	const char *runtime_dir;  /* $XDG_RUNTIME_DIR, absolute, or NULL */
};

int identity_read(struct arena *arena, struct identity *ret);

#endif
