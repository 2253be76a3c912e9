/* What the states of patches hold, over plain arrays. See shim.h. */
#include "shim.h"

heed_status heed_web_patches_pca(heed_web *web, const float *states, uint32_t rows,
                                 uint32_t columns, uint32_t channels, float *numbers,
                                 uint8_t *foreground) {
  const heed_patches grid = {rows, columns};
  const size_t patches = (size_t)rows * columns;
  heed_pca pca = {.mean = numbers, .foreground = foreground};
  pca.components = pca.mean + channels;
  pca.variance = pca.components + 3 * (size_t)channels;
  pca.scores = pca.variance + 3;
  pca.colours = pca.scores + 3 * patches;
  pca.rgb = pca.colours + 3 * (size_t)channels;
  return heed_patches_pca(web->context, states, &grid, 1, channels, &pca, &web->error);
}

heed_status heed_web_patches_cluster(heed_web *web, const float *states, uint32_t count,
                                     uint32_t channels, uint32_t clusters, int32_t *cluster,
                                     float *centres) {
  return heed_patches_cluster(web->context, states, count, channels, clusters, cluster, centres,
                              &web->error);
}

heed_status heed_web_patches_similarity(heed_web *web, const float *states, uint32_t count,
                                        const float *others, uint32_t other_count,
                                        uint32_t channels, float *similarity, int32_t *match) {
  const heed_status status = heed_patches_similarity(
      web->context, states, count, others, other_count, channels, similarity, &web->error);
  if (status == HEED_OK && others) heed_patches_match(similarity, count, other_count, match);
  return status;
}
