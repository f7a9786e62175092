/* SPDX-License-Identifier: BSD-2-Clause
 * A graph: edges as thin lines, nodes as discs in the colour of their value. */
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "draw.h"
#include "numbers.h"

/* Nodes far from 0 are drawn last, and so seen. */
static struct ranked *order_of(const struct panel *panel)
{
	const struct net *net = &panel->net;
	double middle = panel->scale.map == COLORMAP_DIVERGING ? 0 : panel->scale.low;
	struct ranked *out = get_memory((size_t)net->nodes, sizeof *out);
	for (int64_t i = 0; i < net->nodes; i++)
		out[i] = (struct ranked){isfinite(net->values[i]) ? fabs(net->values[i] - middle) : -1, i};
	qsort(out, (size_t)net->nodes, sizeof *out, compare_ranked);
	return out;
}

static double node_radius(const struct panel *panel)
{
	double radius = 0.25 * panel->width / sqrt((double)panel->net.nodes + 1);
	return fmin(fmax(radius, 1.3), panel->width / 45.0);
}

static void place(const struct panel *panel, int64_t node, double *out)
{
	double edge = panel->width / 40.0 + 3;
	out[0] = panel->left + edge + panel->net.x[node] * (panel->width - 2 * edge);
	out[1] = panel->top + edge + panel->net.y[node] * (panel->height - 2 * edge);
}

void draw_net(const struct panel *panel, struct canvas *canvas)
{
	const struct net *net = &panel->net;
	double ends[4], alpha = fmin(0.8, fmax(0.15, 30 / sqrt((double)net->edges + 1)));
	for (int64_t e = 0; e < net->edges; e++) {
		place(panel, net->from[e], ends);
		place(panel, net->to[e], ends + 2);
		canvas->kind->line(canvas, ends, 2, 0.8, (struct rgb){0x70, 0x70, 0x70}, alpha);
	}
	struct ranked *order = order_of(panel);
	double radius = node_radius(panel);
	for (int64_t i = 0; i < net->nodes; i++) {
		place(panel, order[i].node, ends);
		canvas->kind->disc(
			canvas, ends[0], ends[1], radius + (radius > 2 ? 0.8 : 0.4), (struct rgb){0x50, 0x50, 0x50});
		canvas->kind->disc(
			canvas, ends[0], ends[1], radius, color_of(&panel->scale, net->values[order[i].node]));
	}
	free(order);
}
