/* One node of any op: its inputs of any rank, left out or of another type, its attributes of any
 * value, in double and on kernels. The bytes say which. Where both ways give a result, it has the
 * same shape and the same numbers: floats within 2e-5 of 1 and their size, the rest bit for bit. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/onnx_names.h"
#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_file.h"

static const char *tried; /* the op, for messages */

/* The bytes, and zeros after them. */
typedef struct reader {
  const uint8_t *at, *end;
} reader;

static uint32_t next(reader *r, uint32_t below) {
  const uint32_t byte = r->at < r->end ? *r->at++ : 0;
  return byte % below;
}

/* Small numbers, and now and then the ends of a range. */
static int64_t whole(reader *r) {
  static const int64_t ends[] = {INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, 1 << 20, -9, 8, 9};
  const uint32_t byte = next(r, 256);
  return byte < 224 ? (int64_t)(byte % 12) - 4 : ends[byte % FUZZ_COUNT(ends)];
}

/* No float is so large that sums in single precision lose what double keeps. */
static float real_of(reader *r) {
  static const float ends[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e-3f, 100.0f, -100.0f, 1.0f / 3};
  const uint32_t byte = next(r, 256);
  return byte < 224 ? 0.5f * (float)(byte % 12) - 2.0f : ends[byte % FUZZ_COUNT(ends)];
}

/* ---------------------------------------------------------------------------------- the file */

static const uint32_t types[] = {1, 7, 1, 9, 2, 3, 6, 10, 11, 13},
                      sizes[] = {4, 8, 4, 1, 1, 1, 4, 2, 8, 8};

/* An initializer; its shape and numbers are of the bytes. */
static void put_input(test_message *graph, reader *r, const char *name, uint32_t kind) {
  unsigned char bytes[8 * 729];
  uint32_t dims[8], count = 1;
  const uint32_t rank = next(r, 9), size = sizes[kind];
  for (uint32_t i = 0; i < rank; i++) {
    dims[i] = count > 81 ? 1 : next(r, 16) ? 1 + next(r, 3) : 0;
    count *= dims[i];
  }
  for (uint32_t i = 0; i < count; i++) {
    if (types[kind] == 1) {
      const float real = real_of(r);
      memcpy(bytes + i * size, &real, size);
    } else if (types[kind] == 11) {
      const double real = (double)real_of(r);
      memcpy(bytes + i * size, &real, size);
    } else {
      const int64_t number = whole(r);
      memcpy(bytes + i * size, &number, size); /* floats of other types: any bits */
    }
    if (types[kind] == 9) bytes[i] &= 1;
  }
  test_put_raw(graph, name, types[kind], rank, dims, bytes, (size_t)count * size);
}

static void put_attribute(test_message *node, reader *r) {
  test_message attribute = {0};
  const char *name = fuzz_attributes[next(r, FUZZ_COUNT(fuzz_attributes))];
  const uint32_t kind = next(r, 4), count = next(r, 10);
  test_put_text(&attribute, 1, name);
  if (kind == 0) test_put_number(&attribute, 3, (uint64_t)whole(r));
  if (kind == 1) {
    const float real = 0.25f * (float)whole(r);
    unsigned char tagged[] = {0x15, 0, 0, 0, 0};
    memcpy(tagged + 1, &real, sizeof real);
    attribute.data = realloc(attribute.data, attribute.size + sizeof tagged);
    if (!attribute.data) abort();
    memcpy(attribute.data + attribute.size, tagged, sizeof tagged);
    attribute.size += sizeof tagged;
  }
  if (kind == 2) test_put_text(&attribute, 4, fuzz_texts[next(r, FUZZ_COUNT(fuzz_texts))]);
  for (uint32_t i = 0; kind == 3 && i < count; i++)
    test_put_number(&attribute, 8, (uint64_t)whole(r));
  static const uint32_t numbers[] = {2, 1, 3, 7};
  test_put_number(&attribute, 20, numbers[kind]);
  test_put_message(node, 5, &attribute);
}

/* Floats are computed, so that kernels run them: each is an initializer plus t. */
static test_message make_file(reader *r) {
  test_message graph = {0}, node = {0}, file = {0}, opset = {0};
  const uint32_t op = next(r, FUZZ_COUNT(fuzz_ops) + FUZZ_COUNT(fuzz_contributed)),
                 version = 7 + next(r, 22), inputs = next(r, 8), outputs = 1 + next(r, 4),
                 count = next(r, 5);
  for (uint32_t i = 0; i < inputs; i++) {
    char name[12], computed[12], both[24];
    const uint32_t kind = next(r, FUZZ_COUNT(types) + 2);
    snprintf(name, sizeof name, "i%u", i);
    snprintf(computed, sizeof computed, "c%u", i);
    if (kind < FUZZ_COUNT(types)) put_input(&graph, r, name, kind);
    snprintf(both, sizeof both, "%s,t", name);
    if (kind == 0) test_put_node(&graph, "Add", computed, both, computed, NULL);
    test_put_text(&node, 1,
                  kind >= FUZZ_COUNT(types) ? (kind == FUZZ_COUNT(types) ? "" : "t")
                  : kind == 0               ? computed
                                            : name);
  }
  for (uint32_t i = 0; i < outputs; i++) {
    char name[12];
    snprintf(name, sizeof name, "y%u", i);
    test_put_text(&node, 2, i && next(r, 4) == 0 ? "" : name);
  }
  tried = op < FUZZ_COUNT(fuzz_ops) ? fuzz_ops[op] : fuzz_contributed[op - FUZZ_COUNT(fuzz_ops)];
  test_put_text(&node, 4, tried);
  for (uint32_t i = 0; i < count; i++) put_attribute(&node, r);
  if (op >= FUZZ_COUNT(fuzz_ops)) test_put_text(&node, 7, "com.microsoft");
  test_put_message(&graph, 1, &node);
  test_put_shaped(&graph, 11, "t", 0, NULL);
  test_put_text(&graph, 12, "\x0A\x02y0");
  test_put_number(&file, 1, 8);
  test_put_message(&file, 7, &graph);
  test_put_number(&opset, 2, version);
  test_put_message(&file, 8, &opset);
  return file;
}

/* ------------------------------------------------------------------------------------ the runs */

/* t, a number. */
static const unsigned char input[] =
    "\x38\0\0\0\0\0\0\0{\"t\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}   "
    "\0\0\x80\x3F";

/* A file of safetensors with y0 alone. */
typedef struct result {
  char *header; /* NULL: there is none */
  size_t header_size, size;
  unsigned char *bytes;
} result;

static result run(heed_onnx *onnx, heed_backend *backend) {
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {sizeof input - 1, input, NULL, NULL},
                                        .most_elements = 1u << 16,
                                        .most_steps = 1u << 22,
                                        .backend = backend};
  heed_onnx_result *made;
  heed_error error;
  const heed_status status = heed_onnx_evaluate(onnx, &desc, &made, &error);
  if (status != HEED_OK) {
    fuzz_must_refuse(status, &error);
    return (result){NULL, 0, 0, NULL};
  }
  const heed_source source = heed_onnx_result_source(made);
  unsigned char length[8];
  if (source.read(source.user, 0, length, sizeof length, &error) != HEED_OK) abort();
  result of = {.header_size = length[0] | (size_t)length[1] << 8};
  of.size = (size_t)source.size - 8 - of.header_size;
  of.header = calloc(of.header_size + 1, 1);
  of.bytes = calloc(of.size + 1, 1);
  if (!of.header || !of.bytes ||
      source.read(source.user, 8, of.header, of.header_size, &error) != HEED_OK ||
      (of.size &&
       source.read(source.user, 8 + of.header_size, of.bytes, of.size, &error) != HEED_OK))
    abort();
  heed_onnx_result_destroy(made);
  return of;
}

static void free_result(result *of) {
  free(of->header);
  free(of->bytes);
}

/* A number of the result, of either type of floats. */
static double float_of(const result *of, size_t at, size_t size) {
  float single;
  double wide;
  memcpy(&single, of->bytes + at, sizeof single);
  if (size == sizeof single) return (double)single;
  memcpy(&wide, of->bytes + at, sizeof wide);
  return wide;
}

/* The differences that docs/onnx.md states: limits where a formula has no value, and square roots
 * of -Inf where powers have one. */
static bool is_stated(double kernel, double exact) {
  if (strstr(tried, "Gelu") || strcmp(tried, "Swish") == 0) return isnan(exact) && kernel == 0;
  if (strcmp(tried, "LogSoftmax") == 0) return isnan(exact) && isinf(kernel) && kernel < 0;
  return strcmp(tried, "Pow") == 0 && isnan(kernel) && (exact == 0 || isinf(exact));
}

static bool is_near(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a == b;
  return fabs(a - b) <= 2e-5 * (1 + fabs(b));
}

static void compare(const result *exact, const result *kernels) {
  if (strcmp(exact->header, kernels->header) != 0) {
    fprintf(stderr, "%s: two shapes: %s in double, %s on kernels\n", tried, exact->header,
            kernels->header);
    abort();
  }
  const size_t size = strstr(exact->header, "\"F32\"")   ? sizeof(float)
                      : strstr(exact->header, "\"F64\"") ? sizeof(double)
                                                         : 0;
  for (size_t at = 0; size && at + size <= exact->size; at += size) {
    const double kernel = float_of(kernels, at, size), right = float_of(exact, at, size);
    if (is_near(kernel, right) || is_stated(kernel, right)) continue;
    fprintf(stderr, "%s: two numbers at %zu: %.9g in double, %.9g on kernels\n", tried, at / size,
            right, kernel);
    abort();
  }
  if (!size && memcmp(exact->bytes, kernels->bytes, exact->size) != 0) {
    fprintf(stderr, "%s: other bytes on kernels than in double: %s\n", tried, exact->header);
    abort();
  }
}

static void try_file(heed_context *context, heed_backend *backend, const test_message *file) {
  const heed_onnx_desc desc = {sizeof desc, test_source(file->data, file->size), "f.onnx", NULL,
                               NULL};
  heed_onnx *onnx;
  heed_error error;
  const heed_status status = heed_onnx_open(context, &desc, &onnx, &error);
  if (status != HEED_OK) {
    fuzz_must_refuse(status, &error);
    return;
  }
  result exact = run(onnx, NULL), kernels = run(onnx, backend);
  if (exact.header && kernels.header) compare(&exact, &kernels);
  free_result(&exact);
  free_result(&kernels);
  heed_onnx_destroy(onnx);
}

void fuzz_read(const uint8_t *data, size_t size) {
  static heed_context *context; /* both last as long as the program */
  static heed_backend *backend;
  heed_error error;
  const heed_cpu_desc one = {sizeof one, 1, NULL};
  if (!context && (!(context = fuzz_context()) ||
                   heed_cpu_backend_create(context, &one, &backend, &error) != HEED_OK))
    abort();
  reader r = {data, data + size};
  test_message file = make_file(&r);
  try_file(context, backend, &file);
  free(file.data);
}

void fuzz_change(fuzz_input *bytes, test_random *random) { fuzz_change_bytes(bytes, random); }

#ifndef HEED_LIBFUZZER
/* One seed for each op: two inputs of four axes, with numbers behind them. */
int main(int argc, char **argv) {
  enum { SIZE = 96, SEEDS = FUZZ_COUNT(fuzz_ops) + FUZZ_COUNT(fuzz_contributed) };
  static uint8_t bytes[SEEDS][SIZE];
  static fuzz_seed seeds[SEEDS];
  for (size_t i = 0; i < SEEDS; i++) {
    const uint8_t head[] = {(uint8_t)i, 10, 2, 0, 0, 0, 4, 1, 1, 1, 2, 1, 1, 1, 1};
    for (size_t k = 0; k < SIZE; k++) bytes[i][k] = (uint8_t)(5 + 7 * k);
    memcpy(bytes[i], head, sizeof head);
    seeds[i] = (fuzz_seed){bytes[i], SIZE};
  }
  static const char *const few[] = {"\x01\x01\x01", NULL};
  return fuzz_main(argc, argv, seeds, SEEDS, few);
}
#endif
