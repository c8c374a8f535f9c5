/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys, shown to clients: the command line makes its parser, its help and its completion from it. */
#include <errno.h>

#include "pinfold.h"
#include "policy/policy.h"

static const struct {
	enum pinfold_key_type type;
	bool is_list;
	const char *builtin; /* where the default is no number */
} key_types[] = {
	[TYPE_FLAG] = { PINFOLD_KEY_SWITCH, false, NULL },
	[TYPE_CHOICE] = { PINFOLD_KEY_WORD, false, NULL },
	[TYPE_PATH] = { PINFOLD_KEY_PATH, false, NULL },
	[TYPE_TMP] = { PINFOLD_KEY_PATH, false, "private" },
	[TYPE_DURATION] = { PINFOLD_KEY_DURATION, false, "none" },
	[TYPE_SIZE] = { PINFOLD_KEY_SIZE, false, "none" },
	[TYPE_COUNT] = { PINFOLD_KEY_NUMBER, false, "none" },
	[TYPE_PATHS] = { PINFOLD_KEY_PATH, true, NULL },
	[TYPE_PATTERNS] = { PINFOLD_KEY_TEXT, true, NULL },
	[TYPE_NAMES] = { PINFOLD_KEY_TEXT, true, NULL },
	[TYPE_ENVIRONMENT] = { PINFOLD_KEY_TEXT, true, NULL },
	[TYPE_PORTS] = { PINFOLD_KEY_TEXT, true, NULL },
};
_Static_assert(sizeof(key_types) / sizeof(key_types[0]) == TYPE_TYPE_COUNT, "a public type for every type");

static const char *builtin_text(const struct policy_key_def *def)
{
	if (def->type == TYPE_CHOICE)
		return def->words[def->builtin];
	if (def->type == TYPE_FLAG)
		return def->builtin ? "true" : "false";
	return key_types[def->type].builtin;
}

int pinfold_key_at(size_t index, struct pinfold_key *ret)
{
	const struct policy_key_def *def;

	if (index >= KEY_COUNT)
		return -ENOENT;
	def = &policy_keys[index];
	*ret = (struct pinfold_key){
		.name = def->name,
		.option = def->option,
		.argument = def->argument,
		.help = def->help,
		.type = key_types[def->type].type,
		.is_list = key_types[def->type].is_list,
		.is_command_only = def->is_command_only,
		.words = def->words,
		.builtin = builtin_text(def),
		.alias = def->alias,
		.alias_word = def->alias_word,
	};
	return 0;
}

const char *pinfold_version(void)
{
	return PINFOLD_VERSION;
}
