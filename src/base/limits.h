/* SPDX-License-Identifier: Apache-2.0 */
/* The maximum of every growable thing, in one place. Each is far above what real set-ups need and low enough that
 * reaching it costs neither the machine nor the caller anything. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

enum {
	LIMIT_CONFIG_BYTES = 1024 * 1024,   /* one configuration or trust file */
	LIMIT_CONFIG_DEPTH = 16,            /* nesting of JSON */
	LIMIT_LIST_ITEMS = 10000,           /* entries of one list of the policy, all layers together */
	LIMIT_ARENA_BYTES = 64 * 1024 * 1024,
	LIMIT_TEXT_BYTES = 8 * 1024 * 1024, /* a printed plan, record, configuration */
	LIMIT_ENV_ENTRIES = 10000,
	LIMIT_PATTERN_BYTES = 4096,
	LIMIT_PATTERN_MATCHES = 100000,     /* paths that the patterns of one run may match */
	LIMIT_WALK_DEPTH = 128,             /* directories below the worktree's top that a pattern walk enters */
	LIMIT_CUT_BYTES = 256 * 1024,       /* a settings file that is shown as a copy without its secrets */
	LIMIT_GIT_CONFIG_BYTES = 256 * 1024, /* a configuration of git's that the command gets as a copy */
	LIMIT_GIT_CONFIG_ITEMS = 20000,
	LIMIT_GIT_COPIES = 32,              /* and how many of them */
	LIMIT_GIT_INDEX_BYTES = 128 * 1024 * 1024, /* an index of git's that is looked into after a run */
	LIMIT_GIT_INDEX_BEFORE = 16 * 1024 * 1024, /* one that is read before a command that has git change files */
	LIMIT_GIT_TRACKED_BYTES = 16 * 1024 * 1024, /* a protected file that is compared with its entry there */
	LIMIT_GIT_INDEX_STILL = 1024 * 1024, /* and one that has not changed */
	LIMIT_GIT_LINKS = 4096,             /* submodules in it; symbolic links in one of git's directories */
	LIMIT_GIT_NAMES = 1000000,          /* in one of git's directories that is searched for links */
	LIMIT_GIT_REPOSITORIES = 1024,      /* that a run is followed into afterwards */
	LIMIT_STATUS_BYTES = 1024,          /* PINFOLD_STATUS */
	LIMIT_TODO_BYTES = 256 * 1024,      /* a todo list of git-rebase that is looked into after a run */
	LIMIT_REMOVED_BYTES = 16 * 1024 * 1024, /* copied out of the worktree by one run, where it cannot be renamed */
	LIMIT_REMOVED_ENTRIES = 1000,       /* files and directories of that */
	LIMIT_REMOVED_DEPTH = 16,
	LIMIT_NAMES = 65536,                /* in a directory that is listed after a run for what a wildcard protects */
	LIMIT_TREE_MS = 2000,               /* for looking through the tree after a run that asks for it */
	LIMIT_TREE_FINDINGS = 1000,
	LIMIT_TREE_LINKS = 20000,           /* names of young files that have several */
	LIMIT_SIBLINGS = 20000,             /* paths that are granted since something beside them is hidden */
	LIMIT_INSIDE_ENTRIES = 20000,       /* of a protected directory that are looked at after a run without mounts */
	LIMIT_PASS_FDS = 64,
	LIMIT_PORTS = 64,                   /* that are reached, and again that are published */
	LIMIT_RELAY_CONNECTIONS = 4096,     /* that a relay carries at once */
};

#endif
