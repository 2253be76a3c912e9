/* heed eval: raw tensors in, raw tensors out; of both towers of a model where there is input for
 * both. */
#include <stdlib.h>
#include <string.h>

#include "session/onnx_graph.h"
#include "session/pipeline.h"
#include "session/text_tower.h"
#include "terminal/confine.h"
#include "terminal/paths.h"
#include "terminal/tensors.h"

/* One tower: the vision transformer, or the text's. */
typedef struct eval_job {
  cli_pipeline pipeline;
  cli_tensors *tensors; /* the results of both */
  const char *prefix;   /* of their names: "text." beside those of the vision transformer */
  void *input;
  heed_shape shape; /* of pixel_values [B, C, H, W], or of input_ids [B, T] */
  /* values to keep besides the outputs; from `kept` on, maps that only the rollout wants */
  char **names;
  uint32_t name_count, kept;
  cli_tensors hidden; /* those maps */
  bool rollout;
} eval_job;

/* pixel_values or input_ids, if the file has it. */
static heed_status read_input(cli_state *cli, eval_job *job, const heed_tensor_file *file,
                              const char *path, bool ids) {
  char text[HEED_SHAPE_TEXT_SIZE];
  const char *name = ids ? "input_ids" : "pixel_values";
  const heed_file_tensor *tensor = heed_tensor_file_find(file, name);
  if (!tensor) return HEED_OK;
  const bool whole = !tensor->unsupported && tensor->dtype == HEED_I32,
             floats = !tensor->unsupported && tensor->dtype != HEED_U8 &&
                      tensor->dtype != HEED_I8 && !whole;
  const bool fits =
      ids ? tensor->shape.rank == 2 : tensor->shape.rank == 4 || tensor->shape.rank == 5;
  if (!(ids ? whole : floats) || !fits || tensor->count == 0)
    return heed_fail(
        &cli->error, HEED_INVALID_FILE, "%s: invalid %s (found %s %s, expected %s)", path, name,
        tensor->dtype_name, heed_shape_text(&tensor->shape, text),
        ids ? "I32 or I64 [B, T]" : "floats [B, C, H, W], of videos [B, frames, C, H, W]");
  job->shape = tensor->shape;
  job->input = malloc((size_t)tensor->count * 4);
  return job->input ? heed_tensor_file_read(file, tensor, 0, tensor->count, job->input, &cli->error)
                    : heed_fail_memory(&cli->error, path, (size_t)tensor->count * 4);
}

static heed_status read_inputs(cli_state *cli, eval_job jobs[2], const char *path) {
  heed_tensor_file *file;
  CLI_TRY(heed_tensor_file_open(cli->context, path, NULL, &file, &cli->error));
  heed_status status = read_input(cli, &jobs[0], file, path, false);
  if (status == HEED_OK) status = read_input(cli, &jobs[1], file, path, true);
  heed_tensor_file_destroy(file);
  if (status != HEED_OK || jobs[0].input || jobs[1].input) return status;
  return heed_fail(&cli->error, HEED_INVALID_FILE,
                   "%s: missing tensor pixel_values (or input_ids, for a text tower)", path);
}

static heed_status add_name(cli_state *cli, eval_job *job, const char *name, size_t length) {
  char **grown = realloc(job->names, (job->name_count + 1) * sizeof *grown);
  if (!grown) return heed_fail_memory(&cli->error, "taps", sizeof *grown);
  job->names = grown;
  job->names[job->name_count] = malloc(length + 32);
  if (!job->names[job->name_count]) return heed_fail_memory(&cli->error, "taps", length);
  /* attention.N is the short name that files use for layer.N.attention.weights. */
  char *full = job->names[job->name_count];
  if (length > 10 && strncmp(name, "attention.", 10) == 0)
    snprintf(full, length + 32, "layer.%.*s.attention.weights", (int)(length - 10), name + 10);
  else
    snprintf(full, length + 32, "%.*s", (int)length, name);
  for (uint32_t i = 0; i < job->name_count; i++)
    if (strcmp(job->names[i], full) == 0) {
      free(full);
      return HEED_OK;
    }
  job->name_count++;
  return HEED_OK;
}

static heed_status add_layer(cli_state *cli, eval_job *job, uint32_t layer) {
  char name[32];
  return add_name(cli, job, name, (size_t)snprintf(name, sizeof name, "attention.%u", layer));
}

/* --taps all | none | NAME,NAME */
static heed_status list_taps(cli_state *cli, eval_job *job, const char *taps) {
  if (strcmp(taps, "none") == 0) return HEED_OK;
  if (strcmp(taps, "all") == 0) {
    static const char pool[] = "pool.attention.weights";
    for (uint32_t i = 0; i < job->pipeline.info.layers; i++) CLI_TRY(add_layer(cli, job, i));
    if (job->pipeline.info.pool_heads) CLI_TRY(add_name(cli, job, pool, sizeof pool - 1));
    job->rollout = !job->pipeline.info.stages;
    return HEED_OK;
  }
  for (const char *at = taps;; at++) {
    const size_t length = strcspn(at, ",");
    if (length == 0)
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "--taps: empty name (found \"%s\", expected all, none or NAME,...)", taps);
    if (length == 7 && strncmp(at, "rollout", 7) == 0 && job->pipeline.info.stages)
      return heed_fail(&cli->error, HEED_UNSUPPORTED,
                       "--taps: a model with stages has no rollout (found %u grids, expected one)",
                       job->pipeline.info.stages);
    if (length == 7 && strncmp(at, "rollout", 7) == 0)
      job->rollout = true;
    else
      CLI_TRY(add_name(cli, job, at, length));
    at += length;
    if (!*at) return HEED_OK;
  }
}

/* "layer.3.attention.weights" is saved as attention.3, the rest under its own name. */
static void saved_name(const char *prefix, const char *name, char *to, size_t size) {
  unsigned layer;
  int end = 0;
  if (sscanf(name, "layer.%u.attention.weights%n", &layer, &end) == 1 && end && !name[end])
    snprintf(to, size, "%sattention.%u", prefix, layer);
  else
    snprintf(to, size, "%s%s", prefix, name);
}

static const cli_tensor *find_tensor(const cli_tensors *tensors, const char *name) {
  for (size_t i = 0; i < tensors->count; i++)
    if (strcmp(tensors->tensor[i].name, name) == 0) return &tensors->tensor[i];
  return NULL;
}

/* Once: an output may be named as a tap, too. */
static heed_status collect(cli_state *cli, eval_job *job, const char *name, cli_tensors *to) {
  float *data;
  heed_shape shape;
  char saved[64];
  saved_name(job->prefix, name, saved, sizeof saved);
  if (find_tensor(to, saved)) return HEED_OK;
  CLI_TRY(cli_pipeline_read(cli, &job->pipeline, name, &data, &shape));
  return cli_tensors_take(to, saved, HEED_F32, &shape, data, &cli->error);
}

/* The maps of all layers, for the rollout, beside those to be kept. */
static heed_status add_hidden(cli_state *cli, eval_job *job) {
  job->kept = job->name_count;
  for (uint32_t layer = 0; job->rollout && layer < job->pipeline.info.layers; layer++) {
    char name[48];
    uint32_t i = 0;
    snprintf(name, sizeof name, "layer.%u.attention.weights", layer);
    while (i < job->kept && strcmp(job->names[i], name) != 0) i++;
    if (i == job->kept) CLI_TRY(add_layer(cli, job, layer));
  }
  return HEED_OK;
}

static const cli_tensor *find_map(const eval_job *job, uint32_t layer) {
  const cli_tensors *lists[] = {job->tensors, &job->hidden};
  char name[40];
  snprintf(name, sizeof name, "%sattention.%u", job->prefix, layer);
  const cli_tensor *kept = find_tensor(lists[0], name);
  return kept ? kept : find_tensor(lists[1], name);
}

/* [L, B, H, N, N] in the tensors gathered -> rollout [B, N, N]. */
static heed_status add_rollout(cli_state *cli, eval_job *job) {
  const heed_model_info *info = &job->pipeline.info;
  const cli_tensor *first = find_map(job, 0);
  if (!first) return HEED_OK;
  const uint32_t batch = first->shape.dim[0], heads = first->shape.dim[1],
                 tokens = first->shape.dim[2];
  const size_t map = (size_t)heads * tokens * tokens, square = (size_t)tokens * tokens;
  const float **maps = calloc(info->layers, sizeof *maps);
  float *rollout = malloc(batch * square * sizeof *rollout);
  heed_status status =
      maps && rollout ? HEED_OK
                      : heed_fail_memory(&cli->error, "rollout", batch * square * sizeof *rollout);
  const heed_rollout_desc desc = {.struct_size = sizeof desc,
                                  .layers = info->layers,
                                  .heads = heads,
                                  .tokens = tokens,
                                  .maps = maps};
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    for (uint32_t l = 0; l < info->layers; l++)
      maps[l] = (const float *)find_map(job, l)->data + b * map;
    status = heed_map_rollout(cli->context, &desc, NULL, rollout + b * square, &cli->error);
  }
  free(maps);
  if (status != HEED_OK) {
    free(rollout);
    return status;
  }
  const heed_shape shape = {3, {batch, tokens, tokens}};
  char name[32];
  saved_name(job->prefix, "rollout", name, sizeof name);
  return cli_tensors_take(job->tensors, name, HEED_F32, &shape, rollout, &cli->error);
}

/* The sizes that the input has. */
static heed_status choose_sizes(cli_state *cli, eval_job *job) {
  const heed_model_info *info = &job->pipeline.info;
  const uint32_t *dim = job->shape.dim, axes = info->frames ? 5 : 4;
  heed_build_desc *build = &job->pipeline.build;
  build->batch = dim[0];
  if (info->kind == HEED_MODEL_TEXT) {
    build->source_length = dim[1];
    return HEED_OK;
  }
  if (job->shape.rank != axes)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "pixel_values: wrong number of axes (found %u, expected %u%s)",
                     job->shape.rank, axes, info->frames ? ": those of a video" : "");
  if (info->frames) build->frames = *++dim;
  if (dim[1] != info->channels)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "pixel_values: wrong number of channels (found %u, expected %u)", dim[1],
                     info->channels);
  if (dim[2] < info->patch || dim[3] < info->patch)
    return heed_fail(
        &cli->error, HEED_INVALID_FILE,
        "pixel_values: smaller than a patch (found %ux%u pixels, expected at least %ux%u)", dim[3],
        dim[2], info->patch, info->patch);
  build->height = dim[2];
  build->width = dim[3];
  return HEED_OK;
}

/* Of each text the row that stands for it. */
static heed_status collect_row(cli_state *cli, eval_job *job, const char *from, const char *to) {
  float *rows;
  heed_shape shape;
  if (!heed_graph_find(job->pipeline.graph, from).id) return HEED_OK;
  CLI_TRY(cli_text_rows(cli, &job->pipeline, from, job->input, &rows, &shape));
  return cli_tensors_take(job->tensors, to, HEED_F32, &shape, rows, &cli->error);
}

static heed_status evaluate(cli_state *cli, eval_job *job, cli_choice *choice, const char *taps) {
  cli_pipeline *pipeline = &job->pipeline;
  char pooled[32];
  CLI_TRY(choose_sizes(cli, job));
  CLI_TRY(list_taps(cli, job, taps));
  CLI_TRY(add_hidden(cli, job));
  pipeline->tap_names = (const char *const *)job->names;
  pipeline->tap_count = job->name_count;
  CLI_TRY(cli_pipeline_run(cli, pipeline, choice, job->input));
  static const char *const outputs[] = {"logits", "last_hidden_state", "pooler_output",
                                        "image_embeds"};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    if (heed_graph_find(pipeline->graph, outputs[i]).id)
      CLI_TRY(collect(cli, job, outputs[i], job->tensors));
  if (pipeline->info.kind == HEED_MODEL_TEXT) {
    saved_name(job->prefix, "pooler_output", pooled, sizeof pooled);
    CLI_TRY(collect_row(cli, job, cli_text_pooled(pipeline), pooled));
    CLI_TRY(collect_row(cli, job, "token_embeds", "text_embeds"));
  }
  for (uint32_t i = 0; i < job->name_count; i++)
    CLI_TRY(collect(cli, job, job->names[i], i < job->kept ? job->tensors : &job->hidden));
  return job->rollout ? add_rollout(cli, job) : HEED_OK;
}

/* logits_per_image [pictures, texts], where both towers have an embedding. */
static heed_status add_comparison(cli_state *cli, const eval_job *text) {
  const cli_tensor *images = find_tensor(text->tensors, "image_embeds"),
                   *texts = find_tensor(text->tensors, "text_embeds");
  if (!images || !texts) return HEED_OK;
  const uint32_t size = images->shape.dim[1], rows = images->shape.dim[0],
                 columns = texts->shape.dim[0];
  if (size != texts->shape.dim[1])
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "the embeddings of images and texts differ in size (found %u and %u)", size,
                     texts->shape.dim[1]);
  const float *image = images->data, *embeds = texts->data;
  float *logits = malloc((size_t)rows * columns * sizeof *logits);
  if (!logits)
    return heed_fail_memory(&cli->error, "logits", (size_t)rows * columns * sizeof *logits);
  for (uint32_t i = 0; i < rows; i++)
    heed_compare(&text->pipeline.info, image + (size_t)i * size, embeds, columns,
                 logits + (size_t)i * columns, NULL);
  const heed_shape shape = {2, {rows, columns}};
  return cli_tensors_take(text->tensors, "logits_per_image", HEED_F32, &shape, logits, &cli->error);
}

/* The towers that there is input for. */
static heed_status evaluate_towers(cli_state *cli, eval_job jobs[2], cli_choice *choice,
                                   const char *model, const char *in, const char *taps) {
  CLI_TRY(read_inputs(cli, jobs, in));
  jobs[1].prefix = jobs[0].input ? "text." : "";
  if (jobs[0].input) CLI_TRY(cli_pipeline_load(cli, &jobs[0].pipeline, model));
  if (jobs[1].input) CLI_TRY(cli_text_load(cli, &jobs[1].pipeline, model));
  CLI_TRY(cli_choice_open(cli, choice));
  for (int i = 0; i < 2; i++)
    if (jobs[i].input) CLI_TRY(evaluate(cli, &jobs[i], choice, taps));
  return jobs[0].input && jobs[1].input ? add_comparison(cli, &jobs[1]) : HEED_OK;
}

static void close_job(eval_job *job) {
  cli_pipeline_close(&job->pipeline);
  cli_tensors_clear(&job->hidden);
  for (uint32_t i = 0; i < job->name_count; i++) free(job->names[i]);
  free(job->names);
  free(job->input);
}

static int run(cli_state *cli, int argc, char **argv) {
  cli_choice choice = CLI_CHOICE_INIT;
  const char *out = NULL, *taps = "all", *file = NULL, *way = NULL;
  char chosen[HEED_PATH_SIZE];
  cli_words words;
  const cli_option options[] = {
      {"-o", CLI_TENSORS, &out, "OUT.safetensors|.npz|.npy|-",
       "file for the results (required); -: .safetensors to stdout, and text to stderr"},
      {"--taps", CLI_TEXT, &taps, "all|none|NAME,...",
       "values to save besides the outputs: attention.N, rollout or any value of the graph "
       "(default: all = attention.N and rollout)"},
      CLI_FILE_OPTION(file),
      CLI_WEIGHTS_OPTIONS(cli),
      CLI_WAY_OPTION(way),
      CLI_GRAPH_OPTIONS(cli),
      CLI_SANDBOX_OPTION(cli),
      CLI_CHOICE_OPTIONS(choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli, "eval MODEL IN.safetensors -o OUT.safetensors [options]", options,
                             argc, argv, &words);
  if (code >= 0) return code;
  if (words.count != 2 || !out) {
    fprintf(stderr,
            "heed eval: wrong arguments (found %u%s, expected MODEL IN.safetensors -o "
            "OUT.safetensors)\n",
            words.count, out ? "" : " and no -o");
    return CLI_USAGE;
  }
  const char *model = cli_model_file(words.word[0], file, chosen);
  cli_tensors tensors = {0};
  eval_job jobs[2] = {{.tensors = &tensors, .prefix = ""}, {.tensors = &tensors, .prefix = ""}};
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", model},
                            {CLI_READ, "the input", words.word[1]},
                            {CLI_WRITTEN, "-o", out}};
  heed_status status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  const cli_onnx graph = {way,          model,  words.word[1], out, strcmp(taps, "none") != 0,
                          choice.quiet, &choice};
  bool is_graph = false;
  if (status == HEED_OK) status = cli_onnx_is_graph(cli, &graph, &is_graph);
  if (status == HEED_OK && is_graph) {
    status = cli_onnx_eval(cli, &graph);
    cli_choice_close(&choice);
    return status == HEED_OK ? CLI_OK : cli_fail(cli);
  }
  if (status == HEED_OK) status = evaluate_towers(cli, jobs, &choice, model, words.word[1], taps);
  if (status == HEED_OK) status = cli_tensors_save(cli, &tensors, NULL, 0, out);
  close_job(&jobs[0]);
  close_job(&jobs[1]);
  cli_choice_close(&choice);
  cli_tensors_clear(&tensors);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_eval = {
    "eval", "run a model on tensors (pixel_values, input_ids) and save its outputs", run};
