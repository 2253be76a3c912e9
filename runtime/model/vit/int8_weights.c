/* int8 weights, from a config and a checkpoint to constants. */
#include "model/vit/int8_weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"

/* The quantization_config; 0: there is none. */
static heed_json_value quantisation(const heed_config *config) {
  const heed_json *json = config->json;
  return json ? heed_json_get(json, heed_json_root(json), "quantization_config") : 0;
}

bool heed_config_float_products(const heed_config *config) {
  const heed_json *json = config->json;
  const heed_json_value about = quantisation(config),
                        groups = about ? heed_json_get(json, about, "config_groups") : 0;
  if (!groups || !heed_json_count(json, groups)) return false;
  for (heed_json_value group = heed_json_first(json, groups); group;
       group = heed_json_next(json, groups, group)) {
    const heed_json_value inputs = heed_json_get(json, group, "input_activations");
    if (inputs && heed_json_kind_of(json, inputs) != HEED_JSON_NULL) return false;
  }
  return true;
}

static const char *text_of(const heed_json *json, heed_json_value object, const char *key) {
  const char *text = "nothing";
  heed_json_string(json, heed_json_get(json, object, key), &text, NULL);
  return text;
}

heed_status heed_config_check_int8(const heed_config *config, const heed_checkpoint *checkpoint,
                                   heed_error *error) {
  bool any = false;
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++)
    any = any || heed_checkpoint_get(checkpoint, i)->scale;
  const heed_json_value object = quantisation(config);
  if (!any) return HEED_OK;
  if (!object) return HEED_OK;
  const char *method = text_of(config->json, object, "quant_method"),
             *format = text_of(config->json, object, "format");
  if (strcmp(method, "compressed-tensors") != 0 || strcmp(format, "int-quantized") != 0)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "config.json: unsupported quantised weights (found %.*s of %.*s, "
                     "expected int-quantized of compressed-tensors)",
                     HEED_CUT(format), HEED_CUT(method));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------ constants */

/* A heed_constant_read of int8; user is a heed_weight. */
static heed_status read_weight(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const heed_weight *weight = user;
  int8_t *out = to;
  for (uint32_t i = 0; i < weight->count && count; i++) {
    const heed_role_ref *part = &weight->part[i];
    if (first >= part->count) {
      first -= part->count;
      continue;
    }
    const uint64_t here = count < part->count - first ? count : part->count - first;
    HEED_TRY(heed_safetensors_read(part->tensor->file, part->tensor->info, part->first + first,
                                   here, out, error));
    out += here;
    count -= here;
    first = 0;
  }
  return HEED_OK;
}

/* Whether all of it is int8 with a scale per row; with more of them it is read as floats. */
static bool is_int8(const heed_weight *weight, const heed_shape *shape) {
  for (uint32_t i = 0; i < weight->count; i++) {
    const heed_role_ref *part = &weight->part[i];
    if (!part->tensor || part->tensor->info->dtype != HEED_I8 || part->stride || part->heads ||
        part->channels || part->block ||
        part->tensor->scale->info->count != part->tensor->info->shape.dim[0])
      return false;
  }
  return shape->rank == 2;
}

static heed_status read_scales(const heed_weight *weight, uint64_t depth, float *scale,
                               heed_error *error) {
  for (uint32_t i = 0; i < weight->count; i++) {
    const heed_role_ref *part = &weight->part[i];
    HEED_TRY(heed_checkpoint_scales(part->tensor, part->first / depth, part->count / depth, scale,
                                    error));
    scale += part->count / depth;
  }
  return HEED_OK;
}

heed_value heed_weight_define_int8(heed_graph *graph, const heed_weight *weight,
                                   const heed_shape *shape, float factor, const float *row_scale) {
  heed_error error;
  if (!is_int8(weight, shape)) return (heed_value){0};
  const uint32_t rows = shape->dim[0];
  heed_weight *kept = heed_graph_keep(graph, weight, sizeof *weight);
  float *scale = kept ? heed_graph_keep(graph, NULL, rows * sizeof *scale) : NULL;
  if (!scale) return (heed_value){0};
  if (read_scales(weight, shape->dim[1], scale, &error) != HEED_OK)
    return heed_graph_fail(graph, &error);
  for (uint32_t row = 0; row < rows; row++)
    scale[row] *= factor * (row_scale ? row_scale[row] : 1.0f);
  const heed_quantised_desc desc = {.struct_size = sizeof desc,
                                    .shape = *shape,
                                    .scale = scale,
                                    .read = read_weight,
                                    .read_user = kept};
  return heed_define_quantised(graph, &desc);
}
