/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "blas_threads.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Only OpenBLAS has these, and which BLAS stands behind libblas.so.3 is the system's choice: looked
 * up at run time, once. */
static int (*get_threads)(void);
static void (*set_threads)(int);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Several contexts may be inside at once: the first in saves, the last out restores. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, saved;

static void look_up(void)
{
	void *get = dlsym(RTLD_DEFAULT, "openblas_get_num_threads");
	void *set = dlsym(RTLD_DEFAULT, "openblas_set_num_threads");
	memcpy(&get_threads, &get, sizeof get);
	memcpy(&set_threads, &set, sizeof set);
}

int pe_blas_threads_one(void)
{
	pthread_once(&once, look_up);
	if (!get_threads || !set_threads)
		return 0;
	pthread_mutex_lock(&lock);
	if (inside++ == 0) {
		saved = get_threads();
		if (saved != 1)
			set_threads(1);
	}
	pthread_mutex_unlock(&lock);
	return 1;
}

void pe_blas_threads_restore(int before)
{
	if (!before)
		return;
	pthread_mutex_lock(&lock);
	if (--inside == 0 && saved != 1)
		set_threads(saved);
	pthread_mutex_unlock(&lock);
}
