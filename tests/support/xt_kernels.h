/* SPDX-License-Identifier: BSD-2-Clause
 * The sets of kernels of this machine. */
#ifndef XT_KERNELS_H
#define XT_KERNELS_H

#include "kernels/kernels.h"

/* Set number i from the least, which is "scalar", to the best; NULL from the number of sets on. */
const struct pe_kernels *xt_kernels(int i);

/* n doubles, 64-byte aligned, all XT_CANARY, with as many canaries before and behind as a cache line holds;
 * xt_release_guarded fails if one of those has changed. */
#define XT_CANARY 12345.0
double *xt_guarded(int64_t n);
void xt_release_guarded(double *data, int64_t n);

#endif
