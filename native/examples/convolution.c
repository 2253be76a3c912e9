/* Attention can be a convolution (Cordonnier et al. 2020): nine heads, each looking at one
 * neighbour of its pixel, and an output projection that holds the kernel give the 3 x 3
 * convolution. Compared with the plain loop over the same numbers. The mask that says who looks
 * where has nine times the square of the number of pixels, so this shows that it can be done. */
#include <string.h>

#include "example.h"

enum { CHANNELS = 2, RESULTS = 3, HEIGHT = 5, WIDE = 6, SIDE = 3 };
enum { PIXELS = HEIGHT * WIDE, HEADS = SIDE * SIDE };

/* Small numbers without a pattern. */
static float number(int i) { return (float)((i * 37 + 11) % 19 - 9) / 8.0f; }

static float image_at(const float *image, int channel, int row, int column) {
  const bool inside = row >= 0 && row < HEIGHT && column >= 0 && column < WIDE;
  return inside ? image[(channel * HEIGHT + row) * WIDE + column] : 0.0f;
}

static float convolve(const float *image, const float *kernel, int result, int row, int column) {
  float sum = 0.0f;
  for (int c = 0; c < CHANNELS; c++)
    for (int i = 0; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++)
        sum += kernel[((result * CHANNELS + c) * SIDE + i) * SIDE + j] *
               image_at(image, c, row + i - SIDE / 2, column + j - SIDE / 2);
  return sum;
}

/* Head (a, b) lets each pixel see the one a - 1 rows below and b - 1 columns beside it: mask
 * [HEADS, PIXELS, PIXELS]. A pixel whose neighbour lies outside sees nothing, which gives 0. */
static void fill_mask(uint8_t *mask) {
  memset(mask, 0, HEADS * PIXELS * PIXELS);
  for (int head = 0; head < HEADS; head++)
    for (int pixel = 0; pixel < PIXELS; pixel++) {
      const int row = pixel / WIDE + head / SIDE - SIDE / 2,
                column = pixel % WIDE + head % SIDE - SIDE / 2;
      if (row >= 0 && row < HEIGHT && column >= 0 && column < WIDE)
        mask[(head * PIXELS + pixel) * PIXELS + row * WIDE + column] = 1;
    }
}

/* kernel [RESULTS, CHANNELS, SIDE, SIDE] -> the projection [RESULTS, HEADS CHANNELS] of heads side
 * by side. */
static void turn_kernel(const float *kernel, float *projection) {
  for (int result = 0; result < RESULTS; result++)
    for (int channel = 0; channel < CHANNELS; channel++)
      for (int head = 0; head < HEADS; head++)
        projection[(result * HEADS + head) * CHANNELS + channel] =
            kernel[(result * CHANNELS + channel) * HEADS + head];
}

/* image [1, CHANNELS, PIXELS] -> [1, RESULTS, PIXELS]. Queries and keys are zeros, so the mask
 * alone says where a head looks, and the values are the pixels. */
static heed_value attend(example *e, heed_value image, const uint8_t *mask,
                         const float *projection) {
  static const float zeros[HEADS * PIXELS];
  const heed_shape tokens = {4, {1, 1, PIXELS, CHANNELS}};
  const heed_permute_desc to_tokens = {
      .struct_size = sizeof to_tokens, .x = image, .order = {0, 2, 1}};
  const heed_constant_desc seen = {.struct_size = sizeof seen,
                                   .dtype = HEED_U8,
                                   .shape = {4, {1, HEADS, PIXELS, PIXELS}},
                                   .data = mask};
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = example_constant(e, (heed_shape){4, {1, HEADS, PIXELS, 1}}, zeros),
      .key = example_constant(e, (heed_shape){4, {1, 1, PIXELS, 1}}, zeros),
      .value = heed_define_reshape(e->graph, heed_define_permute(e->graph, &to_tokens), &tokens),
      .mask = heed_define_constant(e->graph, &seen),
      .merge_heads = true};
  const heed_linear_desc sum = {
      .struct_size = sizeof sum,
      .x = heed_define_attention(e->graph, &attention).output,
      .weight = example_constant(e, (heed_shape){2, {RESULTS, HEADS * CHANNELS}}, projection)};
  const heed_permute_desc to_planes = {
      .struct_size = sizeof to_planes, .x = heed_define_linear(e->graph, &sum), .order = {0, 2, 1}};
  return heed_define_permute(e->graph, &to_planes);
}

int main(void) {
  static uint8_t mask[HEADS * PIXELS * PIXELS];
  float image[CHANNELS * PIXELS], kernel[RESULTS * CHANNELS * HEADS],
      projection[RESULTS * HEADS * CHANNELS], found[RESULTS * PIXELS], expected[RESULTS * PIXELS];
  for (int i = 0; i < CHANNELS * PIXELS; i++) image[i] = number(i);
  for (int i = 0; i < RESULTS * CHANNELS * HEADS; i++) kernel[i] = number(i + 1000);
  for (int i = 0; i < RESULTS * PIXELS; i++)
    expected[i] = convolve(image, kernel, i / PIXELS, i / WIDE % HEIGHT, i % WIDE);
  fill_mask(mask);
  turn_kernel(kernel, projection);
  example e;
  example_begin(&e);
  const heed_value x =
      example_input(&e, "image", HEED_F32, (heed_shape){3, {1, CHANNELS, PIXELS}}, image);
  const heed_value y = attend(&e, x, mask, projection);
  heed_graph_output(e.graph, y);
  example_run(&e);
  example_read(&e, y, found);
  example_end(&e);
  example_print("nine heads with one neighbour each, first channel of the result", found, HEIGHT,
                WIDE);
  example_print("the convolution", expected, HEIGHT, WIDE);
  return example_agree("convolution", found, expected, sizeof found / sizeof *found, 1e-5)
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}
