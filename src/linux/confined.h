/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINUX_CONFINED_H
#define LINUX_CONFINED_H

#include <stdbool.h>

/* This process runs in a pen, as the kernel tells it; no variable is looked at. */
bool confined_here(void);

#endif
