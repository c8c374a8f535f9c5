/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of keys and options. */
#include <assert.h>
#include <string.h>

#include "policy/internal.h"
#include "policy/policy.h"

static const char *const mode_words[] = {"required", "auto", "off", NULL};
static const char *const backend_words[] = {"auto", "namespaces", "bwrap", "landlock", NULL};
static const char *const home_words[] = {"hidden", "masked", NULL};
static const char *const git_words[] = {"readonly", "commit", "open", NULL};
static const char *const check_words[] = {"tree", "set", NULL};
/* Each does what the next one does as well, so that a project's file that asks for an earlier one takes nothing away.
 */
static const char *const violation_words[] = {"fail", "remove", "report", NULL};
static const char *const network_words[] = {"offline", "open", NULL};
static const char *const env_words[] = {"list", "scrub", "all", NULL};
static const char *const word_check_words[] = {"refuse", "warn", "off", NULL};
static const char *const hints_words[] = {"off", "human", "agent", NULL};
/* The guarantees; the plan's tests compare them with its own table. */
static const char *const guarantee_words[] = {"writes",     "secrets",   "repository",  "network",
					      "services",   "processes", "environment", "terminal",
					      "privileges", "cleanup",   "limits",      NULL};

#define WORDS(array, count) \
	static_assert(sizeof(array) / sizeof((array)[0]) == (count) + 1, "a word for each value of the enum")
WORDS(mode_words, MODE_COUNT);
WORDS(backend_words, BACKEND_COUNT);
WORDS(home_words, HOME_COUNT);
WORDS(git_words, GIT_COUNT);
WORDS(check_words, CHECK_COUNT);
WORDS(violation_words, VIOLATION_COUNT);
WORDS(network_words, NETWORK_COUNT);
WORDS(env_words, ENV_COUNT);
WORDS(word_check_words, WORD_CHECK_COUNT);
WORDS(hints_words, HINTS_COUNT);

/* clang-format off */
const struct policy_key_def policy_keys[KEY_COUNT] = {
	[KEY_WORKTREE] = { .name = "worktree", .option = "--worktree", .argument = "DIR", .type = TYPE_PATH,
		.tighten = TIGHTEN_NEVER, .is_command_only = true,
		.help = "the directory the command may change (default: the git top of the current directory)" },
	[KEY_READ_ONLY] = { .name = "read_only", .option = "--read-only", .type = TYPE_FLAG, .tighten = TIGHTEN_ON,
		.help = "the worktree may not change either; the private temp stays writable" },
	[KEY_MODE] = { .name = "mode", .option = "--mode", .argument = "MODE", .type = TYPE_CHOICE,
		.words = mode_words, .builtin = MODE_REQUIRED, .tighten = TIGHTEN_SMALLER,
		.help = "refuse to run when a guarantee is not held, run and say so, or run bare" },
	[KEY_BACKEND] = { .name = "backend", .option = "--backend", .argument = "NAME", .type = TYPE_CHOICE,
		.words = backend_words, .builtin = BACKEND_AUTO, .tighten = TIGHTEN_NEVER,
		.help = "what the pen is made of" },
	[KEY_BWRAP] = { .name = "bwrap", .option = "--bwrap", .argument = "PATH", .type = TYPE_PATH,
		.tighten = TIGHTEN_NEVER,
		.help = "the bubblewrap that the backend bwrap uses (default: /usr/bin, /usr/local/bin, /bin)" },
	[KEY_ACCEPT] = { .name = "accept", .option = "--accept", .argument = "NAME[,...]", .type = TYPE_NAMES,
		.words = guarantee_words, .tighten = TIGHTEN_NEVER,
		.help = "run although this guarantee is weaker; one that is absent needs NAME=absent" },
	[KEY_WRITE] = { .name = "write", .option = "--write", .argument = "PATH", .type = TYPE_PATHS,
		.tighten = TIGHTEN_NEVER,
		.help = "one more writable path; it must exist, or end in / to be made as a directory" },
	[KEY_READ] = { .name = "read", .option = "--read", .argument = "PATH", .type = TYPE_PATHS,
		.tighten = TIGHTEN_NEVER, .help = "open a hidden path again, read-only" },
	[KEY_HIDE] = { .name = "hide", .option = "--hide", .argument = "PATTERN", .type = TYPE_PATTERNS,
		.tighten = TIGHTEN_ALWAYS, .help = "hide what matches; patterns are as in gitignore" },
	[KEY_PROTECT] = { .name = "protect", .option = "--protect", .argument = "PATTERN", .type = TYPE_PATTERNS,
		.tighten = TIGHTEN_ALWAYS, .help = "what matches can be read but not changed" },
	[KEY_HOME] = { .name = "home", .option = "--home", .argument = "HOW", .type = TYPE_CHOICE,
		.words = home_words, .builtin = HOME_MASKED, .tighten = TIGHTEN_SMALLER,
		.help = "a private home with the toolchains, or the real one read-only without its secrets" },
	[KEY_GIT] = { .name = "git", .option = "--git", .argument = "HOW", .type = TYPE_CHOICE,
		.words = git_words, .builtin = GIT_COMMIT, .tighten = TIGHTEN_SMALLER,
		.help = "git directory read-only, commits without changes to hooks and config, or no protection" },
	[KEY_CHECK] = { .name = "check", .option = "--check", .argument = "HOW", .type = TYPE_CHOICE,
		.words = check_words, .builtin = CHECK_SET, .tighten = TIGHTEN_SMALLER,
		.help = "what is looked at after the run: a set of paths fixed at its start, or also the whole tree" },
	[KEY_ON_VIOLATION] = { .name = "on_violation", .option = "--on-violation", .argument = "WHAT",
		.type = TYPE_CHOICE, .words = violation_words, .builtin = VIOLATION_REMOVE, .tighten = TIGHTEN_SMALLER,
		.help = "a new name that is protected is moved away and named, only named, or also fails the run" },
	[KEY_NETWORK] = { .name = "network", .option = "--network", .argument = "HOW", .type = TYPE_CHOICE,
		.words = network_words, .builtin = NETWORK_OPEN, .tighten = TIGHTEN_SMALLER,
		.alias = "--offline", .alias_word = "offline", .help = "no network but an own loopback, or all of it" },
	[KEY_REACH] = { .name = "reach", .option = "--reach", .argument = "PORT[:PORT]", .type = TYPE_PORTS,
		.tighten = TIGHTEN_NEVER,
		.help = "offline: this TCP port of the host's loopback can be reached inside; the host's port first" },
	[KEY_PUBLISH] = { .name = "publish", .option = "--publish", .argument = "PORT[:PORT]", .type = TYPE_PORTS,
		.tighten = TIGHTEN_NEVER,
		.help = "offline: a server inside can be reached at this port of the host's 127.0.0.1" },
	[KEY_SOCKET] = { .name = "socket", .option = "--socket", .argument = "PATH", .type = TYPE_PATHS,
		.tighten = TIGHTEN_NEVER, .help = "let the command reach this unix socket of the host" },
	[KEY_DEVICE] = { .name = "device", .option = "--device", .argument = "PATH", .type = TYPE_PATHS,
		.tighten = TIGHTEN_NEVER, .help = "let the command use this device node" },
	[KEY_ENV] = { .name = "env", .option = "--env", .argument = "NAME[=VALUE]", .type = TYPE_ENVIRONMENT,
		.tighten = TIGHTEN_NEVER, .help = "set a variable, or pass the caller's value whatever the mode" },
	[KEY_ENV_MODE] = { .name = "env_mode", .option = "--env-mode", .argument = "HOW", .type = TYPE_CHOICE,
		.words = env_words, .builtin = ENV_SCRUB, .tighten = TIGHTEN_SMALLER,
		.help = "only well-known variables, all but secrets and pointers to host services, or all" },
	[KEY_TMP] = { .name = "tmp", .option = "--tmp", .argument = "private|DIR", .type = TYPE_TMP,
		.tighten = TIGHTEN_NEVER, .help = "a temp of the run's own, or a directory that later runs share" },
	[KEY_TIME] = { .name = "time", .option = "--time", .argument = "DURATION", .type = TYPE_DURATION,
		.builtin = POLICY_NONE, .tighten = TIGHTEN_SMALLER,
		.help = "end the run after this time: a number with ms, s, m or h" },
	[KEY_MEMORY] = { .name = "memory", .option = "--memory", .argument = "SIZE", .type = TYPE_SIZE,
		.builtin = POLICY_NONE, .tighten = TIGHTEN_SMALLER,
		.help = "memory that the run may use: a number, with K, M or G" },
	[KEY_PROCESSES] = { .name = "processes", .option = "--processes", .argument = "N", .type = TYPE_COUNT,
		.builtin = POLICY_NONE, .tighten = TIGHTEN_SMALLER, .help = "processes that may exist at a time" },
	[KEY_TMP_SIZE] = { .name = "tmp_size", .option = "--tmp-size", .argument = "SIZE", .type = TYPE_SIZE,
		.builtin = POLICY_NONE, .tighten = TIGHTEN_SMALLER,
		.help = "size of the private temp: a number, with K, M or G" },
	[KEY_NESTING] = { .name = "nesting", .option = "--nesting", .type = TYPE_FLAG, .tighten = TIGHTEN_NEVER,
		.help = "let the command make namespaces and mounts of its own, as bwrap and browsers do" },
	[KEY_WORD_CHECK] = { .name = "word_check", .option = "--word-check", .argument = "HOW", .type = TYPE_CHOICE,
		.words = word_check_words, .builtin = WORD_CHECK_REFUSE, .tighten = TIGHTEN_SMALLER,
		.help = "offline, a command that is known to need the network is told so before it starts" },
	[KEY_HINTS] = { .name = "hints", .option = "--hints", .argument = "WHOM", .type = TYPE_CHOICE,
		.words = hints_words, .builtin = HINTS_OFF, .tighten = TIGHTEN_NEVER,
		.help = "after a failure, say what the pen may have had to do with it, to a human or an agent" },
	[KEY_VERBOSE] = { .name = "verbose", .option = "--verbose", .type = TYPE_FLAG, .tighten = TIGHTEN_NEVER,
		.is_command_only = true, .help = "say on standard error what holds and what was left out" },
};
/* clang-format on */

int policy_key_find(const char *name)
{
	for (int key = 0; key < KEY_COUNT; key++)
		if (strcmp(policy_keys[key].name, name) == 0 || strcmp(policy_keys[key].option, name) == 0)
			return key;
	return -1;
}

enum { NEAR_LENGTH = 24, NEAR_DISTANCE = 2 };

/* How many letters differ (Levenshtein); names that are too long differ in everything. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NEAR_LENGTH + 1];
	size_t length = strlen(b);

	if (length > NEAR_LENGTH || strlen(a) > NEAR_LENGTH)
		return NEAR_LENGTH;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			/* A dash for an underscore is the option's spelling: no difference. */
			bool is_same = a[i] == b[j] || (a[i] == '-' && b[j] == '_');
			size_t best = diagonal + !is_same;

			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[j + 1] = best;
		}
	}
	return row[length];
}

int key_near(const char *name)
{
	size_t least = NEAR_DISTANCE + 1;
	int ret = -1;

	name += strspn(name, "-");
	for (int key = 0; key < KEY_COUNT; key++) {
		size_t d = distance(name, policy_keys[key].name);

		/* Of a word of three letters two other ones are no likeness. */
		if (!policy_keys[key].is_command_only && d < least && d < strlen(name)) {
			least = d;
			ret = key;
		}
	}
	return ret;
}
