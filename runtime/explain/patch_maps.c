/* Maps over the patches, one a picture, from what the methods of heed_explain gave: what heed judge
 * judges. A map is a row of the table: its method and how its tensors become a number a patch. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "heed/explain.h"

/* Where a map is made. */
typedef struct place {
  const heed_explanation *from;
  heed_patches grid;
  uint32_t b, patches;
  const char *tensor;
  float *map; /* [patches] */
} place;

static const heed_named_tensor *find(const heed_explanation *from, const char *name) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; from && (tensor = heed_explanation_get(from, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) return tensor;
  return NULL;
}

/* The last numbers of picture b of a tensor [B, ..., tokens]: those of the patches at the end. */
static bool take_last(const place *p, const char *name, float factor) {
  const heed_named_tensor *tensor = find(p->from, name);
  if (!tensor) return false;
  const size_t count = (size_t)heed_shape_count(&tensor->shape) / tensor->shape.dim[0];
  if (count < p->patches) return false;
  const float *numbers = (const float *)tensor->data + (p->b + (size_t)1) * count - p->patches;
  for (uint32_t i = 0; i < p->patches; i++) p->map[i] += factor * numbers[i];
  return true;
}

static bool from_patches(const place *p) { return take_last(p, p->tensor, 1.0f); }

/* What all heads read from each patch, and what it gave by itself. */
static bool from_ledger(const place *p) {
  const heed_named_tensor *heads = find(p->from, "ledger.heads");
  if (!heads || heads->shape.rank != 4) return false;
  const uint32_t rows = heads->shape.dim[1] * heads->shape.dim[2], tokens = heads->shape.dim[3];
  const float *numbers = (const float *)heads->data + (size_t)p->b * rows * tokens;
  for (uint32_t i = 0; i < p->patches; i++) {
    double sum = 0.0;
    for (uint32_t r = 0; r < rows; r++)
      sum += (double)numbers[(size_t)r * tokens + tokens - p->patches + i];
    p->map[i] = (float)sum;
  }
  return take_last(p, "ledger.embeddings", 1.0f);
}

/* The first component, its foreground above. */
static bool from_components(const place *p) {
  const heed_named_tensor *scores = find(p->from, "pca.scores"),
                          *foreground = find(p->from, "pca.foreground");
  if (!scores || !foreground) return false;
  const float *first = (const float *)scores->data + (size_t)p->b * p->patches * 3;
  const uint8_t *in = (const uint8_t *)foreground->data + (size_t)p->b * p->patches;
  bool below = false;
  for (uint32_t i = 0; i < p->patches; i++) below = below || (!in[i] && first[3 * i] > 0.0f);
  for (uint32_t i = 0; i < p->patches; i++) p->map[i] = below ? -first[3 * i] : first[3 * i];
  return true;
}

/* How unlike the others a patch is. */
static bool from_similarity(const place *p) {
  const heed_named_tensor *similarity = find(p->from, "similarity");
  if (!similarity) return false;
  const float *rows = (const float *)similarity->data + (size_t)p->b * p->patches * p->patches;
  for (uint32_t i = 0; i < p->patches; i++, rows += p->patches) {
    double sum = 0.0;
    for (uint32_t j = 0; j < p->patches; j++) sum += (double)rows[j];
    p->map[i] = (float)(-sum / p->patches);
  }
  return true;
}

/* Pixels and channels of each patch together, signed; of a tensor [B, channels, height, width]. */
static bool from_pixels(const place *p) {
  const heed_named_tensor *tensor = find(p->from, p->tensor);
  if (!tensor || tensor->shape.rank != 4) return false;
  const uint32_t *dim = tensor->shape.dim, high = dim[2] / p->grid.rows,
                 wide = dim[3] / p->grid.columns, lines = dim[1] * dim[2];
  const float *line = (const float *)tensor->data + (size_t)p->b * lines * dim[3];
  if (!high || !wide) return false;
  for (uint32_t y = 0; y < lines; y++, line += dim[3]) {
    const uint32_t row = y % dim[2] / high;
    for (uint32_t x = 0; row < p->grid.rows && x < wide * p->grid.columns; x++)
      p->map[row * p->grid.columns + x / wide] += line[x];
  }
  return true;
}

/* That of the last layer. */
static bool from_gradcam(const place *p) {
  char name[32], last[32] = "";
  for (uint32_t l = 0; l < 1000; l++) {
    snprintf(name, sizeof name, "gradcam.%u", l);
    if (!find(p->from, name)) break;
    memcpy(last, name, sizeof last);
  }
  return take_last(p, last, 1.0f);
}

/* The nearer to the middle of the picture the larger. */
static bool from_centre(const place *p) {
  for (uint32_t i = 0; i < p->patches; i++) {
    const double y = 2.0 * (i / p->grid.columns) + 1.0 - p->grid.rows,
                 x = 2.0 * (i % p->grid.columns) + 1.0 - p->grid.columns;
    p->map[i] = (float)-sqrt(x * x + y * y);
  }
  return true;
}

static const struct patch_map {
  const char *name, *method, *tensor; /* a map without a method reads no tensor */
  bool (*make)(const place *place);
} maps[] = {
    {"attention", "attention", "attention.last", from_patches},
    {"rollout", "attention", "attention.rollout", from_patches},
    {"ledger", "ledger", NULL, from_ledger},
    {"activation", "ledger", "ledger.tokens", from_patches},
    {"lens", "lens", "lens", from_patches},
    {"norms", "norms", "norms", from_patches},
    {"pca", "pca", NULL, from_components},
    {"unlike", "similarity", NULL, from_similarity},
    {"relevancy", "relevancy", "relevancy.chefer", from_patches},
    {"gradient-rollout", "gradient_rollout", "rollout.gradient", from_patches},
    {"gradcam", "gradcam", NULL, from_gradcam},
    {"inputxgrad", "inputxgrad", "inputxgrad", from_pixels},
    {"ig", "ig", "ig", from_pixels},
    {"smoothgrad", "smoothgrad", "smoothgrad", from_pixels},
    {"cplrp", "cplrp", "cplrp.tokens", from_patches},
    {"attnlrp", "attnlrp", "attnlrp.tokens", from_patches},
    {"centre", NULL, NULL, from_centre},
};
enum { MAPS = sizeof maps / sizeof *maps };

const char *heed_patch_map_name(uint32_t index) { return index < MAPS ? maps[index].name : NULL; }

const char *heed_patch_map_method(uint32_t index) {
  return index < MAPS ? maps[index].method : NULL;
}

heed_status heed_patch_map(const heed_explanation *explanation, uint32_t index, uint32_t picture,
                           heed_patches grid, float *map, heed_error *error) {
  if (index >= MAPS)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "map: unknown map (found %u, expected below %u)",
                     index, (uint32_t)MAPS);
  const place p = {explanation, grid, picture, grid.rows * grid.columns, maps[index].tensor, map};
  for (uint32_t i = 0; i < p.patches; i++) map[i] = 0.0f;
  if (maps[index].make(&p)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "map: %s needs what method %s gives (found an explanation without)",
                   maps[index].name, maps[index].method);
}
