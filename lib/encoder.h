/* SPDX-License-Identifier: BSD-2-Clause
 * What an encoder is: one struct of optional functions, in one file FAMILY/NAME.c that defines
 * const struct pe_encoder pe_encoder_NAME. One line X(FAMILY, NAME) in encoders.def registers it,
 * and tests/enc/test_FAMILY_NAME.c tests it. */
#ifndef PE_ENCODER_H
#define PE_ENCODER_H

#include "context.h"
#include "domain.h"
#include "options.h"
#include "tensor.h"

#define PE_MAX_TERMS 4
#define PE_ROTATED_ROWS 256

/* One vector of attention's input: a token's, in one head. Of keys and values, head counts their heads. */
struct pe_place {
	pe_side side;
	int64_t batch, head, token;
};

/* A run of one row of scores: a query against keys key … key + count - 1. head counts query heads. */
struct pe_cells {
	int64_t batch, head, query, key, count;
};

/* Which row of a term's table belongs to each cell; -1: none, the term is 0 there. */
typedef void pe_index_fn(const pe_encoding *e, const struct pe_cells *cells, int32_t *rows);

/* A table with one row for each relation between a query and a key.
 *   content  s_ij += scale · (x + offset) · row, where x is the query (side PE_QUERIES) or the key, rotated;
 *            unscaled: without the scale
 *   values   v_j + row, inside the sum over j */
struct pe_term {
	pe_side side;
	const double *table;  /* (rows, width), or (heads, rows, width) */
	int64_t rows, width;  /* width: that of x, or of the values */
	bool per_head;        /* whether the table has a dimension of heads */
	const double *offset; /* content: (heads, width), or NULL */
	pe_index_fn *index;
	bool unscaled; /* content */
};

struct pe_encoder {
	struct pe_option_table table; /* its name and options: PE_TABLE("rope", options, presets) */
	pe_family family;
	const char *summary; /* one line */
	const char *help;    /* formula, shapes, conventions; lines of at most 78 columns */
	const char *source;  /* paper or code */
	const char *example; /* what follows "posenc encode " */

	int domains;         /* the kinds it takes: PE_DOMAIN_SEQUENCE | … */
	bool counts_padding; /* it takes grids with padding; others need not know that there are such */

	/* What the option heads counts, where it follows from the sizes of attention. */
	enum { PE_HEADS_OF_QUERIES, PE_HEADS_OF_KEYS, PE_HEADS_BY_CHOICE } heads_option;

	/* It has another encoder act in its place (inner.h): where, is that one's to say. */
	bool over_another;

	/* The learned parameters that bind may ask for with pe_encoding_weight. PE_WEIGHTS(array). */
	const pe_weight_info *weights;
	int64_t weight_count;

	/* Refuses what it cannot take, fills e->state, and declares its arrays with pe_declare. Never
	 * NULL. Defaults must bind on a domain of any size, 0 and 1 tokens too. */
	pe_status (*bind)(pe_encoding *e);
	/* Frees what e->state points to (e->state itself is freed for it). Called after a bind that
	 * failed, too, if there is a state. NULL: nothing to do. */
	void (*release)(pe_encoding *e);
	/* Computes the declared arrays; NULL if there are none. outs[i].data is NULL if array i is not
	 * wanted; the others have been checked: shape, strides that do not overlap, and a type that can
	 * hold the declared one. Which of those it is, pe_store_f64 and pe_store_i64 see to. */
	pe_status (*compute)(pe_encoding *e, const pe_tensor *outs);
	/* compute heeds e->stream (stream.h): then outs has no data, and rows go there as they come. */
	bool by_parts;

	/* Each site of an attention layer where it acts; NULL: not there. All but tokens are called from
	 * several threads at once and cannot fail: what can fail belongs into bind. They define the
	 * encoding, in double; the attention core makes its tables and tiles from them. */

	/* Site tokens, or sequence if it resamples: y ← x with the encoding in it. x and y are
	 * (batch, tokens, width) of one float type; y may be x where the shape stays. */
	pe_status (*tokens)(pe_encoding *e, const pe_tensor *x, const pe_tensor *y);
	/* In: tokens and width of x; out: of y, or a refusal. NULL: they stay. */
	pe_status (*tokens_shape)(pe_encoding *e, int64_t *tokens, int64_t *width);
	bool resamples; /* prepends, drops or resamples tokens */

	/* Site rotate: out ← the map of in at this place. out is not in. Values are left as they are, and not
	 * shown to it, unless it says turns_values. */
	void (*rotate)(
		const pe_encoding *e, const struct pe_place *at, const double *in, int64_t width, double *out);
	/* Likewise of count tokens of a head from this place on, at most PE_ROTATED_ROWS, in (count, width) and
	 * out (count, out width) dense, to the same bits: for encoders to which a row alone is dear. NULL:
	 * rotate, one by one. */
	void (*rotate_rows)(const pe_encoding *e, const struct pe_place *first, int64_t count, const double *in,
		int64_t width, double *out);
	/* The width of out, or a refusal of this one. NULL: it stays. Asked before any rotate. */
	pe_status (*rotate_width)(pe_encoding *e, pe_side side, int64_t width, int64_t *out);
	bool turns_values;

	/* Site scores: bias[c] += b(i, j) and gain[c] *= w(i, j) of each cell; the score becomes w s + b. */
	void (*scores)(const pe_encoding *e, const struct pe_cells *cells, double *bias);
	void (*gains)(const pe_encoding *e, const struct pe_cells *cells, double *gain);

	/* Site content: writes at most PE_MAX_TERMS terms and returns how many, 0 if this encoding has none.
	 * They and their tables live as long as e. */
	int (*content)(const pe_encoding *e, struct pe_term *terms);
	/* Likewise, where a whole row of logits is needed: adds to logits[0 … count-1], which are -inf
	 * where masked; cells is the whole row, q the rotated query. */
	void (*content_row)(
		const pe_encoding *e, const struct pe_cells *cells, const double *q, int64_t width, double *logits);

	/* Site heads: a and b are the logits and the summed biases of all heads around one query's cells,
	 * each (heads, count + 2 e->halo), cells that are masked or beyond the row 0; out (heads, count). */
	void (*map_heads)(
		const pe_encoding *e, const struct pe_cells *cells, const double *a, const double *b, double *out);

	/* Site weights: added[c] += b(i, j), after the softmax. */
	void (*weights_after)(const pe_encoding *e, const struct pe_cells *cells, double *added);

	/* Site values: terms as of content, added to the values. */
	int (*values)(const pe_encoding *e, struct pe_term *terms);

	/* Site scale: what replaces 1/sqrt(width); width is the query's before any rotate. */
	double (*scale)(const pe_encoding *e, const struct pe_place *query, int64_t width);
};

#define PE_WEIGHTS(array) .weights = (array), .weight_count = PE_COUNT(array)

/* A learned parameter of one encoding. */
struct pe_weight {
	const char *name;
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	double *values; /* dense */
	char *own_name; /* name, where it was made for this encoding; or NULL */
	char *source;   /* the name it was given by, or NULL: it was begun */
	bool random;    /* it was begun at random */
};

struct pe_encoding {
	pe_context *ctx;
	const struct pe_encoder *encoder;
	pe_params *params;              /* its own copy */
	const pe_domain *domain;        /* tokens, keys */
	const pe_domain *queries;       /* the same, unless it was said otherwise */
	void *state;                    /* the encoder's */
	const struct pe_stream *stream; /* while pe_encoding_stream has compute run, by parts; else NULL */
	pe_encoding *inner;             /* acts in its place in attention, or NULL; owned */

	/* What bind says about the scores of all sites, for the core. */
	int64_t heads;       /* of scores and terms; 0: any number, all alike */
	int64_t key_heads;   /* of the keys that rotate takes, where they differ; 0: any number */
	bool leaves_scale;   /* there is a site scale, but it is not asked: 1/sqrt(width) stays */
	bool leaves_vectors; /* likewise of rotate, which changes nothing */
	bool leaves_gains;   /* likewise of gains, which are all 1 */
	bool leaves_scores;  /* likewise of scores, which are all 0 */
	bool relative;     /* scores, gains, weights_after and indices depend on key - query position alone; on a
						* grid, on the offset and, with a prefix token, on which of both is one */
	int64_t halo;      /* of map_heads */
	int64_t row_width; /* of the query that content_row takes; 0: any */

	const pe_bundle *given_weights; /* while bind runs, or NULL */
	const char *weights_prefix;
	bool weights_shared; /* the given weights need not hold any of this one's */
	pe_sizes sizes;      /* for the options of an encoder that acts in its place */
	struct pe_weight *weights;
	int64_t weight_count, weight_capacity;

	pe_array_info arrays[PE_MAX_ARRAYS];
	int64_t array_count;
	pe_quality quality;
	int64_t *failed; /* quality.failed graphs */
	char **failures; /* why, one each */
	int64_t failure_capacity;
};

/* Whether vectors of this side go through rotate. */
static inline bool pe_encoding_turns(const pe_encoding *e, pe_side side)
{
	return e->encoder->rotate && !e->leaves_vectors && (side != PE_VALUES || e->encoder->turns_values);
}

/* rotate_rows, or rotate row by row, or a copy; count at most PE_ROTATED_ROWS. out_width is what rotate_width
 * says. */
void pe_encoding_rotate_rows(const pe_encoding *e, const struct pe_place *first, int64_t count,
	const double *in, int64_t width, double *out, int64_t out_width);

/* e->state: size bytes, zeroed, freed with e. */
pe_status pe_encoding_state(pe_encoding *e, size_t size) PE_NODISCARD;

/* Declares an array, at most PE_MAX_ARRAYS; name must live as long as e. dtype is PE_F64, PE_I64,
 * PE_I32 or PE_BOOL: what is computed, not what the caller stores. per_token says that the first
 * dimension counts tokens. Fails if so large an array cannot be. */
pe_status pe_declare(pe_encoding *e, const char *name, pe_dtype dtype, int32_t ndim, const int64_t *shape,
	bool per_token) PE_NODISCARD;

/* Notes that graph number `graph` failed, and why (ctx's message). Graphs come in ascending order. */
pe_status pe_encoding_note_failure(pe_encoding *e, int64_t graph, const char *why) PE_NODISCARD;

/* "sinusoidal: " before the text, with the encoder's name. */
pe_status pe_encoding_fail(pe_encoding *e, pe_status status, const char *text, ...) PE_PRINTF(3, 4);

/* For bind: refuses an option that says nothing here, if it was set to something other than its default:
 * "factor has no effect with scaling=none", where the text is "with scaling=none". */
pe_status pe_encoding_refuse_option(pe_encoding *e, const char *name, const char *text, ...) PE_PRINTF(3, 4);

/* For bind: refuses positions of e->domain and e->queries, sequences, unless all are whole numbers in
 * 0 … limit-1. what names the bound: "the table has 512 positions". */
pe_status pe_encoding_check_positions(pe_encoding *e, int64_t limit, const char *what) PE_NODISCARD;

/* ---- learned parameters ------------------------------------------------------------- */

/* How a parameter begins that is not given: a constant, N(mean, sd), or uniform in [low, high). */
struct pe_initial {
	enum { PE_INITIAL_CONSTANT, PE_INITIAL_NORMAL, PE_INITIAL_UNIFORM } kind;
	double a, b;
	bool optional; /* stays as it begins if weights are given without it */
};

static inline struct pe_initial pe_initial_constant(double value)
{
	return (struct pe_initial){PE_INITIAL_CONSTANT, value, 0, false};
}

static inline struct pe_initial pe_initial_normal(double mean, double sd)
{
	return (struct pe_initial){PE_INITIAL_NORMAL, mean, sd, false};
}

static inline struct pe_initial pe_initial_uniform(double low, double high)
{
	return (struct pe_initial){PE_INITIAL_UNIFORM, low, high, false};
}

/* For bind: the parameter of this name and shape, from the weights that the encoding was given, else
 * begun as `initial` says, from the context's seed. name is one of encoder->weights; shape may be NULL for a
 * scalar. *out is dense and owned by e; bind may still change it if pe_encoding_weight_is_given says no. */
pe_status pe_encoding_weight(pe_encoding *e, const char *name, int32_t ndim, const int64_t *shape,
	struct pe_initial initial, double **out) PE_NODISCARD;
bool pe_encoding_weight_is_given(const pe_encoding *e, const char *name);
/* The shape of a parameter as it is in the given weights, for encoders whose sizes follow from it;
 * false if it is not given. */
bool pe_encoding_given_shape(const pe_encoding *e, const char *name, int32_t *ndim, int64_t *shape);

/* For bind, before it asks for weights, where their names are such that no other array's end in them: if the
 * weights came without a prefix and none of these names is there, but one array's ends in one of them, as
 * "vit.embeddings.position_embeddings" does, what stands before becomes the prefix, *prefix, the caller's,
 * which must live until bind ends. Refuses if there are several. */
pe_status pe_encoding_look_below(
	pe_encoding *e, const char *const *names, int count, char **prefix) PE_NODISCARD;

/* Dimension `axis` of a parameter in the given weights if that has ndim of them, else 0: it is not given. */
int64_t pe_encoding_given_size(const pe_encoding *e, const char *weight, int32_t ndim, int32_t axis);
/* A size that follows from given weights: the option if it is set by name or cannot be `given`, else that,
 * which the parameters then hold. */
pe_status pe_encoding_follow(pe_encoding *e, const char *option, int64_t given, int64_t *out) PE_NODISCARD;
/* Both, where a dimension is the option. */
pe_status pe_encoding_size(pe_encoding *e, const char *option, const char *weight, int32_t ndim, int32_t axis,
	int64_t *out) PE_NODISCARD;

/* Declares every parameter asked for so far as an array, and computes such arrays: for encoders whose
 * parameters are what they yield. first is the number of the first of them. */
pe_status pe_declare_weights(pe_encoding *e) PE_NODISCARD;
void pe_compute_weights(const pe_encoding *e, const pe_tensor *outs, int64_t first);
/* The function compute of those that yield nothing else. */
pe_status pe_compute_own_weights(pe_encoding *e, const pe_tensor *outs);

#endif
