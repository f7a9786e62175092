/* SPDX-License-Identifier: BSD-2-Clause
 * What the tests share. Include this first: it brings cmocka and what cmocka needs. */
#ifndef XT_H
#define XT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "posenc.h"

/* Runs a group with a fresh one-thread context as *state of every test, and fails if anything
 * that a test allocated through it is still there at its end. argv[1], if given, is the name of
 * the one test to run. Returns what main should return. tests must be an array. */
#define xt_run(argc, argv, tests) xt_run_tests(argc, argv, tests, sizeof(tests) / sizeof *(tests))
int xt_run_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* A context with the counting allocator: threads as in pe_context_options, kernels up to cpu
 * (NULL: the best). */
pe_context *xt_context(int32_t threads, const char *cpu);

/* From now on the allocator gives NULL at allocation number `at` (from 0; negative: never), and,
 * if forever, at every later one. */
void xt_fail_allocation(int64_t at, bool forever);
/* Blocks that are allocated now; allocations so far since xt_fail_allocation. */
int64_t xt_live_blocks(void);
int64_t xt_allocations(void);

/* Runs some calls again and again, each time failing the next of their allocations, until they have all:
 *   struct xt_shortage s = {.forever = true};
 *   while (xt_shortage_next(&s)) {
 *       …                                  what has memory
 *       xt_shortage_begin(&s);
 *       pe_status status = …;
 *       xt_shortage_end(&s, status);
 *       …                                  everything is released again
 *   }
 * Fails the test if a call gives another status than PE_ERR_NOMEM and, at last, `success`, if it did not
 * notice that an allocation failed, and if a block is left at the end of a turn. */
struct xt_shortage {
	bool forever;      /* later allocations fail too */
	bool lenient;      /* the calls may do without what they do not get */
	pe_status success; /* PE_OK */
	int64_t failed;    /* so many turns have failed one */
	int64_t live;
	bool over;
};
bool xt_shortage_next(struct xt_shortage *s);
void xt_shortage_begin(const struct xt_shortage *s);
void xt_shortage_end(struct xt_shortage *s, pe_status status);

/* |a - b| ≤ rtol · |b| + atol, or both NaN, or equal infinities; else prints both and fails. */
#define xt_close_f64(a, b, rtol, atol) xt_close_f64_at(a, b, rtol, atol, __FILE__, __LINE__)
void xt_close_f64_at(double a, double b, double rtol, double atol, const char *file, int line);

/* Status and message of a call that must fail. */
#define xt_fails(ctx, call, status, text) xt_fails_at(ctx, call, status, text, __FILE__, __LINE__)
void xt_fails_at(
	pe_context *ctx, pe_status got, pe_status status, const char *text, const char *file, int line);

/* Array number 0 of an encoder with settings "dim=8,base=100" on a domain, as dense doubles to be
 * freed by free(). *columns, if not NULL, is the last dimension. */
double *xt_first_array(
	pe_context *ctx, const char *encoder, const char *settings, const pe_domain *domain, int64_t *columns);

/* Sets "a=1,b=2" on params, failing the test if one is refused. */
void xt_set(pe_params *params, const char *settings);

/* Path of a file below the source folder, or below the folder of real data; valid until the next
 * call. xt_data skips the test, by the file's name, if the file is not there. */
const char *xt_source(const char *name);
const char *xt_data(const char *name);
/* A fresh temporary folder, removed with all it holds at the end of the group. */
const char *xt_temporary(void);

#endif
