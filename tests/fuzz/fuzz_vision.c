/* Any bytes as the ONNX graph of a vision transformer. What heed_onnx_vision says of it must stand
 * in the graphs that it builds, at the model's own size and at others, and small ones run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "heed/onnx.h"
#include "support/onnx_nodes.h"
#include "support/test.h"

static heed_context *context; /* both last as long as the program */
static heed_backend *backend;

static void start(void) {
  const heed_cpu_desc one = {sizeof one, 1, NULL};
  heed_error error;
  if (!(context = fuzz_context()) ||
      heed_cpu_backend_create(context, &one, &backend, &error) != HEED_OK)
    abort();
}

/* Whether the graph's constants are computed soon, at its own size or at the one that is assumed.
 */
static bool is_small(heed_onnx *onnx) {
  const heed_onnx_lower_desc desc = {
      .struct_size = sizeof desc, .most_elements = 1u << 20, .most_steps = 1u << 26};
  heed_onnx_lowered *lowered;
  heed_error error;
  error.message[0] = 0;
  const heed_status status = heed_onnx_lower(onnx, &desc, &lowered, &error);
  if (status == HEED_OK) heed_onnx_lowered_destroy(lowered);
  return !strstr(error.message, "too large") && !strstr(error.message, "too much");
}

static heed_shape shape_of(const heed_graph *graph, const char *name) {
  heed_value_info info;
  return heed_graph_value_info(graph, heed_graph_find(graph, name), &info) == HEED_OK
             ? info.shape
             : (heed_shape){0};
}

static uint32_t check_graph(const heed_graph *graph, const heed_model_info *info, uint32_t batch) {
  const heed_shape image = shape_of(graph, "pixel_values"), logits = shape_of(graph, "logits"),
                   pool = shape_of(graph, "pool.attention.weights");
  fuzz_must(image.rank == 4 && image.dim[0] == batch && image.dim[1] == info->channels,
            "pixel_values is no such batch of images");
  fuzz_must(info->patch && image.dim[2] % info->patch == 0 && image.dim[3] % info->patch == 0,
            "the image is no grid of patches");
  const uint32_t tokens =
      info->prefix_tokens + image.dim[2] / info->patch * (image.dim[3] / info->patch);
  fuzz_must(info->layers > 0, "there is no layer");
  for (uint32_t i = 0; i < info->layers; i++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)i);
    const heed_shape map = shape_of(graph, name);
    fuzz_must(map.rank == 4 && map.dim[0] == batch && map.dim[1] == info->heads &&
                  map.dim[2] == tokens && map.dim[3] == tokens,
              "a layer's map is none of the image's tokens");
  }
  fuzz_must(!info->classes || (logits.rank == 2 && logits.dim[1] == info->classes),
            "logits are not as many as the classes");
  fuzz_must(!info->pool_heads || (pool.rank == 4 && pool.dim[1] == info->pool_heads),
            "the pool has other heads");
  return tokens;
}

static void run(heed_graph *graph) {
  /* a file may have no output; maps are what it is opened for */
  const heed_value map = heed_graph_find(graph, "layer.0.attention.weights");
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = &map, .tap_count = 1};
  heed_plan *plan;
  heed_session *session = NULL;
  heed_error error;
  heed_status status = heed_plan_create(graph, backend, &desc, &plan, &error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, &error);
  if (status == HEED_OK) status = heed_session_run(session, NULL, &error);
  fuzz_must_refuse(status, &error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
}

static void build(const heed_model *model, uint32_t batch, uint32_t height, uint32_t width) {
  const heed_build_desc desc = {
      .struct_size = sizeof desc, .batch = batch, .height = height, .width = width};
  heed_graph *graph;
  heed_model_info info;
  heed_error error;
  heed_model_get_info(model, &info);
  const heed_status status = heed_model_build(model, &desc, &graph, &error);
  fuzz_must_refuse(status, &error);
  if (status != HEED_OK) return;
  if (check_graph(graph, &info, batch) <= 64) run(graph);
  heed_graph_destroy(graph);
}

void fuzz_read(const uint8_t *data, size_t size) {
  heed_onnx *onnx;
  heed_model *model;
  heed_error error;
  if (!context) start();
  test_bytes raw = {(unsigned char *)(uintptr_t)data, size};
  const heed_onnx_desc desc = {sizeof desc, test_source(raw.data, raw.size), "f.onnx", NULL, NULL};
  const heed_model_desc none = {.struct_size = sizeof none};
  if (heed_onnx_open(context, &desc, &onnx, &error) != HEED_OK) return; /* that of fuzz_onnx */
  if (is_small(onnx)) {
    const heed_status status = heed_onnx_vision(onnx, &none, 0, 0, &model, &error);
    fuzz_must_refuse(status, &error);
    if (status == HEED_OK) {
      build(model, 1, 0, 0);
      build(model, 2, 0, 0);
      build(model, 1, 6, 4);
      heed_model_destroy(model);
    }
  }
  heed_onnx_destroy(onnx);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_onnx(input, random); }

#ifndef HEED_LIBFUZZER
/* An attention of two heads over windows of 2 x 2 of 4 x 4 patches, and its residual. */
static test_message windows_file(void) {
  static const char nodes[] =
      "Conv image,kernel grid 2,2;Reshape grid,flat rows;Transpose rows x 0,2,1;"
      "Reshape x,six a;Transpose a b 0,1,3,2,4,5;Reshape b,windows u;"
      "MatMul u,w q;Reshape q,heads r;Transpose r s 0,2,1,3;"
      "MatMul u,w k;Reshape k,heads l;Transpose l m 0,2,3,1;"
      "MatMul u,w v;Reshape v,heads n;Transpose n o 0,2,1,3;"
      "MatMul s,m e;Softmax e f;MatMul f,o g;Transpose g h 0,2,1,3;Reshape h,merged i;"
      "Reshape i,six j;Transpose j p 0,1,3,2,4,5;Reshape p,tokens t;MatMul t,w c;Add c,x y;";
  test_message graph = {0};
  put_random(&graph, "kernel", 4, (const uint32_t[]){4, 3, 2, 2});
  put_random(&graph, "w", 2, (const uint32_t[]){4, 4});
  put_sizes(&graph, "flat", 3, (const int64_t[]){0, 4, -1});
  put_sizes(&graph, "six", 6, (const int64_t[]){1, 2, 2, 2, 2, 4});
  put_sizes(&graph, "windows", 3, (const int64_t[]){4, 4, 4});
  put_sizes(&graph, "heads", 4, (const int64_t[]){0, 0, 2, 2});
  put_sizes(&graph, "merged", 3, (const int64_t[]){0, 0, 4});
  put_sizes(&graph, "tokens", 3, (const int64_t[]){1, 16, 4});
  put_nodes(&graph, nodes);
  test_put_shaped(&graph, 11, "image", 4, (const uint32_t[]){1, 3, 8, 8});
  test_put_shaped(&graph, 12, "y", 3, (const uint32_t[]){1, 16, 4});
  return test_onnx_file(&graph);
}

int main(int argc, char **argv) {
  static const char *const words[] = {"\x08\x08",
                                      "\x08\x01",
                                      "\x0A\x02\x08\x04",
                                      "\x0A\x02\x08\x02",
                                      "\x0A\x00",
                                      "\x40\x02",
                                      "\x18\x01",
                                      "\xFF\xFF\xFF\xFF\x0F",
                                      "pixel_values",
                                      "logits",
                                      "image_embeds",
                                      "layer.0.attention.weights",
                                      "layer.1.output",
                                      "pool.attention.weights",
                                      "MatMul",
                                      "Identity",
                                      "Add",
                                      "Softmax",
                                      "Reshape",
                                      "Transpose",
                                      "Concat",
                                      "Gather",
                                      "Conv",
                                      "Attention",
                                      "strides",
                                      NULL};
  test_message fixed = test_onnx_vision(4), open = test_onnx_vision(0), windows = windows_file();
  const fuzz_seed seeds[] = {
      {fixed.data, fixed.size}, {open.data, open.size}, {windows.data, windows.size}};
  const int status = fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
  free(fixed.data);
  free(open.data);
  free(windows.data);
  return status;
}
#endif
