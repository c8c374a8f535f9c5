/* SPDX-License-Identifier: Apache-2.0 */
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
	NUM_TEXT_BYTES = 32,
};

struct unit {
	const char *name;
	uint64_t factor;
};

/* Largest first: the first that divides a value gives its shortest spelling. */
static const struct unit sizes[] = {
	{ "G", 1024 * 1024 * 1024 },
	{ "M", 1024 * 1024 },
	{ "K", 1024 },
	{ "", 1 },
};
static const struct unit durations[] = {
	{ "h", 3600 * 1000 },
	{ "m", 60 * 1000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Reads the digits at the start; *ret_rest is what follows. Not strtoull, which takes blanks and signs. */
static int digits(const char *text, uint64_t *ret, const char **ret_rest)
{
	uint64_t value = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '9'; p++) {
		unsigned int digit = (unsigned int)(*p - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	if (p == text)
		return -EINVAL;
	*ret = value;
	*ret_rest = p;
	return 0;
}

int num_u64(const char *text, uint64_t *ret)
{
	const char *rest;
	uint64_t value;
	int r = digits(text, &value, &rest);

	if (r < 0)
		return r;
	if (*rest)
		return -EINVAL;
	*ret = value;
	return 0;
}

static int num_at_most(const char *text, uint64_t least, uint64_t most, uint64_t *ret)
{
	uint64_t value;
	int r = num_u64(text, &value);

	if (r < 0)
		return r;
	if (value < least || value > most)
		return -ERANGE;
	*ret = value;
	return 0;
}

int num_u32(const char *text, uint32_t *ret)
{
	uint64_t value;
	int r = num_at_most(text, 0, UINT32_MAX, &value);

	if (r == 0)
		*ret = (uint32_t)value;
	return r;
}

int num_port(const char *text, uint16_t *ret)
{
	uint64_t value;
	int r = num_at_most(text, 1, UINT16_MAX, &value);

	if (r == 0)
		*ret = (uint16_t)value;
	return r;
}

static int with_unit(const char *text, const struct unit *units, size_t n, uint64_t *ret)
{
	const char *rest;
	uint64_t value;
	int r = digits(text, &value, &rest);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rest, units[i].name) != 0)
			continue;
		if (value == 0 || value > UINT64_MAX / units[i].factor)
			return -ERANGE;
		*ret = value * units[i].factor;
		return 0;
	}
	return -EINVAL;
}

int num_size(const char *text, uint64_t *ret_bytes)
{
	return with_unit(text, sizes, COUNT(sizes), ret_bytes);
}

int num_duration(const char *text, uint64_t *ret_ms)
{
	return with_unit(text, durations, COUNT(durations), ret_ms);
}

static const char *unit_text(uint64_t value, const struct unit *units, size_t n, char *text)
{
	const struct unit *unit = units;

	while (unit < units + n - 1 && (value == 0 || value % unit->factor != 0))
		unit++;
	snprintf(text, NUM_TEXT_BYTES, "%" PRIu64 "%s", value / unit->factor, unit->name);
	return text;
}

const char *num_size_text(uint64_t bytes, char *text)
{
	return unit_text(bytes, sizes, COUNT(sizes), text);
}

const char *num_duration_text(uint64_t ms, char *text)
{
	return unit_text(ms, durations, COUNT(durations), text);
}
