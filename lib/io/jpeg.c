/* SPDX-License-Identifier: BSD-2-Clause
 * JPEG by libjpeg: baseline and progressive, grey and colour, 8 bits, by the accurate integer transform, so
 * that the values are those of every reader that uses it. Orientation and profiles are not applied, and
 * named. libjpeg leaves by longjmp: whatever outlives that is in struct job. What it warns of it has mended
 * by guessing; that is an error here unless the source is lenient. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "io/picture.h"

#define MOST_SCANS 500 /* of a progressive file: each costs a pass over the picture, and few bytes */
#define MARKER_HEAD 14 /* bytes of a marker that tell what it holds */

struct job {
	struct pe_image *image;
	const struct pe_picture_source *source;
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	jmp_buf back;
	pe_status status;
	bool rows_begun;
};

bool pe_is_jpeg(const void *data, size_t size)
{
	return size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0;
}

/* ---- what libjpeg calls ------------------------------------------------------------- */

static size_t offset(const struct job *job)
{
	return job->jpeg.src ? job->source->size - job->jpeg.src->bytes_in_buffer : 0;
}

static void fail(struct job *job, pe_status status, const char *text)
{
	job->status =
		pe_fail(job->image->ctx, status, "%s: JPEG: %s, near byte %zu", job->source->name, text, offset(job));
	longjmp(job->back, 1);
}

static void on_error(j_common_ptr jpeg)
{
	struct job *job = jpeg->client_data;
	char text[JMSG_LENGTH_MAX];
	jpeg->err->format_message(jpeg, text);
	fail(job, jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? PE_ERR_NOMEM : PE_ERR_FORMAT, text);
}

/* level -1 is a warning, others are traces. */
static void on_message(j_common_ptr jpeg, int level)
{
	struct job *job = jpeg->client_data;
	char text[JMSG_LENGTH_MAX];
	if (level >= 0)
		return;
	jpeg->err->format_message(jpeg, text);
	if (!job->source->lenient)
		fail(job, PE_ERR_FORMAT, text);
	if (jpeg->err->num_warnings++ == 0)
		pe_log(job->image->ctx, PE_LOG_WARNING, "%s: JPEG: %s, near byte %zu", job->source->name, text,
			offset(job));
}

static void on_progress(j_common_ptr jpeg)
{
	struct job *job = jpeg->client_data;
	if (job->jpeg.input_scan_number > MOST_SCANS)
		fail(job, PE_ERR_FORMAT, "there are too many scans");
}

/* ---- before the pixels -------------------------------------------------------------- */

/* Markers that say what samples mean, and are not applied. */
static void name_profiles(struct job *job)
{
	bool exif = false, icc = false;
	for (jpeg_saved_marker_ptr m = job->jpeg.marker_list; m; m = m->next) {
		exif |= m->marker == JPEG_APP0 + 1 && m->data_length >= 5 && memcmp(m->data, "Exif", 5) == 0;
		icc |= m->marker == JPEG_APP0 + 2 && m->data_length >= 12 && memcmp(m->data, "ICC_PROFILE", 12) == 0;
	}
	snprintf(job->image->colour, sizeof job->image->colour, "%s%s%s", icc ? "ICC" : "",
		icc && exif ? " " : "", exif ? "Exif" : "");
}

static pe_status choose_form(struct job *job)
{
	pe_image_info *info = &job->image->info;
	bool grey = job->jpeg.jpeg_color_space == JCS_GRAYSCALE;
	if (job->jpeg.jpeg_color_space == JCS_CMYK || job->jpeg.jpeg_color_space == JCS_YCCK)
		return pe_fail(job->image->ctx, PE_ERR_UNSUPPORTED,
			"%s: a JPEG file of four inks (CMYK) has no RGB without a profile; convert it: magick IN "
			"-colorspace sRGB OUT.png",
			job->source->name);
	job->jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
	job->jpeg.dct_method = JDCT_ISLOW;
	info->format = "jpeg";
	info->channels = grey ? 1 : 3;
	info->bits = 8;
	info->maximum = 255;
	info->interlaced = job->jpeg.progressive_mode != 0;
	name_profiles(job);
	PE_TRY(pe_picture_check_size(
		job->image, job->source, (int64_t)job->jpeg.image_height, (int64_t)job->jpeg.image_width));
	return pe_picture_allocate(job->image, job->source);
}

/* ---- the whole ---------------------------------------------------------------------- */

static void read_rows(struct job *job)
{
	jpeg_start_decompress(&job->jpeg);
	job->rows_begun = true;
	while (job->jpeg.output_scanline < job->jpeg.output_height) {
		JSAMPROW row = pe_picture_row(job->image, (int64_t)job->jpeg.output_scanline);
		jpeg_read_scanlines(&job->jpeg, &row, 1);
	}
	jpeg_finish_decompress(&job->jpeg);
}

/* libjpeg comes back here: with a picture that has begun, a lenient reader takes what there is. */
static pe_status decode(struct job *job)
{
	if (setjmp(job->back)) {
		if (!job->source->lenient || !job->rows_begun || job->status != PE_ERR_FORMAT)
			return job->status;
		pe_log(
			job->image->ctx, PE_LOG_WARNING, "%s; what is missing is 0", pe_context_message(job->image->ctx));
		return PE_OK;
	}
	jpeg_create_decompress(&job->jpeg);
	job->jpeg.mem->max_memory_to_use = 0; /* no bound, whatever JPEGMEM in the environment says */
	job->jpeg.progress = &job->progress;
	jpeg_mem_src(&job->jpeg, job->source->data, (unsigned long)job->source->size);
	jpeg_save_markers(&job->jpeg, JPEG_APP0 + 1, MARKER_HEAD);
	jpeg_save_markers(&job->jpeg, JPEG_APP0 + 2, MARKER_HEAD);
	jpeg_read_header(&job->jpeg, TRUE);
	job->status = choose_form(job);
	if (job->status == PE_OK)
		read_rows(job);
	return job->status;
}

pe_status pe_jpeg_read(struct pe_image *image, const struct pe_picture_source *source)
{
	struct job job = {.image = image, .source = source};
	job.jpeg.err = jpeg_std_error(&job.errors);
	job.jpeg.client_data = &job;
	job.errors.error_exit = on_error;
	job.errors.emit_message = on_message;
	job.progress.progress_monitor = on_progress;
	pe_status status = decode(&job);
	if (status == PE_OK && offset(&job) < source->size)
		pe_log(image->ctx, PE_LOG_WARNING, "%s: JPEG: %zu bytes after the picture are not read", source->name,
			source->size - offset(&job));
	jpeg_destroy_decompress(&job.jpeg);
	return status;
}
