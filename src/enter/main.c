/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pinfold-enter: what bubblewrap executes, as pid 1 of the pen it has made. Its one argument is the descriptor that its
 * orders come over (linux/orders.h); nobody calls it by hand. It looks at the pen, hardens itself, starts the command
 * and stays as the pen's init, all with the code that pinfold itself runs inside namespaces of its own.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "linux/orders.h"

int main(int argc, char **argv)
{
	static struct pinfold_plan plan;
	static struct enter enter;
	struct arena arena = { 0 };
	sigset_t all;
	uint32_t fd;
	int r;

	if (argc != 2 || num_u32(argv[1], &fd) < 0 || fd > 1 << 20) {
		fprintf(stderr, "pinfold-enter is called by pinfold, through bubblewrap\n");
		return INIT_NEVER_STARTED;
	}
	/* to those inside, how it came here is nothing but noise */
	memset(argv[0], 0, (size_t)(argv[1] + strlen(argv[1]) - argv[0]));
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	r = orders_read(&arena, (int)fd, &enter, &plan);
	close((int)fd);
	if (r < 0) {
		fprintf(stderr, "bwrap: pinfold-enter is not of this pinfold's build, or is out of memory\n");
		return 1;
	}
	enter_be_init(&enter, bubblewrap_finish);
}
