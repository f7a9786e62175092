/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <string.h>

#include "xt.h"

#include "twins.h"

/* 0, 1 and 4 hang on 2 and 3; 5 on 2 alone; 6 and 7 on 3, by unequal weights; 8 and 9 have nothing; 10 and 11
 * are joined, and to 3: the edge between them makes them no twins. Rows begin at number 7. */
static const int64_t row[] = {7, 9, 11, 15, 22, 24, 25, 26, 27, 27, 27, 29, 31};
static const int32_t col[] = {2, 3, 2, 3, 0, 1, 4, 5, 0, 1, 4, 6, 7, 10, 11, 2, 3, 2, 3, 3, 3, 11, 3, 10};
static const double val[] = {1, 2, 1, 2, 1, 1, 1, 5, 2, 2, 2, 4, 3, 1, 1, 1, 2, 5, 4, 3, 1, 1, 1, 1};

static const struct pe_twin_matrix example = {.n = 12, .row = row, .col = col, .val = val};

static void classes(void **state)
{
	struct pe_twin_matrix m = example;
	struct pe_twins t;
	assert_int_equal(pe_twins_find(*state, &m, &t), PE_OK);
	const int32_t of[] = {0, 0, 1, 2, 0, 3, 4, 5, 6, 7, 8, 9};
	assert_int_equal(t.classes, 10);
	assert_memory_equal(t.of, of, sizeof of);
	const int32_t member[] = {0, 1, 4, 2, 3, 5, 6, 7, 8, 9, 10, 11};
	assert_memory_equal(t.member, member, sizeof member);
	assert_int_equal(pe_twins_size(&t, 0), 3);
	assert_int_equal(pe_twins_size(&t, 9), 1);
	pe_twins_free(*state, &t);
}

/* Without weights 6 and 7 are twins; with a diagonal that differs they are not. */
static void weights_and_diagonal(void **state)
{
	double diag[12] = {[7] = 1};
	struct pe_twin_matrix m = example;
	struct pe_twins t;
	m.val = NULL;
	assert_int_equal(pe_twins_find(*state, &m, &t), PE_OK);
	assert_int_equal(t.classes, 9);
	assert_int_equal(t.of[6], t.of[7]);
	pe_twins_free(*state, &t);
	m.diag = diag;
	assert_int_equal(pe_twins_find(*state, &m, &t), PE_OK);
	assert_int_equal(t.classes, 10);
	assert_true(t.of[6] != t.of[7]);
	pe_twins_free(*state, &t);
}

/* M (x on classes, each member x_c / √m) = (Q x) likewise, for random x. */
static void quotient(void **state)
{
	double diag[12] = {3, 3, 8, 14, 3, 5, 4, 3, 0, 0, 2, 2}, x[10], y[12];
	struct pe_twin_matrix m = example;
	struct pe_twins t;
	struct pe_twin_quotient q;
	m.diag = diag;
	assert_int_equal(pe_twins_find(*state, &m, &t), PE_OK);
	assert_int_equal(pe_twin_quotient_create(*state, &m, &t, &q), PE_OK);
	assert_int_equal(q.n, 10);
	for (int c = 0; c < 10; c++)
		x[c] = sin(3 * c + 1);
	for (int i = 0; i < 12; i++)
		y[i] = x[t.of[i]] / sqrt(pe_twins_size(&t, t.of[i]));
	for (int i = 0; i < 12; i++) {
		double whole = diag[i] * y[i], small = q.diag[t.of[i]] * x[t.of[i]];
		for (int64_t e = row[i] - 7; e < row[i + 1] - 7; e++)
			whole += val[e] * y[col[e]];
		for (int64_t e = q.row[t.of[i]]; e < q.row[t.of[i] + 1]; e++) {
			small += q.val[e] * x[q.col[e]];
			assert_true(e == q.row[t.of[i]] || q.col[e - 1] < q.col[e]);
		}
		xt_close_f64(small / sqrt(pe_twins_size(&t, t.of[i])), whole, 0, 1e-14);
	}
	pe_twin_quotient_free(*state, &q);
	pe_twins_free(*state, &t);
}

static void no_memory(void **state)
{
	double diag[12] = {0};
	struct pe_twin_matrix m = example;
	struct pe_twins t = {0};
	struct pe_twin_quotient q;
	m.diag = diag;
	struct xt_shortage s = {0};
	while (xt_shortage_next(&s)) {
		xt_shortage_begin(&s);
		pe_status status = pe_twins_find(*state, &m, &t);
		if (status == PE_OK)
			status = pe_twin_quotient_create(*state, &m, &t, &q);
		xt_shortage_end(&s, status);
		if (status == PE_OK)
			pe_twin_quotient_free(*state, &q);
		pe_twins_free(*state, &t);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(weights_and_diagonal),
		cmocka_unit_test(quotient),
		cmocka_unit_test(no_memory),
	};
	return xt_run(argc, argv, tests);
}
