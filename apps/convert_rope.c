/* SPDX-License-Identifier: BSD-2-Clause
 * posenc convert --rope: query and key projections between rotary layouts. */
#include <string.h>

#include "conversion.h"

/* A norm of each head's queries or keys stands between projection and rotation, so its weights change places
 * too. */
static const char *const usual[] = {"q_proj.weight", "k_proj.weight", "q_proj.bias", "k_proj.bias",
	"q_norm.weight", "k_norm.weight", "q_norm.bias", "k_norm.bias", NULL};
static const char *const own[] = {"head-dim", "rotary-dim", NULL};

static int take_options(struct cli *cli, struct conversion_choice *choice)
{
	int from = PE_ROTARY_HALVES; /* the words are in the order of pe_rotary_layout */
	if (!cli_choice(cli, "rope", &from))
		return EXIT_USAGE;
	choice->from = (pe_rotary_layout)from;
	choice->to = (pe_rotary_layout)(1 - from);
	if (!cli_has(cli, "head-dim"))
		return usage_error(cli, "convert needs --head-dim: the channels of one head");
	return cli_integer(cli, "head-dim", 1, INT32_MAX, &choice->head_dim) &&
			cli_integer(cli, "rotary-dim", 2, INT32_MAX, &choice->rotary_dim)
		? EXIT_DONE
		: EXIT_USAGE;
}

static bool shape(const struct conversion_choice *choice, const char *name, const pe_tensor *x, int64_t *out,
	char *why, size_t why_size)
{
	(void)choice, (void)name, (void)why, (void)why_size; /* pe_rotary_convert refuses what it must */
	memcpy(out, x->shape, sizeof x->shape);
	return true;
}

static pe_status apply(pe_context *ctx, const struct conversion_choice *choice, const char *name,
	const pe_tensor *x, const pe_tensor *y)
{
	(void)name;
	return pe_rotary_convert(ctx, choice->from, choice->to, choice->head_dim, choice->rotary_dim, x, y);
}

const struct conversion conversion_rope = {
	.option = "rope",
	.key = "rope",
	.usual = usual,
	.usual_text = ".weight or .bias of q_proj, k_proj, q_norm or k_norm",
	.own = own,
	.take_options = take_options,
	.shape = shape,
	.apply = apply,
};
