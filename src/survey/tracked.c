/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/gitindex.h"
#include "base/limits.h"
#include "base/path.h"

enum { NOTICE_MOST = 4096 };

/* ---- the words of the command ---------------------------------------------------------------------------------- */

/* Those that have git change files of the checkout. */
static const char *const verbs[] = {
	"switch", "checkout", "pull", "merge", "rebase", "reset", "stash", "cherry-pick",
};

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* As a word of its own: "git" in "/usr/bin/git -C x" and in "cd x && git pull", not in "github". */
static bool has_word(const char *text, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !is_of_word(at[-1])) && !is_of_word(at[length]))
			return true;
	return false;
}

static bool any_has_word(char *const argv[], const char *word)
{
	for (; *argv; argv++)
		if (has_word(*argv, word))
			return true;
	return false;
}

static bool has_git_change_files(char *const argv[])
{
	if (!any_has_word(argv, "git"))
		return false;
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (any_has_word(argv, verbs[i]))
			return true;
	return false;
}

/* ---- what is protected and tracked ----------------------------------------------------------------------------- */

int tracked_wanted(const struct survey *survey, struct arena *arena, const char **ret_top, struct strv *ret)
{
	const char *top = survey->git.entry && survey->git.directory ? path_parent(arena, survey->git.entry) : NULL;

	*ret_top = top;
	if (!top)
		return survey->git.entry && survey->git.directory ? -ENOMEM : 0;
	for (size_t i = 0; i < survey->protected_count; i++) {
		const struct survey_protected *protected = &survey->protected[i];
		const char *below = path_below(protected->path, top);

		if (protected->kind == PROTECTED_ABSENT || !below || !*below || path_is_in(below, ".git"))
			continue;
		if (strv_add(arena, ret, below) < 0)
			return -ENOMEM;
	}
	return 0;
}

void tracked_list(struct buf *out, const struct strv *names)
{
	for (size_t i = 0; i < names->n && i < TRACKED_SHOWN; i++) {
		buf_str(out, i ? ", '" : "'");
		buf_printable(out, names->v[i]);
		buf_char(out, '\'');
	}
	if (names->n > TRACKED_SHOWN)
		buf_printf(out, " and %zu more", names->n - TRACKED_SHOWN);
}

/* As what follows depends on nothing else, an index that is large or broken is as good as none. */
static int read_index(struct survey *survey, struct gitindex *index)
{
	struct buf bytes BUF_CLEANUP = BUF_INIT(LIMIT_GIT_INDEX_BEFORE);
	char *path = path_join(&survey->arena, survey->git.directory, "index");
	FD_CLEANUP int fd = path ? fd_open_regular(AT_FDCWD, path) : -ENOMEM;
	int r = fd < 0 ? fd : buf_read_fd(&bytes, fd);

	if (r == 0)
		r = gitindex_read(&survey->arena, bytes.data ? bytes.data : "", bytes.len, index);
	return r;
}

static int add_notice(struct survey *survey)
{
	static const char one[] = " is protected, and git tracks it: "
				  "where commits differ in it, git cannot update it here";
	static const char many[] = " are protected, and git tracks them: "
				   "where commits differ in them, git cannot update them here";
	struct buf text BUF_CLEANUP = BUF_INIT(NOTICE_MOST);

	tracked_list(&text, &survey->tracked);
	buf_str(&text, survey->tracked.n == 1 ? one : many);
	if (text.error)
		return text.error == -ENOMEM ? -ENOMEM : 0; /* names that long say nothing */
	return strv_add_owned(&survey->arena, &survey->notices, arena_strndup(&survey->arena, text.data, text.len));
}

int survey_take_tracked(struct survey *survey, const struct pinfold_policy *policy, char *const argv[])
{
	struct strv wanted = { 0 };
	struct gitindex index = { .wanted = &wanted };
	const char *top;
	int r;

	if (policy_number(policy, KEY_MODE) == MODE_OFF || policy_number(policy, KEY_READ_ONLY) ||
	    policy_number(policy, KEY_GIT) != GIT_COMMIT || !has_git_change_files(argv))
		return 0;
	r = tracked_wanted(survey, &survey->arena, &top, &wanted);
	if (r < 0 || !wanted.n)
		return r;
	r = read_index(survey, &index);
	if (r < 0 || index.shared.n)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < index.entry_count && r == 0; i++)
		if (!index.entries[i].is_skipped)
			r = strv_add(&survey->arena, &survey->tracked, index.entries[i].name);
	return r == 0 && survey->tracked.n ? add_notice(survey) : r;
}
