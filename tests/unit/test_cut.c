/* SPDX-License-Identifier: Apache-2.0 */
/* Settings beside secrets: what the copies show, and what stays hidden. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "survey/survey.h"

#define KEY "npm_canary0123456789abcdefghijABCDEFGH"

struct row {
	const char *name, *text;
	const char *expected; /* NULL: stays hidden */
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct arena arena = { 0 };
		const char *copy = NULL;
		int r = cut_settings(&arena, rows[i].name, rows[i].text, strlen(rows[i].text), &copy);

		if (r != (rows[i].expected ? 1 : 0))
			fail_msg("%s, row %zu: %d, copy:\n%s", rows[i].name, i, r, copy ? copy : "(none)");
		if (rows[i].expected)
			assert_string_equal(copy, rows[i].expected);
		else
			assert_null(copy);
		arena_free(&arena);
	}
}

#define CHECK(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

static void test_npmrc(void **state)
{
	static const struct row rows[] = {
		{ ".npmrc", "", "" },
		{ ".npmrc", "registry=https://r.example.org/\n", "registry=https://r.example.org/\n" },
		{ ".npmrc",
		  "; //old.example.org/:_authToken=old\r\n"
		  "@mine:registry = https://u:p@r.example.org/npm/ ; mine\r\n"
		  "@keycloak:registry=https://r.example.org/\r\n"
		  "//r.example.org/:_authToken=" KEY "\r\n"
		  "//r.example.org/:_authToken=${NPM_TOKEN}\r\n"
		  "//r.example.org/:username=me\r\n"
		  "//r.example.org/:_password=aGVsbG8=\r\n"
		  "_auth=aGVsbG8=\r\n"
		  "email=me@example.org\r\n"
		  "always-auth=true\r\n"
		  "init-author-name=Me\r\n"
		  "save-exact",
		  "@mine:registry = https://r.example.org/npm/ \n"
		  "@keycloak:registry=https://r.example.org/\n"
		  "init-author-name=Me\n"
		  "save-exact\n" },
		{ ".npmrc", "registry=https://u:p/q@r.example.org/\n", "registry=https://r.example.org/\n" },
		{ ".npmrc", "proxy=u:p@proxy.example.org:80\n", NULL },
		{ ".npmrc", "registry=https://r.example.org/" KEY "/\n", NULL },
		{ ".npmrc", "registry=https://r.example.org/?token=a1b2c3d4e5f6a7b8c9d0\n", NULL },
		{ ".npmrc", "something=" KEY "\n", "" },
		{ ".npmrc", "registry=\x01\n", NULL },
		{ ".npmrc", "registry=\xff\n", NULL },
		{ ".npmrc", "note=\"a #b\" #c\n", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_yarnrc(void **state)
{
	static const struct row rows[] = {
		{ ".yarnrc",
		  "# yarn\nregistry \"https://u:p@r.example.org/\"\n\"//r.example.org/:_authToken\" \"x\"\n"
		  "\"@mine:registry\" \"https://r.example.org/\"\nyarn-path \".yarn/yarn.cjs\"\n",
		  "registry \"https://r.example.org/\"\n\"@mine:registry\" \"https://r.example.org/\"\n"
		  "yarn-path \".yarn/yarn.cjs\"\n" },
		{ ".yarnrc.yml",
		  "nodeLinker: node-modules\n\nnpmAuthToken: x\nnpmRegistryServer: \"https://u:p@r.example.org\"\n"
		  "npmScopes:\n  mine:\n    npmAuthIdent: \"u:p\"\n    "
		  "npmRegistryServer: \"https://r.example.org\" # mine\n"
		  "npmRegistries:\n  \"//r.example.org\":\n    npmAuthToken: ${NPM_TOKEN}\n    npmAlwaysAuth: true\n"
		  "plugins:\n  - path: .yarn/x.cjs\n    spec: x\n",
		  "---\nnodeLinker: node-modules\nnpmRegistryServer: \"https://r.example.org\"\n"
		  "npmScopes:\n  mine:\n    npmRegistryServer: \"https://r.example.org\"\n"
		  "npmRegistries:\n  \"//r.example.org\": {}\nplugins:\n  - path: .yarn/x.cjs\n    spec: x\n" },
		{ ".yarnrc.yml", "npmScopes:\n  keycloak:\n    npmRegistryServer: x\n", NULL },
		{ ".yarnrc.yml", "npmScopes: {mine: {npmAuthToken: x}}\n", NULL },
		{ ".yarnrc.yml", "a: &x b\n", NULL },
		{ ".yarnrc.yml", "a: |\n  npmAuthToken\n", NULL },
		{ ".yarnrc.yml", "a: \"b\n  c\"\n", NULL },
		{ ".yarnrc.yml", "a: b\n  c\n", NULL },
		{ ".yarnrc.yml", "a: \"x\\u003a\"\n", NULL },
		{ ".yarnrc.yml", "? a\n: b\n", NULL },
		{ ".yarnrc.yml", "a: b\n---\nc: d\n", NULL },
		{ ".yarnrc.yml", "- npmAuthToken: x\n  a: b\n", NULL },
		{ ".yarnrc.yml", "\ta: b\n", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_pip(void **state)
{
	static const struct row rows[] = {
		{ ".config/pip/pip.conf",
		  "[global]\nindex-url = https://u:p@i.example.org/simple\n"
		  "extra-index-url =\n    https://u:p@j.example.org/simple\n    https://k.example.org/simple\n"
		  "trusted-host = i.example.org\n# index-url = https://u:p@old\n[install]\nuser = true\n",
		  "[global]\nindex-url = https://i.example.org/simple\n"
		  "extra-index-url =\n    https://j.example.org/simple\n    https://k.example.org/simple\n"
		  "trusted-host = i.example.org\n[install]\nuser = true\n" },
		{ ".pip/pip.conf", "[global]\npassword = a\n  b\ntimeout: 5\n", "[global]\ntimeout: 5\n" },
		{ ".pip/pip.conf", "[global]\nnonsense\n", NULL },
		{ ".pip/pip.conf",
		  "[global]\nindex-url = https://i.example.org/a1b2c3d4e5f6a7b8c9d0e1/simple\n", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_gradle(void **state)
{
	static const struct row rows[] = {
		{ ".gradle/gradle.properties",
		  "# comment\norg.gradle.jvmargs=-Xmx2g \\\n  -Dfile.encoding=UTF-8\norg.gradle.caching: true\n"
		  "systemProp.http.proxyHost=proxy.example.org\nsystemProp.http.proxyPassword=x\n"
		  "nexusUrl=https\\://u\\:p@n.example.org/\nnexusCode=hunter2\nmultiPassword=a\\\n  b\\\n  c\n"
		  "signing.keyId=1234\nfast=true\n",
		  "org.gradle.jvmargs=-Xmx2g \\\n  -Dfile.encoding=UTF-8\norg.gradle.caching: true\n"
		  "systemProp.http.proxyHost=proxy.example.org\nnexusUrl=https\\://n.example.org/\nfast=true\n" },
		{ ".gradle/gradle.properties", "pass\\u0077ord=x\n", NULL },
		{ ".gradle/gradle.properties", "nexusCode\n", NULL },
		{ ".gradle/gradle.properties", "a=true\\\n", NULL },
		{ ".gradle/gradle.properties", "# a\\\nb=x\n", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_conda_nix_bundler_cabal(void **state)
{
	static const struct row rows[] = {
		{ ".condarc",
		  "channels:\n- https://u:p@c.example.org/main\n- https://c.example.org/t/ab-12345678/mine\n"
		  "- defaults\n"
		  "ssl_verify: true\ndefault_channels: [https://c.example.org/x, other]\nadd_anaconda_token: true\n"
		  "proxy_servers:\n  http: http://u:p@proxy.example.org:80\n",
		  "---\nchannels:\n- https://c.example.org/main\n- https://c.example.org/mine\n- defaults\n"
		  "ssl_verify: true\ndefault_channels: [https://c.example.org/x, other]\n"
		  "proxy_servers:\n  http: http://proxy.example.org:80\n" },
		{ ".config/nix/nix.conf",
		  "experimental-features = nix-command flakes\naccess-tokens = github.com=ghp_x\n"
		  "extra-trusted-public-keys = c.example.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=\n"
		  "substituters = https://u:p@c.example.org ssh://builder@b.example.org\n!include other.conf\n",
		  "experimental-features = nix-command flakes\n"
		  "extra-trusted-public-keys = c.example.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=\n"
		  "substituters = https://c.example.org ssh://builder@b.example.org\n!include other.conf\n" },
		{ ".bundle/config",
		  "---\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_GEMS__EXAMPLE__ORG: \"me:hunter2\"\n"
		  "BUNDLE_FURY: \"hunter2\"\n"
		  "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://u:p@m.example.org/\"\nBUNDLE_JOBS: \"4\"\n",
		  "---\nBUNDLE_PATH: \"vendor/bundle\"\n"
		  "BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://m.example.org/\"\nBUNDLE_JOBS: \"4\"\n" },
		{ ".cabal/config",
		  "-- password: old\nrepository mine.example.org\n  url: https://u:p@h.example.org/\n  secure: True\n"
		  "  root-keys: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		  "             1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		  "username: me\npassword-command: pass\n    show hackage\njobs: $ncpus\n",
		  "repository mine.example.org\n  url: https://h.example.org/\n  secure: True\n"
		  "  root-keys: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		  "             1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
		  "jobs: $ncpus\n" },
	};

	(void)state;
	CHECK(rows);
}

static void test_maven(void **state)
{
	static const struct row rows[] = {
		{ ".m2/settings.xml",
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- <password>old</password> -->\n"
		  "<settings xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\">"
		  "<servers><server><id>n</id><username>me</username><password>x</password></server></servers>"
		  "<mirrors><mirror><id>n</id><url>https://u:p@n.example.org/m2</url>"
		  "<mirrorOf>*</mirrorOf></mirror></mirrors>"
		  "<proxies><proxy><host>proxy</host><username>me</username><password>x</password></proxy></proxies>"
		  "<profiles><profile><properties><a.url>https://a.example.org</a.url><b>true</b><c>hunter2</c>"
		  "<sonar.token>x</sonar.token></properties></profile></profiles>"
		  "<offline/></settings>\n",
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n"
		  "<settings xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\">"
		  "<mirrors><mirror><id>n</id><url>https://n.example.org/m2</url><mirrorOf>*</mirrorOf></mirror>"
		  "</mirrors>"
		  "<proxies><proxy><host>proxy</host></proxy></proxies>"
		  "<profiles><profile><properties><a.url>https://a.example.org</a.url><b>true</b><c></c>"
		  "</properties></profile></profiles>"
		  "<offline/></settings>\n" },
		{ ".m2/settings.xml", "<settings><servers></settings>", NULL },
		{ ".m2/settings.xml", "<settings>", NULL },
		{ ".m2/settings.xml", "<settings/><settings/>", NULL },
		{ ".m2/settings.xml", "<project/>", NULL },
		{ ".m2/settings.xml", "<!DOCTYPE settings [<!ENTITY p \"x\">]><settings>&p;</settings>", NULL },
		{ ".m2/settings.xml", "<settings><url>https:&#47;&#47;u:p@h</url></settings>", NULL },
		{ ".m2/settings.xml", "<settings><a><![CDATA[x]]></a></settings>", NULL },
		{ ".m2/settings.xml", "<settings></settings>x", NULL },
		{ ".m2/settings.xml", "<?xml version=\"1.0\" encoding=\"UTF-7\"?><settings/>", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_nuget(void **state)
{
	static const struct row rows[] = {
		{ ".nuget/NuGet/NuGet.Config",
		  "\xef\xbb\xbf<configuration><packageSources><clear />"
		  "<add key=\"mine\" value=\"https://u:p@n.example.org/v3\" /></packageSources>"
		  "<packageSourceCredentials><mine><add key=\"Username\" value=\"me\" />"
		  "<add key=\"ClearTextPassword\" value=\"x\" /></mine></packageSourceCredentials>"
		  "<apikeys><add key=\"https://n.example.org\" value=\"x\" /></apikeys>"
		  "<config><add key=\"http_proxy\" value=\"http://p.example.org\" />"
		  "<add key=\"http_proxy.password\" value=\"x\" /></config></configuration>",
		  "<configuration><packageSources><clear />"
		  "<add key=\"mine\" value=\"https://n.example.org/v3\" /></packageSources>"
		  "<config><add key=\"http_proxy\" value=\"http://p.example.org\" /></config></configuration>" },
		{ ".nuget/NuGet/NuGet.Config",
		  "<configuration><packageSources><add key=\"KeyFeed\" value=\"https://n.example.org\"/>"
		  "</packageSources>"
		  "</configuration>", NULL },
		{ ".nuget/NuGet/NuGet.Config", "<configuration><add key='a'value='b'/></configuration>", NULL },
		{ ".nuget/NuGet/NuGet.Config", "<configuration><add key=a/></configuration>", NULL },
	};

	(void)state;
	CHECK(rows);
}

static void test_unknown_names_and_sizes_stay_hidden(void **state)
{
	static const struct row rows[] = {
		{ ".netrc", "machine x\n", NULL },
		{ "x.npmrc", "a=b\n", NULL },
	};
	struct arena arena = { 0 };
	const char *copy = NULL;
	char *large = malloc(LIMIT_CUT_BYTES + 1);

	(void)state;
	CHECK(rows);
	assert_non_null(large);
	memset(large, '\n', LIMIT_CUT_BYTES + 1);
	assert_int_equal(cut_settings(&arena, ".npmrc", large, LIMIT_CUT_BYTES + 1, &copy), 0);
	assert_int_equal(cut_settings(&arena, ".npmrc", large, LIMIT_CUT_BYTES, &copy), 1);
	assert_int_equal(cut_settings(&arena, ".npmrc", "a=b\0c", 5, &copy), 0);
	free(large);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_npmrc),
		cmocka_unit_test(test_yarnrc),
		cmocka_unit_test(test_pip),
		cmocka_unit_test(test_gradle),
		cmocka_unit_test(test_conda_nix_bundler_cabal),
		cmocka_unit_test(test_maven),
		cmocka_unit_test(test_nuget),
		cmocka_unit_test(test_unknown_names_and_sizes_stay_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
