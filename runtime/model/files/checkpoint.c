/* The weights of a model as one table. A sharded model's index is {"metadata": ..., "weight_map":
 * {tensor: file}}; every tensor must be in the file that the map names. Shards may hold tensors
 * that the map leaves out. */
#include "model/files/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/chunks.h"
#include "model/files/source.h"

#define SINGLE_FILE "model.safetensors"
#define MAX_INDEX_BYTES (64u << 20)

struct heed_checkpoint {
  const heed_context *context;
  heed_safetensors **files;
  uint32_t file_count;
  size_t file_capacity;
  heed_checkpoint_tensor *tensors;
  uint32_t count;
  uint32_t *by_name;
  heed_chunks chunks;
};

/* ---------------------------------------------------------------------------------------- files */

/* Names of weights, as Hugging Face has them: of a single file, and of an index of shards. Files of
 * PyTorch come here as safetensors (heed/pickle.h), under their own names. */
static const char *const single_names[] = {SINGLE_FILE, "pytorch_model.bin"};
static const char *const index_names[] = {SINGLE_FILE ".index.json",
                                          "pytorch_model.bin.index.json"};

static bool is_weight_name(const char *name) {
  static const char *const ends[] = {".safetensors", ".onnx", ".bin", ".pth", ".pt", ".ckpt"};
  const size_t length = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const size_t end = strlen(ends[i]);
    size_t same = 0; /* letters of the end, in either case */
    while (length > end && same < end &&
           (name[length - end + same] | 0x20) == (ends[i][same] | 0x20))
      same++;
    if (same == end) return true;
  }
  return false;
}

/* The first of two names that is there, or NULL. */
static const heed_model_file *find_named(const heed_model_file *files, uint32_t file_count,
                                         const char *const names[2]) {
  const heed_model_file *found = heed_find_file(files, file_count, names[0]);
  return found ? found : heed_find_file(files, file_count, names[1]);
}

static heed_status add_file(heed_checkpoint *checkpoint, const heed_model_file *file,
                            heed_error *error) {
  const size_t at = checkpoint->file_count;
  if (!heed_grow(checkpoint->context, &checkpoint->files, &checkpoint->file_capacity, at + 1,
                 sizeof *checkpoint->files))
    return heed_fail_memory(error, file->name, (at + 1) * sizeof *checkpoint->files);
  HEED_TRY(heed_safetensors_open(checkpoint->context, &file->source, file->name,
                                 &checkpoint->files[at], error));
  checkpoint->file_count++;
  return HEED_OK;
}

static const heed_safetensors *opened(const heed_checkpoint *checkpoint, const char *name) {
  for (uint32_t i = 0; i < checkpoint->file_count; i++)
    if (strcmp(heed_safetensors_name(checkpoint->files[i]), name) == 0) return checkpoint->files[i];
  return NULL;
}

/* One entry of the weight map. A shard has a plain name: no folder, and of Windows no drive, share
 * or stream. It is opened when it is the first to name it. */
static heed_status map_tensor(heed_checkpoint *checkpoint, const heed_model_file *files,
                              uint32_t file_count, const char *index, const heed_json *json,
                              heed_json_value entry, heed_error *error) {
  const char *shard, *name = heed_json_key(json, entry, NULL);
  size_t length;
  if (!heed_json_string(json, entry, &shard, &length))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: tensor %.*s has no file (found %s, expected a string)", index,
                     HEED_CUT(name), heed_json_kind_name(heed_json_kind_of(json, entry)));
  if (strlen(shard) != length || strpbrk(shard, "/\\:") || !is_weight_name(shard))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: invalid file of tensor %.*s (found %.*s, expected NAME.safetensors or "
                     "NAME.bin)",
                     index, HEED_CUT(name), HEED_CUT(shard));
  const heed_safetensors *file = opened(checkpoint, shard);
  if (!file) {
    const heed_model_file *given = heed_find_file(files, file_count, shard);
    if (!given)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: the file %.*s is missing (expected it beside the index)", index,
                       HEED_CUT(shard));
    HEED_TRY(add_file(checkpoint, given, error));
    file = checkpoint->files[checkpoint->file_count - 1];
  }
  if (heed_safetensors_find(file, name)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s is missing (expected it there by %s)",
                   shard, HEED_CUT(name), index);
}

static heed_status open_map(heed_checkpoint *checkpoint, const heed_model_file *files,
                            uint32_t file_count, const char *index, const heed_json *json,
                            heed_error *error) {
  const heed_json_value map = heed_json_get(json, heed_json_root(json), "weight_map");
  if (heed_json_kind_of(json, map) != HEED_JSON_OBJECT || heed_json_count(json, map) == 0)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: no weight_map (found %s, expected an object with the tensors' files)",
                     index, heed_json_kind_name(heed_json_kind_of(json, map)));
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v))
    HEED_TRY(map_tensor(checkpoint, files, file_count, index, json, v, error));
  return HEED_OK;
}

static heed_status open_shards(heed_checkpoint *checkpoint, const heed_model_file *files,
                               uint32_t file_count, const heed_model_file *index,
                               heed_error *error) {
  char *text;
  heed_json *json;
  HEED_TRY(heed_source_text(checkpoint->context, &index->source, index->name, MAX_INDEX_BYTES,
                            &text, error));
  HEED_TRY(heed_json_take(checkpoint->context, text, (size_t)index->source.size, index->name, &json,
                          error));
  const heed_status status = open_map(checkpoint, files, file_count, index->name, json, error);
  heed_json_destroy(json);
  return status;
}

/* What lies beside weights under names of its own. */
static bool is_side_name(const char *name) {
  static const char *const ends[] = {".json", ".txt", ".model"};
  const size_t length = strlen(name);
  bool is_side = false;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    const size_t end = strlen(ends[i]);
    is_side |= length >= end && strcmp(name + length - end, ends[i]) == 0;
  }
  return is_side;
}

/* How sure it is that a file is weights: by its name, by its first bytes, or as it has no name
 * known beside weights: its reader then says what is wrong. */
typedef enum weights_mark { BY_NAME, BY_BYTES, BY_REST, MARKS } weights_mark;

static heed_status has_mark(const heed_model_file *file, weights_mark mark, bool *has,
                            heed_error *error) {
  unsigned char first[9];
  *has = mark == BY_NAME ? is_weight_name(file->name) : !is_side_name(file->name);
  if (mark != BY_BYTES) return HEED_OK;
  *has = file->source.size >= sizeof first;
  if (*has) HEED_TRY(heed_source_read(&file->source, file->name, 0, first, sizeof first, error));
  *has = *has && memcmp(first + 6, "\0\0{", 3) == 0;
  return HEED_OK;
}

/* The files of the surest mark that any has: their number, and the first. */
static heed_status find_marked(const heed_model_file *files, uint32_t file_count,
                               const heed_model_file **first, uint32_t *found, heed_error *error) {
  *found = 0;
  for (weights_mark mark = BY_NAME; mark < MARKS && *found == 0; mark++)
    for (uint32_t i = 0; i < file_count; i++) {
      bool has = false;
      if (files[i].name) HEED_TRY(has_mark(&files[i], mark, &has, error));
      if (has && (*found)++ == 0) *first = &files[i];
    }
  return HEED_OK;
}

/* What peft leaves beside a model's own weights changes them, and is no model. */
static void say_adapter(const heed_checkpoint *checkpoint, const heed_model_file *files,
                        uint32_t file_count) {
  static const char *const names[2] = {"adapter_model.safetensors", "adapter_model.bin"};
  const heed_model_file *adapter = find_named(files, file_count, names);
  if (adapter)
    heed_log(checkpoint->context, HEED_LOG_WARNING,
             "%s: this adapter is not applied: the model's own weights are used (expected the "
             "merged model; in Python model.merge_and_unload())",
             adapter->name);
}

static heed_status open_files(heed_checkpoint *checkpoint, const heed_model_file *files,
                              uint32_t file_count, heed_error *error) {
  const heed_model_file *single = find_named(files, file_count, single_names),
                        *index = find_named(files, file_count, index_names);
  if (single || index) say_adapter(checkpoint, files, file_count);
  if (single) return add_file(checkpoint, single, error);
  if (index) return open_shards(checkpoint, files, file_count, index, error);
  uint32_t found = 0;
  HEED_TRY(find_marked(files, file_count, &single, &found, error));
  if (found == 1) return add_file(checkpoint, single, error);
  if (found)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: missing (found %u weight files, expected one or an index)",
                     index_names[0], found);
  return heed_fail(error, HEED_INVALID_FILE,
                   SINGLE_FILE ": missing (found %u other file%s, expected safetensors)",
                   file_count, file_count == 1 ? "" : "s");
}

/* ---------------------------------------------------------------------------------------- table */

static bool name_less(const void *user, uint32_t a, uint32_t b) {
  const heed_checkpoint_tensor *tensors = user;
  const int order = strcmp(tensors[a].info->name, tensors[b].info->name);
  return order ? order < 0 : a < b;
}

static heed_status check_unique(const heed_checkpoint *checkpoint, heed_error *error) {
  for (uint32_t i = 1; i < checkpoint->count; i++) {
    const heed_checkpoint_tensor *a = &checkpoint->tensors[checkpoint->by_name[i - 1]],
                                 *b = &checkpoint->tensors[checkpoint->by_name[i]];
    if (strcmp(a->info->name, b->info->name) == 0)
      return heed_fail(error, HEED_INVALID_FILE, "%s: duplicate tensor %.*s (found also in %s)",
                       heed_safetensors_name(b->file), HEED_CUT(b->info->name),
                       heed_safetensors_name(a->file));
  }
  return HEED_OK;
}

static heed_status rename_chunks(heed_checkpoint *checkpoint, heed_error *error) {
  const uint32_t count = checkpoint->count;
  const char *where = heed_checkpoint_name(checkpoint);
  const heed_safetensors_tensor **infos =
      heed_alloc_raw(checkpoint->context, (size_t)count + 1, sizeof *infos);
  if (!infos) return heed_fail_memory(error, where, count * sizeof *infos);
  for (uint32_t i = 0; i < count; i++) infos[i] = checkpoint->tensors[i].info;
  const heed_status status =
      heed_chunks_rename(checkpoint->context, infos, count, where, &checkpoint->chunks, error);
  for (uint32_t i = 0; i < count; i++) checkpoint->tensors[i].info = infos[i];
  heed_free(checkpoint->context, (void *)infos);
  return status;
}

/* Gives every I8 tensor its scales, where the checkpoint has them. */
static void pair_scales(heed_checkpoint *checkpoint) {
  enum { MOST = 320 }; /* bytes of a name that any role has */
  char name[MOST + sizeof HEED_SCALE_SUFFIX];
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++) {
    const heed_safetensors_tensor *of = heed_checkpoint_get(checkpoint, i)->info;
    if (of->dtype != HEED_I8 || strlen(of->name) >= MOST) continue;
    snprintf(name, sizeof name, "%s%s", of->name, HEED_SCALE_SUFFIX);
    heed_checkpoint_find(checkpoint, of->name)->scale = heed_checkpoint_find(checkpoint, name);
  }
}

static heed_status make_table(heed_checkpoint *checkpoint, heed_error *error) {
  uint64_t total = 0;
  uint32_t at = 0;
  for (uint32_t f = 0; f < checkpoint->file_count; f++)
    total += heed_safetensors_count(checkpoint->files[f]);
  if (total > UINT32_MAX / 2)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: too many tensors",
                     heed_checkpoint_name(checkpoint));
  checkpoint->count = (uint32_t)total;
  checkpoint->tensors =
      heed_alloc(checkpoint->context, total ? (size_t)total : 1, sizeof *checkpoint->tensors);
  checkpoint->by_name =
      heed_alloc(checkpoint->context, total ? (size_t)total : 1, sizeof *checkpoint->by_name);
  if (!checkpoint->tensors || !checkpoint->by_name)
    return heed_fail_memory(error, heed_checkpoint_name(checkpoint),
                            (size_t)total * sizeof *checkpoint->tensors);
  for (uint32_t f = 0; f < checkpoint->file_count; f++)
    for (uint32_t i = 0; i < heed_safetensors_count(checkpoint->files[f]); i++, at++) {
      checkpoint->tensors[at] = (heed_checkpoint_tensor){
          heed_safetensors_get(checkpoint->files[f], i), checkpoint->files[f], false, NULL, 0};
      checkpoint->by_name[at] = at;
    }
  HEED_TRY(rename_chunks(checkpoint, error));
  heed_sort(checkpoint->by_name, checkpoint->count, name_less, checkpoint->tensors);
  return check_unique(checkpoint, error);
}

heed_status heed_checkpoint_open(const heed_context *context, const heed_model_file *files,
                                 uint32_t file_count, heed_checkpoint **checkpoint,
                                 heed_error *error) {
  *checkpoint = NULL;
  heed_checkpoint *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, SINGLE_FILE, sizeof *made);
  made->context = context;
  heed_status status = open_files(made, files, file_count, error);
  if (status == HEED_OK) status = make_table(made, error);
  if (status == HEED_OK) pair_scales(made);
  if (status == HEED_OK)
    *checkpoint = made;
  else
    heed_checkpoint_destroy(made);
  return status;
}

void heed_checkpoint_destroy(heed_checkpoint *checkpoint) {
  if (!checkpoint) return;
  const heed_context *context = checkpoint->context;
  for (uint32_t i = 0; i < checkpoint->file_count; i++)
    heed_safetensors_destroy(checkpoint->files[i]);
  heed_free(context, checkpoint->files);
  heed_free(context, checkpoint->tensors);
  heed_free(context, checkpoint->by_name);
  heed_chunks_free(context, &checkpoint->chunks);
  heed_free(context, checkpoint);
}

/* --------------------------------------------------------------------------------------- access */

const char *heed_checkpoint_name(const heed_checkpoint *checkpoint) {
  return checkpoint->file_count ? heed_safetensors_name(checkpoint->files[0]) : SINGLE_FILE;
}
uint32_t heed_checkpoint_count(const heed_checkpoint *checkpoint) { return checkpoint->count; }
const heed_checkpoint_tensor *heed_checkpoint_get(const heed_checkpoint *checkpoint,
                                                  uint32_t index) {
  return &checkpoint->tensors[index];
}

bool heed_checkpoint_metadata(const heed_checkpoint *checkpoint, uint32_t index, const char **key,
                              const char **text) {
  return checkpoint->file_count &&
         heed_safetensors_metadata_at(checkpoint->files[0], index, key, text);
}

heed_checkpoint_tensor *heed_checkpoint_find(const heed_checkpoint *checkpoint, const char *name) {
  uint32_t low = 0, high = checkpoint->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    heed_checkpoint_tensor *tensor = &checkpoint->tensors[checkpoint->by_name[middle]];
    const int order = strcmp(name, tensor->info->name);
    if (order == 0) return tensor;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

bool heed_checkpoint_begins(const heed_checkpoint *checkpoint, const char *text, size_t length) {
  uint32_t low = 0, high = checkpoint->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order =
        strncmp(text, checkpoint->tensors[checkpoint->by_name[middle]].info->name, length);
    if (order == 0) return true;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}

heed_status heed_checkpoint_use(heed_checkpoint_tensor *tensor, const heed_shape *expected,
                                heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE], wanted[HEED_SHAPE_TEXT_SIZE];
  const heed_safetensors_tensor *info = tensor->info;
  const char *file = heed_safetensors_name(tensor->file);
  if (info->unsupported)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "%s: tensor %.*s is not supported (found %s: %s, expected F32, F64, F16 or BF16 "
        "with at most 6 axes)",
        file, HEED_CUT(info->name), info->dtype_name, info->unsupported);
  if (info->dtype == HEED_I8) HEED_TRY(heed_checkpoint_use_scales(tensor, error));
  if (info->dtype == HEED_U8 || info->dtype == HEED_I32)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "%s: tensor %.*s has the wrong dtype (found %s, expected F32, F64, F16 or BF16)", file,
        HEED_CUT(info->name), info->dtype_name);
  if (!heed_shape_equal(&info->shape, expected))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: tensor %.*s has the wrong shape (found %s, expected %s)", file,
                     HEED_CUT(info->name), heed_shape_text(&info->shape, found),
                     heed_shape_text(expected, wanted));
  tensor->used = true;
  return HEED_OK;
}

heed_status heed_checkpoint_need(heed_checkpoint *checkpoint, const char *name,
                                 const heed_shape *expected, heed_checkpoint_tensor **tensor,
                                 heed_error *error) {
  char wanted[HEED_SHAPE_TEXT_SIZE];
  heed_checkpoint_tensor *found = heed_checkpoint_find(checkpoint, name);
  *tensor = NULL;
  if (!found)
    return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s is missing (expected shape %s)",
                     heed_checkpoint_name(checkpoint), HEED_CUT(name),
                     heed_shape_text(expected, wanted));
  HEED_TRY(heed_checkpoint_use(found, expected, error));
  *tensor = found;
  return HEED_OK;
}

/* One loop without a branch, as every weight of a model goes through it. */
static bool all_finite(const float *values, uint64_t count) {
  uint32_t bad = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint32_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    bad |= (bits & 0x7f800000u) == 0x7f800000u;
  }
  return !bad;
}

heed_status heed_checkpoint_read(const heed_checkpoint_tensor *tensor, uint64_t first,
                                 uint64_t count, float *to, heed_error *error) {
  if (tensor->info->dtype == HEED_I8)
    return heed_checkpoint_read_int8(tensor, first, count, to, error);
  HEED_TRY(heed_safetensors_read(tensor->file, tensor->info, first, count, to, error));
  if (all_finite(to, count)) return HEED_OK;
  uint64_t at = 0;
  while (isfinite(to[at])) at++;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s is not finite (found %s in element %" PRIu64
                   ", expected numbers that F32 can hold)",
                   heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name),
                   isnan(to[at]) ? "NaN" : "an infinity", first + at);
}

void heed_checkpoint_total(const heed_checkpoint *checkpoint, heed_checkpoint_totals *totals) {
  *totals = (heed_checkpoint_totals){0};
  for (uint32_t i = 0; i < checkpoint->count; i++) {
    const heed_checkpoint_tensor *tensor = &checkpoint->tensors[i];
    if (!tensor->used) {
      totals->unused++;
      continue;
    }
    totals->used++;
    totals->elements += tensor->info->count;
    if (tensor->scale) totals->elements -= tensor->scale->info->count; /* which is used too */
    totals->bytes += tensor->info->bytes;
  }
}

void heed_checkpoint_describe(const heed_checkpoint *checkpoint, uint32_t index,
                              heed_tensor_info *info) {
  const heed_checkpoint_tensor *tensor = heed_checkpoint_get(checkpoint, index);
  *info = (heed_tensor_info){tensor->info->name,
                             tensor->info->dtype_name,
                             tensor->info->unsupported,
                             tensor->info->dtype,
                             tensor->info->shape,
                             tensor->info->bytes,
                             tensor->used,
                             tensor->role,
                             tensor->layer};
}
