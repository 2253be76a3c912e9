/* heed run --explain: maps that are made of gradients of the score, by heed_explain. Each is a
 * number a patch; a map of pixels is summed over the pixels and channels of a patch, with their
 * signs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explained_methods.h"

/* patches [count] of a tensor [1, tokens], [1, patches] or [1, channels, height, width]. */
static void fill_patches(const run_explained *explained, const char *name, float *patches) {
  const heed_named_tensor *tensor = run_explained_tensor(explained, name);
  const uint32_t *dim = tensor->shape.dim;
  const float *from = tensor->data;
  if (tensor->shape.rank == 2) {
    memcpy(patches, from + (dim[1] - explained->patches), explained->patches * sizeof *patches);
    return;
  }
  const uint32_t high = dim[2] / explained->grid.rows, wide = dim[3] / explained->grid.columns;
  for (uint32_t p = 0; p < explained->patches; p++) {
    const size_t top = (size_t)(p / explained->grid.columns) * high,
                 left = (size_t)(p % explained->grid.columns) * wide;
    double sum = 0.0;
    for (size_t c = 0; c < dim[1]; c++)
      for (size_t y = top; y < top + high; y++)
        for (size_t x = left; x < left + wide; x++)
          sum += (double)from[(c * dim[2] + y) * dim[3] + x];
    patches[p] = (float)sum;
  }
}

static void json_patches(json_out *json, const run_explained *explained, const char *name) {
  float *patches = malloc(explained->patches * sizeof *patches);
  if (patches) fill_patches(explained, name, patches);
  if (patches) json_floats(json, "patches", patches, explained->patches);
  free(patches);
}

static void json_score(json_out *json, const run_explained *explained) {
  json_number(json, "score",
              (double)*(const float *)run_explained_tensor(explained, "score")->data);
}

/* The largest number in size. */
static float end_of(const float *patches, uint32_t count) {
  float end = 0.0f;
  for (uint32_t p = 0; p < count; p++) end = fmaxf(end, fabsf(patches[p]));
  return end;
}

/* Maps without negative numbers are dark to bright, others blue to red. */
static void colour_patches(const run_explained *explained, const char *name, bool positive,
                           float *rgb) {
  float *patches = malloc(explained->patches * sizeof *patches);
  if (patches) fill_patches(explained, name, patches);
  const float end = patches ? end_of(patches, explained->patches) : 0.0f;
  for (uint32_t p = 0; p < explained->patches; p++, rgb += 3) {
    const float share = !patches ? NAN : end > 0.0f ? patches[p] / end : 0.0f * patches[p];
    uint8_t bytes[3];
    if (!positive) {
      run_explained_colour(share, rgb);
      continue;
    }
    heed_colormap_rgb(HEED_COLORMAP_CIVIDIS, (double)share, bytes);
    for (int c = 0; c < 3; c++) rgb[c] = isnan(share) ? NAN : (float)bytes[c] / 255.0f;
  }
  free(patches);
}

/* ------------------------------------------------------------------------------ one map a method
 */

#define POSITIVE true
#define SIGNED false
#define SCALE_POSITIVE "From 0 (dark) to the largest (bright). "
#define SCALE_SIGNED "Red speaks for it, blue against it, up to the largest in size. "

/* A method of one map: the tensor, whether it has no negative numbers, title and caption. */
#define MAP(method, tensor, sign, heading, text)                                                \
  static void json_##method(json_out *json, const run_explained *explained) {                   \
    json_score(json, explained);                                                                \
    json_patches(json, explained, tensor);                                                      \
  }                                                                                             \
  static void colour_##method(const run_explained *explained, float *rgb) {                     \
    colour_patches(explained, tensor, sign, rgb);                                               \
  }                                                                                             \
  static void words_of_##method(const run_explained *explained, const char *query,              \
                                char title[RUN_EXPLAINED_TITLE_SIZE],                           \
                                char caption[RUN_EXPLAINED_CAPTION_SIZE]) {                     \
    (void)query;                                                                                \
    snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "%s of %s", heading, explained->target);          \
    snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE, "%s%s", sign ? SCALE_POSITIVE : SCALE_SIGNED, \
             text);                                                                             \
  }                                                                                             \
  const run_explained_method run_explained_##method = {.name = #method,                         \
                                                       .json = json_##method,                   \
                                                       .colour = colour_##method,               \
                                                       .words = words_of_##method};

MAP(relevancy, "relevancy.chefer", POSITIVE, "relevancy (Chefer et al.)",
    "Attention times its gradient where that is positive, from layer to layer: what speaks against "
    "the score is left out.")
MAP(gradient_rollout, "rollout.gradient", POSITIVE, "gradient rollout",
    "Attention rollout with attention times its gradient in place of attention. It sums to 1 over "
    "all tokens.")
MAP(attnlrp, "attnlrp.tokens", SIGNED, "relevance (AttnLRP)",
    "Relevance of the patches' embeddings. Biases take part, so that it does not sum to the score.")
MAP(cplrp, "cplrp.tokens", SIGNED, "relevance (CP-LRP)",
    "Relevance of the patches' embeddings, attention weights held. Biases take part.")
MAP(inputxgrad, "inputxgrad", SIGNED, "input times gradient",
    "Summed over the pixels of a patch. A gradient says what a very small change would do.")
MAP(ig, "ig", SIGNED, "integrated gradients",
    "Summed over the pixels of a patch. The path begins at the mean colour.")
MAP(smoothgrad, "smoothgrad", SIGNED, "mean gradient with noise",
    "Summed over the pixels of a patch.")

/* -------------------------------------------------------------------------------------- gradcam */

static const char *gradcam_name(uint32_t layer, char name[24]) {
  snprintf(name, 24, "gradcam.%u", layer);
  return name;
}

static void json_gradcam(json_out *json, const run_explained *explained) {
  const uint32_t dims[] = {explained->layers, explained->patches};
  float *all = malloc((size_t)dims[0] * dims[1] * sizeof *all);
  char name[24];
  json_score(json, explained);
  for (uint32_t l = 0; all && l < explained->layers; l++)
    fill_patches(explained, gradcam_name(l, name), all + (size_t)l * explained->patches);
  if (all) json_array(json, "layers", dims, 2, all);
  free(all);
}

static void panels_of_layers(const run_explained *explained, uint32_t *rows, uint32_t *columns) {
  *rows = explained->layers;
  *columns = 1;
}

static void colour_gradcam(const run_explained *explained, float *rgb) {
  char name[24];
  for (uint32_t l = 0; l < explained->layers; l++)
    colour_patches(explained, gradcam_name(l, name), true,
                   rgb + 3 * (size_t)l * explained->patches);
}

static void words_of_gradcam(const run_explained *explained, const char *query,
                             char title[RUN_EXPLAINED_TITLE_SIZE],
                             char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  (void)query;
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "Grad-CAM of %s, layer by layer", explained->target);
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "What the attention of a layer reads of a patch, times its mean gradient, where that is "
           "positive. Each layer has its own scale, from 0 (dark) to the largest (bright).");
}

const run_explained_method run_explained_gradcam = {.name = "gradcam",
                                                    .json = json_gradcam,
                                                    .panels = panels_of_layers,
                                                    .colour = colour_gradcam,
                                                    .words = words_of_gradcam};
