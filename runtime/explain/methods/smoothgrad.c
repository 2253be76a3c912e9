/* smoothgrad [B, channels, height, width]: the mean of the gradients at noisy pictures (Smilkov et
 * al. 2017). Noise [n, channels, height, width] comes from the inputs; else it is normal, 0.15 of
 * the picture's range wide, and the same in each run. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/changed_pixels.h"

#define PI 3.14159265358979323846
#define WIDTH 0.15
enum { SAMPLES = 16 };

typedef struct smoother {
  const float *noise; /* [n, size], or NULL: made */
  size_t size;        /* pixels of a picture */
  uint32_t batch;
} smoother;

/* A number in (0, 1) of a counter (Steele et al. 2014, SplitMix64). */
static double uniform(uint64_t counter) {
  uint64_t z = (counter + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Box & Muller 1958. */
static double normal(uint64_t counter) {
  return sqrt(-2.0 * log(uniform(2 * counter))) * cos(2.0 * PI * uniform(2 * counter + 1));
}

static double range_of(const float *x, size_t count) {
  float least = x[0], most = x[0];
  for (size_t i = 1; i < count; i++) {
    least = x[i] < least ? x[i] : least;
    most = x[i] > most ? x[i] : most;
  }
  return (double)most - (double)least;
}

static void add_noise(void *user, uint32_t step, const float *x, float *to) {
  const smoother *s = user;
  const size_t first = step * s->size;
  for (uint32_t b = 0; b < s->batch; b++, x += s->size, to += s->size) {
    const double width = s->noise ? 0.0 : WIDTH * range_of(x, s->size);
    for (size_t i = 0; i < s->size; i++)
      to[i] = s->noise ? x[i] + s->noise[first + i]
                       : (float)((double)x[i] + width * normal((uint64_t)first + i));
  }
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  const heed_named_tensor *noise = heed_explain_find(run, "noise"),
                          *x = heed_explain_find(run, "pixel_values");
  char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
  (void)pass;
  if (!noise) return HEED_OK;
  heed_shape fits = x->shape;
  fits.dim[0] = noise->shape.dim[0];
  if (heed_shape_equal(&noise->shape, &fits)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "noise: wrong shape (found %s, expected %s)",
                   heed_shape_text(&noise->shape, found), heed_shape_text(&fits, expected));
}

static heed_status smooth(heed_explain_run *run, heed_backward *backward, uint32_t samples,
                          double *weights, float *to, heed_error *error) {
  const heed_named_tensor *noise = heed_explain_find(run, "noise"),
                          *x = heed_explain_find(run, "pixel_values");
  const size_t count = (size_t)heed_shape_count(&x->shape);
  double *sum = weights + samples;
  smoother s = {noise ? noise->data : NULL, count / run->pass.batch, run->pass.batch};
  for (uint32_t i = 0; i < samples; i++) weights[i] = 1.0 / samples;
  HEED_TRY(heed_pixels_sum(run, backward, samples, add_noise, &s, weights, sum, error));
  for (size_t i = 0; i < count; i++) to[i] = (float)sum[i];
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *noise = heed_explain_find(run, "noise"),
                          *x = heed_explain_find(run, "pixel_values");
  const uint32_t samples = noise ? noise->shape.dim[0] : SAMPLES;
  const size_t count = samples + (size_t)heed_shape_count(&x->shape);
  float *to = heed_explain_add(run, "smoothgrad", HEED_F32, &x->shape, error);
  if (!to) return HEED_OUT_OF_MEMORY;
  heed_backward backward = {.graph = NULL};
  double *room = heed_alloc(run->context, count, sizeof *room);
  heed_status status = room ? heed_pixels_open(run, &backward, "smoothgrad", error)
                            : heed_fail_memory(error, "smoothgrad", count * sizeof *room);
  if (status == HEED_OK) status = smooth(run, &backward, samples, room, to, error);
  heed_backward_close(run, &backward);
  heed_free(run->context, room);
  return status;
}

const heed_explain_method heed_method_smoothgrad = {
    .name = "smoothgrad", .reverse = true, .prepare = prepare, .compute = compute};
