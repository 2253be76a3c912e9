/* heed: transformer inference with access to attention.
 *
 * This is the public header of the core. Two other headers stand beside it, so that the core knows
 * no GPU and opens no file: heed/vulkan.h is the Vulkan backend, and heed/native.h reads model
 * folders and pictures, writes figures and chooses a backend.
 *
 * Data flow: model files -> heed_model -> heed_graph -> heed_plan -> heed_session -> tensors ->
 * maps and figures.
 *
 * The whole way, from native/examples/vit.c (paths, pictures and the backend come from
 * heed/native.h; `must` ends the program with the sentence of `error`):
 *
 *  must(heed_context_create(NULL, &context, &error));
 *  must(heed_auto_backend_create(context, NULL, &backend, &choice, &error));
 *  fprintf(stderr, "%s: %s\n", heed_backend_name(backend), choice.why);
 *  must(heed_model_files_open(context, argv[1], &files, &error));
 *  must(heed_model_open(context, heed_model_files_desc(files), &model, &error));
 *  heed_model_get_info(model, &info);
 *  heed_model_preprocess(model, &preprocess);
 *
 *  must(heed_image_load(context, argv[2], &photo, &error));
 *  const heed_image image = heed_picture_view(&photo);
 *  must(heed_preprocess_size(&preprocess, image.width, image.height, &width, &height, &error));
 *  const uint32_t rows = height / info.patch, columns = width / info.patch,
 *                 tokens = info.prefix_tokens + rows * columns;
 *  const size_t count = (size_t)3 * height * width;
 *  float *pixels = floats(count), *logits = floats(info.classes), *row = floats(tokens),
 *        *map = row + info.prefix_tokens;
 *  must(heed_preprocess_image(context, &preprocess, &image, pixels, &seen, &error));
 *
 *  const uint32_t layer = info.layers - 1, head = 0, cls = 0;
 *  const heed_build_desc desc = {
 *      .struct_size = sizeof desc, .height = height, .width = width, .rows = &cls, .row_count = 1};
 *  must(heed_model_build(model, &desc, &graph, &error));
 *  snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)layer);
 *  const heed_value weights = heed_graph_find(graph, name);
 *  const heed_plan_desc taps = {.struct_size = sizeof taps, .taps = &weights, .tap_count = 1};
 *  must(heed_plan_create(graph, backend, &taps, &plan, &error));
 *  must(heed_session_create(plan, NULL, &session, &error));
 *  must(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
 *                          count * sizeof *pixels, &error));
 *  must(heed_session_run(session, NULL, &error));
 *  must(heed_session_read(session, heed_graph_find(graph, "logits"), 0, info.classes, logits,
 *                         &error));
 *  must(heed_session_read(session, weights, (uint64_t)head * tokens, tokens, row, &error));
 *  const uint32_t shown = heed_top(logits, info.classes, 5, top, probability);
 *  for (uint32_t k = 0; k < shown; k++)
 *    printf("%.4f  %s\n", probability[k], heed_model_label(model, top[k]));
 *
 *  const heed_figure_desc figure = {.struct_size = sizeof figure,
 *                                   .image = image,
 *                                   .region = seen,
 *                                   .maps = map,
 *                                   .layers = 1,
 *                                   .heads = 1,
 *                                   .rows = rows,
 *                                   .columns = columns,
 *                                   .tokens = tokens,
 *                                   .layer_numbers = &layer,
 *                                   .query_row = -1};
 *  must(heed_figure_write(context, &figure, argv[3], &error));
 *
 * heed opens no files: bytes or a read callback are passed in. It prints nothing: a log hook
 * receives its lines. It does not train.
 *
 * Errors: every function that can fail returns a heed_status. It writes one sentence to `error`,
 * which may be NULL: where: what is wrong (found ..., expected ...).
 * A failed call sets its output pointer to NULL and changes nothing else. Bad input never aborts.
 * Each function lists its statuses. Compilers warn where a status is dropped (HEED_NODISCARD).
 *
 * Ownership: "borrows" means that the argument must outlive the object. "Copies" means that the
 * argument may be freed after the call. Every *_destroy accepts NULL. An object is destroyed after
 * everything created from it: decoder or stream, session, plan, graph, model, backend, context.
 *
 * Threads: several threads may read a context, a model, a finished graph or a plan. A session, a
 * stream, a decoder and a backend belong to one thread at a time: a second gets INVALID_ARGUMENT.
 * So does the child of a fork, but for a CPU backend of one thread. Destroying does nothing there.
 * The log hook may be called from any thread.
 *
 * Descs: the first field of a desc, struct_size, is the size of the struct. Zero means default in
 * every other field. HEED_DESC makes such a desc:
 *   heed_linear_desc desc = HEED_DESC(heed_linear_desc);  desc.x = x;
 * In C, heed_linear_desc desc = {.struct_size = sizeof desc, .x = x} does the same. A later version
 * may add fields at the end of a desc, and then its size grows. A smaller struct_size leaves the
 * fields that it lacks at their defaults. A larger one is accepted while the bytes that this
 * version does not know are zero. Any other struct_size is INVALID_ARGUMENT.
 *
 * EXPERIMENTAL stands before what may change or go in any version 0.x. Everything else changes only
 * with a line under "Changed" in CHANGELOG.md.
 *
 * Dimensions: B batch, H heads, Tq/Tk query/key tokens, D head size, Dv value head size, C
 * channels, L layers, P patch side. Tensors are dense and row-major. */
#ifndef HEED_HEED_H
#define HEED_HEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 1
#define HEED_VERSION_PATCH 1
#define HEED_VERSION "0.1.1"

#if defined(HEED_SHARED) && defined(__GNUC__)
#define HEED_API __attribute__((visibility("default")))
#else
#define HEED_API
#endif

/* A desc of this type with every field at its default; an expression. */
#ifdef __cplusplus
#define HEED_DESC(type)                    \
  ([] {                                    \
    type heed_desc_ = type();              \
    heed_desc_.struct_size = sizeof(type); \
    return heed_desc_;                     \
  }())
#else
#define HEED_DESC(type) ((type){.struct_size = sizeof(type)})
#endif

/* Stands before a function whose status must be looked at. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define HEED_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define HEED_NODISCARD __attribute__((warn_unused_result))
#else
#define HEED_NODISCARD
#endif

/* Marks a function with a printf format at argument `at` and its values from argument `first` on.
 * Compilers then check the values against the format. */
#if defined(__MINGW32__)
#include <stdio.h> /* the formats of its own printf, which knows %zu; Windows' does not */
#define HEED_PRINTF(at, first) __attribute__((format(__MINGW_PRINTF_FORMAT, at, first)))
#elif defined(__GNUC__)
#define HEED_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define HEED_PRINTF(at, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------- status */

/* name, number (never reused), sentence */
#define HEED_STATUS_LIST(X)                                       \
  X(OK, 0, "done")                                                \
  X(INVALID_ARGUMENT, 1, "an argument or attribute is not valid") \
  X(INVALID_FILE, 2, "a file does not hold what it should")       \
  X(UNSUPPORTED, 3, "valid, but not supported here")              \
  X(IO, 4, "reading or writing failed")                           \
  X(OUT_OF_MEMORY, 5, "out of memory")                            \
  X(NO_DEVICE, 6, "no usable device")                             \
  X(OUT_OF_DEVICE_MEMORY, 7, "out of device memory")              \
  X(DEVICE_LOST, 8, "the device was lost")                        \
  X(DEVICE_FAILED, 9, "the device or its driver failed")          \
  X(CANCELLED, 10, "cancelled by the caller")                     \
  X(MISMATCH, 11, "results differ from what was expected")        \
  X(INTERNAL, 12, "a fault inside heed")

typedef enum heed_status {
#define HEED_STATUS_ENUM(name, number, sentence) HEED_##name = number,
  HEED_STATUS_LIST(HEED_STATUS_ENUM)
#undef HEED_STATUS_ENUM
} heed_status;

#define HEED_ERROR_MESSAGE_SIZE 512

/* The caller's. Filled only when a call fails. */
typedef struct heed_error {
  heed_status status;
  char message[HEED_ERROR_MESSAGE_SIZE]; /* UTF-8, NUL-terminated, one line */
} heed_error;

/* The name ("INVALID_FILE") and the sentence of a status, as static strings. An unknown number has
 * the name "UNKNOWN". */
HEED_API const char *heed_status_name(heed_status status);
HEED_API const char *heed_status_sentence(heed_status status);

/* Fills `error` (may be NULL) with `status` and the formatted sentence, and returns `status`. For
 * callbacks, which report as heed does: "where: what is wrong (found ..., expected ...)". A
 * sentence that is too long ends at its last whole character. Controls and bytes that are not UTF-8
 * become '?', so the message is one line that is safe to show. Neither the format nor `where` may
 * be NULL. */
HEED_API heed_status heed_fail(heed_error *error, heed_status status, const char *format, ...)
    HEED_PRINTF(3, 4);
/* heed_fail with OUT_OF_MEMORY and the sentence "where: out of memory (requested N bytes)". */
HEED_API heed_status heed_fail_memory(heed_error *error, const char *where, size_t bytes);

/* EXPERIMENTAL: may change. The first character of a text of `size` bytes, at least 1: for programs
 * that show labels, names and paths that others wrote. Returns the character's length in bytes and
 * sets its code point. A byte that is not UTF-8 is a character of its own, U+FFFD. *shown is false
 * for such a byte, and for what a terminal obeys and does not show: controls, marks of writing
 * direction, separators of lines. */
HEED_API size_t heed_text_next(const char *text, size_t size, uint32_t *point, bool *shown);

/* "0.1.1": the version of the linked library, not of the header. A static string. */
HEED_API const char *heed_version(void);

/* -------------------------------------------------------------------------------------- context */

/* alloc returns memory aligned to `alignment` (a power of two, at most 256), or NULL. free receives
 * a pointer returned by alloc, never NULL. Set both, or neither for the C library's. Both must be
 * callable from any thread. */
typedef struct heed_allocator {
  void *(*alloc)(size_t size, size_t alignment, void *user);
  void (*free)(void *pointer, void *user);
  void *user;
} heed_allocator;

typedef enum heed_log_level {
  HEED_LOG_DEBUG = 0,
  HEED_LOG_INFO = 1,
  HEED_LOG_WARNING = 2
} heed_log_level;
/* Receives one line without a line feed, valid during the call. */
typedef void (*heed_log_function)(heed_log_level level, const char *line, void *user);

typedef struct heed_context_desc {
  size_t struct_size;
  heed_allocator allocator;
  heed_log_function log; /* NULL: silent */
  void *log_user;
} heed_context_desc;
#define HEED_CONTEXT_DESC_INIT \
  { sizeof(heed_context_desc), {NULL, NULL, NULL}, NULL, NULL }

typedef struct heed_context heed_context;

/* The allocator and the log of all that is created from it. Copies desc (NULL: defaults). Statuses:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_context_create(const heed_context_desc *desc,
                                                        heed_context **context, heed_error *error);
HEED_API void heed_context_destroy(heed_context *context);

/* ---------------------------------------------------------------------- hooks: progress, cancel */

/* Reports progress. The phase "read" counts bytes of model weights that were read and packed or
 * uploaded. The others are "pipelines" (k of n), "run" (layer i of L) and "decode" (step k of at
 * most n). */
typedef void (*heed_progress_function)(const char *phase, uint64_t done, uint64_t total,
                                       void *user);
/* Return true to cancel. Called between stages and decoding steps and, while loading, between
 * tensors. */
typedef bool (*heed_cancel_function)(void *user);

/* Both are called from the thread that made the call. */
typedef struct heed_hooks {
  size_t struct_size;
  heed_progress_function progress;
  heed_cancel_function cancel;
  void *user;
} heed_hooks;
#define HEED_HOOKS_INIT \
  { sizeof(heed_hooks), NULL, NULL, NULL }

/* -------------------------------------------------------------------------------------- tensors */

typedef enum heed_dtype {
  HEED_F32 = 0,
  HEED_F16 = 1,
  HEED_BF16 = 2,
  HEED_U8 = 3,
  HEED_I32 = 4,
  HEED_I8 = 5 /* of files and of int8 weights; no value of a graph has it */
} heed_dtype;

#define HEED_MAX_RANK 6
typedef struct heed_shape {
  uint32_t rank;
  uint32_t dim[HEED_MAX_RANK]; /* outermost first; unused entries 0 */
} heed_shape;

HEED_API const char *heed_dtype_name(heed_dtype dtype);      /* "F32" */
HEED_API size_t heed_dtype_size(heed_dtype dtype);           /* bytes per element */
HEED_API uint64_t heed_shape_count(const heed_shape *shape); /* elements; 1 for rank 0 */
/* Whether rank and dimensions are equal. */
HEED_API bool heed_shape_equal(const heed_shape *a, const heed_shape *b);
/* Computes the bytes of a dense tensor. Returns false where they exceed SIZE_MAX; *bytes is then
 * not usable. */
HEED_API bool heed_shape_bytes(const heed_shape *shape, heed_dtype dtype, size_t *bytes);
#define HEED_SHAPE_TEXT_SIZE 80
/* Writes "[1, 197, 768]" into text, which it returns. */
HEED_API const char *heed_shape_text(const heed_shape *shape, char text[HEED_SHAPE_TEXT_SIZE]);

/* ---------------------------------------------------------------------------------------- graph */

typedef struct heed_graph heed_graph;

/* A tensor of one graph. id 0 means no value: an absent optional input, or a failed define. */
typedef struct heed_value {
  uint32_t id;
} heed_value;

/* Creates an empty graph. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_graph_create(heed_context *context, heed_graph **graph,
                                                      heed_error *error);
HEED_API void heed_graph_destroy(heed_graph *graph);

/* The first error of a graph. heed_define_<op> checks its desc, infers the output shape and appends
 * a node. When it fails it returns the value 0, and the graph keeps the error. A define on a failed
 * graph, or with a failed value as a required input, does nothing. Build the whole graph, then
 * check the status once. */
HEED_NODISCARD HEED_API heed_status heed_graph_status(const heed_graph *graph, heed_error *error);

/* Names a value, in place of an older name. Copies name. Names are unique in a graph. Does nothing
 * for value 0. */
HEED_API void heed_graph_name(heed_graph *graph, heed_value value, const char *name);
/* Marks a value as an output: it is computed, and can be read after a run. */
HEED_API void heed_graph_output(heed_graph *graph, heed_value value);
/* Sets the stage (layer) of the nodes defined from here on. The first stage is 0. Progress is
 * reported and cancellation checked between stages. */
HEED_API void heed_graph_stage(heed_graph *graph, uint32_t stage);
/* Attaches the padding mask U8 [B, T], 1 = real token, to value x [B, T, C]; mask 0 removes it.
 * activation, add, layer_norm, linear, softmax, lstm and gru propagate it to their results. Inputs
 * with different masks are an error. Multi-head attention, transformer blocks and Luong's attention
 * use it where no padding is given: query AND key (AND causal), as Keras' MultiHeadAttention does.
 * Their results carry the query's mask. */
HEED_API void heed_graph_carry_mask(heed_graph *graph, heed_value value, heed_value mask);
/* The mask that a value carries, or 0. */
HEED_API heed_value heed_graph_mask_of(const heed_graph *graph, heed_value value);
/* The value of this name, or 0. */
HEED_API heed_value heed_graph_find(const heed_graph *graph, const char *name);
/* The number of values; ids run from 1 to this. */
HEED_API uint32_t heed_graph_value_count(const heed_graph *graph);

typedef struct heed_value_info {
  const char *name; /* "" when unnamed; valid as long as the graph */
  heed_dtype dtype;
  heed_shape shape;
  bool is_input, is_constant, is_output;
} heed_value_info;
/* Statuses: INVALID_ARGUMENT (no such value). */
HEED_NODISCARD HEED_API heed_status heed_graph_value_info(const heed_graph *graph, heed_value value,
                                                          heed_value_info *info);

/* EXPERIMENTAL: may change. Returns the value whose memory a view shares. That value is never a
 * view itself. Returns 0 for a value that is not a view. */
HEED_API heed_value heed_graph_view_base(const heed_graph *graph, heed_value value);

#define HEED_NODE_INPUTS 8
#define HEED_NODE_OUTPUTS 3

/* EXPERIMENTAL: may change. One node of a graph. heed_graph_value_info has names and shapes of its
 * values. */
typedef struct heed_node_info {
  const char *op; /* "linear"; a static string */
  uint32_t stage; /* that of heed_graph_stage when the node was defined */
  uint32_t input_count, output_count;
  heed_value inputs[HEED_NODE_INPUTS]; /* in the op's own order, without absent ones */
  heed_value outputs[HEED_NODE_OUTPUTS];
} heed_node_info;
/* The number of nodes, and each of them. Nodes are in an order in which they can run. Statuses:
 * INVALID_ARGUMENT (no such node). */
HEED_API uint32_t heed_graph_node_count(const heed_graph *graph);
HEED_NODISCARD HEED_API heed_status heed_graph_node_info(const heed_graph *graph, uint32_t index,
                                                         heed_node_info *info);

/* An input, written with heed_session_write before a run. Copies name, which is required. */
HEED_API heed_value heed_define_input(heed_graph *graph, const char *name, heed_dtype dtype,
                                      const heed_shape *shape);

/* Reads elements [first, first + count) of a constant, as F32 or as the constant's own U8 or
 * I32. */
typedef heed_status (*heed_constant_read)(void *user, uint64_t first, uint64_t count, void *to,
                                          heed_error *error);

typedef struct heed_constant_desc {
  size_t struct_size;
  const char *name; /* may be NULL */
  /* F32, U8 or I32, as the graph sees it; behind `read` a file may store F16 or BF16 */
  heed_dtype dtype;
  heed_shape shape;
  const void *data;        /* borrowed until the graph is destroyed; or NULL and */
  heed_constant_read read; /* called when a session is created */
  void *read_user;
} heed_constant_desc;
HEED_API heed_value heed_define_constant(heed_graph *graph, const heed_constant_desc *desc);

/* EXPERIMENTAL. A constant F32 [N, ...] that is stored in int8 with one scale per row: element (n,
 * ...) is scale[n] times the stored number. Every op takes it as its floats. As the weight of a
 * linear node a backend keeps it in int8 and quantises each row of x to 8 bits
 * (docs/quantisation.md). `read` gives elements as int8_t. */
typedef struct heed_quantised_desc {
  size_t struct_size;
  const char *name; /* may be NULL */
  heed_shape shape;
  const float *scale;      /* [N], finite; borrowed until the graph is destroyed */
  const int8_t *data;      /* borrowed until the graph is destroyed; or NULL and */
  heed_constant_read read; /* called when a session is created */
  void *read_user;
} heed_quantised_desc;
HEED_API heed_value heed_define_quantised(heed_graph *graph, const heed_quantised_desc *desc);

/* A view of `base` from element `offset` on, with another shape; no copy. It names the parts of a
 * stacked result. */
HEED_API heed_value heed_define_view(heed_graph *graph, heed_value base, uint64_t offset,
                                     const heed_shape *shape);

/* Reinterprets x as another shape with the same number of elements; no copy. The result is a view,
 * or of a constant a constant. Elements keep their order. So [B, T, H D] as [B, H, T, D] is not a
 * split into heads: reshape to [B, T, H, D], then use heed_define_permute with order 0 2 1 3. */
HEED_API heed_value heed_define_reshape(heed_graph *graph, heed_value x, const heed_shape *shape);

/* ------------------------------------------------------------------------------------------ ops */

typedef enum heed_activation {
  HEED_ACTIVATION_NONE = 0,
  HEED_ACTIVATION_RELU = 1,
  HEED_ACTIVATION_GELU = 2,       /* x Phi(x), the exact form (Hendrycks & Gimpel 2016) */
  HEED_ACTIVATION_GELU_TANH = 3,  /* its tanh approximation */
  HEED_ACTIVATION_GELU_QUICK = 4, /* x sigmoid(1.702 x) */
  HEED_ACTIVATION_TANH = 5,
  HEED_ACTIVATION_SIGMOID = 6,
  HEED_ACTIVATION_SILU = 7,        /* x sigmoid(x) */
  HEED_ACTIVATION_ELU_PLUS_ONE = 8 /* x > 0 ? x + 1 : exp(x) */
} heed_activation;

/* y = activation(x), element by element. x F32 of any shape. */
typedef struct heed_activation_desc {
  size_t struct_size;
  heed_value x;
  heed_activation kind;
} heed_activation_desc;
HEED_API heed_value heed_define_activation(heed_graph *graph, const heed_activation_desc *desc);

/* y = a + b, F32. b is broadcast over a's leading axes and wherever b's axis is 1 (numpy's rule);
 * y has a's shape. */
typedef struct heed_add_desc {
  size_t struct_size;
  heed_value a, b;
} heed_add_desc;
HEED_API heed_value heed_define_add(heed_graph *graph, const heed_add_desc *desc);

/* y = a b, element by element. b is broadcast to a's shape as for add. */
typedef heed_add_desc heed_multiply_desc;
HEED_API heed_value heed_define_multiply(heed_graph *graph, const heed_multiply_desc *desc);

#define HEED_CONCAT_MAX 4
/* Joins 2 to 4 tensors, all F32 or all I32, along `axis`. The other axes are equal, except that a
 * leading axis 0 of size 1 is repeated to the largest (class tokens). */
typedef struct heed_concat_desc {
  size_t struct_size;
  heed_value x[HEED_CONCAT_MAX];
  uint32_t count;
  uint32_t axis;
} heed_concat_desc;
HEED_API heed_value heed_define_concat(heed_graph *graph, const heed_concat_desc *desc);

/* Rows [first, first + count) of axis 1: x [B, T, C] -> [B, count, C]. */
typedef struct heed_select_rows_desc {
  size_t struct_size;
  heed_value x;
  uint32_t first, count;
} heed_select_rows_desc;
HEED_API heed_value heed_define_select_rows(heed_graph *graph, const heed_select_rows_desc *desc);

/* y = softmax over the last axis. The row maximum is subtracted first. */
typedef struct heed_softmax_desc {
  size_t struct_size;
  heed_value x;
} heed_softmax_desc;
HEED_API heed_value heed_define_softmax(heed_graph *graph, const heed_softmax_desc *desc);

/* y = gain (x - mean) / sqrt(variance + epsilon) + bias over the last axis (Ba et al. 2016). gain
 * [C] is a constant, bias [C] a constant or none. With rms the mean counts as 0: y = gain x /
 * sqrt(mean of x^2 + epsilon) + bias (Zhang & Sennrich 2019). */
typedef struct heed_layer_norm_desc {
  size_t struct_size;
  heed_value x, gain, bias;
  float epsilon; /* >= 0; 0 means 0, not a default */
  bool rms;
} heed_layer_norm_desc;
HEED_API heed_value heed_define_layer_norm(heed_graph *graph, const heed_layer_norm_desc *desc);

/* y = activation(x weight^T + bias) + residual. x [..., K]; weight [N, K] (PyTorch's order), a
 * constant; bias [N], a constant or none; residual of y's shape or none.
 *
 * heads > 0 writes head-major instead: x [B, T, K], N = parts H D -> y [parts, B, H, T, D], where
 * parts 0 means 1. A stacked query, key and value projection is then one matmul, whose parts are
 * views of y. It excludes a residual. */
typedef struct heed_linear_desc {
  size_t struct_size;
  heed_value x, weight, bias, residual;
  heed_activation activation;
  uint32_t heads, parts;
} heed_linear_desc;
HEED_API heed_value heed_define_linear(heed_graph *graph, const heed_linear_desc *desc);

/* image [B, Cin, height, width] -> [B, (height/P)(width/P), C]: a convolution of kernel P and
 * stride P, patches in raster order (Dosovitskiy et al. 2021, 3.1). weight [C, Cin, P, P] and bias
 * [C] or none are constants. Rows and columns beyond the last full patch are ignored. */
typedef struct heed_patch_embedding_desc {
  size_t struct_size;
  heed_value image, weight, bias;
} heed_patch_embedding_desc;
HEED_API heed_value heed_define_patch_embedding(heed_graph *graph,
                                                const heed_patch_embedding_desc *desc);

/* table [rows, C], a constant; ids I32 [B, T] -> [B, T, C]. An id outside the table selects a row
 * of zeros. With mask_padding the result carries the mask of the tokens that are not padding_id
 * (heed_graph_carry_mask). */
typedef struct heed_embedding_desc {
  size_t struct_size;
  heed_value ids, table;
  bool mask_padding;
  int32_t padding_id;
} heed_embedding_desc;
HEED_API heed_value heed_define_embedding(heed_graph *graph, const heed_embedding_desc *desc);

/* Reorders the axes of x (F32 or I32, 1 to 6 axes) into a dense tensor. Axis i of y is axis
 * order[i] of x; order lists every axis once. */
typedef struct heed_permute_desc {
  size_t struct_size;
  heed_value x;
  uint32_t order[HEED_MAX_RANK];
} heed_permute_desc;
HEED_API heed_value heed_define_permute(heed_graph *graph, const heed_permute_desc *desc);

/* The general ops, from here to heed_define_depthwise, are what graphs of other programs need. A
 * comment names the operators of ONNX that an op covers, by the version of the operator set. Truth
 * values are 0 and 1 in F32 or I32, and any number but 0 counts as true. */

/* y = a b, F32: a [..., M, K], b [..., K, N] -> [..., M, N], each of 2 to 6 axes. transpose_a: a is
 * [..., K, M]; transpose_b: b is [..., N, K]. Leading axes are broadcast by numpy's rule. ONNX:
 * MatMul 13, and the product of Gemm 13. A constant weight is faster in linear. */
typedef struct heed_matmul_desc {
  size_t struct_size;
  heed_value a, b;
  bool transpose_a, transpose_b;
} heed_matmul_desc;
HEED_API heed_value heed_define_matmul(heed_graph *graph, const heed_matmul_desc *desc);

/* What elementwise computes of a, of a and b, or of a, b and c. tanh, sigmoid, relu and the forms
 * of gelu are of heed_activation. NaN stays NaN unless a line says otherwise. */
typedef enum heed_elementwise {
  HEED_ELEMENTWISE_IDENTITY = 0, /* a: a broadcast to shape, or another dtype */
  HEED_ELEMENTWISE_NEGATE = 1,
  HEED_ELEMENTWISE_ABSOLUTE = 2,
  HEED_ELEMENTWISE_RECIPROCAL = 3, /* 1 / a */
  HEED_ELEMENTWISE_SQUARE_ROOT = 4,
  HEED_ELEMENTWISE_EXP = 5, /* below 2^-126 it is 0 */
  HEED_ELEMENTWISE_LOG = 6,
  HEED_ELEMENTWISE_ERF = 7,
  HEED_ELEMENTWISE_SIN = 8, /* a in radians */
  HEED_ELEMENTWISE_COS = 9,
  HEED_ELEMENTWISE_SOFTPLUS = 10, /* log(1 + exp(a)) */
  HEED_ELEMENTWISE_FLOOR = 11,
  HEED_ELEMENTWISE_CEIL = 12,
  HEED_ELEMENTWISE_ROUND = 13,        /* a half goes to the even number */
  HEED_ELEMENTWISE_SIGN = 14,         /* -1, 0 or 1 */
  HEED_ELEMENTWISE_NOT = 15,          /* a == 0; of NaN 0 */
  HEED_ELEMENTWISE_IS_NAN = 16,       /* 1 for NaN, else 0 */
  HEED_ELEMENTWISE_IS_INFINITE = 17,  /* 1 for Inf and -Inf, else 0 */
  HEED_ELEMENTWISE_LEAKY_RELU = 18,   /* a < 0 ? alpha a : a */
  HEED_ELEMENTWISE_ELU = 19,          /* a < 0 ? alpha (exp(a) - 1) : a */
  HEED_ELEMENTWISE_HARD_SIGMOID = 20, /* alpha a + beta, cut to 0 .. 1 */
  HEED_ELEMENTWISE_CLIP = 21,         /* min(max(a, alpha), beta) */
  /* add and multiply are ops of their own for F32 where b has no axis that a lacks */
  HEED_ELEMENTWISE_ADD = 32,
  HEED_ELEMENTWISE_SUBTRACT = 33,
  HEED_ELEMENTWISE_MULTIPLY = 34,
  HEED_ELEMENTWISE_DIVIDE = 35,
  HEED_ELEMENTWISE_POWER = 36, /* a to the power of b, as C's pow */
  HEED_ELEMENTWISE_MINIMUM = 37,
  HEED_ELEMENTWISE_MAXIMUM = 38,
  HEED_ELEMENTWISE_MODULUS = 39,   /* a - floor(a / b) b: the sign of b */
  HEED_ELEMENTWISE_REMAINDER = 40, /* C's fmod: the sign of a */
  /* 1 or 0; of NaN 0 */
  HEED_ELEMENTWISE_EQUAL = 41,
  HEED_ELEMENTWISE_LESS = 42,
  HEED_ELEMENTWISE_LESS_EQUAL = 43,
  HEED_ELEMENTWISE_GREATER = 44,
  HEED_ELEMENTWISE_GREATER_EQUAL = 45,
  /* of truth values: 1 or 0 */
  HEED_ELEMENTWISE_AND = 46,
  HEED_ELEMENTWISE_OR = 47,
  HEED_ELEMENTWISE_XOR = 48,
  HEED_ELEMENTWISE_SELECT = 64 /* a != 0 ? b : c; the value that is not chosen has no effect */
} heed_elementwise;

/* y = kind(a, b, c), element by element, by numpy's broadcasting of all inputs and of `shape`.
 * Inputs are F32, I32 or U8 of any shape, b and c none where the kind has fewer inputs. y is of
 * dtype F32, I32 or U8. All is computed in F32, so that whole numbers beyond 2^24 are rounded. For
 * I32 the result is cut toward zero and to the range of I32, and NaN becomes 0; for U8 y is 1 where
 * the result is not 0. ONNX: the operators of these names (Add 14, Equal 19, Where 16, ...), Cast
 * 19, Expand 13. */
typedef struct heed_elementwise_desc {
  size_t struct_size;
  heed_value a, b, c;
  heed_elementwise kind;
  heed_dtype dtype;  /* of y */
  heed_shape shape;  /* rank 0: that of the inputs */
  float alpha, beta; /* of the kinds that name them; 0 means 0, not a default */
} heed_elementwise_desc;
HEED_API heed_value heed_define_elementwise(heed_graph *graph, const heed_elementwise_desc *desc);

typedef enum heed_reduce {
  HEED_REDUCE_SUM = 0,
  HEED_REDUCE_MEAN = 1,
  HEED_REDUCE_MAX = 2, /* NaN where there is one, as for MIN */
  HEED_REDUCE_MIN = 3,
  HEED_REDUCE_PRODUCT = 4,
  HEED_REDUCE_L1 = 5,          /* sum of |x| */
  HEED_REDUCE_L2 = 6,          /* square root of the sum of squares */
  HEED_REDUCE_SUM_SQUARE = 7,  /* sum of squares */
  HEED_REDUCE_LOG_SUM = 8,     /* log of the sum */
  HEED_REDUCE_LOG_SUM_EXP = 9, /* log of the sum of exp(x), from the maximum */
  /* I32: the index of the largest, the smallest element along one axis; a NaN counts as such */
  HEED_REDUCE_ARGMAX = 10,
  HEED_REDUCE_ARGMIN = 11
} heed_reduce;
/* Reduces x (F32 of any shape) over the axes whose bit is set, bit i for axis i; no bit means all
 * axes. ARGMAX and ARGMIN take one axis. With keep_axes a reduced axis stays with size 1, else it
 * goes. Of equal elements ARGMAX and ARGMIN give the first, with `last` the last. ONNX: ReduceSum
 * 13, ReduceMean 18 and the like, ArgMax 13, ArgMin 13. */
typedef struct heed_reduce_desc {
  size_t struct_size;
  heed_value x;
  heed_reduce kind;
  uint32_t axes;
  bool keep_axes, last;
} heed_reduce_desc;
HEED_API heed_value heed_define_reduce(heed_graph *graph, const heed_reduce_desc *desc);

/* A window of x (F32 or I32, of 1 to 6 axes): element i of y along an axis is element start + i
 * step of x, and `value` where x has none. y has `shape`, of x's rank. step is not 0 and may be
 * negative. ONNX: Slice 13, Split 18, and Pad 21 with mode constant, whose start is minus the
 * padding in front. */
typedef struct heed_slice_desc {
  size_t struct_size;
  heed_value x;
  heed_shape shape;
  int32_t start[HEED_MAX_RANK], step[HEED_MAX_RANK];
  float value; /* beyond x; cut toward zero for I32 */
} heed_slice_desc;
HEED_API heed_value heed_define_slice(heed_graph *graph, const heed_slice_desc *desc);

/* Entries of x (F32 or I32) along `axis` by indices (I32): x [outer..., A, inner...], indices [...]
 * of any shape -> [outer..., indices..., inner...], at most 6 axes. With elements, indices have x's
 * rank and y their shape: y[o, i, n] = x[o, indices[o, i, n], n]; their other axes are x's or
 * shorter. A negative index counts from the end; one outside -A .. A - 1 gives 0. ONNX: Gather 13,
 * GatherElements 13. */
typedef struct heed_gather_desc {
  size_t struct_size;
  heed_value x, indices;
  uint32_t axis;
  bool elements;
} heed_gather_desc;
HEED_API heed_value heed_define_gather(heed_graph *graph, const heed_gather_desc *desc);

typedef enum heed_depthwise {
  HEED_DEPTHWISE_SUM = 0,  /* of elements times weights: a convolution of each channel by itself */
  HEED_DEPTHWISE_MEAN = 1, /* NaN where the window has nothing */
  HEED_DEPTHWISE_MAX = 2   /* NaN where there is one; -Inf where the window has nothing */
} heed_depthwise;

/* A number of each window of each channel: x [B, C, height, width] -> y [B, O, rows, columns], F32.
 * The window of row r and column c has the elements of x at row r stride[0] - before[0] + i
 * dilation[0], i < kernel[0], and so for columns; none where x has no such element.
 * - SUM: weight [O, kernel rows, kernel columns] and bias [O] (or none) are constants. O is a
 *   multiple of C, and output o reads channel o / (O / C).
 * - MEAN and MAX: no weight; O is C. With count_padding a MEAN also counts the zeros in front of x,
 *   and up to `after` behind it.
 * A kernel has at most 32,767 elements. Windows begin within -before .. size + after. ONNX: Conv 22
 * with group = channels, AveragePool 22, MaxPool 22. */
typedef struct heed_depthwise_desc {
  size_t struct_size;
  heed_value x, weight, bias;
  heed_depthwise kind;
  uint32_t kernel[2];              /* rows, columns; of a SUM 0: as the weight has them */
  uint32_t stride[2], dilation[2]; /* 0: 1 */
  uint32_t before[2], after[2];    /* padding in front of x and behind it */
  uint32_t size[2];                /* rows and columns of y; 0: all that fit whole */
  bool count_padding;
} heed_depthwise_desc;
HEED_API heed_value heed_define_depthwise(heed_graph *graph, const heed_depthwise_desc *desc);

/* Rotary position embedding (Su et al. 2021): pairs of elements (a, b) of a token are rotated, each
 * by an angle of its own, to (a cos - b sin, b cos + a sin). x [B, H, T, D] -> the same shape.
 *
 * cos and sin [T - first, R/2], or [H, T - first, R/2] where heads differ, are constants: the
 * cosine and sine of the angle of each token and pair. Angles by two axes of a grid are tables like
 * any other. Pair j is elements j and j + R/2, or 2j and 2j + 1 when interleaved. The first `first`
 * tokens (class token, registers) and the elements from R <= D on are copied.
 *
 * The parts of a stacked projection lie one after the other, so one node rotates query and key: x
 * is the view [2 B, H, T, D] of them. */
typedef struct heed_rotary_desc {
  size_t struct_size;
  heed_value x, cos, sin;
  uint32_t first;
  bool interleaved;
} heed_rotary_desc;
HEED_API heed_value heed_define_rotary(heed_graph *graph, const heed_rotary_desc *desc);

/* A mask from token ids, combined as Keras' MultiHeadAttention does: query_ids I32 [B, Tq], key_ids
 * I32 [B, Tk] -> U8 [B, Tq, Tk]. 1 = neither query nor key is padding and, if causal, k <= q.
 * Without query_ids: U8 [B, Tk], 1 = real token, as key_padding of an attention takes it. For
 * heed_attention_desc.mask reshape it to [B, 1, Tq, Tk]. */
typedef struct heed_attention_mask_desc {
  size_t struct_size;
  heed_value query_ids, key_ids;
  bool causal;
  int32_t padding_id;
} heed_attention_mask_desc;
HEED_API heed_value heed_define_attention_mask(heed_graph *graph,
                                               const heed_attention_mask_desc *desc);

/* [length, width], a constant: sin on even and cos on odd columns 2i, 2i + 1 of position /
 * 10000^(2i / width) (Vaswani et al. 2017, 3.5), computed in double. */
HEED_API heed_value heed_define_positional_encoding(heed_graph *graph, uint32_t length,
                                                    uint32_t width);

typedef enum heed_score {
  HEED_SCORE_SCALED_DOT = 0, /* scale q . k */
  HEED_SCORE_DOT = 1,        /* q . k */
  HEED_SCORE_GENERAL = 2,    /* q W k^T (Luong et al. 2015) */
  HEED_SCORE_ADDITIVE = 3    /* va . tanh(q Wq + k Wk + b) (Bahdanau et al. 2015) */
} heed_score;
typedef enum heed_norm {
  HEED_NORM_SOFTMAX = 0,
  HEED_NORM_SPARSE_SOFTMAX = 1, /* weights below heed_attention_desc.threshold become 0 */
  HEED_NORM_SPARSEMAX = 2       /* the projection onto the simplex (Martins & Astudillo 2016) */
} heed_norm;
/* Query i attends to keys j <= i + off; causal_offset and causal_offsets add to off. */
typedef enum heed_causal {
  HEED_CAUSAL_NONE = 0,        /* off = 0, of a window alone */
  HEED_CAUSAL_TOP_LEFT = 1,    /* off = 0 */
  HEED_CAUSAL_BOTTOM_RIGHT = 2 /* off = Tk - Tq */
} heed_causal;
/* A mask from positions, for offsets that differ from batch item to batch item: offsets I32 [B] ->
 * U8 [B, H, Tq, Tk] (H = 1 without mask). 1 = query i may attend to key j: by causal rule and
 * window as in heed_attention_desc, off being that of causal + causal_offset + offsets[b], and by
 * mask, U8 [B|1, H, Tq, Tk], if given. */
typedef struct heed_position_mask_desc {
  size_t struct_size;
  heed_value offsets, mask;
  uint32_t queries, keys; /* Tq, Tk */
  heed_causal causal;
  bool window;
  int32_t window_left, window_right;
  int32_t causal_offset;
} heed_position_mask_desc;
HEED_API heed_value heed_define_position_mask(heed_graph *graph,
                                              const heed_position_mask_desc *desc);

/* The output of a query that may attend to no key. MEAN is over all values of the row; a masked
 * value that is not finite counts as 0. */
typedef enum heed_empty_row {
  HEED_EMPTY_ROW_ZERO = 0,
  HEED_EMPTY_ROW_NAN = 1,
  HEED_EMPTY_ROW_MEAN = 2 /* the mean of all values; one that is not finite counts as 0 */
} heed_empty_row;

/* softmax(scale q k^T ...) v per head (Vaswani et al. 2017, 3.2.1).
 *
 * query [B, H, Tq, D], key [B, Hk, Tk, D], value [B, Hk, Tk, Dv]. Hk divides H, and query head h
 * uses key head h / (H / Hk). The order is: score, softcap, bias, masks, norm. All masks are ANDed,
 * and a bias of -Inf masks as they do. A NaN or Inf in a masked key or value never reaches the
 * output. A value that is not masked takes part also with weight 0: 0 NaN = NaN. Logits are
 * accumulated and stored in F32; one that overflows to -Inf masks its key where keys can be masked.
 * docs/attention.md has the exact semantics. */
typedef struct heed_attention_desc {
  size_t struct_size;
  heed_value query, key, value;
  heed_value mask;          /* U8, 1 = may attend, [B|1, H|1, Tq, Tk] */
  heed_value key_padding;   /* U8 [B, Tk], 1 = real token */
  heed_value query_padding; /* U8 [B, Tq], 1 = real token */
  /* F32 added to the logits, [B|1, H|1, Tq|1, Tk|1]; -Inf masks, a finite number never does */
  heed_value bias;
  heed_score score;
  heed_value w; /* HEED_SCORE_GENERAL: F32 [D, D of key], a constant */
  /* HEED_SCORE_ADDITIVE: F32 [D, A], [D of key, A], [A] or none, [A]; constants */
  heed_value wq, wk, b, va;
  float scale; /* factor of q k^T for HEED_SCORE_SCALED_DOT; 0 = 1/sqrt(D) */
  heed_norm norm;
  /* HEED_NORM_SPARSE_SOFTMAX: smaller weights become 0, and the rest is renormalised; 0 <=
   * threshold
   * <= 1 */
  float threshold;
  heed_causal causal;
  /* Query i attends to key j only if i + off - left <= j <= i + off + right, off as for causal; -1
   * = open. */
  bool window;
  int32_t window_left, window_right;
  float softcap; /* c tanh(s / c); 0 = off */
  heed_empty_row empty_row;
  bool merge_heads; /* output [B, Tq, H Dv] instead of [B, H, Tq, Dv] */
  /* Query rows to output in weights and logits; NULL = all. Copied. Row r of the weights is query
   * rows[r]. */
  const uint32_t *rows;
  uint32_t row_count;
  /* Added to off, of the causal rule and of the window: for all batch items, and I32 [B], each for
   * its own. Any sign. The second makes a U8 mask [B, H of mask or 1, Tq, Tk] while it runs. */
  int32_t causal_offset;
  heed_value causal_offsets;
} heed_attention_desc;

/* Values of one attention. weights and logits [B, H, Tq or row_count, Tk] are computed only if they
 * are tapped, marked as output or used by another node. logits are the input of the norm: scaled,
 * capped, biased, with -Inf where masked. The general and additive scores define linear nodes
 * before the attention, so its query and key are the projected ones. */
typedef struct heed_attention_values {
  heed_value output, weights, logits;
} heed_attention_values;
HEED_API heed_attention_values heed_define_attention(heed_graph *graph,
                                                     const heed_attention_desc *desc);

/* Linear attention (Katharopoulos et al. 2020) with features phi(x) = elu(x) + 1. query [B, H, Tq,
 * D], key [B, H, Tk, D], value [B, H, Tk, Dv] -> [B, H, Tq, Dv]. Row i is phi(q_i) S / (phi(q_i)
 * z), where S = sum of phi(k_j) v_j^T and z = sum of phi(k_j). The sums run over all j or, when
 * causal (Tq = Tk), over j <= i. Cost and memory are linear in the tokens. A row whose divisor is 0
 * is zeros.
 *
 * recurrent computes the same numbers token by token with one state, as a decoder would. Without it
 * chunks of tokens run at the same time. */
typedef struct heed_linear_attention_desc {
  size_t struct_size;
  heed_value query, key, value;
  bool causal, recurrent;
} heed_linear_attention_desc;
HEED_API heed_value heed_define_linear_attention(heed_graph *graph,
                                                 const heed_linear_attention_desc *desc);

/* One layer of an LSTM or GRU in one direction, in PyTorch's layout and names. x [B, T, I];
 * weight_ih [G H, I], weight_hh [G H, H], bias_ih and bias_hh [G H] or none, all constants. G is 4
 * gates i f g o for lstm, and 3 gates r z n for gru, whose reset gate acts after the matmul. h, c
 * [B, H] are the states before the first token, none = zeros; c is for lstm alone. reverse runs
 * from the last token to the first. */
typedef struct heed_recurrent_desc {
  size_t struct_size;
  heed_value x, weight_ih, weight_hh, bias_ih, bias_hh;
  heed_value h, c;
  bool reverse;
} heed_recurrent_desc;
/* y [B, T, H] has the order of x, also when reversed. h, c [B, H] are the states after the token
 * that ran last; c is none for gru. */
typedef struct heed_recurrent_values {
  heed_value y, h, c;
} heed_recurrent_values;
HEED_API heed_recurrent_values heed_define_lstm(heed_graph *graph, const heed_recurrent_desc *desc);
HEED_API heed_recurrent_values heed_define_gru(heed_graph *graph, const heed_recurrent_desc *desc);

/* ----------------------------------------------------------------------- layers composed of ops */

/* Projections, heads, attention, output projection (Vaswani et al. 2017, 3.2.2). query [B, Tq, C],
 * key_value [B, Tk, K] (none = query: self-attention). output [B, Tq, C]; weights and logits [B, H,
 * Tq, Tk]. heads divides C.
 *
 * The weights are those of PyTorch's nn.MultiheadAttention, [out, in], constants. They are
 * in_weight [3C, C] and in_bias [3C], stacked for query, key and value, or q, k and v apart. Biases
 * may be none. There is no dropout: it is the identity at inference. */
typedef struct heed_multi_head_attention_desc {
  size_t struct_size;
  heed_value query, key_value;
  heed_value in_weight, in_bias;
  heed_value q_weight, k_weight, v_weight, q_bias, k_bias, v_bias;
  heed_value o_weight, o_bias;
  uint32_t heads;
  /* as in heed_attention_desc; a padding that is not given is what the inputs carry */
  heed_value mask, key_padding, query_padding, bias;
  heed_causal causal;
  heed_value residual; /* [B, Tq, C], added to the output; or none */
} heed_multi_head_attention_desc;
HEED_API heed_attention_values
heed_define_multi_head_attention(heed_graph *graph, const heed_multi_head_attention_desc *desc);

/* A weight and its bias, or gain and bias of a norm. */
typedef struct heed_affine {
  heed_value weight, bias;
} heed_affine;
/* in_proj, stacked, and out_proj. */
typedef struct heed_attention_weights {
  heed_affine in, out;
} heed_attention_weights;

/* An encoder block or, with memory, a decoder block: x + self-attention; with memory, x + attention
 * to it; x + linear2(activation(linear1)). A norm follows each sum, or precedes each part with
 * pre_norm. PyTorch's nn.TransformerEncoderLayer (norm1 self, norm2 feed forward) and
 * nn.TransformerDecoderLayer (norm1 self, norm2 memory, norm3 feed forward) at inference. x [B, T,
 * C], memory [B, Tm, C]. */
typedef struct heed_transformer_block_desc {
  size_t struct_size;
  heed_value x, memory;
  heed_value key_padding, memory_key_padding; /* U8 [B, T], [B, Tm], 1 = real token */
  uint32_t heads;
  bool pre_norm, causal; /* causal: of the self-attention */
  heed_activation activation;
  float epsilon;
  heed_attention_weights self, cross;
  heed_affine linear1, linear2, norm1, norm2, norm3;
} heed_transformer_block_desc;
typedef struct heed_transformer_block_values {
  heed_value y;
  /* output: with the residual, before the norm of a post-norm block */
  heed_attention_values self, cross;
} heed_transformer_block_values;
HEED_API heed_transformer_block_values
heed_define_transformer_block(heed_graph *graph, const heed_transformer_block_desc *desc);

/* Global attention of Luong et al. 2015. decoder [B, Td, C], encoder [B, Te, E], encoder_padding U8
 * [B, Te] (1 = real token) or none. Scores: DOT; GENERAL h wa s, wa [C, E]; ADDITIVE, there
 * "concat", va . tanh(wa [h; s]), wa [A, C + E], va [A]. wc [N, E + C], wc_bias [N] or none. output
 * [B, Td, N] = tanh(wc [context; h]), context [B, Td, E], weights [B, Td, Te]. */
typedef struct heed_luong_attention_desc {
  size_t struct_size;
  heed_value decoder, encoder, encoder_padding;
  heed_score score;
  heed_value wa, va, wc, wc_bias;
} heed_luong_attention_desc;
typedef struct heed_luong_attention_values {
  heed_value output, context, weights;
} heed_luong_attention_values;
HEED_API heed_luong_attention_values
heed_define_luong_attention(heed_graph *graph, const heed_luong_attention_desc *desc);

/* --------------------------------------------------------------------------------------- models */

/* Where bytes come from: `bytes`, or `read`, which copies [offset, offset + count) and is never
 * called beyond `size`. */
typedef struct heed_source {
  uint64_t size;
  const void *bytes;
  heed_status (*read)(void *user, uint64_t offset, void *to, size_t count, heed_error *error);
  void *user;
} heed_source;

/* A file of a model folder, by its name there: "config.json", "preprocessor_config.json",
 * "model.safetensors", its index ("model.safetensors.index.json") and shards, or a single file of
 * any name *.safetensors. Files of PyTorch keep theirs; heed/pickle.h makes their sources. */
typedef struct heed_model_file {
  const char *name;
  heed_source source;
} heed_model_file;

/* Which part of an image-and-text model is opened. The other part's weights are not read. */
typedef enum heed_tower {
  HEED_TOWER_VISION = 0,
  HEED_TOWER_TEXT = 1 /* CLIP's or SigLIP's */
} heed_tower;
typedef struct heed_model_desc {
  size_t struct_size;
  /* The array is copied. What the sources point to is borrowed until the model is destroyed. */
  const heed_model_file *files;
  uint32_t file_count;
  heed_tower tower;
} heed_model_desc;

typedef struct heed_model heed_model;

/* Opens a model of any kind: reads headers and config, finds the tensors by name and checks every
 * shape. It reads no model weights yet.
 *
 * A config.json whose "architectures" begin with HeedTransformer or HeedSeq2Seq names an
 * encoder-decoder. All other files are vision transformers: ViT, DINO and DeiT with both Hugging
 * Face key styles, with or without prefix, and timm. docs/models.md and docs/sequences.md list the
 * keys and tensor names. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED, IO,
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_model_open(heed_context *context,
                                                    const heed_model_desc *desc, heed_model **model,
                                                    heed_error *error);
HEED_API void heed_model_destroy(heed_model *model);

typedef enum heed_model_kind {
  HEED_MODEL_VISION = 0,          /* a vision transformer: pixel_values in */
  HEED_MODEL_ENCODER_DECODER = 1, /* a sequence in, a sequence out */
  HEED_MODEL_TEXT = 2             /* a text tower: input_ids in */
} heed_model_kind;

/* What a model is. Fields of the other kind are 0. Strings are valid as long as the model. */
typedef struct heed_model_info {
  heed_model_kind kind;
  /* "vit", "deit", "dinov2", "dinov2_with_registers", "dinov2 (original)", "timm" ...;
   * "transformer", "lstm", "gru" */
  const char *family;
  uint32_t width;  /* C; of an encoder-decoder: of decoder states */
  uint32_t layers; /* of an encoder-decoder: both sides together */
  uint32_t heads, mlp_width;
  float epsilon; /* of the layer norms */
  heed_activation activation;
  uint64_t parameters;   /* elements of the tensors used */
  uint64_t weight_bytes; /* their size as stored in the files */
  uint32_t tensors_used, tensors_unused;

  /* vision transformers */
  /* how positions are resized for another grid: "bicubic", "bicubic, antialiased" ...; "none"
   * where the model stores none */
  const char *positions;
  /* Other files have the same tensor names, and no config.json names the family. */
  bool family_assumed;
  bool heads_guessed; /* no file tells the number of heads: it is that of published models of the
                         width, else width / 64 */
  /* The rules that shapes do not tell, in one line: "classifier on CLS, gelu, epsilon 1e-12,
   * positions bicubic". */
  const char *rules;
  /* What heed assumed because no file tells it, or takes though a file tells another thing, in one
   * line (docs/limits.md); NULL: nothing. The log has what is assumed of sizes and rules. */
  const char *assumed;
  uint32_t image_size, channels, patch;
  uint32_t prefix_tokens; /* CLS, distillation and registers before the patches */
  uint32_t pool_heads;    /* of the pooling attention; 0: there is none */
  /* their names, [prefix_tokens]: "CLS", "distillation", "register 2" */
  const char *const *token_names;
  uint32_t classes; /* 0: no classifier */

  /* encoder-decoders */
  uint32_t encoder_layers, decoder_layers;
  uint32_t source_vocabulary; /* 0: the source is feature vectors; of a text tower: token ids */
  uint32_t features;          /* numbers per feature vector; 0: the source is tokens */
  uint32_t target_vocabulary, max_length;
  /* token ids; padding -1 where the file names none; end of a text tower: heed_text_row */
  int32_t begin, end, padding;

  uint32_t projection; /* E, numbers of an image's or a text's embedding; 0: none */

  /* text towers */
  /* Whether a text fills the tower's max_length tokens up with padding, and its last token's state
   * is the text's: SigLIP. */
  bool text_padded;
  /* Of heed_compare, as stored: the logarithm of the factor of cosines, and what is added. */
  bool scaled, biased; /* whether the file has them; without, 0 */
  float logit_scale, logit_bias;
  bool causal; /* no token attends to a later one, so that padding behind a text changes nothing */
} heed_model_info;
HEED_API void heed_model_get_info(const heed_model *model, heed_model_info *info);
/* The label of a class from the config, or "class N" when there is none. Valid as long as the
 * model. */
HEED_API const char *heed_model_label(const heed_model *model, uint32_t index);
/* EXPERIMENTAL: may change. Finds the `most` largest of values [size] and returns their number k,
 * which is less than `most` where there are fewer values. index [k] receives their indices, the
 * largest value first; of equal values the smaller index comes first, and NaN comes last.
 * probability [k] may be NULL. It receives their softmax over all values: for logits [classes], the
 * probabilities of the classes. A NaN among the values makes every probability NaN. */
HEED_API uint32_t heed_top(const float *values, uint32_t size, uint32_t most, uint32_t *index,
                           double *probability);
/* EXPERIMENTAL: may change. Returns the softmax over values [size] at `index`, which must be below
 * size. */
HEED_API double heed_probability(const float *values, uint32_t size, uint32_t index);

typedef struct heed_tensor_info {
  const char *name;
  const char *dtype_name;  /* as in the file, also where heed cannot use it: "I64" */
  const char *unsupported; /* NULL, or why heed cannot read it; then dtype and shape are unset */
  heed_dtype dtype;
  heed_shape shape;
  uint64_t bytes;
  bool used;
  /* The Hugging Face name of what the model reads from it; '#' is the layer's number, '|' stands
   * before other names of it. NULL: nothing, or a model that knows its tensors by these very names.
   * In timm's files query, key and value are one tensor, whose role is the query's. */
  const char *role;
  uint32_t layer; /* of the role */
} heed_tensor_info;
/* The number of tensors in the files, and each of them. */
HEED_API uint32_t heed_model_tensor_count(const heed_model *model);
HEED_API void heed_model_tensor(const heed_model *model, uint32_t index, heed_tensor_info *info);

/* EXPERIMENTAL. How heed_model_convert stores the weights of the blocks' linear maps. */
typedef enum heed_storage {
  HEED_STORAGE_INT8, /* int8 with one scale per output channel (docs/quantisation.md) */
  HEED_STORAGE_F16,
  HEED_STORAGE_BF16,
  /* int8 for products in floats: also those of patches and of positions, a scale a row. The config
   * must say so (input_activations: null), or products are those of int8 */
  HEED_STORAGE_INT8_FLOAT
} heed_storage;
/* Takes the next `count` bytes of a file. */
typedef heed_status (*heed_sink)(void *user, const void *bytes, size_t count, heed_error *error);
typedef struct heed_convert_desc {
  size_t struct_size;
  heed_storage storage;
  const char *source_sha256; /* of the original, for the metadata; or NULL */
  heed_sink sink;            /* required */
  void *user;
} heed_convert_desc;
typedef struct heed_convert_info {
  uint32_t converted, kept;           /* tensors */
  uint32_t left_out;                  /* tensors of a dtype that heed does not read */
  uint64_t bytes_before, bytes_after; /* of the tensors that are written */
} heed_convert_info;
/* EXPERIMENTAL. Writes the model's tensors as one .safetensors file: the weights of query, key,
 * value, output, gate and MLP of each layer as `storage` says, all others as they are stored. Reads
 * and writes a row at a time. After an error what the sink got is no file. info may be NULL.
 * Statuses: UNSUPPORTED (no vision or text transformer, weights that are int8 for products in int8
 * already, a number that fp16 does not hold), INVALID_FILE (a weight that is not finite), IO,
 * OUT_OF_MEMORY, what the sink returns. */
HEED_NODISCARD HEED_API heed_status heed_model_convert(const heed_model *model,
                                                       const heed_convert_desc *desc,
                                                       heed_convert_info *info, heed_error *error);
/* The role of the index-th optional tensor that the files lack; NULL after the last. (A required
 * tensor that is missing is an error of heed_model_open, which names it.) */
HEED_API const char *heed_model_absent(const heed_model *model, uint32_t index);

/* What of an encoder-decoder a graph holds. */
typedef enum heed_model_part {
  HEED_PART_WHOLE = 0,   /* source and target tokens -> logits of every position */
  HEED_PART_ENCODER = 1, /* source -> what a step needs of it */
  HEED_PART_STEP = 2     /* one target token and what earlier steps left -> logits */
} heed_model_part;

/* Fields of the other kind of model must be 0. */
typedef struct heed_build_desc {
  size_t struct_size;
  uint32_t batch; /* 0 = 1 */

  /* vision transformers */
  /* of pixel_values; 0 = the model's image_size. Positions are interpolated by the family's
   * rule. */
  uint32_t height, width;
  /* query rows to output in the attention weights, as heed_attention_desc.rows; NULL = all */
  const uint32_t *rows;
  uint32_t row_count;
  /* Adds inputs that change attention from run to run, and must be written before the first run:
   *   token_mask U8 [B, T], 0 = no token attends to it (1 = real, as key_padding);
   *   layer.i.attention.mask U8 [1, H, T, T], 1 = may attend;
   *   layer.i.attention.offset F32 [1, 1, C], added to the heads' output, C = H D, head by head;
   *   layer.i.attention.gain F32 [H], a factor of each head's output, offset included.
   * All act before the output projection. A head whose mask is all zero outputs what empty_row
   * says. Use its offset to substitute any other output. */
  bool intervene;
  heed_empty_row empty_row; /* as heed_attention_desc.empty_row */
  float temperature;        /* divides the logits of every attention; 0 = 1 */
  /* Computes the last layer only for the tokens that logits and pooler_output read. */
  bool classes_only;

  /* encoder-decoders */
  heed_model_part part;
  uint32_t source_length; /* S, also T of a text tower; 0 = max_length */
  uint32_t target_length; /* T: of the whole; the longest target of a step; 0 = max_length */
} heed_build_desc;

/* EXPERIMENTAL: may change. The row of a text's ids [count] whose state is the text's, by the info
 * of a text tower: the first that is `end`; of the largest id where end is -1; the last where
 * text_padded is set. */
HEED_API uint32_t heed_text_row(const heed_model_info *text, const int32_t *ids, uint32_t count);

/* The model as a graph; desc NULL = defaults. Borrows model.
 *
 * A vision transformer has the input pixel_values F32 [B, channels, height, width]. Its outputs are
 * logits [B, classes] where there is a classifier, last_hidden_state [B, T, C], pooler_output
 * [B, C] where the model defines one, and image_embeds [B, E], not normalised, where there is a
 * projection or a pooling attention. These values can be tapped, i = 0 .. L-1: embeddings;
 * layer.i.query, .key, .value [B, H, T, D]; layer.i.attention.weights and .logits [B, H, T, T];
 * layer.i.attention.output [B, T, C], which is that of the heads before their projection;
 * layer.i.output [B, T, C]; of CLIP token_embeds [B, T, E], which is what image_embeds is of CLS,
 * of every token. A pooling attention, whose query is one learned token, has pool.query [B, H, 1,
 * D]; pool.key, .value [B, H, N, D]; pool.attention.weights and .logits [B, H, 1, N];
 * pool.attention.output [B, 1, C]. N is the patches, or all tokens where it attends to those. Query
 * and key are those that attention takes: after their norms and after rotary positions, where the
 * model has them.
 *
 * With classes_only and without intervene, R rows replace the T rows of the last layer's attention
 * and output and of last_hidden_state. The rows are CLS and, where it is read, the distillation
 * token. The numbers are bit-identical.
 *
 * A text tower has the input input_ids I32 [B, T], T = source_length. Its outputs are
 * last_hidden_state [B, T, C], after the final norm, and where there is a projection token_embeds
 * [B, T, E], that of every token. heed_text_row is the row of the text: of token_embeds its
 * text_embeds, not normalised. The taps are those of a vision transformer.
 *
 * An encoder-decoder has the input source_tokens I32 [B, S] or source_features F32 [B, S, F]. The
 * whole also has target_tokens I32 [B, T]. A step has token and position I32 [B, 1], seen U8 [B,
 * T + 1], and what heed_decoder writes. The output is logits [B, T or 1, target vocabulary]. The
 * encoder outputs memory [B, S, C] and the inputs of a step that have the same name.
 *
 * These values can be tapped: encoder.i.self.weights [B, H, S, S], decoder.i.self.weights [B, H, T,
 * T], decoder.i.cross.weights [B, H, T, S], and the same with .logits; encoder.i.output,
 * decoder.i.output. A recurrent model has decoder.0.cross.weights alone, with H = 1. In a step
 * there is one row, and self.weights has T + 1 columns, the last one for the token itself.
 *
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_model_build(const heed_model *model,
                                                     const heed_build_desc *desc,
                                                     heed_graph **graph, heed_error *error);

/* --------------------------------------------------------------------------------------- images */

/* A decoded image: 8 bit, `channels` 1, 3 or 4, rows `stride` bytes apart. Alpha is dropped, as
 * Pillow's convert("RGB") does. */
typedef struct heed_image {
  const uint8_t *pixels;
  uint32_t width, height, channels;
  size_t stride;
} heed_image;

typedef enum heed_resize_mode {
  HEED_RESIZE_NONE = 0,
  HEED_RESIZE_SQUASH = 1,     /* to width x height exactly */
  HEED_RESIZE_SHORT_SIDE = 2, /* short side to `short_side`, aspect kept */
  /* as large as fits into width x height, aspect kept; a crop of that size is filled with the mean
   * colour */
  HEED_RESIZE_WHOLE = 3,
  HEED_RESIZE_COVER = 4, /* as small as covers width x height, aspect kept */
  /* by the one of both scales to width x height that is nearer to 1; then each side to the nearest
   * multiple of `multiple` */
  HEED_RESIZE_MULTIPLES = 5
} heed_resize_mode;

/* Where a centre crop lies in a picture with `rest` pixels more than the crop. */
typedef enum heed_crop_rule {
  /* transformers: rest / 2, rounded down; around a picture that is smaller the odd row or column of
   * zeros comes first */
  HEED_CROP_DOWN = 0,
  /* torchvision, and so timm and open_clip: rest / 2 to the nearest, half to even; the odd row or
   * column of zeros comes last */
  HEED_CROP_EVEN = 1
} heed_crop_rule;

/* Preprocessing as preprocessor_config.json describes it. */
typedef struct heed_preprocess {
  heed_resize_mode resize;
  uint32_t width, height, short_side;
  /* Pillow's numbers: 0 nearest, 1 lanczos, 2 bilinear, 3 bicubic, 4 box, 5 hamming */
  uint32_t resample;
  uint32_t crop_width, crop_height; /* centre crop; 0 = none */
  float rescale;                    /* factor, 1/255 */
  float mean[3], std[3];            /* (x rescale - mean) / std */
  heed_crop_rule crop_rule;         /* of the centre crop */
  uint32_t multiple;                /* of HEED_RESIZE_MULTIPLES, in pixels; at least 1 */
} heed_preprocess;
/* Whether heed prepares images for the model. A model opens also where its files ask for steps that
 * heed has not: heed_model_build and pixel_values of one's own need none. Then the status is
 * UNSUPPORTED or INVALID_FILE, and the sentence names the file and the step. */
HEED_NODISCARD HEED_API heed_status heed_model_prepares(const heed_model *model, heed_error *error);
/* The model's own preprocessing; all 0 for an encoder-decoder, and where heed_model_prepares fails.
 */
HEED_API void heed_model_preprocess(const heed_model *model, heed_preprocess *preprocess);

/* The model's preprocessing for pixel_values of height x width pixels, multiples of the patch.
 * Where the model's own gives that size, it stays. Otherwise the image is resized, aspect kept,
 * until it covers that size, and the centre is cropped. heed_model_build refuses a size for which a
 * bias of relative positions would take more than 2 GiB. Statuses: INVALID_ARGUMENT, UNSUPPORTED
 * (an encoder-decoder), those of heed_model_prepares. */
HEED_NODISCARD HEED_API heed_status heed_model_preprocess_at(const heed_model *model,
                                                             uint32_t height, uint32_t width,
                                                             heed_preprocess *preprocess,
                                                             heed_error *error);

/* Changes preprocess to letterbox: the whole image, aspect kept, centred on the mean colour, which
 * is 0 in pixel_values. Models are not trained this way. Nothing changes where nothing is cropped
 * and the aspect is kept anyway. */
HEED_API void heed_preprocess_fit_whole(heed_preprocess *preprocess);

/* The part of the image that the model receives, in pixels of the image. It may be fractional, and
 * may lie outside for a padded crop. */
typedef struct heed_region {
  double x, y, width, height;
} heed_region;

/* The size of pixel_values for an image of this size. Statuses: INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_preprocess_size(const heed_preprocess *preprocess,
                                                         uint32_t width, uint32_t height,
                                                         uint32_t *out_width, uint32_t *out_height,
                                                         heed_error *error);
/* image -> pixel_values [3, out_height, out_width]: Pillow's resize on 8-bit pixels, then rescale
 * and normalise. region (nullable) is the part that the model receives. Statuses: INVALID_ARGUMENT,
 * OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_preprocess_image(heed_context *context,
                                                          const heed_preprocess *preprocess,
                                                          const heed_image *image,
                                                          float *pixel_values, heed_region *region,
                                                          heed_error *error);

/* ------------------------------------------------------------------------------------- backends */

typedef struct heed_backend heed_backend;

typedef struct heed_cpu_desc {
  size_t struct_size;
  /* 0: one per core that the process may use. On Linux, CPU affinity, cpusets and the CPU quotas of
   * control groups are respected (a quota of 1.5 CPUs: 2 threads); on Windows, affinity. */
  uint32_t threads;
  /* NULL: the best of this machine; or "scalar", "sse2", "avx2", "avx512", "neon", "wasm128".
   * "avx2vnni", "avx512vnni" and "neondot" are avx2, avx512 and neon with dot products of bytes for
   * int8 weights. "avx512bf16" is avx512vnni on CPUs with AVX512_BF16, with the factors of linear
   * and patch_embedding rounded to bf16 (docs/quantisation.md); it is taken by name alone, and
   * heed_cpu_level does not list it. */
  const char *level;
} heed_cpu_desc;
#define HEED_CPU_DESC_INIT \
  { sizeof(heed_cpu_desc), 0, NULL }

/* The CPU backend (desc NULL: defaults). Results are bit-identical for any number of threads.
 * Borrows context, copies desc. Statuses: INVALID_ARGUMENT, UNSUPPORTED (level not built, or not on
 * this machine), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_cpu_backend_create(heed_context *context,
                                                            const heed_cpu_desc *desc,
                                                            heed_backend **backend,
                                                            heed_error *error);
HEED_API void heed_backend_destroy(heed_backend *backend);
/* "cpu", "vulkan"; and "AVX-512, 2 threads" or "AVX-512, 1 thread; CPU affinity allows 1 of 2
 * cores", valid as long as the backend. */
HEED_API const char *heed_backend_name(const heed_backend *backend);
HEED_API const char *heed_backend_device(const heed_backend *backend);

/* The i-th CPU level usable on this machine, best first; NULL after the last. */
HEED_API const char *heed_cpu_level(uint32_t index);

/* ----------------------------------------------------------------------------------------- plan */

typedef struct heed_plan heed_plan;

/* How attention stores its scores. Results are the same in every mode, up to rounding. Sparse norms
 * are always resident, and so is every attention on software Vulkan devices. */
typedef enum heed_attention_mode {
  HEED_ATTENTION_MODE_AUTO = 0,     /* the backend chooses by the sizes */
  HEED_ATTENTION_MODE_RESIDENT = 1, /* whole rows of scores in scratch */
  /* Tiles of keys, so that memory does not grow with Tq Tk. If weights or logits are wanted, a
   * first pass collects maximum and sum of every row, and a second one writes normalised tiles.
   * Otherwise one pass has a running maximum. */
  HEED_ATTENTION_MODE_STREAMED = 2
} heed_attention_mode;

typedef struct heed_plan_desc {
  size_t struct_size;
  const heed_value *taps; /* values to retain besides the outputs; copied */
  uint32_t tap_count;
  /* of every attention for whose sizes the backend has that mode */
  heed_attention_mode attention;
} heed_plan_desc;
#define HEED_PLAN_DESC_INIT \
  { sizeof(heed_plan_desc), NULL, 0, HEED_ATTENTION_MODE_AUTO }

/* In bytes, predicted before any allocation. */
typedef struct heed_memory {
  uint64_t weights;   /* constants as the backend stores them */
  uint64_t arena;     /* inputs, intermediate values, outputs and taps, by lifetimes */
  uint64_t taps;      /* the part of the arena that taps alone need */
  uint64_t workspace; /* scratch of kernels, staging */
} heed_memory;

/* Order, lifetimes and memory layout of everything that the graph's outputs and the taps need. It
 * allocates no tensor. desc NULL: defaults. Borrows graph and backend. Statuses: INVALID_ARGUMENT
 * (also the graph's own first error), UNSUPPORTED, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_plan_create(heed_graph *graph, heed_backend *backend,
                                                     const heed_plan_desc *desc, heed_plan **plan,
                                                     heed_error *error);
HEED_API void heed_plan_destroy(heed_plan *plan);
HEED_API void heed_plan_memory(const heed_plan *plan, heed_memory *memory);

/* EXPERIMENTAL: fields may change. A kernel that a backend chose for a step. */
typedef struct heed_plan_kernel {
  const char *name, *tier; /* "linear_half", "half" */
  /* of a workgroup: rows and columns; or query rows and keys at a time; or rows and invocations per
   * row; or 0, 0 where elements have no order */
  uint32_t tile[2];
  uint32_t dispatches;
} heed_plan_kernel;
#define HEED_STEP_KERNELS 6

/* EXPERIMENTAL: fields may change. One step of a plan. Strings are valid as long as the plan. */
typedef struct heed_plan_step {
  const char *op;     /* "linear" */
  const char *output; /* name of the first output, or "" */
  uint32_t stage;
  heed_shape shape; /* of the first output */
  uint64_t flops;   /* operations; a multiply and an add are 2 */
  uint64_t bytes;   /* operands and results, each counted once */
  const char *mode; /* of an attention: "resident", "streamed", "streamed with weights"; else "" */
  uint64_t map_bytes;  /* of an attention: bytes of all its weights, retained or not; else 0 */
  uint32_t dispatches; /* kernels that the backend starts for it */
  uint32_t
      kernel_count; /* different ones among them, where the backend names them (Vulkan); else 0 */
  heed_plan_kernel kernel[HEED_STEP_KERNELS];
} heed_plan_step;
HEED_API uint32_t heed_plan_step_count(const heed_plan *plan);
HEED_API void heed_plan_step_info(const heed_plan *plan, uint32_t index, heed_plan_step *step);

/* -------------------------------------------------------------------------------------- session */

typedef struct heed_session heed_session;

/* Allocates, loads the model weights, and prepares pipelines. hooks may be NULL. Borrows plan.
 * Statuses: OUT_OF_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE_*, IO, INVALID_FILE, UNSUPPORTED,
 * CANCELLED. */
HEED_NODISCARD HEED_API heed_status heed_session_create(heed_plan *plan, const heed_hooks *hooks,
                                                        heed_session **session, heed_error *error);
HEED_API void heed_session_destroy(heed_session *session);
/* The graph that the session runs, and the backend that it runs on. */
HEED_API const heed_graph *heed_session_graph(const heed_session *session);
HEED_API heed_backend *heed_session_backend(const heed_session *session);
/* Copies a whole input in; bytes must be its size. An input that was never written is zero.
 * Statuses: INVALID_ARGUMENT, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_write(heed_session *session, heed_value input,
                                                       const void *data, size_t bytes,
                                                       heed_error *error);
/* Runs the plan. Blocks until results are readable. Allocates nothing. hooks may be NULL. Statuses:
 * CANCELLED, DEVICE_LOST, DEVICE_FAILED. */
HEED_NODISCARD HEED_API heed_status heed_session_run(heed_session *session, const heed_hooks *hooks,
                                                     heed_error *error);
/* EXPERIMENTAL: may become a hook. Runs steps from *step (0 at first) to the end of the stage, and
 * advances *step. The run is done when *step is heed_plan_step_count. For single-threaded event
 * loops. Statuses: also UNSUPPORTED (a backend that runs all at once), INVALID_ARGUMENT (*step past
 * the end). */
HEED_NODISCARD HEED_API heed_status heed_session_run_part(heed_session *session, uint32_t *step,
                                                          heed_error *error);

/* EXPERIMENTAL: may change. The caller's clock: microseconds from any beginning. */
typedef struct heed_clock {
  double (*microseconds)(void *user);
  void *user;
} heed_clock;
typedef struct heed_step_time {
  uint32_t dispatches;
  double microseconds;
} heed_step_time;
/* EXPERIMENTAL: may change. One run in which each step ends before the next one begins, with the
 * time of each: times[heed_plan_step_count]. A device with a clock of its own uses that one.
 * Statuses: as heed_session_run, UNSUPPORTED (a device without timestamps), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_session_profile(heed_session *session,
                                                         const heed_clock *clock,
                                                         heed_step_time *times, heed_error *error);
/* Copies elements [first, first + count) of an output or tap out. Statuses: INVALID_ARGUMENT (not
 * retained by this plan), DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_read(heed_session *session, heed_value value,
                                                      uint64_t first, uint64_t count, void *to,
                                                      heed_error *error);
/* Pointer to an output or tap, without copying; valid until the next run or the end of the session.
 * Statuses: INVALID_ARGUMENT (not retained by this plan), UNSUPPORTED (the backend's memory cannot
 * be addressed). */
HEED_NODISCARD HEED_API heed_status heed_session_view(heed_session *session, heed_value value,
                                                      const void **data, heed_error *error);

/* EXPERIMENTAL: may change. Recomputes one row of attention weights and, if logits is not NULL, its
 * logits, each [Tk] floats, from the retained query and key. Use it when storing all maps costs too
 * much. `weights` is the attention's weights value. The plan must retain its query and key, and its
 * mask inputs, as taps or outputs. The general and additive scores are excluded: their projected
 * query and key have no name. causal_offsets are excluded too: heed_define_position_mask makes the
 * mask that has one. Semantics are those of the op, accumulated in double. Statuses:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_session_attention_row(heed_session *session,
                                                               heed_value weights, uint32_t batch,
                                                               uint32_t head, uint32_t query,
                                                               float *to, float *logits,
                                                               heed_error *error);

/* EXPERIMENTAL: may change. Several such rows: of one head, or of the mean over heads. */
typedef struct heed_attention_map_desc {
  size_t struct_size;
  uint32_t batch, head;
  bool head_mean;       /* instead of `head` */
  const uint32_t *rows; /* queries; NULL = all */
  uint32_t row_count;
} heed_attention_map_desc;
/* EXPERIMENTAL: may change. to [row_count or Tq, Tk]. As heed_session_attention_row, but reads the
 * keys of a head once. */
HEED_NODISCARD HEED_API heed_status heed_session_attention_map(heed_session *session,
                                                               heed_value weights,
                                                               const heed_attention_map_desc *desc,
                                                               float *to, heed_error *error);

/* ------------------------------------------------------------------------ stream, EXPERIMENTAL */

/* All of this chapter may change.
 *
 * A stream overlaps runs of one session: a device works on one item while the next is copied in and
 * the one before is copied out. Items complete in submission order, with results bit-identical to
 * separate runs, and each has an error of its own. Typical use:
 *   for (i = 0; i < n + in_flight; i++) {
 *     if (i >= in_flight) heed_stream_collect(stream, outputs of item i - in_flight, &error);
 *     if (i < n) heed_stream_submit(stream, inputs of item i, &error);
 *   }
 * A backend that cannot overlap runs (the CPU) runs an item while it is submitted. */
typedef struct heed_stream heed_stream;

typedef struct heed_stream_desc {
  size_t struct_size;
  /* most items submitted and not collected, 1 to 8; 0 = 2; each takes the bytes of its inputs and
   * outputs */
  uint32_t in_flight;
  /* passed with every item; other inputs retain what heed_session_write wrote */
  const heed_value *inputs;
  uint32_t input_count;
  const heed_value *outputs; /* outputs or taps */
  uint32_t output_count;
} heed_stream_desc;

/* Copies desc. Borrows session, which must not be written, run or read while items are in flight
 * (INVALID_ARGUMENT). Statuses: INVALID_ARGUMENT (not an input, not retained), OUT_OF_MEMORY,
 * OUT_OF_DEVICE_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_stream_create(heed_session *session,
                                                       const heed_stream_desc *desc,
                                                       heed_stream **stream, heed_error *error);
/* Waits for the items in flight and drops them. */
HEED_API void heed_stream_destroy(heed_stream *stream);
/* Starts the next item: inputs[input_count], each a whole input, copied. Allocates nothing. A
 * failed run is the item's error, which heed_stream_collect returns. Statuses: INVALID_ARGUMENT
 * (in_flight items wait to be collected, an input is missing). */
HEED_NODISCARD HEED_API heed_status heed_stream_submit(heed_stream *stream,
                                                       const void *const *inputs,
                                                       heed_error *error);
/* Waits for the oldest item and copies its outputs[output_count], each a whole value; NULL skips
 * one. Allocates nothing. Statuses: as heed_session_run for this item; INVALID_ARGUMENT when
 * nothing is in flight. */
HEED_NODISCARD HEED_API heed_status heed_stream_collect(heed_stream *stream, void *const *outputs,
                                                        heed_error *error);

/* ---------------------------------------------------------------------- decoding, EXPERIMENTAL */

/* All of this chapter may change.
 *
 * Greedy decoding of an encoder-decoder. The encoder runs once, then a step per token, fed with the
 * most probable token before it (the first of equals). Keys and values of earlier tokens, or the
 * states of a recurrent decoder, are retained, so every step costs the same. */
typedef struct heed_decoder heed_decoder;

typedef struct heed_decoder_desc {
  size_t struct_size;
  uint32_t batch;         /* 0 = 1 */
  uint32_t source_length; /* S; 0 = the model's max_length */
  uint32_t max_length;    /* most tokens to decode; 0 = the model's max_length */
  bool logits, attention; /* what to retain of every step */
} heed_decoder_desc;

/* Borrows model, which must be an encoder-decoder, and backend. Copies desc. hooks may be NULL.
 * Statuses: as heed_model_build, heed_plan_create and heed_session_create. */
HEED_NODISCARD HEED_API heed_status heed_decoder_create(const heed_model *model,
                                                        heed_backend *backend,
                                                        const heed_decoder_desc *desc,
                                                        const heed_hooks *hooks,
                                                        heed_decoder **decoder, heed_error *error);
HEED_API void heed_decoder_destroy(heed_decoder *decoder);
/* Decodes. source is source_tokens I32 [B, S] or source_features F32 [B, S, F], of `bytes` bytes.
 * Ends when every row of the batch has the end token, or at max_length. hooks may be NULL.
 * Statuses: INVALID_ARGUMENT, INVALID_FILE (a logit that is not a number), CANCELLED, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_decoder_run(heed_decoder *decoder, const void *source,
                                                     size_t bytes, const heed_hooks *hooks,
                                                     heed_error *error);
/* The tokens of the last run, [B, length], without the begin token and with the end token. Rows
 * that ended earlier continue with padding, or with the end token where the model names no padding.
 * Valid until the next run. */
HEED_API const int32_t *heed_decoder_tokens(const heed_decoder *decoder, uint32_t *length);
/* The logits of these tokens, [B, length, target vocabulary], or NULL when they were not retained.
 * Valid until the next run. */
HEED_API const float *heed_decoder_logits(const heed_decoder *decoder);

typedef enum heed_decoder_attention {
  HEED_ATTENTION_ENCODER = 0,
  HEED_ATTENTION_DECODER = 1,
  HEED_ATTENTION_CROSS = 2
} heed_decoder_attention;
/* The shape of one layer's attention weights in the last run: [B, H, S, S], [B, H, length, length]
 * or [B, H, length, S]. Rank 0 when the model has no such attention, or it was not retained. */
HEED_API heed_shape heed_decoder_attention_shape(const heed_decoder *decoder,
                                                 heed_decoder_attention which, uint32_t layer);
/* Copies them, `count` floats. Statuses: INVALID_ARGUMENT. */
HEED_NODISCARD HEED_API heed_status heed_decoder_read_attention(heed_decoder *decoder,
                                                                heed_decoder_attention which,
                                                                uint32_t layer, float *to,
                                                                uint64_t count, heed_error *error);

/* ------------------------------------------------------------------------- changes of attention */

/* EXPERIMENTAL: all of this chapter may change.
 *
 * Changes of the attention of a model that was built with `intervene`: heads ablated or scaled,
 * tokens masked, pairs of tokens blocked. One call adds one change. heed_changes_write writes all
 * of them to the session's inputs. */
typedef struct heed_changes heed_changes;
/* Creates an empty set of changes. Reads layers, heads and width of info. tokens: T of the session.
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_changes_create(heed_context *context,
                                                        const heed_model_info *info,
                                                        uint32_t tokens, heed_changes **changes,
                                                        heed_error *error);
HEED_API void heed_changes_destroy(heed_changes *changes);
/* Ablates a head: its mask becomes empty. It outputs zeros, what heed_changes_replace sets, or what
 * empty_row says. */
HEED_NODISCARD HEED_API heed_status heed_changes_ablate(heed_changes *changes, uint32_t layer,
                                                        uint32_t head, heed_error *error);
/* Multiplies the output of a head. */
HEED_NODISCARD HEED_API heed_status heed_changes_gain(heed_changes *changes, uint32_t layer,
                                                      uint32_t head, float gain, heed_error *error);
/* Masks this token as a key of every query. */
HEED_NODISCARD HEED_API heed_status heed_changes_drop(heed_changes *changes, uint32_t token,
                                                      heed_error *error);
/* Blocks the query from attending to the key. */
HEED_NODISCARD HEED_API heed_status heed_changes_cut(heed_changes *changes, uint32_t query,
                                                     uint32_t key, heed_error *error);
/* Mean ablation: the ablated heads of the layer output their mean over the tokens. output [T, C] is
 * layer.i.attention.output of a run without changes. */
HEED_NODISCARD HEED_API heed_status heed_changes_replace(heed_changes *changes, uint32_t layer,
                                                         const float *output, heed_error *error);
/* Whether this head's query may attend to this key. */
HEED_API bool heed_changes_allow(const heed_changes *changes, uint32_t layer, uint32_t head,
                                 uint32_t query, uint32_t key);
/* Writes the inputs of the session's graph, the same for every image of a batch. Statuses:
 * INVALID_ARGUMENT (a graph without these inputs or of another shape), OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_changes_write(const heed_changes *changes,
                                                       heed_session *session, heed_error *error);

/* ----------------------------------------------------------------------------------------- maps */

/* In an attention matrix a row is a query and a column is a key. `prefix` tokens (CLS, registers)
 * come before rows x columns patches, so N = prefix + rows * columns tokens. docs/attention.md has
 * definitions and sources. */

/* mean[N, N] = mean over heads of attention[H, N, N]. */
HEED_API void heed_map_head_mean(const float *attention, uint32_t heads, uint32_t tokens,
                                 float *mean);

typedef enum heed_fusion {
  HEED_FUSION_MEAN = 0,
  HEED_FUSION_MIN = 1,
  HEED_FUSION_MAX = 2
} heed_fusion;
typedef struct heed_rollout_desc {
  size_t struct_size;
  uint32_t layers, heads, tokens;
  heed_fusion fusion; /* over heads */
  float residual;     /* r, weight of the identity; 0 = 0.5 */
  /* the layers multiplied; layer_count 0 = all from first_layer on */
  uint32_t first_layer, layer_count;
  /* fraction of each row's keys whose fused weights, the smallest, become 0 before r I is added; 0
   * to less than 1, ties by index */
  float discard;
  /* [layers], each [H, N, N]: read instead of `attention`, which may be NULL then; NULL = that */
  const float *const *maps;
} heed_rollout_desc;
/* Attention rollout (Abnar & Zuidema 2020): the product over layers of (1-r) A + r I, rows
 * normalised over keys. attention [L, H, N, N] -> rollout [N, N]. A row is a token of the last
 * layer, a column an input token. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_rollout(heed_context *context,
                                                     const heed_rollout_desc *desc,
                                                     const float *attention, float *rollout,
                                                     heed_error *error);
/* row [N] = start [N] times that rollout, as a vector through the layers from the last one back: N
 * times less work, and 28 N bytes. A token's unit vector gives that token's row. row may be start.
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_map_rollout_row(heed_context *context,
                                                         const heed_rollout_desc *desc,
                                                         const float *attention, const float *start,
                                                         float *row, heed_error *error);
/* EXPERIMENTAL: may change. The same of a session that kept no weights: those of 64 queries at a
 * time are made again, from the query and key of each layer, which the plan must retain. weights
 * [layers]: each layer's weights value. desc->maps is not read. Statuses: INVALID_ARGUMENT,
 * UNSUPPORTED (an attention with a mask, a causal rule, a window, or another score or norm than
 * softmax(scale q k^T + bias)), OUT_OF_MEMORY, DEVICE_*. */
HEED_NODISCARD HEED_API heed_status heed_session_rollout_row(heed_session *session,
                                                             const heed_rollout_desc *desc,
                                                             const heed_value *weights,
                                                             uint32_t batch, const float *start,
                                                             float *row, heed_error *error);

/* Shannon entropy of one row of n weights, in nats; 0 log 0 = 0. Its maximum is ln n. */
HEED_API double heed_map_entropy(const float *row, uint32_t n);
/* Mean attention distance of one head, in pixels (Dosovitskiy et al. 2021, D.7). For each patch
 * query it is the Euclidean distance on the grid times `patch`, weighted by attention; the result
 * is the mean over patch queries. attention [N, N]. With renormalise, the weights of the patches
 * are first scaled to sum to 1. Without, mass on prefix tokens counts as distance 0. */
HEED_API double heed_map_distance(const float *attention, uint32_t prefix, uint32_t rows,
                                  uint32_t columns, double patch, bool renormalise);
/* DINO's mass mask (Caron et al. 2021): the smallest set of patches with `share` of the patches'
 * mass, ties by index. weights [n] -> mask [n] of 0/1. order is scratch of n uint32_t. Returns how
 * many are set. */
HEED_API uint32_t heed_map_mass_mask(const float *weights, uint32_t n, double share, uint8_t *mask,
                                     uint32_t *order);

/* Statistics of one head over a whole image. */
typedef struct heed_map_statistics {
  double entropy_cls;                     /* of the first row, in nats; 0 without prefix tokens */
  double entropy_patches;                 /* mean over patch queries */
  double distance, distance_renormalised; /* heed_map_distance, in pixels */
  double prefix_mass;                     /* weight on prefix tokens, mean over patch queries */
  double self_mass;                       /* weight on itself, mean over patch queries */
  /* sum of a row's five largest weights (all where it has fewer), mean over patch queries */
  double top5_mass;
} heed_map_statistics;
/* attention [N, N]; patch: side in pixels. */
HEED_API void heed_map_get_statistics(const float *attention, uint32_t prefix, uint32_t rows,
                                      uint32_t columns, double patch,
                                      heed_map_statistics *statistics);

/* Scores behind the weights: rows (a query and all keys) of one head, or with `reverse` columns (a
 * key and all queries). D = depth.
 * scores[tokens] = one[D] . all[tokens, D], the query with every key (or the key with every query);
 * scaled: divided by sqrt(D), mode 0 of ONNX's qk_matmul_output_mode. */
HEED_API void heed_score_products(const float *one, const float *all, uint32_t tokens,
                                  uint32_t depth, bool scaled, float *scores);
/* Scaled scores after temperature and mask, mode 2 of ONNX: divided by temperature, -Inf where the
 * changes mask the key for this head's query. In place. */
HEED_API void heed_score_mask(const heed_changes *changes, uint32_t layer, uint32_t head,
                              uint32_t token, bool reverse, double temperature, uint32_t tokens,
                              float *scores);
/* The weights of a row of scores, or the probabilities of classes from logits: weights[n] = softmax
 * of scores[n], in double. A score of -Inf gives 0, and so does every score where all are. */
HEED_API void heed_score_softmax(const float *scores, uint32_t n, double *weights);
/* Weights times the norm |v| of the key's value (Kobayashi et al. 2020). weights[tokens];
 * values[tokens, D], or with reverse [D] of the one key. */
HEED_API void heed_score_values(const float *weights, const float *values, uint32_t tokens,
                                uint32_t depth, bool reverse, float *scores);
/* mean[tokens] over the heads of scores[heads, tokens] that are not -Inf there; -Inf where all
 * are. */
HEED_API void heed_score_mean(const float *scores, uint32_t heads, uint32_t tokens, float *mean);

/* EXPERIMENTAL: may change. The cosine of two vectors [size], summed in double; NaN where one is 0.
 */
HEED_API float heed_cosine(const float *a, const float *b, uint32_t size);
/* EXPERIMENTAL: may change. An image's embedding [E] beside those of texts [count, E], by the info
 * of the text tower, whose projection is E. logits [count] = exp(logit_scale) cosine + logit_bias.
 * probability [count] may be NULL: the softmax of the logits over the texts, as CLIP has it, or the
 * sigmoid of each where the model has a bias, as SigLIP has it. */
HEED_API void heed_compare(const heed_model_info *text, const float *image, const float *texts,
                           uint32_t count, float *logits, double *probability);

/* What a row of N weights is. */
typedef enum heed_row_kind {
  HEED_ROW_ATTENTION = 0, /* the attention of a query */
  HEED_ROW_COLUMN = 1,    /* the attention that one key receives from each query */
  HEED_ROW_ROLLOUT = 2    /* a token's row of a rollout */
} heed_row_kind;
#define HEED_MAP_ELSEWHERE_SIZE 512
/* A note for a map that shows next to nothing. It is for a row [n] of which patches other than the
 * query's own have less than a tenth. It names which of the `prefix` tokens and the query `token`
 * have the rest:
 * "98.3 % on CLS", "97.0 % on register 1", "99.0 % on itself". Otherwise it is "". A column has a
 * note only if it is empty. names [prefix]: as token_names of heed_model_info. Returns text. */
HEED_API const char *heed_map_elsewhere(const float *row, uint32_t n, uint32_t prefix,
                                        const char *const *names, uint32_t token,
                                        heed_row_kind kind, char text[HEED_MAP_ELSEWHERE_SIZE]);

typedef enum heed_colormap {
  HEED_COLORMAP_CIVIDIS = 0,
  HEED_COLORMAP_VIRIDIS = 1,
  HEED_COLORMAP_MAGMA = 2,
  HEED_COLORMAP_INFERNO = 3,
  HEED_COLORMAP_GREY = 4
} heed_colormap;
/* t from 0 to 1 -> RGB. A t outside is clamped; NaN is (128, 128, 128). */
HEED_API void heed_colormap_rgb(heed_colormap map, double t, uint8_t rgb[3]);
HEED_API const char *heed_colormap_name(heed_colormap map);

#ifdef __cplusplus
}
#endif
#endif
