/* Values of a model by their names, to be kept beside or instead of its maps: --save-only, and
 * heed embed. A name may be a pattern of fnmatch(3). Besides the values of the graph there are
 *   attention.N  layer.N.attention.weights
 *   cls          [B, C], the class token of last_hidden_state
 *   mean         [B, C], the mean of the patches of last_hidden_state
 *   embedding    the first that the model has of image_embeds, pooler_output, pre_logits, cls, mean
 */
#ifndef HEED_CLI_SESSION_FEATURES_H
#define HEED_CLI_SESSION_FEATURES_H

#include "pipeline.h"

typedef enum cli_feature_kind {
  CLI_FEATURE_WHOLE,
  CLI_FEATURE_CLS,
  CLI_FEATURE_MEAN
} cli_feature_kind;

typedef struct cli_feature {
  char name[64];      /* what files call it */
  const char *source; /* what it is made of, in the graph */
  cli_feature_kind kind;
  heed_shape shape; /* of one picture, without the batch */
} cli_feature;

/* Set `option` and `names`, and pipeline->choose_taps to cli_features_choose with this as its
 * user. */
typedef struct cli_features {
  const char *option; /* "--save-only", for sentences */
  const char *names;  /* "cls,layer.*.output" */
  /* the taps that the verb itself wants, before those of the features; borrowed */
  const char *const *own;
  uint32_t own_count;
  cli_feature *feature;
  uint32_t count;
  const char **taps; /* both */
} cli_features;

/* The word of the list above for what "embedding" was made of: a text that stays. */
const char *cli_embedding_name(const char *source);
/* Whether each name can be answered from the rows that classes_only computes. */
bool cli_features_of_classes(const cli_features *features);
/* Whether a name may be that of attention maps. */
bool cli_features_have_maps(const cli_features *features);
/* Finds what the names mean in pipeline->graph. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status cli_features_choose(cli_state *cli, cli_pipeline *pipeline, void *features);
/* Reads a feature of picture `index` of the batch, as many floats as its shape has. */
heed_status cli_features_read(cli_state *cli, const cli_pipeline *pipeline,
                              const cli_feature *feature, uint32_t index, float *to);
void cli_features_free(cli_features *features);

#endif
