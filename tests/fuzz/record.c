/* Keeps what tests read, as a corpus of the fuzzers: linked into each test with HEED_TEST_RECORD,
 * by a linker that puts these functions in between. HEED_FUZZ_RECORD names the folder; each fuzzer
 * has a folder in it, and a file the hash of its bytes as its name. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "fuzz/folder.h"
#include "fuzz/onnx_names.h"
#include "heed/check.h"
#include "heed/native.h"
#include "heed/onnx.h"
#include "heed/pickle.h"
#include "heed/scene_json.h"
#include "heed/sequences.h"
#include "heed/tokenizer.h"
#include "model/config/config.h"
#include "model/files/checkpoint.h"
#include "model/files/safetensors.h"

#define MOST 49152u
#define MANY 1000u

/* How many inputs of a fuzzer this program has read. */
static uint32_t *seen_of(const char *fuzzer) {
  static struct {
    const char *fuzzer;
    uint32_t count;
  } seen[16];
  size_t i = 0;
  while (seen[i].fuzzer && strcmp(seen[i].fuzzer, fuzzer) != 0) i++;
  seen[i].fuzzer = fuzzer;
  return &seen[i].count;
}

static void keep(const char *fuzzer, const void *bytes, size_t size) {
  const char *folder = getenv("HEED_FUZZ_RECORD");
  const unsigned char *byte = bytes;
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  char path[4096];
  if (!folder || size == 0 || size > MOST) return;
  for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * UINT64_C(0x100000001B3);
  /* A test that changes each byte of a file makes thousands that are alike. */
  if ((*seen_of(fuzzer))++ >= MANY && hash >> 32 & 15) return;
  snprintf(path, sizeof path, "%s/%s", folder, fuzzer);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/%016llx", folder, fuzzer, (unsigned long long)hash);
  FILE *file = fopen(path, "wxb");
  if (!file) return; /* kept already */
  if (fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
}

/* The bytes of a source from `offset` on, at most `most` of them. Free data; NULL: none. */
static test_bytes read_source(const heed_source *source, uint64_t offset, uint64_t most) {
  heed_error error;
  test_bytes read = {NULL, 0};
  if (offset >= source->size) return read;
  const uint64_t left = source->size - offset, size = left < most ? left : most;
  read.data = malloc((size_t)size);
  if (!read.data) return read;
  read.size = (size_t)size;
  if (source->bytes)
    memcpy(read.data, (const unsigned char *)source->bytes + offset, read.size);
  else if (!source->read ||
           source->read(source->user, offset, read.data, read.size, &error) != HEED_OK)
    read.size = 0;
  return read;
}

static void keep_source(const char *fuzzer, const heed_source *source) {
  if (!source || source->size > MOST) return;
  test_bytes read = read_source(source, 0, MOST);
  keep(fuzzer, read.data, read.size);
  free(read.data);
}

static void append_source(test_bytes *folder, const char *name, const heed_source *source) {
  const size_t length = strlen(name);
  uint64_t offset = 0, size = source->size;
  if (length > 200) return;
  if (length > 12 && !strcmp(name + length - 12, ".safetensors")) {
    test_bytes head = read_source(source, 0, 8);
    offset = 8;
    size = 0;
    for (size_t i = head.size; i-- > 0;) size = size << 8 | head.data[i];
    free(head.data);
  }
  if (size > MOST) return;
  test_bytes read = read_source(source, offset, size);
  fuzz_append_file(folder, name, read.data, read.size);
  free(read.data);
}

static void keep_folder(const char *fuzzer, const heed_model_file *files, uint32_t count,
                        const char *text, size_t length) {
  test_bytes folder = {NULL, 0};
  for (uint32_t i = 0; i < count; i++)
    if (files[i].name) append_source(&folder, files[i].name, &files[i].source);
  if (text) fuzz_append_file(&folder, "text", text, length);
  keep(fuzzer, folder.data, folder.size);
  free(folder.data);
}

/* What was opened last, to have it again with its inputs or a text. */
enum { LAST = 32 };
static struct {
  const void *opened;
  test_bytes bytes;
} last[LAST];
static uint32_t last_count;

static void remember(const void *opened, test_bytes bytes) {
  free(last[last_count % LAST].bytes.data);
  last[last_count % LAST].opened = opened;
  last[last_count++ % LAST].bytes = bytes;
}

static const test_bytes *recall(const void *opened) {
  for (uint32_t i = 1; i <= LAST && i <= last_count; i++)
    if (last[(last_count - i) % LAST].opened == opened) return &last[(last_count - i) % LAST].bytes;
  return NULL;
}

static void keep_inputs(const heed_onnx *file, const heed_source *inputs) {
  const test_bytes *onnx = recall(file);
  if (!onnx || inputs->size == 0 || inputs->size > 1u << 14) return;
  test_bytes read = read_source(inputs, 0, MOST), both = {NULL, onnx->size + read.size + 5};
  both.data = malloc(both.size);
  if (!both.data) abort();
  memcpy(both.data, onnx->data, onnx->size);
  const unsigned char head[] = {0xFA, 0x7F, (unsigned char)(read.size | 128),
                                (unsigned char)(read.size >> 7 | 128),
                                (unsigned char)(read.size >> 14)};
  memcpy(both.data + onnx->size, head, sizeof head);
  if (read.size) memcpy(both.data + onnx->size + sizeof head, read.data, read.size);
  keep("fuzz_onnx", both.data, both.size);
  free(read.data);
  free(both.data);
}

/* ------------------------------------------------------------------------- what is put in between
 */

#define WRAP(name, parameters, arguments, before) \
  heed_status __real_##name parameters;           \
  heed_status __wrap_##name parameters;           \
  heed_status __wrap_##name parameters {          \
    before;                                       \
    return __real_##name arguments;               \
  }

heed_status __real_heed_onnx_open(heed_context *context, const heed_onnx_desc *desc,
                                  heed_onnx **file, heed_error *error);
heed_status __wrap_heed_onnx_open(heed_context *context, const heed_onnx_desc *desc,
                                  heed_onnx **file, heed_error *error);
heed_status __wrap_heed_onnx_open(heed_context *context, const heed_onnx_desc *desc,
                                  heed_onnx **file, heed_error *error) {
  if (desc) keep_source("fuzz_onnx", &desc->source);
  if (desc) keep_source("fuzz_vision", &desc->source);
  const heed_status status = __real_heed_onnx_open(context, desc, file, error);
  if (status == HEED_OK && desc->source.size <= MOST)
    remember(*file, read_source(&desc->source, 0, MOST));
  return status;
}

WRAP(heed_onnx_evaluate,
     (heed_onnx * file, const heed_onnx_evaluate_desc *desc, heed_onnx_result **result,
      heed_error *error),
     (file, desc, result, error), if (desc) keep_inputs(file, &desc->inputs))
WRAP(heed_onnx_lower,
     (heed_onnx * file, const heed_onnx_lower_desc *desc, heed_onnx_lowered **lowered,
      heed_error *error),
     (file, desc, lowered, error), if (desc) keep_inputs(file, &desc->inputs))
WRAP(heed_pickle_open_key,
     (heed_context * context, const heed_source *source, const char *name, const char *key,
      heed_pickle **file, heed_error *error),
     (context, source, name, key, file, error), keep_source("fuzz_pickle", source))
WRAP(heed_pickle_open,
     (heed_context * context, const heed_source *source, const char *name, heed_pickle **file,
      heed_error *error),
     (context, source, name, file, error), keep_source("fuzz_pickle", source))
WRAP(heed_safetensors_open,
     (const heed_context *context, const heed_source *source, const char *name,
      heed_safetensors **file, heed_error *error),
     (context, source, name, file, error), keep_source("fuzz_safetensors", source))
WRAP(heed_json_parse,
     (const heed_context *context, const void *text, size_t size, const char *where,
      heed_json **json, heed_error *error),
     (context, text, size, where, json, error), keep("fuzz_json", text, size))
WRAP(heed_image_decode_within,
     (heed_context * context, const char *name, const void *bytes, size_t size,
      const heed_image_limits *limits, heed_picture *picture, heed_error *error),
     (context, name, bytes, size, limits, picture, error), keep("fuzz_image", bytes, size))
WRAP(heed_image_decode,
     (heed_context * context, const char *name, const void *bytes, size_t size,
      heed_picture *picture, heed_error *error),
     (context, name, bytes, size, picture, error), keep("fuzz_image", bytes, size))
WRAP(heed_check_case,
     (heed_context * context, heed_backend *backend, const void *bytes, size_t size,
      double tolerance, heed_check_take take, void *take_user, heed_check_result *result,
      heed_error *error),
     (context, backend, bytes, size, tolerance, take, take_user, result, error),
     keep("fuzz_case", bytes, size))
WRAP(heed_scene_parse,
     (const heed_context *context, const void *text, size_t size, const char *where,
      heed_scene *scene, heed_error *error),
     (context, text, size, where, scene, error), keep("fuzz_scene", text, size))
WRAP(heed_model_open,
     (heed_context * context, const heed_model_desc *desc, heed_model **model, heed_error *error),
     (context, desc, model, error),
     if (desc) keep_folder("fuzz_folder", desc->files, desc->file_count, NULL, 0))
WRAP(heed_sequence_open,
     (heed_context * context, const heed_model_desc *desc, heed_model **model, heed_error *error),
     (context, desc, model, error),
     if (desc) keep_folder("fuzz_folder", desc->files, desc->file_count, NULL, 0))
WRAP(heed_checkpoint_open,
     (const heed_context *context, const heed_model_file *files, uint32_t count,
      heed_checkpoint **checkpoint, heed_error *error),
     (context, files, count, checkpoint, error), keep_folder("fuzz_folder", files, count, NULL, 0))
WRAP(heed_config_open,
     (const heed_context *context, const heed_model_file *files, uint32_t count, heed_tower tower,
      heed_config **config, heed_error *error),
     (context, files, count, tower, config, error),
     for (uint32_t i = 0; i < count; i++) keep_source("fuzz_json", &files[i].source))

heed_status __real_heed_tokenizer_open(heed_context *context, const heed_model_desc *desc,
                                       heed_tokenizer **tokenizer, heed_error *error);
heed_status __wrap_heed_tokenizer_open(heed_context *context, const heed_model_desc *desc,
                                       heed_tokenizer **tokenizer, heed_error *error);
heed_status __wrap_heed_tokenizer_open(heed_context *context, const heed_model_desc *desc,
                                       heed_tokenizer **tokenizer, heed_error *error) {
  test_bytes folder = {NULL, 0};
  if (desc) keep_folder("fuzz_tokenizer", desc->files, desc->file_count, NULL, 0);
  const heed_status status = __real_heed_tokenizer_open(context, desc, tokenizer, error);
  if (status != HEED_OK) return status;
  for (uint32_t i = 0; i < desc->file_count; i++)
    append_source(&folder, desc->files[i].name, &desc->files[i].source);
  remember(*tokenizer, folder);
  return status;
}

static void keep_text(const heed_tokenizer *tokenizer, const char *text, size_t length) {
  const test_bytes *folder = recall(tokenizer);
  if (!folder || length > 1024 || !folder->data) return;
  test_bytes both = {malloc(folder->size), folder->size};
  if (!both.data) abort();
  memcpy(both.data, folder->data, folder->size);
  fuzz_append_file(&both, "text", text, length);
  keep("fuzz_tokenizer", both.data, both.size);
  free(both.data);
}

WRAP(heed_tokenizer_encode,
     (const heed_tokenizer *tokenizer, const char *text, size_t length, int32_t *ids, uint32_t most,
      uint32_t *count, uint32_t *whole, heed_error *error),
     (tokenizer, text, length, ids, most, count, whole, error), keep_text(tokenizer, text, length))
