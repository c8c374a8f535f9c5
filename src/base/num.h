/* SPDX-License-Identifier: Apache-2.0 */
/* Strict numbers: the whole word or nothing, no sign, no blank, no overflow. All return 0 or -EINVAL / -ERANGE. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

int num_u64(const char *text, uint64_t *ret);                 /* decimal digits */
int num_u32(const char *text, uint32_t *ret);
int num_size(const char *text, uint64_t *ret_bytes);          /* digits, then nothing, K, M or G (1024); > 0 */
int num_duration(const char *text, uint64_t *ret_ms);         /* digits, then ms, s, m or h; > 0; the unit is needed */
int num_port(const char *text, uint16_t *ret);                /* 1 to 65535 */
/* The shortest exact spelling that num_size / num_duration read back; at least 32 bytes. */
const char *num_size_text(uint64_t bytes, char *text);
const char *num_duration_text(uint64_t ms, char *text);

#endif
