/* heed run with --tokens or --features: a source through an encoder-decoder; the decoded tokens,
 * logits and attention out. */
#include "sequence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/sequences.h"
#include "session/pipeline.h"
#include "terminal/json_out.h"
#include "terminal/paths.h"
#include "terminal/standard_out.h"
#include "terminal/tensors.h"

typedef struct sequence_job {
  cli_pipeline pipeline;
  heed_model_info info;
  void *source; /* I32 [1, S] or F32 [1, S, F] */
  size_t source_bytes;
  heed_shape source_shape;
  heed_decoder *decoder;
  const heed_backend *backend; /* that computed the results */
  cli_tensors maps;            /* encoder.i.self, decoder.i.self, decoder.i.cross */
} sequence_job;

/* --------------------------------------------------------------------------------------- source */

/* "5,3,9" -> I32 [1, 3]. */
static heed_status parse_tokens(cli_state *cli, sequence_job *job, const char *text) {
  uint32_t count = 0;
  int32_t *ids = calloc(strlen(text) / 2 + 1, sizeof *ids);
  if (!ids) return heed_fail_memory(&cli->error, "--tokens", strlen(text));
  job->source = ids;
  for (const char *at = text;; at++) {
    char number[16] = "";
    uint32_t id;
    const size_t length = strcspn(at, ",");
    if (length < sizeof number) memcpy(number, at, length);
    if (!cli_read_number(number, INT32_MAX, &id))
      return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                       "--tokens: invalid list of token ids (found \"%.60s\", expected numbers and "
                       "commas as 5,3,9)",
                       text);
    ids[count++] = (int32_t)id;
    at += length;
    if (!*at) break;
  }
  job->source_shape = (heed_shape){2, {1, count}};
  job->source_bytes = count * sizeof *ids;
  return HEED_OK;
}

static heed_status take_features(cli_state *cli, sequence_job *job, const heed_tensor_file *file,
                                 const char *path) {
  char text[HEED_SHAPE_TEXT_SIZE];
  const heed_file_tensor *tensor = heed_tensor_file_find(file, "source");
  if (!tensor) return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: missing tensor source", path);
  const heed_shape *shape = &tensor->shape;
  const uint32_t rank = shape->rank;
  const bool fits = (rank == 2 || (rank == 3 && shape->dim[0] == 1)) &&
                    shape->dim[rank - 1] == job->info.features && shape->dim[rank - 2] > 0 &&
                    shape->dim[rank - 2] <= job->info.max_length;
  if (tensor->unsupported || tensor->dtype == HEED_U8 || tensor->dtype == HEED_I8 ||
      tensor->dtype == HEED_I32 || !fits)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: invalid tensor source (found %s %s, expected floats [1 to %u, %u])", path,
                     tensor->dtype_name, tensor->unsupported ? "" : heed_shape_text(shape, text),
                     job->info.max_length, job->info.features);
  job->source_shape = (heed_shape){3, {1, shape->dim[rank - 2], job->info.features}};
  job->source_bytes = (size_t)tensor->count * sizeof(float);
  job->source = malloc(job->source_bytes);
  if (!job->source) return heed_fail_memory(&cli->error, path, job->source_bytes);
  CLI_TRY(heed_tensor_file_read(file, tensor, 0, tensor->count, job->source, &cli->error));
  for (uint64_t i = 0; i < tensor->count; i++)
    if (!isfinite(((const float *)job->source)[i]))
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "%s: non-finite value in tensor source (element %llu)", path,
                       (unsigned long long)i);
  return HEED_OK;
}

static heed_status read_features(cli_state *cli, sequence_job *job, const char *path) {
  heed_tensor_file *file;
  CLI_TRY(heed_tensor_file_open(cli->context, path, NULL, &file, &cli->error));
  const heed_status status = take_features(cli, job, file, path);
  heed_tensor_file_destroy(file);
  return status;
}

static heed_status read_source(cli_state *cli, sequence_job *job, const sequence_options *options) {
  if (!options->tokens == !job->info.features)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "MODEL: wrong kind of source (found %s, expected %s)",
                     options->tokens ? "--tokens" : "--features",
                     options->tokens ? "--features FILE.safetensors" : "--tokens 5,3,9");
  return options->tokens ? parse_tokens(cli, job, options->tokens)
                         : read_features(cli, job, options->features);
}

/* ------------------------------------------------------------------------------------- decoding */

static heed_status collect_maps(cli_state *cli, sequence_job *job) {
  static const struct {
    const char *side, *end;
    heed_decoder_attention which;
  } kinds[] = {{"encoder", "self", HEED_ATTENTION_ENCODER},
               {"decoder", "self", HEED_ATTENTION_DECODER},
               {"decoder", "cross", HEED_ATTENTION_CROSS}};
  const uint32_t layers = job->info.encoder_layers > job->info.decoder_layers
                              ? job->info.encoder_layers
                              : job->info.decoder_layers;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint32_t i = 0; i < layers; i++) {
      const heed_shape shape = heed_decoder_attention_shape(job->decoder, kinds[k].which, i);
      char name[64];
      if (!shape.rank) continue;
      const uint64_t count = heed_shape_count(&shape);
      float *data = malloc((size_t)count * sizeof *data);
      if (!data) return heed_fail_memory(&cli->error, "attention", (size_t)count * sizeof *data);
      snprintf(name, sizeof name, "%s.%u.%s", kinds[k].side, i, kinds[k].end);
      const heed_status status =
          heed_decoder_read_attention(job->decoder, kinds[k].which, i, data, count, &cli->error);
      if (status != HEED_OK) {
        free(data);
        return status;
      }
      CLI_TRY(cli_tensors_take(&job->maps, name, HEED_F32, &shape, data, &cli->error));
    }
  return HEED_OK;
}

static heed_status decode_once(cli_state *cli, sequence_job *job, const sequence_options *options) {
  const heed_decoder_desc desc = {sizeof desc,     1,    job->source_shape.dim[1],
                                  options->length, true, options->json || options->save};
  CLI_TRY(heed_decoder_create(job->pipeline.model, options->choice->opened, &desc, NULL,
                              &job->decoder, &cli->error));
  CLI_TRY(heed_decoder_run(job->decoder, job->source, job->source_bytes, NULL, &cli->error));
  return collect_maps(cli, job);
}

static heed_status decode(cli_state *cli, sequence_job *job, const sequence_options *options) {
  const heed_status status = decode_once(cli, job, options);
  if (status == HEED_OK) return HEED_OK;
  /* The backend must outlive what was made on it. */
  heed_decoder_destroy(job->decoder);
  job->decoder = NULL;
  cli_tensors_clear(&job->maps);
  return cli_choice_fall_back(cli, options->choice, status) ? decode_once(cli, job, options)
                                                            : status;
}

/* -------------------------------------------------------------------------------------- results */

static void print_result(const sequence_job *job) {
  const uint32_t vocabulary = job->info.target_vocabulary;
  uint32_t length;
  const int32_t *tokens = heed_decoder_tokens(job->decoder, &length);
  const float *logits = heed_decoder_logits(job->decoder);
  for (uint32_t t = 0; t < length; t++) printf("%s%d", t ? "," : "", tokens[t]);
  printf("\n%6s %8s %12s\n", "step", "token", "probability");
  for (uint32_t t = 0; t < length; t++)
    printf("%6u %8d %12.4f\n", t, tokens[t],
           heed_probability(logits + (size_t)t * vocabulary, vocabulary, (uint32_t)tokens[t]));
  if (length && tokens[length - 1] != job->info.end)
    printf("(stopped at the maximum length, not by token %d)\n", job->info.end);
}

static void json_ids(json_out *json, const char *key, const int32_t *ids, uint32_t count) {
  json_open(json, key, '[');
  for (uint32_t i = 0; i < count; i++) json_integer(json, NULL, ids[i]);
  json_close(json, ']');
}

/* [1, H, rows, columns] as its shape and its numbers in that order. */
static void json_map(json_out *json, const cli_tensor *map) {
  json_open(json, map->name, '{');
  json_open(json, "shape", '[');
  for (uint32_t i = 1; i < map->shape.rank; i++) json_integer(json, NULL, map->shape.dim[i]);
  json_close(json, ']');
  json_floats(json, "weights", map->data, heed_shape_count(&map->shape));
  json_close(json, '}');
}

static heed_status write_json(void *user, FILE *to, heed_error *error) {
  const sequence_job *job = user;
  uint32_t length;
  const int32_t *tokens = heed_decoder_tokens(job->decoder, &length);
  json_out json = {.file = to};
  (void)error; /* heed_file_stream reports writes that fail */
  json_begin(&json);
  json_text(&json, "family", job->info.family);
  json_integer(&json, "heads", job->info.heads);
  json_text(&json, "backend", heed_backend_name(job->backend));
  json_text(&json, "device", heed_backend_device(job->backend));
  if (!job->info.features) json_ids(&json, "source", job->source, job->source_shape.dim[1]);
  json_integer(&json, "source_length", job->source_shape.dim[1]);
  json_ids(&json, "tokens", tokens, length);
  json_floats(&json, "logits", heed_decoder_logits(job->decoder),
              (uint64_t)length * job->info.target_vocabulary);
  json_open(&json, "attention", '{');
  for (size_t i = 0; i < job->maps.count; i++) json_map(&json, &job->maps.tensor[i]);
  json_close(&json, '}');
  json_close(&json, '}');
  fputc('\n', to);
  return HEED_OK;
}

/* The maps already stand in job->maps. */
static heed_status save_tensors(cli_state *cli, sequence_job *job, const char *path) {
  uint32_t length;
  const int32_t *tokens = heed_decoder_tokens(job->decoder, &length);
  const heed_shape ids = {2, {1, length}}, logits = {3, {1, length, job->info.target_vocabulary}};
  CLI_TRY(cli_tensors_add(&job->maps, "source", job->info.features ? HEED_F32 : HEED_I32,
                          &job->source_shape, job->source, &cli->error));
  CLI_TRY(cli_tensors_add(&job->maps, "tokens", HEED_I32, &ids, tokens, &cli->error));
  CLI_TRY(cli_tensors_add(&job->maps, "logits", HEED_F32, &logits,
                          heed_decoder_logits(job->decoder), &cli->error));
  return cli_tensors_save(cli, &job->maps, NULL, 0, path);
}

static heed_status give_results(cli_state *cli, sequence_job *job,
                                const sequence_options *options) {
  job->backend = options->choice->opened;
  if (options->json) CLI_TRY(cli_output_write(options->json, write_json, job, &cli->error));
  if (options->save) CLI_TRY(save_tensors(cli, job, options->save));
  print_result(job);
  if (options->json) printf("json: %s\n", CLI_SHOWN(options->json));
  if (options->save) printf("tensors: %s\n", CLI_SHOWN(options->save));
  return HEED_OK;
}

heed_status sequence_run(cli_state *cli, const sequence_options *options, const char *model) {
  sequence_job job = {.source = NULL};
  const cli_path paths[] = {{CLI_READ_MODEL, "the model's", model},
                            {CLI_READ, "the source", options->features},
                            {CLI_WRITTEN, "--json", options->json},
                            {CLI_WRITTEN, "--save", options->save}};
  heed_status status = cli_check_paths(cli, paths, sizeof paths / sizeof *paths);
  if (status == HEED_OK) status = cli_pipeline_load_sequence(cli, &job.pipeline, model);
  if (status == HEED_OK) {
    job.info = job.pipeline.info;
    status = read_source(cli, &job, options);
  }
  if (status == HEED_OK) status = cli_choice_open(cli, options->choice);
  if (status == HEED_OK) status = decode(cli, &job, options);
  if (status == HEED_OK) status = give_results(cli, &job, options);
  heed_decoder_destroy(job.decoder);
  cli_tensors_clear(&job.maps);
  free(job.source);
  cli_pipeline_close(&job.pipeline);
  cli_choice_close(options->choice);
  return status;
}
