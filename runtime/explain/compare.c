/* An image beside texts: cosines of their embeddings, and the probabilities that the model makes of
 * them. Sources: Radford et al. 2021 (softmax over the texts); Zhai et al. 2023 (a sigmoid each).
 */
#include <math.h>

#include "explain/softmax.h"
#include "heed/explain.h"

float heed_cosine(const float *a, const float *b, uint32_t size) {
  double product = 0.0, a_square = 0.0, b_square = 0.0;
  for (uint32_t i = 0; i < size; i++) {
    product += (double)a[i] * (double)b[i];
    a_square += (double)a[i] * (double)a[i];
    b_square += (double)b[i] * (double)b[i];
  }
  return (float)(product / sqrt(a_square * b_square));
}

void heed_compare(const heed_model_info *text, const float *image, const float *texts,
                  uint32_t count, float *logits, double *probability) {
  const double factor = exp((double)text->logit_scale);
  for (uint32_t i = 0; i < count; i++) {
    const float *one = texts + (size_t)i * text->projection;
    logits[i] = (float)(factor * (double)heed_cosine(image, one, text->projection) +
                        (double)text->logit_bias);
  }
  if (!probability) return;
  const heed_softmax softmax = heed_softmax_over(logits, count);
  for (uint32_t i = 0; i < count; i++)
    probability[i] = text->biased ? 1.0 / (1.0 + exp(-(double)logits[i]))
                                  : heed_softmax_share(&softmax, logits[i]);
}
