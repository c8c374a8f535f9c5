/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hidden and protected entries in their final order: a parent directly before what lies in it, each path once, and
 * nothing inside a directory that is covered as a whole. Then the check that the run's own places are still there.
 */
#include "survey/take.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/path.h"

/* Both kinds of entry begin with their path: what is sorted is pointers to them. */
struct ordered {
	const char *path;
	size_t length; /* of the path */
	size_t index;  /* of the entry */
	size_t parent; /* index of the kept entry that holds this one, or SIZE_MAX */
};

static bool is_before(const struct ordered *a, const struct ordered *b)
{
	return path_compare_n(a->path, a->length, b->path, b->length) < 0;
}

static bool is_in(const struct ordered *entry, const struct ordered *dir)
{
	return path_is_in_n(entry->path, entry->length, dir->path, dir->length);
}

/* A merge sort, since it keeps entries of the same path in the order in which they were added: the first one stays.
 * `room` is for half of them. */
static void sort(struct ordered *v, struct ordered *room, size_t n)
{
	size_t half = n / 2, left = 0, right = half, i = 0;

	if (n < 2)
		return;
	sort(v, room, half);
	sort(v + half, room, n - half);
	if (!is_before(&v[half], &v[half - 1])) /* in order as they are */
		return;
	memcpy(room, v, half * sizeof(*v));
	while (left < half && right < n)
		v[i++] = is_before(&v[right], &room[left]) ? v[right++] : room[left++];
	memcpy(v + i, room + left, (half - left) * sizeof(*v));
}

/* Something between the two is bound over the cover again, so what lies in it needs a cover of its own. */
static bool is_shown_again(const struct taking *take, const char *outer, const char *inner)
{
	const struct survey *survey = take->survey;
	const struct policy_value *reads = &take->policy->value[KEY_READ];

	if (path_is_below(survey->worktree, outer) && path_is_in(inner, survey->worktree))
		return true;
	for (size_t i = 0; i < survey->write_count; i++)
		if (path_is_below(survey->writes[i].path, outer) && path_is_in(inner, survey->writes[i].path))
			return true;
	for (size_t i = 0; i < reads->count; i++)
		if (path_is_below(reads->items[i].text, outer) && path_is_in(inner, reads->items[i].text))
			return true;
	return false;
}

/* Sorts n entries of `size` bytes and drops the superfluous ones. */
static int order(struct taking *take, void *array, size_t size, size_t *count)
{
	struct ordered *sorted = malloc((*count + *count / 2 + 1) * sizeof(*sorted));
	char *copy = malloc(*count * size + 1);
	size_t kept = 0;

	if (*count == 0 || !sorted || !copy) {
		free(sorted);
		free(copy);
		return *count == 0 ? 0 : err_oom(take->err);
	}
	for (size_t i = 0; i < *count; i++) {
		sorted[i].path = *(const char *const *)((char *)array + i * size);
		sorted[i].length = strlen(sorted[i].path);
		sorted[i].index = i;
	}
	sort(sorted, sorted + *count, *count);
	for (size_t i = 0; i < *count; i++) {
		struct ordered entry = sorted[i];

		entry.parent = kept ? kept - 1 : SIZE_MAX;
		while (entry.parent != SIZE_MAX && !is_in(&entry, &sorted[entry.parent]))
			entry.parent = sorted[entry.parent].parent;
		if (entry.parent != SIZE_MAX && (entry.length == sorted[entry.parent].length ||
						 !is_shown_again(take, sorted[entry.parent].path, entry.path)))
			continue;
		memcpy(copy + kept * size, (char *)array + entry.index * size, size);
		sorted[kept++] = entry;
	}
	memcpy(array, copy, kept * size);
	*count = kept;
	free(sorted);
	free(copy);
	return 0;
}

/* A worktree below a built-in secret directory is the user's wish, and only it is shown there. A rule of the user's
 * that takes the worktree or the working directory away is a contradiction: the command must not run elsewhere.
 * (What is needed lies in what is hidden.) */
static bool is_conflict(const struct taking *take, const struct survey_hidden *hidden, const char *needed)
{
	const struct survey *survey = take->survey;

	if (policy_rule(take->policy, AXIS_READ, needed, NULL, NULL) == RULE_ALLOW)
		return false;
	if (strcmp(hidden->source, "built in") != 0)
		return true;
	return !path_is_below(survey->worktree, hidden->path) || !path_is_in(needed, survey->worktree);
}

static int check_needed(struct taking *take)
{
	const struct survey *survey = take->survey;
	const char *const needed[] = { survey->cwd, survey->worktree };
	static const char *const words[] = { "working directory", "worktree" };
	const size_t lengths[] = { strlen(survey->cwd), strlen(survey->worktree) };

	for (size_t i = 0; i < survey->hidden_count; i++) {
		const struct survey_hidden *hidden = &survey->hidden[i];
		size_t length = strlen(hidden->path);

		for (size_t k = 0; k < 2; k++) {
			int r;

			if (!path_is_in_n(needed[k], lengths[k], hidden->path, length) ||
			    !is_conflict(take, hidden, needed[k]))
				continue;
			r = err_say(take->err, PINFOLD_REFUSED, EPERM, "the %s '%s' would be hidden by '%s' (%s)",
				    words[k], needed[k], hidden->rule, hidden->source);
			/* not what hides it, which may be a whole home */
			err_hint(take->err, "run elsewhere, or open it with --read '%s'",
				 path_is_in(survey->worktree, hidden->path) ? survey->worktree : needed[k]);
			return r;
		}
	}
	return 0;
}

int take_order(struct taking *take)
{
	struct survey *survey = take->survey;
	int r = order(take, survey->hidden, sizeof(*survey->hidden), &survey->hidden_count);

	if (r == 0)
		r = order(take, survey->protected, sizeof(*survey->protected), &survey->protected_count);
	return r < 0 ? r : check_needed(take);
}
