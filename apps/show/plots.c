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

/* The names of those that use any of `uses`. */
static void name_plots(unsigned uses, char *out, size_t size)
{
	int left = 0;
	size_t used = 0;
	for (int i = 0; plots[i]; i++)
		left += (plots[i]->uses & uses) == 0 ? 0 : 1;
	out[0] = '\0';
	for (int i = 0; plots[i] && used < size; i++)
		if (plots[i]->uses & uses)
			used += (size_t)snprintf(out + used, size - used, "%s%s", plots[i]->name,
				--left > 1 ? ", "
					: left ? " or "
						   : "");
}

void plot_names(char *out, size_t size)
{
	name_plots(~0u, out, size);
}

const struct plot *plot_find(const char *name)
{
	for (int i = 0; plots[i]; i++)
		if (strcmp(plots[i]->name, name) == 0)
			return plots[i];
	return NULL;
}

/* ---- options ------------------------------------------------------------------------ */

static const struct {
	const char *name;
	unsigned uses;
} used_options[] = {{"array", USES_ARRAY}, {"token", USES_TOKEN}, {"panels", USES_PANELS},
	{"grid", USES_GRID}, {"graph", USES_GRAPH}};

#define USED_OPTIONS (sizeof used_options / sizeof *used_options)

/* Does an option matter to this kind, drawn of this subject? */
static bool takes(const struct plot *plot, const struct subject *subject, unsigned uses)
{
	bool frame = uses == USES_TOKEN && subject->on->frames > 1;
	return (plot->uses & (frame ? uses | USES_FRAME : uses)) != 0;
}

static bool takes_all(const struct wishes *wishes, const struct subject *subject, const struct plot *plot)
{
	for (size_t i = 0; i < USED_OPTIONS; i++)
		if (cli_has(wishes->cli, used_options[i].name) && !takes(plot, subject, used_options[i].uses))
			return false;
	return true;
}

const char *plots_unused(const struct wishes *wishes, const struct subject *subject,
	const struct plot *const *used, int count, char *out, size_t size)
{
	for (size_t i = 0; i < USED_OPTIONS; i++) {
		bool taken = !cli_has(wishes->cli, used_options[i].name);
		for (int s = 0; s < count; s++)
			taken = taken || takes(used[s], subject, used_options[i].uses);
		if (taken)
			continue;
		name_plots(used_options[i].uses, out, size);
		return used_options[i].name;
	}
	return NULL;
}

/* ---- choice ------------------------------------------------------------------------- */

/* Walks are curves first; a file that holds eigenvectors too shows those. */
static bool is_walk(const struct subject *subject)
{
	return subject_find(subject, "random_walk_pe") &&
		!(subject->on->graph && subject_find(subject, "laplacian_eigenvector_pe"));
}

/* A place or an array that says nothing of what it means. */
static bool is_plain(const struct wishes *wishes, const struct subject *subject)
{
	if (has_grid(subject) || subject->on->graph)
		return false;
	const struct numbers *n = subject_find(subject, wishes->array ? wishes->array : "array");
	return n && !(n->known && numbers_are_called(n, "bias"));
}

/* The kinds to try, the most telling first. */
static const struct plot *const *order_for(const struct wishes *wishes, const struct subject *subject)
{
	static const struct plot *const grid[] = {&plot_effect, &plot_query, &plot_sheet, &plot_similarity,
		&plot_bias, NULL},
									*const line[] = {&plot_effect, &plot_bias, &plot_distance, &plot_table,
										&plot_similarity, NULL},
									*const graph[] = {&plot_effect, &plot_nodes, &plot_curves, &plot_table,
										&plot_similarity, NULL},
									*const walk[] = {&plot_effect, &plot_curves, &plot_nodes,
										&plot_similarity, NULL},
									*const values[] = {&plot_eigenvalues, &plot_table, NULL},
									*const table[] = {&plot_table, &plot_similarity, NULL};
	if (wishes->array && strstr(wishes->array, "eigenvalues"))
		return values;
	if (subject_find(subject, "cos") || is_plain(wishes, subject))
		return table;
	if (wishes->array ? strstr(wishes->array, "random_walk") != NULL : is_walk(subject))
		return walk;
	if (subject->on->graph)
		return graph;
	return has_grid(subject) ? grid : line;
}

const struct plot *plot_for(
	const struct wishes *wishes, const struct subject *subject, char *why, size_t size)
{
	const struct plot *const *order = order_for(wishes, subject), *found = NULL;
	bool placed = subject->file &&
		(cli_has(wishes->cli, "grid") || cli_has(wishes->cli, "graph") || cli_has(wishes->cli, "prefix"));
	for (int i = 0; order[i]; i++) {
		if (!order[i]->fits(wishes, subject, why, size))
			continue;
		if (takes_all(wishes, subject, order[i]))
			return order[i];
		found = found ? found : order[i];
	}
	if (found)
		return found;
	if (!placed && plot_table.fits(wishes, subject, why, size))
		return &plot_table;
	if (has_grid(subject)) /* why of the kind that one would expect */
		(void)(subject_bias(subject, wishes->array) ? plot_query : plot_similarity)
			.fits(wishes, subject, why, size);
	if (subject->tokens_only)
		snprintf(why, size,
			"%s acts on features and yields nothing of its own: give it --tokens FILE or patches",
			subject->name);
	else if (subject->count == 0)
		snprintf(why, size, "%s yields no arrays", subject->name);
	return NULL;
}
