/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/digest.h"

#define BYTES 32

void pe_digest_start(struct pe_digest *digest)
{
	blake2b_init(&digest->state, BYTES);
}

void pe_digest_add(struct pe_digest *digest, const void *data, size_t size)
{
	blake2b_update(&digest->state, data, size);
}

void pe_digest_end(struct pe_digest *digest, char hex[PE_DIGEST_HEX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[BYTES];
	blake2b_final(&digest->state, bytes, sizeof bytes);
	for (int i = 0; i < BYTES; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * BYTES] = '\0';
}
