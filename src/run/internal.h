/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_INTERNAL_H
#define RUN_INTERNAL_H

#include "run/run.h"

/* Runs and watches until the end, in this process. stop_fd: readable or at its end means "end the run"; -1: none. */
void supervise(const struct pinfold_plan *plan, const struct run_options *options, int stop_fd, struct run_result *ret);

#endif
