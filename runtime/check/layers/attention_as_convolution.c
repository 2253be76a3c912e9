/* attention_as_convolution: K K heads of which head (a, b) sees of every pixel only the one at
 * offset (a - K/2, b - K/2), and nothing outside the picture; what they bring, times the kernel's
 * columns, summed over heads, is the convolution (Cordonnier et al. 2020). */
#include "check/layers/attention_as_convolution.h"

#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "check/case.h"
#include "graph/graph.h"
#include "heed/ops.h"

typedef struct grid {
  uint32_t rows, columns, side; /* of the picture; K */
} grid;

/* Element (head, i, j) of the mask [1, K K, N, N]. */
static heed_status read_mask(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  const grid *g = user;
  const uint64_t pixels = (uint64_t)g->rows * g->columns;
  uint8_t *mask = to;
  (void)error;
  for (uint64_t n = 0; n < count; n++) {
    const uint64_t j = (first + n) % pixels, i = (first + n) / pixels % pixels,
                   head = (first + n) / pixels / pixels;
    const int64_t row = (int64_t)(i / g->columns + head / g->side) - g->side / 2,
                  column = (int64_t)(i % g->columns + head % g->side) - g->side / 2;
    mask[n] = row == (int64_t)(j / g->columns) && column == (int64_t)(j % g->columns);
  }
  return HEED_OK;
}

static heed_status read_zeros(void *user, uint64_t first, uint64_t count, void *to,
                              heed_error *error) {
  (void)user, (void)first, (void)error;
  memset(to, 0, (size_t)count * sizeof(float));
  return HEED_OK;
}

static heed_value zeros(heed_graph *graph, heed_shape shape) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, NULL, read_zeros, NULL};
  return heed_define_constant(graph, &desc);
}

static heed_value mask_of(heed_graph *graph, const grid *g) {
  void *kept = heed_graph_keep(graph, g, sizeof *g);
  if (!kept) return (heed_value){0};
  const uint32_t pixels = g->rows * g->columns;
  const heed_constant_desc desc = {
      sizeof desc, NULL,      HEED_U8, HEED_SHAPE(1, g->side * g->side, pixels, pixels),
      NULL,        read_mask, kept};
  return heed_define_constant(graph, &desc);
}

/* kernel [O, C, K, K] as the weight [O, K K C] of heads side by side. */
static heed_value turned_kernel(heed_graph *graph, heed_value kernel, const uint32_t *k) {
  const uint64_t places = (uint64_t)k[2] * k[3], strides[3] = {k[1] * places, 1, places};
  const heed_shape apart = HEED_SHAPE(k[0], k[2] * k[3], k[1]),
                   joined = HEED_SHAPE(k[0], k[2] * k[3] * k[1]);
  return heed_define_reshape(graph, heed_graph_strided_constant(graph, kernel, 0, &apart, strides),
                             &joined);
}

static heed_status check(const heed_graph *graph, heed_value image, heed_value kernel,
                         heed_value_info *x, heed_value_info *k, heed_error *error) {
  if (heed_graph_value_info(graph, image, x) != HEED_OK ||
      heed_graph_value_info(graph, kernel, k) != HEED_OK || x->shape.rank != 4 ||
      k->shape.rank != 4 || k->shape.dim[1] != x->shape.dim[1] ||
      k->shape.dim[2] != k->shape.dim[3] || k->shape.dim[2] % 2 == 0 || k->shape.dim[2] > 31)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention_as_convolution: invalid image or kernel (expected [B, C, height, "
                     "width] and [O, C, K, K], K odd, at most 31)");
  if ((uint64_t)x->shape.dim[2] * x->shape.dim[3] > 65536)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "attention_as_convolution: image too large (found %llu pixels, expected at most 65536)",
        (unsigned long long)x->shape.dim[2] * x->shape.dim[3]);
  return HEED_OK;
}

heed_value heed_attention_as_convolution(heed_graph *graph, heed_value image, heed_value kernel) {
  heed_value_info x = {0}, k = {0};
  heed_error error;
  if (heed_graph_status(graph, NULL) != HEED_OK) return (heed_value){0};
  if (check(graph, image, kernel, &x, &k, &error) != HEED_OK) return heed_graph_fail(graph, &error);
  const uint32_t batch = x.shape.dim[0], channels = x.shape.dim[1],
                 pixels = x.shape.dim[2] * x.shape.dim[3], heads = k.shape.dim[2] * k.shape.dim[3];
  const grid g = {x.shape.dim[2], x.shape.dim[3], k.shape.dim[2]};
  const heed_shape planes = HEED_SHAPE(batch, channels, pixels),
                   tokens = HEED_SHAPE(batch, 1, pixels, channels);
  const heed_permute_desc to_tokens = {
      sizeof to_tokens, heed_define_reshape(graph, image, &planes), {0, 2, 1}};
  const heed_value value = heed_define_permute(graph, &to_tokens);
  const heed_attention_desc attention = {.struct_size = sizeof attention,
                                         .query = zeros(graph, HEED_SHAPE(batch, heads, pixels, 1)),
                                         .key = zeros(graph, HEED_SHAPE(batch, 1, pixels, 1)),
                                         .value = heed_define_reshape(graph, value, &tokens),
                                         .mask = mask_of(graph, &g),
                                         .merge_heads = true};
  const heed_linear_desc sum = {.struct_size = sizeof sum,
                                .x = heed_define_attention(graph, &attention).output,
                                .weight = turned_kernel(graph, kernel, k.shape.dim)};
  const heed_permute_desc to_planes = {
      sizeof to_planes, heed_define_linear(graph, &sum), {0, 2, 1}};
  const heed_shape result = HEED_SHAPE(batch, k.shape.dim[0], g.rows, g.columns);
  return heed_define_reshape(graph, heed_define_permute(graph, &to_planes), &result);
}

static heed_status from_case(heed_case *test, heed_error *error) {
  const heed_value image = heed_case_input(test, "image"),
                   kernel = heed_case_constant(test, "kernel");
  heed_value_info info;
  const int64_t height = heed_case_integer(test, "height", 0),
                width = heed_case_integer(test, "width", 0);
  if (heed_graph_value_info(heed_case_graph(test), image, &info) == HEED_OK &&
      info.shape.rank == 4 &&
      ((height && height != info.shape.dim[2]) || (width && width != info.shape.dim[3])))
    return heed_fail(
        error, HEED_INVALID_FILE,
        "attention_as_convolution: wrong image size (found %u x %u, expected %lld x %lld)",
        info.shape.dim[2], info.shape.dim[3], (long long)height, (long long)width);
  heed_case_result(test, "y", heed_attention_as_convolution(heed_case_graph(test), image, kernel));
  return HEED_OK;
}

static const char *const names[] = {"attention_as_convolution", NULL};
const heed_layer_case heed_case_attention_as_convolution = {.names = names, .from_case = from_case};
