/* Any bytes as a safetensors file, read from memory and through a callback; and as the index of a
 * sharded model. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/header_length.h"
#include "model/vit/role.h"
#include "support/test.h"
#include "support/weights.h"

/* Whether elements of an F64 have a number that F32 has not: then these alone are not read. */
static bool beyond_f32(const uint8_t *data, const heed_safetensors_tensor *tensor, uint64_t first,
                       uint64_t count) {
  if (tensor->unsupported || strcmp(tensor->dtype_name, "F64") != 0) return false;
  for (uint64_t i = first; i < first + count; i++) {
    double number;
    memcpy(&number, data + tensor->offset + i * sizeof number, sizeof number);
    /* half way from the largest float to 2^128, rounding reaches infinity */
    if (isfinite(number) && fabs(number) >= 0x1.ffffffp127) return true;
  }
  return false;
}

static void try_read(const uint8_t *data, const heed_safetensors *file,
                     const heed_safetensors_tensor *tensor, uint64_t first, uint64_t count) {
  heed_error error;
  float values[64];
  const bool refused = tensor->unsupported || beyond_f32(data, tensor, first, count);
  const heed_status wanted = refused ? HEED_UNSUPPORTED : HEED_OK;
  const heed_status found = heed_safetensors_read(file, tensor, first, count, values, &error);
  fuzz_must(found == wanted, "a tensor is read, or not, against its promise");
}

/* What the checks promise: tensors side by side, from the header's end to the file's end, each
 * readable to its last element. */
static void use(const heed_safetensors *file, const uint8_t *data, uint64_t size) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    if (i && tensor->offset != end) abort();
    end = tensor->offset + tensor->bytes;
    if (end > size || heed_safetensors_find(file, tensor->name) != tensor) abort();
    const uint64_t count = tensor->count < 64 ? tensor->count : 64;
    try_read(data, file, tensor, 0, count);
    try_read(data, file, tensor, tensor->count - count, count);
  }
  if (heed_safetensors_count(file) && end != size) abort();
  heed_safetensors_metadata(file, "op");
}

static void open_model(const heed_context *context, const heed_model_file *files, uint32_t count) {
  heed_checkpoint *checkpoint;
  heed_config *config;
  heed_roles roles;
  heed_vit_dimensions dimensions;
  heed_error error;
  if (heed_config_open(context, NULL, 0, HEED_TOWER_VISION, &config, &error) != HEED_OK) return;
  if (heed_checkpoint_open(context, files, count, &checkpoint, &error) == HEED_OK) {
    if (heed_roles_detect(checkpoint, config, &roles, &error) == HEED_OK)
      heed_roles_dimensions(&roles, config, &dimensions, &error);
    heed_checkpoint_destroy(checkpoint);
  }
  heed_config_destroy(config);
}

static void try_file(const uint8_t *data, size_t size);

void fuzz_read(const uint8_t *data, size_t size) {
  unsigned char *repaired = malloc(size ? size : 1);
  if (!repaired) return;
  if (size) memcpy(repaired, data, size);
  fuzz_repair_length(repaired, size);
  try_file(data, size);
  if (size >= 8) try_file(repaired, size);
  free(repaired);
}

void fuzz_change(fuzz_input *input, test_random *random) {
  if (input->size && *input->bytes == '{')
    fuzz_change_json(input, random, NULL);
  else
    fuzz_change_safetensors(input, random);
}

static void try_file(const uint8_t *data, size_t size) {
  static const char small[] =
      "\x38\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}  x";
  test_bytes bytes = {(unsigned char *)(uintptr_t)data, size};
  const heed_source sources[] = {test_source(data, size), fuzz_callback_source(&bytes)};
  heed_context *context;
  heed_error error;
  if (!(context = fuzz_context())) return;
  for (int i = 0; i < 2; i++) {
    heed_safetensors *file;
    if (heed_safetensors_open(context, &sources[i], "f.safetensors", &file, &error) == HEED_OK)
      use(file, data, size);
    heed_safetensors_destroy(file);
  }
  const heed_model_file model = {"model.safetensors", sources[0]};
  const heed_model_file sharded[] = {{"model.safetensors.index.json", sources[0]},
                                     {"a.safetensors", test_source(small, sizeof small - 1)}};
  open_model(context, &model, 1);
  open_model(context, sharded, 2);
  heed_context_destroy(context);
}

#ifndef HEED_LIBFUZZER
#define F32(name, shape, begin, end) \
  "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"
#define TIMM                                                                                      \
  "{\"__metadata__\":{\"op\":\"x\"}," F32("blocks.0.norm1.weight", "[2]", 0, 8) "," F32(          \
      "patch_embed.proj.weight", "[2,1,1,1]", 8,                                                  \
      16) "," F32("blocks.0.mlp.fc1.weight", "[1,2]", 16,                                         \
                  24) "," F32("pos_embed", "[1,2,2]", 24, 40) "," F32("cls_token", "[1,1,2]", 40, \
                                                                      48) "}"

int main(int argc, char **argv) {
  static const char index[] =
      "{\"metadata\":{\"total_size\":1},\"weight_map\":{\"a\":\"a.safetensors\"}}";
  static const char *const words[] = {
      "{",
      "}",
      "[",
      "]",
      ",",
      "\"__metadata__\":{},",
      "F16",
      "BF16",
      "F4",
      "I64",
      "U8",
      "F6_E2M3",
      "\"shape\":[0],",
      "data_offsets",
      "[0,0]",
      "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
      "\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]},",
      NULL};
  const test_bytes a =
      test_safetensors("{" F32("a", "[2,2]", 0, 16) "," F32("b", "[]", 16, 20) "}", 20);
  const test_bytes b = test_safetensors(TIMM, 48);
  const test_bytes c =
      test_safetensors("{\"h\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[0,6]},\"i\":{"
                       "\"dtype\":\"I64\",\"shape\":[1,0],\"data_offsets\":[6,6]}}",
                       6);
  const test_bytes d = test_safetensors("{}", 0);
  const fuzz_seed seeds[] = {{a.data, a.size},
                             {b.data, b.size},
                             {c.data, c.size},
                             {d.data, d.size},
                             {index, sizeof index - 1}};
  const int status = fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
  free(a.data);
  free(b.data);
  free(c.data);
  free(d.data);
  return status;
}
#endif
