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

	/* Coordinates of a token: (batch, tokens, axes), or NULL: */
	double *positions;
	int64_t batch; /* of positions or padding; 1: every batch alike */
	int64_t axes;  /* of a sequence 1, of a grid 3: t, y, x; or as many as positions have, whose kind is
					* sequence whatever they mean */

	double offset; /* sequence without positions: token i is at offset + first + i */

	int64_t frames, height, width; /* grid; a tail's are those of the whole */
	int64_t prefix;                /* tokens before the grid's, which have no coordinates; else 0 */
	int64_t first; /* token 0 is number `first` of the whole, prefix and all: pe_domain_tail */

	/* Of each place of the grid, (batch, frames × height × width), 1 where there is no image behind it; NULL:
	 * nowhere. */
	uint8_t *padding;

	const pe_graph *graph;
};

/* "a sequence", "a grid", "graphs" */
const char *pe_domain_kind_name(enum pe_domain_kind kind);

/* Coordinate number axis of token i of a sequence or grid; 0 for tokens that have none. batch may be
 * any if positions are alike in all. */
double pe_domain_coordinate(const struct pe_domain *domain, int64_t batch, int64_t i, int64_t axis);

/* Whether token i has a place: all but a grid's prefix have. */
static inline bool pe_domain_is_placed(const struct pe_domain *domain, int64_t i)
{
	return domain->first + i >= domain->prefix;
}

/* The position of token i of a sequence. */
static inline double pe_domain_position(const struct pe_domain *domain, int64_t batch, int64_t i)
{
	if (!domain->positions)
		return domain->offset + (double)(domain->first + i);
	return domain->positions[((domain->batch > 1 ? batch : 0) * domain->tokens + i) * domain->axes];
}

/* Whether key j of `keys` and query i of `queries` are j - i + a constant apart, in every batch. */
bool pe_domain_is_regular(const struct pe_domain *queries, const struct pe_domain *keys);

#endif
