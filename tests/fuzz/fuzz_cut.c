/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No text may bring a settings reader to show a secret. The first byte of an input picks the format, the second where,
 * at the start of which line or behind which element, a secret of that format is put into the rest; whatever stands
 * around it, the copy must not hold it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "survey/survey.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CANARY "canary-hunter"

static const struct {
	const char *name, *secret;
	char after; /* what a secret is put behind */
} formats[] = {
	{ ".npmrc", "//r.example.org/:_authToken=" CANARY "\n", '\n' },
	{ ".npmrc", "registry=https://user:" CANARY "@r.example.org/\n", '\n' },
	{ ".yarnrc", "\"//r.example.org/:_authToken\" " CANARY "\n", '\n' },
	{ ".yarnrc.yml", "npmAuthToken: " CANARY "\n", '\n' },
	{ ".config/pip/pip.conf", "index-url = https://user:" CANARY "@i.example.org/\n", '\n' },
	{ ".config/pip/pip.conf", "password = " CANARY "\n", '\n' },
	{ ".gradle/gradle.properties", "nexusPassword=" CANARY "\n", '\n' },
	{ ".m2/settings.xml", "<password>" CANARY "</password>", '>' },
	{ ".m2/settings.xml", "<url>https://user:" CANARY "@n.example.org/</url>", '>' },
	{ ".nuget/NuGet/NuGet.Config", "<add key=\"ClearTextPassword\" value=\"" CANARY "\" />", '>' },
	{ ".condarc", "proxy_password: " CANARY "\n", '\n' },
	{ ".config/nix/nix.conf", "access-tokens = " CANARY "\n", '\n' },
	{ ".bundle/config", "BUNDLE_GEMS__EXAMPLE__ORG: \"" CANARY "\"\n", '\n' },
	{ ".cabal/config", "password: " CANARY "\n", '\n' },
};

/* The offset behind the n-th `after`, counted around. */
static size_t place(const char *text, size_t len, char after, size_t n)
{
	size_t count = 0, at = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == after;
	n = n % (count + 1);
	for (size_t i = 0; i < len && n; i++)
		if (text[i] == after && --n == 0)
			at = i + 1;
	return at;
}

static void check(const char *copy)
{
	static const char *const never[] = { CANARY, "_authToken=", "user:pass@" };

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (strstr(copy, never[i]))
			abort();
	if (strcasestr(copy, "password"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BUF_CLEANUP struct buf text = BUF_INIT(LIMIT_CUT_BYTES);
	struct arena arena = { 0 };
	const char *copy = NULL, *rest;
	size_t format, at;

	/* The fuzzer learns the canary from the comparison; as an address's host, say, it is no secret. */
	if (size < 2 || memmem(data, size, CANARY, strlen(CANARY)))
		return 0;
	format = data[0] % (sizeof(formats) / sizeof(formats[0]));
	rest = (const char *)data + 2;
	at = place(rest, size - 2, formats[format].after, data[1]);
	buf_add(&text, rest, at);
	buf_str(&text, formats[format].secret);
	buf_add(&text, rest + at, size - 2 - at);
	if (!text.error && cut_settings(&arena, formats[format].name, text.data, text.len, &copy) == 1)
		check(copy);
	copy = NULL;
	if (cut_settings(&arena, formats[format].name, rest, size - 2, &copy) == 1)
		check(copy);
	arena_free(&arena);
	return 0;
}
