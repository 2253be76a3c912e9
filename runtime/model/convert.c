/* A model's tensors in another storage: the weights of its blocks' linear maps in int8, fp16 or
 * bf16, the others as they are. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/int8_weights.h"
#include "model/vit.h"

#if defined(HEED_INT8)
/* Which tensors change: nearly all of a model's numbers, and products where 8 bits are enough. */
static const heed_role converted_roles[] = {HEED_ROLE_QUERY_WEIGHT,
                                            HEED_ROLE_KEY_WEIGHT,
                                            HEED_ROLE_VALUE_WEIGHT,
                                            HEED_ROLE_GATE_WEIGHT,
                                            HEED_ROLE_FC1_WEIGHT,
                                            HEED_ROLE_FC2_WEIGHT,
                                            HEED_ROLE_ATTENTION_OUTPUT_WEIGHT};

typedef struct converter {
  const heed_vit *model;
  heed_storage storage;
  heed_safetensors_item *items;
  uint32_t count;
  char (*scale_names)[HEED_NAME_SIZE + sizeof HEED_SCALE_SUFFIX]; /* by item */
  heed_convert_info info;
  heed_error *error;
} converter;

static bool is_converted(const heed_vit *model, const heed_checkpoint_tensor *tensor) {
  const size_t roles = sizeof converted_roles / sizeof *converted_roles;
  if (tensor->info->shape.rank != 2) return false;
  for (uint32_t layer = 0; layer < model->dims.layers; layer++)
    for (size_t i = 0; i < roles; i++) {
      const heed_role_ref *ref = heed_vit_layer_ref(model, layer, converted_roles[i]);
      if (ref->tensor == tensor && ref->stride == 0) return true;
    }
  return false;
}

/* The next item, with memory for its elements. */
static void *add(converter *c, const char *name, heed_dtype dtype, const heed_shape *shape) {
  heed_safetensors_item *item = &c->items[c->count];
  size_t bytes;
  void *data = heed_shape_bytes(shape, dtype, &bytes)
                   ? heed_alloc_raw(c->model->base.context, bytes ? bytes : 1, 1)
                   : NULL;
  if (!data) {
    heed_fail_memory(c->error, name, (size_t)heed_shape_count(shape));
    return NULL;
  }
  *item = (heed_safetensors_item){name, dtype, *shape, data};
  c->count++;
  c->info.bytes_after += bytes;
  return data;
}

/* A tensor as it is stored; F64 becomes F32. */
static heed_status keep(converter *c, const heed_checkpoint_tensor *tensor) {
  const heed_safetensors_tensor *info = tensor->info;
  c->info.kept++;
  void *data = add(c, info->name, info->dtype, &info->shape);
  if (!data) return HEED_OUT_OF_MEMORY;
  if (info->dtype != HEED_F16 && info->dtype != HEED_BF16)
    return heed_safetensors_read(tensor->file, info, 0, info->count, data, c->error);
  enum { CHUNK = 1024 };
  float floats[CHUNK];
  uint16_t *halves = data;
  for (uint64_t at = 0; at < info->count; at += CHUNK) {
    const uint64_t count = info->count - at < CHUNK ? info->count - at : CHUNK;
    HEED_TRY(heed_safetensors_read(tensor->file, info, at, count, floats, c->error));
    for (uint64_t i = 0; i < count; i++)
      halves[at + i] =
          info->dtype == HEED_F16 ? heed_f32_to_f16(floats[i]) : heed_f32_to_bf16(floats[i]);
  }
  return HEED_OK;
}

static heed_status fail_value(const converter *c, const heed_checkpoint_tensor *tensor,
                              heed_status status, float value, const char *expected) {
  return heed_fail(c->error, status, "%s: tensor %.*s cannot be converted (found %g, expected %s)",
                   heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name), (double)value,
                   expected);
}

/* A row in int8, symmetric: its largest magnitude is 127. */
static float quantise_row(const float *row, uint64_t depth, int8_t *to) {
  float most = 0.0f;
  for (uint64_t i = 0; i < depth; i++) most = fabsf(row[i]) > most ? fabsf(row[i]) : most;
  const float scale = most / 127.0f >= 0x1p-126f ? most / 127.0f : 1.0f;
  for (uint64_t i = 0; i < depth; i++) {
    const float q = rintf(row[i] / scale);
    to[i] = (int8_t)(q > 127.0f ? 127.0f : q < -127.0f ? -127.0f : q);
  }
  return scale;
}

static heed_status narrow_row(const converter *c, const heed_checkpoint_tensor *tensor,
                              const float *row, uint64_t depth, uint16_t *to) {
  for (uint64_t i = 0; i < depth; i++) {
    if (c->storage == HEED_STORAGE_F16 && fabsf(row[i]) >= 65520.0f)
      return fail_value(c, tensor, HEED_UNSUPPORTED, row[i], "within 65504; use bf16");
    to[i] = c->storage == HEED_STORAGE_F16 ? heed_f32_to_f16(row[i]) : heed_f32_to_bf16(row[i]);
  }
  return HEED_OK;
}

/* Row by row through `row`, into data [rows, depth] and for int8 scale [rows]. */
static heed_status convert_rows(const converter *c, const heed_checkpoint_tensor *tensor,
                                float *row, void *data, float *scale) {
  const uint64_t rows = tensor->info->shape.dim[0], depth = tensor->info->shape.dim[1];
  for (uint64_t r = 0; r < rows; r++) {
    HEED_TRY(heed_checkpoint_read(tensor, r * depth, depth, row, c->error));
    for (uint64_t i = 0; i < depth; i++)
      if (!isfinite(row[i]))
        return fail_value(c, tensor, HEED_INVALID_FILE, row[i], "finite weights");
    if (scale)
      scale[r] = quantise_row(row, depth, (int8_t *)data + r * depth);
    else
      HEED_TRY(narrow_row(c, tensor, row, depth, (uint16_t *)data + r * depth));
  }
  return HEED_OK;
}

static heed_status convert(converter *c, const heed_checkpoint_tensor *tensor) {
  const heed_safetensors_tensor *info = tensor->info;
  const bool int8 = c->storage == HEED_STORAGE_INT8;
  const heed_shape tall = HEED_SHAPE(info->shape.dim[0], 1);
  c->info.converted++;
  void *data = add(c, info->name,
                   int8                             ? HEED_I8
                   : c->storage == HEED_STORAGE_F16 ? HEED_F16
                                                    : HEED_BF16,
                   &info->shape);
  float *scale = NULL;
  if (!data) return HEED_OUT_OF_MEMORY;
  if (int8) {
    char *name = c->scale_names[c->count];
    const size_t length = strlen(info->name);
    if (length >= HEED_NAME_SIZE)
      return heed_fail(c->error, HEED_UNSUPPORTED, "%s: tensor name too long (found %zu bytes)",
                       heed_safetensors_name(tensor->file), length);
    memcpy(name, info->name, length);
    memcpy(name + length, HEED_SCALE_SUFFIX, sizeof HEED_SCALE_SUFFIX);
    scale = add(c, name, HEED_F32, &tall);
    if (!scale) return HEED_OUT_OF_MEMORY;
  }
  const heed_context *context = c->model->base.context;
  float *row = heed_alloc_raw(context, info->shape.dim[1], sizeof *row);
  if (!row) return heed_fail_memory(c->error, info->name, info->shape.dim[1] * sizeof *row);
  const heed_status status = convert_rows(c, tensor, row, data, scale);
  heed_free(context, row);
  return status;
}

static heed_status take(converter *c, const heed_checkpoint_tensor *tensor) {
  if (tensor->scale)
    return heed_fail(c->error, HEED_UNSUPPORTED,
                     "%s: the model is stored in int8 already (found I8 %.*s, expected floats)",
                     heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name));
  if (tensor->info->unsupported) {
    c->info.left_out++;
    return HEED_OK;
  }
  c->info.bytes_before += tensor->info->bytes;
  return is_converted(c->model, tensor) ? convert(c, tensor) : keep(c, tensor);
}

static heed_status write_all(converter *c, const heed_convert_desc *desc) {
  static const char *const schemes[] = {"s8-channel", "f16", "bf16"};
  const heed_context *context = c->model->base.context;
  heed_checkpoint *checkpoint = c->model->base.checkpoint;
  const uint32_t count = heed_checkpoint_count(checkpoint);
  c->items = heed_alloc(context, 2u * count, sizeof *c->items);
  c->scale_names = heed_alloc(context, 2u * count, sizeof *c->scale_names);
  if (!c->items || !c->scale_names)
    return heed_fail_memory(c->error, "convert: tensors", 2u * count * sizeof *c->scale_names);
  for (uint32_t i = 0; i < count; i++) HEED_TRY(take(c, heed_checkpoint_get(checkpoint, i)));
  const heed_safetensors_pair pairs[] = {
      {"format", "pt"},
      {"heed.scheme", schemes[c->storage]},
      {"heed.source_sha256", desc->source_sha256 ? desc->source_sha256 : ""}};
  return heed_safetensors_write(context, c->items, c->count, pairs, desc->source_sha256 ? 3 : 2,
                                desc->sink, desc->user, c->error);
}

heed_status heed_model_convert(const heed_model *model, const heed_convert_desc *desc,
                               heed_convert_info *info, heed_error *error) {
  heed_convert_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "convert", error));
  if (!full.sink || (unsigned)full.storage > HEED_STORAGE_BF16)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "convert: invalid desc (found storage %d, expected 0 to 2 and a sink)",
                     (int)full.storage);
  if (model->type != &heed_vit_type)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "convert: an encoder-decoder cannot be converted (expected a vision or text "
                     "transformer)");
  converter c = {.model = (const heed_vit *)model, .storage = full.storage, .error = error};
  const heed_status status = write_all(&c, &full);
  for (uint32_t i = 0; i < c.count; i++) heed_free(model->context, (void *)c.items[i].data);
  heed_free(model->context, c.scale_names);
  heed_free(model->context, c.items);
  if (status == HEED_OK && info) *info = c.info;
  return status;
}
#else
heed_status heed_model_convert(const heed_model *model, const heed_convert_desc *desc,
                               heed_convert_info *info, heed_error *error) {
  (void)model, (void)desc, (void)info;
  return heed_fail(error, HEED_UNSUPPORTED, "convert: not in this build");
}
#endif
