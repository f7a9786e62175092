/* SPDX-License-Identifier: BSD-2-Clause
 * Encoder lap on larger graphs: the choice of engine, certificates, groups that are large. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "xt.h"

#include "xt_lap.h"

static struct xt_edges two_parts(void)
{
	struct xt_edges a = xt_random_graph(3, 420, 300, 1), b = xt_random_graph(4, 130, 60, 0),
					e = xt_union(&a, &b);
	struct xt_edges c = xt_cycle(30), all = xt_union(&e, &c);
	all.n += 3;
	xt_edges_free(&a);
	xt_edges_free(&b);
	xt_edges_free(&c);
	xt_edges_free(&e);
	return all;
}

/* The same values and projectors by every engine, components of all sizes. */
static void engines_agree(void **state)
{
	static const char *const engines[] = {"auto", "dense", "shift_invert", "block"};
	struct xt_edges e = two_parts();
	struct xt_lap first = {0};
	double *l = xt_laplacian(&e, true, false, false, NULL);
	for (int i = 0; i < 4; i++) {
		char settings[64];
		snprintf(settings, sizeof settings, "engine=%s,k=10,group=complete", engines[i]);
		struct xt_lap lap = xt_lap_of(*state, &e, NULL, settings);
		if (lap.status != PE_OK)
			fail_msg("%s: %s", engines[i], lap.message);
		int columns = 0;
		while (columns < 10 && lap.groups[columns] >= 0)
			columns++;
		xt_check_pairs(l, e.n, &lap, columns, 1e-10);
		if (i == 0) {
			assert_true(columns >= 9);
			first = lap;
			continue;
		}
		assert_memory_equal(lap.groups, first.groups, 10 * sizeof *lap.groups);
		for (int j = 0; j < columns; j++)
			xt_close_f64(lap.values[j], first.values[j], 0, 1e-12);
		/* Canonical: not only the projectors, the vectors themselves. */
		for (int t = 0; t < e.n * 10; t++)
			xt_close_f64(lap.vectors[t], first.vectors[t], 0, 1e-6);
		xt_lap_free(&lap);
	}
	free(l);
	xt_lap_free(&first);
	xt_edges_free(&e);
}

struct log {
	int infos, warnings;
	char text[2000];
};

static void note(void *opaque, pe_log_level level, const char *text)
{
	struct log *log = opaque;
	log->infos += level == PE_LOG_INFO;
	log->warnings += level == PE_LOG_WARNING;
	strncat(log->text, text, sizeof log->text - strlen(log->text) - 2);
	strcat(log->text, "\n");
}

static struct xt_lap run_logged(
	const struct xt_edges *e, const char *graph_settings, const char *settings, struct log *log)
{
	pe_context_options options = {.size = sizeof options, .log = note, .opaque = log};
	pe_context *ctx;
	assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
	pe_graph *graph = xt_graph(ctx, e, 1, graph_settings);
	*log = (struct log){0};
	struct xt_lap lap = xt_lap(ctx, graph, settings);
	pe_graph_destroy(&graph);
	pe_context_destroy(&ctx);
	return lap;
}

static void what_is_said(void **state)
{
	(void)state;
	struct log log;
	struct xt_edges e = xt_random_graph(3, 700, 900, 0), cycle = xt_cycle(9);
	struct xt_lap lap = run_logged(&e, NULL, "engine=shift_invert", &log);
	assert_non_null(strstr(log.text, "lap: 700 nodes: shift-invert"));
	assert_int_equal(log.warnings, 0);
	xt_lap_free(&lap);
	lap = run_logged(&cycle, NULL, "k=3", &log);
	assert_non_null(strstr(log.text, "in 1 of 1 graphs k=3 cuts through a group of equal eigenvalues"));
	assert_int_equal(log.warnings, 1);
	xt_lap_free(&lap);
	lap = run_logged(&cycle, NULL, "k=4", &log);
	assert_int_equal(log.warnings, 0);
	xt_lap_free(&lap);
	lap = run_logged(&cycle, NULL, "k=9,pad=nan", &log);
	assert_non_null(strstr(log.text, "fewer than k=9 columns and are filled up with NaN"));
	assert_int_equal(log.warnings, 1);
	xt_lap_free(&lap);
	cycle.directed = true;
	xt_join(&cycle, 2, 2, 1);
	lap = run_logged(&cycle, NULL, "k=4", &log);
	assert_non_null(strstr(log.text, "undirected"));
	assert_non_null(strstr(log.text, "1 self loops are left out"));
	assert_int_equal(log.warnings, 2);
	xt_lap_free(&lap);
	lap = run_logged(&cycle, "loops=keep", "k=4", &log);
	assert_null(strstr(log.text, "self loops"));
	xt_lap_free(&lap);
	xt_edges_free(&e);
	xt_edges_free(&cycle);
}

static void certificates(void **state)
{
	struct xt_edges e = xt_random_graph(3, 700, 900, 0);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "engine=shift_invert");
	assert_int_equal(lap.status, PE_OK);
	assert_int_equal(lap.quality.certified, 1);
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "engine=shift_invert,certify=require");
	assert_int_equal(lap.status, PE_OK);
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "engine=shift_invert,certify=off");
	assert_int_equal(lap.status, PE_OK);
	assert_int_equal(lap.quality.uncertified, 1);
	assert_int_equal(lap.quality.certified, 0);
	xt_lap_free(&lap);
	xt_edges_free(&e);
	/* Null vectors alone are known exactly. */
	e = two_parts();
	lap = xt_lap_of(*state, &e, NULL, "k=6,zero=keep,certify=require,engine=shift_invert");
	assert_int_equal(lap.status, PE_OK);
	assert_int_equal(lap.quality.certified, 1);
	xt_close_f64(lap.values[5], 0, 0, 0);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

/* A group of 299 equal values, too many for an iteration: the basis is that of the rule all the same. */
static void a_very_large_group(void **state)
{
	struct xt_edges e = xt_complete(300);
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "k=5");
	assert_int_equal(lap.status, PE_OK);
	assert_int_equal(lap.quality.split_groups, 1);
	for (int j = 0; j < 5; j++)
		for (int i = 0; i < 300; i++) {
			double rest = 300 - j, length = sqrt(1 - 1 / rest);
			xt_close_f64(lap.vectors[i * 5 + j], i < j ? 0 : i == j ? length : -1 / rest / length, 0, 1e-11);
		}
	xt_lap_free(&lap);
	lap = xt_lap_of(*state, &e, NULL, "k=5,group=complete");
	for (int j = 0; j < 5; j++)
		assert_int_equal(lap.groups[j], -1);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

/* Many small components of one graph, and many nodes without edges: nothing quadratic in their number. */
static void many_components(void **state)
{
	struct xt_edges e = xt_empty(60000);
	for (int i = 0; i < 30000; i += 3) {
		xt_join(&e, i, i + 1, 1);
		xt_join(&e, i + 1, i + 2, 1 + i % 7);
	}
	struct xt_lap lap = xt_lap_of(*state, &e, NULL, "isolated=1");
	assert_int_equal(lap.status, PE_OK);
	assert_true(lap.quality.max_residual < 1e-14);
	for (int j = 0; j < 8; j++)
		xt_close_f64(lap.values[j], 1, 1e-12, 0); /* sym paths of three: 0, 1, 2; isolated nodes: 1 */
	xt_close_f64(lap.vectors[30000 * 8], 1, 1e-12, 0);
	xt_lap_free(&lap);
	xt_edges_free(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_agree),
		cmocka_unit_test(what_is_said),
		cmocka_unit_test(certificates),
		cmocka_unit_test(a_very_large_group),
		cmocka_unit_test(many_components),
	};
	return xt_run(argc, argv, tests);
}
