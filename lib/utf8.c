/* SPDX-License-Identifier: BSD-2-Clause
 * UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "bundle.h"

/* Bytes of the character that starts at s, of which `left` are there; 0 if it is not valid. */
static size_t character(const unsigned char *s, size_t left)
{
	if (s[0] < 0x80)
		return 1;
	size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4 || left < length)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
	bool surrogate = s[0] == 0xed && s[1] > 0x9f, beyond = s[0] == 0xf4 && s[1] > 0x8f;
	return overlong || surrogate || beyond ? 0 : length;
}

bool pe_is_utf8(const char *text, size_t size, bool printable)
{
	const unsigned char *s = (const unsigned char *)text;
	for (size_t at = 0, step; at < size; at += step) {
		step = character(s + at, size - at);
		if (step == 0 || (printable && (s[at] < 0x20 || s[at] == 0x7f)))
			return false;
	}
	return true;
}
