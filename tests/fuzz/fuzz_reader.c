/* SPDX-License-Identifier: BSD-2-Clause
 * libFuzzer target of one graph reader, named by -DREADER=pe_reader_gml: reads, builds the graph, and checks
 * that a refusal says why. */
#include "fuzz_graphs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	pe_context *ctx = fuzz_context();
	if (!ctx)
		return 0;
	struct pe_source source = {(const char *)data, size, "fuzz"};
	/* The policies take turns. */
	struct pe_graph_policy policy = {
		.edges = (enum pe_direction)(size % 3), .weight_column = -(int32_t)(size % 2)};
	struct pe_raw_graphs raw;
	if (READER.recognise)
		(void)READER.recognise(&source);
	if (READER.plausible)
		(void)READER.plausible(&source);
	fuzz_judge(ctx, READER.read(ctx, &source, &policy, &raw), "fuzz:", &raw, &policy);
	pe_context_destroy(&ctx);
	return 0;
}
