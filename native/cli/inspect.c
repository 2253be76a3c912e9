/* heed inspect: tensors, graph, plan, cost and predicted memory of a model, without running it. */
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "session/onnx_graph.h"
#include "session/pipeline.h"
#include "session/profile.h"
#include "session/synthetic.h"
#include "terminal/confine.h"
#include "terminal/json_out.h"

/* heed_model_describe's lines. */
static heed_status print_summary(cli_state *cli, const cli_pipeline *pipeline) {
  const size_t size = heed_model_describe(pipeline->model, NULL, 0) + 1;
  char *text = malloc(size);
  if (!text) return heed_fail_memory(&cli->error, "summary", size);
  heed_model_describe(pipeline->model, text, size);
  fputs(text, stdout);
  free(text);
  return HEED_OK;
}

/* A role's pattern: its first name, with the layer's number where it is of one. */
static void print_part(const char *role, const uint32_t *layer) {
  for (; *role && *role != '|'; role++)
    if (*role == '#' && layer)
      printf("%u", *layer);
    else
      putchar(*role);
}

static void print_tensors(const cli_pipeline *pipeline) {
  char text[HEED_SHAPE_TEXT_SIZE];
  const heed_model *model = pipeline->model;
  const uint32_t count = heed_model_tensor_count(model);
  for (uint32_t i = 0; i < count; i++) {
    heed_tensor_info tensor;
    heed_model_tensor(model, i, &tensor);
    printf("  %-5s %-20s %10llu  %s%s", CLI_SHOWN(tensor.dtype_name),
           tensor.unsupported ? "" : heed_shape_text(&tensor.shape, text),
           (unsigned long long)tensor.bytes, CLI_SHOWN(tensor.name),
           tensor.used ? "" : "  (not used)");
    if (tensor.role) {
      printf("  = ");
      print_part(tensor.role, &tensor.layer);
    }
    printf("\n");
  }
  for (uint32_t i = 0; heed_model_absent(model, i); i++) {
    printf("%s", i ? ", " : "optional tensors not in the file: ");
    print_part(heed_model_absent(model, i), NULL);
  }
  if (heed_model_absent(model, 0)) printf("\n");
}

static void print_plan(const cli_pipeline *pipeline) {
  char text[HEED_SHAPE_TEXT_SIZE];
  heed_memory memory;
  uint64_t flops = 0, maps = 0;
  printf("%-16s %-28s %-22s %10s %12s %12s  %s\n", "op", "output", "shape", "dispatches", "MFLOP",
         "KB moved", "kernels (tier, tile); mode, bytes of its maps");
  for (uint32_t i = 0; i < heed_plan_step_count(pipeline->plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(pipeline->plan, i, &step);
    flops += step.flops;
    maps += step.map_bytes;
    printf("%-16s %-28s %-22s %10u %12.3f %12.1f", step.op, CLI_SHOWN(step.output),
           heed_shape_text(&step.shape, text), step.dispatches, (double)step.flops * 1e-6,
           (double)step.bytes * 1e-3);
    cli_kernels_print(&step);
    if (step.map_bytes)
      printf("%s%s, %llu", step.kernel_count ? "; " : "  ",
             step.mode[0] ? step.mode : "its own way", (unsigned long long)step.map_bytes);
    printf("\n");
  }
  heed_plan_memory(pipeline->plan, &memory);
  printf("%u steps, %.4f GFLOP\n", heed_plan_step_count(pipeline->plan), (double)flops * 1e-9);
  printf("predicted bytes: weights %llu, arena %llu, workspace %llu, total %llu\n",
         (unsigned long long)memory.weights, (unsigned long long)memory.arena,
         (unsigned long long)memory.workspace,
         (unsigned long long)(memory.weights + memory.arena + memory.workspace));
  printf("attention maps: %llu bytes for one layer, %llu bytes for all layers\n",
         (unsigned long long)(pipeline->info.layers ? maps / pipeline->info.layers : maps),
         (unsigned long long)maps);
}

static void json_plan(const cli_pipeline *pipeline) {
  json_out json = {.file = stdout};
  char text[HEED_SHAPE_TEXT_SIZE];
  heed_memory memory;
  heed_plan_memory(pipeline->plan, &memory);
  json_begin(&json);
  json_open(&json, "plan", '[');
  for (uint32_t i = 0; i < heed_plan_step_count(pipeline->plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(pipeline->plan, i, &step);
    json_open(&json, NULL, '{');
    json_text(&json, "op", step.op);
    json_text(&json, "output", step.output);
    json_text(&json, "shape", heed_shape_text(&step.shape, text));
    json_integer(&json, "stage", step.stage);
    json_integer(&json, "dispatches", step.dispatches);
    json_integer(&json, "flops", (int64_t)step.flops);
    json_integer(&json, "bytes", (int64_t)step.bytes);
    json_integer(&json, "map_bytes", (int64_t)step.map_bytes);
    json_text(&json, "mode", step.mode);
    cli_kernels_json(&step, &json);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_integer(&json, "weights_bytes", (int64_t)memory.weights);
  json_integer(&json, "arena_bytes", (int64_t)memory.arena);
  json_integer(&json, "workspace_bytes", (int64_t)memory.workspace);
  json_close(&json, '}');
  printf("\n");
}

static heed_value_info info_of(const heed_graph *graph, heed_value value) {
  heed_value_info info;
  return heed_graph_value_info(graph, value, &info) == HEED_OK ? info
                                                               : (heed_value_info){.name = ""};
}

static heed_node_info node_of(const heed_graph *graph, uint32_t index) {
  heed_node_info node;
  return heed_graph_node_info(graph, index, &node) == HEED_OK ? node : (heed_node_info){.op = ""};
}

/* By value id: the node that computes it, plus 1; 0 for inputs, constants and views. malloc'ed;
 * NULL without memory. */
static uint32_t *find_makers(const heed_graph *graph) {
  uint32_t *makers = calloc((size_t)heed_graph_value_count(graph) + 1, sizeof *makers);
  for (uint32_t n = 0; makers && n < heed_graph_node_count(graph); n++) {
    const heed_node_info node = node_of(graph, n);
    for (uint32_t i = 0; i < node.output_count; i++) makers[node.outputs[i].id] = n + 1;
  }
  return makers;
}

/* A name inside the quotes of a label: without controls, and with what DOT reads there escaped. */
static void print_dot_text(const char *name) {
  for (const char *c = CLI_SHOWN(name); *c; c++) {
    if (*c == '"' || *c == '\\') putchar('\\');
    putchar(*c);
  }
}

/* The name of the first output, or "v12" by its id. */
static void print_dot_node(const heed_graph *graph, const uint32_t *makers, uint32_t index) {
  const heed_node_info node = node_of(graph, index);
  const heed_value_info first = info_of(graph, node.outputs[0]);
  char label[96], text[HEED_SHAPE_TEXT_SIZE];
  if (*first.name)
    snprintf(label, sizeof label, "%s", first.name); /* a character that is cut is shown as ? */
  else
    snprintf(label, sizeof label, "v%u", node.outputs[0].id);
  printf("  n%u [label=\"%s\\n", index, node.op);
  print_dot_text(label);
  printf(" %s\"];\n", heed_shape_text(&first.shape, text));
  for (uint32_t i = 0; i < node.input_count; i++) {
    const heed_value base = heed_graph_view_base(graph, node.inputs[i]);
    const uint32_t maker = makers[base.id ? base.id : node.inputs[i].id];
    if (maker) printf("  n%u -> n%u;\n", maker - 1, index);
  }
}

static heed_status print_dot(cli_state *cli, const heed_graph *graph) {
  uint32_t *makers = find_makers(graph);
  if (!makers)
    return heed_fail_memory(&cli->error, "graph", heed_graph_value_count(graph) * sizeof *makers);
  printf("digraph heed {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (uint32_t n = 0; n < heed_graph_node_count(graph); n++) print_dot_node(graph, makers, n);
  printf("}\n");
  free(makers);
  return HEED_OK;
}

static void json_value(json_out *json, const heed_graph *graph, uint32_t id) {
  const heed_value_info info = info_of(graph, (heed_value){id});
  const heed_value base = heed_graph_view_base(graph, (heed_value){id});
  json_open(json, NULL, '{');
  json_integer(json, "id", id);
  json_text(json, "name", info.name);
  json_text(json, "kind",
            info.is_input      ? "input"
            : info.is_constant ? "constant"
            : base.id          ? "view"
                               : "result");
  json_text(json, "dtype", heed_dtype_name(info.dtype));
  json_open(json, "shape", '[');
  for (uint32_t i = 0; i < info.shape.rank; i++) json_integer(json, NULL, info.shape.dim[i]);
  json_close(json, ']');
  if (base.id) json_integer(json, "base", base.id);
  json_flag(json, "output", info.is_output);
  json_close(json, '}');
  fputc('\n', json->file);
}

static void json_ids(json_out *json, const char *key, const heed_value *values, uint32_t count) {
  json_open(json, key, '[');
  for (uint32_t i = 0; i < count; i++) json_integer(json, NULL, values[i].id);
  json_close(json, ']');
}

static void print_json(const heed_graph *graph) {
  json_out json = {.file = stdout};
  json_begin(&json);
  json_open(&json, "values", '[');
  for (uint32_t id = 1; id <= heed_graph_value_count(graph); id++) json_value(&json, graph, id);
  json_close(&json, ']');
  json_open(&json, "nodes", '[');
  for (uint32_t n = 0; n < heed_graph_node_count(graph); n++) {
    const heed_node_info node = node_of(graph, n);
    json_open(&json, NULL, '{');
    json_text(&json, "op", node.op);
    json_integer(&json, "stage", node.stage);
    json_ids(&json, "inputs", node.inputs, node.input_count);
    json_ids(&json, "outputs", node.outputs, node.output_count);
    json_close(&json, '}');
    fputc('\n', stdout);
  }
  json_close(&json, ']');
  json_close(&json, '}');
  printf("\n");
}

static heed_status print_bytes(void *user, const void *bytes, size_t count, heed_error *error) {
  if (fwrite(bytes, 1, count, user) == count) return HEED_OK;
  return heed_fail(error, HEED_IO, "stdout: cannot write");
}

/* The names.json that would open the model. */
static heed_status print_names(cli_state *cli, const char *model) {
  cli_pipeline pipeline = {0};
  heed_status status = cli_pipeline_load_any(cli, &pipeline, model);
  if (status == HEED_OK)
    status = heed_model_write_names(pipeline.model, print_bytes, stdout, &cli->error);
  cli_pipeline_close(&pipeline);
  return status;
}

static heed_status inspect(cli_state *cli, cli_choice *choice, const char *model, const char *vit,
                           const char *size, const char *graph, bool plan, bool json) {
  cli_pipeline pipeline = {0};
  cli_synthetic synthetic = {0};
  heed_status status = vit ? cli_synthetic_load(cli, vit, &synthetic, &pipeline)
                           : cli_pipeline_load_any(cli, &pipeline, model);
  if (vit) pipeline.build = (heed_build_desc){.struct_size = sizeof pipeline.build};
  if (status == HEED_OK) status = cli_pipeline_size(cli, &pipeline, size);
  if (status == HEED_OK) status = cli_choice_open(cli, choice);
  if (status == HEED_OK) status = cli_pipeline_plan(cli, &pipeline, choice);
  if (status == HEED_OK) {
    if (plan && json)
      json_plan(&pipeline);
    else if (!graph)
      status = print_summary(cli, &pipeline);
    if (!graph && !plan && status == HEED_OK) print_tensors(&pipeline);
    if (plan && !json) print_plan(&pipeline);
    if (graph && strcmp(graph, "dot") == 0) status = print_dot(cli, pipeline.graph);
    if (graph && strcmp(graph, "json") == 0) print_json(pipeline.graph);
  }
  cli_pipeline_close(&pipeline);
  cli_synthetic_close(&synthetic);
  cli_choice_close(choice);
  return status;
}

/* The graph of an ONNX file on heed's ops, or why it is not: that is a failure where the graph runs
 * in no way. */
static heed_status inspect_onnx(cli_state *cli, cli_choice *choice, const char *model,
                                const char *size, const char *graph, bool plan, bool json) {
  cli_pipeline pipeline = {.build_graph = cli_onnx_build,
                           .build = {.struct_size = sizeof pipeline.build}};
  heed_status status = cli_open_files(cli, model, &pipeline.files);
  if (status == HEED_OK) status = cli_pipeline_size(cli, &pipeline, size);
  if (status == HEED_OK) status = cli_choice_open(cli, choice);
  if (status == HEED_OK) {
    status = cli_pipeline_plan(cli, &pipeline, choice);
    /* of a graph whose outputs are constants: the file has it so, not the command */
    if (status == HEED_INVALID_ARGUMENT) status = cli->error.status = HEED_UNSUPPORTED;
    if (!graph && !plan && (status == HEED_OK || heed_onnx_lacks(status))) {
      cli_onnx_report(&pipeline, cli->error.message);
      status = status == HEED_OK
                   ? HEED_OK
                   : heed_onnx_check(heed_model_files_onnx(pipeline.files), &cli->error);
    } else if (status == HEED_OK) {
      if (plan && json) json_plan(&pipeline);
      if (plan && !json) print_plan(&pipeline);
      if (graph && strcmp(graph, "dot") == 0) status = print_dot(cli, pipeline.graph);
      if (graph && strcmp(graph, "json") == 0) print_json(pipeline.graph);
    }
  }
  cli_pipeline_close(&pipeline);
  cli_choice_close(choice);
  return status;
}

static int run(cli_state *cli, int argc, char **argv) {
  cli_choice choice = CLI_CHOICE_INIT;
  const char *way = NULL;
  bool is_graph = false;
  const char *graph = NULL, *vit = NULL, *size = NULL, *file = NULL;
  char chosen[HEED_PATH_SIZE];
  bool plan = false, json = false, names = false;
  cli_words words;
  choice.backend = "cpu";
  choice.quiet = true;
  const cli_option options[] = {
      {"--graph", CLI_TEXT, &graph, "dot|json", "print the graph instead of the tensors"},
      {"--vit", CLI_TEXT, &vit, "Ti|S|B|L",
       "use a ViT of this size with synthetic weights instead of MODEL"},
      {"--names", CLI_FLAG, &names, NULL,
       "print what the model's tensors are called as the names.json that opens it"},
      CLI_FILE_OPTION(file),
      CLI_WEIGHTS_KEY_OPTION(cli),
      CLI_HINTS_OPTION(cli),
      CLI_READING_OPTION(cli),
      CLI_WAY_OPTION(way),
      CLI_GRAPH_OPTIONS(cli),
      CLI_SIZE_OPTION(size),
      {"--plan", CLI_FLAG, &plan, NULL,
       "print steps, FLOPs, bytes moved, predicted memory and the cost of maps"},
      {"--json", CLI_FLAG, &json, NULL, "print the plan as one JSON object"},
      CLI_SANDBOX_OPTION(cli),
      CLI_CHOICE_OPTIONS(choice, CLI_BACKEND_CPU),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli, "inspect [MODEL] [options]\n\n" CLI_MODEL_OR_BUILT_IN, options,
                             argc, argv, &words);
  if (code >= 0) return code;
  if (words.count > (vit ? 0u : 1u) || (json && !plan) || (json && graph) ||
      (graph && strcmp(graph, "dot") != 0 && strcmp(graph, "json") != 0)) {
    fprintf(stderr,
            "heed inspect: wrong arguments (found %u models, graph \"%s\"%s; expected at most one, "
            "dot or json, --json with --plan alone)\n",
            words.count, graph ? CLI_SHOWN(graph) : "", json ? ", --json" : "");
    return CLI_USAGE;
  }
  const char *model = words.count ? cli_model_file(words.word[0], file, chosen) : NULL;
  if (names) return print_names(cli, model) == HEED_OK ? CLI_OK : cli_fail(cli);
  const cli_onnx onnx = {.way = way, .model = model};
  if (model && cli_onnx_is_graph(cli, &onnx, &is_graph) != HEED_OK) return cli_fail(cli);
  if (is_graph)
    return inspect_onnx(cli, &choice, model, size, graph, plan, json) == HEED_OK ? CLI_OK
                                                                                 : cli_fail(cli);
  return inspect(cli, &choice, model, vit, size, graph, plan, json) == HEED_OK ? CLI_OK
                                                                               : cli_fail(cli);
}

const cli_verb cli_verb_inspect = {"inspect",
                                   "print a model's tensors, graph, plan, cost and memory", run};
