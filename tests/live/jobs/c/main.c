/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "powers.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 2;

	printf("%ld %ld %ld %ld\n", n, square(n), cube(n), sum(3, n, square(n), cube(n)));
	return 0;
}
