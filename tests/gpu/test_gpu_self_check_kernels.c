/* The self-check runs what models run: every kernel, with its tile, that a ViT-B or an attention of
 * its length takes on GPUs of every tier but cooperative2 is one of the self-check's, which stays
 * below a GFLOP. The devices are structs. */
#include <string.h>

#include "gpu/dispatch_list.h"
#include "gpu/dispatch_summary.h"
#include "gpu/self_check_graph.h"
#include "gpu/split_submissions.h"
#include "plan/plan.h"
#include "support/test.h"

enum { TOKENS = 197, WIDTH = 768, HEADS = 12, MLP = 3072, CLASSES = 1000 };

#define DEVICE(number, subgroup, room, reduction)                                           \
  {                                                                                         \
    .tier = HEED_GPU_TIER_COOPERATIVE, .vendor = (number), .lanes = (subgroup),             \
    .required_lanes = (subgroup), .invocations = 1024, .shared = (room), .groups = 65535,   \
    .fill = 256, .bindings = 64, .range = (uint64_t)4 << 30, .alignment = 16, .half = true, \
    .half_values = true, .reduces = (reduction), .matrix = {                                \
      16,                                                                                   \
      16,                                                                                   \
      16,                                                                                   \
      subgroup                                                                              \
    }                                                                                       \
  }
/* Without matrices: a vendor's tiles, in fp16 or in fp32, with subgroups that kernels are sure of
 * or without any. */
#define PLAIN(name, number, subgroup, least, in_half, busy)                                   \
  {                                                                                           \
    .tier = (name), .vendor = (number), .lanes = (subgroup),                                  \
    .required_lanes = (name) == HEED_GPU_TIER_FLOOR ? 0 : (subgroup), .least_lanes = (least), \
    .invocations = 1024, .shared = 32768, .groups = 65535, .fill = (busy), .bindings = 64,    \
    .range = (uint64_t)4 << 30, .alignment = 16, .half = (in_half), .half_values = (in_half)  \
  }
static const heed_gpu_limits devices[] = {
    DEVICE(0x1002, 64, 65536, false),
    DEVICE(0x10DE, 32, 49152, false),
    DEVICE(0x10DE, 32, 49152, true),
    PLAIN(HEED_GPU_TIER_HALF, 0x10DE, 32, 32, true, 256),
    PLAIN(HEED_GPU_TIER_HALF, 0x1002, 64, 32, true, 256),
    PLAIN(HEED_GPU_TIER_SUBGROUP, 0x1002, 64, 64, false, 256), /* before RDNA */
    PLAIN(HEED_GPU_TIER_HALF, 0x8086, 16, 8, true, 48),
    PLAIN(HEED_GPU_TIER_HALF, 0x106B, 32, 32, true, 48),
    PLAIN(HEED_GPU_TIER_SUBGROUP, 0x5143, 64, 64, false, 48),
    PLAIN(HEED_GPU_TIER_HALF, 0x13B5, 16, 16, true, 48),
    PLAIN(HEED_GPU_TIER_FLOOR, 0x10DE, 32, 0, false, 256)};

static heed_error error;

/* A plan holds the places of constants alone. */
static heed_status read_nothing(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *failed) {
  (void)user, (void)first, (void)failed;
  memset(to, 0, (size_t)count * sizeof(float));
  return HEED_OK;
}

static heed_value constant(heed_graph *graph, heed_shape shape) {
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .read = read_nothing};
  return heed_define_constant(graph, &desc);
}

static heed_value linear(heed_graph *graph, heed_value x, uint32_t depth, uint32_t columns,
                         heed_activation activation, heed_value residual, uint32_t heads) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = constant(graph, HEED_SHAPE(columns, depth)),
                                 .bias = constant(graph, HEED_SHAPE(columns)),
                                 .residual = residual,
                                 .activation = activation,
                                 .heads = heads,
                                 .parts = heads ? 3 : 0};
  return heed_define_linear(graph, &desc);
}

static heed_value norm(heed_graph *graph, heed_value x) {
  const heed_layer_norm_desc desc = {sizeof desc, x, constant(graph, HEED_SHAPE(WIDTH)),
                                     constant(graph, HEED_SHAPE(WIDTH)), 1e-6f};
  return heed_define_layer_norm(graph, &desc);
}

static void attend(heed_graph *graph, heed_value qkv, heed_shape part, bool maps,
                   heed_value *output) {
  const uint64_t size = heed_shape_count(&part);
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_view(graph, qkv, 0, &part),
                                    .key = heed_define_view(graph, qkv, size, &part),
                                    .value = heed_define_view(graph, qkv, 2 * size, &part),
                                    .merge_heads = true};
  const heed_attention_values values = heed_define_attention(graph, &desc);
  if (maps) heed_graph_output(graph, values.weights);
  *output = values.output;
}

/* The patches, a layer and the classifier of ViT-B. */
static void define_vit(heed_graph *graph, uint32_t batch, bool maps) {
  const heed_value none = {0};
  const heed_patch_embedding_desc patches = {
      sizeof patches, heed_define_input(graph, "image", HEED_F32, &HEED_SHAPE(batch, 3, 224, 224)),
      constant(graph, HEED_SHAPE(WIDTH, 3, 16, 16)), constant(graph, HEED_SHAPE(WIDTH))};
  heed_graph_output(graph, heed_define_patch_embedding(graph, &patches));
  const heed_value x =
      heed_define_input(graph, "tokens", HEED_F32, &HEED_SHAPE(batch, TOKENS, WIDTH));
  const heed_value qkv =
      linear(graph, norm(graph, x), WIDTH, 3 * WIDTH, HEED_ACTIVATION_NONE, none, HEADS);
  heed_value attended;
  attend(graph, qkv, HEED_SHAPE(batch, HEADS, TOKENS, WIDTH / HEADS), maps, &attended);
  const heed_value y = linear(graph, attended, WIDTH, WIDTH, HEED_ACTIVATION_NONE, x, 0);
  const heed_value hidden =
      linear(graph, norm(graph, y), WIDTH, MLP, HEED_ACTIVATION_GELU, none, 0);
  heed_graph_output(graph, linear(graph, hidden, MLP, WIDTH, HEED_ACTIVATION_NONE, y, 0));
  const heed_value one = heed_define_input(graph, "class", HEED_F32, &HEED_SHAPE(1, batch, WIDTH));
  heed_graph_output(graph,
                    linear(graph, norm(graph, one), WIDTH, CLASSES, HEED_ACTIVATION_NONE, none, 0));
}

/* Heads of 128 and many tokens, of numbers that are no results. */
static void define_attention(heed_graph *graph, uint32_t tokens, uint32_t head_size) {
  const heed_value x =
      heed_define_input(graph, "tokens", HEED_F32, &HEED_SHAPE(1, tokens, HEADS * head_size));
  const heed_value qkv = linear(graph, x, HEADS * head_size, 3 * HEADS * head_size,
                                HEED_ACTIVATION_NONE, (heed_value){0}, HEADS);
  heed_value output;
  attend(graph, qkv, HEED_SHAPE(1, HEADS, tokens, head_size), false, &output);
  heed_graph_output(graph, output);
}

typedef struct listing {
  heed_plan *plan;
  heed_gpu_builder builder;
} listing;

static void list(listing *l, heed_graph *graph, heed_backend *backend,
                 const heed_gpu_limits *limits) {
  assert_ok(heed_graph_status(graph, &error));
  assert_ok(heed_plan_create(graph, backend, NULL, &l->plan, &error));
  heed_gpu_builder_start(&l->builder, l->plan, limits);
  assert_ok(heed_gpu_builder_plan(&l->builder, &error));
}

static void release(listing *l) {
  heed_gpu_builder_end(&l->builder);
  heed_plan_destroy(l->plan);
}

static bool is_checked(const heed_gpu_builder *check, const heed_gpu_dispatch *wanted) {
  for (size_t i = 0; i < check->dispatch_count; i++) {
    const heed_gpu_dispatch *one = &check->dispatches[i];
    if (one->shader == wanted->shader && one->lanes == wanted->lanes &&
        memcmp(one->tile, wanted->tile, sizeof one->tile) == 0)
      return true;
  }
  return false;
}

static uint32_t count_missing(const heed_gpu_builder *check, const heed_gpu_builder *model,
                              const char *what) {
  uint32_t missing = 0;
  for (size_t i = 0; i < model->dispatch_count; i++) {
    const heed_gpu_dispatch *one = &model->dispatches[i];
    if (is_checked(check, one)) continue;
    missing++;
    print_error("vendor %x, %s: %s %u x %u is not in the self-check\n", model->limits->vendor, what,
                heed_gpu_shader_name(one->shader), one->tile[0], one->tile[1]);
  }
  return missing;
}

static uint32_t check_models(heed_context *context, heed_backend *backend,
                             const heed_gpu_limits *limits) {
  static const struct {
    const char *name;
    uint32_t batch, tokens, depth;
    bool maps;
  } models[] = {{"ViT-B, batch 1", 1, 0, 0, false},       {"ViT-B, batch 32", 32, 0, 0, false},
                {"ViT-B with maps", 1, 0, 0, true},       {"197 tokens, 64", 0, 197, 64, false},
                {"4096 tokens, 64", 0, 4096, 64, false},  {"197 tokens, 128", 0, 197, 128, false},
                {"4096 tokens, 128", 0, 4096, 128, false}};
  heed_gpu_check_graph check;
  listing self, model;
  uint32_t missing = 0;
  assert_ok(heed_gpu_check_graph_create(context, HEED_GPU_CHECK_GPU_MODELS, &check, &error));
  list(&self, check.graph, backend, limits);
  const uint64_t flops = heed_gpu_count_flops(&self.builder);
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    heed_graph *graph;
    assert_ok(heed_graph_create(context, &graph, &error));
    if (models[i].batch)
      define_vit(graph, models[i].batch, models[i].maps);
    else
      define_attention(graph, models[i].tokens, models[i].depth);
    list(&model, graph, backend, limits);
    missing += count_missing(&self.builder, &model.builder, models[i].name);
    release(&model);
    heed_graph_destroy(graph);
  }
  print_message("vendor %x: the self-check is %.2f GFLOP\n", limits->vendor, (double)flops * 1e-9);
  release(&self);
  heed_gpu_check_graph_free(&check);
  assert_true(flops > 0 && flops < 1000000000);
  return missing;
}

static void test_models(void **state) {
  (void)state;
  heed_context *context;
  heed_backend *backend;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  uint32_t missing = 0;
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
    missing += check_models(context, backend, &devices[i]);
  assert_int_equal(missing, 0);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
