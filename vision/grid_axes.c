/* SPDX-License-Identifier: BSD-2-Clause */
#include "grid_axes.h"

#include <math.h>
#include <string.h>

struct pe_grid_axes pe_grid_axes_of(const char *word, const pe_domain *domain)
{
	static const char letters[] = "tyx";
	struct pe_grid_axes axes = {0};
	if (strcmp(word, "auto") == 0)
		word = domain->frames > 1 ? "tyx" : "yx";
	for (; word[axes.count]; axes.count++)
		axes.number[axes.count] = (int)(strchr(letters, word[axes.count]) - letters);
	return axes;
}

int64_t pe_grid_length(const pe_domain *domain, int number)
{
	return number == 0 ? domain->frames : number == 1 ? domain->height : domain->width;
}

bool pe_grid_find(const pe_domain *domain, int64_t token, int64_t place[3])
{
	int64_t number = domain->first + token - domain->prefix, row = number / domain->width;
	if (number < 0)
		return false;
	place[2] = number - row * domain->width;
	place[0] = row / domain->height;
	place[1] = row - place[0] * domain->height;
	return true;
}

bool pe_grid_find_in_blocks(const pe_domain *domain, int64_t side, int64_t token, int64_t place[3])
{
	if (!pe_grid_find(domain, token, place))
		return false;
	if (side == 1)
		return true;
	int64_t in_frame = place[1] * domain->width + place[2], across = domain->width / side;
	int64_t block = in_frame / (side * side), inside = in_frame % (side * side);
	place[1] = block / across * side + inside / side;
	place[2] = block % across * side + inside % side;
	return true;
}

double pe_grid_divisor(
	const struct pe_grid_axes *axes, const pe_domain *domain, enum pe_divisor which, int axis)
{
	int64_t length = pe_grid_length(domain, axes->number[axis]);
	for (int i = 0; i < axes->count && which != PE_DIVISOR_OWN; i++) {
		int64_t other = pe_grid_length(domain, axes->number[i]);
		length = which == PE_DIVISOR_LARGEST ? pe_max(length, other) : pe_min(length, other);
	}
	return (double)length;
}

void pe_grid_count(const pe_domain *domain, int64_t batch, int number, int64_t *counted, int64_t *last)
{
	int64_t length = pe_grid_length(domain, number), places = domain->frames * domain->height * domain->width;
	int64_t step = number == 2 ? 1 : number == 1 ? domain->width : domain->height * domain->width;
	const uint8_t *padding = domain->padding + batch * places;
	for (int64_t line = 0; line < places / length; line++) {
		int64_t first = line / step * step * length + line % step, count = -1;
		for (int64_t i = 0, at = first; i < length; i++, at += step)
			counted[at] = count += !padding[at];
		for (int64_t i = 0, at = first; i < length; i++, at += step)
			last[at] = count;
	}
}

/* ---- channels ----------------------------------------------------------------------- */

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* In lowest terms. */
static pe_status take_shares(pe_encoding *e, int count, int64_t shares[PE_MAX_GRID_AXES], int64_t *sum)
{
	int64_t given;
	const double *list = pe_params_list(e->params, "shares", &given);
	if (given != 1 && given != count)
		return pe_encoding_fail(
			e, PE_ERR_RANGE, "shares has %lld numbers, and the grid %d axes", (long long)given, count);
	int64_t common = 0;
	bool half =
		list[0] < 1 && given == 1 && count == 3 && strcmp(pe_params_text(e->params, "axes"), "auto") == 0;
	*sum = 0;
	for (int i = 0; i < count; i++) {
		double share = given > 1 ? list[i] : half && i == 0 ? 2 : 1;
		if (share < 1 || share - floor(share) > 0)
			return pe_encoding_fail(e, PE_ERR_RANGE, "shares must be whole numbers from 1 on, not %g", share);
		shares[i] = (int64_t)share;
		common = common_divisor(shares[i], common);
	}
	for (int i = 0; i < count; i++)
		*sum += shares[i] /= common;
	return PE_OK;
}

static pe_status refuse_rest(pe_encoding *e, int64_t dim, int count, int64_t sum)
{
	return pe_encoding_fail(e, PE_ERR_RANGE,
		"dim is %lld, but must be a multiple of %lld, sine and cosine of %d axes%s; or say what becomes of "
		"the rest: rest=cut, zeros, first or last",
		(long long)dim, (long long)(2 * sum), count, sum == count ? "" : " in these shares");
}

pe_status pe_grid_deal(
	pe_encoding *e, const struct pe_grid_axes *axes, int64_t dim, int64_t widths[PE_MAX_GRID_AXES])
{
	int64_t shares[PE_MAX_GRID_AXES], sum, left = dim;
	enum pe_rest rest = (enum pe_rest)pe_params_choice(e->params, "rest");
	PE_TRY(take_shares(e, axes->count, shares, &sum));
	for (int i = 0; i < axes->count; i++) {
		int64_t pairs = dim * shares[i] / (2 * sum);
		bool broken = dim * shares[i] % (2 * sum) != 0;
		if (broken && rest == PE_REST_REFUSE)
			return refuse_rest(e, dim, axes->count, sum);
		widths[i] = 2 * (pairs + (broken && rest == PE_REST_CUT));
		left -= widths[i];
	}
	if (rest == PE_REST_FIRST || rest == PE_REST_LAST) {
		if (left % 2 != 0)
			return pe_encoding_fail(e, PE_ERR_RANGE,
				"dim is %lld: an odd channel remains, which rest=cut or rest=zeros can take", (long long)dim);
		widths[rest == PE_REST_FIRST ? 0 : axes->count - 1] += left;
	}
	for (int i = 0; i < axes->count; i++)
		if (widths[i] == 0)
			return pe_encoding_fail(e, PE_ERR_RANGE, "dim is %lld: too small for sine and cosine of %d axes",
				(long long)dim, axes->count);
	return PE_OK;
}
