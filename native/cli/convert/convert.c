/* heed convert: a model's folder again, its linear weights in 8 or 16 bits. The folder is made
 * beside its place and renamed when it is whole. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/names.h"
#include "files/os.h"
#include "session/embedded.h"
#include "session/pipeline.h"
#include "session/sha256.h"
#include "terminal/confine.h"
#include "terminal/options.h"
#include "terminal/paths.h"

#define WEIGHTS "model.safetensors"
#define MOST_CONFIG_BYTES (64u << 20)
#define MOST_FILES 512

/* What other programs read to know how the weights are stored (docs/quantisation.md): the first up
 * to the format of activations. */
#define DESCRIBED                                                                                \
  "\"quantization_config\": {\"quant_method\": \"compressed-tensors\", \"format\": "             \
  "\"int-quantized\", \"quantization_status\": \"compressed\", \"ignore\": "                     \
  "[\"re:.*classifier.*\", \"re:.*head.*\", \"re:.*pooler.*\", \"re:.*projection$\"], "          \
  "\"config_groups\": {\"group_0\": {\"targets\": [\"Linear\"], \"weights\": {\"num_bits\": 8, " \
  "\"type\": \"int\", \"symmetric\": true, \"strategy\": \"channel\", \"dynamic\": false}, "     \
  "\"input_activations\": "
static const char in_int8[] =
    DESCRIBED "{\"num_bits\": 8, \"type\": \"int\", \"symmetric\": false, "
              "\"strategy\": \"token\", \"dynamic\": true}}}}",
                  in_floats[] = DESCRIBED "null}}}";

typedef struct convert_job {
  cli_state *cli;
  const char *model, *folder;
  heed_storage storage;
  cli_pipeline pipeline;
  char temporary[HEED_PATH_SIZE];
  FILE *to;                  /* the weights on their way */
  char *weights[MOST_FILES]; /* paths of the original's weight files */
  uint32_t weight_count;
  char sha256_text[SHA256_TEXT_SIZE];
  heed_convert_info info;
} convert_job;

/* -------------------------------------------------------------------------------------- original
 */

/* Files beside the weights, which are copied; an index of shards belongs to the weights. */
static bool is_config(const char *name) {
  return (heed_ends_with(name, ".json") && !heed_ends_with(name, ".index.json")) ||
         heed_ends_with(name, ".txt") || heed_ends_with(name, ".model");
}

static heed_status note_weights(void *user, const char *path, heed_error *error) {
  convert_job *job = user;
  if (is_config(path) || heed_ends_with(path, ".json")) return HEED_OK;
  if (job->weight_count == MOST_FILES)
    return heed_fail(error, HEED_INVALID_FILE, "%s: too many weight files (expected at most %d)",
                     job->model, MOST_FILES);
  char *copy = strdup(path);
  if (!copy) return heed_fail_memory(error, path, strlen(path) + 1);
  job->weights[job->weight_count++] = copy;
  return HEED_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static heed_status hash_file(convert_job *job, sha256 *hash, const char *path) {
  char block[1 << 14];
  size_t count;
  FILE *file = heed_os_stream(path, "rb");
  if (!file)
    return heed_fail(&job->cli->error, cli_status_of_errno(errno), "%s: cannot open (%s)", path,
                     strerror(errno));
  while ((count = fread(block, 1, sizeof block, file)) > 0 || cli_interrupted(file))
    sha256_add(hash, block, count);
  const bool good = !ferror(file);
  fclose(file);
  return good ? HEED_OK : heed_fail(&job->cli->error, HEED_IO, "%s: cannot read", path);
}

/* A folder's weights are one file of a known name, whatever lies beside it, or several. */
static void choose_single(convert_job *job) {
  static const char *const names[] = {"model.safetensors", "pytorch_model.bin"};
  for (size_t n = 0; n < 2; n++)
    for (uint32_t i = 0; i < job->weight_count; i++) {
      if (strcmp(heed_last_name(job->weights[i]), names[n]) != 0) continue;
      char *single = job->weights[i];
      job->weights[i] = job->weights[0];
      job->weights[0] = single;
      for (; job->weight_count > 1; job->weight_count--) free(job->weights[job->weight_count - 1]);
      return;
    }
}

/* Of the weight files, one after the other by name. */
static heed_status hash_original(convert_job *job) {
  sha256 hash;
  sha256_begin(&hash);
  if (job->model) {
    CLI_TRY(heed_model_files_each(job->model, note_weights, job, &job->cli->error));
    choose_single(job);
    qsort(job->weights, job->weight_count, sizeof *job->weights, by_name);
  }
  for (uint32_t i = 0; i < job->weight_count; i++) CLI_TRY(hash_file(job, &hash, job->weights[i]));
  for (size_t i = 0; !job->model && i < heed_embedded_model_count; i++)
    if (!is_config(heed_embedded_model[i].name))
      sha256_add(&hash, heed_embedded_model[i].bytes, heed_embedded_model[i].size);
  sha256_end(&hash, job->sha256_text);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------- out
 */

static heed_status path_of(const convert_job *job, const char *name, char path[HEED_PATH_SIZE]) {
  const int length = snprintf(path, HEED_PATH_SIZE, "%s/%s", job->temporary, name);
  if (length > 0 && length < HEED_PATH_SIZE) return HEED_OK;
  return heed_fail(&job->cli->error, HEED_IO, "%s: cannot write (%s)", job->folder,
                   strerror(ENAMETOOLONG));
}

static heed_status read_config(convert_job *job, const heed_model_file *file, char **text,
                               size_t *size) {
  const uint64_t bytes = file->source.size;
  *text = bytes <= MOST_CONFIG_BYTES ? malloc((size_t)bytes + 1) : NULL;
  *size = (size_t)bytes;
  if (!*text) return heed_fail_memory(&job->cli->error, file->name, (size_t)bytes);
  (*text)[bytes] = '\0';
  if (!file->source.bytes)
    return file->source.read(file->source.user, 0, *text, (size_t)bytes, &job->cli->error);
  memcpy(*text, file->source.bytes, (size_t)bytes);
  return HEED_OK;
}

/* The end of the object that begins at `text`, past its brace; NULL: it has none. */
static const char *end_of_object(const char *text) {
  bool quoted = false;
  for (int depth = 0; *text; text++) {
    if (quoted && *text == '\\' && text[1])
      text++;
    else if (*text == '"')
      quoted = !quoted;
    else if (!quoted && *text == '{')
      depth++;
    else if (!quoted && *text == '}' && --depth == 0)
      return text + 1;
  }
  return NULL;
}

/* Takes the quantization_config out of the text, with one comma: it is of the weights before. */
static void take_out_description(char *text) {
  char *begin = strstr(text, "\"quantization_config\""), *open = begin ? strchr(begin, '{') : NULL;
  const char *end = open ? end_of_object(open) : NULL;
  if (!end) return;
  while (begin > text && strchr(" \t\r\n", begin[-1])) begin--;
  if (begin > text && begin[-1] == ',')
    begin--;
  else
    end += strspn(end, " \t\r\n,");
  memmove(begin, end, strlen(end) + 1);
}

/* Writes config.json, its text, with a quantization_config for the new weights as its last key. */
static heed_status write_described(convert_job *job, const char *path, char *text) {
  take_out_description(text);
  const char *end = strrchr(text, '}');
  const bool int8 = job->storage == HEED_STORAGE_INT8;
  size_t length = end ? (size_t)(end - text) : 0;
  if (!end)
    return heed_fail(&job->cli->error, HEED_UNSUPPORTED,
                     "config.json: cannot be completed (found no object)");
  if (!int8 && job->storage != HEED_STORAGE_INT8_FLOAT)
    return heed_file_write(path, text, strlen(text), &job->cli->error);
  while (length && strchr(" \t\r\n", text[length - 1])) length--;
  const size_t room = length + sizeof in_int8 + 8;
  char *whole = malloc(room);
  if (!whole) return heed_fail_memory(&job->cli->error, path, room);
  const int size =
      snprintf(whole, room, "%.*s%s\n  %s\n}\n", (int)length, text,
               length && text[length - 1] == '{' ? "" : ",", int8 ? in_int8 : in_floats);
  const heed_status status = heed_file_write(path, whole, (size_t)size, &job->cli->error);
  free(whole);
  return status;
}

static heed_status write_configs(convert_job *job) {
  const cli_pipeline *pipeline = &job->pipeline;
  const heed_model_desc *desc = job->model ? heed_model_files_desc(pipeline->files) : NULL;
  const heed_model_file *files = desc ? desc->files : pipeline->built_in;
  const uint32_t count = desc ? desc->file_count : (uint32_t)heed_embedded_model_count;
  for (uint32_t i = 0; i < count; i++) {
    char path[HEED_PATH_SIZE], *text;
    size_t size;
    if (!is_config(files[i].name)) continue;
    CLI_TRY(path_of(job, files[i].name, path));
    heed_status status = read_config(job, &files[i], &text, &size);
    if (status == HEED_OK)
      status = strcmp(files[i].name, "config.json") == 0
                   ? write_described(job, path, text)
                   : heed_file_write(path, text, size, &job->cli->error);
    free(text);
    CLI_TRY(status);
  }
  return HEED_OK;
}

/* Ends the conversion at the first write that fails: its reason is gone later. */
static heed_status put(void *user, const void *bytes, size_t count, heed_error *error) {
  const convert_job *job = user;
  if (cli_signals_arrived()) return heed_fail(error, HEED_CANCELLED, "convert: interrupted");
  if (fwrite(bytes, 1, count, job->to) == count) return HEED_OK;
  return heed_fail(error, cli_status_of_errno(errno),
                   "%s: writing failed (found \"%s\", expected room for the weights)", job->folder,
                   strerror(errno));
}

static heed_status write_weights(void *user, FILE *to, heed_error *error) {
  convert_job *job = user;
  job->to = to;
  const heed_convert_desc desc = {.struct_size = sizeof desc,
                                  .storage = job->storage,
                                  .source_sha256 = job->sha256_text,
                                  .sink = put,
                                  .user = job};
  return heed_model_convert(job->pipeline.model, &desc, &job->info, error);
}

static heed_status make_temporary(convert_job *job) {
  size_t named = strlen(job->folder);
  while (named > 1 && heed_os_separates(job->folder[named - 1])) named--;
  for (int attempt = 0; attempt < 100; attempt++) {
    const int length = snprintf(job->temporary, sizeof job->temporary, "%.*s.%ld-%d.part",
                                (int)named, job->folder, heed_os_process(), attempt);
    errno = ENAMETOOLONG;
    if (length > 0 && (size_t)length < sizeof job->temporary &&
        heed_os_make_folder(job->temporary, 0777))
      return HEED_OK;
    if (errno != EEXIST) break;
  }
  job->temporary[0] = '\0';
  return heed_fail(&job->cli->error, cli_status_of_errno(errno),
                   "%s: cannot create the folder (%s)", job->folder, strerror(errno));
}

/* What was written of a folder that will not be whole. */
static void remove_temporary(const convert_job *job) {
  char path[HEED_PATH_SIZE];
  const heed_model_desc *desc = job->model ? heed_model_files_desc(job->pipeline.files) : NULL;
  const uint32_t count = desc ? desc->file_count : CLI_BUILT_IN_FILES;
  const heed_model_file *files = desc ? desc->files : job->pipeline.built_in;
  if (!job->temporary[0]) return;
  for (uint32_t i = 0; i < count; i++)
    if (files[i].name && path_of(job, files[i].name, path) == HEED_OK) heed_os_remove(path);
  if (path_of(job, WEIGHTS, path) == HEED_OK) heed_os_remove(path);
  heed_os_remove_folder(job->temporary);
}

static heed_status write_folder(convert_job *job) {
  char path[HEED_PATH_SIZE];
  CLI_TRY(write_configs(job));
  CLI_TRY(path_of(job, WEIGHTS, path));
  CLI_TRY(heed_file_stream(path, write_weights, job, &job->cli->error));
  if (heed_os_replace(job->temporary, job->folder)) return HEED_OK;
  return heed_fail(&job->cli->error, cli_status_of_errno(errno),
                   "%s: cannot rename the finished folder (%s)", job->folder, strerror(errno));
}

static heed_status convert(convert_job *job) {
  if (heed_os_is_there(job->folder))
    return heed_fail(&job->cli->error, HEED_INVALID_ARGUMENT,
                     "-o: %s exists already (expected the name of a new folder)", job->folder);
  CLI_TRY(cli_pipeline_load_any(job->cli, &job->pipeline, job->model));
  CLI_TRY(hash_original(job));
  cli_signals_defer(true); /* the folder is removed whole */
  heed_status status = make_temporary(job);
  if (status == HEED_OK) status = write_folder(job);
  if (status != HEED_OK) {
    const heed_error error = job->cli->error;
    remove_temporary(job);
    job->cli->error = error;
  }
  cli_signals_defer(false);
  return status;
}

/* ------------------------------------------------------------------------------------------ verb
 */

static bool find_storage(const char *text, heed_storage *storage) {
  static const char *const names[] = {"int8", "f16", "bf16", "int8-float"};
  for (int i = 0; i < 4; i++)
    if (text && strcmp(text, names[i]) == 0) {
      *storage = (heed_storage)i;
      return true;
    }
  return false;
}

static int run(cli_state *cli, int argc, char **argv) {
  convert_job job = {.cli = cli};
  const char *weights = NULL;
  cli_words words;
  const cli_option table[] = {
      CLI_WEIGHTS_OPTIONS(cli),
      {"-o", CLI_FILE, &job.folder, "FOLDER", "folder to write, which must not exist"},
      CLI_SANDBOX_OPTION(cli),
      {"--weights", CLI_TEXT, &weights, "int8|int8-float|f16|bf16",
       "storage of the weights of attention and MLP"},
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli,
                             "convert [MODEL] -o FOLDER --weights int8|int8-float|f16|bf16 "
                             "[options]\n\n" CLI_MODEL_OR_BUILT_IN,
                             table, argc, argv, &words);
  if (code >= 0) return code;
  if (words.count > 1 || !job.folder || !*job.folder || !find_storage(weights, &job.storage)) {
    fprintf(stderr,
            "heed convert: wrong arguments (found %u models, -o %s, --weights %s, expected at most "
            "one MODEL, -o FOLDER and --weights int8, int8-float, f16 or bf16)\n",
            words.count, job.folder ? CLI_SHOWN(job.folder) : "missing",
            weights ? CLI_SHOWN(weights) : "missing");
    return CLI_USAGE;
  }
  job.model = words.count ? words.word[0] : NULL;
  const heed_status status = convert(&job);
  if (status == HEED_OK) {
    printf("%s: %u of %u tensors in %s, %.2f MB instead of %.2f MB\n", CLI_SHOWN(job.folder),
           job.info.converted, job.info.converted + job.info.kept, weights,
           (double)job.info.bytes_after * 1e-6, (double)job.info.bytes_before * 1e-6);
    if (job.info.left_out)
      printf("left out: %u tensors of a dtype that heed does not read\n", job.info.left_out);
  }
  cli_pipeline_close(&job.pipeline);
  for (uint32_t i = 0; i < job.weight_count; i++) free(job.weights[i]);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_convert = {"convert", "write a model with weights in 8 or 16 bits", run};
