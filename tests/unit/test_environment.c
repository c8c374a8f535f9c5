/* SPDX-License-Identifier: Apache-2.0 */
/* E073, F173, F174: which variables pass, by a table; one line is one variable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "plan/environment.h"

#define KEY "sk-canary0123456789abcdef"

struct row {
	const char *entry;
	const char *expected; /* NULL: dropped; SAME: as it is; else the entry that comes out */
};

static const char same[] = "";
#define SAME same

static bool is_visible(void *arg, const char *path)
{
	(void)arg;
	return strncmp(path, "/hidden", 7) != 0;
}

static struct environment_result make(struct arena *arena, struct environment_request request,
				      const char *const *entries, size_t count)
{
	struct environment_result result;
	struct strv caller = { 0 };

	for (size_t i = 0; i < count; i++)
		assert_int_equal(strv_add(arena, &caller, entries[i]), 0);
	request.caller = &caller;
	request.is_visible = is_visible;
	assert_int_equal(environment_make(arena, &request, &result), 0);
	return result;
}

static void check_rows(const struct row *rows, size_t count, struct environment_request request)
{
	for (size_t i = 0; i < count; i++) {
		struct arena arena = { 0 };
		struct environment_result result = make(&arena, request, &rows[i].entry, 1);
		const char *want = rows[i].expected == SAME ? rows[i].entry : rows[i].expected;
		size_t name = strcspn(rows[i].entry, "=");

		if (result.environment.n != (want ? 1u : 0u))
			fail_msg("%s: %s", rows[i].entry, want ? "was dropped" : "passes");
		if (want)
			assert_string_equal(result.environment.v[0], want);
		assert_int_equal(result.removed.n, want ? 0 : 1);
		if (!want) {
			assert_int_equal(strlen(result.removed.v[0]), name);
			assert_memory_equal(result.removed.v[0], rows[i].entry, name);
		}
		arena_free(&arena);
	}
}

#define CHECK(rows, ...) check_rows(rows, sizeof(rows) / sizeof((rows)[0]), (struct environment_request){ __VA_ARGS__ })

static void test_what_work_needs_passes(void **state)
{
	static const struct row rows[] = {
		{ "PATH=/home/u/.cargo/bin:/usr/bin:/bin", SAME },
		{ "PATH=/home/u/sk-learn-project-folder/bin:/usr/bin", SAME },
		{ "HOME=/home/u", SAME },
		{ "LANG=C.UTF-8", SAME },
		{ "LC_ALL=C", SAME },
		{ "TERM=xterm-256color", SAME },
		{ "COLORTERM=truecolor", SAME },
		{ "TZ=Europe/Berlin", SAME },
		{ "SHELL=/bin/bash", SAME },
		{ "PWD=/w", SAME },
		{ "OLDPWD=/w/x", SAME },
		{ "EDITOR=vim", SAME },
		{ "EMPTY=", SAME },
		{ "OPENAI_API_KEY=", SAME },
		{ "PS1=\\u@\\h:\\w\\$ ", SAME },
		{ "LS_COLORS=rs=0:di=01;34:*.tar=01;31", SAME },
		{ "MONKEY=1", SAME },
		{ "KEYMAP=us", SAME },
		{ "KEYTIMEOUT=1", SAME },
		{ "LESSKEY=/home/u/.less", SAME },
		{ "PASSENGER_APP_ENV=test", SAME },
		{ "COMPASS_MODE=1", SAME },
		{ "PATTERN=x", SAME },
		{ "AUTHOR=someone", SAME },
		{ "SECRETARY=x", SAME },
		{ "TOKENIZERS_PARALLELISM=false", SAME },
		{ "MAX_TOKENS=4096", SAME },
		{ "CLAUDE_CODE_MAX_OUTPUT_TOKENS=32000", SAME },
		{ "XDG_SESSION_ID=3", SAME },
		{ "XDG_SESSION_TYPE=wayland", SAME },
		{ "DESKTOP_SESSION=gnome", SAME },
		{ "SSH_TTY=/dev/pts/3", SAME },
		{ "SSH_CONNECTION=10.0.0.1 22 10.0.0.2 40000", SAME },
		{ "GPG_TTY=/dev/pts/3", SAME },
		{ "PASSWORD_STORE_DIR=/home/u/.password-store", SAME },
		{ "GIT_AUTHOR_NAME=A. Token", SAME },
		{ "GIT_AUTHOR_EMAIL=a@example.org", SAME },
		{ "GIT_COMMITTER_DATE=/hidden looks like a path", SAME },
		{ "GIT_TERMINAL_PROMPT=0", SAME },
		{ "GIT_CEILING_DIRECTORIES=/hidden", SAME },
		{ "GIT_PAGER=cat", SAME },
		{ "GIT_SSH_COMMAND=ssh -o BatchMode=yes", SAME },
		{ "GIT_CONFIG_GLOBAL=/dev/null", SAME },
		{ "GIT_CONFIG_NOSYSTEM=1", SAME },
		{ "GOPATH=/home/u/go", SAME },
		{ "CARGO_HOME=/home/u/.cargo", SAME },
		{ "JAVA_HOME=/usr/lib/jvm/default", SAME },
		{ "VIRTUAL_ENV=/w/.venv", SAME },
		{ "NODE_OPTIONS=--max-old-space-size=4096", SAME },
		{ "NODE_OPTIONS=--require /w/hook.js", SAME },
		{ "PYTHONPATH=/w/lib:/usr/lib/x", SAME },
		{ "LD_LIBRARY_PATH=/opt/x/lib", SAME },
		{ "BASH_FUNC_which%%=() { /hidden/which \"$@\"; }", SAME },
		{ "npm_config_registry=https://registry.example.org/", SAME },
		{ "NPM_CONFIG_PREFIX=/home/u/.npm-global", SAME },
		{ "GITHUB_SHA=0123456789abcdef0123456789abcdef01234567", SAME },
		{ "GITHUB_ACTIONS=true", SAME },
		{ "GITHUB_REPOSITORY=owner/name", SAME },
		{ "KUBECONFIG=/home/u/.kube/config", SAME },
		{ "KUBERNETES_SERVICE_HOST=10.0.0.1", SAME },
		{ "DOCKER_BUILDKIT=1", SAME },
		{ "PGHOST=localhost", SAME },
		{ "PGPASSFILE=/home/u/.pgpass", SAME },
		{ "ANTHROPIC_MODEL=claude-3-5-sonnet-20241022", SAME },
		{ "OPENAI_BASE_URL=http://127.0.0.1:8080/v1", SAME },
		{ "DATABASE_URL=postgres://u:p@localhost:5432/test", SAME },
		{ "DATABASE_URL=postgres://u:p@[::1]:5432/test", SAME },
		{ "DATABASE_URL=postgres://u:p@/test?host=/w/run", SAME },
		{ "REDIS_URL=redis://:p@127.0.0.1:6379/0", SAME },
		{ "TEST_DSN=mysql://u:p@127.0.0.1/test", SAME },
		{ "DB_CONNECTION_STRING=Server=localhost;User=sa;Password=x", SAME },
		{ "REPO_URL=ssh://git@example.org/x.git", SAME },
		{ "HOMEPAGE_URL=https://example.org/@scope/name", SAME },
		{ "CARGO_REGISTRIES_MINE_INDEX=https://example.org/index", SAME },
		{ "NO_PROXY=localhost,127.0.0.1", SAME },
		{ "TMPDIR=/tmp", SAME },
		{ "not an identifier=x", SAME },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
}

static void test_secrets_by_name_are_dropped(void **state)
{
	static const struct row rows[] = {
		{ "TOKEN=x", NULL },
		{ "MY_TOKENS=x", NULL },
		{ "_authToken=x", NULL },
		{ "npm_config_//registry.example.org/:_authToken=x", NULL },
		{ "SECRET_KEY_BASE=x", NULL },
		{ "DB_PASSWORD=x", NULL },
		{ "DBPASSWORD=x", NULL },
		{ "db_pass=x", NULL },
		{ "GPG_PASSPHRASE=x", NULL },
		{ "PWD_HASH=x", NULL },
		{ "APIKEY=x", NULL },
		{ "API_KEY_2=x", NULL },
		{ "OPENAI_API_KEY=x", NULL },
		{ "openai_apikey=x", NULL },
		{ "SSH_PRIVATE_KEY=x", NULL },
		{ "CODE_SIGNING_KEY=x", NULL },
		{ "CLIENT_CREDENTIALS_FILE=x", NULL },
		{ "NPM_AUTH=x", NULL },
		{ "COMPOSER_AUTH={}", NULL },
		{ "SESSION_COOKIE=x", NULL },
		{ "BW_SESSION=x", NULL },
		{ "MY_JWT=x", NULL },
		{ "AZURE_DEVOPS_EXT_PAT=x", NULL },
		{ "SENTRY_DSN=https://abc@sentry.example.org/1", NULL },
		{ "SLACK_WEBHOOK_URL=https://hooks.example.org/x", NULL },
		{ "UNITY_LICENSE=x", NULL },
		{ "PGPASSWORD=x", NULL },
		{ "MYSQL_PWD=x", NULL },
		{ "SSHPASS=x", NULL },
		{ "AWS_REGION=x", NULL },
		{ "AWS_ACCESS_KEY_ID=x", NULL },
		{ "VAULT_ADDR=x", NULL },
		{ "GOOGLE_APPLICATION_CREDENTIALS=x", NULL },
		{ "OP_SERVICE_ACCOUNT_TOKEN=x", NULL },
		{ "DD_APP_KEY=x", NULL },
		{ "TWILIO_OAUTH=x", NULL },
		{ "HF_THING=abcdefghij0123456789", NULL },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
}

static void test_secrets_by_value_are_dropped(void **state)
{
	static const struct row rows[] = {
		{ "COMPANY_LLM=" KEY, NULL },
		{ "GIT_AUTHOR_NAME=" KEY, NULL },
		{ "HEADERS=Authorization: Bearer " KEY, NULL },
		{ "CONFIG={\"k\":\"" KEY "\"}", NULL },
		{ "X=ghp_0123456789abcdefghijABCDEFGHIJ012345", NULL },
		{ "X=github_pat_0123456789abcdefghij", NULL },
		{ "X=glpat-0123456789abcdefghij", NULL },
		{ "X=xoxb-1234567890-abcdef", NULL },
		{ "X=AKIAIOSFODNN7EXAMPLE", NULL },
		{ "X=ASIAIOSFODNN7EXAMPLE", NULL },
		{ "X=AIzaSyA0123456789abcdefghijklmnopqrstuv", NULL },
		{ "X=npm_0123456789abcdefghijABCDEFGHIJ012345", NULL },
		{ "X=pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMA", NULL },
		{ "X=-----BEGIN OPENSSH PRIVATE KEY-----\nabc", NULL },
		{ "X=eyJhbGciOiJIUzI1NiIsInR5cCI6.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", NULL },
		{ "DATABASE_URL=postgres://u:p@db.example.org/x", NULL },
		{ "DATABASE_URL=postgres://u:p/s@db.example.org/x", NULL },
		{ "MONGO_URI=mongodb://u:p@127.0.0.1,db.example.org/x", NULL },
		{ "DATABASE_URL=postgres://u:p@localhost.example.org/x", NULL },
		{ "DATABASE_URL=postgres://u:p@127.0.0.1.example.org/x", NULL },
		{ "JDBC_URL=jdbc:postgresql://db.example.org/x?user=u&password=p", NULL },
		{ "DB_CONNECTION_STRING=Server=db.example.org;Password=x", NULL },
		{ "GIT_REMOTE=https://ghp_0123456789abcdefghij@example.org/x", NULL },
		{ "REMOTE=https://u:p@example.org/x", NULL },
	};
	static const struct row passes[] = {
		{ "X=sk-SK", SAME },
		{ "X=ASIA", SAME },
		{ "X=-----BEGIN CERTIFICATE-----", SAME },
		{ "X=eyJub3QiOiJhIHdlYiB0b2tlbiJ9", SAME },
		{ "X=/home/u/npm_modules_of_a_long_name_indeed", SAME },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
	CHECK(passes, .mode = ENV_SCRUB);
}

static void test_services_and_repositories_are_dropped(void **state)
{
	static const struct row rows[] = {
		{ "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1", NULL },
		{ "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1/bus", NULL },
		{ "DISPLAY=:0", NULL },
		{ "WAYLAND_DISPLAY=wayland-0", NULL },
		{ "XDG_RUNTIME_DIR=/run/user/1", NULL },
		{ "TMUX=/tmp/tmux-1/default,1,0", NULL },
		{ "TMUX_PANE=%1", NULL },
		{ "NVIM=/run/user/1/nvim.1.0", NULL },
		{ "VSCODE_IPC_HOOK_CLI=/x", NULL },
		{ "GIT_ASKPASS=/x", NULL },
		{ "DOCKER_HOST=unix:///run/docker.sock", NULL },
		{ "NOTIFY_SOCKET=/run/x", NULL },
		{ "SUDO_USER=u", NULL },
		{ "WSL_INTEROP=/run/WSL/1_interop", NULL },
		{ "PINFOLD_STATUS={}", NULL },
		{ "GIT_DIR=/elsewhere/.git", NULL },
		{ "GIT_DIR=", NULL },
		{ "GIT_WORK_TREE=/elsewhere", NULL },
		{ "GIT_INDEX_FILE=/x", NULL },
		{ "GIT_CONFIG_COUNT=1", NULL },
		{ "GIT_CONFIG_VALUE_0=x", NULL },
		{ "GIT_CONFIG_PARAMETERS='a.b=c'", NULL },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
}

static void test_addresses_lose_their_userinfo(void **state)
{
	static const struct row rows[] = {
		{ "http_proxy=http://u:p@proxy.example.org:3128", "http_proxy=http://proxy.example.org:3128" },
		{ "HTTPS_PROXY=u:p@proxy.example.org:3128", "HTTPS_PROXY=proxy.example.org:3128" },
		{ "ALL_PROXY=socks5h://proxy.example.org", SAME },
		{ "PIP_EXTRA_INDEX_URL=https://a.example.org/s https://u:p@b.example.org/s",
		  "PIP_EXTRA_INDEX_URL=https://a.example.org/s https://b.example.org/s" },
		{ "GOPROXY=https://u:p@a.example.org,direct", "GOPROXY=https://a.example.org,direct" },
		{ "UV_INDEX=mine=https://u:p@a.example.org/s", "UV_INDEX=mine=https://a.example.org/s" },
		{ "CARGO_REGISTRIES_MINE_INDEX=sparse+https://u:p@a.example.org/",
		  "CARGO_REGISTRIES_MINE_INDEX=sparse+https://a.example.org/" },
		{ "PIP_INDEX_URL=https://a.example.org/?token=" KEY, NULL },
	};
	static const struct row offline[] = {
		{ "http_proxy=http://proxy.example.org:3128", NULL },
		{ "NO_PROXY=localhost", SAME },
		{ "PIP_INDEX_URL=https://u:p@a.example.org/s", "PIP_INDEX_URL=https://a.example.org/s" },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
	CHECK(offline, .mode = ENV_SCRUB, .offline = true);
}

static void test_loaders_of_invisible_paths_are_dropped(void **state)
{
	static const struct row rows[] = {
		{ "LD_PRELOAD=/hidden/x.so", NULL },
		{ "NODE_OPTIONS=--require=/hidden/hook.js", NULL },
		{ "PYTHONPATH=/w:/hidden/lib/", NULL },
		{ "PYTHONPATH=/w:/w/../hidden/lib", NULL },
		{ "GIT_SSH_COMMAND='/hidden/ssh' -v", NULL },
		{ "TMPDIR=/hidden/tmp", NULL },
		{ "LESSOPEN=|/hidden/lesspipe %s", NULL },
		{ "LESSOPEN=|/usr/bin/lesspipe %s", SAME },
		{ "BROWSER=https://hidden/x", SAME },
		{ "PYTHONSTARTUP=$HOME/x", SAME },
	};

	(void)state;
	CHECK(rows, .mode = ENV_SCRUB);
}

static void test_list_keeps_named_ones_only(void **state)
{
	static const struct row rows[] = {
		{ "PATH=/bin", SAME },
		{ "LC_CTYPE=C", SAME },
		{ "CI=true", SAME },
		{ "https_proxy=http://u:p@x.example.org", "https_proxy=http://x.example.org" },
		{ "GIT_AUTHOR_NAME=a", SAME },
		{ "CMAKE_PREFIX_PATH=/opt", SAME },
		{ "CMAKE_TOKEN=x", NULL },
		{ "CFLAGS=-DKEY=\"" KEY "\"", NULL },
		{ "LD_LIBRARY_PATH=/hidden", NULL },
		{ "SOMETHING=x", NULL },
		{ "DISPLAY=:0", NULL },
	};

	(void)state;
	CHECK(rows, .mode = ENV_LIST);
}

static void test_all_is_untouched(void **state)
{
	static const struct row rows[] = {
		{ "AWS_SECRET_ACCESS_KEY=" KEY, SAME },
		{ "GIT_DIR=/x", SAME },
		{ "http_proxy=http://u:p@x", SAME },
	};

	(void)state;
	CHECK(rows, .mode = ENV_ALL, .offline = true);
}

static void test_items_come_first(void **state)
{
	static const char *const caller[] = { "A_TOKEN=1", "B_TOKEN=2", "C=3", "D=4", "no equals", "=x" };
	static const struct policy_item items[] = {
		{ .text = "A_TOKEN" }, { .text = "C=new" },   { .text = "MISSING" }, { .text = "E_TOKEN=5" },
		{ .text = "D=no" },    { .text = "D=last" },  { .text = "B_TOKEN=x" }, { .text = "B_TOKEN" },
	};
	static const char *const want[] = { "A_TOKEN=1", "B_TOKEN=2", "C=new", "E_TOKEN=5", "D=last" };
	static const uint64_t modes[] = { ENV_LIST, ENV_SCRUB, ENV_ALL };

	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
		struct arena arena = { 0 };
		struct environment_request request = {
			.mode = modes[m], .items = items, .item_count = sizeof(items) / sizeof(items[0]),
		};
		struct environment_result result = make(&arena, request, caller, sizeof(caller) / sizeof(caller[0]));

		assert_int_equal(result.environment.n, sizeof(want) / sizeof(want[0]));
		for (size_t i = 0; i < result.environment.n; i++)
			assert_string_equal(result.environment.v[i], want[i]);
		assert_int_equal(result.removed.n, 0);
		arena_free(&arena);
	}
}

/* A name is compared as a whole: --env A does not pass A_TOKEN. */
static void test_an_item_is_no_prefix(void **state)
{
	static const char *const caller[] = { "A_TOKEN=1" };
	static const struct policy_item item = { .text = "A" };
	struct arena arena = { 0 };
	struct environment_request request = { .mode = ENV_SCRUB, .items = &item, .item_count = 1 };
	struct environment_result result = make(&arena, request, caller, 1);

	(void)state;
	assert_int_equal(result.environment.n, 0);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_work_needs_passes),
		cmocka_unit_test(test_secrets_by_name_are_dropped),
		cmocka_unit_test(test_secrets_by_value_are_dropped),
		cmocka_unit_test(test_services_and_repositories_are_dropped),
		cmocka_unit_test(test_addresses_lose_their_userinfo),
		cmocka_unit_test(test_loaders_of_invisible_paths_are_dropped),
		cmocka_unit_test(test_list_keeps_named_ones_only),
		cmocka_unit_test(test_all_is_untouched),
		cmocka_unit_test(test_items_come_first),
		cmocka_unit_test(test_an_item_is_no_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
