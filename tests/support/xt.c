/* SPDX-License-Identifier: BSD-2-Clause */
#define _XOPEN_SOURCE 700 /* nftw */
#include "xt.h"

#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the counting allocator --------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t live, allocations, fail_at = -1;
static bool fail_forever;

static bool refuses(void)
{
	int64_t number = allocations++;
	return fail_at >= 0 && (number == fail_at || (fail_forever && number > fail_at));
}

static void *allocate(void *opaque, size_t size, size_t alignment)
{
	(void)opaque;
	void *pointer = NULL;
	pthread_mutex_lock(&lock);
	if (!refuses() && posix_memalign(&pointer, alignment, size) != 0)
		pointer = NULL;
	live += pointer != NULL;
	pthread_mutex_unlock(&lock);
	if (pointer)
		memset(pointer, 0xA5, size < 4096 ? size : 4096); /* what was not written is seen */
	return pointer;
}

static void release(void *opaque, void *pointer)
{
	(void)opaque;
	pthread_mutex_lock(&lock);
	live -= pointer != NULL;
	pthread_mutex_unlock(&lock);
	free(pointer);
}

void xt_fail_allocation(int64_t at, bool forever)
{
	allocations = 0;
	fail_at = at;
	fail_forever = forever;
}

int64_t xt_live_blocks(void)
{
	return live;
}

int64_t xt_allocations(void)
{
	return allocations;
}

bool xt_shortage_next(struct xt_shortage *s)
{
	if (s->failed == 0 && !s->over)
		s->live = live;
	else if (live != s->live)
		fail_msg("%lld blocks are left at the end of turn %lld", (long long)(live - s->live),
			(long long)(s->failed + s->over));
	return !s->over;
}

void xt_shortage_begin(const struct xt_shortage *s)
{
	xt_fail_allocation(s->failed, s->forever);
}

void xt_shortage_end(struct xt_shortage *s, pe_status status)
{
	bool reached = allocations > fail_at;
	xt_fail_allocation(-1, false);
	bool fails = reached && !(s->lenient && status == s->success);
	if (status != (fails ? PE_ERR_NOMEM : s->success))
		fail_msg("status %d where allocation %lld %s", (int)status, (long long)s->failed,
			reached ? "failed" : "was not reached");
	s->over = !reached;
	s->failed += reached;
}

pe_context *xt_context(int32_t threads, const char *cpu)
{
	pe_context_options options = {.size = sizeof options};
	options.allocator.allocate = allocate;
	options.allocator.release = release;
	options.threads = threads;
	options.cpu = cpu;
	pe_context *ctx;
	assert_int_equal(pe_context_create(&options, &ctx), PE_OK);
	return ctx;
}

/* ---- running ------------------------------------------------------------------------ */

static char temporary[64];

static int set_up(void **state)
{
	xt_fail_allocation(-1, false);
	live = 0;
	*state = xt_context(0, NULL);
	return 0;
}

static int tear_down(void **state)
{
	xt_fail_allocation(-1, false);
	pe_context *ctx = *state;
	pe_context_destroy(&ctx);
	if (live == 0)
		return 0;
	fprintf(stderr, "%lld blocks were not released\n", (long long)live);
	return -1;
}

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *place)
{
	(void)info;
	(void)flag;
	(void)place;
	return remove(path);
}

int xt_run_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t count)
{
	struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
	if (!chosen)
		return 1;
	for (size_t i = 0; i < count; i++) {
		chosen[i] = tests[i];
		if (!chosen[i].setup_func)
			chosen[i].setup_func = set_up;
		if (!chosen[i].teardown_func)
			chosen[i].teardown_func = tear_down;
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	int failures = _cmocka_run_group_tests(argv[0], chosen, count, NULL, NULL);
	if (temporary[0])
		nftw(temporary, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(chosen);
	return failures != 0;
}

/* ---- assertions --------------------------------------------------------------------- */

void xt_close_f64_at(double a, double b, double rtol, double atol, const char *file, int line)
{
	if ((isnan(a) && isnan(b)) || a == b || fabs(a - b) <= rtol * fabs(b) + atol)
		return;
	print_error("%.17g is not %.17g: they differ by %.3g\n", a, b, fabs(a - b));
	_fail(file, line);
}

void xt_fails_at(
	pe_context *ctx, pe_status got, pe_status status, const char *text, const char *file, int line)
{
	if (got == status && strstr(pe_context_message(ctx), text))
		return;
	print_error(
		"status %d, \"%s\"; expected %d, \"%s\"\n", (int)got, pe_context_message(ctx), (int)status, text);
	_fail(file, line);
}

void xt_set(pe_params *params, const char *settings)
{
	char text[1024];
	assert_true(strlen(settings) < sizeof text);
	strcpy(text, settings);
	char *rest = text;
	for (char *word; (word = strtok_r(rest, ",", &rest));) {
		char *value = strchr(word, '=');
		assert_non_null(value);
		*value++ = '\0';
		assert_int_equal(pe_params_set(params, word, value), PE_OK);
	}
}

double *xt_first_array(
	pe_context *ctx, const char *encoder, const char *settings, const pe_domain *domain, int64_t *columns)
{
	pe_params *params;
	pe_encoding *e;
	pe_array_info info;
	pe_tensor outs[PE_MAX_ARRAYS] = {0};
	assert_int_equal(pe_params_create(ctx, encoder, &params), PE_OK);
	xt_set(params, settings);
	if (pe_encoding_create(ctx, pe_encoder_find(encoder), params, domain, NULL, &e) != PE_OK)
		fail_msg("%s", pe_context_message(ctx));
	assert_int_equal(pe_encoding_array(e, 0, &info), PE_OK);
	outs[0] = pe_tensor_dense(NULL, PE_F64, info.ndim, info.shape);
	double *data = malloc((size_t)pe_tensor_bytes(&outs[0]) + 1);
	outs[0].data = data;
	assert_int_equal(pe_encoding_compute(e, outs, pe_encoding_array_count(e)), PE_OK);
	if (columns)
		*columns = info.shape[info.ndim - 1];
	pe_encoding_destroy(&e);
	pe_params_destroy(&params);
	return data;
}

/* ---- files -------------------------------------------------------------------------- */

static const char *join(const char *folder, const char *name)
{
	static char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

const char *xt_source(const char *name)
{
	const char *root = getenv("POSENC_SOURCE");
	return join(root ? root : ".", name);
}

const char *xt_data(const char *name)
{
	const char *root = getenv("POSENC_DATA");
	const char *path = join(root ? root : "../shared/data", name);
	if (access(path, R_OK) != 0) {
		print_message("skipped: there is no %s\n", path);
		skip();
	}
	return path;
}

const char *xt_temporary(void)
{
	if (!temporary[0]) {
		strcpy(temporary, "/tmp/posenc-test-XXXXXX");
		assert_non_null(mkdtemp(temporary));
	}
	return temporary;
}
