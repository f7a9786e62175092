/* SPDX-License-Identifier: BSD-2-Clause
 * The JSON that --json prints. */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>

#include "job.h"

/* New references; NULL only without memory. */
json_t *report_input(const struct input *input);
json_t *report_job(const struct job *job);
/* Of a folder: [{"file": name, "first": number of its first graph, "graphs": how many}, …]. */
json_t *report_files(const pe_graph *graph);
json_t *report_layout(const pe_image_layout *layout);
json_t *report_options(const pe_params *params);

/* A string whatever its bytes: those that are no UTF-8 become '?'. A number, or null if it is not finite. */
json_t *json_text(const char *text);
json_t *json_number(double value);

/* Prints one object on a line and drops the reference. Numbers keep their digits. */
void print_json(json_t *object);

#endif
