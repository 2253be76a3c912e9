/* The names of what can be tapped, as an enum has them. See heed/model.h. */
#include <stdio.h>

#include "heed/model.h"

/* Before the layer's number and after it; without the second there is no number. */
static const struct {
  const char *before, *after;
} names[HEED_TAP_COUNT] = {
    [HEED_TAP_EMBEDDINGS] = {"embeddings", NULL},
    [HEED_TAP_QUERY] = {"layer.", ".query"},
    [HEED_TAP_KEY] = {"layer.", ".key"},
    [HEED_TAP_VALUE] = {"layer.", ".value"},
    [HEED_TAP_WEIGHTS] = {"layer.", ".attention.weights"},
    [HEED_TAP_SCORES] = {"layer.", ".attention.logits"},
    [HEED_TAP_HEADS] = {"layer.", ".attention.output"},
    [HEED_TAP_OUTPUT] = {"layer.", ".output"},
    [HEED_TAP_POOL_QUERY] = {"pool.query", NULL},
    [HEED_TAP_POOL_KEY] = {"pool.key", NULL},
    [HEED_TAP_POOL_VALUE] = {"pool.value", NULL},
    [HEED_TAP_POOL_WEIGHTS] = {"pool.attention.weights", NULL},
    [HEED_TAP_POOL_SCORES] = {"pool.attention.logits", NULL},
    [HEED_TAP_POOL_HEADS] = {"pool.attention.output", NULL},
    [HEED_TAP_ENCODER_WEIGHTS] = {"encoder.", ".self.weights"},
    [HEED_TAP_ENCODER_SCORES] = {"encoder.", ".self.logits"},
    [HEED_TAP_ENCODER_OUTPUT] = {"encoder.", ".output"},
    [HEED_TAP_DECODER_WEIGHTS] = {"decoder.", ".self.weights"},
    [HEED_TAP_DECODER_SCORES] = {"decoder.", ".self.logits"},
    [HEED_TAP_CROSS_WEIGHTS] = {"decoder.", ".cross.weights"},
    [HEED_TAP_CROSS_SCORES] = {"decoder.", ".cross.logits"},
    [HEED_TAP_DECODER_OUTPUT] = {"decoder.", ".output"},
};

const char *heed_tap_name(heed_tap tap, uint32_t layer, char name[HEED_TAP_NAME_SIZE]) {
  if ((unsigned)tap >= HEED_TAP_COUNT)
    name[0] = '\0';
  else if (names[tap].after)
    snprintf(name, HEED_TAP_NAME_SIZE, "%s%u%s", names[tap].before, layer, names[tap].after);
  else
    snprintf(name, HEED_TAP_NAME_SIZE, "%s", names[tap].before);
  return name;
}

heed_value heed_graph_tap(const heed_graph *graph, heed_tap tap, uint32_t layer) {
  char name[HEED_TAP_NAME_SIZE];
  return heed_graph_find(graph, heed_tap_name(tap, layer, name));
}
