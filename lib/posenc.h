/* SPDX-License-Identifier: BSD-2-Clause
 *
 * posenc: positional encodings for transformers and graph networks.
 *
 * This is the only public header. It compiles alone as C99, C11 and C++17, and
 * uses plain pointers, sizes and C types only, so that it binds to other languages.
 *
 * A program does five things, in this order:
 *
 *   1. create a pe_context: allocator, log, threads, seed, last error message;
 *   2. describe what the tokens stand on, a pe_domain: a sequence, a grid, or graphs;
 *   3. choose an encoder and set its options in a pe_params;
 *   4. bind the three into a pe_encoding, and ask it for the arrays it yields;
 *   5. allocate those arrays and compute them, or give encodings to pe_attend.
 *
 * Conventions
 *   Status     Every function that can fail returns a pe_status; PE_OK is 0, errors are
 *              negative. The sentence a person can act on is in pe_context_message().
 *   Ownership  The caller owns every buffer it passes in. Handles made by *_create or
 *              *_from_* are released by the matching *_destroy, which takes the address
 *              of the handle, accepts NULL and a NULL handle, and sets the handle to NULL.
 *   Outputs    On failure, output handles are set to NULL, and output buffers are as they
 *              were unless the function says otherwise.
 *   Sizes      int64_t. Every product of sizes is checked.
 *   Threads    A context, and everything made with it, is used by one thread at a time.
 *              Different contexts are independent. A context may run worker threads of its own.
 *   Strings    UTF-8, NUL-terminated, numbers always in the C locale.
 *   Options    A struct of options begins with its own size, set by the caller:
 *              pe_context_options o = { sizeof o }; every other field zero means its default.
 *   Structs    Those of options may grow at the end; all others change with the soname alone.
 *
 * The library never exits, aborts, prints, or reads the environment.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stddef.h>
#include <stdint.h>

#define PE_VERSION_MAJOR 0
#define PE_VERSION_MINOR 1
#define PE_VERSION_PATCH 0

#if defined(__GNUC__) && !defined(PE_NO_VISIBILITY)
#define PE_API __attribute__((visibility("default")))
#else
#define PE_API
#endif

#if defined(__GNUC__)
#define PE_NODISCARD __attribute__((warn_unused_result))
#define PE_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PE_NODISCARD
#define PE_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library that is linked, as "MAJOR.MINOR.PATCH". */
PE_API const char *pe_version(void);

/* ---- status ------------------------------------------------------------------------- */

/* The numbers are frozen. */
typedef enum pe_status {
	PE_OK = 0,
	PE_ERR_NOMEM = -1,         /* the allocator gave NULL, or a size overflows */
	PE_ERR_ARGUMENT = -2,      /* the call is wrong: NULL, unknown name, wrong kind of domain */
	PE_ERR_SHAPE = -3,         /* a tensor's type, shape or strides do not fit */
	PE_ERR_RANGE = -4,         /* an option's value is not one it takes */
	PE_ERR_FORMAT = -5,        /* the input data are malformed or not of a known format */
	PE_ERR_IO = -6,            /* reading or writing failed */
	PE_ERR_UNSUPPORTED = -7,   /* well formed, but this build or encoder cannot take it */
	PE_ERR_NOT_CONVERGED = -8, /* a solver did not reach its tolerance; results are there */
	PE_ERR_NOT_CERTIFIED = -9, /* certify=require, and no certificate could be had; results are there */
	PE_ERR_PARTIAL = -10,      /* some graphs of many failed; the others are there */
	PE_ERR_CANCELLED = -11,    /* the progress callback asked to stop */
	PE_ERR_INTERNAL = -12      /* a bug: please report it */
} pe_status;

/* A short name for a status, for example "out of memory". Never NULL. */
PE_API const char *pe_status_string(pe_status status);

/* ---- context ------------------------------------------------------------------------ */

typedef struct pe_context pe_context;

/* Memory hooks. allocate returns size bytes aligned to alignment (a power of two, at most
 * 64), or NULL; release takes NULL. Both may be called from worker threads at once. */
typedef struct pe_allocator {
	void *(*allocate)(void *opaque, size_t size, size_t alignment);
	void (*release)(void *opaque, void *pointer);
	void *opaque;
} pe_allocator;

typedef enum pe_log_level {
	PE_LOG_WARNING = 1, /* the input was changed, or a result is not what one would expect */
	PE_LOG_INFO = 2,    /* choices made: engine, fill, shift */
	PE_LOG_DEBUG = 3
} pe_log_level;

typedef struct pe_context_options {
	size_t size;            /* sizeof(pe_context_options) */
	pe_allocator allocator; /* both hooks NULL: the C library's */
	/* Called from the thread that uses the context. NULL: silent. */
	void (*log)(void *opaque, pe_log_level level, const char *text);
	/* Called from the thread that uses the context, at most some ten times a second;
	 * a return other than 0 cancels the call under way. NULL: none. */
	int (*progress)(void *opaque, const char *stage, int64_t done, int64_t total);
	void *opaque;    /* handed to log and progress */
	int32_t threads; /* worker threads, 1 to 1024; 0: one. Negative: CPUs this process may use */
	uint64_t seed;   /* of everything random; 0 is a seed like another */
	const char *cpu; /* highest kernel set to use: "scalar", "avx2", "neon" …; NULL: the best there is */
} pe_context_options;

/* Creates a context; options NULL means defaults. */
PE_API PE_NODISCARD pe_status pe_context_create(const pe_context_options *options, pe_context **out);
PE_API void pe_context_destroy(pe_context **context);

/* What the last failing call on this context had to say, or "". Valid until the next call. */
PE_API const char *pe_context_message(const pe_context *context);

/* Names of the kernel sets this machine can run, best first, separated by spaces. */
PE_API const char *pe_context_cpus(const pe_context *context);

/* ---- tensors ------------------------------------------------------------------------ */

typedef enum pe_dtype {
	PE_F64 = 0,
	PE_F32 = 1,
	PE_F16 = 2,  /* IEEE binary16 */
	PE_BF16 = 3, /* upper half of a binary32 */
	PE_I64 = 4,
	PE_I32 = 5,
	PE_U8 = 6,
	PE_BOOL = 7 /* one byte, 0 or 1 */
} pe_dtype;

/* Bytes of one element, 0 for an unknown type. */
PE_API size_t pe_dtype_size(pe_dtype dtype);
/* "f64", "f32", "f16", "bf16", "i64", "i32", "u8", "bool"; "?" for an unknown type. */
PE_API const char *pe_dtype_name(pe_dtype dtype);

#define PE_MAX_DIMS 6

/* A view on memory that somebody else owns. data is aligned for its type. */
typedef struct pe_tensor {
	void *data;
	pe_dtype dtype;
	int32_t ndim; /* 0 (a scalar) to PE_MAX_DIMS */
	int64_t shape[PE_MAX_DIMS];
	int64_t strides[PE_MAX_DIMS]; /* in elements; may be 0 or negative in inputs */
} pe_tensor;

/* A dense row-major view on data. ndim and shape are trusted; check with pe_tensor_bytes. */
PE_API pe_tensor pe_tensor_dense(void *data, pe_dtype dtype, int32_t ndim, const int64_t *shape);
/* Number of elements, or -1 if the shape is not valid or the product overflows. */
PE_API int64_t pe_tensor_count(const pe_tensor *tensor);
/* Bytes of a dense tensor of this type and shape, or -1 likewise. */
PE_API int64_t pe_tensor_bytes(const pe_tensor *tensor);

/* ---- parameters --------------------------------------------------------------------- */

/* The options of one encoder, or of one way of reading input, filled from its option table. */
typedef struct pe_params pe_params;

typedef enum pe_option_type {
	PE_OPTION_INT = 0,
	PE_OPTION_REAL = 1,
	PE_OPTION_BOOL = 2,   /* 0 or 1 */
	PE_OPTION_CHOICE = 3, /* one word of several */
	PE_OPTION_LIST = 4,   /* reals, written 16/24/24 */
	PE_OPTION_STRING = 5
} pe_option_type;

typedef struct pe_option_info {
	const char *name;
	pe_option_type type;
	const char *fallback; /* the default, as text */
	double min, max;      /* of INT and REAL, and of each number of a LIST; inclusive */
	const char *choices;  /* of CHOICE: words separated by '|'; of STRING: usual ones, or NULL; else NULL */
	const char *help;     /* one sentence */
} pe_option_info;

typedef struct pe_preset_info {
	const char *name;
	const char *settings; /* the options it sets, "normalization=sym,zero=keep" */
	const char *help;     /* whose behaviour it reproduces, and how that departs from the mathematics */
} pe_preset_info;

/* Creates the default parameters of table, which is an encoder's name, "graph" for the policies of
 * reading graphs, or "image" for those of reading pictures and cutting them into patches. */
PE_API PE_NODISCARD pe_status pe_params_create(pe_context *context, const char *table, pe_params **out);
PE_API void pe_params_destroy(pe_params **params);
/* Sets one option from text. Range and spelling are checked; on failure nothing changes.
 * "preset" sets the preset's options, except those already set by name. */
PE_API PE_NODISCARD pe_status pe_params_set(pe_params *params, const char *name, const char *value);
/* The value of an option as text, or NULL if there is no such option. Valid until the next set. */
PE_API const char *pe_params_get(const pe_params *params, const char *name);
PE_API int64_t pe_params_count(const pe_params *params);
/* Option number index of the table; 0 ≤ index < pe_params_count. */
PE_API pe_option_info pe_params_option(const pe_params *params, int64_t index);
PE_API int64_t pe_params_preset_count(const pe_params *params);
PE_API pe_preset_info pe_params_preset(const pe_params *params, int64_t index);

/* ---- encoders ----------------------------------------------------------------------- */

/* The places of an attention layer, in the order in which it comes to them. */
typedef enum pe_site {
	PE_SITE_SEQUENCE = 1, /* tokens are prepended, dropped or resampled */
	PE_SITE_TOKENS = 2,   /* features: x + p, x·p, [x, p], x + conv(x) */
	PE_SITE_ROTATE = 4,   /* queries, keys and values are mapped by position */
	PE_SITE_CONTENT = 8,  /* scores, from queries and keys and their relation */
	PE_SITE_SCORES = 16,  /* scores, from the relation alone */
	PE_SITE_HEADS = 32,   /* scores, over all heads */
	PE_SITE_WEIGHTS = 64, /* weights after the softmax */
	PE_SITE_VALUES = 128, /* values, by their relation to the query */
	PE_SITE_SCALE = 256   /* what the scores are multiplied with */
} pe_site;

typedef enum pe_family { PE_SEQ = 0, PE_VISION = 1, PE_GRAPH = 2 } pe_family;

typedef struct pe_encoder pe_encoder;

PE_API int64_t pe_encoder_count(void);
/* Encoder number index in order of family and name, or NULL. */
PE_API const pe_encoder *pe_encoder_at(int64_t index);
PE_API const pe_encoder *pe_encoder_find(const char *name);
PE_API const char *pe_encoder_name(const pe_encoder *encoder);
PE_API pe_family pe_encoder_family(const pe_encoder *encoder);
PE_API const char *pe_family_name(pe_family family);
/* One line. */
PE_API const char *pe_encoder_summary(const pe_encoder *encoder);
/* Several lines: formula, shapes, conventions. */
PE_API const char *pe_encoder_help(const pe_encoder *encoder);
/* The paper or code that the formula is taken from. */
PE_API const char *pe_encoder_source(const pe_encoder *encoder);
/* Where it acts in an attention layer: PE_SITE_ values in one number; 0 if nowhere by itself. */
PE_API int32_t pe_encoder_sites(const pe_encoder *encoder);
/* "tokens", "rotate", …, or NULL if site is not one of them. */
PE_API const char *pe_site_name(pe_site site);
/* A command line that runs as it stands, after "posenc encode ". */
PE_API const char *pe_encoder_example(const pe_encoder *encoder);

/* A learned parameter: what a file of weights holds. */
typedef struct pe_weight_info {
	const char *name;    /* "relative_attention_bias" */
	const char *shape;   /* in words of options: "(buckets, heads)" */
	const char *initial; /* how it begins without a file: "N(0, 0.02)", "zeros" */
	const char *help;    /* one sentence; which of the authors' tensors it is */
} pe_weight_info;

PE_API int64_t pe_encoder_weight_count(const pe_encoder *encoder);
/* 0 ≤ index < pe_encoder_weight_count. */
PE_API pe_weight_info pe_encoder_weight(const pe_encoder *encoder, int64_t index);

/* ---- graphs ------------------------------------------------------------------------- */

/* One graph or many, each with its nodes numbered from 0. Never changes once made. */
typedef struct pe_graph pe_graph;

/* What reading found. Counts are over all graphs together. */
typedef struct pe_graph_report {
	const char *format; /* "edgelist", "matrix-market", "arrays", … */
	int64_t graphs;
	int64_t nodes;
	int64_t edges;      /* an undirected edge counts once; loops included */
	int64_t rows;       /* edges as listed in the input */
	int64_t self_loops; /* as listed */
	int64_t duplicates; /* rows that repeat an earlier one in the same direction */
	int64_t one_way;    /* distinct edges u→v, u ≠ v, without v→u in the input */
	int64_t isolated;   /* nodes without an edge to another node */
	int64_t phantom;    /* isolated nodes that no edge row and no node list names */
	int64_t components; /* weakly connected, isolated nodes included */
	int64_t failed;     /* graphs of 0 nodes that stand for files that could not be read */
	int64_t base;       /* the smallest id of the input when ids are integers, else -1 */
	int32_t directed;   /* 0 or 1 */
	int32_t weighted;   /* 0 or 1 */
	int32_t renumbered; /* 1 if row i is not simply id base + i: see pe_graph_node_ids */
	const char *digest; /* BLAKE2b-256 of the bytes read, 64 hexadecimal digits, as b2sum -l 256
						 * prints; of a dataset's files one after the other; "" of arrays */
} pe_graph_report;

/* Reads graphs from a file or a dataset directory. params is of table "graph", or NULL. */
PE_API PE_NODISCARD pe_status pe_graph_from_file(
	pe_context *context, const char *path, const pe_params *params, pe_graph **out);
/* Reads graphs from memory. name is used in messages and for its suffix; may be NULL. */
PE_API PE_NODISCARD pe_status pe_graph_from_bytes(pe_context *context, const void *data, size_t size,
	const char *name, const pe_params *params, pe_graph **out);
/* Takes graphs as arrays; everything is copied.
 *   edge_index  i32 or i64, (2, E): row 0 sources, row 1 targets. Without ptr, ids are
 *               0 ≤ id < num_nodes. With ptr, ids are global, as in a batch of PyTorch Geometric,
 *               and no edge joins two graphs.
 *   edge_weight (E), any float type, or NULL for ones
 *   ptr         i64, (graphs + 1), from 0 to num_nodes, or NULL for one graph
 *   num_nodes   -1: the largest id + 1 */
PE_API PE_NODISCARD pe_status pe_graph_from_arrays(pe_context *context, const pe_tensor *edge_index,
	const pe_tensor *edge_weight, const pe_tensor *ptr, int64_t num_nodes, const pe_params *params,
	pe_graph **out);
PE_API void pe_graph_destroy(pe_graph **graph);
PE_API const pe_graph_report *pe_graph_get_report(const pe_graph *graph);
/* (graphs + 1) offsets: the nodes of graph g are rows ptr[g] … ptr[g+1]. Owned by the graph. */
PE_API const int64_t *pe_graph_ptr(const pe_graph *graph);
/* (nodes) integer ids of the input in row order, or NULL if ids are text. Owned by the graph. */
PE_API const int64_t *pe_graph_node_ids(const pe_graph *graph);
/* The text id of a row, or NULL if ids are integers. Owned by the graph. */
PE_API const char *pe_graph_node_name(const pe_graph *graph, int64_t row);
/* edge_index ← the edges as kept, (2, report.edges) in i64 or i32: rows of all graphs, from pe_graph_ptr on.
 * Of an undirected graph each edge once, from its smaller row; by source, then by target. Any positive
 * strides that do not overlap. */
PE_API PE_NODISCARD pe_status pe_graph_edges(const pe_graph *graph, const pe_tensor *edge_index);
/* With the option unreadable=empty: indices of the graphs whose file could not be read, report.failed
 * of them, ascending, and why. NULL if there are none, and beyond. Owned by the graph. */
PE_API const int64_t *pe_graph_failed(const pe_graph *graph);
PE_API const char *pe_graph_failure(const pe_graph *graph, int64_t index);
/* Of a folder of graph files: the name of the file, without the folder, that graph number index was read
 * from; the same pointer for all graphs of a file. NULL where there is none. Owned by the graph. */
PE_API const char *pe_graph_file(const pe_graph *graph, int64_t index);
/* Graph number index of many as a graph of its own, copied; its encodings are those that it has among the
 * others, what is drawn at random too. Its report counts edges as kept: rows is edges. */
PE_API PE_NODISCARD pe_status pe_graph_select(
	pe_context *context, const pe_graph *graph, int64_t index, pe_graph **out);

/* ---- images ------------------------------------------------------------------------- */

/* A picture as its file stores it. Never changes once made. */
typedef struct pe_image pe_image;

typedef struct pe_image_info {
	const char *format; /* "png", "pbm", "pgm", "ppm", "pam", "jpeg", "webp" */
	int64_t height, width;
	int32_t channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
	int32_t alpha;    /* 1 if the last channel is alpha (0: transparent); not premultiplied */
	int32_t bits;     /* of a sample in the file; of a palette: of an index */
	int32_t palette; /* 1 if there was one: it is expanded, and so is grey of fewer than 8 bits, to 0 … 255 */
	int32_t interlaced; /* 0 or 1; of a JPEG: progressive */
	int32_t maximum;    /* the sample that stands for 1: 255, 65535, or what a PNM says */
	const char *colour; /* what the file says of its samples as colours, and of orientation, and is not
						 * applied: "gAMA iCCP" of a PNG, "ICC Exif" of others */
	const char *digest; /* BLAKE2b-256 of the bytes read, as b2sum -l 256 prints */
} pe_image_info;

/* The name of the picture format that data begin with, "PNG", "PNM", "JPEG", …, or NULL; 64 bytes are
 * enough, or 4 KB where they are packed by gzip. PNG and PNM can be read, JPEG and WebP where the build has
 * their libraries; the others are refused by name. */
PE_API const char *pe_image_recognise(const void *data, size_t size);
/* Reads a picture: PNG of every type and depth, PBM, PGM, PPM, PAM, JPEG (8 bits, not CMYK), WebP. "-" is
 * standard input; gzip is unpacked. params is of table "image", or NULL: of it, lenient and max_pixels matter
 * here. Damaged, cut and overlong files are PE_ERR_FORMAT, with the chunk or offset in the message, unless
 * lenient=1; what stands behind a JPEG or WebP picture is left out, with a warning. */
PE_API PE_NODISCARD pe_status pe_image_from_file(
	pe_context *context, const char *path, const pe_params *params, pe_image **out);
PE_API PE_NODISCARD pe_status pe_image_from_bytes(pe_context *context, const void *data, size_t size,
	const char *name, const pe_params *params, pe_image **out);
PE_API void pe_image_destroy(pe_image **image);
PE_API const pe_image_info *pe_image_get_info(const pe_image *image);
/* out ← the samples, (height, width, channels): as stored in i32, i64 or (up to 8 bits) u8; in a float
 * type over maximum, 0 to 1, rounded once. Any positive strides that do not overlap. */
PE_API PE_NODISCARD pe_status pe_image_read(const pe_image *image, const pe_tensor *out);

/* What becomes of a picture that is cut into patches. */
typedef struct pe_image_layout {
	int64_t rows, columns;                 /* of the grid of patches; token = row·columns + column */
	int64_t patch;                         /* side of a patch */
	int64_t channels;                      /* 1 or 3 */
	int64_t width;                         /* numbers a token: channels·patch² */
	int64_t resized_height, resized_width; /* the size resampled to, or 0 if it was not */
	int64_t crop_top, crop_left, crop_bottom, crop_right; /* pixels cut off */
	int64_t pad_top, pad_left, pad_bottom, pad_right;     /* pixels added */
} pe_image_layout;

/* Which grid of patches params (table "image", or NULL) make of a picture, and what it costs it. Refuses what
 * pe_image_tokens would, but for transparency: sizes that are no multiples of patch, or that fit cannot
 * reach. */
PE_API PE_NODISCARD pe_status pe_image_get_layout(
	const pe_image *image, const pe_params *params, pe_image_layout *out);
/* out ← the patches, (rows·columns, width), in any float type: values over maximum, alpha, channels,
 * resampling, normalisation in this order in double, rounded once. Any positive strides that do not overlap.
 */
PE_API PE_NODISCARD pe_status pe_image_tokens(
	const pe_image *image, const pe_params *params, const pe_tensor *out);

/* ---- domains ------------------------------------------------------------------------ */

/* What the tokens stand on. */
typedef struct pe_domain pe_domain;

#define PE_MAX_AXES 8

/* Positions offset, offset + 1, … offset + length - 1. length ≥ 0, offset finite. */
PE_API PE_NODISCARD pe_status pe_domain_sequence(
	pe_context *context, int64_t length, double offset, pe_domain **out);
/* Positions as they are, any numeric type, finite; copied. axes 0: one number a token, (length) or
 * (batch, length); axes 1 to PE_MAX_AXES: so many coordinates a token, (length, axes) or
 * (batch, length, axes), in the order that the encoder's help gives. */
PE_API PE_NODISCARD pe_status pe_domain_positions(
	pe_context *context, const pe_tensor *positions, int64_t axes, pe_domain **out);
/* A grid of frames × height × width tokens (frames 1 for an image), each ≥ 1, token
 * t·H·W + y·W + x, after prefix ≥ 0 tokens that have no place on the grid. */
PE_API PE_NODISCARD pe_status pe_domain_grid(
	pe_context *context, int64_t frames, int64_t height, int64_t width, int64_t prefix, pe_domain **out);
/* A grid some of whose places are padding, as in a batch of images of different sizes: nonzero where there is
 * no image, as DETR's masks and PyTorch's key_padding_mask, the reverse of transformers' pixel_mask. padding
 * is bool, u8 or integer, (height, width), of several frames (frames, height, width), also with a first
 * dimension of batches; copied. Encoders that do not count places refuse such a domain. */
PE_API PE_NODISCARD pe_status pe_domain_padded(
	pe_context *context, const pe_domain *grid, const pe_tensor *padding, pe_domain **out);
/* The last `tokens` tokens of a domain, as queries against all of it as keys; copied. Not of graphs. */
PE_API PE_NODISCARD pe_status pe_domain_tail(
	pe_context *context, const pe_domain *domain, int64_t tokens, pe_domain **out);
/* The nodes of a graph. The graph must live longer than the domain. */
PE_API PE_NODISCARD pe_status pe_domain_graph(pe_context *context, const pe_graph *graph, pe_domain **out);
PE_API void pe_domain_destroy(pe_domain **domain);
/* Number of tokens (prefix included), positions or nodes. */
PE_API int64_t pe_domain_tokens(const pe_domain *domain);

/* ---- bundles: named arrays in files ------------------------------------------------- */

/* Named arrays and metadata, read from or written to .npy, .npz, .safetensors, .tsv or a
 * directory of .npy. */
typedef struct pe_bundle pe_bundle;

PE_API PE_NODISCARD pe_status pe_bundle_create(pe_context *context, pe_bundle **out);
PE_API void pe_bundle_destroy(pe_bundle **bundle);
/* Adds an array by reference: tensor.data must live until the bundle is written or destroyed.
 * name: 1 to 255 bytes of UTF-8 without control characters, not yet in the bundle. It may be a path, as in
 * Flax's files, but none with an empty part, "." or "..", and is then refused by directories of .npy. */
PE_API PE_NODISCARD pe_status pe_bundle_add(pe_bundle *bundle, const char *name, const pe_tensor *tensor);
/* Adds a metadata entry; a second one of the same name replaces the first. */
PE_API PE_NODISCARD pe_status pe_bundle_set_metadata(pe_bundle *bundle, const char *name, const char *value);
/* Reads a whole file or directory. format NULL: by content, then by suffix; else "npy", "npz",
 * "safetensors", "dir". "-" is standard input; gzip is unpacked. Arrays of other integer types are
 * widened to i32 or i64, strings become u8 with one more dimension. The one array of a .npy file is
 * named "array". from_bytes copies what it needs; name is used in messages and for its suffix. */
PE_API PE_NODISCARD pe_status pe_bundle_from_file(
	pe_context *context, const char *path, const char *format, pe_bundle **out);
PE_API PE_NODISCARD pe_status pe_bundle_from_bytes(pe_context *context, const void *data, size_t size,
	const char *name, const char *format, pe_bundle **out);
/* Writes everything, whole or not at all: a temporary name in the same directory, fsync, rename.
 * format NULL: by suffix (a trailing '/' is a directory of .npy); else "npy", "npz", "safetensors",
 * "tsv", "dir". A .npy file takes a bundle of one array, and no metadata; text takes arrays with one
 * row a node or token, and no metadata. */
PE_API PE_NODISCARD pe_status pe_bundle_write(pe_bundle *bundle, const char *path, const char *format);
/* What can be told before the data are there: refuses what pe_bundle_write would refuse now, such as
 * names, types and shapes that the format cannot hold, or a directory that is not there or cannot be
 * written to. Leaves nothing behind. path NULL: as pe_bundle_write_fd would. */
PE_API PE_NODISCARD pe_status pe_bundle_check(pe_bundle *bundle, const char *path, const char *format);
/* Writes to an open file descriptor, which may be a pipe; "dir" is refused. */
PE_API PE_NODISCARD pe_status pe_bundle_write_fd(pe_bundle *bundle, int fd, const char *format);
/* A file larger than memory: announce arrays by pe_bundle_await, begin the file, write their rows in any
 * order and from several threads, and end it. Other arrays and metadata may be added until the end, but not
 * while rows are written. Format npz alone, and a file, not a pipe. Whole or not at all: destroying the
 * bundle before the end leaves nothing. ndim at least 1. pe_bundle_at and pe_bundle_find show such an array
 * with data NULL. */
PE_API PE_NODISCARD pe_status pe_bundle_await(
	pe_bundle *bundle, const char *name, pe_dtype dtype, int32_t ndim, const int64_t *shape);
/* path must stay as it is until the end; format as of pe_bundle_write. */
PE_API PE_NODISCARD pe_status pe_bundle_begin(pe_bundle *bundle, const char *path, const char *format);
/* Rows first … first + rows->shape[0] - 1, of the array's type, any strides, each once. worker: a context
 * that this thread alone uses, for the message. */
PE_API PE_NODISCARD pe_status pe_bundle_rows(
	pe_bundle *bundle, pe_context *worker, const char *name, int64_t first, const pe_tensor *rows);
/* Refuses to end with a row that was not written, or twice. Ends the file, also where it fails. */
PE_API PE_NODISCARD pe_status pe_bundle_end(pe_bundle *bundle);
/* The file that has begun, until the end gives it its name; NULL: none has. For a program that removes it
 * when a signal ends it: the text is the bundle's, and gone with pe_bundle_end. */
PE_API const char *pe_bundle_temporary(const pe_bundle *bundle);
/* Seconds that the last pe_bundle_write, or pe_bundle_end, spent in fsync. */
PE_API double pe_bundle_sync_seconds(const pe_bundle *bundle);
PE_API int64_t pe_bundle_count(const pe_bundle *bundle);
/* Array number index: its name and a view on it, each unless NULL; both owned by the bundle. */
PE_API PE_NODISCARD pe_status pe_bundle_at(
	const pe_bundle *bundle, int64_t index, const char **name, pe_tensor *out);
/* 1 and, unless out is NULL, a view if there is an array of this name, else 0. */
PE_API int pe_bundle_find(const pe_bundle *bundle, const char *name, pe_tensor *out);
/* 1 if array number index was read as another type than the file has: integers that were widened, or text. */
PE_API int pe_bundle_is_widened(const pe_bundle *bundle, int64_t index);
/* The value of a metadata entry, or NULL. */
PE_API const char *pe_bundle_metadata(const pe_bundle *bundle, const char *name);
PE_API int64_t pe_bundle_metadata_count(const pe_bundle *bundle);
PE_API const char *pe_bundle_metadata_name(const pe_bundle *bundle, int64_t index);

/* Writes a file of any bytes as pe_bundle_write does its own: whole or not at all. */
PE_API PE_NODISCARD pe_status pe_file_write(
	pe_context *context, const char *path, const void *data, size_t size);
/* Refuses what pe_file_write would refuse now. Leaves nothing behind. */
PE_API PE_NODISCARD pe_status pe_file_check(pe_context *context, const char *path);

/* ---- encodings ---------------------------------------------------------------------- */

/* An encoder bound to parameters, a domain and weights. */
typedef struct pe_encoding pe_encoding;

#define PE_MAX_ARRAYS 12

typedef struct pe_array_info {
	const char *name; /* owned by the encoding */
	pe_dtype dtype;   /* the type it is computed in; PE_F64 may be stored in any float type */
	int32_t ndim;
	int64_t shape[PE_MAX_DIMS];
	int32_t per_token; /* 1 if the first dimension counts tokens or nodes; 0 otherwise */
	int32_t redundant; /* 1 if it is large and another array holds the same: written only when asked for */
} pe_array_info;

/* How right the last computation was. Fields that do not apply are 0. */
typedef struct pe_quality {
	double max_residual;            /* max ‖Lv - λv‖₂ / ‖L‖₁ over all pairs, ‖v‖₂ = 1 */
	double max_orthogonality_error; /* max |VᵀV - I| over all graphs */
	int64_t certified;              /* graphs of which no eigenvalue was skipped, proved */
	int64_t uncertified;
	int64_t split_groups;      /* graphs whose last eigenvalue group was cut at k */
	int64_t failed;            /* graphs that failed; see pe_encoding_failed */
	double max_standard_error; /* of sampled results */
} pe_quality;

/* Sizes of the attention that an encoding acts in, or of the features; 0: not known. */
typedef struct pe_sizes {
	int64_t heads, key_heads; /* of queries; of keys and values */
	int64_t head_dim, value_dim;
	int64_t dim; /* of the features; of attention, heads x head_dim */
} pe_sizes;

typedef struct pe_encoding_options {
	size_t size;              /* sizeof(pe_encoding_options) */
	const pe_domain *queries; /* where attention's queries stand, if not where its keys do; NULL: the same */
	const pe_bundle *weights; /* learned parameters by name; NULL: as the authors begin, from the seed */
	const char *prefix;       /* a parameter is looked for as "prefix.name", then as "name", each also
							   * with ".weight" behind; what is not given begins by it too, so
							   * that layers differ; NULL: the encoder's name */
	int32_t weights_shared;   /* 1: the weights are of other encoders too: if they hold none of this one's, it
							   * begins as without. 0: they must hold all of them */
	pe_sizes sizes;           /* options heads, head_dim, value_dim and dim follow from these where neither
							   * the user nor a preset sets them, and where they mean the same */
} pe_encoding_options;

/* Binds. Everything that can be refused without computing is refused here. params NULL means
 * defaults; so does options NULL. The domains, and their graphs, must live longer than the encoding;
 * params and weights are copied. */
PE_API PE_NODISCARD pe_status pe_encoding_create(pe_context *context, const pe_encoder *encoder,
	const pe_params *params, const pe_domain *domain, const pe_encoding_options *options, pe_encoding **out);
PE_API void pe_encoding_destroy(pe_encoding **encoding);
/* The parameters it was bound to, its own copy, with what followed from sizes. */
PE_API const pe_params *pe_encoding_params(const pe_encoding *encoding);
/* The arrays it yields on its own; 0 ≤ index < pe_encoding_array_count. */
PE_API int64_t pe_encoding_array_count(const pe_encoding *encoding);
PE_API PE_NODISCARD pe_status pe_encoding_array(
	const pe_encoding *encoding, int64_t index, pe_array_info *out);
/* Computes the arrays into outs[0 … count-1], in the order of pe_encoding_array. outs[i].data
 * NULL leaves that array out. A float array may be stored as f64, f32, f16 or bf16, rounded once;
 * an integer array as i64 or i32, a bool array also as u8. Any positive strides that do not overlap.
 * On PE_ERR_NOT_CONVERGED, PE_ERR_NOT_CERTIFIED and PE_ERR_PARTIAL the arrays hold what there
 * is, failed graphs filled as the option pad says; on any other error they are unspecified. */
PE_API PE_NODISCARD pe_status pe_encoding_compute(
	pe_encoding *encoding, const pe_tensor *outs, int64_t count);
/* Takes rows first … first + rows->shape[0] - 1 of array number `array`, dense, which are there during the
 * call alone. Called from several threads at once, and in any order; worker is a context of the thread, for
 * the message of what goes wrong. */
typedef pe_status (*pe_take_rows)(
	pe_context *worker, void *opaque, int64_t array, int64_t first, const pe_tensor *rows);
/* pe_encoding_compute for what need not fit into memory: hands every row of the arrays to take, once.
 * Encoders of graphs do so in parts of some hundred graphs, or one large one; others hand over whole arrays.
 * dtypes[i] is a pe_dtype that array number i may be stored in, or -1: it is left out. The first status
 * of take that is not PE_OK ends it, and is returned. */
PE_API PE_NODISCARD pe_status pe_encoding_stream(
	pe_encoding *encoding, const int32_t *dtypes, int64_t count, pe_take_rows take, void *opaque);
/* The shape of y in pe_encoding_apply, for x of this shape; ndim values each, out may be shape. */
PE_API PE_NODISCARD pe_status pe_encoding_apply_shape(
	pe_encoding *encoding, int32_t ndim, const int64_t *shape, int64_t *out);
/* Applies a token-site encoder: y ← x with the encoding in it. x and y (…, tokens, width) of the
 * same float type, the leading dimensions evenly spaced; y may be x itself where the shape stays;
 * any other overlap is refused. */
PE_API PE_NODISCARD pe_status pe_encoding_apply(
	pe_encoding *encoding, const pe_tensor *x, const pe_tensor *y);

/* Attention's inputs. */
typedef enum pe_side { PE_QUERIES = 0, PE_KEYS = 1, PE_VALUES = 2 } pe_side;

/* The width of y in pe_encoding_rotate, for x of this width. */
PE_API PE_NODISCARD pe_status pe_encoding_rotate_width(
	pe_encoding *encoding, pe_side side, int64_t width, int64_t *out);
/* Applies the rotate site of one encoder to queries, keys or values: x (batch, heads, length, width)
 * and y of the same float type, any strides; y may be x where the width stays, any other overlap is
 * refused. For programs with an attention of their own; pe_attend does it by itself. */
PE_API PE_NODISCARD pe_status pe_encoding_rotate(
	pe_encoding *encoding, pe_side side, const pe_tensor *x, const pe_tensor *y);

/* Which channels of a head rotary encodings turn together; pair t of rotary_dim/2. */
typedef enum pe_rotary_layout {
	PE_ROTARY_HALVES = 0,     /* (t, t + rotary_dim/2): GPT-NeoX, Hugging Face's Llama */
	PE_ROTARY_INTERLEAVED = 1 /* (2t, 2t + 1): GPT-J, Meta's Llama, GGUF */
} pe_rotary_layout;

/* y ← x, its channels from one layout in the other. x is a query or key projection: (rows, …) with rows
 * channels, head by head: a weight (heads·head_dim, inputs), its bias (heads·head_dim), or the weight of a
 * norm (head_dim). For channels in another dimension, give views with that one first. Of each head the first
 * rotary_dim channels are in pairs (even; 0: all), the others stay. Same type, any, and shape; any strides;
 * y may be x, any other overlap is refused. With both projections, their biases and norms converted, the
 * scores of attention are the same under the other layout; values are not rotated, and stay. */
PE_API PE_NODISCARD pe_status pe_rotary_convert(pe_context *context, pe_rotary_layout from,
	pe_rotary_layout to, int64_t head_dim, int64_t rotary_dim, const pe_tensor *x, const pe_tensor *y);

/* How grids are resampled: by PyTorch's rules for modes of these names, align_corners=False. */
typedef enum pe_interpolation { PE_BICUBIC = 0, PE_BILINEAR = 1 } pe_interpolation;

typedef struct pe_patch_kernel_options {
	size_t size; /* sizeof(pe_patch_kernel_options) */
	pe_interpolation interpolation;
	int32_t no_antialias; /* 1: no antialiasing where patches become smaller, and bicubic's a = -0.75 */
} pe_patch_kernel_options;

/* y ← x, the kernels of a patch embedding, for patches of another size: x (…, height, width), y (…, new
 * height, new width), with the same leading dimensions, 2 to PE_MAX_DIMS in all, sides 1 to 512. With R the
 * matrix that resamples a patch of the old size to one of the new, a kernel k becomes k pinv(R): a patch that
 * was made larger by R gives the number that it gave before. Beyer et al., "FlexiViT", CVPR 2023; options
 * NULL means timm's resample_patch_embed, bicubic and antialiased. Of one float type, any strides, no
 * overlap; in double, rounded once. Biases stay, and learned tables of positions follow the new grid by
 * learned_grid. */
PE_API PE_NODISCARD pe_status pe_patch_kernel_resize(
	pe_context *context, const pe_patch_kernel_options *options, const pe_tensor *x, const pe_tensor *y);

/* The learned parameters as they are, given or begun: number index, its name and a dense f64 view; both
 * owned by the encoding. 0 ≤ index < pe_encoding_weight_count. */
PE_API int64_t pe_encoding_weight_count(const pe_encoding *encoding);
PE_API PE_NODISCARD pe_status pe_encoding_weight_at(
	const pe_encoding *encoding, int64_t index, const char **name, pe_tensor *out);
/* The name in the given weights that parameter number index was found by, or NULL: it was begun. */
PE_API const char *pe_encoding_weight_source(const pe_encoding *encoding, int64_t index);
/* 1 if a parameter was begun at random, from the context's seed. */
PE_API int pe_encoding_is_random(const pe_encoding *encoding);
PE_API const pe_quality *pe_encoding_get_quality(const pe_encoding *encoding);
/* Indices of the graphs that failed in the last computation, quality.failed of them, ascending,
 * and why. NULL beyond. Owned by the encoding. */
PE_API const int64_t *pe_encoding_failed(const pe_encoding *encoding);
PE_API const char *pe_encoding_failure(const pe_encoding *encoding, int64_t index);

/* ---- attention ---------------------------------------------------------------------- */

typedef enum pe_core {
	PE_CORE_TILED = 0,     /* f32, memory of the order of the length */
	PE_CORE_REFERENCE = 1, /* f64, straight loops: what the others are tested against */
	PE_CORE_LINEAR = 2 /* f64; a key weighs φ(q)·φ(k), φ = elu + 1, instead of exp(scale·q·k), in time
						* and memory of the order of the length. Rotations of pairs turn φ(q) and φ(k)
						* in the numerator alone; other maps of the site rotate come before φ; scale is
						* without effect. Masks are of keys alone; no window, softcap, scale or sinks */
} pe_core;

typedef struct pe_attention_options {
	size_t size; /* sizeof(pe_attention_options) */
	pe_core core;
	/* Positions for causal and window. NULL: those of the first encoding, else keys at 0 … Lk-1 and
	 * queries at Lk-Lq … Lk-1. */
	const pe_domain *queries, *keys;
	int32_t causal;                   /* 1: a query sees the keys whose position is not after its own */
	int32_t windowed;                 /* 1: a query at p sees keys from p - left to p + right … */
	double window_left, window_right; /* … inclusive; negative: without limit */
	double scale;                     /* of q·k; 0: what an encoder says, else 1/sqrt(width) */
	double softcap;                   /* s ← softcap·tanh(s/softcap) before any bias; 0: none */
	int32_t keep_far_tiles;           /* 1: compute tiles too whose weights are provably below rounding */
} pe_attention_options;

/* q (batch, heads, Lq, width), k (batch, key heads, Lk, width), v (batch, key heads, Lk, value width):
 * f32, f16 or bf16 (reference and linear: f64 too), any strides; heads is a multiple of key heads, and
 * consecutive query heads share one. NULL where not wanted: */
typedef struct pe_attention_tensors {
	size_t size; /* sizeof(pe_attention_tensors) */
	const pe_tensor *q, *k, *v;
	const pe_tensor *out;         /* (batch, heads, Lq, value width), any float type; overlaps no input */
	const pe_tensor *lse;         /* (batch, heads, Lq): log of the sum of exp(score), all biases in it; in
								   * linear attention of the sum of φ(q)·φ(k) exp(mask) */
	const pe_tensor *mask;        /* broadcast to (batch, heads, Lq, Lk) from the right. bool, u8: 1 = may
								   * attend; float: added, -inf = may not */
	const pe_tensor *key_lengths; /* (batch) integers: keys from there on are masked */
	const pe_tensor *sinks;       /* (heads): one more score, which takes weight and has no value; -inf: none;
								   * NaN and inf are refused */
} pe_attention_tensors;

/* out ← attention of q, k and v, with encodings acting at their sites in the order given (at most 16).
 * The order inside: rotate, scale·q·k, content, softcap, scores (kept apart from the logits while a
 * heads encoder is present), heads, mask, sink, softmax, weights, ·(v + values). Encodings bound to
 * domains of Lk keys and Lq queries. A row without a visible key gives 0 and lse -inf. Keys and
 * values that no query sees may hold NaN. A value of inf or NaN that a query sees is in its sum, however
 * small its weight, which is above 0 unless the score is -inf. options NULL means defaults. */
PE_API PE_NODISCARD pe_status pe_attend(pe_context *context, pe_encoding *const *encodings, int64_t count,
	const pe_attention_options *options, const pe_attention_tensors *tensors);

/* ---- comparison --------------------------------------------------------------------- */

typedef struct pe_compare_options {
	size_t size;      /* sizeof(pe_compare_options) */
	double tolerance; /* relative to max(1, the array's largest magnitude); 0: 1e-6 */
	int32_t exact;    /* 1: eigenvectors entry by entry too, tolerance 0 unless given */
} pe_compare_options;

typedef struct pe_compare_row {
	const char *name;           /* owned by the report */
	int32_t alike;              /* 0 or 1 */
	double difference;          /* the largest, or NaN if the arrays cannot be compared */
	int64_t where[PE_MAX_DIMS]; /* its index */
	int32_t ndim;
	const char *note; /* "up to sign and rotation inside groups", "only in the first", … or "" */
} pe_compare_row;

typedef struct pe_compare_report pe_compare_report;

/* Compares the arrays of two bundles by name: floats of any type within the tolerance, a NaN equal
 * to a NaN, integers exactly; eigenvectors up to sign and rotation inside groups of equal
 * eigenvalues, when both bundles hold those (by their group arrays, else by gaps of 1e-5). A last
 * group that was cut at k is compared all the same: only a whole one can be rotated into another.
 * An array that only one bundle holds is a difference; metadata are not compared. options NULL
 * means defaults. */
PE_API PE_NODISCARD pe_status pe_compare(pe_context *context, const pe_bundle *a, const pe_bundle *b,
	const pe_compare_options *options, pe_compare_report **out);
PE_API void pe_compare_destroy(pe_compare_report **report);
/* 1 if everything is alike. */
PE_API int pe_compare_alike(const pe_compare_report *report);
PE_API int64_t pe_compare_count(const pe_compare_report *report);
PE_API PE_NODISCARD pe_status pe_compare_at(
	const pe_compare_report *report, int64_t index, pe_compare_row *out);

#ifdef __cplusplus
}
#endif

#endif
