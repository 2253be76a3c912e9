/* heed explain: what a model's answer rests on, by named methods: tensors in, tensors out. */
#include <stdlib.h>
#include <string.h>

#include "session/pipeline.h"
#include "session/text_tower.h"
#include "terminal/confine.h"
#include "terminal/paths.h"
#include "terminal/tensors.h"

enum { MOST_INPUTS = 16, MOST_PERCENTAGES = 100 };

typedef struct explain_job {
  cli_pipeline pipeline, text; /* of which models and files are used */
  heed_named_tensor input[MOST_INPUTS];
  void *data[MOST_INPUTS];
  uint32_t count;
  double percent[MOST_PERCENTAGES];
  heed_explain_desc desc;
  heed_explanation *explanation;
} explain_job;

/* A tensor of the file as heed_explain takes it: floats as F32, U8 and I32 as they are. */
static heed_status read_input(cli_state *cli, explain_job *job, const heed_tensor_file *file,
                              const char *name) {
  const heed_file_tensor *tensor = heed_tensor_file_find(file, name);
  if (!tensor || job->count == MOST_INPUTS) return HEED_OK;
  if (tensor->unsupported)
    return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: invalid tensor (found %s; %s)", name,
                     tensor->dtype_name, tensor->unsupported);
  const bool whole =
      tensor->dtype == HEED_I32 || tensor->dtype == HEED_U8 || tensor->dtype == HEED_I8;
  const heed_dtype dtype = whole ? tensor->dtype : HEED_F32;
  const size_t size = heed_dtype_size(dtype);
  void *data = tensor->count <= SIZE_MAX / size ? malloc((size_t)tensor->count * size + 1) : NULL;
  if (!data) return heed_fail_memory(&cli->error, name, (size_t)tensor->count * size);
  job->data[job->count] = data;
  job->input[job->count++] = (heed_named_tensor){name, dtype, tensor->shape, data};
  return heed_tensor_file_read(file, tensor, 0, tensor->count, data, &cli->error);
}

static heed_status read_inputs(cli_state *cli, explain_job *job, const char *path) {
  heed_tensor_file *file;
  CLI_TRY(heed_tensor_file_open(cli->context, path, NULL, &file, &cli->error));
  heed_status status = HEED_OK;
  const char *name;
  for (uint32_t i = 0; (name = heed_explain_input_name(i)) && status == HEED_OK; i++)
    status = read_input(cli, job, file, name);
  heed_tensor_file_destroy(file);
  return status;
}

static bool has_input(const explain_job *job, const char *name) {
  for (uint32_t i = 0; i < job->count; i++)
    if (strcmp(job->input[i].name, name) == 0) return true;
  return false;
}

static heed_status read_layer(cli_state *cli, explain_job *job, const char *layer) {
  if (!layer) return HEED_OK;
  job->desc.layer_given = true;
  if (cli_read_number(layer, UINT32_MAX, &job->desc.layer) &&
      job->desc.layer < job->pipeline.info.layers)
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--layer: out of range (found \"%s\", expected 0 to %u)", layer,
                   job->pipeline.info.layers - 1);
}

static heed_status read_ig_steps(cli_state *cli, explain_job *job, const char *steps) {
  if (!steps ||
      (cli_read_number(steps, HEED_IG_MOST_STEPS, &job->desc.ig_steps) && job->desc.ig_steps))
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "--ig-steps: out of range (found \"%s\", expected 1 to %d)", steps,
                   HEED_IG_MOST_STEPS);
}

/* "10,30,50" */
static heed_status read_percent(cli_state *cli, explain_job *job, const char *list) {
  const char *at = list;
  for (uint32_t i = 0; at && i < MOST_PERCENTAGES; i++) {
    if (!cli_take_decimal(&at, &job->percent[i])) break;
    job->desc.percent = job->percent;
    job->desc.percent_count = i + 1;
    if (!*at) return HEED_OK;
    if (*at++ != ',') break;
  }
  return !list ? HEED_OK
               : heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                           "--percent: invalid list (found \"%s\", expected up to %d numbers such "
                           "as 10,30,50)",
                           list, (int)MOST_PERCENTAGES);
}

static heed_status explain(cli_state *cli, explain_job *job, cli_choice *choice, const char *model,
                           const char *in, const char *layer) {
  CLI_TRY(read_inputs(cli, job, in));
  CLI_TRY(cli_pipeline_load(cli, &job->pipeline, model));
  if (job->pipeline.as_graph)
    return heed_fail(&cli->error, HEED_UNSUPPORTED,
                     "%s: an ONNX graph has no layers to explain (expected weights of a vision "
                     "transformer)",
                     model);
  if (has_input(job, "input_ids")) CLI_TRY(cli_text_load(cli, &job->text, model));
  CLI_TRY(read_layer(cli, job, layer));
  CLI_TRY(cli_choice_open(cli, choice));
  job->desc.model = job->pipeline.model;
  job->desc.text = job->text.model;
  job->desc.inputs = job->input;
  job->desc.input_count = job->count;
  for (;;) {
    job->desc.backend = choice->opened;
    const heed_status status =
        heed_explain(cli->context, &job->desc, &job->explanation, &cli->error);
    if (status == HEED_OK) return HEED_OK;
    if (!cli_choice_fall_back(cli, choice, status)) return status;
  }
}

static heed_status save(cli_state *cli, const explain_job *job, const char *out) {
  cli_tensors tensors = {0};
  const heed_named_tensor *tensor;
  heed_status status = HEED_OK;
  for (uint32_t i = 0;
       status == HEED_OK && (tensor = heed_explanation_get(job->explanation, i)) != NULL; i++)
    status = cli_tensors_lend(&tensors, tensor->name, tensor->dtype, &tensor->shape, tensor->data,
                              &cli->error);
  if (status == HEED_OK) status = cli_tensors_save(cli, &tensors, NULL, 0, out);
  cli_tensors_clear(&tensors);
  return status;
}

/* What --help says of --methods. */
static const char *list_methods(char *to, size_t size) {
  const char *name;
  size_t at = (size_t)snprintf(to, size, "what to compute beside the score (required):");
  for (uint32_t i = 0; (name = heed_explain_method_name(i)) != NULL && at < size; i++)
    at += (size_t)snprintf(to + at, size - at, "%s %s", i ? "," : "", name);
  return to;
}

static int run(cli_state *cli, int argc, char **argv) {
  cli_choice choice = CLI_CHOICE_INIT;
  const char *out = NULL, *file = NULL, *methods = NULL, *target = NULL, *layer = NULL,
             *ig_steps = NULL, *sites = NULL, *heads = NULL, *percent = NULL;
  bool source_mean = false;
  uint32_t steps = 0, flip_pixels = 0, clusters = 0, square = 0;
  char chosen[HEED_PATH_SIZE];
  cli_words words;
  const cli_option options[] = {
      {"-o", CLI_TENSORS, &out, "OUT.safetensors|.npz|-",
       "file for the results (required); -: .safetensors to stdout, and text to stderr"},
      {"--methods", CLI_TEXT, &methods, "NAME,...", list_methods((char[512]){0}, 512)},
      {"--target", CLI_TEXT, &target, "N|N-M|vector|STATE|LABEL",
       "the score: a logit by number or label, the difference of two, target.vector times "
       "pooler_output, layer.l.output[t,c] or embeddings[t,c] (default: each picture's largest "
       "logit)"},
      {"--layer", CLI_TEXT, &layer, "L",
       "take features after layer L, from 0 (default: last_hidden_state)"},
      {"--ig-steps", CLI_TEXT, &ig_steps, "N", "nodes of ig (default: 50)"},
      {"--sites", CLI_TEXT, &sites, "states,heads,mlps,levels",
       "what patch puts in: some of these; levels: all states of one (default: the first three)"},
      {"--source-mean", CLI_FLAG, &source_mean, NULL,
       "patch: put in the mean over all pictures of source.pixel_values"},
      {"--heads", CLI_TEXT, &heads, "LAYER.HEAD,...",
       "ablation: heads that give zeros or, with source.pixel_values, the mean of what they give "
       "there"},
      {"--square", CLI_NUMBER, &square, "N",
       "occlusion: patches of a side of a square that is covered (default: 2)"},
      {"--clusters", CLI_NUMBER, &clusters, "K", "groups of kmeans (default: 5)"},
      {"--steps", CLI_NUMBER, &steps, "K", "steps of deletion and insertion (default: 10)"},
      {"--flip-pixels", CLI_NUMBER, &flip_pixels, "N", "pixels a step of flipping (default: 1)"},
      {"--percent", CLI_TEXT, &percent, "P,...",
       "percentages of pixels that road replaces, below 100 (default: 1,3,...,99)"},
      CLI_FILE_OPTION(file),
      CLI_WEIGHTS_OPTIONS(cli),
      CLI_SANDBOX_OPTION(cli),
      CLI_CHOICE_OPTIONS(choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code =
      cli_parse(cli, "explain MODEL IN.safetensors -o OUT.safetensors --methods NAME,... [options]",
                options, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count != 2 || !out || !methods) {
    fprintf(stderr,
            "heed explain: wrong arguments (found %u%s%s, expected MODEL IN.safetensors -o "
            "OUT.safetensors --methods NAME,...)\n",
            words.count, out ? "" : " and no -o", methods ? "" : " and no --methods");
    return CLI_USAGE;
  }
  const char *model = cli_model_file(words.word[0], file, chosen);
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", model},
                            {CLI_READ, "the input", words.word[1]},
                            {CLI_WRITTEN, "-o", out}};
  explain_job job = {.desc = {.struct_size = sizeof job.desc,
                              .methods = methods,
                              .target = target,
                              .sites = sites,
                              .source_mean = source_mean,
                              .steps = steps,
                              .flip_pixels = flip_pixels,
                              .clusters = clusters,
                              .square = square,
                              .heads = heads}};
  heed_status status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  if (status == HEED_OK) status = read_ig_steps(cli, &job, ig_steps);
  if (status == HEED_OK) status = read_percent(cli, &job, percent);
  if (status == HEED_OK) status = explain(cli, &job, &choice, model, words.word[1], layer);
  if (status == HEED_OK) status = save(cli, &job, out);
  heed_explanation_destroy(job.explanation);
  cli_pipeline_close(&job.pipeline);
  cli_pipeline_close(&job.text);
  for (uint32_t i = 0; i < job.count; i++) free(job.data[i]);
  cli_choice_close(&choice);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_explain = {"explain",
                                   "explain a model's answer by named methods, as tensors", run};
