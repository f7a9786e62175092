/* SPDX-License-Identifier: BSD-2-Clause
 * Runs of every length around whole vectors, at every alignment, past the caches and not, with guards. */
#include "xt.h"

#include <string.h>

#include "xt_kernels.h"

enum { MOST = 1300, GUARD = 64 };

static _Alignas(64) unsigned char from[MOST + GUARD], to[MOST + 2 * GUARD], expected[MOST + 2 * GUARD];

static void check(
	const struct pe_kernels *kernels, int64_t bytes, int from_offset, int to_offset, bool stream)
{
	memset(to, 0xA5, sizeof to);
	memcpy(expected, to, sizeof to);
	memcpy(expected + GUARD + to_offset, from + from_offset, (size_t)bytes);
	kernels->copy(to + GUARD + to_offset, from + from_offset, bytes, stream);
	kernels->copy_fence();
	if (memcmp(to, expected, sizeof to) != 0)
		fail_msg("%s: %lld bytes from +%d to +%d, stream %d", kernels->name, (long long)bytes, from_offset,
			to_offset, stream);
}

static void copies_what_it_is_told(void **state)
{
	(void)state;
	for (int i = 0; i < MOST + GUARD; i++)
		from[i] = (unsigned char)(i * 7 + i / 256);
	for (int set = 0; xt_kernels(set); set++) {
		const struct pe_kernels *kernels = xt_kernels(set);
		for (int64_t bytes = 0; bytes <= MOST; bytes += bytes < 140 ? 1 : 61)
			for (int offset = 0; offset < GUARD; offset += 4) {
				check(kernels, bytes, offset, 0, false);
				check(kernels, bytes, 0, offset, false);
			}
		for (int64_t bytes = 0; bytes <= MOST; bytes += 64)
			for (int offset = 0; offset < GUARD; offset += 4)
				check(kernels, bytes, offset, 0, true);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(copies_what_it_is_told)};
	return xt_run(argc, argv, tests);
}
