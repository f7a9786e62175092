/* SPDX-License-Identifier: BSD-2-Clause
 * The sets of kernels of this machine. */
#ifndef XT_KERNELS_H
#define XT_KERNELS_H

#include "kernels/kernels.h"

/* Set number i from the least, which is "scalar", to the best; NULL from the number of sets on. */
const struct pe_kernels *xt_kernels(int i);

#endif
