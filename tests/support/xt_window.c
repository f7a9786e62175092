/* SPDX-License-Identifier: BSD-2-Clause */
#include "xt.h"

#include "xt_window.h"

#include <stdio.h>

#include "xt_scores.h"

pe_domain *xt_frames(pe_context *ctx, int64_t frames, int64_t height, int64_t width, int64_t prefix)
{
	pe_domain *domain;
	assert_int_equal(pe_domain_grid(ctx, frames, height, width, prefix, &domain), PE_OK);
	return domain;
}

pe_domain *xt_grid(pe_context *ctx, int64_t height, int64_t width, int64_t prefix)
{
	return xt_frames(ctx, 1, height, width, prefix);
}

bool xt_find_on_grid(const pe_bundle *golden, const char *what, const int64_t grid[3], pe_tensor *out)
{
	char name[64], frames[24] = "";
	if (grid[0] > 1)
		snprintf(frames, sizeof frames, "%lldx", (long long)grid[0]);
	snprintf(name, sizeof name, "%s.%s%lldx%lld", what, frames, (long long)grid[1], (long long)grid[2]);
	return pe_bundle_find(golden, name, out);
}

void xt_window_refuses(pe_context *ctx, const char *encoder)
{
	pe_domain *domain = xt_grid(ctx, 7, 8, 0), *frames = xt_frames(ctx, 2, 7, 8, 0);
	xt_encode_refused(
		ctx, encoder, "window=7", domain, PE_ERR_RANGE, "7 x 8 is larger than the window of 7 x 7");
	xt_encode_refused(ctx, encoder, "window=7/8/9", domain, PE_ERR_RANGE, "a height and a width");
	xt_encode_refused(ctx, encoder, "window=8.5", domain, PE_ERR_RANGE, "not a whole number");
	xt_encode_refused(ctx, encoder, "", frames, PE_ERR_UNSUPPORTED, "2 frames");
	pe_domain_destroy(&frames);
	pe_domain_destroy(&domain);
}

void xt_window_leaves_prefix_alone(pe_context *ctx, const char *encoder, const char *settings)
{
	enum { N = 12, P = 2, LAST = 5 };
	pe_domain *plain = xt_grid(ctx, 3, 4, 0), *with = xt_grid(ctx, 3, 4, P), *last;
	assert_int_equal(pe_domain_tail(ctx, with, LAST, &last), PE_OK);
	pe_encoding *e[] = {xt_encode(ctx, encoder, settings, plain, NULL, NULL, NULL),
		xt_encode(ctx, encoder, settings, with, NULL, NULL, NULL),
		xt_encode(ctx, encoder, settings, with, last, NULL, NULL)};
	pe_tensor t[] = {xt_computed(e[0], "bias"), xt_computed(e[1], "bias"), xt_computed(e[2], "bias")};
	const double *a = t[0].data, *b = t[1].data, *c = t[2].data;
	int all = N + P, nonzero = 0;
	for (int h = 0; h < 2; h++)
		for (int i = 0; i < all; i++)
			for (int j = 0; j < all; j++) {
				double x = b[(h * all + i) * all + j];
				assert_true(x == (i < P || j < P ? 0 : a[(h * N + i - P) * N + j - P]));
				nonzero += x < 0 || x > 0;
				if (i >= all - LAST)
					assert_true(x == c[(h * LAST + i - (all - LAST)) * all + j]);
			}
	assert_true(nonzero >= 2 * N * (N - 1)); /* a network may give 0 for the offset 0 */
	for (int k = 0; k < 3; k++) {
		free(t[k].data);
		pe_encoding_destroy(&e[k]);
	}
	pe_domain_destroy(&last);
	pe_domain_destroy(&with);
	pe_domain_destroy(&plain);
}
