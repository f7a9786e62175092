/* SPDX-License-Identifier: BSD-2-Clause
 * The loops of struct pe_depthwise_strip, once an instruction set; included after depthwise_body.h.
 * A few columns are walked down together, a vector of channels at a time. A row of x is read once and
 * multiplied for the three rows of y that it is in, whose sums are in registers, as are the weights. */

struct sums {
	vec above[PE_STRIP_COLUMNS], own[PE_STRIP_COLUMNS], below[PE_STRIP_COLUMNS];
};

/* Columns of a strip, at a channel. */
struct columns {
	const struct pe_depthwise_strip *strip;
	const float *x, *above, *below, *ahead;
	float *y, *left;
	bool last; /* zeros follow */
};

/* Adds x, of column j of -1 … n, to the sums of its neighbours and its own, as a window's row is summed. */
INLINE void add_column(vec *sum, const vec *weight, vec x, const int j, const int n)
{
	if (j > 0)
		sum[j - 1] += weight[2] * x;
	if (j >= 0 && j < n)
		sum[j] += weight[1] * x;
	if (j + 1 < n)
		sum[j + 1] += weight[0] * x;
}

/* Adds a row to the sums of those rows of y that there are. *left is the column before; it becomes the last
 * of these. */
INLINE void add_row(struct sums *s, const vec *weight, const float *x, int64_t step, float *left, bool last,
	const int n, const bool above, const bool own, const bool below)
{
	vec in = at(left);
	EACH(i, n + 2)
	{
		const int j = i - 1;
		if (j == n && last)
			in = (vec){0};
		else if (j >= 0)
			in = at(x + j * step);
		if (j == n - 1)
			*(loose_vec *)left = in;
		if (above)
			add_column(s->above, weight + 6, in, j, n);
		if (own)
			add_column(s->own, weight + 3, in, j, n);
		if (below)
			add_column(s->below, weight, in, j, n);
	}
}

/* Writes the row of y that is complete. */
INLINE void put_row(const struct pe_depthwise_strip *d, float *y, const float *x, struct sums *s, const int n,
	const bool beyond)
{
	if (d->residual) {
		EACH(k, n) s->above[k] = at(x + k * d->x_step) + s->above[k];
	}
	if (beyond && d->stream) {
		EACH(k, n) vec_stream(y + k * d->y_step, s->above[k]);
	} else {
		EACH(k, n) * (loose_vec *)(y + k * d->y_step) = s->above[k];
	}
}

INLINE void next_row(struct sums *s, vec bias, const int n)
{
	EACH(k, n)
	{
		s->above[k] = s->own[k];
		s->own[k] = s->below[k];
		s->below[k] = bias;
	}
}

/* n columns of a strip at a vector of channels; `weights` are its ten. */
INLINE void walk_down(const struct columns *c, const float *weights, const int n, const bool beyond)
{
	const struct pe_depthwise_strip copy = *c->strip, *d = &copy; /* which no store changes */
	const float *x = c->x, *ahead = c->ahead;
	const bool last = c->last;
	float *y = c->y, *left = c->left;
	vec weight[9];
	EACH(t, 9) weight[t] = at(weights + t * PE_DEPTHWISE_LANES);
	const vec bias = at(weights + 9 * PE_DEPTHWISE_LANES);
	struct sums s;
	EACH(k, n) s.own[k] = s.below[k] = bias;
	add_row(&s, weight, c->above, d->above_step, left, last, n, false, false, true);
	next_row(&s, bias, n);
	for (int64_t row = 0; row < d->rows; row++, x += d->x_row) {
		left += PE_DEPTHWISE_LANES;
		add_row(&s, weight, x, d->x_step, left, last, n, true, true, true);
		if (beyond && ahead) {
			EACH(k, n) __builtin_prefetch(ahead + k * d->ahead_step, 0, 2);
			ahead += d->ahead_row;
		}
		if (row > 0) {
			put_row(d, y, x - d->x_row, &s, n, beyond);
			y += d->y_row;
		}
		next_row(&s, bias, n);
	}
	add_row(&s, weight, c->below, d->below_step, left + PE_DEPTHWISE_LANES, last, n, true, false, false);
	put_row(d, y, x - d->x_row, &s, n, beyond);
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
	const int64_t parts = (d->columns + PE_STRIP_COLUMNS - 1) / PE_STRIP_COLUMNS;
	for (int64_t i = 0, column = 0; i < parts; i++) {
		int64_t next = (i + 1) * d->columns / parts;
		switch (next - column) {
		case 4:
			walk_channels(d, column, 4, beyond);
			break;
		case 3:
			walk_channels(d, column, 3, beyond);
			break;
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
