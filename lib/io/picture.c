/* SPDX-License-Identifier: BSD-2-Clause
 * Pictures: which format it is, the limits, and the stored values as tensors. */
#include "io/picture.h"

#include <string.h>

#include "io/file_source.h"
#include "options.h"
#include "picture_options.h"
#include "pool.h"
#include "tensor.h"

#define ROWS_A_CHUNK 64
#define SMALL_PICTURE (1 << 24) /* pixels */

/* ---- which format ------------------------------------------------------------------- */

/* What this build reads. */
static const struct reader {
	const char *name;
	bool (*is)(const void *data, size_t size);
	pe_status (*read)(struct pe_image *image, const struct pe_picture_source *source);
} readers[] = {
	{"PNG", pe_is_png, pe_png_read},
	{"PNM", pe_is_pnm, pe_pnm_read},
#ifdef PE_WITH_JPEG
	{"JPEG", pe_is_jpeg, pe_jpeg_read},
#define AND_JPEG ", JPEG"
#else
#define AND_JPEG ""
#endif
#ifdef PE_WITH_WEBP
	{"WebP", pe_is_webp, pe_webp_read},
#define AND_WEBP ", WebP"
#else
#define AND_WEBP ""
#endif
};
#define READ_FROM "PNG, PNM" AND_JPEG AND_WEBP

static const struct reader *find_reader(const void *data, size_t size)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (readers[i].is(data, size))
			return &readers[i];
	return NULL;
}

struct signature {
	const char *name, *hint;
	int64_t at; /* of the bytes that tell */
	const char *bytes;
	size_t size;
};

#define CONVERT "convert it to PNG first: magick IN OUT.png"

static const struct signature others[] = {
	{"JPEG", "convert it to PNG first: djpeg IN | pnmtopng > OUT.png, or magick IN OUT.png", 0,
		"\xff\xd8\xff", 3},
	{"WebP", "convert it to PNG first: dwebp IN -o OUT.png", 8, "WEBP", 4}, {"GIF", CONVERT, 0, "GIF8", 4},
	{"TIFF", CONVERT, 0, "II*\0", 4}, {"TIFF", CONVERT, 0, "MM\0*", 4},
	{"AVIF", "convert it to PNG first: avifdec IN OUT.png", 4, "ftypavi", 7},
	{"HEIC", "convert it to PNG first: heif-convert IN OUT.png", 4, "ftyphei", 7},
	{"HEIC", "convert it to PNG first: heif-convert IN OUT.png", 4, "ftypmif1", 8},
	{"JPEG XL", "convert it to PNG first: djxl IN OUT.png", 0, "\0\0\0\14JXL ", 8},
	{"JPEG XL", "convert it to PNG first: djxl IN OUT.png", 0, "\xff\x0a", 2},
	{"JPEG 2000", CONVERT, 0, "\0\0\0\14jP  ", 8}, {"Photoshop", CONVERT, 0, "8BPS", 4},
	{"QOI", CONVERT, 0, "qoif", 4}, {"OpenEXR", CONVERT, 0, "\x76\x2f\x31\x01", 4},
	{"PFM", CONVERT, 0, "PF\n", 3}, {"PFM", CONVERT, 0, "Pf\n", 3},
	{"BMP", CONVERT, 6, "\0\0\0\0", 4}, /* and "BM" in front */
};

static const struct signature *find_other(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const struct signature *s = &others[i];
		bool bitmap = strcmp(s->name, "BMP") == 0, riff = strcmp(s->name, "WebP") == 0;
		if (size < (size_t)s->at + s->size || memcmp(data + s->at, s->bytes, s->size) != 0)
			continue;
		if ((!bitmap || memcmp(data, "BM", 2) == 0) && (!riff || memcmp(data, "RIFF", 4) == 0))
			return s;
	}
	return NULL;
}

const char *pe_image_recognise(const void *data, size_t size)
{
	uint8_t head[64];
	if (!data)
		return NULL;
	if (pe_is_gzip(data, size)) {
		size = pe_gunzip_head(data, size, head, sizeof head);
		data = head;
	}
	const struct reader *reader = find_reader(data, size);
	if (reader)
		return reader->name;
	const struct signature *other = find_other(data, size);
	return other ? other->name : NULL;
}

static pe_status refuse(pe_context *ctx, const struct pe_picture_source *source)
{
	const struct signature *other = find_other(source->data, source->size);
	if (other)
		return pe_fail(ctx, PE_ERR_UNSUPPORTED,
			"%s: this is a %s file, and this build reads pictures from " READ_FROM "; %s", source->name,
			other->name, other->hint);
	return pe_fail(ctx, PE_ERR_FORMAT, "%s: this is no picture: none of " READ_FROM " (PBM, PGM, PPM, PAM)",
		source->name);
}

/* ---- limits and memory -------------------------------------------------------------- */

/* Pixels of a damaged picture, whose size may be all that there is of it: as many as a small one has, and as
 * deflate makes at best, of one bit, from the data. */
static int64_t most_damaged(const struct pe_picture_source *source)
{
	int64_t from_data;
	bool fits = pe_mul((int64_t)source->size, 8 * PE_DEFLATE_RATIO, &from_data);
	return fits ? pe_max(from_data, SMALL_PICTURE) : INT64_MAX;
}

pe_status pe_picture_check_size(
	struct pe_image *image, const struct pe_picture_source *source, int64_t height, int64_t width)
{
	int64_t pixels;
	if (height < 1 || width < 1)
		return pe_fail(image->ctx, PE_ERR_FORMAT, "%s: a picture of %lld x %lld pixels is empty",
			source->name, (long long)width, (long long)height);
	if (!pe_mul(height, width, &pixels) || pixels > source->max_pixels)
		return pe_fail(image->ctx, PE_ERR_FORMAT,
			"%s: %lld x %lld pixels are more than the limit of %lld: raise max_pixels if this is meant",
			source->name, (long long)width, (long long)height, (long long)source->max_pixels);
	if (source->lenient && pixels > most_damaged(source))
		return pe_fail(image->ctx, PE_ERR_FORMAT,
			"%s: %lld x %lld pixels are more than a lenient reader takes from %zu bytes (%lld)", source->name,
			(long long)width, (long long)height, source->size, (long long)most_damaged(source));
	image->info.height = height;
	image->info.width = width;
	return PE_OK;
}

pe_status pe_picture_allocate(struct pe_image *image, const struct pe_picture_source *source)
{
	int64_t count = image->info.height * image->info.width * image->info.channels;
	size_t size = image->wide ? 2 : 1;
	image->samples =
		source->lenient ? pe_alloc_zero(image->ctx, count, size) : pe_alloc(image->ctx, count, size);
	return image->samples ? PE_OK : PE_ERR_NOMEM;
}

size_t pe_picture_row_bytes(const struct pe_image *image)
{
	return (size_t)image->info.width * (size_t)image->info.channels * (image->wide ? 2 : 1);
}

void *pe_picture_row(const struct pe_image *image, int64_t y)
{
	return (char *)image->samples + (size_t)y * pe_picture_row_bytes(image);
}

/* ---- reading ------------------------------------------------------------------------ */

static pe_status take_params(pe_context *ctx, const pe_params *params, struct pe_picture_source *source)
{
	source->lenient = false;
	source->max_pixels = PE_DEFAULT_MAX_PIXELS;
	if (!params)
		return PE_OK;
	PE_TRY(pe_picture_check_params(ctx, params));
	source->lenient = pe_params_bool(params, "lenient");
	source->max_pixels = pe_params_int(params, "max_pixels");
	return PE_OK;
}

static pe_status parse(pe_context *ctx, const struct pe_picture_source *source, pe_image **out)
{
	pe_image *image = pe_alloc_zero(ctx, 1, sizeof *image);
	if (!image)
		return PE_ERR_NOMEM;
	image->ctx = ctx;
	image->info.digest = image->digest;
	image->info.colour = image->colour;
	const struct reader *reader = find_reader(source->data, source->size);
	pe_status status = reader ? reader->read(image, source) : refuse(ctx, source);
	if (status == PE_OK)
		*out = image;
	else
		pe_image_destroy(&image);
	return status;
}

/* Takes over the bytes. */
static pe_status parse_unpacked(
	pe_context *ctx, struct pe_picture_source *source, char *bytes, pe_image **out)
{
	source->data = (const uint8_t *)bytes;
	pe_status status = parse(ctx, source, out);
	pe_free(ctx, bytes);
	return status;
}

pe_status pe_image_from_bytes(pe_context *context, const void *data, size_t size, const char *name,
	const pe_params *params, pe_image **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || (!data && size > 0))
		return PE_ERR_ARGUMENT;
	struct pe_picture_source source = {.data = data, .size = size, .name = name ? name : "the data"};
	struct pe_digest digest;
	char *bytes;
	PE_TRY(take_params(context, params, &source));
	if (pe_is_gzip(data, size)) {
		PE_TRY(pe_gunzip(context, data, size, source.name, 0, &bytes, &source.size));
		PE_TRY(parse_unpacked(context, &source, bytes, out));
	} else {
		PE_TRY(parse(context, &source, out));
	}
	pe_digest_start(&digest);
	pe_digest_add(&digest, data, size);
	pe_digest_end(&digest, (*out)->digest);
	return PE_OK;
}

pe_status pe_image_from_file(pe_context *context, const char *path, const pe_params *params, pe_image **out)
{
	if (!out)
		return PE_ERR_ARGUMENT;
	*out = NULL;
	if (!context || !path)
		return PE_ERR_ARGUMENT;
	struct pe_picture_source source = {.name = strcmp(path, "-") == 0 ? "standard input" : path};
	struct pe_digest digest;
	char *bytes;
	PE_TRY(take_params(context, params, &source));
	pe_digest_start(&digest);
	context->digest = &digest;
	pe_status status = pe_file_read(context, path, &bytes, &source.size);
	context->digest = NULL;
	PE_TRY(status);
	PE_TRY(parse_unpacked(context, &source, bytes, out));
	pe_digest_end(&digest, (*out)->digest);
	return PE_OK;
}

void pe_image_destroy(pe_image **image)
{
	if (!image || !*image)
		return;
	pe_free((*image)->ctx, (*image)->samples);
	pe_free((*image)->ctx, *image);
	*image = NULL;
}

const pe_image_info *pe_image_get_info(const pe_image *image)
{
	return image ? &image->info : NULL;
}

/* ---- values ------------------------------------------------------------------------- */

struct values {
	const pe_image *image;
	const pe_tensor *out;
	int64_t row; /* numbers of a row */
};

static double sample(const pe_image *image, const void *row, int64_t i)
{
	return image->wide ? ((const uint16_t *)row)[i] : ((const uint8_t *)row)[i];
}

/* One row, by way of a buffer of that many numbers. */
static void store_row(const struct values *v, int64_t y, double *buffer)
{
	const void *row = pe_picture_row(v->image, y);
	const pe_tensor *out = v->out;
	int64_t channels = v->image->info.channels, size = (int64_t)pe_dtype_size(out->dtype);
	double whole = pe_dtype_is_float(out->dtype) ? v->image->info.maximum : 1;
	for (int64_t i = 0; i < v->row; i++)
		buffer[i] = sample(v->image, row, i) / whole;
	for (int64_t x = 0; x < v->image->info.width; x++) {
		char *at = (char *)out->data + (y * out->strides[0] + x * out->strides[1]) * size;
		if (pe_dtype_is_float(out->dtype)) {
			pe_store_f64(at, out->dtype, out->strides[2], buffer + x * channels, 1, channels);
			continue;
		}
		for (int64_t c = 0; c < channels; c++) {
			int64_t value = (int64_t)buffer[x * channels + c];
			char *to = at + c * out->strides[2] * size;
			if (out->dtype == PE_U8)
				*(uint8_t *)to = (uint8_t)value;
			else
				pe_store_i64(to, out->dtype, 1, &value, 1);
		}
	}
}

static pe_status store_rows(pe_context *worker, void *arg, int64_t chunk)
{
	const struct values *v = arg;
	int64_t first = chunk * ROWS_A_CHUNK, last = pe_min(first + ROWS_A_CHUNK, v->image->info.height);
	bool alike = v->out->dtype == PE_U8 && !v->image->wide && pe_tensor_is_dense(v->out);
	if (alike) {
		memcpy((char *)v->out->data + first * v->row, pe_picture_row(v->image, first),
			(size_t)((last - first) * v->row));
		return PE_OK;
	}
	double *buffer = pe_alloc(worker, v->row, sizeof *buffer);
	if (!buffer)
		return PE_ERR_NOMEM;
	for (int64_t y = first; y < last; y++)
		store_row(v, y, buffer);
	pe_free(worker, buffer);
	return PE_OK;
}

pe_status pe_image_read(const pe_image *image, const pe_tensor *out)
{
	if (!image || !out)
		return PE_ERR_ARGUMENT;
	const pe_image_info *info = &image->info;
	const int64_t shape[] = {info->height, info->width, info->channels};
	pe_dtype like = out->dtype == PE_U8 ? PE_BOOL : pe_dtype_is_float(out->dtype) ? PE_F64 : PE_I64;
	if (out->dtype == PE_U8 && image->wide)
		return pe_fail(image->ctx, PE_ERR_SHAPE,
			"samples of %d bits do not fit u8: take i32, or a float type (0 to 1)", (int)info->bits);
	PE_TRY(pe_tensor_check_output(image->ctx, out, "out", like, 3, shape));
	struct values v = {image, out, info->width * info->channels};
	return pe_parallel(
		image->ctx, (info->height + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK, store_rows, &v, "pixels");
}
