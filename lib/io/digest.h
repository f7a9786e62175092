/* SPDX-License-Identifier: BSD-2-Clause
 * BLAKE2b-256 of what is read, so that a result can name its input. */
#ifndef PE_DIGEST_H
#define PE_DIGEST_H

#include <stddef.h>

#include <blake2.h>

#define PE_DIGEST_HEX 65 /* 64 digits and the NUL */

struct pe_digest {
	blake2b_state state;
};

void pe_digest_start(struct pe_digest *digest);
void pe_digest_add(struct pe_digest *digest, const void *data, size_t size);
/* As `b2sum -l 256` prints it. */
void pe_digest_end(struct pe_digest *digest, char hex[PE_DIGEST_HEX]);

#endif
