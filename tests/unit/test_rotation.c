/* SPDX-License-Identifier: BSD-2-Clause
 * The rotation of whole queries and keys against that of one vector in double, by an encoder of the
 * test's own: types, layouts, strides, in place, several batches and threads. */
#include "xt.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "rng.h"
#include "rotation.h"

struct turning {
	struct pe_rotation rotation;
};

/* What the encoder is bound to next. */
static struct pe_rotation next;
static int64_t next_heads;

static void turn(const pe_encoding *e, const struct pe_place *at, int64_t first, int64_t count,
	double *cosine, double *sine)
{
	double position = pe_domain_position(pe_side_domain(e, at->side), at->batch, at->token);
	double side = at->side == PE_QUERIES ? 2 : 1, head = next.per_head ? (double)(at->head + 1) : 1;
	for (int64_t t = 0; t < count; t++) {
		cosine[t] = side * cos(position * head / (double)(first + t + 1));
		sine[t] = side * sin(position * head / (double)(first + t + 1));
	}
}

static pe_status bind(pe_encoding *e)
{
	PE_TRY(pe_encoding_state(e, sizeof(struct turning)));
	struct turning *s = e->state;
	s->rotation = next;
	s->rotation.turn = turn;
	e->heads = next_heads;
	return pe_rotation_declare(e);
}

static const struct pe_encoder turning = {
	.table = PE_TABLE_EMPTY("turning"),
	.family = PE_SEQ,
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
	.compute = pe_rotation_compute,
	.rotate = pe_rotation_rotate,
	.rotate_width = pe_rotation_width,
};

enum { BATCHES = 2, HEADS = 3, TOKENS = 70 };

static pe_encoding *encoding(pe_context *ctx, struct pe_rotation rotation, int64_t tokens, pe_domain **domain)
{
	pe_encoding *e;
	next = rotation;
	next_heads = rotation.per_head ? HEADS : 0;
	assert_int_equal(pe_domain_sequence(ctx, tokens, -5.5, domain), PE_OK);
	assert_int_equal(pe_encoding_create(ctx, &turning, NULL, *domain, NULL, &e), PE_OK);
	return e;
}

/* (batch, heads, tokens, width); apart: as (batch, tokens, heads, width) in memory, with gaps. */
static pe_tensor tensor(void *data, pe_dtype dtype, int64_t width, bool apart)
{
	pe_tensor t = pe_tensor_dense(data, dtype, 4, (int64_t[]){BATCHES, HEADS, TOKENS, width});
	if (apart) {
		int64_t row = width + 3;
		memcpy(t.strides, (int64_t[]){TOKENS * HEADS * row, row, HEADS * row, 1}, 4 * sizeof *t.strides);
	}
	return t;
}

static char *vector(const pe_tensor *t, int64_t b, int64_t h, int64_t i)
{
	int64_t offset = b * t->strides[0] + h * t->strides[1] + i * t->strides[2];
	return (char *)t->data + offset * (int64_t)pe_dtype_size(t->dtype);
}

static double roundings(pe_dtype dtype)
{
	return dtype == PE_F64 ? DBL_EPSILON : dtype == PE_F32 ? FLT_EPSILON : dtype == PE_F16 ? 0x1p-10 : 0x1p-7;
}

/* Every vector of y beside what rotate makes of that of x. */
static void compare(const pe_encoding *e, pe_side side, const pe_tensor *x, const pe_tensor *y)
{
	int64_t width = x->shape[3];
	double in[256], out[256], got[256];
	for (int64_t n = 0; n < BATCHES * HEADS * TOKENS; n++) {
		int64_t i = n % TOKENS, h = n / TOKENS % HEADS, b = n / TOKENS / HEADS;
		double largest = 0;
		pe_load_f64(in, vector(x, b, h, i), x->dtype, x->strides[3], width);
		pe_load_f64(got, vector(y, b, h, i), y->dtype, y->strides[3], width);
		pe_encoding_rotate_rows(e, &(struct pe_place){side, b, h, i}, 1, in, width, out, width);
		for (int64_t c = 0; c < width; c++)
			largest = fmax(largest, fabs(in[c]));
		for (int64_t c = 0; c < width; c++)
			xt_close_f64(got[c], out[c], 0, 4 * largest * roundings(y->dtype));
	}
}

static void check(pe_context *ctx, struct pe_rotation rotation, int64_t width, pe_dtype dtype, bool apart)
{
	pe_domain *domain;
	pe_encoding *e = encoding(ctx, rotation, TOKENS, &domain);
	size_t room = (size_t)(BATCHES * HEADS * TOKENS * (width + 3));
	double *values = calloc(room, sizeof *values), *x = calloc(room, sizeof *x), *y = calloc(room, sizeof *y);
	for (size_t i = 0; i < room; i++)
		values[i] = pe_rng_normal(1, 2, i);
	pe_store_f64(x, dtype, 1, values, 1, (int64_t)room);
	for (int side = PE_QUERIES; side <= PE_VALUES; side++) {
		pe_tensor from = tensor(x, dtype, width, apart), to = tensor(y, dtype, width, !apart);
		pe_tensor same = tensor(y, dtype, width, apart);
		assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &from, &to), PE_OK);
		compare(e, (pe_side)side, &from, &to);
		memcpy(y, x, room * sizeof *y);
		assert_int_equal(pe_encoding_rotate(e, (pe_side)side, &same, &same), PE_OK);
		compare(e, (pe_side)side, &from, &same);
	}
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	free(values);
	free(x);
	free(y);
}

static void whole_tensors_are_their_vectors(void **state)
{
	static const pe_dtype types[] = {PE_F64, PE_F32, PE_F16, PE_BF16};
	for (int k = 0; k < 4; k++)
		for (int apart = 0; apart < 2; apart++) {
			check(*state, (struct pe_rotation){.pairs = 32}, 64, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 32, .half = 32}, 64, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 13, .half = 20}, 40, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 32, .half = 16}, 64, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 13, .half = 5, .start = 2}, 31, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 70, .half = 70}, 141, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 5, .per_head = true}, 11, types[k], apart);
			check(*state, (struct pe_rotation){.pairs = 0}, 3, types[k], apart);
		}
}

/* In f32 a result is off by the rounding of its turn, of two products and of a sum. */
static void single_precision_is_close(void **state)
{
	enum { WIDTH = 128 };
	pe_domain *domain;
	pe_encoding *e = encoding(*state, (struct pe_rotation){.pairs = 64, .half = 64}, 1, &domain);
	float x[WIDTH], y[WIDTH];
	double in[WIDTH], out[WIDTH];
	for (int i = 0; i < WIDTH; i++)
		in[i] = x[i] = (float)pe_rng_normal(3, 4, (uint64_t)i);
	pe_tensor from = pe_tensor_dense(x, PE_F32, 4, (int64_t[]){1, 1, 1, WIDTH}), to = from;
	to.data = y;
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &from, &to), PE_OK);
	e->encoder->rotate(e, &(struct pe_place){PE_KEYS, 0, 0, 0}, in, WIDTH, out);
	for (int i = 0; i < WIDTH; i++)
		xt_close_f64(y[i], out[i], 0, FLT_EPSILON * (fabs(in[i]) + fabs(in[(i + 64) % WIDTH])));
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
}

/* So large that it is written past the caches, by two threads. */
static void large_outputs(void **state)
{
	enum { LONG = 16390, WIDTH = 128, HERE = 4 };
	(void)state;
	pe_context *ctx = xt_context(2, NULL);
	pe_domain *domain;
	pe_encoding *e = encoding(ctx, (struct pe_rotation){.pairs = 64}, LONG, &domain);
	int64_t shape[] = {1, HERE, LONG, WIDTH};
	void *x, *y;
	size_t count = (size_t)HERE * LONG * WIDTH;
	assert_int_equal(posix_memalign(&x, 64, count * sizeof(float)), 0);
	assert_int_equal(posix_memalign(&y, 64, count * sizeof(float)), 0);
	for (size_t i = 0; i < count; i++)
		((float *)x)[i] = (float)(i % 1021) / 1021;
	pe_tensor from = pe_tensor_dense(x, PE_F32, 4, shape), to = pe_tensor_dense(y, PE_F32, 4, shape);
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &from, &to), PE_OK);
	assert_int_equal(pe_encoding_rotate(e, PE_KEYS, &from, &from), PE_OK);
	assert_memory_equal(x, y, count * sizeof(float));
	double in[WIDTH], out[WIDTH];
	for (int i = 0; i < WIDTH; i++)
		in[i] = (float)(((size_t)(LONG - 1) * WIDTH + (size_t)i) % 1021) / 1021;
	e->encoder->rotate(e, &(struct pe_place){PE_KEYS, 0, 0, LONG - 1}, in, WIDTH, out);
	for (int i = 0; i < WIDTH; i++)
		xt_close_f64(((float *)y)[(LONG - 1) * WIDTH + i], out[i], 0, 3 * FLT_EPSILON);
	free(x);
	free(y);
	pe_encoding_destroy(&e);
	pe_domain_destroy(&domain);
	pe_context_destroy(&ctx);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_tensors_are_their_vectors),
		cmocka_unit_test(single_precision_is_close),
		cmocka_unit_test(large_outputs),
	};
	return xt_run(argc, argv, tests);
}
