/* SPDX-License-Identifier: BSD-2-Clause
 * Numbers as text, in the C locale whatever the program's is. */
#ifndef PE_NUMBER_H
#define PE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of text must be the number: no blanks around it. false if it is not one, or (integers)
 * does not fit. Reals are rounded correctly; "inf" and "nan" are taken as C's strtod takes them,
 * hexadecimal is not. */
bool pe_parse_i64(const char *text, size_t size, int64_t *out);
bool pe_parse_f64(const char *text, size_t size, double *out);

/* Reads the plain decimal (sign, digits, point) that text begins with, rounded correctly. Returns its length;
 * 0: there is none, or it has too many digits for the fast way: pe_parse_f64 tells. */
size_t pe_parse_decimal(const char *text, size_t size, double *out);

/* Writes value with `digits` significant digits (%.*g), at most 31 bytes and the NUL; returns the length. */
size_t pe_format_f64(char *out, double value, int digits);
/* At most 20 bytes and the NUL. */
size_t pe_format_i64(char *out, int64_t value);

/* What pe_format_f64 tries first: exact and fast for magnitudes that need few powers of ten; 0 for others. */
size_t pe_format_common(char *out, double value, int digits);

#endif
