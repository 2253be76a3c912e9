/* heed eval: raw tensors in, raw tensors out. */
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "pipeline.h"
#include "tensors.h"

typedef struct eval_job {
  cli_pipeline pipeline;
  cli_tensors tensors;
  float *pixels;
  heed_shape shape; /* of pixel_values: [B, C, H, W] */
  /* values to keep besides the outputs; from `kept` on, maps that only the rollout wants */
  char **names;
  uint32_t name_count, kept;
  cli_tensors hidden; /* those maps */
  bool rollout;
} eval_job;

/* pixel_values of the input file. */
static heed_status read_pixels(cli_state *cli, eval_job *job, const char *path) {
  char text[HEED_SHAPE_TEXT_SIZE];
  heed_tensor_file *file;
  CLI_TRY(heed_tensor_file_open(cli->context, path, NULL, &file, &cli->error));
  const heed_file_tensor *tensor = heed_tensor_file_find(file, "pixel_values");
  heed_status status = HEED_OK;
  if (!tensor)
    status = heed_fail(&cli->error, HEED_INVALID_FILE, "%s: missing tensor pixel_values", path);
  else if (tensor->unsupported || tensor->dtype == HEED_U8 || tensor->dtype == HEED_I32 ||
           tensor->shape.rank != 4 || tensor->count == 0)
    status = heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: invalid pixel_values (found %s %s, expected floats [B, C, H, W])", path,
                       tensor->dtype_name, heed_shape_text(&tensor->shape, text));
  else {
    job->shape = tensor->shape;
    job->pixels = malloc((size_t)tensor->count * sizeof *job->pixels);
    status = job->pixels
                 ? heed_tensor_file_read(file, tensor, 0, tensor->count, job->pixels, &cli->error)
                 : heed_fail_memory(&cli->error, path, (size_t)tensor->count * sizeof *job->pixels);
  }
  heed_tensor_file_destroy(file);
  return status;
}

static heed_status add_name(cli_state *cli, eval_job *job, const char *name, size_t length) {
  char **grown = realloc(job->names, (job->name_count + 1) * sizeof *grown);
  if (!grown) return heed_fail_memory(&cli->error, "taps", sizeof *grown);
  job->names = grown;
  job->names[job->name_count] = malloc(length + 32);
  if (!job->names[job->name_count]) return heed_fail_memory(&cli->error, "taps", length);
  /* attention.N is the short name that files use for layer.N.attention.weights. */
  if (length > 10 && strncmp(name, "attention.", 10) == 0)
    snprintf(job->names[job->name_count++], length + 32, "layer.%.*s.attention.weights",
             (int)(length - 10), name + 10);
  else
    snprintf(job->names[job->name_count++], length + 32, "%.*s", (int)length, name);
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
    for (uint32_t i = 0; i < job->pipeline.info.layers; i++) CLI_TRY(add_layer(cli, job, i));
    job->rollout = true;
    return HEED_OK;
  }
  for (const char *at = taps; *at;) {
    const size_t length = strcspn(at, ",");
    if (length == 7 && strncmp(at, "rollout", 7) == 0)
      job->rollout = true;
    else if (length)
      CLI_TRY(add_name(cli, job, at, length));
    at += length + (at[length] == ',');
  }
  return HEED_OK;
}

/* "layer.3.attention.weights" is saved as attention.3, the rest under its own name. */
static void saved_name(const char *name, char *to, size_t size) {
  unsigned layer;
  int end = 0;
  if (sscanf(name, "layer.%u.attention.weights%n", &layer, &end) == 1 && end && !name[end])
    snprintf(to, size, "attention.%u", layer);
  else
    snprintf(to, size, "%s", name);
}

static heed_status collect(cli_state *cli, eval_job *job, const char *name, cli_tensors *to) {
  float *data;
  heed_shape shape;
  char saved[64];
  CLI_TRY(cli_pipeline_read(cli, &job->pipeline, name, &data, &shape));
  saved_name(name, saved, sizeof saved);
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
  const cli_tensors *lists[] = {&job->tensors, &job->hidden};
  char name[32];
  snprintf(name, sizeof name, "attention.%u", layer);
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < lists[k]->count; i++)
      if (strcmp(lists[k]->tensor[i].name, name) == 0) return &lists[k]->tensor[i];
  return NULL;
}

/* [L, B, H, N, N] in the tensors gathered -> rollout [B, N, N]. */
static heed_status add_rollout(cli_state *cli, eval_job *job) {
  const heed_model_info *info = &job->pipeline.info;
  const cli_tensor *first = find_map(job, 0);
  if (!first) return HEED_OK;
  const uint32_t batch = first->shape.dim[0], heads = first->shape.dim[1],
                 tokens = first->shape.dim[2];
  const size_t map = (size_t)heads * tokens * tokens, square = (size_t)tokens * tokens;
  float *stack = malloc(info->layers * map * sizeof *stack),
        *rollout = malloc(batch * square * sizeof *rollout);
  heed_status status = stack && rollout ? HEED_OK
                                        : heed_fail_memory(&cli->error, "rollout",
                                                           info->layers * map * sizeof *stack);
  const heed_rollout_desc desc = {
      .struct_size = sizeof desc, .layers = info->layers, .heads = heads, .tokens = tokens};
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    for (uint32_t l = 0; l < info->layers; l++)
      memcpy(stack + l * map, (const float *)find_map(job, l)->data + b * map, map * sizeof *stack);
    status = heed_map_rollout(cli->context, &desc, stack, rollout + b * square, &cli->error);
  }
  free(stack);
  if (status != HEED_OK) {
    free(rollout);
    return status;
  }
  const heed_shape shape = {3, {batch, tokens, tokens}};
  return cli_tensors_take(&job->tensors, "rollout", HEED_F32, &shape, rollout, &cli->error);
}

static heed_status evaluate(cli_state *cli, eval_job *job, cli_choice *choice, const char *taps) {
  cli_pipeline *pipeline = &job->pipeline;
  if (job->shape.dim[1] != pipeline->info.channels)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "pixel_values: wrong number of channels (found %u, expected %u)",
                     job->shape.dim[1], pipeline->info.channels);
  if (job->shape.dim[2] < pipeline->info.patch || job->shape.dim[3] < pipeline->info.patch)
    return heed_fail(
        &cli->error, HEED_INVALID_FILE,
        "pixel_values: smaller than a patch (found %ux%u pixels, expected at least %ux%u)",
        job->shape.dim[3], job->shape.dim[2], pipeline->info.patch, pipeline->info.patch);
  CLI_TRY(list_taps(cli, job, taps));
  CLI_TRY(add_hidden(cli, job));
  pipeline->tap_names = (const char *const *)job->names;
  pipeline->tap_count = job->name_count;
  pipeline->build.batch = job->shape.dim[0];
  pipeline->build.height = job->shape.dim[2];
  pipeline->build.width = job->shape.dim[3];
  CLI_TRY(cli_pipeline_run(cli, pipeline, choice, job->pixels));
  static const char *const outputs[] = {"logits", "last_hidden_state", "pooler_output",
                                        "image_embeds"};
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
    if (heed_graph_find(pipeline->graph, outputs[i]).id)
      CLI_TRY(collect(cli, job, outputs[i], &job->tensors));
  for (uint32_t i = 0; i < job->name_count; i++)
    CLI_TRY(collect(cli, job, job->names[i], i < job->kept ? &job->tensors : &job->hidden));
  return job->rollout ? add_rollout(cli, job) : HEED_OK;
}

static int run(cli_state *cli, int argc, char **argv) {
  cli_choice choice = CLI_CHOICE_INIT;
  const char *out = NULL, *taps = "all";
  cli_words words;
  const cli_option options[] = {
      {"-o", CLI_TEXT, &out, "OUT.safetensors", "file for the results (required)"},
      {"--taps", CLI_TEXT, &taps, "all|none|NAME,...",
       "values to save besides the outputs: attention.N, rollout or any value of the graph "
       "(default: all = attention.N and rollout)"},
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
  eval_job job = {0};
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", words.word[0]},
                            {CLI_READ, "the input", words.word[1]},
                            {CLI_WRITTEN, "-o", out}};
  heed_status status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  if (status == HEED_OK) status = cli_pipeline_load(cli, &job.pipeline, words.word[0]);
  if (status == HEED_OK) status = read_pixels(cli, &job, words.word[1]);
  if (status == HEED_OK) status = cli_choice_open(cli, &choice);
  if (status == HEED_OK) status = evaluate(cli, &job, &choice, taps);
  if (status == HEED_OK) status = cli_tensors_save(cli, &job.tensors, NULL, 0, out);
  cli_pipeline_close(&job.pipeline);
  cli_choice_close(&choice);
  cli_tensors_clear(&job.tensors);
  cli_tensors_clear(&job.hidden);
  for (uint32_t i = 0; i < job.name_count; i++) free(job.names[i]);
  free(job.names);
  free(job.pixels);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_eval = {"eval",
                                "run a model on tensors (pixel_values) and save its outputs", run};
