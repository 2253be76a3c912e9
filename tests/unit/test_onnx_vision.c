/* The graph of an ONNX file as a vision transformer: what is found in a small one, how its size is
 * found, each allocation that fails, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "support/onnx_file.h"
#include "support/test_context.h"

static const heed_model_desc none = {.struct_size = sizeof none};

static heed_onnx *open_file(heed_context *in, const test_message *file) {
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  heed_onnx *onnx;
  assert_ok(heed_onnx_open(in, &desc, &onnx, &error));
  return onnx;
}

/* Both sides left open: 224 pixels do not fit the positions, and 4 do. */
static void test_found(void **state) {
  (void)state;
  for (uint32_t side = 0; side <= 4; side += 4) {
    test_message file = test_onnx_vision(side);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.image_size, 4);
    assert_int_equal(info.patch, 2);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.heads, 1);
    assert_int_equal(info.prefix_tokens, 1);
    assert_int_equal(info.classes, 3);
    assert_non_null(info.assumed);
    assert_int_equal(strstr(info.assumed, "images of 4 x 4 pixels") != NULL, side == 0);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Classes and layers are those of the graph, whatever maps it gives out beside its classes: those
 * of each layer, of both, and the last alone. */
static void test_maps_as_outputs(void **state) {
  static const uint32_t map[] = {1, 5, 5}, two[] = {2, 5, 5};
  (void)state;
  for (uint32_t i = 0; i < 3; i++) {
    test_message graph = {0}, axis = {0};
    test_put_vision(&graph, 4, 1);
    test_put_integer(&axis, "axis", 0);
    test_put_node(&graph, "Concat", "both", "ya,za", "maps", &axis);
    if (i == 0) test_put_shaped(&graph, 12, "ya", 3, map);
    if (i == 1) test_put_shaped(&graph, 12, "maps", 3, two);
    if (i != 1) test_put_shaped(&graph, 12, "za", 3, map);
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx = open_file(context, &file);
    const heed_build_desc build = {.struct_size = sizeof build};
    heed_model *model;
    heed_model_info info;
    heed_graph *built;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.classes, 3);
    assert_ok(heed_model_build(model, &build, &built, &error));
    assert_true(heed_graph_find(built, "layer.1.attention.weights").id != 0);
    heed_graph_destroy(built);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* As many tokens before the patches as there may be, and one more. */
static void test_prefix(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    test_message graph = {0};
    test_put_vision(&graph, 4, 16 + above);
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    if (above) {
      assert_fails(heed_onnx_vision(onnx, &none, 0, 0, &model, &error), HEED_UNSUPPORTED,
                   "not the patches of the image and at most 16 before them (found 21 tokens of 4 "
                   "x 4 pixels");
    } else {
      assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
      heed_model_get_info(model, &info);
      assert_int_equal(info.prefix_tokens, 16);
      assert_string_equal(info.token_names[15], "token 15");
      heed_model_destroy(model);
    }
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Opens and builds with the n-th allocation failed; *count is how many there were. */
static heed_status open_failing(const test_message *file, const heed_model_desc *desc, size_t n,
                                size_t *count) {
  test_allocator allocator = {0};
  const heed_context_desc own = test_context_desc(&allocator);
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_context *other;
  heed_model *model;
  heed_graph *graph = NULL;
  assert_ok(heed_context_create(&own, &other, &error));
  heed_onnx *onnx = open_file(other, file);
  const size_t before = allocator.total;
  allocator.fail_at = n ? before + n : 0;
  heed_status status = heed_onnx_vision(onnx, desc, 0, 0, &model, &error);
  if (status == HEED_OK) status = heed_model_build(model, &build, &graph, &error);
  *count = allocator.total - before;
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  heed_context_destroy(other);
  assert_int_equal(allocator.live, 0);
  return status;
}

/* Each allocation of opening and building fails once: of a file whose size is known, and of one
 * whose size is found by its positions, beside config files and without. */
static void test_memory(void **state) {
  static const char config[] = "{\"id2label\": {\"0\": \"a cat\"}}",
                    processor[] = "{\"do_resize\": true, \"size\": 4}";
  const heed_model_file files[] = {
      {"config.json", {sizeof config - 1, config, NULL, NULL}},
      {"preprocessor_config.json", {sizeof processor - 1, processor, NULL, NULL}}};
  const heed_model_desc with[] = {{.struct_size = sizeof *with},
                                  {.struct_size = sizeof *with, .files = files, .file_count = 2}};
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    test_message file = test_onnx_vision(i % 2 ? 4 : 0);
    size_t count, ignored;
    assert_ok(open_failing(&file, &with[i / 2], 0, &count));
    assert_true(count > 100);
    for (size_t n = 1; n <= count; n++) {
      error.message[0] = '\0';
      const heed_status status = open_failing(&file, &with[i / 2], n, &ignored);
      if (status != HEED_OUT_OF_MEMORY || !strstr(error.message, "out of memory"))
        fail_msg("file %u, allocation %zu of %zu: %s: %s", i, n, count, heed_status_name(status),
                 error.message);
    }
    free(file.data);
  }
}

/* Allocations of opening a model with so many more tables of positions, all for 4 x 4 pixels, with
 * which its last sum does not fit. */
static size_t allocations(uint32_t tables) {
  static const uint32_t positions[] = {1, 5, 2}, others[] = {1, 7, 2};
  test_message graph = {0};
  size_t count;
  test_put_vision(&graph, 0, 1);
  test_put_floats(&graph, "others", 3, others);
  test_put_node(&graph, "Add", "misfit", "z,others", "sum", NULL);
  test_put_text(&graph, 12, "\x0A\x03sum");
  for (uint32_t i = 0; i < tables; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%u", (unsigned)i);
    test_put_floats(&graph, name, 3, positions);
  }
  test_message file = test_onnx_file(&graph);
  assert_int_equal(open_failing(&file, &none, 0, &count), HEED_UNSUPPORTED);
  if (!strstr(error.message, "with images of 224 x 224 pixels")) fail_msg("%s", error.message);
  free(file.data);
  return count;
}

/* The graph is read again for each size that tables name, not for each table. */
static void test_many_tables(void **state) {
  (void)state;
  assert_true(allocations(100) < allocations(10) + 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_prefix),
                                     cmocka_unit_test(test_maps_as_outputs),
                                     cmocka_unit_test(test_memory),
                                     cmocka_unit_test(test_many_tables)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
