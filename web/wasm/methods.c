/* heed_explain for JavaScript: a run of its own on pictures that are handed over, results one by
 * one. See shim.h. */
#include <string.h>

#include "shim.h"

static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  (void)user;
  if (strcmp(phase, "patch") == 0 || strcmp(phase, "occlusion") == 0)
    heed_host_patched((double)done, (double)total);
}

static bool stop(void *user) {
  (void)user;
  return heed_host_cancelled() != 0;
}

static void take_all(const heed_explanation *explanation) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    heed_host_take(tensor->name, tensor->dtype, tensor->shape.rank, tensor->shape.dim,
                   tensor->data);
}

heed_status heed_web_explain(heed_web *web, const heed_web_model *model, const heed_web_model *text,
                             const char *methods, const char *target, const char *sites,
                             const char *heads, int layer, uint32_t square, uint32_t source_mean,
                             const float *pixels, const uint32_t *shape, const float *source,
                             const uint32_t *source_shape, const float *vector,
                             uint32_t vector_size, const int32_t *ids, uint32_t texts,
                             uint32_t length) {
  heed_named_tensor inputs[4] = {{"pixel_values", HEED_F32, {.rank = 4}, pixels}};
  const heed_hooks hooks = {sizeof hooks, tell, stop, NULL};
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = model->model,
                            .text = text ? text->model : NULL,
                            .backend = web->backend,
                            .methods = methods,
                            .target = *target ? target : NULL,
                            .layer_given = layer >= 0,
                            .layer = layer >= 0 ? (uint32_t)layer : 0,
                            .inputs = inputs,
                            .input_count = 1,
                            .sites = *sites ? sites : NULL,
                            .heads = *heads ? heads : NULL,
                            .square = square,
                            .source_mean = source_mean != 0,
                            .hooks = &hooks};
  memcpy(inputs[0].shape.dim, shape, 4 * sizeof *shape);
  if (source) {
    heed_named_tensor *to = &inputs[desc.input_count++];
    *to = (heed_named_tensor){"source.pixel_values", HEED_F32, {.rank = 4}, source};
    memcpy(to->shape.dim, source_shape, 4 * sizeof *source_shape);
  }
  if (vector)
    inputs[desc.input_count++] =
        (heed_named_tensor){"target.vector", HEED_F32, {1, {vector_size}}, vector};
  if (texts)
    inputs[desc.input_count++] =
        (heed_named_tensor){"input_ids", HEED_I32, {2, {texts, length}}, ids};
  heed_explanation *explanation;
  const heed_status status = heed_explain(web->context, &desc, &explanation, &web->error);
  if (status != HEED_OK) return status;
  take_all(explanation);
  heed_explanation_destroy(explanation);
  return HEED_OK;
}
