/* SPDX-License-Identifier: BSD-2-Clause
 * A header is a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
 * It is read as just that, keys in any order, and nothing else of the language. */
#include <stdio.h>
#include <string.h>

#include "io/formats.h"
#include "io/npy.h"
#include "number.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define MAX_DESCR 16

struct cursor {
	const char *at, *end;
};

static void blanks(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t'))
		c->at++;
}

/* Takes a character, after blanks. */
static bool take(struct cursor *c, char wanted)
{
	blanks(c);
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool take_word(struct cursor *c, const char *word)
{
	size_t length = strlen(word);
	blanks(c);
	if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
		return false;
	c->at += length;
	return true;
}

static bool take_string(struct cursor *c, char *out, size_t room)
{
	blanks(c);
	char quote = c->at < c->end ? *c->at : '\0';
	if ((quote != '\'' && quote != '"') || !take(c, quote))
		return false;
	const char *end = memchr(c->at, quote, (size_t)(c->end - c->at));
	if (!end || (size_t)(end - c->at) >= room)
		return false;
	memcpy(out, c->at, (size_t)(end - c->at));
	out[end - c->at] = '\0';
	c->at = end + 1;
	return true;
}

/* A count; Python 2 wrote long ones as 3L. */
static bool take_count(struct cursor *c, int64_t *out)
{
	blanks(c);
	const char *start = c->at;
	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	bool good = pe_parse_i64(start, (size_t)(c->at - start), out);
	if (c->at < c->end && *c->at == 'L')
		c->at++;
	return good;
}

/* "()", "(3,)" or "(3, 4)". Dimensions beyond PE_MAX_DIMS are counted, not kept. */
static bool take_shape(struct cursor *c, struct pe_stored_array *a)
{
	if (!take(c, '('))
		return false;
	a->ndim = 0;
	while (!take(c, ')')) {
		int64_t dimension;
		if (!take_count(c, &dimension))
			return false;
		if (a->ndim < PE_MAX_DIMS)
			a->shape[a->ndim] = dimension;
		a->ndim++;
		if (!take(c, ',')) /* (3) is the number 3, and no shape */
			return a->ndim > 1 && take(c, ')');
	}
	return true;
}

struct header {
	char descr[MAX_DESCR];
	bool has_descr, has_order, has_shape;
	bool structured;
};

static bool take_descr(struct cursor *c, struct header *h)
{
	blanks(c);
	h->has_descr = true;
	h->structured = c->at < c->end && (*c->at == '[' || *c->at == '(');
	return h->structured || take_string(c, h->descr, sizeof h->descr);
}

static bool take_entry(struct cursor *c, struct header *h, struct pe_stored_array *a)
{
	char key[MAX_DESCR];
	if (!take_string(c, key, sizeof key) || !take(c, ':'))
		return false;
	if (strcmp(key, "descr") == 0 && !h->has_descr)
		return take_descr(c, h);
	if (strcmp(key, "fortran_order") == 0 && !h->has_order) {
		h->has_order = true;
		a->fortran = take_word(c, "True");
		return a->fortran || take_word(c, "False");
	}
	if (strcmp(key, "shape") == 0 && !h->has_shape) {
		h->has_shape = true;
		return take_shape(c, a);
	}
	return false;
}

static bool take_header(struct cursor *c, struct header *h, struct pe_stored_array *a)
{
	if (!take(c, '{'))
		return false;
	while (!take(c, '}')) {
		if (!take_entry(c, h, a))
			return false;
		if (h->structured)
			return true; /* it is refused anyway */
		if (!take(c, ',')) {
			if (!take(c, '}'))
				return false;
			break;
		}
	}
	blanks(c);
	return c->at == c->end && h->has_descr && h->has_order && h->has_shape;
}

/* ---- descr --------------------------------------------------------------------------- */

static bool kind_of(char letter, enum pe_element_kind *out)
{
	static const struct {
		char letter;
		enum pe_element_kind kind;
	} kinds[] = {{'f', PE_ELEMENT_FLOAT}, {'i', PE_ELEMENT_INT}, {'u', PE_ELEMENT_UINT},
		{'b', PE_ELEMENT_BOOL}, {'S', PE_ELEMENT_BYTES}, {'a', PE_ELEMENT_BYTES}, {'U', PE_ELEMENT_UNICODE}};
	for (int64_t i = 0; i < PE_COUNT(kinds); i++)
		if (kinds[i].letter == letter) {
			*out = kinds[i].kind;
			return true;
		}
	return false;
}

static const char *foreign_type(char letter)
{
	return letter == 'O' ? "Python objects (save it with a numeric dtype)"
		: letter == 'c'  ? "complex numbers"
		: letter == 'M'  ? "dates"
		: letter == 'm'  ? "time spans"
		: letter == 'V'  ? "raw bytes"
						 : NULL;
}

static pe_status read_descr(
	pe_context *ctx, const char *source, const struct header *h, struct pe_stored_array *a)
{
	const char *d = h->descr;
	if (h->structured)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "%s: %s has several fields in an element", source, a->name);
	char order = *d;
	if (order == '<' || order == '>' || order == '|' || order == '=')
		d++;
	a->big_endian = order == '>' || (order != '<' && pe_is_big_endian());
	if (*d && foreign_type(*d))
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "%s: %s holds %s", source, a->name, foreign_type(*d));
	if (!*d || !kind_of(*d, &a->kind) || !pe_parse_i64(d + 1, strlen(d + 1), &a->width) || a->width < 0 ||
		a->width > INT32_MAX)
		return pe_fail(
			ctx, PE_ERR_UNSUPPORTED, "%s: %s has the unknown element type '%s'", source, a->name, h->descr);
	if (a->kind == PE_ELEMENT_UNICODE)
		a->width *= 4;
	return PE_OK;
}

/* ---- the whole ----------------------------------------------------------------------- */

bool pe_is_npy(const char *bytes, size_t size)
{
	return size >= MAGIC_SIZE + 2 && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

/* Where the header text is; false if there is not that much. */
static bool find_header(const char *bytes, size_t size, struct cursor *out)
{
	const unsigned char *b = (const unsigned char *)bytes;
	size_t prefix = b[MAGIC_SIZE] == 1 ? MAGIC_SIZE + 4 : MAGIC_SIZE + 6;
	if (size < prefix)
		return false;
	size_t length = 0;
	for (size_t i = prefix; i-- > MAGIC_SIZE + 2;)
		length = length << 8 | b[i];
	*out = (struct cursor){bytes + prefix, bytes + prefix + length};
	return length <= size - prefix;
}

pe_status pe_npy_parse(
	pe_context *ctx, const char *bytes, size_t size, const char *source, struct pe_stored_array *array)
{
	struct cursor c = {NULL, NULL};
	struct header h = {0};
	if (!pe_is_npy(bytes, size))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: %s is not .npy data", source, array->name);
	if (bytes[MAGIC_SIZE] < 1 || bytes[MAGIC_SIZE] > 3 || bytes[MAGIC_SIZE + 1] != 0)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "%s: %s is .npy of version %d.%d; 1.0 to 3.0 are known",
			source, array->name, bytes[MAGIC_SIZE], bytes[MAGIC_SIZE + 1]);
	if (!find_header(bytes, size, &c))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: the .npy header of %s is cut short", source, array->name);
	const char *data = c.end;
	if (!take_header(&c, &h, array))
		return pe_fail(ctx, PE_ERR_FORMAT, "%s: the .npy header of %s is malformed", source, array->name);
	PE_TRY(read_descr(ctx, source, &h, array));
	if (array->ndim > PE_MAX_DIMS)
		return pe_fail(
			ctx, PE_ERR_UNSUPPORTED, "%s: %s has more than %d dimensions", source, array->name, PE_MAX_DIMS);
	array->bytes = data;
	array->size = size - (size_t)(data - bytes);
	return PE_OK;
}

size_t pe_npy_header(char *out, pe_dtype dtype, int32_t ndim, const int64_t *shape)
{
	static const char *const letters[] = {[PE_F64] = "f8",
		[PE_F32] = "f4",
		[PE_F16] = "f2",
		[PE_I64] = "i8",
		[PE_I32] = "i4",
		[PE_U8] = "u1",
		[PE_BOOL] = "b1"};
	const size_t prefix = MAGIC_SIZE + 4;
	char order = dtype == PE_U8 || dtype == PE_BOOL ? '|' : pe_is_big_endian() ? '>' : '<';
	size_t at = prefix;
	memset(out, ' ', PE_NPY_HEADER);
	at += (size_t)snprintf(out + at, PE_NPY_HEADER - at,
		"{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, letters[dtype]);
	for (int32_t d = 0; d < ndim; d++)
		at += (size_t)snprintf(out + at, PE_NPY_HEADER - at, "%lld%s", (long long)shape[d],
			d + 1 < ndim    ? ", "
				: ndim == 1 ? ","
							: "");
	at += (size_t)snprintf(out + at, PE_NPY_HEADER - at, "), }");
	out[at] = ' '; /* the NUL */
	size_t size = (at + 1 + 63) / 64 * 64;
	out[size - 1] = '\n';
	memcpy(out, MAGIC "\x01\x00", MAGIC_SIZE + 2);
	out[MAGIC_SIZE + 2] = (char)((size - prefix) & 0xff);
	out[MAGIC_SIZE + 3] = (char)((size - prefix) >> 8);
	return size;
}
