/* SPDX-License-Identifier: BSD-2-Clause
 * A learned table of a grid's positions as checkpoints hold it, under any of the names that they give it. */
#ifndef PE_GRID_TABLE_H
#define PE_GRID_TABLE_H

#include "encoder.h"

/* The options it reads, besides dim and std. */
#define PE_OPTIONS_GRID_TABLE \
	PE_LIST("grid", "", 1, 65536, \
		"height/width of the stored table, or one number of both; empty: what the weight's own axes say, " \
		"without weights the grid at hand"), \
		PE_INT("prefix_rows", "0", 0, 1 << 16, \
			"rows of the stored table before its grid's, for as many of the first prefix tokens"), \
		PE_CHOICE("order", "hwc", "hwc|chw", \
			"a weight of four axes is (1, height, width, dim), or (1, dim, height, width)")

/* What posenc help lists. */
#define PE_WEIGHTS_GRID_TABLE \
	{"pos_embed", \
		"(1, prefix_rows + height width, dim), the same without the 1, or (1, height, width, dim)", \
		"N(0, std)", "DeiT, MAE, BEiT, DINO, DINOv2, timm; of NaFlexViT and SAM with axes of its own"}, \
		{"pos_embedding", "likewise", "pos_embed", "Flax's ViT, at Transformer/posembed_input"}, \
		{"position_embedding", "likewise", "pos_embed", \
			"Hugging Face's CLIP and SigLIP (position_embedding.weight)"}, \
	{ \
		"position_embeddings", "likewise", "pos_embed", "Hugging Face's ViT, DeiT, Dinov2 (at embeddings)" \
	}

struct pe_grid_table {
	int64_t dim, height, width, prefix_rows;
	const double *first; /* (prefix_rows, dim) */
	const double *grid;  /* (height, width, dim) */
	double *owned;       /* where it is not the weight's own memory */
	char *prefix;        /* of the weights' names, while bind runs */
};

/* For bind: the table that is given, by the first of its names that is there, else begun N(0, sd), sd 0: the
 * option std. Refuses one whose grid is not said. pe_grid_table_free takes what there is after a failure. */
pe_status pe_grid_table_take(pe_encoding *e, double sd, struct pe_grid_table *table) PE_NODISCARD;
void pe_grid_table_free(pe_context *ctx, struct pe_grid_table *table);

/* For bind: another weight of four axes, in the order that the option says: its sides are those of the weight
 * that is given, else *height and *width, which may be 0: then *values is NULL. *owned is to be freed. */
pe_status pe_grid_table_planes(pe_encoding *e, const char *name, double sd, int64_t dim, int64_t *height,
	int64_t *width, const double **values, double **owned) PE_NODISCARD;

#endif
