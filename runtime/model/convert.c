/* A model's tensors in another storage: the weights of its blocks' linear maps in int8, fp16 or
 * bf16, the others as they are; for products in floats also patches and positions in int8. Tensors
 * are read and converted while the file is written, a row at a time: scales come before int8 in it,
 * so such weights are read twice. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/vit/int8_weights.h"
#include "model/vit/vit.h"

/* Which tensors change: nearly all of a model's numbers, and products where 8 bits are enough. */
static const heed_role converted_roles[] = {HEED_ROLE_QUERY_WEIGHT,
                                            HEED_ROLE_KEY_WEIGHT,
                                            HEED_ROLE_VALUE_WEIGHT,
                                            HEED_ROLE_GATE_WEIGHT,
                                            HEED_ROLE_FC1_WEIGHT,
                                            HEED_ROLE_FC2_WEIGHT,
                                            HEED_ROLE_ATTENTION_OUTPUT_WEIGHT};
/* Those that only storage makes smaller: no product of int8 has them. */
static const heed_role stored_roles[] = {HEED_ROLE_PATCH_WEIGHT, HEED_ROLE_POSITION_EMBEDDINGS};

typedef struct converter {
  const heed_vit *model;
  heed_storage storage;
  bool int8; /* storage is one of int8 */
  heed_safetensors_item *items;
  struct part *parts; /* by item */
  uint32_t count;
  void *row; /* of the longest tensor's floats, and as much again for what becomes of it */
  uint64_t longest;
  heed_convert_info info;
  heed_error *error;
} converter;

/* What an item is made of. */
typedef struct part {
  const converter *c;
  const heed_checkpoint_tensor *tensor;
  uint64_t rows, depth;
  char name[HEED_NAME_SIZE + sizeof HEED_SCALE_SUFFIX]; /* of scales */
} part;

/* Where its bytes go. */
typedef struct target {
  heed_safetensors_sink sink;
  void *user;
} target;

static bool is_converted(const converter *c, const heed_checkpoint_tensor *tensor) {
  const size_t roles = sizeof converted_roles / sizeof *converted_roles;
  for (size_t i = 0; c->storage == HEED_STORAGE_INT8_FLOAT && i < 2; i++) {
    const heed_role_ref *ref = heed_vit_ref(c->model, stored_roles[i]);
    if (ref->tensor == tensor && ref->stride == 0 && tensor->info->shape.rank > 1) return true;
  }
  if (tensor->info->shape.rank != 2) return false;
  for (uint32_t layer = 0; layer < c->model->dims.layers; layer++)
    for (size_t i = 0; i < roles; i++) {
      const heed_role_ref *ref = heed_vit_layer_ref(c->model, layer, converted_roles[i]);
      if (ref->tensor == tensor && ref->stride == 0 && !ref->heads) return true;
    }
  return false;
}

/* Whether it is the scales of another, which are read with that one. */
static bool is_scale(const heed_checkpoint *checkpoint, const heed_checkpoint_tensor *tensor) {
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++)
    if (heed_checkpoint_get(checkpoint, i)->scale == tensor) return true;
  return false;
}

typedef heed_status (*producer)(void *user, heed_safetensors_sink sink, void *sink_user,
                                heed_error *error);

static part *add(converter *c, const heed_checkpoint_tensor *tensor, heed_dtype dtype,
                 const heed_shape *shape, producer produce) {
  part *made = &c->parts[c->count];
  size_t bytes = 0;
  if (heed_shape_bytes(shape, dtype, &bytes)) c->info.bytes_after += bytes;
  made->c = c;
  made->tensor = tensor;
  c->items[c->count++] =
      (heed_safetensors_item){tensor->info->name, dtype, *shape, NULL, produce, made};
  return made;
}

static heed_dtype kept_dtype(const heed_checkpoint_tensor *tensor) {
  return tensor->scale ? HEED_F32 : tensor->info->dtype;
}

/* A tensor as it is stored; F64 and int8 become F32. */
static heed_status produce_kept(void *user, heed_safetensors_sink sink, void *sink_user,
                                heed_error *error) {
  enum { CHUNK = 1024 };
  const heed_checkpoint_tensor *tensor = ((const part *)user)->tensor;
  const heed_safetensors_tensor *info = tensor->info;
  const bool half = info->dtype == HEED_F16 || info->dtype == HEED_BF16;
  float floats[CHUNK]; /* or smaller elements */
  uint16_t halves[CHUNK];
  for (uint64_t at = 0; at < info->count; at += CHUNK) {
    const size_t count = info->count - at < CHUNK ? (size_t)(info->count - at) : CHUNK;
    HEED_TRY(heed_checkpoint_read(tensor, at, count, floats, error));
    for (size_t i = 0; half && i < count; i++)
      halves[i] =
          info->dtype == HEED_F16 ? heed_f32_to_f16(floats[i]) : heed_f32_to_bf16(floats[i]);
    HEED_TRY(half ? sink(sink_user, halves, count * sizeof *halves, error)
                  : sink(sink_user, floats, count * heed_dtype_size(kept_dtype(tensor)), error));
  }
  return HEED_OK;
}

static heed_status fail_value(const heed_checkpoint_tensor *tensor, heed_status status, float value,
                              const char *expected, heed_error *error) {
  return heed_fail(error, status, "%s: tensor %.*s cannot be converted (found %g, expected %s)",
                   heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name), (double)value,
                   expected);
}

/* Row r in the converter's memory. */
static heed_status read_row(const part *p, uint64_t r, const float **row, heed_error *error) {
  const uint64_t depth = p->depth;
  float *to = p->c->row;
  HEED_TRY(heed_checkpoint_read(p->tensor, r * depth, depth, to, error));
  for (uint64_t i = 0; i < depth; i++)
    if (!isfinite(to[i]))
      return fail_value(p->tensor, HEED_INVALID_FILE, to[i], "finite weights", error);
  *row = to;
  return HEED_OK;
}

/* A row's step in int8, symmetric: its largest magnitude is 127. For products in floats it is the
 * next number that bf16 holds. */
static float find_scale(const part *p, const float *row) {
  float most = 0.0f;
  for (uint64_t i = 0; i < p->depth; i++) most = fabsf(row[i]) > most ? fabsf(row[i]) : most;
  const float scale = most / 127.0f >= 0x1p-126f ? most / 127.0f : 1.0f;
  if (p->c->storage != HEED_STORAGE_INT8_FLOAT) return scale;
  const float near = heed_bf16_to_f32(heed_f32_to_bf16(scale));
  return near >= scale ? near : heed_bf16_to_f32((uint16_t)(heed_f32_to_bf16(scale) + 1u));
}

static heed_status produce_scales(void *user, heed_safetensors_sink sink, void *sink_user,
                                  heed_error *error) {
  const part *p = user;
  for (uint64_t r = 0; r < p->rows; r++) {
    const float *row = NULL;
    HEED_TRY(read_row(p, r, &row, error));
    const float scale = find_scale(p, row);
    const uint16_t half = heed_f32_to_bf16(scale);
    HEED_TRY(p->c->storage == HEED_STORAGE_INT8_FLOAT
                 ? sink(sink_user, &half, sizeof half, error)
                 : sink(sink_user, &scale, sizeof scale, error));
  }
  return HEED_OK;
}

static void quantise_row(const part *p, const float *row, int8_t *to) {
  const float scale = find_scale(p, row);
  for (uint64_t i = 0; i < p->depth; i++) {
    const float q = rintf(row[i] / scale);
    to[i] = (int8_t)(q > 127.0f ? 127.0f : q < -127.0f ? -127.0f : q);
  }
}

static heed_status narrow_row(const part *p, const float *row, uint16_t *to, heed_error *error) {
  const bool f16 = p->c->storage == HEED_STORAGE_F16;
  for (uint64_t i = 0; i < p->depth; i++) {
    if (f16 && fabsf(row[i]) >= 65520.0f)
      return fail_value(p->tensor, HEED_UNSUPPORTED, row[i], "within 65504; use bf16", error);
    to[i] = f16 ? heed_f32_to_f16(row[i]) : heed_f32_to_bf16(row[i]);
  }
  return HEED_OK;
}

static heed_status produce_converted(void *user, heed_safetensors_sink sink, void *sink_user,
                                     heed_error *error) {
  const part *p = user;
  void *out = (float *)p->c->row + p->c->longest;
  for (uint64_t r = 0; r < p->rows; r++) {
    const float *row = NULL;
    HEED_TRY(read_row(p, r, &row, error));
    if (p->c->int8)
      quantise_row(p, row, out);
    else
      HEED_TRY(narrow_row(p, row, out, error));
    HEED_TRY(sink(sink_user, out, (size_t)p->depth * (p->c->int8 ? 1 : sizeof(uint16_t)), error));
  }
  return HEED_OK;
}

static heed_status convert(converter *c, const heed_checkpoint_tensor *tensor) {
  static const heed_dtype dtypes[] = {HEED_I8, HEED_F16, HEED_BF16, HEED_I8};
  const heed_safetensors_tensor *info = tensor->info;
  const heed_shape *shape = &info->shape;
  const size_t length = strlen(info->name);
  if (length >= HEED_NAME_SIZE)
    return heed_fail(c->error, HEED_UNSUPPORTED, "%s: tensor name too long (found %zu bytes)",
                     heed_safetensors_name(tensor->file), length);
  part *numbers = add(c, tensor, dtypes[c->storage], shape, produce_converted);
  c->info.converted++;
  /* positions [1, T, C] have a row a token */
  const uint32_t first = shape->dim[0], groups = shape->rank == 3 && first == 1 ? shape->dim[1] : 1;
  numbers->rows = (uint64_t)first * groups;
  numbers->depth = info->count / numbers->rows;
  if (numbers->depth > c->longest) c->longest = numbers->depth;
  if (!c->int8) return HEED_OK;
  const heed_shape tall = HEED_SHAPE(first, groups);
  part *scale =
      add(c, tensor, c->storage == HEED_STORAGE_INT8 ? HEED_F32 : HEED_BF16, &tall, produce_scales);
  scale->rows = numbers->rows;
  scale->depth = numbers->depth;
  memcpy(scale->name, info->name, length);
  memcpy(scale->name + length, HEED_SCALE_SUFFIX, sizeof HEED_SCALE_SUFFIX);
  c->items[c->count - 1].name = scale->name;
  return HEED_OK;
}

static heed_status take(converter *c, const heed_checkpoint_tensor *tensor) {
  if (tensor->scale && !heed_config_float_products(c->model->config))
    return heed_fail(c->error, HEED_UNSUPPORTED,
                     "%s: the model is stored in int8 already (found I8 %.*s, expected floats)",
                     heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name));
  if (tensor->info->unsupported) {
    c->info.left_out++;
    return HEED_OK;
  }
  c->info.bytes_before += tensor->info->bytes;
  if (is_scale(c->model->base.checkpoint, tensor)) return HEED_OK;
  if (is_converted(c, tensor)) return convert(c, tensor);
  add(c, tensor, kept_dtype(tensor), &tensor->info->shape, produce_kept);
  c->info.kept++;
  return HEED_OK;
}

enum { MOST_HINTS = 64 };

/* What the training of the weights says, which weights do not tell. */
static void keep_hints(const heed_checkpoint *checkpoint, heed_safetensors_pair *pairs,
                       uint32_t *count) {
  const uint32_t most = *count + MOST_HINTS;
  const char *key, *text;
  for (uint32_t i = 0; *count < most && heed_checkpoint_metadata(checkpoint, i, &key, &text); i++)
    if (strncmp(key, HEED_TRAINING, sizeof HEED_TRAINING - 1) == 0)
      pairs[(*count)++] = (heed_safetensors_pair){key, text};
}

static heed_status write_all(converter *c, const heed_convert_desc *desc) {
  static const char *const schemes[] = {"s8-channel", "f16", "bf16", "s8-row"};
  const heed_context *context = c->model->base.context;
  heed_checkpoint *checkpoint = c->model->base.checkpoint;
  const uint32_t count = heed_checkpoint_count(checkpoint);
  c->items = heed_alloc(context, 2u * count, sizeof *c->items);
  c->parts = heed_alloc(context, 2u * count, sizeof *c->parts);
  if (!c->items || !c->parts)
    return heed_fail_memory(c->error, "convert: tensors", 2u * count * sizeof *c->parts);
  for (uint32_t i = 0; i < count; i++) HEED_TRY(take(c, heed_checkpoint_get(checkpoint, i)));
  c->row = heed_alloc_raw(context, c->longest ? 2 * (size_t)c->longest : 1, sizeof(float));
  if (!c->row)
    return heed_fail_memory(c->error, "convert: a row", 2 * (size_t)c->longest * sizeof(float));
  heed_safetensors_pair pairs[3 + MOST_HINTS] = {{"format", "pt"},
                                                 {"heed.scheme", schemes[c->storage]}};
  uint32_t pair_count = 2;
  if (desc->source_sha256)
    pairs[pair_count++] = (heed_safetensors_pair){"heed.source_sha256", desc->source_sha256};
  keep_hints(checkpoint, pairs, &pair_count);
  return heed_safetensors_write(context, c->items, c->count, pairs, pair_count, desc->sink,
                                desc->user, c->error);
}

heed_status heed_model_convert(const heed_model *model, const heed_convert_desc *desc,
                               heed_convert_info *info, heed_error *error) {
  heed_convert_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "convert", error));
  if (!full.sink || (unsigned)full.storage > HEED_STORAGE_INT8_FLOAT)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "convert: invalid desc (found storage %d, expected 0 to 3 and a sink)",
                     (int)full.storage);
  if (model->type != &heed_vit_type)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "convert: an encoder-decoder cannot be converted (expected a vision or text "
                     "transformer)");
  const heed_vit *vit = (const heed_vit *)model;
  if (full.storage == HEED_STORAGE_INT8 &&
      heed_vit_layer_ref(vit, 0, HEED_ROLE_LOGIT_SCALE)->tensor)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "convert: products in int8 are too coarse for cosine attention (expected f16, "
                     "bf16 or int8 for products in floats)");
  converter c = {
      .model = vit,
      .storage = full.storage,
      .int8 = full.storage == HEED_STORAGE_INT8 || full.storage == HEED_STORAGE_INT8_FLOAT,
      .error = error};
  const heed_status status = write_all(&c, &full);
  heed_free(model->context, c.row);
  heed_free(model->context, c.parts);
  heed_free(model->context, c.items);
  if (status == HEED_OK && info) *info = c.info;
  return status;
}
