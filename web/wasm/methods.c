/* heed_explain for JavaScript: a run of its own on pictures that are handed over, results one by
 * one. See shim.h. */
#include <stdio.h>
#include <string.h>

#include "shim.h"

static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  (void)user;
  if (strcmp(phase, "read") != 0 && strcmp(phase, "run") != 0)
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

const char *heed_web_explain_method(uint32_t index) { return heed_explain_method_name(index); }

const char *heed_web_patch_map(uint32_t index) { return heed_patch_map_name(index); }

const char *heed_web_patch_map_method(uint32_t index) { return heed_patch_map_method(index); }

void heed_web_explain_end(heed_web_model *model) {
  heed_explainer_destroy(model->explainer);
  model->explainer = NULL;
}

/* map.NAME [pictures, patches] of each map. */
static heed_status take_maps(heed_web *web, const heed_explanation *explanation,
                             const uint32_t *maps, uint32_t count, uint32_t pictures,
                             heed_patches grid) {
  const uint32_t dim[2] = {pictures, grid.rows * grid.columns};
  float *map = heed_web_alloc(web, (size_t)dim[0] * dim[1] * sizeof *map);
  heed_status status = map ? HEED_OK : HEED_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    char name[64];
    for (uint32_t b = 0; b < pictures && status == HEED_OK; b++)
      status = heed_patch_map(explanation, maps[i], b, grid, map + (size_t)b * dim[1], &web->error);
    if (status != HEED_OK) break;
    snprintf(name, sizeof name, "map.%s", heed_patch_map_name(maps[i]));
    heed_host_take(name, HEED_F32, 2, dim, map);
  }
  heed_web_free(web, map);
  return status;
}

heed_status heed_web_explain(heed_web *web, heed_web_model *model, const heed_web_model *text,
                             const char *methods, const char *target, const char *sites,
                             const char *heads, const struct heed_web_out_explaining *wanted,
                             const double *percent, uint32_t percents, const uint32_t *maps,
                             uint32_t map_count, const char *names, const uint32_t *shapes,
                             const void *const *data, uint32_t count) {
  heed_named_tensor inputs[HEED_WEB_EXPLAIN_INPUTS];
  for (uint32_t i = 0; i < count; i++, names += strlen(names) + 1, shapes += 6) {
    inputs[i] = (heed_named_tensor){names, (heed_dtype)shapes[0], {.rank = shapes[1]}, data[i]};
    memcpy(inputs[i].shape.dim, shapes + 2, 4 * sizeof *shapes);
  }
  const heed_hooks hooks = {sizeof hooks, tell, stop, NULL};
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = model->model,
                            .text = text ? text->model : NULL,
                            .backend = web->backend,
                            .methods = methods,
                            .target = *target ? target : NULL,
                            .layer_given = wanted->layer >= 0.0,
                            .layer = wanted->layer >= 0.0 ? (uint32_t)wanted->layer : 0,
                            .inputs = inputs,
                            .input_count = count,
                            .sites = *sites ? sites : NULL,
                            .heads = *heads ? heads : NULL,
                            .square = (uint32_t)wanted->square,
                            .source_mean = wanted->source_mean != 0.0,
                            .ig_steps = (uint32_t)wanted->ig_steps,
                            .steps = (uint32_t)wanted->steps,
                            .curves = (heed_curve_kind)wanted->curves,
                            .flip_pixels = (uint32_t)wanted->flip_pixels,
                            .percent = percents ? percent : NULL,
                            .percent_count = percents,
                            .hooks = &hooks};
  heed_explanation *explanation;
  if (wanted->keep != 0.0 && !model->explainer) {
    const heed_status made = heed_explainer_create(web->context, &model->explainer, &web->error);
    if (made != HEED_OK) return made;
  }
  if (wanted->keep != 0.0) desc.explainer = model->explainer;
  heed_status status = heed_explain(web->context, &desc, &explanation, &web->error);
  if (status != HEED_OK) return status;
  take_all(explanation);
  const heed_patches grid = {(uint32_t)wanted->rows, (uint32_t)wanted->columns};
  if (map_count)
    status = take_maps(web, explanation, maps, map_count, (uint32_t)wanted->pictures, grid);
  heed_explanation_destroy(explanation);
  return status;
}
