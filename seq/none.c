/* SPDX-License-Identifier: BSD-2-Clause
 * No positional encoding: acts nowhere. Haviv et al., "Transformer language models without positional
 * encodings still learn positional information", EMNLP Findings 2022; Kazemnejad et al., "The impact of
 * positional encoding on length generalization in transformers", NeurIPS 2023. */
#include "encoder.h"

static pe_status bind(pe_encoding *e)
{
	(void)e;
	return PE_OK;
}

const struct pe_encoder pe_encoder_none = {
	.table = PE_TABLE_EMPTY("none"),
	.family = PE_SEQ,
	.summary = "no positional encoding: acts nowhere, and yields nothing",
	.help = "Attention without any encoding. Bidirectional, it does not see the order of\n"
			"the tokens: permuted tokens give permuted outputs. Under a causal mask it\n"
			"does, since a token sees as many others as come before it, and language\n"
			"models learn positions from that alone. Some models leave the encoding out\n"
			"in every fourth layer.\n"
			"It yields no arrays; it is there to be named, in attend and in comparisons.",
	.source = "Haviv et al. 2022; Kazemnejad et al. 2023",
	.example = "seq:16 --with none --with sinusoidal:dim=4",
	.domains = PE_DOMAIN_SEQUENCE,
	.bind = bind,
};
