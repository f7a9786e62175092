/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of struct pe_depthwise_strip, once an instruction set; included after depthwise_body.h.
 * A few columns are walked down together, a vector of channels at a time. A row of x is read once and
 * multiplied for the three rows of y that it is in, whose sums are in registers, as are the weights. */

/* Columns of a strip, at a channel. */
struct columns {
	const struct pe_depthwise_strip *strip;
	const float *x, *above, *below, *ahead;
	float *y, *left;
	bool last; /* zeros follow */
};

/* Sums of the rows of y above and below the row of x that is read, and of its own; and the row before them,
 * which is complete. */
struct sums {
	vec done[VEC_COLUMNS], above[VEC_COLUMNS], own[VEC_COLUMNS], below[VEC_COLUMNS];
};

struct walk {
	struct pe_depthwise_strip strip; /* a copy, which no store changes */
	vec weight[9], bias;
	struct sums sums;
	float *y, *left;
	bool last;
};

/* Adds a tap's products to sums, two products and two sums in turn: of those that alternate one by one, a
 * processor with two schedulers gives most products to one and most sums to the other. */
INLINE void add_tap(vec *sum, vec weight, const vec *in, const int n)
{
	EACH(i, n / 2)
	{
		vec *s = sum + 2 * i, a = weight * in[2 * i], b = weight * in[2 * i + 1];
		vec_keep(&a, &b);
		s[0] += a;
		s[1] += b;
		vec_keep(s, s + 1);
	}
	if (n % 2)
		sum[n - 1] += weight * in[n - 1];
}

/* Adds a row to the sums of those rows of y that there are, in the order of a window. */
INLINE void add_row(struct sums *s, const vec *weight, const vec *in, const int n, const bool above,
	const bool own, const bool below)
{
	EACH(t, 3)
	{
		if (above)
			add_tap(s->above, weight[6 + t], in + t, n);
		if (own)
			add_tap(s->own, weight[3 + t], in + t, n);
		if (below)
			add_tap(s->below, weight[t], in + t, n);
	}
}

/* Completes the row above, of which x is the middle. Ten sums and nine products are a vector of y: half of
 * the last sums go to the units that multiply. */
INLINE void next_row(struct walk *w, const float *x, const int n, const bool above)
{
	struct sums *s = &w->sums;
	EACH(k, n)
	{
		s->done[k] = s->above[k];
		if (above && w->strip.residual && k % 2 == 0)
			s->done[k] = vec_sum(at(x + k * w->strip.x_step), s->above[k]);
		else if (above && w->strip.residual)
			s->done[k] = at(x + k * w->strip.x_step) + s->above[k];
		s->above[k] = s->own[k];
		s->own[k] = s->below[k];
		s->below[k] = w->bias;
	}
}

INLINE void put_row(struct walk *w, const int n, const bool beyond)
{
	if (beyond && w->strip.stream) {
		EACH(k, n) vec_stream(w->y + k * w->strip.y_step, w->sums.done[k]);
	} else {
		EACH(k, n) * (loose_vec *)(w->y + k * w->strip.y_step) = w->sums.done[k];
	}
	w->y += w->strip.y_row;
}

/* Reads a row and, after that, writes the complete one, if there is one: were it written before, and the last
 * bits of the addresses the same, as where rows are whole pages, the processor would have the reading wait.
 */
INLINE void do_row(struct walk *w, const float *x, int64_t step, const float *middle, bool done, const int n,
	const bool beyond, const bool above, const bool own, const bool below)
{
	vec in[VEC_COLUMNS + 2];
	in[0] = at(w->left);
	EACH(k, n) in[k + 1] = at(x + k * step);
	in[n + 1] = w->last ? (vec){0} : at(x + n * step);
	*(loose_vec *)w->left = in[n];
	w->left += PE_DEPTHWISE_LANES;
	if (done)
		put_row(w, n, beyond);
	add_row(&w->sums, w->weight, in, n, above, own, below);
	next_row(w, middle, n, above);
}

/* n columns of a strip at a vector of channels; `weights` are its ten. */
INLINE void walk_down(const struct columns *c, const float *weights, const int n, const bool beyond)
{
	struct walk walk = {.strip = *c->strip, .y = c->y, .left = c->left, .last = c->last}, *w = &walk;
	const int64_t rows = w->strip.rows, row = w->strip.x_row, step = w->strip.x_step;
	const float *x = c->x, *ahead = c->ahead;
	EACH(t, 9) w->weight[t] = at(weights + t * PE_DEPTHWISE_LANES);
	w->bias = at(weights + 9 * PE_DEPTHWISE_LANES);
	EACH(k, n) w->sums.above[k] = w->sums.own[k] = w->sums.below[k] = w->bias;
	do_row(w, c->above, w->strip.above_step, NULL, false, n, beyond, false, false, true);
	do_row(w, x, step, NULL, false, n, beyond, false, true, true);
	for (int64_t i = 1; i < rows - 1; i++) {
		x += row;
		if (!beyond) {
			EACH(k, n) __builtin_prefetch(x + (n + k) * step, 0, 2);
		} else if (ahead) {
			EACH(k, n) __builtin_prefetch(ahead + k * w->strip.ahead_step, 0, 2);
			ahead += w->strip.ahead_row;
		}
		do_row(w, x, step, x - row, i > 1, n, beyond, true, true, true);
	}
	if (rows > 1) {
		x += row;
		do_row(w, x, step, x - row, rows > 2, n, beyond, true, true, false);
	}
	do_row(w, c->below, w->strip.below_step, x, rows > 1, n, beyond, true, false, false);
	put_row(w, n, beyond);
}

INLINE void walk_channels(const struct pe_depthwise_strip *d, int64_t column, const int n, const bool beyond)
{
	for (int64_t c = 0; c < d->channels; c += VEC_LANES) {
		const int64_t pack = c / PE_DEPTHWISE_LANES, lane = c % PE_DEPTHWISE_LANES;
		walk_down(&(struct columns){.strip = d,
					  .x = d->x + column * d->x_step + c,
					  .above = d->above + column * d->above_step + (d->above_step ? c : lane),
					  .below = d->below + column * d->below_step + (d->below_step ? c : lane),
					  .ahead = d->ahead ? d->ahead + column * d->ahead_step + c : NULL,
					  .y = d->y + column * d->y_step + c,
					  .left = d->left + pack * (d->rows + 2) * PE_DEPTHWISE_LANES + lane,
					  .last = d->last && column + n == d->columns},
			d->weight + pack * PE_STRIP_WEIGHTS + lane, n, beyond);
	}
}

INLINE void walk_strip(const struct pe_depthwise_strip *d, const bool beyond)
{
	const int64_t parts = (d->columns + VEC_COLUMNS - 1) / VEC_COLUMNS;
	for (int64_t i = 0, column = 0; i < parts; i++) {
		int64_t next = (i + 1) * d->columns / parts;
		switch (next - column) {
#if VEC_COLUMNS == 4
		case 4:
			walk_channels(d, column, 4, beyond);
			break;
		case 3:
			walk_channels(d, column, 3, beyond);
			break;
#endif
		case 2:
			walk_channels(d, column, 2, beyond);
			break;
		default:
			walk_channels(d, column, 1, beyond);
		}
		column = next;
	}
}

static void depthwise_strip(const struct pe_depthwise_strip *d)
{
	if (d->ahead || d->stream)
		walk_strip(d, true);
	else
		walk_strip(d, false);
	if (d->stream)
		vec_fence();
}
