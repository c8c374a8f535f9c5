/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings files that hold addresses and tokens side by side. Hidden, they would send npm, pip and maven to the public
 * registry for the names of private packages: dependency confusion, caused by the sandbox. So they are shown as a copy
 * without the secrets. What cannot be read with certainty stays hidden; an error here costs a secret, so:
 *
 *   1. a reader per format takes the file apart, and gives up at whatever it does not know;
 *   2. names that say secret go with their values, comments go whole (they keep the tokens of last year), addresses
 *      lose user and password; a line that can neither be shown nor be missed (an address with a token in its path, or
 *      one whose name says secret) hides the file;
 *   3. the copy is looked through once more, without any idea of its format; what still looks like a secret there means
 *      that a reader was wrong, and the file stays hidden.
 */
#include "survey/cut.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/path.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "survey/survey.h"

/* ---- names and values ---- */

bool cut_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t cut_trim(const char **text, size_t len)
{
	while (len && cut_is_blank(**text)) {
		(*text)++;
		len--;
	}
	while (len && cut_is_blank((*text)[len - 1]))
		len--;
	return len;
}

bool cut_next_line(const char **text, size_t *len, const char **ret, size_t *ret_len)
{
	const char *end;

	if (!*len)
		return false;
	end = memchr(*text, '\n', *len);
	*ret = *text;
	*ret_len = end ? (size_t)(end - *text) : *len;
	*text += *ret_len + (end ? 1 : 0);
	*len -= *ret_len + (end ? 1 : 0);
	return true;
}

/* Small letters and digits only. Names longer than any real one are cut off; their beginning decides. */
static void squeeze(char *out, size_t size, const char *name, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		char c = name[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			out[n++] = c;
	}
	out[n] = '\0';
}

static bool has_one_of(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

#define HAS_ONE_OF(text, words) has_one_of((text), (words), sizeof(words) / sizeof((words)[0]))

bool cut_is_public_name(const char *name, size_t len)
{
	static const char *const words[] = { "publickey", "rootkeys", "keythreshold" };
	char text[256];

	squeeze(text, sizeof(text), name, len);
	return HAS_ONE_OF(text, words);
}

bool cut_is_secret_name(const char *name, size_t len)
{
	static const char *const words[] = {
		"pass", "pwd", "token", "secret", "key", "cred", "username", "login", "cookie", "session", "private",
		"bearer", "jwt", "signature", "email",
	};
	char text[1024];
	const char *auth;

	if (cut_is_public_name(name, len))
		return false;
	squeeze(text, sizeof(text), name, len);
	if (len >= sizeof(text) || HAS_ONE_OF(text, words) || !strcmp(text, "otp"))
		return true;
	for (auth = strstr(text, "auth"); auth; auth = strstr(auth + 1, "auth"))
		if (strncmp(auth, "author", 6))
			return true;
	return false;
}

enum cut_value cut_judge(struct buf *out, const char *value, size_t len)
{
	BUF_CLEANUP struct buf rest = BUF_INIT(LIMIT_CUT_BYTES);
	bool is_secret;

	cut_add(&rest, value, len);
	if (rest.error == -ENOMEM)
		out->error = rest.error;
	if (rest.error)
		return CUT_UNSURE;
	if (!rest.len)
		return CUT_KEEP;
	is_secret = secret_has_key(rest.data, rest.len) || secret_is_random(rest.data, rest.len);
	if (strstr(rest.data, "://")) {
		if (strchr(rest.data, '?') && (strcasestr(rest.data, "pass") || strcasestr(rest.data, "sig=")))
			is_secret = true;
		return is_secret ? CUT_UNSURE : CUT_KEEP;
	}
	return is_secret ? CUT_DROP : CUT_KEEP;
}

bool cut_is_plain(const char *value, size_t len)
{
	len = cut_trim(&value, len);
	if (!len || memmem(value, len, "://", 3) || strchr("/.-", value[0]))
		return true;
	if ((len == 4 && !strncasecmp(value, "true", 4)) || (len == 5 && !strncasecmp(value, "false", 5)))
		return true;
	for (size_t i = 0; i < len; i++)
		if (!strchr("0123456789.", value[i]))
			return false;
	return len <= 12;
}

/* conda keeps its tokens in the path of a channel: https://host/t/TOKEN/channel. */
void cut_add(struct buf *out, const char *text, size_t len)
{
	BUF_CLEANUP struct buf copy = BUF_INIT(LIMIT_CUT_BYTES);
	const char *p, *t;

	secret_cut_urls(&copy, text, len);
	if (copy.error) {
		out->error = copy.error;
		return;
	}
	p = copy.len ? copy.data : "";
	while (strstr(p, "://") && (t = strstr(p, "/t/"))) {
		buf_add(out, p, (size_t)(t - p));
		p = t + 3;
		p += strcspn(p, "/ \t\n\"'");
	}
	buf_str(out, p);
}

/* ---- before and after ---- */

static bool is_path_end(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return n >= m && !strcmp(path + n - m, end) && (n == m || path[n - m - 1] == '/');
}

/* A copy with "\n" ends and without a byte order mark; false where it holds what no settings file holds. */
static bool clean(struct buf *copy, const char *text, size_t len)
{
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	if (!utf8_is_valid(text, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\r' && i + 1 < len && text[i + 1] == '\n')
			continue;
		if ((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
			return false;
		buf_char(copy, text[i]);
	}
	return true;
}

/* user:password@ without a scheme before it. */
static bool has_userinfo(const char *text)
{
	for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
		for (const char *p = at; p > text && !strchr(" \t\n\"'/=,;<>", p[-1]); p--)
			if (p[-1] == ':')
				return true;
	}
	return false;
}

/* Step 3. */
static bool is_clean(const char *text, size_t len)
{
	static const char *const words[] = {
		"password", "passwd", "passphrase", "_auth", "authtoken", "auth_token", "auth-token", "apikey",
		"api_key", "api-key", "access-token", "access_token", "bearer ", "secret_", "_secret",
	};
	struct secret_url url;
	size_t pos = 0;

	while (secret_next_url(text, len, &pos, &url))
		if (url.is_secret)
			return false;
	return !HAS_ONE_OF(text, words) && !has_userinfo(text) && !secret_has_key(text, len);
}

static int cut_by_format(struct arena *arena, struct buf *out, const char *name, const char *text, size_t len)
{
	if (is_path_end(name, ".bundle/config"))
		return cut_yaml(arena, out, text, len, true);
	if (is_path_end(name, ".cabal/config"))
		return cut_lines(out, ".cabal", text, len);
	if (is_path_end(name, ".condarc") || is_path_end(name, ".yarnrc.yml"))
		return cut_yaml(arena, out, text, len, false);
	if (is_path_end(name, "settings.xml") || is_path_end(name, "NuGet.Config"))
		return cut_xml(out, text, len);
	return cut_lines(out, path_name(name), text, len);
}

int cut_settings(struct arena *arena, const char *name, const char *text, size_t length, const char **ret)
{
	BUF_CLEANUP struct buf copy = BUF_INIT(LIMIT_CUT_BYTES), out = BUF_INIT(LIMIT_CUT_BYTES);
	const char *result;
	int r;

	if (length > LIMIT_CUT_BYTES || !clean(&copy, text, length))
		return 0;
	if (!copy.error && copy.len)
		r = cut_by_format(arena, &out, name, copy.data, copy.len);
	else
		r = copy.error ? copy.error : 1;
	if (out.error)
		return out.error == -E2BIG ? 0 : out.error;
	if (r <= 0)
		return r;
	if (out.len && !is_clean(out.data, out.len))
		return 0;
	result = arena_strndup(arena, out.len ? out.data : "", out.len);
	if (!result)
		return -ENOMEM;
	*ret = result;
	return 1;
}
