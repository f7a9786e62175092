/* SPDX-License-Identifier: BSD-2-Clause */
#include "plots.h"

#include <stdio.h>
#include <string.h>

const struct plot *const plots[] = {
	&plot_sheet,
	&plot_similarity,
	&plot_matrix,
	&plot_profile,
	&plot_spectrum,
	&plot_table,
	&plot_bias,
	&plot_query,
	&plot_distance,
	&plot_nodes,
	&plot_eigenvalues,
	&plot_curves,
	&plot_effect,
	NULL,
};

void plot_names(char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (int i = 0; plots[i] && used < size; i++) {
		const char *between = i == 0 ? "" : plots[i + 1] ? ", " : " or ";
		used += (size_t)snprintf(out + used, size - used, "%s%s", between, plots[i]->name);
	}
}

const struct plot *plot_find(const char *name)
{
	for (int i = 0; plots[i]; i++)
		if (strcmp(plots[i]->name, name) == 0)
			return plots[i];
	return NULL;
}

/* Walks are curves first; a file that holds eigenvectors too shows those. */
static bool is_walk(const struct subject *subject)
{
	return subject_find(subject, "random_walk_pe") &&
		!(subject->on->graph && subject_find(subject, "laplacian_eigenvector_pe"));
}

/* The kinds to try, the most telling first. */
static const struct plot *const *order_for(const struct wishes *wishes, const struct subject *subject)
{
	static const struct plot
		*const grid[] = {&plot_effect, &plot_query, &plot_sheet, &plot_similarity, NULL},
			   *const one[] = {&plot_effect, &plot_query, &plot_similarity, NULL},
			   *const line[] = {&plot_effect, &plot_bias, &plot_distance, &plot_table, NULL},
			   *const graph[] = {&plot_effect, &plot_nodes, &plot_curves, &plot_table, NULL},
			   *const walk[] = {&plot_effect, &plot_curves, NULL},
			   *const values[] = {&plot_eigenvalues, &plot_table, NULL}, *const table[] = {&plot_table, NULL};
	if (wishes->array && strstr(wishes->array, "eigenvalues"))
		return values;
	if (wishes->array && !subject_bias(subject, wishes->array) && !has_grid(subject) && !subject->on->graph)
		return table;
	if (subject_find(subject, "cos"))
		return table;
	if (wishes->array ? strstr(wishes->array, "random_walk") != NULL : is_walk(subject))
		return walk;
	if (subject->on->graph)
		return graph;
	return !has_grid(subject) ? line : wishes->token ? one : grid;
}

const struct plot *plot_for(
	const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct plot *const *order = order_for(wishes, subject);
	for (int i = 0; order[i]; i++)
		if (order[i]->fits(wishes, subject, why, size))
			return order[i];
	if (plot_table.fits(wishes, subject, why, size))
		return &plot_table;
	if (subject->tokens_only)
		snprintf(why, size,
			"%s acts on features and yields nothing of its own: give it --tokens FILE or patches",
			subject->name);
	else if (subject->count == 0)
		snprintf(why, size, "%s yields no arrays", subject->name);
	return NULL;
}
