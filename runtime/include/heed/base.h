/* The first chapter of heed.h: what all others use. Marks of declarations, statuses and their
 * sentences, the context of all objects, hooks, and the shapes of tensors. */
#ifndef HEED_BASE_H
#define HEED_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEED_VERSION_MAJOR 0
#define HEED_VERSION_MINOR 2
#define HEED_VERSION_PATCH 0
#define HEED_VERSION "0.2.0"

#if defined(HEED_SHARED) && defined(__GNUC__) && !defined(_WIN32) /* a list has it there */
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

/* "0.2.0": the version of the linked library, not of the header. A static string. */
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
  /* Bytes that reading one file may take in all; 0: 64 MiB and 8 times the file. */
  uint64_t most_reading;
} heed_context_desc;
#define HEED_CONTEXT_DESC_INIT \
  { sizeof(heed_context_desc), {NULL, NULL, NULL}, NULL, NULL, 0 }

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

#ifdef __cplusplus
}
#endif

#endif
