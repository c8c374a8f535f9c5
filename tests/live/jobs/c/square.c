/* SPDX-License-Identifier: Apache-2.0 */
#include "powers.h"

long square(long n)
{
	return n * n;
}
