/* SPDX-License-Identifier: Apache-2.0 */
#include "powers.h"

long cube(long n)
{
	return n * square(n);
}
