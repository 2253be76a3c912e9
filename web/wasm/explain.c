/* Definitions of heed.h over plain arrays, for who calls them at once and without a model, and
 * colour maps. Blocks are the caller's. See shim.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/attention_map.h"
#include "explain/changes.h"
#include "shim.h"

_Static_assert(HEED_WEB_CODE(fusion, mean) == HEED_FUSION_MEAN &&
                   HEED_WEB_CODE(fusion, min) == HEED_FUSION_MIN &&
                   HEED_WEB_CODE(fusion, max) == HEED_FUSION_MAX,
               "the record fusion is heed_fusion");

void heed_web_map_mean(const float *weights, uint32_t heads, size_t count, float *mean) {
  heed_map_mean_of(weights, heads, count, mean);
}

double heed_web_map_entropy(const float *row, uint32_t n) { return heed_map_entropy(row, n); }

void heed_web_map_mass_mask(const float *weights, uint32_t *order, uint32_t n, double share,
                            uint8_t *mask) {
  heed_map_mass_mask(weights, n, share, mask, order);
}

double heed_web_map_divergence(const float *a, const float *b, uint32_t n) {
  return heed_map_divergence(a, b, n);
}

void heed_web_map_distances(const float *maps, uint32_t heads, uint32_t queries, uint32_t tokens,
                            uint32_t stride, double *distances) {
  heed_map_distances(maps, heads, queries, tokens, stride, distances);
}

heed_status heed_web_map_groups(heed_web *web, const double *distances, uint32_t count,
                                double limit, uint32_t *group) {
  uint32_t groups;
  return heed_map_groups(web->context, distances, count, limit, group, &groups, &web->error);
}

double heed_web_map_share(const float *row, const uint8_t *region, uint32_t n) {
  return heed_map_share(row, region, n);
}

double heed_web_map_mean_share(const float *attention, const uint8_t *region, uint32_t tokens,
                               uint32_t prefix) {
  return heed_map_mean_share(attention, tokens, prefix, region);
}

heed_status heed_web_map_rank_correlation(heed_web *web, const float *a, const float *b, uint32_t n,
                                          double *rho) {
  return heed_map_rank_correlation(web->context, a, b, n, rho, &web->error);
}

void heed_web_map_statistics(heed_web *web, const float *attention, uint32_t prefix, uint32_t rows,
                             uint32_t columns, double patch) {
  heed_map_statistics statistics;
  heed_map_get_statistics(attention, prefix, rows, columns, patch, &statistics);
#define FIELD(name) .name = statistics.name,
  web->out.statistics = (struct heed_web_out_statistics){HEED_WEB_STATISTICS(FIELD)};
#undef FIELD
}

heed_status heed_web_map_rollout(heed_web *web, const float *all, uint32_t layers, uint32_t heads,
                                 uint32_t tokens, heed_fusion fusion, double residual,
                                 uint32_t first_layer, uint32_t layer_count, double discard,
                                 float *rollout) {
  const heed_rollout_desc desc = {sizeof desc,     layers,      heads,       tokens,         fusion,
                                  (float)residual, first_layer, layer_count, (float)discard, NULL};
  return heed_map_rollout(web->context, &desc, all, rollout, &web->error);
}

heed_status heed_web_map_rollout_back(heed_web *web, const float *layer, uint32_t heads,
                                      uint32_t tokens, heed_fusion fusion, double residual,
                                      double discard, double *row) {
  const heed_rollout_desc desc = {.struct_size = sizeof desc,
                                  .layers = 1,
                                  .heads = heads,
                                  .tokens = tokens,
                                  .fusion = fusion,
                                  .residual = (float)residual,
                                  .discard = (float)discard};
  return heed_map_rollout_back(web->context, &desc, layer, row, &web->error);
}

void heed_web_score_products(const float *one, const float *all, uint32_t tokens, uint32_t depth,
                             uint32_t scaled, float *scores) {
  heed_score_products(one, all, tokens, depth, scaled != 0, scores);
}

void heed_web_score_mask(const heed_changes *changes, uint32_t layer, uint32_t head, uint32_t token,
                         uint32_t reverse, double temperature, uint32_t tokens, float *scores) {
  heed_score_mask(changes, layer, head, token, reverse != 0, temperature, tokens, scores);
}

void heed_web_score_softmax(const float *scores, uint32_t n, double *weights) {
  heed_score_softmax(scores, n, weights);
}

void heed_web_score_values(const float *weights, const float *values, uint32_t tokens,
                           uint32_t depth, uint32_t reverse, float *scores) {
  heed_score_values(weights, values, tokens, depth, reverse != 0, scores);
}

void heed_web_score_mean(const float *scores, uint32_t heads, uint32_t tokens, float *mean) {
  heed_score_mean(scores, heads, tokens, mean);
}

/* ------------------------------------------------------------------------------------- texts */

uint32_t heed_web_text_row(const int32_t *ids, uint32_t count, int32_t end, uint32_t padded) {
  const heed_model_info info = {.end = end, .text_padded = padded != 0};
  return heed_text_row(&info, ids, count);
}

void heed_web_text_compare(const float *image, const float *texts, uint32_t count, uint32_t size,
                           double scale, double bias, uint32_t biased, float *logits,
                           double *probability) {
  const heed_model_info info = {.projection = size,
                                .logit_scale = (float)scale,
                                .logit_bias = (float)bias,
                                .biased = biased != 0};
  heed_compare(&info, image, texts, count, logits, probability);
}

void heed_web_text_similarity(const float *states, const float *one, uint32_t count, uint32_t size,
                              float *cosines) {
  for (uint32_t i = 0; i < count; i++)
    cosines[i] = heed_cosine(states + (size_t)i * size, one, size);
}

/* ----------------------------------------------------------------------------------- changes */

heed_status heed_web_changes_create(heed_web *web, uint32_t layers, uint32_t heads, uint32_t tokens,
                                    uint32_t width) {
  const heed_model_info info = {.layers = layers, .heads = heads, .width = width};
  heed_changes *changes;
  HEED_TRY(heed_changes_create(web->context, &info, tokens, &changes, &web->error));
  web->out.opened.address = HEED_WEB_ADDRESS(changes);
  return HEED_OK;
}

void heed_web_changes_destroy(heed_changes *changes) { heed_changes_destroy(changes); }

heed_status heed_web_changes_ablate(heed_web *web, heed_changes *changes, uint32_t layer,
                                    uint32_t head) {
  return heed_changes_ablate(changes, layer, head, &web->error);
}

heed_status heed_web_changes_gain(heed_web *web, heed_changes *changes, uint32_t layer,
                                  uint32_t head, double gain) {
  return heed_changes_gain(changes, layer, head, (float)gain, &web->error);
}

heed_status heed_web_changes_drop(heed_web *web, heed_changes *changes, uint32_t token) {
  return heed_changes_drop(changes, token, &web->error);
}

heed_status heed_web_changes_cut(heed_web *web, heed_changes *changes, uint32_t query,
                                 uint32_t key) {
  return heed_changes_cut(changes, query, key, &web->error);
}

heed_status heed_web_changes_replace(heed_web *web, heed_changes *changes, uint32_t layer,
                                     const float *output) {
  return heed_changes_replace(changes, layer, output, &web->error);
}

size_t heed_web_changes_room(const heed_changes *changes) {
  return heed_changes_room(changes) + sizeof(heed_changes_input);
}

uint32_t heed_web_changes_input(heed_web *web, const heed_changes *changes, uint32_t index,
                                unsigned char *block) {
  heed_changes_input *input = (heed_changes_input *)(void *)block;
  const uint32_t count = heed_changes_input_count(changes);
  if (index >= count) return count;
  heed_changes_get_input(changes, index, input, block + sizeof *input);
  web->out.input = (struct heed_web_out_input){.name = HEED_WEB_ADDRESS(input->name),
                                               .dtype = (double)input->dtype,
                                               .address = HEED_WEB_ADDRESS(block + sizeof *input),
                                               .bytes = (double)input->bytes};
  return count;
}

void heed_web_colormap(const char *name, uint8_t *rgb) {
  heed_colormap map = HEED_COLORMAP_CIVIDIS;
  while (map < HEED_COLORMAP_GREY && strcmp(heed_colormap_name(map), name) != 0) map++;
  for (int i = 0; i < 256; i++) heed_colormap_rgb(map, i / 255.0, rgb + 3 * i);
}
