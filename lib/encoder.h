/* SPDX-License-Identifier: BSD-2-Clause
 * What an encoder is: one struct of optional functions, in one file FAMILY/NAME.c that defines
 * const struct pe_encoder pe_encoder_NAME. One line X(FAMILY, NAME) in encoders.def registers it,
 * and tests/enc/test_FAMILY_NAME.c tests it. */
#ifndef PE_ENCODER_H
#define PE_ENCODER_H

#include "context.h"
#include "domain.h"
#include "options.h"
#include "tensor.h"

struct pe_encoder {
	struct pe_option_table table; /* its name and options: PE_TABLE("rope", options, presets) */
	pe_family family;
	const char *summary; /* one line */
	const char *help;    /* formula, shapes, conventions; lines of at most 78 columns */
	const char *source;  /* paper or code */
	const char *example; /* what follows "posenc encode " */

	int domains; /* the kinds it takes: PE_DOMAIN_SEQUENCE | … */

	/* Refuses what it cannot take, fills e->state, and declares its arrays with pe_declare. Never
	 * NULL. Defaults must bind on a domain of any size, 0 and 1 tokens too. */
	pe_status (*bind)(pe_encoding *e);
	/* Frees what e->state points to (e->state itself is freed for it). Called after a bind that
	 * failed, too, if there is a state. NULL: nothing to do. */
	void (*release)(pe_encoding *e);

	/* Each site where it acts; NULL: not there. */

	/* Computes the declared arrays; NULL if there are none. outs[i].data is NULL if array i is not
	 * wanted; the others have been checked: shape, strides that do not overlap, and a type that can
	 * hold the declared one. Which of those it is, pe_store_f64 and pe_store_i64 see to. */
	pe_status (*compute)(pe_encoding *e, const pe_tensor *outs);
	/* Site tokens: y ← x merged with the encoding. x and y are (batch, tokens, width) of one float
	 * type; y may be x. */
	pe_status (*tokens)(pe_encoding *e, const pe_tensor *x, const pe_tensor *y);
	/* Width of y for x of this width; NULL: the same. */
	pe_status (*tokens_width)(pe_encoding *e, int64_t width, int64_t *out);
};

struct pe_encoding {
	pe_context *ctx;
	const struct pe_encoder *encoder;
	pe_params *params; /* its own copy */
	const pe_domain *domain;
	void *state; /* the encoder's */
	pe_array_info arrays[PE_MAX_ARRAYS];
	int64_t array_count;
	pe_quality quality;
	int64_t *failed; /* quality.failed graphs */
	char **failures; /* why, one each */
	int64_t failure_capacity;
};

/* e->state: size bytes, zeroed, freed with e. */
pe_status pe_encoding_state(pe_encoding *e, size_t size) PE_NODISCARD;

/* Declares an array, at most PE_MAX_ARRAYS; name must be a literal. dtype is PE_F64, or PE_I64 or
 * PE_I32: what is computed, not what the caller stores. per_token says that the first dimension
 * counts tokens. */
void pe_declare(
	pe_encoding *e, const char *name, pe_dtype dtype, int32_t ndim, const int64_t *shape, bool per_token);

/* Notes that graph number `graph` failed, and why (ctx's message). Graphs come in ascending order. */
pe_status pe_encoding_note_failure(pe_encoding *e, int64_t graph, const char *why) PE_NODISCARD;

/* "sinusoidal: " before the text, with the encoder's name. */
pe_status pe_encoding_fail(pe_encoding *e, pe_status status, const char *text, ...) PE_PRINTF(3, 4);

#endif
