/* SPDX-License-Identifier: Apache-2.0 */
long square(long n);
long cube(long n);
long sum(int count, ...);
