/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration file from memory: comments, JSON, lines, every value, contradictions, the merge as each layer and the
 * rules. The first byte chooses the layer. Files are not touched, but for ".." in paths, whose links are looked at.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const enum policy_layer layers_in_turn[] = {LAYER_USER, LAYER_ADMIN, LAYER_PROJECT};

static int parse(struct pinfold_policy *policy, enum policy_layer number, char *text, size_t length,
		 struct layer *layers)
{
	struct setting_context context = {
		.arena = &policy->arena,
		.layer = number,
		.file = "/config.json",
		.home = "/home/me",
		.worktree = "/w",
		.base = number == LAYER_PROJECT ? "/w" : NULL,
	};
	struct layer *entry = number == LAYER_USER ? &layers[LAYER_PROJECT_ENTRY] : NULL;
	struct pinfold_error err = {0};
	int r = layer_parse(&context, text, length, &layers[number], entry, &err);

	if (r == 0)
		r = rules_check_layer(&policy->arena, &layers[number], "/w", "/home/me", &err);
	/* The record is filled exactly when something failed, and lines are lines of the text. */
	if ((r < 0) != (err.code != PINFOLD_OK) || err.line < 0 || (size_t)err.line > length + 1)
		abort();
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pinfold_policy policy = {.config_fd = -1, .worktree = "/w"};
	struct layer layers[LAYER_COUNT] = {0};
	struct pinfold_error err = {0};
	size_t length = size > 0 ? size - 1 : 0;
	char *text = malloc(length + 1);

	if (size > 0 && text) {
		enum policy_layer number = layers_in_turn[data[0] % 3];

		memcpy(text, data + 1, length);
		text[length] = '\0';
		policy.who.home = "/home/me";
		if (parse(&policy, number, text, length, layers) == 0 &&
		    merge_layers(&policy, layers, false, &err) == 0 && rules_make(&policy, &err) == 0) {
			policy_rule(&policy, AXIS_READ, "/w/a/b", NULL, NULL);
			policy_rule(&policy, AXIS_WRITE, "/home/me/.x", NULL, NULL);
			/* An untrusted project's file opens nothing. */
			if (number == LAYER_PROJECT &&
			    policy_rule(&policy, AXIS_WRITE, "/etc/x", NULL, NULL) == RULE_ALLOW)
				abort();
		}
	}
	free(text);
	arena_free(&policy.arena);
	return 0;
}
