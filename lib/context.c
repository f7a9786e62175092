/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* sched_getaffinity */
#include "context.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/kernels.h"
#include "memory.h"
#include "pool.h"

#define MAX_THREADS 1024

static int32_t usable_cpus(void)
{
#ifdef CPU_COUNT
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (int32_t)pe_min(CPU_COUNT(&set), MAX_THREADS);
#endif
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	return count < 1 ? 1 : (int32_t)pe_min(count, MAX_THREADS);
}

/* The caller's struct may be older and shorter than ours: what it lacks is zero. */
static pe_status read_options(const pe_context_options *options, pe_context_options *out)
{
	memset(out, 0, sizeof *out);
	if (!options)
		return PE_OK;
	if (options->size < sizeof options->size || options->size > sizeof *out)
		return PE_ERR_ARGUMENT;
	memcpy(out, options, options->size);
	if (!out->allocator.allocate != !out->allocator.release || out->threads > MAX_THREADS)
		return PE_ERR_ARGUMENT;
	return PE_OK;
}

pe_status pe_context_create(const pe_context_options *options, pe_context **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	pe_context_options o;
	PE_TRY(read_options(options, &o));
	const struct pe_kernels *kernels = pe_kernels_select(o.cpu);
	if (!kernels)
		return PE_ERR_UNSUPPORTED;

	pe_allocator allocator = o.allocator.allocate ? o.allocator : pe_default_allocator();
	pe_context *ctx = allocator.allocate(allocator.opaque, sizeof *ctx, 64);
	if (!ctx)
		return PE_ERR_NOMEM;
	*ctx = (pe_context){
		.allocator = allocator,
		.log = o.log,
		.progress = o.progress,
		.opaque = o.opaque,
		.threads = o.threads == 0 ? 1
			: o.threads < 0       ? usable_cpus()
								  : o.threads,
		.seed = o.seed,
		.kernels = kernels,
	};
	if (ctx->threads > 1) {
		pe_status status = pe_pool_create(ctx, ctx->threads, &ctx->pool);
		if (status != PE_OK) {
			pe_context_destroy(&ctx);
			return status;
		}
	}
	*out = ctx;
	return PE_OK;
}

void pe_context_destroy(pe_context **context)
{
	if (!context || !*context)
		return;
	pe_context *ctx = *context;
	*context = NULL;
	pe_pool_destroy(ctx, &ctx->pool);
	ctx->allocator.release(ctx->allocator.opaque, ctx);
}

const char *pe_context_message(const pe_context *context)
{
	return context ? context->message : "";
}

const char *pe_context_cpus(const pe_context *context)
{
	(void)context;
	return pe_kernels_available();
}

pe_status pe_take_options(pe_context *ctx, void *to, size_t size, const void *options, const char *name)
{
	size_t given;
	if (!options)
		return PE_OK;
	memcpy(&given, options, sizeof given);
	if (given < sizeof given || given > size)
		return pe_fail(ctx, PE_ERR_ARGUMENT, "%s.size must be sizeof(%s)", name, name);
	memcpy(to, options, given);
	return PE_OK;
}

pe_status pe_fail(pe_context *ctx, pe_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(ctx->message, sizeof ctx->message, format, args);
	va_end(args);
	return status;
}

void pe_log(pe_context *ctx, pe_log_level level, const char *format, ...)
{
	if (!ctx->log)
		return;
	char text[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	ctx->log(ctx->opaque, level, text);
}
