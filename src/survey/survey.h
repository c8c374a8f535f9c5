/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The survey: what lies on disk for this run, read once. Plain data: it can be written down (survey_write) and read
 * back (survey_read), so that plans can be tested on worlds that this machine does not have.
 */
#ifndef SURVEY_SURVEY_H
#define SURVEY_SURVEY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/identity.h"
#include "base/strv.h"
#include "policy/policy.h"

/* What was found at a path. A path is opened again inside the pen, and refused there when device or inode differ. */
struct survey_node {
	uint64_t dev, ino;
	uint32_t mode; /* st_mode; 0 = nothing there */
	uint32_t uid, gid;
};

enum hidden_kind { HIDDEN_ABSENT, HIDDEN_DIRECTORY, HIDDEN_FILE, HIDDEN_CUT, HIDDEN_LINK, HIDDEN_KIND_COUNT };
enum hidden_place { PLACE_HOME, PLACE_WORKTREE, PLACE_ELSEWHERE, PLACE_COUNT };

struct survey_hidden {
	const char *path;
	enum hidden_kind kind;
	enum hidden_place place;
	int home;            /* index of the home, for PLACE_HOME */
	const char *rule;    /* why: the built-in entry, or the user's pattern */
	const char *source;  /* "built in", a file, "command line" */
	const char *copy;    /* HIDDEN_CUT: what is shown instead */
	struct survey_node node;
};

struct survey_home {
	const char *path; /* canonical */
	struct survey_node node;
	struct strv mounts;  /* mount points below it */
	struct strv file_mounts; /* those that are files, filled with the entries */
};

enum protected_kind { PROTECTED_ABSENT, PROTECTED_DIRECTORY, PROTECTED_FILE, PROTECTED_LINK, PROTECTED_KIND_COUNT };

struct survey_protected {
	const char *path;
	enum protected_kind kind;
	const char *rule, *source;
	struct survey_node node;
};

/* A path that is made visible or writable. */
struct survey_grant {
	const char *path;
	bool is_directory;
	bool must_make; /* `--write DIR/`: made before the run */
	const char *source;
	const char *unfit; /* of a write path, as survey.unfit */
	struct survey_node node;
};

struct survey_cache {
	const char *name;
	const char *tool;  /* where the tool looks */
	const char *store; /* the private directory bound there; NULL: none can be made, a directory of the private temp
			      is used */
	struct survey_node node; /* of store */
};

/* One visible entry of a home, for homes that are put together entry by entry. */
struct survey_entry {
	const char *path;
	const char *target; /* of a link; else NULL */
	bool is_directory;
	int home;
};

/*
 * What the check after the run compares. The set is fixed here, at the start: some hundred look-ups afterwards, never a
 * walk.
 */
enum watch_kind {
	WATCH_SAME,      /* it was there, and must be what it was */
	WATCH_ABSENT,    /* it was not there, and must still not be (E012) */
	WATCH_NAMES,     /* a directory in which no name that matches may appear */
	WATCH_REPORT,    /* may change: a warning */
	WATCH_HEAD,      /* must still be what git takes for a HEAD (E032) */
	WATCH_DIRECTORY, /* must still be a directory */
	WATCH_BARE,      /* a directory that must not become a git directory itself (E032) */
	WATCH_TODO,      /* what `git rebase --continue` carries out: no command that was not in it (E10F) */
	WATCH_STATE,     /* of git, begun during the run: a warning */
	WATCH_LOCK,      /* of git, younger than the run: a warning */
	WATCH_KIND_COUNT
};

enum watch_bare { BARE_HEAD = 1, BARE_COMMONDIR = 2, BARE_OBJECTS = 4, BARE_REFS = 8 };

struct survey_watch {
	enum watch_kind kind;
	size_t root;       /* of survey.watch_roots; below it no link is followed */
	const char *below; /* "" for the root itself */
	const char *rule;
	struct survey_node node; /* WATCH_SAME, WATCH_REPORT; mode 0: it was not there */
	uint64_t size;
	int64_t changed_ns, modified_ns; /* 0: not compared */
	unsigned bare;           /* WATCH_BARE: what was there */
	struct strv words;       /* WATCH_TODO: commands that were in it; WATCH_NAMES: wildcards */
};

struct survey_watch_root {
	const char *path;
	struct survey_node node;
};

enum git_kind {
	REPOSITORY_NONE,
	REPOSITORY_CLONE,
	REPOSITORY_LINKED,    /* a linked worktree, of a clone or of a bare repository */
	REPOSITORY_SUBMODULE,
	REPOSITORY_SEPARATE,  /* --separate-git-dir; `.git` as a link */
	REPOSITORY_BARE,      /* the worktree itself */
	REPOSITORY_OTHER,     /* nothing that git would accept, or that we trust */
	REPOSITORY_KIND_COUNT
};

struct survey_git {
	enum git_kind kind;
	const char *entry;     /* `.git`, at the worktree's top or above it; NULL for NONE and BARE */
	const char *directory; /* the worktree's own git directory: HEAD, index */
	const char *common;    /* objects, refs, hooks, configuration; the same but in a linked worktree */
	const char *refused;   /* why it is not made writable, where that would be needed; else NULL */
	struct survey_node node; /* of entry */
};

/* A configuration file of git's that is shown as a copy, so that git can write to it (F007, F011). */
struct survey_config {
	const char *path;
	const char *text; /* as it was read */
	struct survey_node node, directory;
};

/* Where nothing can be laid over what is hidden: what may be read is granted instead, and this is the list of it. */
struct survey_sibling {
	const char *path;
	bool is_directory;
};

/* A program that is not there, or that must not be trusted. */
struct survey_unusable {
	const char *path; /* NULL: there is none such */
	int errnum;
};

enum stdio_kind {
	STDIO_CLOSED,
	STDIO_FILE,
	STDIO_DIRECTORY,
	STDIO_TERMINAL,
	STDIO_SOCKET, /* one that can be sent elsewhere: of the internet, or a datagram's */
	STDIO_OTHER,
	STDIO_KIND_COUNT
};

struct survey_stdio {
	enum stdio_kind kind;
	int flags;         /* O_ACCMODE and O_APPEND of the open file */
	const char *path;  /* STDIO_FILE: its path, where /proc/self/fd tells one that exists */
	struct survey_node node;
};

struct survey_terminal {
	bool has_controlling; /* there is a controlling terminal */
	bool is_foreground;   /* and we are in its foreground process group */
	bool is_all;          /* 0, 1 and 2 are all that terminal */
	const char *path;     /* its device, for /dev/console inside */
};

struct survey_mount {
	const char *path, *type;
	const char *root; /* the directory of its file system that it shows */
	uint64_t device;  /* of the file system: major and minor in 32 bits each */
};

struct survey {
	struct arena arena;
	struct identity who;
	const char *cwd;
	struct survey_node cwd_node;
	const char *worktree;
	struct survey_node worktree_node;
	const char *unfit;   /* why it is too wide for a worktree, where that is accepted; else NULL */
	struct survey_git git;
	struct survey_home home[2]; /* $HOME and the account's, where they differ */
	size_t home_count;
	struct survey_hidden *hidden;
	size_t hidden_count, hidden_cap;
	struct survey_protected *protected;
	size_t protected_count, protected_cap;
	struct survey_watch_root *watch_roots; /* these two are not written down: no plan depends on them */
	size_t watch_root_count, watch_root_cap;
	struct survey_watch *watches; /* sorted by root and path */
	size_t watch_count, watch_cap;
	int64_t taken_ns; /* when: what is younger may be the command's work. Not written down, either */
	struct survey_config *configs;
	size_t config_count, config_cap;
	struct survey_grant *writes, *reads, *sockets, *devices;
	struct survey_grant *tools; /* toolchain directories bound over the home */
	size_t write_count, write_cap, read_count, read_cap, socket_count, socket_cap;
	size_t device_count, device_cap, tool_count, tool_cap;
	/* masked whole: hold sockets of host services, outside /run, /tmp and the home */
	struct strv service_directories;
	struct strv closed;         /* run by root: directories on the way to a grant that only root may enter */
	struct survey_cache *caches;
	size_t cache_count, cache_cap;
	struct survey_mount *mounts;
	size_t mount_count, mount_cap;
	struct strv alias_parts; /* other mounts of a part of a home in which something is hidden, each where it was
				    found */
	struct strv alias_homes; /* other places of a whole home that are not masked: opened by the user, or the root */
	struct survey_stdio stdio[3];
	struct survey_terminal terminal;
	bool has_entries;           /* survey_list_entries has been called */
	struct survey_entry *entries;
	size_t entry_count, entry_cap;
	bool has_siblings;          /* survey_list_siblings has been called */
	struct survey_sibling *siblings;
	size_t sibling_count, sibling_cap;
	bool has_bubblewrap;        /* survey_find_bubblewrap has been called */
	const char *bubblewrap, *enter; /* both programs of that backend, where they may be used */
	struct survey_unusable unusable; /* else which of them is missing or must not be used, and why */
	const char *tmp;            /* --tmp DIR, canonical; NULL: private */
	struct survey_node tmp_node;
	struct strv run_links;      /* pairs: a link below /run that stays (current-system …), and its target */
	const char *resolver;       /* where /etc/resolv.conf leads, if below /run; NULL otherwise */
	bool needs_passwd_line;     /* the caller is not in /etc/passwd */
	const char *passwd_copy, *group_copy; /* then: the files with the caller's line added */
	struct strv environment;    /* the caller's, NAME=VALUE */
	/* protected files that git tracks, below its top, where the command's words have git change files; and what the
	 * user should know before the start. Both are not written down */
	struct strv tracked, notices;
	struct strv notes;          /* skipped paths and why, for the record's warnings */
};

/* Looks. The policy is loaded. Everything that makes the run senseless (a worktree that is refused, a cwd that is
 * gone, a write path that does not exist) is an error here, with the hint. Makes nothing on disk, except missing cache
 * stores and `--write DIR/`, and these only where `make` is true (not for --plan, status, config). */
int survey_take(struct survey *survey, const struct pinfold_policy *policy, char *const *environment, bool make,
		struct pinfold_error *err);
void survey_free(struct survey *survey);

/* Lists the visible entries of all homes: needed only where the overlay cannot be used. Entries that hold something
 * hidden are opened up: their own entries are listed instead. Unreadable directories are left out. */
int survey_list_entries(struct survey *survey, struct pinfold_error *err);

/* Lists what may be read: the whole tree, but for what is hidden, the host's temporary files, /run and /dev. Only the
 * directories on the way to something hidden are opened up, and their other entries listed. has_private_home: nothing
 * of the homes but what is granted. is_read_only: the worktree, too, is only read. */
int survey_list_siblings(struct survey *survey, bool has_private_home, bool is_read_only, struct pinfold_error *err);

/* Looks for bubblewrap, at `configured` or (NULL) at fixed places, never through PATH, and for our program that goes on
 * inside. What is missing, or might be changed by somebody else, is `unusable`. */
int survey_find_bubblewrap(struct survey *survey, const char *configured, struct pinfold_error *err);

/* Looks at other descriptors that will be 0, 1 and 2 of the command (-1: the caller's, as survey_take saw it). */
int survey_look_stdio(struct survey *survey, const int fds[3], struct pinfold_error *err);

/* Before a plan's run: git's configuration may have changed since, also by an earlier run of this plan. 1: some has,
 * and the plan has to be made again; 0, or -ENOMEM. */
int survey_renew_configs(struct survey *survey, struct pinfold_error *err);

int survey_write(const struct survey *survey, struct buf *out);
int survey_read(struct survey *survey, const char *text, size_t length, struct pinfold_error *err);

/* What a settings file shows instead of its secrets (ESCAPES: settings beside secrets). name is the path below the
 * home (".npmrc"). Returns 1 and *ret (in the arena) when it could be cut safely, 0 when it cannot and stays hidden,
 * or -errno. */
int cut_settings(struct arena *arena, const char *name, const char *text, size_t length, const char **ret);

#endif
