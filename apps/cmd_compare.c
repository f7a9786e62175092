/* SPDX-License-Identifier: BSD-2-Clause
 * posenc compare A B: are these the same arrays, eigenvectors up to sign and rotation? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static json_t *row_json(const pe_compare_row *row)
{
	json_t *where = json_array();
	for (int32_t d = 0; d < row->ndim; d++)
		json_array_append_new(where, json_integer(row->where[d]));
	json_t *difference = isfinite(row->difference) ? json_real(row->difference) : json_null();
	return json_pack("{s:s, s:b, s:o, s:o, s:s}", "name", row->name, "alike", row->alike, "difference",
		difference, "where", where, "note", row->note);
}

static void print_row(const pe_compare_row *row)
{
	printf("%-9s %-32s", row->alike ? "alike" : "different", row->name);
	if (row->difference == row->difference) {
		printf(" largest difference %.3g at (", row->difference);
		for (int32_t d = 0; d < row->ndim; d++)
			printf("%s%lld", d ? ", " : "", (long long)row->where[d]);
		putchar(')');
	}
	printf("%s%s\n", row->note[0] ? "  " : "", row->note);
}

static int print_comparison(struct cli *cli, const pe_compare_report *report)
{
	json_t *rows = json_array();
	for (int64_t i = 0; i < pe_compare_count(report); i++) {
		pe_compare_row row;
		if (pe_compare_at(report, i, &row) != PE_OK)
			return report_status(cli, PE_ERR_INTERNAL);
		json_array_append_new(rows, row_json(&row));
		if (!cli->json)
			print_row(&row);
	}
	json_t *all = json_pack("{s:b, s:o}", "alike", pe_compare_alike(report), "arrays", rows);
	if (cli->json)
		print_json(all);
	else
		json_decref(all);
	return pe_compare_alike(report) ? EXIT_DONE : EXIT_SOME;
}

static int run_compare(struct cli *cli)
{
	pe_compare_options options = {.size = sizeof options};
	if (cli->operand_count != 2)
		return usage_error(cli, "compare takes two files");
	const char *tolerance = cli_get(cli, "tolerance");
	if (tolerance) {
		char *end;
		options.tolerance = strtod(tolerance, &end);
		if (end == tolerance || *end || !(options.tolerance >= 0))
			return usage_error(cli, "--tolerance: \"%s\" is not a number from 0", tolerance);
	}
	options.exact = cli_has(cli, "exact");
	pe_bundle *bundles[2] = {NULL, NULL};
	pe_compare_report *report = NULL;
	pe_status status = PE_OK;
	for (int i = 0; i < 2 && status == PE_OK; i++)
		status = pe_bundle_from_file(cli->ctx, cli->operands[i], NULL, &bundles[i]);
	if (status == PE_OK)
		status = pe_compare(cli->ctx, bundles[0], bundles[1], &options, &report);
	int code = status == PE_OK ? print_comparison(cli, report) : report_status(cli, status);
	pe_compare_destroy(&report);
	pe_bundle_destroy(&bundles[0]);
	pe_bundle_destroy(&bundles[1]);
	return code;
}

static const struct cli_option options[] = {
	{"tolerance", 0, "X",
		"largest difference that still counts as alike, relative to the array's largest value (1e-6)"},
	{"exact", 0, NULL, "entry by entry, eigenvectors too, and to the bit unless --tolerance is given"},
};

const struct command command_compare = {
	.name = "compare",
	.usage = "compare A B [--tolerance X] [--exact]",
	.summary = "compare two results, eigenvectors up to sign and rotation inside groups",
	.options = options,
	.option_count = sizeof options / sizeof *options,
	.run = run_compare,
};
