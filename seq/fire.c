/* SPDX-License-Identifier: BSD-2-Clause
 * FIRE: b_h(i, j) = f_h(psi(i - j) / (psi(max(i, T)) + eps)), psi(x) = ln(|c x| + 1), f a perceptron with one
 * hidden layer of rectifiers, or leaky ones. Li et al., "Functional interpolation for relative positions
 * improves long context transformers", ICLR 2024, and its listing.
 *
 * A perceptron of one number is a broken line. Its pieces are found once, so that a score costs one product
 * and a sum, however wide the hidden layer is. */
#include <math.h>

#include "encoder.h"
#include "scores.h"

#define EPSILON 1e-6 /* of the authors */
#define BLOCK 64
#define LEAK 0.01 /* of LeakyReLU */

enum direction { BIDIRECTIONAL, CAUSAL };

struct state {
	bool causal;
	double c, threshold;
	/* Piece k of the line is from breaks[k-1] to breaks[k]; the first begins at 0, below which no
	 * distance is, the last does not end. */
	int64_t pieces;
	double *breaks;          /* pieces - 1, ascending */
	double *slopes, *levels; /* (heads, pieces): f_h(x) = slope x + level */
	/* If positions are regular: psi of key - query + Lq - 1, which falls up to entry `turn`, where the key is
	 * at the query or after it, then rises; and of each query what it is divided by. */
	double *psi, *norms;
	int64_t turn;
};

static double psi(const struct state *s, double distance)
{
	return log1p(fabs(s->c * (s->causal ? fmax(distance, 0) : fabs(distance))));
}

/* What psi of a query's distances is divided by. */
static double norm_of(const struct state *s, double query)
{
	return log1p(fabs(s->c * fmax(query, s->threshold))) + EPSILON;
}

static int64_t piece_at(const struct state *s, double x)
{
	int64_t low = 0, high = s->pieces - 1; /* the piece is in low … high */
	while (low < high) {
		int64_t middle = (low + high) / 2;
		if (x <= s->breaks[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The first of values[c + 1 … n-1] outside low … high, or n. If they ascend or descend from 0 on, by halves.
 */
static int64_t end_of_run(const double *values, int64_t c, int64_t n, double low, double high, bool in_order)
{
	int64_t end = c + 1;
	if (in_order) {
		for (int64_t outside = n; end < outside;) {
			int64_t middle = (end + outside) / 2;
			if (values[middle] >= low && values[middle] <= high)
				end = middle + 1;
			else
				outside = middle;
		}
		return end;
	}
	while (end < n && values[end] >= low && values[end] <= high)
		end++;
	return end;
}

/* n cells of one head with these values of psi, a run on one piece after the other. */
static void add_runs(const struct state *s, int64_t head, const double *values, int64_t n, double norm,
	bool in_order, double *bias)
{
	for (int64_t c = 0, end; c < n; c = end) {
		int64_t k = piece_at(s, values[c] / norm);
		double low = k > 0 ? s->breaks[k - 1] * norm : 0;
		double high = k + 1 < s->pieces ? s->breaks[k] * norm : INFINITY;
		double slope = s->slopes[head * s->pieces + k] / norm, level = s->levels[head * s->pieces + k];
		end = end_of_run(values, c, n, low, high, in_order);
		for (int64_t m = c; m < end; m++)
			bias[m] += slope * values[m] + level;
	}
}

static void add_regular(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	int64_t at = cells->key - cells->query + e->queries->tokens - 1;
	int64_t before = pe_max(0, pe_min(cells->count, s->turn - at));
	double norm = s->norms[cells->query];
	add_runs(s, cells->head, s->psi + at, before, norm, true, bias);
	add_runs(s, cells->head, s->psi + at + before, cells->count - before, norm, true, bias + before);
}

static void scores(const pe_encoding *e, const struct pe_cells *cells, double *bias)
{
	const struct state *s = e->state;
	if (s->psi) {
		add_regular(e, cells, bias);
		return;
	}
	double query = pe_domain_position(e->queries, cells->batch, cells->query), values[BLOCK];
	double norm = norm_of(s, query);
	for (int64_t c = 0; c < cells->count; c += BLOCK) {
		int64_t n = pe_min(BLOCK, cells->count - c);
		for (int64_t m = 0; m < n; m++)
			values[m] = psi(s, query - pe_domain_position(e->domain, cells->batch, cells->key + c + m));
		add_runs(s, cells->head, values, n, norm, false, bias + c);
	}
}

/* ---- the perceptron ----------------------------------------------------------------- */

struct perceptron {
	int64_t hidden;
	double leak;     /* slope of a unit that is off */
	double *w1, *b1; /* hidden */
	double *w2, *b2; /* (heads, hidden), heads */
};

static pe_status take_perceptron(pe_encoding *e, int64_t hidden, struct perceptron *p)
{
	/* As torch.nn.Linear begins: uniform within 1/sqrt(inputs). */
	struct pe_initial first = pe_initial_uniform(-1, 1);
	double bound = 1 / sqrt((double)hidden);
	struct pe_initial second = pe_initial_uniform(-bound, bound);
	p->hidden = hidden;
	p->leak = pe_params_choice(e->params, "activation") == 1 ? LEAK : 0;
	PE_TRY(pe_encoding_weight(e, "mlp.0.weight", 2, (int64_t[]){hidden, 1}, first, &p->w1));
	PE_TRY(pe_encoding_weight(e, "mlp.0.bias", 1, &hidden, first, &p->b1));
	PE_TRY(pe_encoding_weight(e, "mlp.2.weight", 2, (int64_t[]){e->heads, hidden}, second, &p->w2));
	return pe_encoding_weight(e, "mlp.2.bias", 1, &e->heads, second, &p->b2);
}

/* Where unit m of the hidden layer turns on or off; only what is above 0 and finite is ever met. */
static double break_of(const struct perceptron *p, int64_t m)
{
	return -p->b1[m] / p->w1[m];
}

static bool is_break(const struct perceptron *p, int64_t m)
{
	double x = break_of(p, m);
	return isfinite(x) && x > 0;
}

static bool is_on_at_0(const struct perceptron *p, int64_t m)
{
	if (!isfinite(break_of(p, m)))
		return p->b1[m] > 0;
	return is_break(p, m) ? p->w1[m] < 0 : p->w1[m] > 0;
}

/* order ← the units that turn on or off somewhere, in the order in which they do. Returns how many. */
static int64_t sort_breaks(const struct perceptron *p, int64_t *order)
{
	int64_t count = 0;
	for (int64_t m = 0; m < p->hidden; m++) {
		if (!is_break(p, m))
			continue;
		int64_t at = count++;
		for (; at > 0 && break_of(p, order[at - 1]) > break_of(p, m); at--)
			order[at] = order[at - 1];
		order[at] = m;
	}
	return count;
}

/* The lines of one head from the first piece on, unit after unit turning on or off. */
static void draw(struct state *s, const struct perceptron *p, int64_t head, const int64_t *order)
{
	const double *w2 = p->w2 + head * p->hidden;
	double slope = 0, level = p->b2[head];
	for (int64_t m = 0; m < p->hidden; m++) {
		double share = is_on_at_0(p, m) ? 1 : p->leak;
		slope += share * w2[m] * p->w1[m];
		level += share * w2[m] * p->b1[m];
	}
	for (int64_t k = 0; k < s->pieces; k++) {
		s->slopes[head * s->pieces + k] = slope;
		s->levels[head * s->pieces + k] = level;
		if (k + 1 == s->pieces)
			break;
		double change = (p->w1[order[k]] > 0 ? 1 : -1) * (1 - p->leak);
		slope += change * w2[order[k]] * p->w1[order[k]];
		level += change * w2[order[k]] * p->b1[order[k]];
	}
}

static pe_status find_pieces(pe_encoding *e, const struct perceptron *p)
{
	struct state *s = e->state;
	int64_t *order = pe_alloc(e->ctx, p->hidden, sizeof *order);
	if (!order)
		return PE_ERR_NOMEM;
	s->pieces = 1 + sort_breaks(p, order);
	s->breaks = pe_alloc(e->ctx, s->pieces, sizeof *s->breaks);
	s->slopes = pe_alloc(e->ctx, e->heads, (size_t)s->pieces * sizeof *s->slopes);
	s->levels = pe_alloc(e->ctx, e->heads, (size_t)s->pieces * sizeof *s->levels);
	pe_status status = s->breaks && s->slopes && s->levels ? PE_OK : PE_ERR_NOMEM;
	if (status == PE_OK) {
		for (int64_t k = 0; k + 1 < s->pieces; k++)
			s->breaks[k] = break_of(p, order[k]);
		for (int64_t h = 0; h < e->heads; h++)
			draw(s, p, h, order);
	}
	pe_free(e->ctx, order);
	return status;
}

/* ---- binding ------------------------------------------------------------------------ */

static pe_status take_numbers(pe_encoding *e)
{
	struct state *s = e->state;
	double *c, *multiplier, *length;
	struct pe_initial initial = pe_initial_constant(pe_params_real(e->params, "threshold"));
	initial.optional = true;
	PE_TRY(pe_encoding_weight(e, "c", 0, NULL, pe_initial_constant(pe_params_real(e->params, "c")), &c));
	PE_TRY(pe_encoding_weight(e, "L_multiplier", 0, NULL, pe_initial_constant(1), &multiplier));
	PE_TRY(pe_encoding_weight(e, "init_L", 0, NULL, initial, &length));
	s->c = *c;
	s->threshold = fabs(*multiplier * *length);
	return PE_OK;
}

static pe_status fill_psi(pe_encoding *e)
{
	struct state *s = e->state;
	int64_t count = pe_relative_count(e);
	if (!pe_domain_is_regular(e->queries, e->domain) || count == 0)
		return PE_OK;
	s->psi = pe_alloc(e->ctx, count, sizeof *s->psi);
	s->norms = pe_alloc(e->ctx, e->queries->tokens, sizeof *s->norms);
	if (!s->psi || !s->norms)
		return PE_ERR_NOMEM;
	double farthest =
		pe_domain_position(e->queries, 0, e->queries->tokens - 1) - pe_domain_position(e->domain, 0, 0);
	for (int64_t n = 0; n < count; n++)
		s->psi[n] = psi(s, farthest - (double)n);
	while (s->turn < count && farthest > (double)s->turn)
		s->turn++;
	for (int64_t i = 0; i < e->queries->tokens; i++)
		s->norms[i] = norm_of(s, pe_domain_position(e->queries, 0, i));
	return PE_OK;
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct state)));
	struct state *s = e->state;
	struct perceptron p;
	int64_t hidden;
	e->heads = pe_params_int(e->params, "heads");
	s->causal = pe_params_choice(e->params, "direction") == CAUSAL;
	PE_TRY(pe_encoding_size(e, "hidden", "mlp.0.weight", 2, 0, &hidden));
	PE_TRY(take_perceptron(e, hidden, &p));
	PE_TRY(take_numbers(e));
	PE_TRY(find_pieces(e, &p));
	PE_TRY(fill_psi(e));
	return pe_scores_declare(e);
}

static void release(pe_encoding *e)
{
	struct state *s = e->state;
	pe_free(e->ctx, s->breaks);
	pe_free(e->ctx, s->slopes);
	pe_free(e->ctx, s->levels);
	pe_free(e->ctx, s->psi);
	pe_free(e->ctx, s->norms);
}

static pe_status compute(pe_encoding *e, const pe_tensor *outs)
{
	return pe_scores_compute(e, scores, outs);
}

static const pe_option_info options[] = {
	PE_INT("heads", "8", 1, 4096, "attention heads"),
	PE_INT("hidden", "32", 1, 1024, "width of the hidden layer; if not set, as the given weights have"),
	PE_REAL("threshold", "512", 0, 1e15, "init_L: queries before it share one normaliser"),
	PE_REAL("c", "0.1", -1e15, 1e15, "c of psi(x) = ln(|c x| + 1) before training"),
	PE_CHOICE("direction", "bidirectional", "bidirectional|causal",
		"causal gives keys after the query distance 0: they are masked there"),
	PE_CHOICE(
		"activation", "relu", "relu|leaky_relu", "of the hidden layer; leaky_relu has slope 0.01 below 0"),
};

static const pe_preset_info presets[] = {
	{"dape", "threshold=256,activation=leaky_relu",
		"the FIRE class of the DAPE repository: LeakyReLU, and half of its init_L of 512"},
};

static const pe_weight_info weights[] = {
	{"mlp.0.weight", "(hidden, 1)", "U(-1, 1)", "first layer"},
	{"mlp.0.bias", "(hidden)", "U(-1, 1)", "first layer"},
	{"mlp.2.weight", "(heads, hidden)", "U(-1, 1)/sqrt(hidden)", "second layer"},
	{"mlp.2.bias", "(heads)", "U(-1, 1)/sqrt(hidden)", "second layer"},
	{"c", "()", "option c", "c of psi"},
	{"L_multiplier", "()", "1", "T = |L_multiplier init_L|"},
	{"init_L", "()", "option threshold", "not trained; may be missing, then option threshold holds"},
};

const struct pe_encoder pe_encoder_fire = {
	.table = PE_TABLE("fire", options, presets),
	.family = PE_SEQ,
	.summary = "a learned function of the distance, relative to the query's position",
	.help = "b_h(i, j) = f_h(psi(i - j) / (psi(max(i, T)) + 1e-6)), psi(x) = ln(|c x| + 1),\n"
			"added to the scaled scores. f is Linear(1, hidden), ReLU, Linear(hidden,\n"
			"heads); c and T = |L_multiplier init_L| are learned too. With no --weights\n"
			"the layers begin as torch.nn.Linear does.\n"
			"The distance of a query at i is set in relation to the longest there is, i,\n"
			"or to T if i is less. So the bias depends on i, which is the position of the\n"
			"query itself: with fewer queries than keys these are not counted from 0.\n"
			"Keys after the query enter by |i - j|, as in the authors' listing, still in\n"
			"relation to max(i, T): b(i, j) is not b(j, i) beyond T, and the argument of f\n"
			"can exceed 1. Under a causal mask they do not count.\n"
			"f is computed in double as the broken line that it is; sums over the hidden\n"
			"layer in another order differ in the last bits.",
	.source = "Li et al. 2024, \"Functional interpolation for relative positions\", and its listing",
	.example = "seq:128 --with fire:heads=12 -o fire.npz",
	.domains = PE_DOMAIN_SEQUENCE,
	PE_WEIGHTS(weights),
	.bind = bind,
	.release = release,
	.compute = compute,
	.scores = scores,
};
