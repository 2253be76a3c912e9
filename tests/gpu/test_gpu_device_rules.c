/* What each row of the table of devices (gpu/device_rules.c) makes kernels choose: how lanes share
 * the rows of an attention, and the tile of a product. The devices are structs. */
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "gpu/device_rules.h"
#include "gpu/dispatch_list.h"
#include "gpu/tile.h"
#include "heed/ops.h"
#include "support/test.h"

/* Of an attention: lanes a row, keys at a time, lanes of its depth, fours in shared memory, rows of
 * lanes that lie apart or 1. Constants of its kernel. */
enum { LANES = 1, KEYS = 4, DEPTH = 8, PARKED = 9, APART = 10 };
typedef struct shares {
  uint32_t lanes, keys, depth, parked, apart;
} shares;

/* Heads of 64 and of 128, of many rows and of few, keys in fp32 and in fp16. */
typedef struct attention_case {
  uint32_t depth, rows;
  bool half;
} attention_case;
static const attention_case attentions[] = {
    {64, 4096, false}, {64, 4096, true}, {64, 64, true}, {128, 4096, false}, {128, 4096, true}};
#define ATTENTIONS (sizeof attentions / sizeof *attentions)

typedef struct device {
  const char *name;
  uint32_t vendor, lanes, least_lanes;
  shares attention[ATTENTIONS];
  shares floor;        /* the first of them without shuffles */
  uint32_t tile[2][3]; /* rows, columns, lanes of 1024 x 1024 in fp32, in fp16 */
  uint32_t step;       /* of a product with matrices of 32 lanes that fills half the device */
  uint32_t scalar;     /* rows of a product in int8 by scalars, or 0 */
} device;

static const device devices[] = {
    {"NVIDIA",
     0x10DE,
     32,
     32,
     {{1, 4, 1, 10, 1}, {1, 4, 1, 10, 1}, {16, 4, 1, 11, 1}, {4, 4, 4, 0, 1}, {4, 4, 4, 0, 1}},
     {1, 4, 1, 10, 1},
     {{8, 2, 16}, {8, 2, 16}},
     128,
     0},
    {"AMD before RDNA",
     0x1002,
     64,
     64,
     {{4, 4, 4, 0, 64}, {4, 4, 4, 0, 64}, {4, 4, 4, 0, 64}, {4, 4, 4, 0, 64}, {4, 4, 4, 0, 64}},
     {4, 2, 4, 0, 1},
     {{8, 2, 16}, {8, 2, 16}},
     32,
     16},
    {"AMD",
     0x1002,
     64,
     32,
     {{1, 4, 1, 8, 1}, {1, 4, 1, 0, 1}, {4, 4, 1, 0, 64}, {2, 4, 2, 0, 64}, {2, 4, 2, 0, 64}},
     {1, 4, 1, 8, 1},
     {{8, 2, 16}, {8, 2, 16}},
     32,
     0},
    {"Intel",
     0x8086,
     16,
     8,
     {{4, 4, 4, 0, 1}, {4, 4, 4, 0, 1}, {16, 4, 4, 0, 1}, {8, 4, 8, 0, 1}, {8, 4, 8, 0, 1}},
     {4, 4, 4, 0, 1},
     {{8, 1, 16}, {8, 1, 16}},
     32,
     0},
    {"Apple",
     0x106B,
     32,
     32,
     {{4, 4, 4, 0, 1}, {2, 4, 2, 0, 1}, {16, 4, 2, 0, 1}, {8, 4, 8, 0, 1}, {4, 4, 4, 0, 1}},
     {4, 4, 4, 0, 1},
     {{8, 1, 16}, {8, 2, 16}},
     32,
     0},
    {"ARM",
     0x13B5,
     16,
     16,
     {{4, 4, 4, 0, 1}, {4, 4, 4, 0, 1}, {16, 4, 4, 0, 1}, {8, 4, 8, 0, 1}, {8, 4, 8, 0, 1}},
     {4, 4, 4, 0, 1},
     {{8, 1, 8}, {8, 1, 8}},
     32,
     0},
    {"Qualcomm",
     0x5143,
     64,
     64,
     {{4, 4, 4, 0, 1}, {4, 4, 4, 0, 1}, {16, 4, 4, 0, 1}, {8, 4, 8, 0, 1}, {8, 4, 8, 0, 1}},
     {8, 4, 8, 0, 1},
     {{8, 1, 16}, {8, 1, 16}},
     32,
     0},
    {"Imagination",
     0x1010,
     32,
     32,
     {{4, 4, 4, 0, 1}, {2, 4, 2, 0, 1}, {16, 4, 2, 0, 1}, {8, 4, 8, 0, 1}, {4, 4, 4, 0, 1}},
     {4, 4, 4, 0, 1},
     {{4, 1, 16}, {4, 1, 16}},
     32,
     0},
    {"another",
     0x10005,
     8,
     8,
     {{4, 4, 4, 0, 1}, {2, 4, 2, 0, 1}, {16, 4, 2, 0, 1}, {8, 4, 8, 0, 1}, {4, 4, 4, 0, 1}},
     {4, 4, 4, 0, 1},
     {{8, 1, 16}, {8, 1, 16}},
     32,
     0},
};

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static heed_gpu_limits limits_of(const device *d, heed_gpu_tier tier, bool half) {
  return (heed_gpu_limits){.tier = tier,
                           .vendor = d->vendor,
                           .lanes = d->lanes,
                           .required_lanes = tier == HEED_GPU_TIER_FLOOR ? 0 : d->lanes,
                           .least_lanes = d->least_lanes,
                           .invocations = 1024,
                           .shared = 32768,
                           .groups = 65535,
                           .fill = 256,
                           .bindings = 64,
                           .range = (uint64_t)4 << 30,
                           .alignment = 16,
                           .half = half,
                           .half_values = half};
}

static heed_value input(heed_graph *graph, const char *name, uint32_t rows, uint32_t depth) {
  return heed_define_input(graph, name, HEED_F32, &HEED_SHAPE(1, 12, rows, depth));
}

static heed_value rotated(heed_graph *graph, heed_value x, uint32_t rows, uint32_t depth) {
  static const float table[4096 * 64];
  const heed_shape shape = HEED_SHAPE(rows, depth / 2);
  const heed_constant_desc constant = {
      .struct_size = sizeof constant, .dtype = HEED_F32, .shape = shape, .data = table};
  const heed_rotary_desc rotary = {.struct_size = sizeof rotary,
                                   .x = x,
                                   .cos = heed_define_constant(graph, &constant),
                                   .sin = heed_define_constant(graph, &constant)};
  return heed_define_rotary(graph, &rotary);
}

/* The constants of an attention's kernel. Keys of a rotary are in fp16 where the device keeps
 * values so. */
static void find_constants(const heed_gpu_limits *limits, const attention_case *c,
                           uint32_t constants[HEED_GPU_CONSTANTS]) {
  heed_graph *graph;
  heed_plan *plan;
  heed_gpu_builder builder;
  assert_ok(heed_graph_create(context, &graph, &error));
  const heed_value key = input(graph, "key", 4096, c->depth);
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = input(graph, "query", c->rows, c->depth),
                                    .key = rotated(graph, key, 4096, c->depth),
                                    .value = input(graph, "value", 4096, c->depth)};
  heed_graph_output(graph, heed_define_attention(graph, &desc).output);
  assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
  heed_gpu_builder_start(&builder, plan, limits);
  assert_ok(heed_gpu_builder_plan(&builder, &error));
  for (size_t i = 0; i < builder.dispatch_count; i++)
    if (builder.dispatches[i].constant_count > APART)
      memcpy(constants, builder.dispatches[i].constants, sizeof builder.dispatches[i].constants);
  heed_gpu_builder_end(&builder);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
}

static shares share(const device *d, const attention_case *c, heed_gpu_tier tier) {
  const heed_gpu_limits limits = limits_of(d, tier, c->half);
  uint32_t k[HEED_GPU_CONSTANTS] = {0};
  find_constants(&limits, c, k);
  return (shares){k[LANES], k[KEYS], k[DEPTH], k[PARKED], k[APART]};
}

static void print_shares(char *to, size_t size, const shares *s) {
  snprintf(to, size, "{%u, %u, %u, %u, %u}", s->lanes, s->keys, s->depth, s->parked, s->apart);
}

static void compare_shares(const device *d, const char *what, const shares *found,
                           const shares *expected) {
  char text[2][64];
  print_shares(text[0], sizeof text[0], found);
  print_shares(text[1], sizeof text[1], expected);
  if (memcmp(found, expected, sizeof *found) != 0)
    fail_msg("%s, %s: found %s, expected %s", d->name, what, text[0], text[1]);
}

static void rows_are_shared_as_the_device_wants(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const device *d = &devices[i];
    for (size_t k = 0; k < ATTENTIONS; k++) {
      char what[64];
      const attention_case *c = &attentions[k];
      snprintf(what, sizeof what, "head of %u, %u rows, %s", c->depth, c->rows,
               c->half ? "fp16" : "fp32");
      const shares found = share(d, c, HEED_GPU_TIER_HALF);
      compare_shares(d, what, &found, &d->attention[k]);
    }
    const shares floor = share(d, &attentions[0], HEED_GPU_TIER_FLOOR);
    compare_shares(d, "without shuffles", &floor, &d->floor);
  }
}

/* Shared memory of attention.comp: what is parked, and what lanes that share the depth hand over.
 */
static uint32_t shared_bytes(const uint32_t k[HEED_GPU_CONSTANTS]) {
  const uint32_t width = k[0], parked = k[PARKED] ? k[PARKED] : 1;
  const uint32_t handed = k[DEPTH] > 1 ? width : 0,
                 exponentials =
                     k[DEPTH] > 1 && k[APART] > 1 ? k[KEYS] * k[LANES] / k[DEPTH] * k[APART] : 0;
  return 16 * (parked * width + handed) + 4 * exponentials;
}

static void rows_fit_the_least_shared_memory(void **state) {
  (void)state;
  uint32_t parked = 0;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    for (size_t j = 0; j < 2 * ATTENTIONS; j++) {
      attention_case c = attentions[j / 2];
      heed_gpu_limits limits = limits_of(&devices[i], HEED_GPU_TIER_HALF, c.half);
      uint32_t k[HEED_GPU_CONSTANTS] = {0};
      limits.shared = 16384;
      limits.half = limits.half_values = j % 2;
      find_constants(&limits, &c, k);
      if (shared_bytes(k) > limits.shared)
        fail_msg("%s: found %u bytes, expected at most %u", devices[i].name, shared_bytes(k),
                 limits.shared);
      parked += k[PARKED];
    }
  assert_true(parked > 0);
}

static heed_gpu_tile choose(const heed_gpu_limits *limits, bool int8, uint32_t side) {
  const heed_gpu_builder builder = {.limits = limits};
  const heed_gpu_range x = {.bytes = 1u << 20};
  return int8 ? heed_gpu_choose_int8_tile(&builder, side, side, side)
              : heed_gpu_choose_tile(&builder, side, side, side, &x, false);
}

static void products_have_the_device_s_tile(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const device *d = &devices[i];
    for (uint32_t half = 0; half < 2; half++) {
      const heed_gpu_limits limits = limits_of(d, HEED_GPU_TIER_HALF, half);
      const heed_gpu_tile tile = choose(&limits, false, 1024);
      const uint32_t found[] = {tile.rows, tile.columns, tile.lanes};
      if (memcmp(found, d->tile[half], sizeof found) != 0)
        fail_msg("%s, half %u: found {%u, %u, %u}", d->name, half, found[0], found[1], found[2]);
    }
    heed_gpu_limits limits = limits_of(d, HEED_GPU_TIER_COOPERATIVE, true);
    const heed_gpu_tile scalar = choose(&limits, true, 1024);
    const uint32_t rows = scalar.scalar ? scalar.rows : 0;
    limits.matrix = (heed_gpu_matrix){16, 16, 16, 32};
    const uint32_t step = choose(&limits, false, 768).step;
    if (step != d->step || rows != d->scalar)
      fail_msg("%s: found step %u, scalar %u", d->name, step, rows);
  }
}

/* Drivers that report more lanes are asked for these. */
static void intel_is_asked_for_16_lanes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const heed_gpu_device_rules *rules =
        heed_gpu_find_rules(devices[i].vendor, devices[i].least_lanes);
    assert_int_equal(rules->lanes, strcmp(devices[i].name, "Intel") == 0 ? 16 : 0);
  }
}

static int setup(void **state) {
  (void)state;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_shared_as_the_device_wants),
      cmocka_unit_test(rows_fit_the_least_shared_memory),
      cmocka_unit_test(products_have_the_device_s_tile),
      cmocka_unit_test(intel_is_asked_for_16_lanes),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
