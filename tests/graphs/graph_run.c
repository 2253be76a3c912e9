/* See random_graph.h. */
#include "graphs/random_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  uint32_t type, size;
} types[] = {{"F32", F32, 4}, {"U8", U8, 1},   {"I8", I8, 1},   {"U16", U16, 2},
             {"I16", I16, 2}, {"I32", I32, 4}, {"I64", I64, 8}, {"BOOL", BOOL, 1},
             {"F16", F16, 2}, {"F64", F64, 8}, {"U32", U32, 4}, {"U64", U64, 8}};

uint32_t graph_type_size(uint32_t type) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].type == type) return types[i].size;
  abort();
}

const char *graph_type_name(uint32_t type) {
  for (size_t i = 0; i < COUNT(types); i++)
    if (types[i].type == type) return types[i].name;
  abort();
}

bool graph_type_is_float(uint32_t type) { return type == F32 || type == F16 || type == F64; }

static double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (double)(fraction ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(fraction, -24)
                                      : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

double graph_float(uint32_t type, const unsigned char *bytes, size_t index) {
  float single;
  double wide;
  uint16_t bits;
  if (type == F32) {
    memcpy(&single, bytes + 4 * index, 4);
    return (double)single;
  }
  if (type == F64) {
    memcpy(&wide, bytes + 8 * index, 8);
    return wide;
  }
  memcpy(&bits, bytes + 2 * index, 2);
  return half(bits);
}

static bool parse_tensor(const char **at, const char *end, graph_tensor *tensor, size_t *from) {
  char dtype[8];
  unsigned long first, last;
  int used = 0;
  memset(tensor, 0, sizeof *tensor);
  if (sscanf(*at, "\"%7[^\"]\":{\"dtype\":\"%7[^\"]\",\"shape\":[%n", tensor->name, dtype, &used) !=
          2 ||
      !used)
    return false;
  *at += used;
  while (**at != ']' && *at < end) {
    if (tensor->rank == GRAPH_AXES) return false;
    tensor->dims[tensor->rank++] = (uint32_t)strtoul(*at, (char **)at, 10);
    if (**at == ',') ++*at;
  }
  used = 0;
  if (sscanf(*at, "],\"data_offsets\":[%lu,%lu]}%n", &first, &last, &used) != 2 || !used)
    return false;
  *at += used;
  for (size_t i = 0; i < COUNT(types); i++)
    if (strcmp(types[i].name, dtype) == 0) tensor->type = types[i].type;
  *from = first;
  tensor->size = last - first;
  return tensor->type != 0;
}

/* The header is heed's own: its keys have this order. */
static bool parse(graph_result *result) {
  uint64_t length;
  memcpy(&length, result->file, sizeof length);
  if (length > result->size - 8) return false;
  char *header = calloc(length + 1, 1);
  if (!header) abort();
  memcpy(header, result->file + 8, length);
  const char *at = header, *end = header + length;
  bool fine = *at == '{';
  at++;
  if (strncmp(at, "\"__metadata__\":{", 16) == 0) at = strchr(at, '}') + 2;
  result->count = 0;
  while (fine && at < end && *at == '"') {
    size_t from = 0;
    graph_tensor *tensor = &result->tensors[result->count];
    fine = result->count < GRAPH_VALUES && parse_tensor(&at, end, tensor, &from);
    if (fine) tensor->bytes = result->file + 8 + length + from;
    result->count += fine;
    if (*at == ',') at++;
  }
  if (!fine) fprintf(stderr, "a header that cannot be read: %s\n", header);
  free(header);
  return fine;
}

heed_status graph_run(heed_context *context, heed_backend *backend, bool parts,
                      const test_message *file, const test_bytes *inputs, graph_result *result,
                      heed_error *error) {
  const heed_onnx_desc desc = {sizeof desc, test_source(file->data, file->size), "g.onnx", NULL,
                               NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = test_source(inputs->data, inputs->size),
                                       .most_elements = 1u << 16,
                                       .most_steps = 1u << 22,
                                       .backend = backend,
                                       .parts = parts};
  heed_onnx *onnx;
  heed_onnx_result *made;
  memset(result, 0, sizeof *result);
  heed_status status = heed_onnx_open(context, &desc, &onnx, error);
  if (status == HEED_OK) {
    status = heed_onnx_evaluate(onnx, &how, &made, error);
    if (status == HEED_OK) {
      const heed_source source = heed_onnx_result_source(made);
      result->size = (size_t)source.size;
      result->file = malloc(result->size);
      if (!result->file ||
          source.read(source.user, 0, result->file, result->size, error) != HEED_OK ||
          !parse(result))
        abort();
      heed_onnx_result_destroy(made);
    }
    heed_onnx_destroy(onnx);
  }
  if (status != HEED_OK && status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED &&
      status != HEED_OUT_OF_MEMORY) {
    fprintf(stderr, "%s: %s\n", heed_status_name(status), error->message);
    abort();
  }
  return status;
}

void graph_result_free(graph_result *result) {
  free(result->file);
  result->file = NULL;
}

const graph_tensor *graph_result_find(const graph_result *result, const char *name) {
  for (uint32_t i = 0; i < result->count; i++)
    if (strcmp(result->tensors[i].name, name) == 0) return &result->tensors[i];
  return NULL;
}
