/* SPDX-License-Identifier: BSD-2-Clause
 * 64 bytes at a time, wherever rows begin in them: for every byte, the number that would end before it; then
 * those that do are picked out. The including file defines
 *   PICKED                    so many numbers pick() may write, whatever their count
 *   find(at, c)               a bit for each of the 64 bytes that is c
 *   find_digits(at)           likewise, that is a digit
 *   struct values, evaluate   the values before every byte, of which runs[n] says that n digits stand there
 *   pick(values, places, count, out)   those at the `count` set bits of places */

#define BYTES 64

struct progress {
	uint64_t digits; /* of the bytes before */
	int64_t us, vs;  /* numbers taken; the last row may still lack its second */
};

/* The first, the third, … of the set bits. */
static inline uint64_t every_other(uint64_t x)
{
	uint64_t odd = x; /* is the number of bits from here down odd? */
	for (int shift = 1; shift < 64; shift *= 2)
		odd ^= odd << shift;
	return x & odd;
}

/* Takes the numbers that end in the 64 bytes at `at`; false if there is anything but whole rows, or parts. */
static inline bool take(struct progress *p, const char *at, uint64_t feeds, int32_t *u, int32_t *v)
{
	uint64_t commas = find(at, ','), digits = find_digits(at), ends = commas | feeds;
	uint64_t runs[6] = {~(uint64_t)0};
	for (int n = 1; n < 6; n++)
		runs[n] = runs[n - 1] & (digits << n | p->digits >> (64 - n));
	uint64_t wrong = ~(digits | ends) | (ends & ~runs[1]) | (ends & runs[5]);
	if (wrong || every_other(ends) != (p->us == p->vs ? commas : feeds))
		return false;
	int64_t new_us = __builtin_popcountll(commas), new_vs = __builtin_popcountll(feeds);
	struct values values;
	evaluate(at, runs, (ends & runs[3]) != 0, &values);
	pick(&values, commas, new_us, u + p->us);
	pick(&values, feeds, new_vs, v + p->vs);
	*p = (struct progress){digits, p->us + new_us, p->vs + new_vs};
	return true;
}

static int64_t number_pairs(const char **from, const char *end, int64_t rows, int32_t *u, int32_t *v)
{
	/* One row first: behind it there are bytes to look back at. */
	int64_t first = pe_number_pairs8(from, end, rows < 1 ? rows : 1, u, v);
	struct progress p = {.us = first, .vs = first};
	const char *done = *from;
	for (const char *at = done; first == 1 && end - at >= BYTES && rows - p.us >= PICKED; at += BYTES) {
		uint64_t feeds = find(at, '\n');
		if (!take(&p, at, feeds, u, v))
			break;
		done = feeds ? at + BYTES - __builtin_clzll(feeds) : done;
	}
	*from = done;
	return p.vs + pe_number_pairs8(from, end, rows - p.vs, u + p.vs, v + p.vs);
}
