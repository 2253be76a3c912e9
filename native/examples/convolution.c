/* Attention can be a convolution (Cordonnier et al. 2020): nine heads, each looking at one
 * neighbour of its pixel, and an output projection that holds the kernel give the 3 x 3
 * convolution. Compared with the plain loop over the same numbers. */
#include "example.h"
#include "heed/check.h"

enum { CHANNELS = 2, RESULTS = 3, HEIGHT = 5, WIDE = 6, SIDE = 3 };

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

int main(void) {
  float image[CHANNELS * HEIGHT * WIDE], kernel[RESULTS * CHANNELS * SIDE * SIDE],
      found[RESULTS * HEIGHT * WIDE], expected[RESULTS * HEIGHT * WIDE];
  for (int i = 0; i < CHANNELS * HEIGHT * WIDE; i++) image[i] = number(i);
  for (int i = 0; i < RESULTS * CHANNELS * SIDE * SIDE; i++) kernel[i] = number(i + 1000);
  for (int i = 0; i < RESULTS * HEIGHT * WIDE; i++)
    expected[i] = convolve(image, kernel, i / (HEIGHT * WIDE), i / WIDE % HEIGHT, i % WIDE);
  example e;
  example_begin(&e);
  const heed_value y = heed_define_attention_as_convolution(
      e.graph,
      example_input(&e, "image", HEED_F32, (heed_shape){4, {1, CHANNELS, HEIGHT, WIDE}}, image),
      example_constant(&e, (heed_shape){4, {RESULTS, CHANNELS, SIDE, SIDE}}, kernel));
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
