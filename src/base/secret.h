/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a secret looks like in a text, for the environment and for settings files: the shapes of keys, and addresses
 * that carry a user and a password. A guess by nature: it decides what is hidden in addition, never what is shown.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Holds a key of a known shape (tables_key_shapes), at its start or after a delimiter, or a private key in PEM. */
bool secret_has_key(const char *text, size_t len);
/* Holds 20 letters and digits in a row, of both kinds: a key of no known shape. Words, paths, dates, UUIDs don't. */
bool secret_is_random(const char *text, size_t len);

/* An address in a text; all places are offsets. */
struct secret_url {
	size_t start;    /* of the scheme */
	size_t userinfo; /* after "://" */
	size_t host;     /* after the "@", or the same as userinfo where there is none */
	size_t end;      /* after host and port */
	bool is_secret;  /* a password, or a user that looks like a key */
	bool is_loopback; /* every host; none at all is a unix socket and counts */
};

/* The next address at or after *pos, which is moved behind its scheme. */
bool secret_next_url(const char *text, size_t len, size_t *pos, struct secret_url *ret);
/* Some address in the text has a secret and leads to another machine. */
bool secret_has_url(const char *text, size_t len);
/* Adds the text without the user and password of any address. */
void secret_cut_urls(struct buf *buf, const char *text, size_t len);

#endif
