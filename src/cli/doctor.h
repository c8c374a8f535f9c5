/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `pinfold doctor`. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <limits.h>
#include <sys/types.h>

#include "cli/cli.h"

/* What the probes try: a worktree that is a repository, and things around it that are none of the command's business,
 * all real, all made for this and gone afterwards. */
struct scene {
	char top[PATH_MAX];
	int service, port, hidden_name; /* listening sockets: by path, on the loopback, by abstract name */
	char port_text[16], name[64];
	pid_t victim; /* a process that nobody inside may see or touch */
	char pid[16]; /* its number */
};

int scene_make(struct scene *scene, struct pinfold_error *err);
void scene_remove(struct scene *scene);

/* Inside: tries them, and says a line "GUARANTEE PROBE WANTED ERRNO" for each (0: it was done). */
int probe_scene(char **words);

/* The same outside, where everything must be possible that is forbidden inside: otherwise a probe proves nothing. */
int probe_controls(const struct scene *scene, struct pinfold_error *err);

#endif
