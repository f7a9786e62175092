/* SPDX-License-Identifier: BSD-2-Clause
 * WebP by libwebp: lossy and lossless, with alpha or without. Animations are refused. Profiles are not
 * applied, and named. developers.google.com/speed/webp/docs/riff_container */
#include <stdio.h>
#include <string.h>

#include <webp/decode.h>

#include "io/picture.h"

#define FLAGS_AT 20 /* of an extended file */
#define FLAG_PROFILE 0x20
#define FLAG_EXIF 0x08

bool pe_is_webp(const void *data, size_t size)
{
	const char *bytes = data;
	return size >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0;
}

static const char *sentence(VP8StatusCode code)
{
	switch (code) {
	case VP8_STATUS_SUSPENDED:
	case VP8_STATUS_NOT_ENOUGH_DATA:
		return "the data end too early";
	case VP8_STATUS_UNSUPPORTED_FEATURE:
		return "it is of a kind that libwebp does not know";
	default:
		return "the data are damaged";
	}
}

static pe_status fail(
	const struct pe_image *image, const struct pe_picture_source *source, VP8StatusCode code)
{
	if (code == VP8_STATUS_OUT_OF_MEMORY)
		return pe_fail(image->ctx, PE_ERR_NOMEM, "%s: WebP: libwebp is out of memory", source->name);
	return pe_fail(
		image->ctx, PE_ERR_FORMAT, "%s: WebP: %s (%zu bytes)", source->name, sentence(code), source->size);
}

static void name_profiles(struct pe_image *image, const struct pe_picture_source *source)
{
	const uint8_t *data = source->data;
	if (source->size <= FLAGS_AT || memcmp(data + 12, "VP8X", 4) != 0)
		return;
	bool icc = data[FLAGS_AT] & FLAG_PROFILE, exif = data[FLAGS_AT] & FLAG_EXIF;
	snprintf(image->colour, sizeof image->colour, "%s%s%s", icc ? "ICC" : "", icc && exif ? " " : "",
		exif ? "Exif" : "");
}

static pe_status take_form(
	struct pe_image *image, const struct pe_picture_source *source, const WebPBitstreamFeatures *features)
{
	if (features->has_animation)
		return pe_fail(image->ctx, PE_ERR_UNSUPPORTED,
			"%s: this is an animation; take one frame of it: webpmux -get frame 1 IN -o OUT.webp",
			source->name);
	image->info.format = "webp";
	image->info.alpha = features->has_alpha != 0;
	image->info.channels = 3 + image->info.alpha;
	image->info.bits = 8;
	image->info.maximum = 255;
	name_profiles(image, source);
	PE_TRY(pe_picture_check_size(image, source, features->height, features->width));
	return pe_picture_allocate(image, source);
}

/* What the container says of its own size: the last bytes may be padding, which a decoder does not miss. */
static uint64_t size_of(const struct pe_picture_source *source)
{
	const uint8_t *size = source->data + 4;
	return (uint64_t)size[0] + ((uint64_t)size[1] << 8) + ((uint64_t)size[2] << 16) +
		((uint64_t)size[3] << 24) + 8;
}

/* Row by row as far as the data go, so that a lenient reader has what there is. */
static VP8StatusCode decode(struct pe_image *image, const struct pe_picture_source *source)
{
	WebPDecoderConfig config;
	size_t row = pe_picture_row_bytes(image);
	if (!WebPInitDecoderConfig(&config))
		return VP8_STATUS_INVALID_PARAM;
	config.output.colorspace = image->info.alpha ? MODE_RGBA : MODE_RGB;
	config.output.is_external_memory = 1;
	config.output.u.RGBA.rgba = image->samples;
	config.output.u.RGBA.stride = (int)row;
	config.output.u.RGBA.size = row * (size_t)image->info.height;
	WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
	VP8StatusCode code =
		decoder ? WebPIUpdate(decoder, source->data, source->size) : VP8_STATUS_OUT_OF_MEMORY;
	WebPIDelete(decoder);
	WebPFreeDecBuffer(&config.output);
	return code;
}

pe_status pe_webp_read(struct pe_image *image, const struct pe_picture_source *source)
{
	WebPBitstreamFeatures features;
	VP8StatusCode code = WebPGetFeatures(source->data, source->size, &features);
	if (code != VP8_STATUS_OK)
		return fail(image, source, code);
	PE_TRY(take_form(image, source, &features));
	code = decode(image, source);
	uint64_t size = size_of(source);
	if (code == VP8_STATUS_OK && size > source->size)
		code = VP8_STATUS_NOT_ENOUGH_DATA;
	if (code == VP8_STATUS_OK && size < source->size)
		pe_log(image->ctx, PE_LOG_WARNING, "%s: WebP: %zu bytes after the picture are not read", source->name,
			source->size - (size_t)size);
	if (code == VP8_STATUS_OK)
		return PE_OK;
	pe_status status = fail(image, source, code);
	if (!source->lenient || status != PE_ERR_FORMAT)
		return status;
	pe_log(image->ctx, PE_LOG_WARNING, "%s; what is missing is 0", pe_context_message(image->ctx));
	return PE_OK;
}
