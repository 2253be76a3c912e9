/* Models that are only a shape: a safetensors file whose header is real and whose data is a hash of
 * the offset. */
#include "synthetic.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  char name[3];
  uint32_t width, heads, layers;
} sizes[] = {{"ti", 192, 3, 12}, {"s", 384, 6, 12}, {"b", 768, 12, 12}, {"l", 1024, 16, 24}};

#define HEADER_CAPACITY (256u << 10)

typedef struct header_writer {
  char *text;
  size_t length;
  uint64_t offset; /* of the next tensor's data */
} header_writer;

/* Appends one F32 tensor; dims as "768,3,16,16". */
static void add_tensor(header_writer *w, uint64_t elements, const char *dims, const char *format,
                       ...) {
  char name[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(name, sizeof name, format, arguments);
  va_end(arguments);
  const uint64_t end = w->offset + 4 * elements;
  w->length += (size_t)snprintf(
      w->text + w->length, HEADER_CAPACITY - w->length,
      "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}",
      w->offset ? "," : "{", name, dims, (unsigned long long)w->offset, (unsigned long long)end);
  w->offset = end;
}

/* weight [rows, columns] and bias [rows] of one linear map. */
static void add_linear(header_writer *w, uint32_t rows, uint32_t columns, const char *prefix) {
  char dims[32];
  snprintf(dims, sizeof dims, "%u,%u", rows, columns);
  add_tensor(w, (uint64_t)rows * columns, dims, "%s.weight", prefix);
  snprintf(dims, sizeof dims, "%u", rows);
  add_tensor(w, rows, dims, "%s.bias", prefix);
}

static void add_norm(header_writer *w, uint32_t width, const char *prefix) {
  char dims[16];
  snprintf(dims, sizeof dims, "%u", width);
  add_tensor(w, width, dims, "%s.weight", prefix);
  add_tensor(w, width, dims, "%s.bias", prefix);
}

static void add_layer(header_writer *w, uint32_t layer, uint32_t width) {
  static const char *const square[] = {"attention.attention.query", "attention.attention.key",
                                       "attention.attention.value", "attention.output.dense"};
  char prefix[96];
  for (size_t i = 0; i < 4; i++) {
    snprintf(prefix, sizeof prefix, "vit.encoder.layer.%u.%s", layer, square[i]);
    add_linear(w, width, width, prefix);
  }
  snprintf(prefix, sizeof prefix, "vit.encoder.layer.%u.intermediate.dense", layer);
  add_linear(w, 4 * width, width, prefix);
  snprintf(prefix, sizeof prefix, "vit.encoder.layer.%u.output.dense", layer);
  add_linear(w, width, 4 * width, prefix);
  snprintf(prefix, sizeof prefix, "vit.encoder.layer.%u.layernorm_before", layer);
  add_norm(w, width, prefix);
  snprintf(prefix, sizeof prefix, "vit.encoder.layer.%u.layernorm_after", layer);
  add_norm(w, width, prefix);
}

static void write_header(header_writer *w, uint32_t width, uint32_t layers) {
  char dims[48];
  snprintf(dims, sizeof dims, "1,1,%u", width);
  add_tensor(w, width, dims, "vit.embeddings.cls_token");
  snprintf(dims, sizeof dims, "1,197,%u", width);
  add_tensor(w, (uint64_t)197 * width, dims, "vit.embeddings.position_embeddings");
  snprintf(dims, sizeof dims, "%u,3,16,16", width);
  add_tensor(w, (uint64_t)768 * width, dims, "vit.embeddings.patch_embeddings.projection.weight");
  snprintf(dims, sizeof dims, "%u", width);
  add_tensor(w, width, dims, "vit.embeddings.patch_embeddings.projection.bias");
  for (uint32_t i = 0; i < layers; i++) add_layer(w, i, width);
  add_norm(w, width, "vit.layernorm");
  add_linear(w, 1000, width, "classifier");
  w->length += (size_t)snprintf(w->text + w->length, HEADER_CAPACITY - w->length, "}");
}

/* Element i: uniform in (-0.05, 0.05), by a 64-bit mix of i (splitmix64). */
static float element(uint64_t i) {
  uint64_t x = i + 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return ((float)(x >> 40) / 16777216.0f - 0.5f) * 0.1f;
}

static heed_status read_synthetic(void *user, uint64_t offset, void *to, size_t count,
                                  heed_error *error) {
  (void)error;
  const cli_synthetic *synthetic = user;
  unsigned char *at = to;
  while (count > 0) {
    size_t take;
    if (offset < synthetic->header_size) {
      take = synthetic->header_size - offset < count ? (size_t)(synthetic->header_size - offset)
                                                     : count;
      memcpy(at, synthetic->header + offset, take);
    } else {
      const uint64_t data = offset - synthetic->header_size;
      const float value = element(data / 4);
      take = 4 - data % 4 < count ? (size_t)(4 - data % 4) : count;
      memcpy(at, (const char *)&value + data % 4, take);
    }
    at += take;
    offset += take;
    count -= take;
  }
  return HEED_OK;
}

heed_status cli_synthetic_open(cli_state *cli, const char *name, cli_synthetic *synthetic,
                               heed_model_file files[2]) {
  size_t found = 0;
  char small[4] = "";
  for (size_t i = 0; i < 3 && name[i]; i++)
    small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
  while (found < 4 && strcmp(small, sizes[found].name) != 0) found++;
  if (found == 4)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "--vit: unknown size (found \"%s\", expected Ti, S, B or L)", name);
  header_writer w = {malloc(HEADER_CAPACITY + 8), 8, 0};
  if (!w.text) return heed_fail_memory(&cli->error, "--vit", HEADER_CAPACITY);
  write_header(&w, sizes[found].width, sizes[found].layers);
  const uint64_t length = w.length - 8;
  for (size_t i = 0; i < 8; i++) w.text[i] = (char)(length >> (8 * i));
  synthetic->header = w.text;
  synthetic->header_size = w.length;
  const int config =
      snprintf(synthetic->config, sizeof synthetic->config,
               "{\"model_type\":\"vit\",\"image_size\":224,\"patch_size\":16,\"num_channels\":3,"
               "\"hidden_size\":%u,\"num_hidden_layers\":%u,"
               "\"num_attention_heads\":%u,\"intermediate_size\":%u,\"hidden_act\":\"gelu\","
               "\"layer_norm_eps\":1e-12,\"qkv_bias\":true}",
               sizes[found].width, sizes[found].layers, sizes[found].heads, 4 * sizes[found].width);
  files[0] = (heed_model_file){"config.json", {(uint64_t)config, synthetic->config, NULL, NULL}};
  files[1] = (heed_model_file){"model.safetensors",
                               {w.length + w.offset, NULL, read_synthetic, synthetic}};
  return HEED_OK;
}

heed_status cli_synthetic_load(cli_state *cli, const char *name, cli_synthetic *synthetic,
                               cli_pipeline *pipeline) {
  CLI_TRY(cli_synthetic_open(cli, name, synthetic, pipeline->built_in));
  const heed_model_desc desc = {sizeof desc, pipeline->built_in, 2};
  CLI_TRY(heed_model_open(cli->context, &desc, &pipeline->model, &cli->error));
  heed_model_get_info(pipeline->model, &pipeline->info);
  return HEED_OK;
}

void cli_synthetic_close(cli_synthetic *synthetic) { free(synthetic->header); }
