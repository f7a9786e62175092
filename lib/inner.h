/* SPDX-License-Identifier: BSD-2-Clause
 * An encoder over another: `over=NAME`, or `over=NAME:key=value:…`. */
#ifndef PE_INNER_H
#define PE_INNER_H

#include "encoder.h"

/* The encoder and the parameters that text names, without an encoder over another; *params is to be
 * destroyed. */
pe_status pe_inner_parse(
	pe_encoding *e, const char *text, const struct pe_encoder **encoder, pe_params **params) PE_NODISCARD;

/* For bind: binds another encoder to other domains, and lists its weights among e's as "NAME.weight"; as
 * such they are looked for first behind e's own prefix. *out is to be destroyed before the domains. */
pe_status pe_inner_create(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params,
	const pe_domain *keys, const pe_domain *queries, pe_encoding **out) PE_NODISCARD;

/* Likewise as e->inner, which then acts in e's place at all sites of attention: e takes over its arrays and
 * what it says about scores. */
pe_status pe_inner_stand_in(pe_encoding *e, const struct pe_encoder *encoder, const pe_params *params,
	const pe_domain *keys, const pe_domain *queries) PE_NODISCARD;

#endif
