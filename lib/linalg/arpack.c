/* SPDX-License-Identifier: BSD-2-Clause */
#include "arpack.h"

#include <arpack/arpack.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What dsaupd and dseupd share. */
struct work {
	a_int ido, info, iparam[11], ipntr[14], size;
	double *resid, *workd, *workl;
};

static pe_status iterate(pe_context *ctx, const struct pe_arpack_problem *p, struct work *w, double *vectors)
{
	for (;;) {
		dsaupd_c(&w->ido, "I", p->n, "LA", p->k, p->tolerance, w->resid, p->basis, vectors, p->n, w->iparam,
			w->ipntr, w->workd, w->workl, w->size, &w->info);
		if (w->ido != -1 && w->ido != 1)
			return PE_OK;
		/* Offsets count from 1, as in Fortran. */
		PE_TRY(p->apply(ctx, p->arg, w->workd + w->ipntr[0] - 1, w->workd + w->ipntr[1] - 1));
	}
}

static pe_status extract(pe_context *ctx, const struct pe_arpack_problem *p, struct work *w, a_int *chosen,
	double *values, double *vectors, int32_t *converged)
{
	/* 1: restarts used up; 3: no shifts could be applied. Both leave what has converged. */
	if (w->info != 0 && w->info != 1 && w->info != 3)
		return pe_fail(ctx, PE_ERR_INTERNAL, "ARPACK's dsaupd failed with info %d", (int)w->info);
	*converged = (int32_t)pe_min(w->iparam[4], p->k);
	if (*converged == 0)
		return PE_OK;
	a_int info = 0;
	dseupd_c(1, "A", chosen, values, vectors, p->n, 0, "I", p->n, "LA", p->k, p->tolerance, w->resid,
		p->basis, vectors, p->n, w->iparam, w->ipntr, w->workd, w->workl, w->size, &info);
	if (info != 0)
		return pe_fail(ctx, PE_ERR_INTERNAL, "ARPACK's dseupd failed with info %d", (int)info);
	return PE_OK;
}

/* dseupd gives values ascending. */
static void reverse(int32_t n, int32_t count, double *values, double *vectors, double *scratch)
{
	size_t bytes = (size_t)n * sizeof *vectors;
	for (int32_t i = 0, j = count - 1; i < j; i++, j--) {
		double value = values[i];
		values[i] = values[j];
		values[j] = value;
		memcpy(scratch, vectors + (int64_t)i * n, bytes);
		memcpy(vectors + (int64_t)i * n, vectors + (int64_t)j * n, bytes);
		memcpy(vectors + (int64_t)j * n, scratch, bytes);
	}
}

pe_status pe_arpack_largest(pe_context *ctx, const struct pe_arpack_problem *p, double *values,
	double *vectors, int32_t *converged, int64_t *products)
{
	int64_t size = (int64_t)p->basis * ((int64_t)p->basis + 8);
	if ((int64_t)p->n * p->basis > INT32_MAX || size > INT32_MAX)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED, "a basis of %d vectors of %d numbers is too large for ARPACK",
			p->basis, p->n);
	struct work w = {.info = 1, .size = (a_int)size}; /* info 1: resid is the start vector */
	w.iparam[0] = 1;                                  /* exact shifts */
	w.iparam[2] = p->restarts;
	w.iparam[3] = 1;
	w.iparam[6] = 1; /* the operator as it is */
	pe_status status = PE_ERR_NOMEM;
	a_int *chosen = pe_alloc_zero(ctx, p->basis, sizeof *chosen);
	w.resid = pe_alloc(ctx, p->n, sizeof *w.resid);
	w.workd = pe_alloc_zero(ctx, p->n, 3 * sizeof *w.workd);
	w.workl = pe_alloc_zero(ctx, w.size, sizeof *w.workl);
	if (!chosen || !w.resid || !w.workd || !w.workl)
		goto done;
	memcpy(w.resid, p->start, (size_t)p->n * sizeof *w.resid);
	pthread_mutex_lock(&lock);
	status = iterate(ctx, p, &w, vectors);
	if (status == PE_OK)
		status = extract(ctx, p, &w, chosen, values, vectors, converged);
	pthread_mutex_unlock(&lock);
	if (status != PE_OK)
		goto done;
	*products = w.iparam[8];
	reverse(p->n, *converged, values, vectors, w.workd);
done:
	pe_free(ctx, chosen);
	pe_free(ctx, w.resid);
	pe_free(ctx, w.workd);
	pe_free(ctx, w.workl);
	return status;
}
