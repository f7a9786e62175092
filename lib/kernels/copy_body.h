/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of copy.h, once an instruction set. Before this is included are defined:
 *   vec         a vector of floats
 *   vec_stream  vec_stream(p, a): stores past the caches; p is a multiple of the vector's size
 *   vec_fence   orders such stores before all later ones */
#include <string.h>

#include "copy.h"

#define INLINE static inline __attribute__((always_inline))
#define EACH(i, n) _Pragma("GCC unroll 8") for (int64_t i = 0; i < (n); i++)

typedef vec loose_vec __attribute__((aligned(1)));

enum { VEC = sizeof(vec), VECS = 8 };

INLINE void put(char *to, vec a, const bool stream)
{
	if (stream)
		vec_stream((float *)(void *)to, a);
	else
		*(loose_vec *)to = a;
}

/* Eight vectors are read before they are written: on runs of 2 KB, glibc's memcpy, which is made for one run
 * at a time, takes a third longer. */
INLINE void copy_vectors(char *to, const char *from, int64_t bytes, const bool stream)
{
	int64_t i = 0;
	for (; i + VECS * VEC <= bytes; i += VECS * VEC) {
		vec a[VECS];
		EACH(k, VECS) a[k] = *(const loose_vec *)(from + i + k * VEC);
		EACH(k, VECS) put(to + i + k * VEC, a[k], stream);
	}
	for (; i + VEC <= bytes; i += VEC)
		put(to + i, *(const loose_vec *)(from + i), stream);
	if (i < bytes)
		memcpy(to + i, from + i, (size_t)(bytes - i));
}

static void copy(void *to, const void *from, int64_t bytes, bool stream)
{
	if (stream)
		copy_vectors(to, from, bytes, true);
	else
		copy_vectors(to, from, bytes, false);
}

#undef INLINE
#undef EACH
