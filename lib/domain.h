/* SPDX-License-Identifier: BSD-2-Clause
 * What tokens stand on. */
#ifndef PE_DOMAIN_H
#define PE_DOMAIN_H

#include "context.h"

enum pe_domain_kind { PE_DOMAIN_SEQUENCE = 1, PE_DOMAIN_GRID = 2, PE_DOMAIN_GRAPH = 4 };

struct pe_domain {
	pe_context *ctx;
	enum pe_domain_kind kind;
	int64_t tokens;

	double offset;     /* sequence: token i is at offset + i … */
	double *positions; /* … unless this is not NULL: tokens */

	int64_t frames, height, width; /* grid */
	int64_t prefix;                /* tokens before the grid's */

	const pe_graph *graph;
};

/* "a sequence", "a grid", "graphs" */
const char *pe_domain_kind_name(enum pe_domain_kind kind);

/* The position of token i of a sequence. */
static inline double pe_domain_position(const struct pe_domain *domain, int64_t i)
{
	return domain->positions ? domain->positions[i] : domain->offset + (double)i;
}

#endif
