/* The three masks of an encoder-decoder, from token ids alone (0 is padding): who may look at whom.
 * Combined as Keras' MultiHeadAttention does: query is real AND key is real AND, in the decoder's
 * self-attention, the key does not come later. */
#include "example.h"

enum { SOURCE = 5, TARGET = 4 };
static const int32_t source_ids[SOURCE] = {7, 3, 9, 0, 0}, target_ids[TARGET] = {1, 5, 8, 0};

static void print_mask(const char *title, const uint8_t *mask, const int32_t *queries, size_t rows,
                       const int32_t *keys, size_t columns) {
  printf("%s\n        key", title);
  for (size_t k = 0; k < columns; k++) printf(" %d", keys[k]);
  printf("\n");
  for (size_t q = 0; q < rows; q++) {
    printf("  query %d  ", queries[q]);
    for (size_t k = 0; k < columns; k++) printf(" %c", mask[q * columns + k] ? '1' : '.');
    printf("\n");
  }
}

/* Whether every element is what the definition says. */
static bool check(const uint8_t *mask, const int32_t *queries, size_t rows, const int32_t *keys,
                  size_t columns, bool causal) {
  for (size_t q = 0; q < rows; q++)
    for (size_t k = 0; k < columns; k++)
      if (mask[q * columns + k] != (queries[q] != 0 && keys[k] != 0 && (!causal || k <= q)))
        return false;
  return true;
}

static heed_value define_mask(example *e, heed_value queries, heed_value keys, bool causal) {
  const heed_attention_mask_desc desc = {sizeof desc, queries, keys, causal, 0};
  const heed_value mask = heed_define_attention_mask(e->graph, &desc);
  heed_graph_output(e->graph, mask);
  return mask;
}

int main(void) {
  example e;
  uint8_t encoder_self[SOURCE * SOURCE], decoder_self[TARGET * TARGET],
      encoder_decoder[TARGET * SOURCE];
  example_begin(&e);
  const heed_value source =
      example_input(&e, "source", HEED_I32, (heed_shape){2, {1, SOURCE}}, source_ids);
  const heed_value target =
      example_input(&e, "target", HEED_I32, (heed_shape){2, {1, TARGET}}, target_ids);
  const heed_value masks[3] = {define_mask(&e, source, source, false),
                               define_mask(&e, target, target, true),
                               define_mask(&e, target, source, false)};
  example_run(&e);
  example_read(&e, masks[0], encoder_self);
  example_read(&e, masks[1], decoder_self);
  example_read(&e, masks[2], encoder_decoder);
  print_mask("encoder self-attention: the source looks at itself", encoder_self, source_ids, SOURCE,
             source_ids, SOURCE);
  print_mask("decoder self-attention: the target looks at what came before", decoder_self,
             target_ids, TARGET, target_ids, TARGET);
  print_mask("encoder-decoder attention: the target looks at the source", encoder_decoder,
             target_ids, TARGET, source_ids, SOURCE);
  example_end(&e);
  return check(encoder_self, source_ids, SOURCE, source_ids, SOURCE, false) &&
                 check(decoder_self, target_ids, TARGET, target_ids, TARGET, true) &&
                 check(encoder_decoder, target_ids, TARGET, source_ids, SOURCE, false)
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}
