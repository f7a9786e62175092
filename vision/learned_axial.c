/* SPDX-License-Identifier: BSD-2-Clause
 * A learned row for each row of a grid, one for each column (and frame), added or side by side: a table of
 * height + width rows where learned_grid has height × width. Carion et al., "End-to-end object detection with
 * transformers", ECCV 2020; Ho et al., "Axial attention in multidimensional transformers", 2019. */
#include <string.h>

#include "encoder.h"
#include "resample.h"
#include "token_table.h"
#include "window_table.h"

enum { T, Y, X, AXES };
enum merge { ADD, CONCAT };
enum initial { NORMAL, UNIFORM, ONES };

struct axis {
	int64_t length; /* of the grid */
	int64_t rows;   /* of the table */
	int64_t width;  /* of a row; 0: this axis has no table */
	int64_t start;  /* channel of its first number */
	const double *table;
	double *owned;
};

struct state {
	struct pe_token_table table;
	struct axis axes[AXES];
	char *prefix;
};

/* What authors call the tables of rows and of columns. */
static const struct {
	const char *y, *x;
	bool channels_first; /* (1, width, rows, 1), not (…, rows, …, width) */
} names[] = {
	{"row_embed", "col_embed", false},
	{"row_embeddings", "column_embeddings", false},
	{"pos_embed_y", "pos_embed_x", false},
	{"weights.0", "weights.1", false},
	{"param_0", "param_1", true},
};

#define BOTH "position_embedding_table" /* columns, then rows: (2, rows, width) */

static void row(const pe_encoding *e, int64_t batch, int64_t token, double *out)
{
	const struct state *s = e->state;
	const pe_domain *d = e->domain;
	int64_t place = d->first + token - d->prefix;
	(void)batch;
	memset(out, 0, (size_t)s->table.dim * sizeof *out);
	if (place < 0)
		return;
	int64_t at[AXES] = {place / (d->height * d->width), place / d->width % d->height, place % d->width};
	for (int i = 0; i < AXES; i++) {
		const struct axis *a = &s->axes[i];
		const double *p = a->table + at[i] * a->width;
		for (int64_t c = 0; c < a->width; c++)
			out[a->start + c] += p[c];
	}
}

/* ---- tables ----------------------------------------------------------------------------- */

static struct pe_initial initial_of(const pe_encoding *e)
{
	switch ((enum initial)pe_params_choice(e->params, "initial")) {
	case UNIFORM:
		return pe_initial_uniform(0, 1);
	case ONES:
		return pe_initial_constant(1);
	default:
		return pe_initial_normal(0, pe_params_real(e->params, "std"));
	}
}

/* (width, rows) to (rows, width). */
static pe_status turn(pe_encoding *e, struct axis *a)
{
	double *turned = pe_alloc(e->ctx, a->rows, (size_t)a->width * sizeof *turned);
	if (!turned)
		return PE_ERR_NOMEM;
	for (int64_t i = 0; i < a->rows; i++)
		for (int64_t c = 0; c < a->width; c++)
			turned[i * a->width + c] = a->table[c * a->rows + i];
	a->table = a->owned = turned;
	return PE_OK;
}

/* The one axis of a given weight that is not its channels: its length into a->rows, unless the option grid
 * says it. false: there are several. */
static bool read_shape(int32_t ndim, int64_t *shape, int32_t channels, bool keep_rows, struct axis *a)
{
	int32_t longest = -1;
	for (int32_t i = 0; i < ndim; i++)
		if (i != channels && (longest < 0 || shape[i] != 1)) {
			if (longest >= 0 && shape[longest] != 1)
				return false;
			longest = i;
		}
	if (longest < 0 || shape[longest] < 1 || shape[channels] < 1)
		return false;
	if (keep_rows)
		shape[longest] = a->rows;
	a->rows = shape[longest];
	a->width = shape[channels];
	return true;
}

/* The weight `name`, given in any shape of rows × width numbers, or begun as (rows, width). */
static pe_status take_table(pe_encoding *e, const char *name, bool channels_first, struct axis *a)
{
	const struct state *s = e->state;
	int32_t ndim = 2, channels = 1;
	int64_t shape[PE_MAX_DIMS] = {a->rows, a->width};
	double *weight;
	if (pe_encoding_given_shape(e, name, &ndim, shape)) {
		channels = channels_first && ndim > 2 ? 1 : ndim - 1;
		bool keep_rows = a != &s->axes[T] && pe_params_is_set(e->params, "grid");
		if (!read_shape(ndim, shape, channels, keep_rows, a))
			return pe_encoding_fail(e, PE_ERR_SHAPE,
				"the weight %s must have one row for each place of one axis, (rows, width)", name);
	}
	PE_TRY(pe_encoding_weight(e, name, ndim, shape, initial_of(e), &weight));
	a->table = weight;
	return channels == ndim - 1 ? PE_OK : turn(e, a);
}

static pe_status take_both(pe_encoding *e, struct axis *y, struct axis *x)
{
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	double *weight;
	if (!pe_encoding_given_shape(e, BOTH, &ndim, shape) || ndim != 3 || shape[0] != 2 || shape[1] < 1 ||
		shape[2] < 1)
		return pe_encoding_fail(e, PE_ERR_SHAPE, "the weight " BOTH " must be (2, rows, width)");
	PE_TRY(pe_encoding_weight(e, BOTH, 3, shape, initial_of(e), &weight));
	x->rows = y->rows = shape[1];
	x->width = y->width = shape[2];
	x->table = weight;
	y->table = weight + shape[1] * shape[2];
	return PE_OK;
}

static pe_status take_tables(pe_encoding *e)
{
	struct state *s = e->state;
	const char *search[PE_COUNT(names) + 1] = {BOTH};
	size_t given = PE_COUNT(names);
	for (size_t i = 0; i < PE_COUNT(names); i++)
		search[i + 1] = names[i].y;
	PE_TRY(pe_encoding_look_below(e, search, (int)PE_COUNT(search), &s->prefix));
	while (given > 0 && !pe_encoding_weight_is_given(e, names[given - 1].y))
		given--;
	given = given > 0 ? given - 1 : 0;
	struct axis *y = &s->axes[Y], *x = &s->axes[X];
	bool both = pe_encoding_weight_is_given(e, BOTH);
	if (both) {
		PE_TRY(take_both(e, y, x));
	} else {
		PE_TRY(take_table(e, names[given].y, names[given].channels_first, y));
		PE_TRY(take_table(e, names[given].x, names[given].channels_first, x));
	}
	if (both || pe_encoding_weight_is_given(e, names[given].y))
		PE_TRY(pe_follow_sides(e, "grid", y->rows, x->rows, &y->rows, &x->rows));
	if (s->axes[T].width > 0 || pe_encoding_weight_is_given(e, "frame_embed"))
		return take_table(e, "frame_embed", false, &s->axes[T]);
	return PE_OK;
}

/* ---- sizes ------------------------------------------------------------------------------ */

/* Of tables that begin; a frame has a table only where there are several. */
static pe_status choose_sizes(pe_encoding *e)
{
	struct state *s = e->state;
	const pe_domain *d = e->domain;
	int64_t dim = pe_params_int(e->params, "dim"), axes = d->frames > 1 ? 3 : 2, width = dim;
	s->axes[T].length = s->axes[T].rows = d->frames;
	s->axes[Y].length = s->axes[Y].rows = d->height;
	s->axes[X].length = s->axes[X].rows = d->width;
	PE_TRY(pe_take_sides(e, "grid", &s->axes[Y].rows, &s->axes[X].rows));
	if (pe_params_choice(e->params, "merge") == CONCAT)
		width = dim / axes;
	if (width == 0)
		return pe_encoding_fail(e, PE_ERR_RANGE, "dim is %lld, too few for %lld axes side by side",
			(long long)dim, (long long)axes);
	for (int i = 0; i < AXES; i++)
		s->axes[i].width = i == T && axes == 2 ? 0 : width;
	return PE_OK;
}

static pe_status make_longer(pe_encoding *e, struct axis *a, int64_t length)
{
	const struct pe_resample_rule linear = {.interpolation = PE_BILINEAR};
	struct pe_resample resample = {0};
	double *made = pe_alloc(e->ctx, length, (size_t)a->width * sizeof *made);
	pe_status status = made ? pe_resample_make(e->ctx, &linear, a->rows, length, &resample) : PE_ERR_NOMEM;
	if (status == PE_OK)
		pe_resample_apply(&resample, 0, length, a->table, 0, a->width, made);
	pe_resample_free(e->ctx, &resample);
	pe_free(e->ctx, a->owned);
	a->table = a->owned = made;
	a->rows = length;
	return status;
}

/* Tables as long as their axes, or longer. */
static pe_status fit_tables(pe_encoding *e)
{
	static const char *const what[] = {"frames", "rows", "columns"};
	struct state *s = e->state;
	bool linear = pe_params_choice(e->params, "resize") == 1;
	int64_t larger = pe_max(s->axes[Y].length, s->axes[X].length);
	for (int i = 0; i < AXES; i++) {
		struct axis *a = &s->axes[i];
		bool square = i != T && pe_params_bool(e->params, "preserve_aspect");
		if (a->width == 0)
			continue;
		if (linear && a->rows != (square ? larger : a->length))
			PE_TRY(make_longer(e, a, square ? larger : a->length));
		else if (a->length > a->rows)
			return pe_encoding_fail(e, PE_ERR_SHAPE,
				"the grid has %lld %s, and there are learned rows for %lld (resize=linear makes more)",
				(long long)a->length, what[i], (long long)a->rows);
	}
	return PE_OK;
}

/* Where each axis' channels begin, and how many there are in all. */
static pe_status place_channels(pe_encoding *e, int64_t *dim)
{
	struct state *s = e->state;
	bool x_first = pe_params_choice(e->params, "axes") == 1;
	const int order[] = {T, x_first ? X : Y, x_first ? Y : X};
	int64_t said;
	*dim = 0;
	for (int i = 0; i < AXES; i++) {
		struct axis *a = &s->axes[order[i]];
		if (pe_params_choice(e->params, "merge") == CONCAT) {
			a->start = *dim;
			*dim += a->width;
		} else if (a->width > 0 && a->width != s->axes[X].width) {
			return pe_encoding_fail(e, PE_ERR_SHAPE, "rows of %lld and of %lld numbers cannot be added",
				(long long)a->width, (long long)s->axes[X].width);
		} else {
			*dim = s->axes[X].width;
		}
	}
	PE_TRY(pe_encoding_follow(e, "dim", *dim, &said));
	return said == *dim
		? PE_OK
		: pe_encoding_fail(e, PE_ERR_SHAPE, "the tables make rows of %lld numbers, and dim is %lld",
			  (long long)*dim, (long long)said);
}

static pe_status refuse_what_is_idle(pe_encoding *e)
{
	const char *initial = pe_params_text(e->params, "initial");
	if (pe_params_choice(e->params, "merge") == ADD)
		PE_TRY(pe_encoding_refuse_option(e, "axes", "with merge=add"));
	if (strcmp(pe_params_text(e->params, "resize"), "none") == 0)
		PE_TRY(pe_encoding_refuse_option(e, "preserve_aspect", "with resize=none"));
	return strcmp(initial, "normal") == 0 ? PE_OK
										  : pe_encoding_refuse_option(e, "std", "with initial=%s", initial);
}

static pe_status bind(pe_encoding *e)
{
	int64_t dim;
	PE_TRY(refuse_what_is_idle(e));
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	PE_TRY(choose_sizes(e));
	PE_TRY(take_tables(e));
	PE_TRY(place_channels(e, &dim));
	PE_TRY(fit_tables(e));
	int64_t unplaced = pe_max(e->domain->prefix - e->domain->first, 0);
	s->table = (struct pe_token_table){.dim = dim, .unplaced = unplaced, .row = row};
	return pe_token_table_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	for (int i = 0; i < AXES; i++)
		pe_free(e->ctx, s->axes[i].owned);
	pe_free(e->ctx, s->prefix);
}

/* ---- options ---------------------------------------------------------------------------- */

static const pe_option_info options[] = {
	PE_INT("dim", "64", 1, 1 << 20, "width of a row; if not said, as the given weights make it"),
	PE_CHOICE("merge", "add", "add|concat",
		"how rows of the axes become one: they are added, or stand side by side"),
	PE_CHOICE("axes", "yx", "yx|xy", "with concat: which of row and column comes first; frames come before"),
	PE_LIST("grid", "", 1, 1 << 20,
		"rows of the tables of rows/columns where they begin, or one number of both; empty: the grid at "
		"hand"),
	PE_CHOICE("resize", "none", "none|linear",
		"tables of another length: their first rows, as many as there are; or made as long as the axis"),
	PE_BOOLEAN(
		"preserve_aspect", "0", "with linear: both are made as long as the larger side (timm's NaFlexViT)"),
	PE_CHOICE(
		"initial", "normal", "normal|uniform|ones", "tables begin N(0, std), uniform in [0, 1), or as 1"),
	PE_REAL("std", "0.02", 0, 1e3, "standard deviation that they begin with"),
	PE_OPTION_FEATURES,
};

static const pe_preset_info presets[] = {
	{"axial_attention", "merge=add,std=1", "lucidrains' AxialPositionalEmbedding: added, N(0, 1)"},
	{"detr", "merge=concat,axes=xy,grid=50/50,initial=uniform",
		"DETR's learned module: [column | row], the other way round than its sines; 50 rows each, and its "
		"code fails on larger grids"},
	{"gemma4", "merge=add,initial=ones",
		"the vision tower of Gemma 4: position_embedding_table has columns, then rows. Its padding patches "
		"do not exist here"},
	{"naflex", "merge=add,resize=linear",
		"timm's NaFlexViT with pos_embed=factorized: added, linear without antialiasing; some models say "
		"preserve_aspect=1"},
	{"reformer", "merge=concat,std=1",
		"Reformer's axial position embeddings, of a sequence folded into rows: [row | column], of widths of "
		"their own"},
};

static const pe_weight_info weights[] = {
	{"row_embed", "(rows, width), width dim, or with concat dim/2 (with frames dim/3)",
		"the option initial says", "DETR's row_embed.weight: one row a row of the grid"},
	{"col_embed", "(rows, width)", "the option initial says", "DETR's col_embed.weight: one a column"},
	{"row_embeddings", "(rows, width)", "row_embed", "Hugging Face's DETR, with column_embeddings"},
	{"column_embeddings", "(rows, width)", "col_embed", "likewise"},
	{"frame_embed", "(rows, width)", "the option initial says",
		"one a frame; only if there are several, or if given"},
	{"pos_embed_y", "(1, rows, width)", "row_embed", "timm's NaFlexViT, with pos_embed_x"},
	{"pos_embed_x", "(1, rows, width)", "col_embed", "likewise"},
	{BOTH, "(2, rows, width)", "row_embed", "Gemma 4: columns, then rows"},
	{"weights.0", "(rows, 1, width)", "row_embed", "Reformer, with weights.1"},
	{"weights.1", "(1, rows, width)", "col_embed", "likewise"},
	{"param_0", "(1, width, rows, 1)", "row_embed", "lucidrains' axial attention, with param_1"},
	{"param_1", "(1, width, 1, rows)", "col_embed", "likewise"},
};

const struct pe_encoder pe_encoder_learned_axial = {
	.table = PE_TABLE("learned_axial", options, presets),
	.family = PE_VISION,
	.summary = "a learned row for each row and each column of a grid, added or side by side",
	.help = "Token (y, x) gets row_embed[y] + col_embed[x], or with merge=concat\n"
			"[row_embed[y] | col_embed[x]], axes=xy the other way round; with several\n"
			"frames frame_embed[t] is added, or comes first. Prefix tokens get zeros and\n"
			"are left alone.\n"
			"Rows count from the first, whatever the grid: a table that is too short is\n"
			"refused, unless resize=linear makes it as long as the axis (and shorter where\n"
			"it is too long), without antialiasing.\n"
			"Tables are taken under any author's names, anywhere in a checkpoint if only\n"
			"one array's name ends so; else as=PREFIX says which.",
	.source = "Carion et al. 2020 (DETR); Ho et al. 2019; the code that the presets name",
	.example = "grid:25x34 --with learned_axial:preset=detr,dim=256",
	.domains = PE_DOMAIN_GRID,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = pe_token_table_compute,
	.tokens = pe_token_table_tokens,
	.tokens_shape = pe_token_table_shape,
};
