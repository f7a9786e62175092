/* SPDX-License-Identifier: BSD-2-Clause
 * Every encoder and every table of options, as encoders.def lists them. */
#ifndef PE_REGISTRY_H
#define PE_REGISTRY_H

#include "encoder.h"

/* The option table of an encoder, or of a kind of input ("graph"); NULL if there is none. */
const struct pe_option_table *pe_find_option_table(const char *name);

#endif
