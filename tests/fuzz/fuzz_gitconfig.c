/* SPDX-License-Identifier: Apache-2.0 */
/* Two texts of git's configuration, split at the first zero byte: the host's, and what the command made of it. Whatever
 * that is, nothing but what may be carried over differs in the result. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gitconfig.h"
#include "base/limits.h"
#include "run/carry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_ours(const struct gitconfig_item *item)
{
	static const char *const keys[] = { "remote", "merge", "rebase", "pushremote" };

	if (strcmp(item->section, "branch") != 0 || !item->subsection)
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(item->key, keys[i]) == 0)
			return true;
	return false;
}

static const struct gitconfig_item *next(const struct gitconfig *config, size_t *at)
{
	while (*at < config->n) {
		const struct gitconfig_item *item = &config->v[(*at)++];

		if (item->key && !is_ours(item))
			return item;
	}
	return NULL;
}

static bool has(const struct gitconfig *config, const struct gitconfig_item *item)
{
	for (size_t i = 0; i < config->n; i++)
		if (gitconfig_compare(&config->v[i], item) == 0 && gitconfig_same_value(&config->v[i], item))
			return true;
	return false;
}

static bool is_fit(const struct gitconfig *before, const struct gitconfig_item *item)
{
	const struct gitconfig_item *remote;

	if (!item->value || !gitconfig_is_branch(item->subsection))
		return false;
	if (strcmp(item->key, "merge") == 0)
		return strncmp(item->value, "refs/heads/", 11) == 0;
	if (strcmp(item->key, "rebase") == 0 || strcmp(item->value, ".") == 0)
		return true;
	for (size_t i = 0; i < before->n; i++) {
		remote = &before->v[i];
		if (strcmp(remote->section, "remote") == 0 && remote->subsection &&
		    strcmp(remote->subsection, item->value) == 0)
			return true;
	}
	return false;
}

static void check(struct arena *arena, const struct carry_texts *texts, const struct buf *out)
{
	struct gitconfig before, now;
	const struct gitconfig_item *a, *b;
	size_t i = 0, j = 0;

	if (gitconfig_parse(arena, texts->before.data ? texts->before.data : "", texts->before.len, &before) < 0 ||
	    gitconfig_parse(arena, out->data ? out->data : "", out->len, &now) < 0)
		abort();
	do {
		a = next(&before, &i);
		b = next(&now, &j);
		if (!a != !b || (a && (gitconfig_compare(a, b) != 0 || !gitconfig_same_value(a, b))))
			abort();
	} while (a);
	for (size_t k = 0; k < now.n; k++)
		if (now.v[k].key && is_ours(&now.v[k]) && !has(&before, &now.v[k]) && !is_fit(&before, &now.v[k]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct buf empty = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	struct carry_texts texts = { empty, empty, empty };
	BUF_CLEANUP struct buf out = BUF_INIT(LIMIT_GIT_CONFIG_BYTES);
	const uint8_t *split = size ? memchr(data, 0, size) : NULL;
	struct carry_names names = { 0 };
	struct arena arena = { 0 };

	if (!split || size > 8192)
		return 0;
	buf_add(&texts.before, data, (size_t)(split - data));
	buf_add(&texts.present, data, (size_t)(split - data));
	buf_add(&texts.after, split + 1, size - (size_t)(split - data) - 1);
	if (carry_text(&arena, &texts, &out, &names) == 1)
		check(&arena, &texts, &out);
	buf_free(&texts.before);
	buf_free(&texts.after);
	buf_free(&texts.present);
	arena_free(&arena);
	return 0;
}
