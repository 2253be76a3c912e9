/* What a driver's compiler makes of heed's kernels: builds the pipelines of plans and stops before
 * any submission, so that a stand-in for the kernel driver is enough. compile_table.sh runs it.
 *
 *   compile_table DEVICE OUT FOLDER [WORKLOAD...]   DEVICE: the name to report; OUT: gets one JSON
 *       object a line; FOLDER: gets the disassembly, "-": none */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/dispatch_list.h"
#include "gpu/self_check_graph.h"
#include "heed/check.h"
#include "session/synthetic.h"
#include "vulkan/compile_statistics.h"
#include "vulkan/host/backend_state.h"

#define MOST_LAYERS 12

typedef struct workload {
  const char *name;
  uint32_t batch;         /* of ViT-B; int8: of the products of one of its blocks; 0: */
  uint32_t tokens, depth; /* an attention of 12 heads; 0: every op, small */
  bool maps;
  uint32_t rows; /* of a product of fp32 numbers, 768 to 768; not 0: that alone */
  bool int8;
} workload;

static const workload workloads[] = {
    {"vit_b_batch_1", 1, 0, 0, false, 0},
    {"vit_b_batch_32", 32, 0, 0, false, 0},
    {"vit_b_maps", 1, 0, 0, true, 0},
    {"vit_b_int8_batch_1", 1, 0, 0, false, 0, true},
    {"vit_b_int8_batch_32", 32, 0, 0, false, 0, true},
    {"attention_d64_t197", 0, 197, 64, false, 0},
    {"attention_d64_t1024", 0, 1024, 64, false, 0},
    {"attention_d64_t4096", 0, 4096, 64, false, 0},
    {"attention_d64_t1024_maps", 0, 1024, 64, true, 0},
    {"attention_d128_t197", 0, 197, 128, false, 0},
    {"attention_d128_t1024", 0, 1024, 128, false, 0},
    {"attention_d128_t4096", 0, 4096, 128, false, 0},
    {"attention_d128_t1024_maps", 0, 1024, 128, true, 0},
    {"product_fp32", 0, 0, 0, false, 4096},
    {"every_op", 0, 0, 0, false, 0},
};

/* What a workload's graph lives on. */
typedef struct subject {
  heed_context *context;
  cli_synthetic synthetic;
  cli_pipeline pipeline;
  heed_gpu_check_graph check;
  heed_graph *graph; /* the workload's, own or borrowed */
} subject;

typedef struct table {
  const char *device, *folder;
  char **wanted;
  int wanted_count;
  FILE *out;
  compile_seen seen; /* pipelines of lower tiers are not reported again */
} table;

static heed_status define_vit(subject *s, const workload *w, heed_error *error) {
  cli_state cli = {.verb = "compile_table", .context = s->context};
  heed_status status = cli_synthetic_load(&cli, "b", &s->synthetic, &s->pipeline);
  if (status != HEED_OK) *error = cli.error;
  const heed_build_desc desc = {
      .struct_size = sizeof desc, .batch = w->batch, .classes_only = !w->maps};
  return status == HEED_OK ? heed_model_build(s->pipeline.model, &desc, &s->graph, error) : status;
}

static heed_status define_attention(subject *s, const workload *w, heed_error *error) {
  const heed_bench_op *op = NULL;
  const heed_bench_shape shape = {.axis = {1, 12, w->tokens, w->tokens, w->depth},
                                  .weights = w->maps};
  for (uint32_t i = 0; (op = heed_bench_get_op(i)) && strcmp(op->name, "attention") != 0;) i++;
  const heed_status status = heed_graph_create(s->context, &s->graph, error);
  return status == HEED_OK ? heed_bench_define(s->graph, op, &shape, error) : status;
}

/* As a first layer has it: x is an input, so that it is not kept in fp16. */
static heed_status define_product(subject *s, const workload *w, heed_error *error) {
  enum { DEPTH = 768 };
  static float numbers[DEPTH * DEPTH];
  const heed_status status = heed_graph_create(s->context, &s->graph, error);
  if (status != HEED_OK) return status;
  const heed_constant_desc weight = {.struct_size = sizeof weight,
                                     .dtype = HEED_F32,
                                     .shape = HEED_SHAPE(DEPTH, DEPTH),
                                     .data = numbers};
  const heed_linear_desc linear = {
      .struct_size = sizeof linear,
      .x = heed_define_input(s->graph, "x", HEED_F32, &HEED_SHAPE(1, w->rows, DEPTH)),
      .weight = heed_define_constant(s->graph, &weight)};
  heed_graph_output(s->graph, heed_define_linear(s->graph, &linear));
  return heed_graph_status(s->graph, error);
}

static heed_status read_nothing(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *error) {
  (void)user, (void)first;
  memset(to, 0, (size_t)count);
  return heed_fail(error, HEED_IO, "weights are not read");
}

static heed_value product(heed_graph *graph, heed_linear_desc desc, uint32_t columns,
                          uint32_t depth) {
  static const float scale[4 * 768];
  static const float bias[4 * 768];
  const heed_quantised_desc weight = {.struct_size = sizeof weight,
                                      .shape = HEED_SHAPE(columns, depth),
                                      .scale = scale,
                                      .read = read_nothing};
  const heed_constant_desc biases = {
      .struct_size = sizeof biases, .dtype = HEED_F32, .shape = HEED_SHAPE(columns), .data = bias};
  desc.struct_size = sizeof desc;
  desc.weight = heed_define_quantised(graph, &weight);
  desc.bias = heed_define_constant(graph, &biases);
  return heed_define_linear(graph, &desc);
}

/* The four products of a block. */
static heed_status define_int8(subject *s, const workload *w, heed_error *error) {
  enum { WIDE = 768, TOKENS = 197 };
  const heed_status status = heed_graph_create(s->context, &s->graph, error);
  if (status != HEED_OK) return status;
  const heed_shape shape = HEED_SHAPE(w->batch, TOKENS, WIDE);
  const heed_value x = heed_define_input(s->graph, "x", HEED_F32, &shape);
  heed_graph_output(s->graph, product(s->graph, (heed_linear_desc){.x = x, .heads = 12, .parts = 3},
                                      3 * WIDE, WIDE));
  const heed_value y = product(s->graph, (heed_linear_desc){.x = x, .residual = x}, WIDE, WIDE);
  const heed_value hidden = product(
      s->graph, (heed_linear_desc){.x = y, .activation = HEED_ACTIVATION_GELU}, 4 * WIDE, WIDE);
  heed_graph_output(
      s->graph, product(s->graph, (heed_linear_desc){.x = hidden, .residual = y}, WIDE, 4 * WIDE));
  return heed_graph_status(s->graph, error);
}

static heed_status define(subject *s, const workload *w, heed_error *error) {
  if (w->int8) return define_int8(s, w, error);
  if (w->rows) return define_product(s, w, error);
  if (w->batch) return define_vit(s, w, error);
  if (w->tokens) return define_attention(s, w, error);
  const heed_status status =
      heed_gpu_check_graph_create(s->context, HEED_GPU_CHECK_SMALL, &s->check, error);
  s->graph = s->check.graph;
  return status;
}

static void release(subject *s) {
  if (s->check.graph)
    heed_gpu_check_graph_free(&s->check);
  else
    heed_graph_destroy(s->graph);
  heed_model_destroy(s->pipeline.model);
  cli_synthetic_close(&s->synthetic);
}

static heed_status make_plan(const subject *s, const workload *w, heed_backend *backend,
                             heed_plan **plan, heed_error *error) {
  heed_plan_desc desc = HEED_PLAN_DESC_INIT;
  heed_value taps[MOST_LAYERS];
  for (uint32_t i = 0; w->maps && w->batch && i < MOST_LAYERS; i++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    taps[desc.tap_count++] = heed_graph_find(s->graph, name);
  }
  desc.taps = taps;
  return heed_plan_create(s->graph, backend, &desc, plan, error);
}

/* Lists the dispatches of the plan, makes the pipelines that are new in this workload, and reports
 * them. */
static heed_status compile(table *t, const workload *w, heed_backend *backend, heed_plan *plan,
                           heed_error *error) {
  heed_vk_backend *vulkan = (heed_vk_backend *)backend;
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, &vulkan->device.limits);
  heed_status status = heed_gpu_builder_plan(&builder, error);
  if (status == HEED_OK && !compile_drop_seen(&t->seen, w->name, &builder))
    status = heed_fail_memory(error, "pipelines", sizeof *t->seen.pipeline);
  if (status == HEED_OK) status = heed_vk_make_pipelines(&vulkan->pipelines, &builder, NULL, error);
  const compile_place place = {t->out, t->device, w->name,
                               heed_gpu_tier_name(vulkan->device.limits.tier), t->folder};
  if (status == HEED_OK) status = compile_report(&place, &vulkan->pipelines, &builder, error);
  heed_gpu_builder_end(&builder);
  return status;
}

static bool is_wanted(const table *t, const workload *w) {
  for (int i = 0; i < t->wanted_count; i++)
    if (strncmp(w->name, t->wanted[i], strlen(t->wanted[i])) == 0) return true;
  return t->wanted_count == 0;
}

static heed_status run_workload(table *t, const workload *w, heed_backend *backend,
                                heed_error *error) {
  subject s = {.context = backend->context};
  heed_plan *plan = NULL;
  heed_status status = define(&s, w, error);
  if (status == HEED_OK) status = make_plan(&s, w, backend, &plan, error);
  if (status == HEED_OK) status = compile(t, w, backend, plan, error);
  heed_plan_destroy(plan);
  release(&s);
  return status;
}

static heed_status run_tier(table *t, heed_context *context, heed_vulkan_tier tier,
                            heed_error *error) {
  const heed_vulkan_test test = {.statistics = true};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.tier = tier;
  desc.precision = HEED_VULKAN_PRECISION_AUTO; /* what models run in */
  desc.test = &test;
  heed_backend *backend = NULL;
  heed_status status = heed_vulkan_backend_create(context, &desc, &backend, error);
  for (size_t i = 0; status == HEED_OK && i < sizeof workloads / sizeof *workloads; i++)
    if (is_wanted(t, &workloads[i])) status = run_workload(t, &workloads[i], backend, error);
  heed_backend_destroy(backend);
  return status;
}

/* Every tier that the device has, from the floor up, but the one that must be asked for. */
static heed_status run(table *t, heed_context *context, heed_error *error) {
  heed_vulkan_device_info info;
  uint32_t count = 1;
  heed_status status = heed_vulkan_device_list(context, &info, &count, error);
  for (int tier = HEED_VULKAN_TIER_FLOOR;
       status == HEED_OK && tier <= (int)info.tier && tier <= (int)HEED_VULKAN_TIER_COOPERATIVE;
       tier++)
    status = run_tier(t, context, (heed_vulkan_tier)tier, error);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s DEVICE OUT FOLDER [WORKLOAD...]\n", argv[0]);
    return 2;
  }
  heed_error error = {HEED_OK, ""};
  heed_context *context = NULL;
  table t = {.device = argv[1],
             .folder = strcmp(argv[3], "-") == 0 ? NULL : argv[3],
             .wanted = argv + 4,
             .wanted_count = argc - 4,
             .out = fopen(argv[2], "w")};
  if (!t.out) {
    fprintf(stderr, "compile_table: %s: cannot be written\n", argv[2]);
    return 3;
  }
  heed_status status = heed_context_create(NULL, &context, &error);
  if (status == HEED_OK) status = run(&t, context, &error);
  if (status != HEED_OK) fprintf(stderr, "compile_table: %s: %s\n", argv[1], error.message);
  heed_context_destroy(context);
  free(t.seen.pipeline);
  return fclose(t.out) == 0 && status == HEED_OK ? 0 : 4;
}
