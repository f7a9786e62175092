/* SPDX-License-Identifier: BSD-2-Clause
 * The line of progress: rates of the work under way, never of what was before. */
#include "xt.h"

#include "progress.h"

static void tells_rate_and_time_left(void **state)
{
	(void)state;
	struct progress p = {0};
	char text[100];
	assert_false(progress_line(&p, "lap", 0, 50, 100, text, sizeof text));
	assert_false(progress_line(&p, "lap", 5, 50, 100.9, text, sizeof text));
	assert_true(progress_line(&p, "lap", 20, 50, 105, text, sizeof text));
	assert_string_equal(text, "lap  40 %  8.0 %/s  8 s left");
}

static void begins_anew(void **state)
{
	(void)state;
	struct progress p = {0};
	char text[100], rwse[] = "rwse", again[] = "rwse";
	assert_false(progress_line(&p, "lap", 0, 50, 100, text, sizeof text));
	assert_true(progress_line(&p, "lap", 50, 50, 200, text, sizeof text));
	/* Another stage. */
	assert_false(progress_line(&p, rwse, 1, 10, 200.5, text, sizeof text));
	assert_true(progress_line(&p, again, 2, 10, 202.5, text, sizeof text)); /* the same by its name */
	assert_string_equal(text, "rwse  20 %  10.0 %/s  8 s left");
	/* The same stage over another input. */
	assert_false(progress_line(&p, rwse, 1, 10, 203, text, sizeof text));
	assert_true(progress_line(&p, rwse, 5, 10, 205, text, sizeof text));
	assert_string_equal(text, "rwse  50 %  25.0 %/s  2 s left");
	/* Told anew, it begins even where the first report is of more than was done before. */
	p = (struct progress){0};
	assert_false(progress_line(&p, rwse, 6, 10, 300, text, sizeof text));
}

static void divides_by_nothing(void **state)
{
	(void)state;
	struct progress p = {0};
	char text[100];
	assert_false(progress_line(&p, "lap", 0, 0, 100, text, sizeof text));
	assert_false(progress_line(&p, "lap", 0, 0, 102, text, sizeof text));
	assert_false(progress_line(&p, "lap", 0, 5, 103, text, sizeof text));
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_rate_and_time_left),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(divides_by_nothing),
	};
	return xt_run(argc, argv, tests);
}
