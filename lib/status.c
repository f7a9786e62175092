/* SPDX-License-Identifier: BSD-2-Clause */
#include "context.h"

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *pe_version(void)
{
	return VERSION(PE_VERSION_MAJOR, PE_VERSION_MINOR, PE_VERSION_PATCH);
}

const char *pe_status_string(pe_status status)
{
	static const char *const names[] = {
		"ok",
		"out of memory",
		"wrong argument",
		"wrong shape",
		"value out of range",
		"malformed input",
		"input or output failed",
		"not supported",
		"not converged",
		"not certified",
		"some inputs failed",
		"cancelled",
		"internal error",
	};
	int index = -(int)status;
	return index >= 0 && index < PE_COUNT(names) ? names[index] : "unknown status";
}
