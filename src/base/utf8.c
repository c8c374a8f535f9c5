/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdint.h>

/* What the first byte says: the length, its own bits, and the least code point that may be written at that length. */
static const struct lead {
	unsigned char mask, value, len, bits;
	uint32_t least;
} leads[] = {
	{ 0x80, 0x00, 1, 0x7f, 0 },
	{ 0xe0, 0xc0, 2, 0x1f, 0x80 },
	{ 0xf0, 0xe0, 3, 0x0f, 0x800 },
	{ 0xf8, 0xf0, 4, 0x07, 0x10000 },
};

/* What a terminal or a reader takes for something else than a letter. C1 controls are here because a terminal obeys
 * U+009B as it obeys ESC [; the separators and the direction marks because they end or reorder a line on screen. */
static const struct range {
	uint32_t first, last;
} unprintable[] = {
	{ 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfeff, 0xfeff },
};

/* The length of the one valid character at s, or 0. */
static size_t decode(const char *s, size_t len, uint32_t *ret_point)
{
	const unsigned char *u = (const unsigned char *)s;

	for (size_t i = 0; len > 0 && i < sizeof(leads) / sizeof(leads[0]); i++) {
		const struct lead *lead = &leads[i];
		uint32_t point;

		if ((u[0] & lead->mask) != lead->value)
			continue;
		if (lead->len > len)
			return 0;
		point = u[0] & lead->bits;
		for (size_t k = 1; k < lead->len; k++) {
			if ((u[k] & 0xc0) != 0x80)
				return 0;
			point = point << 6 | (u[k] & 0x3f);
		}
		if (point < lead->least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
			return 0;
		*ret_point = point;
		return lead->len;
	}
	return 0;
}

bool utf8_is_valid(const char *s, size_t len)
{
	while (len > 0) {
		uint32_t point;
		size_t n = decode(s, len, &point);

		if (n == 0)
			return false;
		s += n;
		len -= n;
	}
	return true;
}

size_t utf8_printable_len(const char *s, size_t len)
{
	uint32_t point;
	size_t n = decode(s, len, &point);

	for (size_t i = 0; n > 0 && i < sizeof(unprintable) / sizeof(unprintable[0]); i++) {
		if (point >= unprintable[i].first && point <= unprintable[i].last)
			return 0;
	}
	return n;
}

void base64_add(struct buf *buf, const void *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = data;

	for (size_t i = 0; i < len && !buf->error; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t group = (uint32_t)in[i] << 16;
		char out[4];

		if (n > 1)
			group |= (uint32_t)in[i + 1] << 8;
		if (n > 2)
			group |= in[i + 2];
		out[0] = digits[group >> 18];
		out[1] = digits[group >> 12 & 63];
		out[2] = n > 1 ? digits[group >> 6 & 63] : '=';
		out[3] = n > 2 ? digits[group & 63] : '=';
		buf_add(buf, out, sizeof(out));
	}
}
