/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

/* A file name is any bytes, a JSON string is not: what cannot be said in UTF-8 is marked, never replaced, so that the
 * name that is read back is the name that was written. */
json_t *json_bytes(const char *s)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_TEXT_BYTES);
	size_t len;

	if (!s)
		return json_null();
	len = strlen(s);
	if (utf8_is_valid(s, len))
		return json_stringn_nocheck(s, len);
	base64_add(&text, s, len);
	return text.error ? NULL : json_pack("{s:s}", "bytes", text.data);
}

int json_put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) < 0 ? -ENOMEM : 0;
}

int json_put_bytes(json_t *object, const char *key, const char *s)
{
	return json_put(object, key, json_bytes(s));
}

int json_append_bytes(json_t *array, const char *s)
{
	return json_array_append_new(array, json_bytes(s)) < 0 ? -ENOMEM : 0;
}

/* What is wrong with a text always has words, a shortage has none everywhere. */
static bool is_shortage(const json_error_t *where)
{
	return where->text[0] == '\0' || json_error_code(where) == json_error_out_of_memory;
}

/* Read twice: a string that has lost a byte in one reading, or a syntax error that is none, is another one in the
 * other. Configurations are small. */
int json_read(const char *text, size_t len, size_t flags, json_t **ret, json_error_t *where)
{
	json_error_t again_where;
	json_t *value = json_loadb(text, len, flags, where), *again = json_loadb(text, len, flags, &again_where);
	int r = 0;

	if (!value && !again)
		r = is_shortage(where) || strcmp(where->text, again_where.text) != 0 ? -ENOMEM : -EINVAL;
	else if (!json_equal(value, again))
		r = -ENOMEM;
	json_decref(again);
	if (r == 0)
		*ret = value;
	else
		json_decref(value);
	return r;
}

json_t *json_done(json_t *value, int r)
{
	if (r == 0)
		return value;
	json_decref(value);
	return NULL;
}

static int append_text(const char *data, size_t len, void *arg)
{
	struct buf *out = arg;

	buf_add(out, data, len);
	return out->error ? -1 : 0;
}

/* Into a buffer whose failure sticks: jansson goes on where a key could not be appended. */
int json_write(json_t *value, size_t flags, struct buf *out)
{
	bool is_done = value && json_dump_callback(value, append_text, out, flags) == 0;

	if (!is_done && !out->error)
		out->error = -ENOMEM;
	json_decref(value);
	return out->error;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four; the number of bytes it holds, or 0. Bits that the padding leaves over must be zero: one text, one
 * spelling. */
static size_t base64_group(const char *in, bool is_last, char *out)
{
	size_t n = 3;
	uint32_t group = 0;

	if (is_last && in[3] == '=')
		n = in[2] == '=' ? 1 : 2;
	for (size_t i = 0; i < 4; i++) {
		int digit = i <= n ? base64_digit(in[i]) : 0;

		if (digit < 0)
			return 0;
		group = group << 6 | (uint32_t)digit;
	}
	if ((n == 1 && group & 0xffff) || (n == 2 && group & 0xff))
		return 0;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(group >> (16 - 8 * i) & 0xff);
	return n;
}

/* A text without NUL, or NULL. */
static const char *base64_text(struct arena *arena, const char *in, size_t len)
{
	size_t done = 0;
	char *out;

	if (len % 4 != 0 || len > LIMIT_TEXT_BYTES)
		return NULL;
	out = arena_alloc(arena, len / 4 * 3 + 1, 1);
	if (!out)
		return NULL;
	for (size_t i = 0; i < len; i += 4) {
		size_t n = base64_group(in + i, i + 4 == len, out + done);

		if (n == 0)
			return NULL;
		done += n;
	}
	return memchr(out, '\0', done) ? NULL : out;
}

static const char *plain_text(struct arena *arena, const json_t *value)
{
	const char *s = json_string_value(value);
	size_t len = json_string_length(value);

	return len > LIMIT_TEXT_BYTES || strlen(s) != len ? NULL : arena_strndup(arena, s, len);
}

const char *json_text_of(struct arena *arena, const json_t *value)
{
	const json_t *bytes;

	if (json_is_string(value))
		return plain_text(arena, value);
	if (!json_is_object(value) || json_object_size(value) != 1)
		return NULL;
	bytes = json_object_get(value, "bytes");
	if (!json_is_string(bytes))
		return NULL;
	return base64_text(arena, json_string_value(bytes), json_string_length(bytes));
}
