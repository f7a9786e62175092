/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool always(void)
{
	return true;
}

#ifdef PE_KERNELS_X86
static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
	return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

/* From the least to the best: each fills what it does better than those before it. */
static const struct level {
	const char *name;
	bool (*runs)(void);
	void (*fill)(struct pe_kernels *kernels);
} levels[] = {
	{"scalar", always, pe_kernels_scalar},
#ifdef PE_KERNELS_X86
	{"avx2", has_avx2, pe_kernels_avx2},
	{"avx512", has_avx512, pe_kernels_avx512},
#endif
#ifdef PE_KERNELS_AARCH64
	{"neon", always, pe_kernels_neon},
#endif
};

#define LEVELS ((int)(sizeof levels / sizeof *levels))

/* Written once, then only read: the one table of the process. */
static struct pe_kernels tables[LEVELS];
static int usable;
static char names[64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	struct pe_kernels table = {0};
	for (; usable < LEVELS && levels[usable].runs(); usable++) {
		table.name = levels[usable].name;
		levels[usable].fill(&table);
		tables[usable] = table;
	}
	for (int i = usable - 1; i >= 0; i--) {
		strcat(names, levels[i].name);
		if (i > 0)
			strcat(names, " ");
	}
}

const struct pe_kernels *pe_kernels_select(const char *limit)
{
	pthread_once(&once, fill_tables);
	if (!limit)
		return &tables[usable - 1];
	for (int i = 0; i < usable; i++)
		if (strcmp(levels[i].name, limit) == 0)
			return &tables[i];
	return NULL;
}

const char *pe_kernels_available(void)
{
	pthread_once(&once, fill_tables);
	return names;
}
