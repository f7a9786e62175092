/* SPDX-License-Identifier: BSD-2-Clause */
#include "context.h"
#include "io/digest.h"
#include "io/file_source.h"
#include "xt.h"

#include <stdio.h>
#include <string.h>

/* printf abc | b2sum -l 256, of coreutils */
static void equals_b2sum(void **state)
{
	(void)state;
	struct pe_digest digest;
	char hex[PE_DIGEST_HEX];
	pe_digest_start(&digest);
	pe_digest_add(&digest, "a", 1);
	pe_digest_add(&digest, "bc", 2);
	pe_digest_end(&digest, hex);
	assert_string_equal(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

static void sees_what_files_hold(void **state)
{
	pe_context *ctx = *state;
	struct pe_digest digest;
	char path[256], hex[PE_DIGEST_HEX], *bytes;
	size_t size;
	snprintf(path, sizeof path, "%s/abc", xt_temporary());
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("abc", file);
	assert_int_equal(fclose(file), 0);
	pe_digest_start(&digest);
	ctx->digest = &digest;
	assert_int_equal(pe_file_read(ctx, path, &bytes, &size), PE_OK);
	ctx->digest = NULL;
	pe_digest_end(&digest, hex);
	assert_string_equal(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
	pe_free(ctx, bytes);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_b2sum),
		cmocka_unit_test(sees_what_files_hold),
	};
	return xt_run(argc, argv, tests);
}
