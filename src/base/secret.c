/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <string.h>
#include <strings.h>

#include "base/tables.h"

enum { RANDOM_RUN = 20 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_alnum(char c)
{
	return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}

static bool is_token(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

static size_t run(const char *text, size_t len, bool (*is_part)(char))
{
	size_t n = 0;

	while (n < len && is_part(text[n]))
		n++;
	return n;
}

static bool is_upper_or_digit(char c)
{
	return is_upper(c) || is_digit(c);
}

/* header.payload.signature; the first part has begun with "eyJ". */
static bool is_jwt(const char *tail, size_t len, size_t least)
{
	size_t first = run(tail, len, is_token), second;

	if (first < least || first + 1 >= len || tail[first] != '.')
		return false;
	second = run(tail + first + 1, len - first - 1, is_token);
	return second > 0 && first + 1 + second < len && tail[first + 1 + second] == '.';
}

static bool has_shape(const struct table_key_shape *shape, const char *text, size_t len)
{
	size_t prefix = strlen(shape->prefix);

	if (len < prefix + shape->least || memcmp(text, shape->prefix, prefix))
		return false;
	text += prefix;
	len -= prefix;
	switch (shape->charset) {
	case CHARSET_UPPER:
		return run(text, len, is_upper_or_digit) >= shape->least;
	case CHARSET_JWT:
		return is_jwt(text, len, shape->least);
	default:
		return run(text, len, is_token) >= shape->least;
	}
}

static bool has_any_shape(const char *text, size_t len)
{
	for (size_t k = 0; k < tables_key_shape_count; k++)
		if (tables_key_shapes[k].prefix[0] == text[0] && has_shape(&tables_key_shapes[k], text, len))
			return true;
	return false;
}

/* No slash: a directory may be called sk-anything-at-all. */
static bool is_delimiter(char c)
{
	switch (c) {
	case ' ': case '\t': case '\r': case '\n': case '\'': case '"': case '`': case '=': case ':': case ',':
	case ';': case '(': case '[': case '{': case '<': case '>': case '|': case '&': case '@':
		return true;
	default:
		return false;
	}
}

static bool has_private_key(const char *text, size_t len)
{
	const char *begin = memmem(text, len, "-----BEGIN ", 11);

	return begin && memmem(begin, len - (size_t)(begin - text), "PRIVATE KEY", 11);
}

bool secret_has_key(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i && !is_delimiter(text[i - 1]))
			continue;
		if (has_any_shape(text + i, len - i))
			return true;
	}
	return has_private_key(text, len);
}

bool secret_is_random(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t n = run(text + i, len - i, is_alnum), digits = run(text + i, n, is_digit);
		bool has_digit = digits > 0;

		for (size_t k = digits; k < n && !has_digit; k++)
			has_digit = is_digit(text[i + k]);
		if (n >= RANDOM_RUN && has_digit && digits < n)
			return true;
		i += n;
	}
	return false;
}

static bool is_scheme(char c)
{
	return is_alnum(c) || c == '+' || c == '.' || c == '-';
}

/* Where a word ends in which an address stands. No comma or semicolon: a password may hold them. */
static bool is_word(char c)
{
	return c && !strchr(" \t\r\n'\"`<>", c);
}

static bool is_authority(char c)
{
	return is_word(c) && !strchr("/?#", c);
}

static const char *find_last(const char *text, size_t len, char c)
{
	return memrchr(text, c, len);
}

/*
 * The length of the user and password, with the "@", in the word after "://". A password with a bare slash or question
 * mark is no valid address, but it is written, and some tools take it: where what should be the port is no number, all
 * up to the word's last "@" counts.
 */
static size_t userinfo_length(const char *word, size_t authority, size_t len)
{
	const char *at = find_last(word, authority, '@'), *colon;

	if (at)
		return (size_t)(at - word) + 1;
	colon = memchr(word, ':', authority);
	if (!colon || word[0] == '[')
		return 0;
	if (run(colon + 1, authority - (size_t)(colon + 1 - word), is_digit) == authority - (size_t)(colon + 1 - word))
		return 0;
	at = find_last(word, len, '@');
	return at ? (size_t)(at - word) + 1 : 0;
}

static bool is_digit_or_dot(char c)
{
	return is_digit(c) || c == '.';
}

static bool is_loopback_host(const char *host, size_t len)
{
	static const char name[] = "localhost";
	size_t n = sizeof(name) - 1;

	if (!len)
		return true;
	if (len >= n && !strncasecmp(host + len - n, name, n))
		return len == n || host[len - n - 1] == '.';
	if (len == 3 && !memcmp(host, "::1", 3))
		return true;
	return len >= 7 && !memcmp(host, "127.", 4) && run(host, len, is_digit_or_dot) == len;
}

/* One host or, as for MongoDB, several with commas between, each with its port. */
static bool is_loopback_authority(const char *text, size_t len)
{
	while (true) {
		const char *comma = memchr(text, ',', len);
		size_t part = comma ? (size_t)(comma - text) : len;
		const char *close = part && text[0] == '[' ? memchr(text, ']', part) : NULL;
		const char *colon = memchr(text, ':', part);

		if (close ? !is_loopback_host(text + 1, (size_t)(close - text) - 1)
			  : !is_loopback_host(text, colon ? (size_t)(colon - text) : part))
			return false;
		if (!comma)
			return true;
		len -= part + 1;
		text = comma + 1;
	}
}

static bool is_secret_userinfo(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);

	if (colon && colon + 1 < text + len)
		return true;
	return secret_has_key(text, len) || secret_is_random(text, len);
}

bool secret_next_url(const char *text, size_t len, size_t *pos, struct secret_url *ret)
{
	const char *found = *pos < len ? memmem(text + *pos, len - *pos, "://", 3) : NULL;
	size_t word, userinfo;

	if (!found)
		return false;
	ret->start = (size_t)(found - text);
	while (ret->start > *pos && is_scheme(text[ret->start - 1]))
		ret->start--;
	ret->userinfo = (size_t)(found - text) + 3;
	word = run(text + ret->userinfo, len - ret->userinfo, is_word);
	ret->end = ret->userinfo + run(text + ret->userinfo, word, is_authority);
	userinfo = userinfo_length(text + ret->userinfo, ret->end - ret->userinfo, word);
	ret->host = ret->userinfo + userinfo;
	if (ret->host > ret->end)
		ret->end = ret->host + run(text + ret->host, ret->userinfo + word - ret->host, is_authority);
	ret->is_secret = userinfo > 1 && is_secret_userinfo(text + ret->userinfo, userinfo - 1);
	ret->is_loopback = is_loopback_authority(text + ret->host, ret->end - ret->host);
	*pos = ret->userinfo;
	return true;
}

bool secret_has_url(const char *text, size_t len)
{
	struct secret_url url;
	size_t pos = 0;

	while (secret_next_url(text, len, &pos, &url))
		if (url.is_secret && !url.is_loopback)
			return true;
	return false;
}

/* The user of ssh://git@host is no secret, and without it nothing works. */
static bool is_ssh(const char *scheme, size_t len)
{
	return len >= 6 && !strncasecmp(scheme + len - 6, "ssh://", 6);
}

void secret_cut_urls(struct buf *buf, const char *text, size_t len)
{
	struct secret_url url;
	size_t pos = 0, done = 0;

	while (secret_next_url(text, len, &pos, &url)) {
		if (url.userinfo < done) /* inside of what was cut */
			continue;
		if (!url.is_secret && is_ssh(text + url.start, url.userinfo - url.start))
			continue;
		buf_add(buf, text + done, url.userinfo - done);
		done = url.host;
	}
	buf_add(buf, text + done, len - done);
}
