/* SPDX-License-Identifier: BSD-2-Clause
 * BLAS on one thread while ours are at work: its results depend on its thread count, and small
 * problems lose by it. */
#ifndef PE_BLAS_THREADS_H
#define PE_BLAS_THREADS_H

/* Sets the BLAS library to one thread, where it has such a switch; returns what to hand to
 * pe_blas_threads_restore. */
int pe_blas_threads_one(void);
void pe_blas_threads_restore(int before);

#endif
