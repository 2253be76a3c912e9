/* What a plan dispatches on a GPU that is not there: ranges, splits, fp16 values, shapes to tune.
 * The plan is one of the CPU backend; the device is a struct. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "gpu/dispatch_list.h"
#include "gpu/dispatch_summary.h"
#include "gpu/fp16_values.h"
#include "gpu/self_check_graph.h"
#include "gpu/tune.h"
#include "gpu/weight_packing.h"
#include "support/test.h"

/* The least that a device may have (docs/vulkan.md). */
static const heed_gpu_limits floor_limits = {.tier = HEED_GPU_TIER_FLOOR,
                                             .lanes = 1,
                                             .invocations = 128,
                                             .shared = 16384,
                                             .groups = 65535,
                                             .bindings = 8,
                                             .range = (uint64_t)128 << 20,
                                             .alignment = 256};

static heed_error error;

typedef struct fixture {
  heed_context *context;
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_gpu_limits limits;
  heed_gpu_builder builder;
} fixture;

static int setup(void **state) {
  static fixture f;
  memset(&f, 0, sizeof f);
  f.limits = floor_limits;
  assert_ok(heed_context_create(NULL, &f.context, &error));
  assert_ok(heed_cpu_backend_create(f.context, NULL, &f.backend, &error));
  assert_ok(heed_graph_create(f.context, &f.graph, &error));
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  if (f->builder.plan) heed_gpu_builder_end(&f->builder);
  heed_plan_destroy(f->plan);
  heed_graph_destroy(f->graph);
  heed_backend_destroy(f->backend);
  heed_context_destroy(f->context);
  return 0;
}

/* The dispatches of the graph, whose last value is an output. */
static void build(fixture *f) {
  heed_graph_output(f->graph, (heed_value){heed_graph_value_count(f->graph)});
  assert_ok(heed_graph_status(f->graph, &error));
  assert_ok(heed_plan_create(f->graph, f->backend, NULL, &f->plan, &error));
  heed_gpu_builder_start(&f->builder, f->plan, &f->limits);
  assert_ok(heed_gpu_builder_plan(&f->builder, &error));
}

static const float zeros[65536];

static heed_value input(fixture *f, const char *name, heed_shape shape) {
  return heed_define_input(f->graph, name, HEED_F32, &shape);
}

static heed_value constant(fixture *f, heed_shape shape) {
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .data = zeros};
  assert_true(heed_shape_count(&shape) <= sizeof zeros / sizeof *zeros);
  return heed_define_constant(f->graph, &desc);
}

static heed_value linear(fixture *f, heed_value x, uint32_t depth, uint32_t columns,
                         heed_value residual) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = constant(f, HEED_SHAPE(columns, depth)),
                                 .residual = residual};
  return heed_define_linear(f->graph, &desc);
}

/* Bytes of the place that a range lies in. */
static uint64_t place_bytes(const fixture *f, const heed_gpu_range *range) {
  switch (range->place) {
    case HEED_GPU_ARENA: return f->plan->memory.arena;
    case HEED_GPU_WEIGHTS: return f->builder.blocks[range->block];
    case HEED_GPU_SCRATCH: return f->builder.scratch_bytes;
    case HEED_GPU_COUNTER: return HEED_GPU_COUNTER_BYTES;
    case HEED_GPU_NOWHERE: break;
  }
  return 0;
}

/* Every op of the list, on the least device: each step dispatches something, nothing reaches past
 * its memory or asks for more than there is, and something is written. */
static void test_every_op(void **state) {
  fixture *f = *state;
  heed_gpu_check_graph check;
  bool seen[HEED_OP_KIND_COUNT] = {false};
  assert_ok(heed_gpu_check_graph_create(f->context, HEED_GPU_CHECK_GPU_MODELS, &check, &error));
  assert_ok(heed_plan_create(check.graph, f->backend, NULL, &f->plan, &error));
  heed_gpu_builder_start(&f->builder, f->plan, &f->limits);
  assert_ok(heed_gpu_builder_plan(&f->builder, &error));
  uint32_t step = 0;
  for (size_t i = 0; i < f->builder.dispatch_count; i++) {
    const heed_gpu_dispatch *dispatch = &f->builder.dispatches[i];
    bool writes = false;
    assert_true(dispatch->step == step || dispatch->step == step + 1);
    step = dispatch->step;
    seen[heed_plan_node(f->plan, step)->op] = true;
    assert_int_equal(dispatch->tier, HEED_GPU_TIER_FLOOR);
    assert_true(dispatch->push_bytes <= 128 && dispatch->binding_count <= 12);
    for (uint32_t k = 0; k < dispatch->binding_count; k++) {
      const heed_gpu_range *range = &dispatch->binding[k];
      writes = writes || range->written;
      assert_true(range->offset + range->bytes <= place_bytes(f, range));
      assert_true(range->offset % f->limits.alignment == 0 || range->place == HEED_GPU_SCRATCH);
    }
    assert_true(writes);
  }
  assert_int_equal(step + 1, f->plan->step_count);
  for (uint32_t op = 0; op < HEED_OP_KIND_host; op++) /* which no device runs */
    if (!seen[op]) fail_msg("%s: no dispatch", heed_ops[op]->name);
  heed_gpu_builder_end(&f->builder);
  heed_plan_destroy(f->plan);
  heed_gpu_check_graph_free(&check);
  f->builder.plan = NULL;
  f->plan = NULL;
}

/* Rows larger than a binding become pieces. The weight is the same for all of them, a residual is
 * split with the rows although it is a constant. */
static void test_split(void **state) {
  fixture *f = *state;
  const uint32_t rows = 4096, depth = 16, columns = 4, once = rows / 4;
  f->limits.range = once * depth * sizeof(float) + f->limits.alignment;
  const heed_value x = input(f, "x", HEED_SHAPE(rows, depth));
  linear(f, x, depth, columns, constant(f, HEED_SHAPE(rows, columns)));
  build(f);
  assert_int_equal(f->builder.dispatch_count, 4);
  for (uint32_t i = 0; i < 4; i++) {
    const heed_gpu_range *at = f->builder.dispatches[i].binding,
                         *first = f->builder.dispatches[0].binding;
    assert_int_equal(at[0].offset - first[0].offset, i * once * depth * sizeof(float));
    assert_int_equal(at[1].offset, first[1].offset);
    assert_int_equal(at[3].place, HEED_GPU_WEIGHTS);
    assert_int_equal(at[3].offset - first[3].offset, i * once * columns * sizeof(float));
    assert_int_equal(at[4].offset - first[4].offset, i * once * columns * sizeof(float));
  }
}

/* One row that a binding holds just is split from the others; one that is a byte longer is refused,
 * with both numbers. */
static void test_largest_row(void **state) {
  fixture *f = *state;
  const uint32_t depth = 16384, bytes = depth * sizeof(float);
  linear(f, input(f, "x", HEED_SHAPE(3, depth)), depth, 1, (heed_value){0});
  f->limits.range = 64 * bytes; /* a panel of the weight */
  build(f);
  heed_gpu_builder_end(&f->builder);
  char part[128];
  f->limits.range = 64 * bytes - 1;
  heed_gpu_builder_start(&f->builder, f->plan, &f->limits);
  snprintf(part, sizeof part, "(found %u bytes, expected at most %u)", 64 * bytes, 64 * bytes - 1);
  assert_fails(heed_gpu_builder_plan(&f->builder, &error), HEED_UNSUPPORTED, part);
}

/* The vector of an additive score lies in one texel buffer. */
static void test_longest_vector(void **state) {
  fixture *f = *state;
  for (uint32_t more = 0; more < 2; more++) {
    const uint32_t length = 65536 + more;
    heed_gpu_dispatch dispatch = {.binding_count = 1};
    dispatch.binding[0].bytes = (uint64_t)length * sizeof(float);
    f->builder = (heed_gpu_builder){.limits = &f->limits};
    heed_gpu_as_single_texels(&f->builder, &dispatch, 0);
    assert_int_equal(f->builder.status, more ? HEED_UNSUPPORTED : HEED_OK);
    if (more) assert_non_null(strstr(f->builder.error.message, "exceeds 65536 elements"));
  }
}

static bool is_half(const fixture *f, heed_value value) {
  return heed_gpu_is_fp16(f->plan, &f->limits, value.id);
}

/* Between products a value is fp16; the residual stream, a row that is no multiple of 4 and what
 * can be read are not. */
static void test_fp16_values(void **state) {
  fixture *f = *state;
  f->limits.half = f->limits.half_values = true;
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(1, 8, 32)),
                   a = linear(f, x, 32, 16, none), b = linear(f, a, 16, 18, none),
                   c = linear(f, b, 18, 32, none), d = linear(f, c, 32, 32, c),
                   e = linear(f, d, 32, 8, none);
  build(f);
  assert_false(is_half(f, x));
  assert_true(is_half(f, a));
  assert_false(is_half(f, b)); /* 18 */
  assert_false(is_half(f, c)); /* also a residual */
  assert_false(is_half(f, d)); /* has a residual */
  assert_false(is_half(f, e)); /* an output */
  for (size_t i = 0; i < f->builder.dispatch_count; i++)
    assert_int_equal(f->builder.dispatches[i].binding[0].half, f->builder.dispatches[i].step == 1);
  f->limits.half_values = false;
  assert_false(is_half(f, a));
}

/* Attention reads query, key and value as fp16, and writes such a result for the product after
 * it; a bias stays F32. */
static void test_fp16_attention(void **state) {
  fixture *f = *state;
  f->limits.half = f->limits.half_values = true;
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(1, 8, 32)),
                   q = linear(f, x, 32, 32, none), k = linear(f, x, 32, 32, none),
                   m = linear(f, x, 32, 8, none);
  const heed_shape heads = HEED_SHAPE(1, 1, 8, 32), map = HEED_SHAPE(1, 1, 8, 8);
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_view(f->graph, q, 0, &heads),
                                    .key = heed_define_view(f->graph, k, 0, &heads),
                                    .value = heed_define_view(f->graph, k, 0, &heads),
                                    .bias = heed_define_view(f->graph, m, 0, &map),
                                    .merge_heads = true};
  const heed_value y = heed_define_attention(f->graph, &desc).output;
  linear(f, y, 32, 8, none);
  build(f);
  assert_true(is_half(f, q));
  assert_true(is_half(f, desc.query));
  assert_true(is_half(f, k));
  assert_false(is_half(f, m));
  assert_true(is_half(f, y));
}

/* Whether an attention with weights and a bias, and with its logits, is the one kernel, on a device
 * of 8 storage buffers. */
static bool is_one_kernel(fixture *f, bool counts_bound, bool all) {
  f->limits.counts_bound = counts_bound;
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(1, 1, 8, 32)),
                   bias = input(f, "bias", HEED_SHAPE(1, 1, 8, 8));
  const heed_value keys = heed_define_input(f->graph, "keys", HEED_U8, &HEED_SHAPE(1, 8)),
                   queries = heed_define_input(f->graph, "queries", HEED_U8, &HEED_SHAPE(1, 8));
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = x,
                                    .key = x,
                                    .value = x,
                                    .bias = bias,
                                    .key_padding = all ? keys : none,
                                    .query_padding = all ? queries : none};
  const heed_attention_values values = heed_define_attention(f->graph, &desc);
  heed_graph_output(f->graph, values.weights);
  if (all) heed_graph_output(f->graph, values.logits);
  heed_graph_output(f->graph, values.output);
  build(f);
  assert_true(f->builder.dispatch_count == 1 || f->builder.dispatch_count >= 3);
  return f->builder.dispatches[0].shader == HEED_SHADER_attention_weights;
}

/* A host that binds every slot has no room for the 11 of the kernel with weights. One that binds
 * those with a meaning has, until there are more than 8 of them. */
static void test_all_slots_count(void **state) {
  assert_false(is_one_kernel(*state, false, false));
}
static void test_bound_slots_count(void **state) {
  assert_true(is_one_kernel(*state, true, false));
}
static void test_too_many_are_bound(void **state) {
  assert_false(is_one_kernel(*state, true, true));
}

/* A rotation reads a product's fp16 and writes its own for the attention after it; heads of no
 * multiple of 4 are F32. */
static void test_fp16_rotary(void **state) {
  fixture *f = *state;
  f->limits.half = f->limits.half_values = true;
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(1, 8, 32));
  heed_value product[2], turned[2];
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t depth = i ? 6 : 16;
    const heed_shape heads = HEED_SHAPE(1, 2, 8, depth);
    product[i] = linear(f, x, 32, 2 * depth, none);
    const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                   .x = heed_define_view(f->graph, product[i], 0, &heads),
                                   .cos = constant(f, HEED_SHAPE(7, 3)),
                                   .sin = constant(f, HEED_SHAPE(7, 3)),
                                   .first = 1};
    turned[i] = heed_define_rotary(f->graph, &desc);
    const heed_attention_desc attention = {
        .struct_size = sizeof attention, .query = turned[i], .key = turned[i], .value = turned[i]};
    heed_graph_output(f->graph, heed_define_attention(f->graph, &attention).output);
  }
  build(f);
  assert_true(is_half(f, product[0]));
  assert_true(is_half(f, turned[0]));
  assert_false(is_half(f, product[1]));
  assert_false(is_half(f, turned[1]));
}

/* Each different shape once; sparse norms are not measured. */
static void test_shapes(void **state) {
  fixture *f = *state;
  heed_gpu_tuned shapes[HEED_GPU_MOST_TUNED];
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(2, 8, 32));
  linear(f, linear(f, x, 32, 32, none), 32, 32, none);
  linear(f, x, 32, 12, none);
  const heed_value q = input(f, "q", HEED_SHAPE(2, 4, 5, 6)),
                   k = input(f, "k", HEED_SHAPE(2, 2, 7, 6)),
                   v = input(f, "v", HEED_SHAPE(2, 2, 7, 3));
  heed_attention_desc desc = {.struct_size = sizeof desc, .query = q, .key = k, .value = v};
  heed_define_attention(f->graph, &desc);
  desc.norm = HEED_NORM_SPARSEMAX;
  heed_define_attention(f->graph, &desc);
  assert_int_equal(heed_gpu_list_shapes(f->graph, &f->limits, shapes), 3);
  const heed_gpu_shape_key expected[] = {{.rows = 16, .columns = 32, .depth = 32},
                                         {.rows = 16, .columns = 12, .depth = 32},
                                         {.rows = 5,
                                          .columns = 7,
                                          .depth = 6,
                                          .slices = 8,
                                          .heads = 4,
                                          .key_heads = 2,
                                          .value_depth = 3}};
  for (uint32_t i = 0; i < 3; i++) {
    assert_memory_equal(&shapes[i].key, &expected[i], sizeof expected[i]);
    assert_true(heed_gpu_count_candidates(&f->limits, &shapes[i].key) > 1);
  }
}

/* So many shapes are tuned; what comes after them takes the tables' tiles. */
static void test_most_shapes(void **state) {
  fixture *f = *state;
  heed_gpu_tuned shapes[HEED_GPU_MOST_TUNED];
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(2, 8, 32));
  for (uint32_t i = 1; i <= 65; i++) {
    linear(f, x, 32, i, none);
    assert_int_equal(heed_gpu_list_shapes(f->graph, &f->limits, shapes), i < 64 ? i : 64);
  }
  assert_int_equal(shapes[63].key.columns, 64);
}

static void test_names(void **state) {
  fixture *f = *state;
  heed_plan_kernel kernels[4];
  const heed_value none = {0}, x = input(f, "x", HEED_SHAPE(1, 8, 32));
  linear(f, linear(f, x, 32, 32, none), 32, 32, none);
  build(f);
  assert_int_equal(heed_gpu_list_kernels(&f->builder, kernels, 4), 1);
  assert_string_equal(kernels[0].name, "linear");
  assert_string_equal(kernels[0].tier, "floor");
  assert_int_equal(kernels[0].dispatches, 2);
}

/* A finite weight that fp16 cannot hold is an error that names the backend. */
static void test_pack(void **state) {
  fixture *f = *state;
  float from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[16];
  linear(f, input(f, "x", HEED_SHAPE(1, 4)), 4, 2, (heed_value){0});
  build(f);
  heed_gpu_weight weight = {.value = 2, .panel = 4, .rows = 2, .depth = 4};
  assert_ok(heed_gpu_pack_panel(&f->builder, &weight, 2, from, to, &error));
  const float expected[16] = {1, 5, 0, 0, 2, 6, 0, 0, 3, 7, 0, 0, 4, 8, 0, 0};
  assert_memory_equal(to, expected, sizeof expected);
  /* eights of the depth side by side: the four there are, then zeros */
  weight.eights = true;
  float eights[32];
  assert_ok(heed_gpu_pack_panel(&f->builder, &weight, 2, from, eights, &error));
  for (uint32_t i = 0; i < 32; i++)
    assert_true(eights[i] == (i < 16 && i % 8 < 4 ? from[i / 8 * 4 + i % 8] : 0.0f));
  weight.eights = false;
  weight.half = true;
  from[7] = INFINITY;
  assert_ok(heed_gpu_pack_panel(&f->builder, &weight, 2, from, to, &error));
  from[7] = 65536.0f;
  assert_int_equal(heed_gpu_pack_panel(&f->builder, &weight, 2, from, to, &error),
                   HEED_UNSUPPORTED);
  assert_non_null(strstr(error.message, "cpu: a weight of a product overflows fp16"));
}

/* Blocks of the panel, whole and cut off, with numbers that fp16 holds in each way; in every order
 * that kernels read. */
static void test_pack_blocks(void **state) {
  enum { ROWS = 19, PANEL = 32, DEPTH = 29, DEEP = 32 };
  static const float special[] = {0.0f,    -0.0f,    65504.0f,      -65519.0f,   INFINITY,
                                  6.1e-5f, -5.9e-8f, 2.9802322e-8f, 2.98024e-8f, 1e-42f,
                                  2049.0f, 2051.0f,  -1.00048828f};
  fixture *f = *state;
  static float from[ROWS * DEPTH], to[PANEL * DEEP];
  linear(f, input(f, "x", HEED_SHAPE(1, 4)), 4, 2, (heed_value){0});
  build(f);
  for (uint32_t i = 0; i < ROWS * DEPTH; i++)
    from[i] = i % 5 ? (float)((int)(i * 37 % 211) - 105) / 1024.0f
                    : special[i / 5 % (sizeof special / sizeof *special)];
  for (uint32_t way = 0; way < 4; way++) {
    const heed_gpu_weight weight = {.value = 2,
                                    .panel = PANEL,
                                    .rows = ROWS,
                                    .depth = DEPTH,
                                    .half = way & 1,
                                    .eights = way & 2};
    memset(to, 0xFF, sizeof to);
    assert_ok(heed_gpu_pack_panel(&f->builder, &weight, ROWS, from, to, &error));
    for (uint32_t r = 0; r < PANEL; r++)
      for (uint32_t k = 0; k < (way & 2 ? DEEP : DEPTH); k++) {
        const float value = r < ROWS && k < DEPTH ? from[r * DEPTH + k] : 0.0f;
        const uint32_t at = way & 2 ? (k / 8 * PANEL + r) * 8 + k % 8 : k * PANEL + r;
        const uint16_t half = heed_f32_to_f16(value);
        if (way & 1)
          assert_memory_equal((const uint16_t *)(const void *)to + at, &half, sizeof half);
        else
          assert_memory_equal(to + at, &value, sizeof value);
      }
  }
}

/* x [rows, 40] by a weight [100, 40] in int8, then what was dispatched: two kernels, in bytes. */
static void build_int8(fixture *f, const char *product, uint64_t row_bytes) {
  enum { ROWS = 300, DEPTH = 40, COLUMNS = 100 };
  static const int8_t numbers[COLUMNS * DEPTH];
  const heed_quantised_desc weight = {.struct_size = sizeof weight,
                                      .shape = HEED_SHAPE(COLUMNS, DEPTH),
                                      .scale = zeros,
                                      .data = numbers};
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = input(f, "x", HEED_SHAPE(ROWS, DEPTH)),
                                 .weight = heed_define_quantised(f->graph, &weight)};
  heed_define_linear(f->graph, &desc);
  build(f);
  assert_int_equal(f->builder.dispatch_count, 2);
  const heed_gpu_dispatch *rows = &f->builder.dispatches[0], *sums = &f->builder.dispatches[1];
  assert_memory_equal(heed_gpu_shader_name(rows->shader), "quantise_rows", 13);
  assert_string_equal(heed_gpu_shader_name(sums->shader), product);
  assert_int_equal(rows->binding[1].bytes, ROWS * row_bytes);
  assert_int_equal(sums->binding[0].bytes, ROWS * row_bytes);
  /* panels of 128 columns or of 64, and 48 values of k: 40, filled up */
  assert_true(sums->binding[1].bytes == 128 * (48 + 4) || sums->binding[1].bytes == 64 * (48 + 4));
  assert_int_equal(sums->binding[7].bytes, COLUMNS * sizeof(float));
}

static void test_int8_floats(void **state) { build_int8(*state, "linear_int8", 96); }

static void test_int8_dot(void **state) {
  fixture *f = *state;
  f->limits.dot = true;
  build_int8(f, "linear_int8_dot", 48);
}

static void test_int8_matrix(void **state) {
  fixture *f = *state;
  f->limits.tier = HEED_GPU_TIER_COOPERATIVE;
  f->limits.shared = 32768;
  f->limits.invocations = 1024;
  f->limits.matrix8 = (heed_gpu_matrix){16, 16, 32, 32};
  build_int8(f, "linear_int8_matrix", 48);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_every_op, setup, teardown),
      cmocka_unit_test_setup_teardown(test_split, setup, teardown),
      cmocka_unit_test_setup_teardown(test_largest_row, setup, teardown),
      cmocka_unit_test_setup_teardown(test_longest_vector, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fp16_values, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fp16_attention, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fp16_rotary, setup, teardown),
      cmocka_unit_test_setup_teardown(test_all_slots_count, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bound_slots_count, setup, teardown),
      cmocka_unit_test_setup_teardown(test_too_many_are_bound, setup, teardown),
      cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_most_shapes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pack, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pack_blocks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_int8_floats, setup, teardown),
      cmocka_unit_test_setup_teardown(test_int8_dot, setup, teardown),
      cmocka_unit_test_setup_teardown(test_int8_matrix, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
