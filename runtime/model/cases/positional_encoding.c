/* positional_encoding: sin on even and cos on odd columns (Vaswani et al. 2017, 3.5), a constant made when a session is created. */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "model/case.h"

/* Angles are worked out in double: in float sin(position) loses its digits as positions grow. */
static heed_status read_encoding(void *user, uint64_t first, uint64_t count, void *to, heed_error *error) {
  const uint32_t width = *(const uint32_t *)user;
  float *y = to;
  (void)error;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t position = (first + i) / width, column = (first + i) % width;
    const double angle = (double)position * pow(10000.0, -(double)(column / 2 * 2) / width);
    y[i] = (float)(column % 2 ? cos(angle) : sin(angle));
  }
  return HEED_OK;
}

heed_value heed_define_positional_encoding(heed_graph *graph, uint32_t length, uint32_t width) {
  void *kept = heed_graph_keep(graph, &width, sizeof width);
  if (!kept) return (heed_value){0};
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, HEED_SHAPE(length, width), NULL, read_encoding, kept};
  return heed_define_constant(graph, &desc);
}

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t length = heed_case_integer(test, "length", 0), width = heed_case_integer(test, "width", 0);
  if (length < 1 || width < 1 || length > UINT32_MAX || width > UINT32_MAX)
    return heed_fail(error, HEED_INVALID_FILE, "positional_encoding: no such size (found length %lld, width %lld, expected 1 or more)", (long long)length,
                     (long long)width);
  heed_graph *graph = heed_case_graph(test);
  /* Only a computed value can be read after a run: the axes in their own order are a copy. */
  const heed_permute_desc copy = {sizeof copy, heed_define_positional_encoding(graph, (uint32_t)length, (uint32_t)width), {0, 1}};
  heed_case_result(test, "y", heed_define_permute(graph, &copy));
  return HEED_OK;
}

static const char *const names[] = {"positional_encoding", NULL};
const heed_layer_case heed_case_positional_encoding = {names, from_case};
