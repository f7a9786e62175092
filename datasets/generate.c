/* SPDX-License-Identifier: BSD-2-Clause
 * Writes the datasets of this folder, and larger ones for the benchmarks.
 *
 *   generate csl                 the 150 circular skip links of Murphy et al. 2019, graph6 on stdout
 *   generate grid HEIGHT WIDTH   a grid, METIS on stdout
 *   generate qkv                 queries, keys and values of two heads and six tokens, safetensors on stdout
 *   generate sbm                 a weighted stochastic block model of 3 blocks, edge list on stdout
 *   generate weighted COUNT DIR  connected weighted graphs of 40 to 120 nodes, a TU collection in DIR
 *
 * Equal arguments give equal bytes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 0x9E3779B97F4A7C15u;

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
static uint64_t next_random(void)
{
	uint64_t z = random_state += 0x9E3779B97F4A7C15u;
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static double uniform(void)
{
	return (double)(next_random() >> 11) * 0x1p-53;
}

static int below(int n)
{
	return (int)(next_random() % (uint64_t)n);
}

/* ---- circular skip links ------------------------------------------------------------ */

enum { CSL_NODES = 41, CSL_COPIES = 15 };

static void shuffle(int *order, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int j = below(i + 1), swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
}

static void print_graph6(const unsigned char *adjacent, int n)
{
	int bits = 0, count = 0;
	putchar(63 + n); /* n ≤ 62 */
	for (int j = 1; j < n; j++)
		for (int i = 0; i < j; i++) {
			bits = 2 * bits + adjacent[i * n + j];
			if (++count == 6) {
				putchar(63 + bits);
				bits = count = 0;
			}
		}
	if (count > 0)
		putchar(63 + (bits << (6 - count)));
	putchar('\n');
}

/* A ring of 41 nodes with chords of length r, nodes shuffled: 4-regular graphs that message passing
 * cannot tell apart. */
static void write_csl(void)
{
	static const int skips[] = {2, 3, 4, 5, 6, 9, 11, 12, 13, 16};
	for (size_t s = 0; s < sizeof skips / sizeof *skips; s++)
		for (int copy = 0; copy < CSL_COPIES; copy++) {
			unsigned char adjacent[CSL_NODES * CSL_NODES] = {0};
			int order[CSL_NODES], steps[] = {1, skips[s]};
			shuffle(order, CSL_NODES);
			for (int i = 0; i < CSL_NODES; i++)
				for (int k = 0; k < 2; k++) {
					int u = order[i], v = order[(i + steps[k]) % CSL_NODES];
					adjacent[u * CSL_NODES + v] = adjacent[v * CSL_NODES + u] = 1;
				}
			print_graph6(adjacent, CSL_NODES);
		}
}

/* ---- a grid ------------------------------------------------------------------------- */

static void write_grid(int height, int width)
{
	printf("%d %d\n", height * width, height * (width - 1) + width * (height - 1));
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			int node = y * width + x + 1;
			if (y > 0)
				printf("%d ", node - width);
			if (x > 0)
				printf("%d ", node - 1);
			if (x + 1 < width)
				printf("%d ", node + 1);
			if (y + 1 < height)
				printf("%d ", node + width);
			putchar('\n');
		}
}

/* ---- a stochastic block model ------------------------------------------------------- */

static void write_sbm(void)
{
	enum { BLOCK = 40, NODES = 3 * BLOCK };
	puts("# stochastic block model: 3 blocks of 40 nodes, 0.25 inside, 0.02 between, weights 0.5 to 1.5");
	for (int u = 0; u < NODES; u++)
		for (int v = u + 1; v < NODES; v++)
			if (uniform() < (u / BLOCK == v / BLOCK ? 0.25 : 0.02))
				printf("%d %d %.6f\n", u, v, 0.5 + uniform());
}

/* ---- many weighted graphs ----------------------------------------------------------- */

static FILE *open_in(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void print_edge(FILE *edges, FILE *weights, int u, int v, double w)
{
	fprintf(edges, "%d, %d\n%d, %d\n", u, v, v, u);
	fprintf(weights, "%.17g\n%.17g\n", w, w);
}

/* Random trees with as many further edges again; weights log-uniform over two decades. */
static void write_weighted(int count, const char *folder)
{
	FILE *edges = open_in(folder, "WEIGHTED_A.txt"),
		 *weights = open_in(folder, "WEIGHTED_edge_attributes.txt");
	FILE *indicator = open_in(folder, "WEIGHTED_graph_indicator.txt");
	for (int g = 0, first = 1; g < count; g++) {
		int n = 40 + below(81);
		for (int i = 0; i < n; i++)
			fprintf(indicator, "%d\n", g + 1);
		for (int i = 1; i < n; i++)
			print_edge(edges, weights, first + i, first + below(i), pow(10, 2 * uniform() - 1));
		for (int i = 0; i < n; i++) {
			int u = below(n), v = below(n);
			if (u != v)
				print_edge(edges, weights, first + u, first + v, pow(10, 2 * uniform() - 1));
		}
		first += n;
	}
	if (fclose(edges) || fclose(weights) || fclose(indicator)) {
		perror(folder);
		exit(1);
	}
}

/* ---- queries, keys and values ------------------------------------------------------- */

enum { QKV_FLOATS = 2 * 6 * 8 };

static void write_float(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	for (int i = 0; i < 4; i++)
		putchar((int)(bits >> 8 * i & 0xff));
}

static void write_qkv(void)
{
	char header[512] = "{";
	for (int i = 0; i < 3; i++)
		snprintf(header + strlen(header), sizeof header - strlen(header),
			"%s\"%c\":{\"dtype\":\"F32\",\"shape\":[1,2,6,8],\"data_offsets\":[%d,%d]}", i ? "," : "",
			"qkv"[i], i * QKV_FLOATS * 4, (i + 1) * QKV_FLOATS * 4);
	strcat(header, "}");
	while (strlen(header) % 8 != 0)
		strcat(header, " ");
	for (size_t i = 0; i < 8; i++)
		putchar((int)(strlen(header) >> 8 * i & 0xff));
	fputs(header, stdout);
	for (int i = 0; i < 3 * QKV_FLOATS; i++)
		write_float((float)(4 * uniform() - 2));
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	if (strcmp(kind, "csl") == 0 && argc == 2)
		write_csl();
	else if (strcmp(kind, "grid") == 0 && argc == 4 && atoi(argv[2]) > 0 && atoi(argv[3]) > 0)
		write_grid(atoi(argv[2]), atoi(argv[3]));
	else if (strcmp(kind, "qkv") == 0 && argc == 2)
		write_qkv();
	else if (strcmp(kind, "sbm") == 0 && argc == 2)
		write_sbm();
	else if (strcmp(kind, "weighted") == 0 && argc == 4 && atoi(argv[2]) > 0)
		write_weighted(atoi(argv[2]), argv[3]);
	else {
		fputs("usage: generate csl | grid HEIGHT WIDTH | qkv | sbm | weighted COUNT DIR\n", stderr);
		return 2;
	}
	return fclose(stdout) != 0;
}
