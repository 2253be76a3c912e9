/* Splitting channels into heads: [B, T, C] -> [B, H, T, C / H] is reshape to [B, T, H, C / H] and a
 * permute of tokens and heads. A reshape alone has the same shape but cuts the row of memory
 * elsewhere: head 0 gets the first half of the tokens with all their channels, instead of all
 * tokens with the first half of their channels. */
#include <string.h>

#include "example.h"

enum { TOKENS = 4, HEADS = 2, DEPTH = 3, WIDTH = HEADS * DEPTH };

/* Channel c of token t is t.c, so that every number says where it comes from. */
static void fill(float x[TOKENS * WIDTH]) {
  for (int t = 0; t < TOKENS; t++)
    for (int c = 0; c < WIDTH; c++) x[t * WIDTH + c] = (float)t + (float)c / 10.0f;
}

static void print_heads(const char *title, const float *heads) {
  printf("%s\n", title);
  for (int h = 0; h < HEADS; h++)
    for (int t = 0; t < TOKENS; t++) {
      printf("  head %d token %d:", h, t);
      for (int d = 0; d < DEPTH; d++) printf(" %.1f", (double)heads[(h * TOKENS + t) * DEPTH + d]);
      printf("\n");
    }
}

int main(void) {
  example e;
  float x[TOKENS * WIDTH], wrong[TOKENS * WIDTH], right[TOKENS * WIDTH], merged[TOKENS * WIDTH];
  const heed_shape heads_first = {4, {1, HEADS, TOKENS, DEPTH}},
                   tokens_first = {4, {1, TOKENS, HEADS, DEPTH}}, whole = {3, {1, TOKENS, WIDTH}};
  fill(x);
  example_begin(&e);
  const heed_value input = example_input(&e, "x", HEED_F32, whole, x);
  const heed_value reshaped = heed_define_reshape(e.graph, input, &heads_first);
  const heed_permute_desc split = {
      sizeof split, heed_define_reshape(e.graph, input, &tokens_first), {0, 2, 1, 3}};
  const heed_value heads = heed_define_permute(e.graph, &split);
  const heed_permute_desc merge = {sizeof merge, heads, {0, 2, 1, 3}};
  const heed_value back =
      heed_define_reshape(e.graph, heed_define_permute(e.graph, &merge), &whole);
  heed_graph_output(e.graph, reshaped);
  heed_graph_output(e.graph, heads);
  heed_graph_output(e.graph, back);
  example_run(&e);
  example_read(&e, reshaped, wrong);
  example_read(&e, heads, right);
  example_read(&e, back, merged);
  example_end(&e);
  print_heads("reshape alone, wrong: head 0 sees tokens 0 and 1 only, each cut in two", wrong);
  print_heads(
      "reshape, then permute, right: each head sees every token, and its own channels of it",
      right);
  bool good = memcmp(merged, x, sizeof x) == 0 && memcmp(wrong, x, sizeof x) == 0;
  for (int h = 0; h < HEADS; h++)
    for (int t = 0; t < TOKENS; t++)
      for (int d = 0; d < DEPTH; d++)
        good = good && right[(h * TOKENS + t) * DEPTH + d] == x[t * WIDTH + h * DEPTH + d];
  printf("merged again: %s\n", good ? "the same numbers as before" : "other numbers");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
