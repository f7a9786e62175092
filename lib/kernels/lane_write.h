/* SPDX-License-Identifier: BSD-2-Clause
 * The vectors of a pack, written as rows of each lane. Adding 0 makes every zero positive: its sign
 * may depend on the other lanes. Included by lane_eigen_body.h. */

/* Rows from `first` on, of columns from 0 to the stride. */
static void write_rows(const struct pe_lane_batch *batch, int l, int32_t first)
{
	int32_t order = order_of_pack(batch, l / WIDTH), n = batch->orders[l] + 1, stride = batch->strides[l];
	const double *x = batch->vectors + l % WIDTH, *last = batch->last + l % WIDTH;
	double *out = batch->out[l];
	for (int32_t j = 0; j < batch->counts[l]; j++) {
		for (int32_t i = first; i < n - 1; i++)
			out[i * stride + j] = x[(j * order + i) * WIDTH] + 0.0;
		out[(n - 1) * stride + j] = last[j * WIDTH] + 0.0;
	}
}

static void clear_columns(const struct pe_lane_batch *batch, int l)
{
	int32_t stride = batch->strides[l];
	for (int32_t i = 0; i <= batch->orders[l]; i++)
		for (int32_t j = batch->counts[l]; j < stride; j++)
			batch->out[l][i * stride + j] = 0.0;
}

#if WIDTH >= 4
/* Four lanes from l on, rows 0 … rows-1, as 4 × 4 blocks. */
static void write_quads(const struct pe_lane_batch *batch, int l, int32_t rows)
{
	const quad zero = {0};
	int32_t order = order_of_pack(batch, l / WIDTH), end = 0;
	for (int k = 0; k < 4; k++)
		end = batch->strides[l + k] > end ? batch->strides[l + k] : end;
	for (int32_t j = 0; j < end; j += 4) {
		const double *x = batch->vectors + (int64_t)j * order * WIDTH + l % WIDTH;
		int64_t next = (int64_t)order * WIDTH;
		for (int32_t i = 0; i < rows; i++, x += WIDTH) {
			quad a = *(const quad *)x, b = *(const quad *)(x + next);
			quad c = *(const quad *)(x + 2 * next), d = *(const quad *)(x + 3 * next);
			quad ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6),
				 ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
			quad cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6),
				 cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
			quad out[4] = {__builtin_shufflevector(ab0, cd0, 0, 1, 4, 5),
				__builtin_shufflevector(ab1, cd1, 0, 1, 4, 5), __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7),
				__builtin_shufflevector(ab1, cd1, 2, 3, 6, 7)};
			for (int k = 0; k < 4; k++)
				if (j < batch->strides[l + k])
					*(quad *)(batch->out[l + k] + (int64_t)i * batch->strides[l + k] + j) = out[k] + zero;
		}
	}
}

static void write_pack(const struct pe_lane_batch *batch, int32_t u)
{
	for (int l = (int)u * WIDTH; l < ((int)u + 1) * WIDTH; l += 4) {
		int32_t rows = order_of_pack(batch, u);
		for (int k = 0; k < 4; k++)
			if (batch->counts[l + k] > 0)
				rows = batch->orders[l + k] < rows ? batch->orders[l + k] : rows;
		write_quads(batch, l, rows);
		for (int k = 0; k < 4; k++) {
			if (batch->counts[l + k] == 0)
				continue;
			write_rows(batch, l + k, rows);
			clear_columns(batch, l + k);
		}
	}
}
#else
static void write_pack(const struct pe_lane_batch *batch, int32_t u)
{
	for (int l = (int)u * WIDTH; l < ((int)u + 1) * WIDTH; l++) {
		if (batch->counts[l] == 0)
			continue;
		write_rows(batch, l, 0);
		clear_columns(batch, l);
	}
}
#endif
