/* SPDX-License-Identifier: BSD-2-Clause */
#include "ticks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The smallest of 1, 2, 5 × 10^n that is at least this. */
static double round_step(double least)
{
	double power = pow(10, floor(log10(least)));
	for (int i = 0; i < 3; i++) {
		double step = power * (i == 0 ? 1 : i == 1 ? 2 : 5);
		if (step >= least * (1 - 1e-9))
			return step;
	}
	return 10 * power;
}

struct ticks ticks_between(double low, double high, int most, bool whole)
{
	struct ticks out = {0};
	most = most < 2 ? 2 : most > MAX_TICKS - 1 ? MAX_TICKS - 1 : most;
	double span = high - low;
	out.step = span > 0 ? round_step(span / most) : 1;
	if (whole && out.step < 1)
		out.step = 1;
	for (double i = ceil(low / out.step - 1e-9);
		 out.count < MAX_TICKS && i * out.step <= high + 1e-9 * out.step; i++)
		out.values[out.count++] = i * out.step + 0.0; /* no -0 */
	return out;
}

void tick_text(char *out, size_t size, double value, double step)
{
	double most = fmax(fabs(value), step);
	int digits = (int)fmax(0, -floor(log10(step) + 1e-9));
	if (fabs(value) < step * 1e-6)
		snprintf(out, size, "0");
	else if (most >= 1e6 || digits > 5)
		snprintf(out, size, "%.3g", value);
	else
		snprintf(out, size, "%.*f", digits, value);
	char *minus = strchr(out, '-'); /* the sign, not the hyphen */
	if (minus == out && strlen(out) + 3 < size) {
		memmove(out + 3, out + 1, strlen(out));
		memcpy(out, "−", 3);
	}
}
