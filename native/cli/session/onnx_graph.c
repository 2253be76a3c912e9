/* ONNX files as graphs. See onnx_graph.h. */
#include "onnx_graph.h"

#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "pipeline.h"
#include "profile.h"
#include "terminal/standard_out.h"

heed_status cli_onnx_is_graph(cli_state *cli, const cli_onnx *job, bool *is_graph) {
  heed_model_files *files;
  *is_graph = false;
  if (job->way && strcmp(job->way, "weights") != 0 && strcmp(job->way, "graph") != 0 &&
      strcmp(job->way, "reference") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--way: unknown way (found \"%s\", expected weights, graph or reference)",
                     job->way);
  if (job->way && strcmp(job->way, "weights") == 0) return HEED_OK;
  cli->silent = true;
  heed_status status = cli_open_files(cli, job->model, &files);
  cli->silent = false;
  if (status != HEED_OK) return status;
  if (heed_model_files_onnx(files)) {
    heed_onnx_run_way way = HEED_ONNX_GRAPH;
    if (!job->way)
      status = heed_onnx_choose_way(cli->context, heed_model_files_desc(files), &way, &cli->error);
    *is_graph = way == HEED_ONNX_GRAPH;
  }
  heed_model_files_destroy(files);
  return status;
}

/* What is written, and where. */
typedef struct written {
  heed_context *context;
  heed_source source;
  const char *name;
} written;

static heed_status copy_source(void *user, FILE *to, heed_error *error) {
  const written *as = user;
  return heed_tensor_file_copy(as->context, &as->source, to, as->name, error);
}

static void print_way(const cli_onnx *job, const struct heed_onnx *onnx, bool kernels,
                      uint32_t unrounded, const char *why) {
  char text[1024];
  heed_onnx_way(onnx, kernels, unrounded, why, text, sizeof text);
  if (!job->quiet) fprintf(stderr, "heed: %s: %s\n", CLI_SHOWN(job->model), CLI_SHOWN(text));
}

/* The graph on kernels, or in double where way is "reference" and where something has no kernel: a
 * file that is broken is so both ways, and the second says why. */
static heed_status run_graph(cli_state *cli, const cli_onnx *job, struct heed_onnx *onnx,
                             heed_onnx_evaluate_desc *desc, heed_onnx_result **result) {
  heed_error why = {HEED_OK, ""};
  if (!job->way || strcmp(job->way, "reference") != 0) {
    CLI_TRY(cli_choice_open(cli, job->choice));
    heed_status status;
    do {
      desc->backend = job->choice->opened;
      status = heed_onnx_evaluate(onnx, desc, result, &why);
    } while (status != HEED_OK && cli_choice_fall_back(cli, job->choice, status));
    if (status == HEED_OK)
      print_way(job, onnx, true, heed_onnx_result_unrounded(*result),
                heed_onnx_result_parts(*result));
    if (!heed_onnx_lacks(status)) {
      cli->error = status == HEED_OK ? cli->error : why;
      return status;
    }
    desc->backend = NULL;
  }
  print_way(job, onnx, false, 0, why.message);
  return heed_onnx_evaluate(onnx, desc, result, &cli->error);
}

static heed_status evaluate(cli_state *cli, const cli_onnx *job, struct heed_onnx *onnx,
                            const unsigned char *bytes, size_t size) {
  const heed_clock clock = {cli_microseconds, NULL};
  heed_onnx_result *result;
  heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                  .inputs = {size, bytes, NULL, NULL},
                                  .name = job->in,
                                  .attentions = job->attentions,
                                  .most_elements = cli->most_elements,
                                  .most_steps = cli->most_steps,
                                  .parts = true,
                                  .clock = &clock};
  CLI_TRY(run_graph(cli, job, onnx, &desc, &result));
  written as = {cli->context, heed_onnx_result_source(result), job->out};
  const heed_status status = cli_output_write(job->out, copy_source, &as, &cli->error);
  heed_onnx_result_destroy(result);
  return status;
}

heed_status cli_onnx_eval(cli_state *cli, const cli_onnx *job) {
  heed_model_files *files;
  unsigned char *bytes = NULL;
  size_t size = 0;
  CLI_TRY(cli_open_files(cli, job->model, &files));
  heed_status status = heed_file_read(job->in, UINT64_C(1) << 32, &bytes, &size, &cli->error);
  if (status == HEED_OK) status = evaluate(cli, job, heed_model_files_onnx(files), bytes, size);
  free(bytes);
  heed_model_files_destroy(files);
  return status;
}

/* ---------------------------------------------------------------------------- as a pipeline's */

/* The graph as a model of its own: a config says nothing of what the graph does with its pixels,
 * nor how its tokens lie. */
static heed_status open_graph_model(cli_state *cli, cli_pipeline *pipeline) {
  heed_preprocess own;
  uint32_t height = 0, width = 0;
  CLI_TRY(cli_read_size(cli, pipeline->size, &height, &width));
  CLI_TRY(heed_onnx_vision(heed_model_files_onnx(pipeline->files),
                           heed_model_files_desc(pipeline->files), height, width,
                           &pipeline->graph_model, &cli->error));
  heed_model_preprocess(pipeline->graph_model, &own);
  pipeline->each_class = heed_onnx_each_class(pipeline->graph_model);
  pipeline->preprocess.rescale = own.rescale;
  memcpy(pipeline->preprocess.mean, own.mean, sizeof own.mean);
  memcpy(pipeline->preprocess.std, own.std, sizeof own.std);
  return HEED_OK;
}

heed_status cli_onnx_choose(cli_state *cli, const char *way, const char *model, bool draws,
                            cli_pipeline *pipeline) {
  if (!way || strcmp(way, "weights") == 0) return HEED_OK;
  if (strcmp(way, "graph") != 0)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--way: unknown way (found \"%s\", expected weights or graph)", way);
  if (!pipeline->files || !heed_model_files_onnx(pipeline->files))
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT, "--way graph: not an ONNX file (found %s)",
                     model ? model : "the built-in model");
  if (!pipeline->as_graph && draws && pipeline->info.kind == HEED_MODEL_VISION)
    CLI_TRY(open_graph_model(cli, pipeline));
  if (!pipeline->as_graph) pipeline->build_graph = cli_onnx_build;
  pipeline->as_graph = true;
  return HEED_OK;
}

/* The only value of a shape that `fits`, or 0. */
static heed_value find_value(const cli_pipeline *pipeline,
                             bool (*fits)(const cli_pipeline *pipeline,
                                          const heed_value_info *info)) {
  heed_value found = {0};
  for (uint32_t id = 1; id <= heed_graph_value_count(pipeline->graph); id++) {
    heed_value_info info;
    if (heed_graph_value_info(pipeline->graph, (heed_value){id}, &info) != HEED_OK ||
        !fits(pipeline, &info))
      continue;
    if (found.id) return (heed_value){0};
    found.id = id;
  }
  return found;
}

static bool is_image(const cli_pipeline *pipeline, const heed_value_info *info) {
  (void)pipeline;
  return info->is_input && info->shape.rank == 4;
}

static bool is_classes(const cli_pipeline *pipeline, const heed_value_info *info) {
  return info->is_output && info->shape.rank == 2 && info->shape.dim[1] == pipeline->info.classes;
}

static void name_value(const cli_pipeline *pipeline, const char *name,
                       bool (*fits)(const cli_pipeline *pipeline, const heed_value_info *info)) {
  if (!heed_graph_find(pipeline->graph, name).id)
    heed_graph_name(pipeline->graph, find_value(pipeline, fits), name);
}

/* Whether the graph has the attentions that the model has. */
static heed_status check_attentions(cli_state *cli, const cli_pipeline *pipeline) {
  const heed_model_info *info = &pipeline->info;
  for (uint32_t i = 0; i < info->layers; i++) {
    heed_value value;
    heed_value_info weights;
    char name[48], text[HEED_SHAPE_TEXT_SIZE] = "none";
    snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)i);
    const bool found = cli_pipeline_find(pipeline, name, &value, &weights);
    if (found) heed_shape_text(&weights.shape, text);
    if (found && weights.shape.rank == 4 && weights.shape.dim[1] == info->heads) continue;
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "--way graph: the graph lacks an attention of the model (found %s for layer "
                     "%u, expected %u heads)",
                     text, i, info->heads);
  }
  return HEED_OK;
}

heed_status cli_onnx_build(cli_state *cli, cli_pipeline *pipeline) {
  const heed_build_desc *build = &pipeline->build;
  if (!pipeline->graph_model && (build->intervene || build->temperature != 0.0f))
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "--way graph: changes of attention need the model's own graph (expected --way "
                     "weights)");
  if (pipeline->graph_model) {
    CLI_TRY(heed_model_build(pipeline->graph_model, build, &pipeline->graph, &cli->error));
    return check_attentions(cli, pipeline);
  }
  const heed_onnx_lower_desc desc = {.struct_size = sizeof desc,
                                     .batch = build->batch,
                                     .height = build->height,
                                     .width = build->width,
                                     .length = build->source_length,
                                     .most_elements = cli->most_elements,
                                     .most_steps = cli->most_steps,
                                     .picture = pipeline->info.kind == HEED_MODEL_VISION,
                                     .parts = true};
  CLI_TRY(heed_onnx_lower(heed_model_files_onnx(pipeline->files), &desc, &pipeline->lowered,
                          &cli->error));
  pipeline->graph = heed_onnx_lowered_graph(pipeline->lowered);
  if (!pipeline->model) return HEED_OK;
  name_value(pipeline, "pixel_values", is_image);
  if (pipeline->info.classes) name_value(pipeline, "logits", is_classes);
  return check_attentions(cli, pipeline);
}

/* ------------------------------------------------------------------------------------ report */

static void print_attention(const cli_pipeline *pipeline, uint32_t index, const char *name) {
  char text[HEED_SHAPE_TEXT_SIZE];
  heed_value_info info;
  printf("attention %u: %s", index, CLI_SHOWN(name));
  if (pipeline->lowered) {
    const heed_value weights = heed_onnx_lowered_weights(pipeline->lowered, index);
    char reach[96];
    heed_onnx_lowered_reach(pipeline->lowered, index, reach, sizeof reach);
    if (heed_graph_value_info(pipeline->graph, weights, &info) == HEED_OK)
      printf(" %s, %s", heed_shape_text(&info.shape, text),
             strncmp(info.name, "layer.", 6) == 0 ? "one op" : "in general ops");
    if (*reach) printf("; %s", reach);
  }
  printf("\n");
}

static void print_folded(const cli_pipeline *pipeline) {
  heed_onnx_op_count count;
  uint32_t folded = 0, lowered = 0;
  for (uint32_t i = 0; heed_onnx_lowered_count(pipeline->lowered, i, &count); i++) {
    folded += count.folded;
    lowered += count.lowered;
  }
  printf("folded: %u nodes", folded);
  for (uint32_t i = 0; heed_onnx_lowered_count(pipeline->lowered, i, &count); i++)
    if (count.folded) printf(", %s %u", CLI_SHOWN(count.op), count.folded);
  printf("\nlowered: %u nodes to %u of heed's\n", lowered, heed_graph_node_count(pipeline->graph));
}

#define MOST_OPS 128 /* heed has fewer */

/* heed's ops of the graph with their counts, in the order of their first use. */
static void print_ops(const cli_pipeline *pipeline) {
  const uint32_t count = heed_graph_node_count(pipeline->graph);
  struct {
    const char *op;
    uint32_t nodes;
  } ops[MOST_OPS];
  uint32_t different = 0;
  for (uint32_t n = 0; n < count; n++) {
    heed_node_info node;
    uint32_t i = 0;
    if (heed_graph_node_info(pipeline->graph, n, &node) != HEED_OK) return;
    while (i < different && strcmp(ops[i].op, node.op) != 0) i++;
    if (i == MOST_OPS) return;
    if (i == different) {
      ops[different].op = node.op;
      ops[different++].nodes = 0;
    }
    ops[i].nodes++;
  }
  printf("ops:");
  for (uint32_t i = 0; i < different; i++)
    printf("%s %s %u", i ? "," : "", ops[i].op, ops[i].nodes);
  printf("\n");
}

void cli_onnx_report(const cli_pipeline *pipeline, const char *why) {
  const struct heed_onnx *onnx = heed_model_files_onnx(pipeline->files);
  uint32_t count = 0;
  printf("ONNX graph: %s\n", CLI_SHOWN(heed_onnx_summary(onnx)));
  for (const char *name; (name = heed_onnx_attention_name(onnx, count)); count++)
    print_attention(pipeline, count, name);
  if (!count) printf("no attention was found\n");
  if (pipeline->lowered) {
    char text[200];
    heed_onnx_lowered_in_double(pipeline->lowered, text, sizeof text);
    if (*text) printf("without a kernel: %s\n", CLI_SHOWN(text));
    print_folded(pipeline);
    print_ops(pipeline);
  } else {
    printf("not on heed's kernels: %s\n", CLI_SHOWN(why));
  }
  for (uint32_t i = 0; heed_onnx_missing_op(onnx, i); i++)
    printf("op not supported: %s\n", CLI_SHOWN(heed_onnx_missing_op(onnx, i)));
}
