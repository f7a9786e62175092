/* SPDX-License-Identifier: BSD-2-Clause
 * The tiled core: online softmax over tiles of queries × keys, in f32, with memory of the order of the
 * length. A task is a block of queries of one head (of all heads, where an encoder maps them); its queries
 * are cut into groups that fill the lanes of kernels/attention_tile.h, its keys into blocks. Scores are in
 * units of log 2 throughout. */
#ifndef PE_TILE_H
#define PE_TILE_H

#include <math.h>

#include "kernels/kernels.h"
#include "plan.h"

#define PE_LOG2E 1.44269504088896340736

/* Terms whose tables have at most so many rows are multiplied with a query or key once, all rows; of
 * larger tables, the rows that are needed, at most so many at a time. */
#define PE_TILE_ROWS 512
#define PE_TILE_TERMS (PE_MAX_ENCODINGS * PE_MAX_TERMS)

/* What depends on key - query alone, (heads, stride): of query i and key j at [i - j + keys - 1], and a
 * whole group of lanes further. values NULL: there is none. */
struct pe_tile_table {
	float *values;
	int64_t stride;
	struct pe_acting rest; /* encodings that it does not hold */
};

/* Biases that depend on key - query alone, (heads, stride) in units of log 2: of query i and key j at
 * [i - j + keys - 1], and a whole group of lanes further. most: the greatest of each PE_TILE_CHUNK of them.
 * values NULL: there is none. */
#define PE_TILE_CHUNK 16
struct pe_tile_bias {
	double *values, *most;
	bool steep;
	int64_t stride; /* a multiple of PE_TILE_CHUNK */
	struct pe_acting rest;
};

/* Biases that depend on the offset between two places of a grid alone, (heads, stride): of each head first
 * PE_TILE_MAX_LANES times the bias of each of three kinds of pairs with a prefix token, then a table of
 * (rows, line), in which the places (y, x) of a query and of a key meet at
 * (yq - yk + key height - 1) line + xq - xk + key width - 1, and zeros behind it. values NULL: there is none.
 */
struct pe_tile_grid {
	float *values;
	double *peak; /* heads: the greatest, in units of log 2, taken off all */
	float
		*cells; /* (heads, groups, keys, PE_TILE_MAX_LANES): of small tiles, which many tasks want. Or NULL */
	int64_t stride, line;
	const pe_domain *queries, *keys;
};

/* One term of a content or values encoder. */
struct pe_tile_term {
	const pe_encoding *encoding;
	struct pe_term term;
	/* If it is relative: rows of query - key at [i - j + keys - 1], and a group of lanes further; and how
	 * many entries from there on are alike, or follow on each other. */
	int32_t *line, *runs;
	float *table;         /* values: in f32, if there are at most PE_TILE_ROWS rows, else NULL */
	float *packed;        /* content: as keys of a tile, if it meets queries, else as queries; in heads, from
							 tiles->packed_first on, of */
	int64_t packed_rows;  /* so many rows */
	float *offset_scores; /* side PE_KEYS: offset · row, for each of these rows; or NULL */
};

struct pe_tile_terms {
	struct pe_tile_term list[PE_TILE_TERMS];
	int count;
};

/* What all tasks share, and none changes. */
struct pe_tiles {
	struct pe_plan *plan;
	const struct pe_kernels *kernels;
	/* Where there is such a site: queries are turned when a task takes them; keys and values beforehand, of
	 * some key heads at a time, so that memory stays bounded. Of (batch, key head) turned_first on, dense. */
	float *turned[3]; /* by side; NULL: that side is not turned */
	int64_t turned_first;
	int64_t packed_first, packed_heads; /* query heads whose tables of content are packed at a time */
	int64_t first_chunk;                /* of the tasks that are run for these heads */
	int64_t block;                      /* queries of a task */
	int64_t pairs;                      /* of batch and head, in this order, of a task */
	struct pe_tile_bias bias;
	struct pe_tile_grid grid; /* of encodings that are not in bias.rest */
	struct pe_tile_table gain, after;
	struct pe_tile_terms content, values;
	bool at_once;       /* all keys are one block, whose values are summed where they lie, into out */
	bool keys_in_place; /* likewise, and keys are not packed, since they are wanted once or twice */
	bool masked;        /* a float mask is read by lanes (tile_mask.c), and -inf in it hides by itself */
	bool by_rows;       /* whether a query sees a key must be asked cell by cell */
	float *key_norms;   /* (batch, key heads, blocks of keys): greatest length of a key. NULL: no tile is left
						   out */
};

/* A number, in units of log 2, beyond which double has no fractions either: as a base it would give scores
 * back digits that they lose by it in double. */
#define PE_TILE_NO_FRACTION 0x1p53
/* A bias as it is, if not finite, else so bounded that f32 can hold it: -FLT_MAX, with which some mask, hides
 * nothing, and -inf does. */
static inline double pe_tile_bounded(double x)
{
	return fabs(x) <= PE_TILE_MOST || !isfinite(x) ? x : copysign(PE_TILE_MOST, x);
}

/* Queries that share the lanes of a tile. */
struct pe_tile_group {
	struct pe_tile_state state;
	double base[PE_TILE_MAX_LANES]; /* taken off scores, in units of log 2 */
	bool has_base[PE_TILE_MAX_LANES];
	double origin; /* masked: of what is added to the mask; base is this and log2(e) · mask_base */
	_Alignas(64) float mask_base[PE_TILE_MAX_LANES], mask_most[PE_TILE_MAX_LANES];
	float *mask;     /* cells of a mask that all heads share, the greatest of which are mask_most. Or NULL */
	int64_t mask_of; /* of this batch, counted from 1; 0: they are not there */
	bool mask_is_zero;
	_Alignas(64) float scale[PE_TILE_MAX_LANES]; /* of q·k in units of log 2 */
	int64_t head, first, count;
	int vecs;
	int64_t lanes;
	int64_t key_first, key_end; /* keys that any of them sees are in here */
	int64_t all_first, all_end; /* keys in here are seen by all of them */
	float norm;                 /* greatest length of a scaled query */
	float *q;                   /* packed */
	float *sums, *after;        /* width × lanes: by softmax weights, and by weights added after it */
	float *odd; /* likewise: what values that are not finite make of a sum. has_odd: it is in use */
	bool has_odd;
	bool has_sums; /* false: they are not even 0 */
	bool stored;   /* out is there */
};

/* What a content term of side PE_QUERIES needs for one group. */
struct pe_tile_query_term {
	float *q;           /* packed queries with the offset, or unscaled; NULL: the group's own, if neither */
	float *products;    /* (first … end - 1) × lanes: all rows of small tables, else those last needed */
	int64_t first, end; /* first begins a panel */
};

/* Terms of which all cells of a tile take one row, as a part of q·k, for one group. */
struct pe_tile_fold {
	int64_t row[PE_TILE_TERMS];  /* of each term; -1: it is not in here */
	const float *q;              /* packed */
	const float *constant;       /* lanes: added to each score; NULL: 0 */
	float *own_q, *own_constant; /* memory for these */
};

/* Keys first … end - 1 of the block at hand against one group. Scores are computed up to the end of a
 * panel, behind `end`; first begins a panel. */
struct pe_tile {
	struct pe_tile_group *group;
	int64_t first, end;
	float *scores; /* the row of key `first` */
};

/* Rows of a term's table that the cells of a tile take: row[l][j · step] for lane l and key first + j, -1:
 * none. All are below end, and those that are not -1 not below first. */
struct pe_tile_rows {
	const int32_t *row[PE_TILE_MAX_LANES];
	int64_t step; /* 1, or -1 for a relative term, where row[l] is row[0] + l */
	int64_t first, end;
	bool alike;       /* all are `first` */
	bool consecutive; /* of a relative term: row[0][i + 1] is row[0][i] + 1 */
};

/* What a content term of side PE_KEYS has of the block of keys at hand: products of keys × rows first … end -
 * 1, which hold those that any query of the task takes, in whole groups of lanes. Empty if they are too many,
 * or one for all. */
struct pe_tile_window {
	int64_t first, end;
	float *products;
};

/* A task at work. */
struct pe_tile_work {
	const struct pe_tiles *tiles;
	pe_context *ctx;
	int64_t batch, first_query, query_count, group_count;
	int64_t tile_keys;   /* keys of a tile at most, with a halo */
	int64_t score_tiles; /* tiles of scores that are kept */
	struct pe_tile_group *groups;
	struct pe_tile_query_term *query_terms; /* (groups, content terms) */
	struct pe_tile_window *windows;         /* content terms */
	struct pe_tile_fold *folds;             /* groups, if there is content */

	float *floats;               /* memory of what follows */
	float *rows;                 /* vectors on their way into panels */
	float *keys, *values;        /* packed: the block at hand */
	float *scores, *bias, *gain; /* keys × lanes */
	float *lines;                /* lanes × keys: rows of cells on their way into the last two */
	float *slice;                /* keys + lanes: of the table of biases */
	float *max;                  /* lanes */
	float *unscaled;             /* lanes */
	float *row_floats;           /* one row of a content term */
	float *table;                /* PE_TILE_ROWS rows of a values term */
	float *products;             /* of PE_TILE_ROWS rows with a tile */
	double *turning;             /* of the site rotate: a group's queries */
	double *row;                 /* one query's cells */
	unsigned char *seen;         /* lanes × tile_keys: what is seen of the tile looked at */
	unsigned char *odd_seen;     /* lanes that see each odd value */
	int32_t *index;              /* lanes × tile_keys: rows of a term */

	/* Rows that the next batch will want, of q, k, v and out. */
	struct pe_tile_ahead {
		const char *row;
		int64_t rows, piece, bytes, stride;
	} ahead[4];
	int ahead_count;

	struct pe_tile looked; /* the last tile that was asked cell by cell */
	int64_t seen_count[PE_TILE_MAX_LANES];
	bool seen_any;
	bool mask_adds, mask_hides; /* masked: of this tile, anything at all; some -inf */

	/* The block of keys at hand. */
	int64_t key, key_count;
	bool has_keys, has_values;
	const float *raw_keys, *raw_values; /* as they came */
	int64_t key_stride, raw_stride, raw_step;
	int32_t *odd, odd_count; /* keys whose values are not all finite: packed as 0 */
};

/* Rows that a tile needs of a large table at most, if they are to be kept until the next. */
static inline int64_t pe_tile_kept_rows(const struct pe_tile_work *w)
{
	return w->tile_keys + PE_TILE_MAX_LANES;
}

/* tile_work.c */
pe_status pe_tile_work_make(struct pe_tile_work *w) PE_NODISCARD;
void pe_tile_work_free(struct pe_tile_work *w);

/* tiled.c */
void pe_tile_start_group(struct pe_tile_work *w, int64_t number, int64_t head, int64_t first, int64_t count);
void pe_tile_start_keys(struct pe_tile_work *w, int64_t key, int64_t count);

/* tile_turn.c: the site rotate. */
/* Heads of keys, over all batches, that are turned at a time. All of them if nothing turns. */
int64_t pe_tiles_turned_heads(const struct pe_tiles *tiles);
/* Memory for so many; freed with pe_free. */
pe_status pe_tiles_make_turned(struct pe_tiles *tiles, int64_t heads) PE_NODISCARD;
/* Turns keys and values of heads first … first + count - 1. */
pe_status pe_tiles_turn(struct pe_tiles *tiles, int64_t first, int64_t count) PE_NODISCARD;
/* n vectors of one head, dense, from `first` on, at most PE_ROTATED_ROWS. rows: 2 n · plan->widest doubles.
 */
void pe_tile_turn_rows(
	const struct pe_plan *plan, const struct pe_place *first, int64_t n, double *rows, float *out);

/* tile_load.c: from tensors to panels. What belongs to a query head takes the keys that this head shares. */
/* n vectors of one head as floats, from `first` on: f32 where they lie, others, and what a site turns, in
 * scratch (n × their width). turning: 2 n · plan->widest doubles; NULL where nothing turns them. */
const float *pe_tile_vectors(const struct pe_plan *plan, const struct pe_place *first, int64_t n,
	double *turning, float *scratch, int64_t *stride, int64_t *step);
/* Lengths of keys, of heads turned_first on, if they are wanted. */
pe_status pe_tiles_measure_keys(struct pe_tiles *tiles, int64_t heads) PE_NODISCARD;
void pe_tile_load_queries(struct pe_tile_work *w, struct pe_tile_group *g);
void pe_tile_load_keys(struct pe_tile_work *w, int64_t head);
void pe_tile_load_values(struct pe_tile_work *w, int64_t head);
/* f32 in rows that can be read as they are. */
bool pe_tile_is_plain(const struct pe_tiles *tiles, const pe_tensor *t);
/* Notes what the task will want of another pair of batch and head. */
void pe_tile_look_ahead(struct pe_tile_work *w, int64_t batch, int64_t head);
/* Asks the memory for some of that, between products: if all were asked for at once, the processor would
 * wait. */
void pe_tile_fetch_ahead(struct pe_tile_work *w);

/* What is added to the scores of key j: the floats of lanes from cells + j step on. cells NULL: nothing. */
struct pe_tile_biases {
	const float *cells;
	int64_t step;
};

/* tile_bias.c */
bool pe_tiles_have_biases(const struct pe_tiles *tiles);
/* Begins a group's bases and its state, with the sink in it. */
void pe_tile_start_base(struct pe_tile_work *w, struct pe_tile_group *g);
/* Moves the base of lane l and its state on, if `most`, the greatest bias that it sees now, is far above it.
 * Tells whether it did. */
bool pe_tile_raise_base(struct pe_tile_group *g, int64_t l, double most);
/* What tables say, without the rows that are asked. Good until the next call. */
struct pe_tile_biases pe_tile_table_biases(struct pe_tile_work *w, const struct pe_tile *tile);
/* All of them. Good until the next call; where there is a mask read by lanes, after pe_tile_look. */
struct pe_tile_biases pe_tile_make_biases(struct pe_tile_work *w, const struct pe_tile *tile);

/* tile_mask.c: a float mask by lanes. */
/* Whether it can be, of tables that are made. */
bool pe_tiles_mask_by_lanes(const struct pe_tiles *tiles);
/* Whether a group keeps its cells from head to head. */
bool pe_tiles_keep_mask(const struct pe_tiles *tiles);
/* w->bias ← the mask's cells and what tables say, and bases. Tells whether any query sees any key. */
bool pe_tile_read_mask(struct pe_tile_work *w, const struct pe_tile *tile);

/* tile_tables.c: tables of key - query, and how far a block of keys can reach. */
pe_status pe_tiles_make_tables(struct pe_tiles *tiles) PE_NODISCARD;
void pe_tiles_free_tables(struct pe_tiles *tiles);
/* The slice of a table for a tile: lane l of key first + j at [l - j]. NULL if there is no table. */
const float *pe_tile_slice(
	const struct pe_tiles *tiles, const struct pe_tile_table *table, const struct pe_tile *tile);
/* In the table of biases: where query and key meet; the greatest of what a group sees. */
const double *pe_tile_table_at(const struct pe_tiles *tiles, int64_t head, int64_t query, int64_t key);
double pe_tile_table_most(const struct pe_tiles *tiles, const struct pe_tile_group *g);
/* Whether all weights of these keys, of one block, are too small to matter to any query of the group. */
bool pe_tile_is_far(const struct pe_tile_work *w, const struct pe_tile_group *g, int64_t first, int64_t end);
/* Of the blocks from key `first` to `end`, the one to begin with. */
int64_t pe_tile_nearest_block(const struct pe_tile_work *w, int64_t first, int64_t end);

/* tile_grid.c: tables of the offset between places of a grid. */
/* Makes tiles->grid of those encodings in bias.rest that it can hold, which leave that list. */
pe_status pe_tiles_make_grid(struct pe_tiles *tiles) PE_NODISCARD;
/* Makes tiles->grid.cells, if there is a grid and they are few. */
pe_status pe_tiles_keep_grid(struct pe_tiles *tiles) PE_NODISCARD;
/* out (keys first … end - 1 × lanes, with room for another PE_TILE_MAX_LANES floats) ← their biases. */
void pe_tile_fill_grid(
	const struct pe_tiles *tiles, const struct pe_tile_group *g, int64_t first, int64_t end, float *out);

/* From f16 or bf16 to floats. */
static inline pe_tile_convert_fn *pe_tile_converter(const struct pe_kernels *kernels, pe_dtype from)
{
	return from == PE_F16 ? kernels->tile_from_f16 : kernels->tile_from_bf16;
}

/* tile_scores.c */
/* Which keys a group sees. */
void pe_tile_see(struct pe_tile_work *w, struct pe_tile_group *g);
/* Whether any query sees any of the tile's keys; where that must be asked cell by cell, into w->seen. */
bool pe_tile_look(struct pe_tile_work *w, const struct pe_tile *tile);
/* Where lane l sees keys of the tile: if a key's number in the tile is 1 in what is returned or, if that is
 * NULL, from *first to *end - 1, which are set if not all are seen. */
const unsigned char *pe_tile_seen(
	struct pe_tile_work *w, const struct pe_tile *tile, int64_t l, int64_t *first, int64_t *end);
/* All scores of a tile and their maxima: -inf where hidden. */
void pe_tile_scores(struct pe_tile_work *w, const struct pe_tile *tile);
/* The same in two parts: first q·k with content terms, nothing hidden. */
void pe_tile_raw_scores(struct pe_tile_work *w, const struct pe_tile *tile);
void pe_tile_finish_scores(struct pe_tile_work *w, const struct pe_tile *tile);
/* In units of log 2, for tile_adjust. */
float pe_tile_softcap(const struct pe_plan *plan);
/* Softcap and gains alone. */
void pe_tile_adjust_logits(struct pe_tile_work *w, const struct pe_tile *tile);
/* cells (keys × lanes) ← hidden where a query does not see a key. Tells whether there may be such. */
bool pe_tile_hide(struct pe_tile_work *w, const struct pe_tile *tile, float *cells, float hidden);

/* tile_terms.c: tables of terms, and which of their rows are taken. */
pe_status pe_tiles_make_terms(struct pe_tiles *tiles) PE_NODISCARD;
/* How many of `heads` heads of keys can be at work at a time, so that memory for tables stays bounded: all,
 * or a divisor of the heads of keys. */
int64_t pe_tiles_packed_key_heads(const struct pe_tiles *tiles, int64_t heads);
/* Memory for the tables of so many. */
pe_status pe_tiles_make_packed(struct pe_tiles *tiles, int64_t heads) PE_NODISCARD;
/* Packs those of heads of keys, over all batches, from `first` on, where they are not packed yet. */
pe_status pe_tiles_pack(struct pe_tiles *tiles, int64_t first) PE_NODISCARD;
void pe_tiles_free_terms(struct pe_tiles *tiles);
/* Of a tile; good until the next call. */
void pe_tile_index(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_term *term,
	struct pe_tile_rows *rows);
/* Of all queries of the task and the block of keys at hand; row[0] alone, if the term is relative. */
void pe_tile_index_block(
	const struct pe_tile_work *w, const struct pe_tile_term *term, struct pe_tile_rows *rows);
/* Dense rows of a values term's table, at most PE_TILE_ROWS; good until the next call. */
const float *pe_tile_term_rows(
	struct pe_tile_work *w, const struct pe_tile_term *term, int64_t head, int64_t first, int64_t rows);

/* tile_content.c */
/* What each term needs of a group, and of a block of keys, which are packed. */
void pe_tile_load_group_terms(struct pe_tile_work *w, struct pe_tile_group *g);
void pe_tile_load_key_terms(struct pe_tile_work *w, int64_t head);
/* What is part of q·k. Tells whether that is all of the content. */
const struct pe_tile_fold *pe_tile_fold_content(
	struct pe_tile_work *w, const struct pe_tile *tile, bool *all);
/* scores += all other content terms. Tells whether w->max is that of the tile after it. */
bool pe_tile_add_content(struct pe_tile_work *w, const struct pe_tile *tile, const struct pe_tile_fold *fold);

/* tile_values.c */
/* Scores and w->max into the group's sums. */
void pe_tile_take(struct pe_tile_work *w, const struct pe_tile *tile);
/* Where tiles->at_once: likewise, into out. False if some value is not finite: the group begins anew. */
bool pe_tile_take_at_once(struct pe_tile_work *w, const struct pe_tile *tile);
/* The group's rows of the outputs. */
void pe_tile_store(struct pe_tile_work *w, struct pe_tile_group *g);

/* tile_heads.c: a task of all heads. */
pe_status pe_tile_attend_heads(pe_context *worker, void *tiles, int64_t chunk) PE_NODISCARD;

#endif
