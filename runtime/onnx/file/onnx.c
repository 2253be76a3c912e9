/* An ONNX file as the bytes of a .safetensors file. See heed/onnx.h. */
#include "heed/onnx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/budget.h"
#include "base/desc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/attention_finder.h"
#include "onnx/file/file.h"

/* ------------------------------------------------------------------------------- external data */

static const heed_onnx_file_of *find_external(const heed_onnx *file, const char *location) {
  for (uint32_t i = 0; i < file->external_count; i++)
    if (strcmp(file->externals[i].location, location) == 0) return &file->externals[i];
  return NULL;
}

static heed_status open_external(heed_onnx *file, const heed_onnx_desc *desc,
                                 const heed_onnx_tensor *tensor, heed_error *error) {
  const heed_onnx_file_of *opened = find_external(file, tensor->location);
  if (!opened) {
    if (!desc->external)
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: tensor %.*s is in another file (found %.*s, expected its data here)",
                       file->name, HEED_CUT(tensor->name), HEED_CUT(tensor->location));
    if (file->external_count == HEED_ONNX_MOST_FILES)
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: too many files of external data (found more than %d)", file->name,
                       HEED_ONNX_MOST_FILES);
    heed_onnx_file_of *to = &file->externals[file->external_count];
    to->location = tensor->location;
    HEED_TRY(desc->external(desc->user, tensor->location, &to->source, error));
    file->external_count++;
    opened = to;
  }
  if (tensor->offset <= opened->source.size &&
      tensor->bytes <= opened->source.size - tensor->offset)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s lies beyond the end of %.*s (found %" PRIu64
                   " bytes, expected %" PRIu64 " at byte %" PRIu64 ")",
                   file->name, heed_utf8_cut(tensor->name, 100), tensor->name,
                   heed_utf8_cut(tensor->location, 100), tensor->location, opened->source.size,
                   tensor->bytes, tensor->offset);
}

static heed_status open_externals(heed_onnx *file, const heed_onnx_desc *desc, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  file->externals = heed_onnx_take(&file->arena, HEED_ONNX_MOST_FILES, sizeof *file->externals);
  if (!file->externals)
    return heed_fail_memory(error, file->name, HEED_ONNX_MOST_FILES * sizeof *file->externals);
  for (uint32_t i = 0; i < graph->initializer_count; i++)
    if (graph->initializers[i].location)
      HEED_TRY(open_external(file, desc, &graph->initializers[i], error));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------- weights */

/* As heed_assembled_read. */
static heed_status read_weight(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                               heed_error *error) {
  const heed_onnx *file = user;
  HEED_ASSERT(index < file->weight_count);
  return heed_onnx_weight_read(file, &file->weights[index], offset, to, count, error);
}

/* Leaves out the weights whose parts do not fit together: who needs one says that it is missing. */
static heed_status prepare_weights(heed_onnx *file, heed_error *error) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < file->weight_count; i++) {
    heed_error why;
    const heed_status status = heed_onnx_weight_prepare(file, &file->weights[i], &why);
    if (status == HEED_OK) {
      file->weights[kept++] = file->weights[i];
      continue;
    }
    if (status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED) {
      if (error) *error = why;
      return status;
    }
    heed_log(file->context, HEED_LOG_INFO, "%s", why.message);
  }
  file->weight_count = kept;
  return HEED_OK;
}

static heed_status add_weights(heed_onnx *file, heed_error *error) {
  HEED_TRY(prepare_weights(file, error));
  file->made = (heed_assembled){
      .context = file->context, .where = file->name, .read = read_weight, .user = file};
  for (uint32_t i = 0; i < file->weight_count; i++) {
    const heed_onnx_weight *weight = &file->weights[i];
    const char *dtype =
        heed_onnx_weight_is_plain(weight) ? heed_onnx_type_safetensors(weight->data->type) : "F32";
    HEED_TRY(heed_assembled_add(&file->made, weight->name, dtype, weight->rank, weight->dims,
                                heed_onnx_weight_bytes(weight), error));
  }
  return heed_assembled_finish(&file->made, error);
}

static void summarise(heed_onnx *file) {
  const heed_onnx_model *model = &file->model;
  uint32_t quantised = 0;
  for (uint32_t i = 0; i < file->weight_count; i++) quantised += file->weights[i].scale != NULL;
  int length = snprintf(file->summary, sizeof file->summary, "opset %lld",
                        (long long)heed_onnx_opset_of(model, ""));
  if (*model->producer)
    length += snprintf(file->summary + length, sizeof file->summary - (size_t)length,
                       " by %.*s%s%.*s", heed_utf8_cut(model->producer, 40), model->producer,
                       *model->producer_version ? " " : "",
                       heed_utf8_cut(model->producer_version, 40), model->producer_version);
  length += snprintf(file->summary + length, sizeof file->summary - (size_t)length,
                     ", %u nodes, %u named weights", model->graph.node_count, file->weight_count);
  if (quantised)
    snprintf(file->summary + length, sizeof file->summary - (size_t)length,
             ", %u of them dequantised", quantised);
  heed_utf8_clean(file->summary);
}

/* ------------------------------------------------------------------------------------- opening */

static heed_status open_file(heed_onnx *file, const heed_onnx_desc *desc, heed_error *error) {
  if (file->source.size > INT64_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "%s: the source is too large", file->name);
  HEED_TRY(heed_onnx_read_model(&file->arena, &file->source, file->name, &file->model, error));
  HEED_TRY(heed_onnx_index(file, error));
  HEED_TRY(open_externals(file, desc, error));
  HEED_TRY(heed_onnx_find_missing(file, error));
  HEED_TRY(heed_onnx_find_names(file, error));
  HEED_TRY(add_weights(file, error));
  HEED_TRY(heed_onnx_find_attentions(file, file->attentions, error));
  summarise(file);
  return HEED_OK;
}

/* A ModelProto begins with ir_version (field 1), a small number, or with the producer (2) or the
 * graph (7); a .safetensors file may too, but has its JSON at byte 8. */
bool heed_onnx_begins(const void *bytes, size_t count) {
  const unsigned char *first = bytes;
  if (count < 4 || (count >= 9 && memcmp(first + 6, "\0\0{", 3) == 0)) return false;
  return first[0] == 0x08 && first[1] >= 1 && first[1] <= 32 &&
         (first[2] == 0x12 || first[2] == 0x1A || first[2] == 0x22 || first[2] == 0x32 ||
          first[2] == 0x3A || first[2] == 0x42);
}

heed_status heed_onnx_open(heed_context *context, const heed_onnx_desc *desc, heed_onnx **file,
                           heed_error *error) {
  heed_onnx_desc full;
  if (!context || !desc || !file)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: NULL argument (expected context, desc and file)");
  *file = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "onnx", error));
  if (!full.name)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "onnx: NULL argument (expected a name)");
  heed_onnx *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, full.name, sizeof *made);
  heed_budget memory;
  heed_context within;
  heed_budget_open(context, full.source.size, &memory, &within);
  made->context = made->arena.context = &within;
  made->source = full.source;
  made->name = heed_copy_string(&within, full.name, strlen(full.name));
  made->attentions = heed_alloc(&within, 1, sizeof *made->attentions);
  heed_status status = made->name && made->attentions
                           ? open_file(made, &full, error)
                           : heed_fail_memory(error, full.name, strlen(full.name) + 1);
  status = heed_budget_close(&memory, &within, status, full.name, error);
  made->context = made->arena.context = made->made.context = context;
  if (status == HEED_OK)
    *file = made;
  else
    heed_onnx_destroy(made);
  return status;
}

void heed_onnx_destroy(heed_onnx *file) {
  if (!file) return;
  const heed_context *context = file->context;
  heed_assembled_free(&file->made);
  heed_free(context, file->weights);
  heed_onnx_arena_free(&file->arena);
  if (file->attentions) heed_onnx_attention_list_free(file, file->attentions);
  heed_free(context, file->attentions);
  heed_free(context, file->name);
  heed_free(context, file);
}

heed_source heed_onnx_source(heed_onnx *file) { return heed_assembled_source(&file->made); }

const char *heed_onnx_summary(const heed_onnx *file) { return file->summary; }

void heed_onnx_way(const heed_onnx *file, bool kernels, uint32_t unrounded, const char *why,
                   char *text, size_t size) {
  char more[64] = "";
  if (unrounded)
    snprintf(more, sizeof more, ", %u activations not rounded to 8 bits", (unsigned)unrounded);
  if (kernels)
    snprintf(text, size, "run as an ONNX graph on heed's kernels (%s)%s%s%s", file->summary, more,
             *why ? "; " : "", why);
  else
    snprintf(text, size, "run as an ONNX graph, in double (%s)%s%s", file->summary,
             *why ? ", not on kernels: " : "", why);
}
