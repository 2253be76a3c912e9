/* The facts of a ViT that neither names nor shapes of its tensors tell. */
#ifndef HEED_MODEL_FAMILIES_RULES_H
#define HEED_MODEL_FAMILIES_RULES_H

#include "model/families/positions.h"
#include "model/families/rotation.h"
#include "model/names/names.h"

/* Which tokens before the patches have a row of their own in the position embeddings. */
typedef enum heed_position_tokens {
  HEED_POSITION_TOKENS_ALL,
  HEED_POSITION_TOKENS_CLS,
  HEED_POSITION_TOKENS_ANY /* all, CLS alone or none: the number of rows tells */
} heed_position_tokens;

/* Position embeddings that no file stores. */
typedef enum heed_made_positions {
  HEED_POSITIONS_STORED,
  HEED_POSITIONS_NONE,
  HEED_POSITIONS_SINCOS, /* of each patch's column and row, as vit-pytorch's SimpleViT */
  HEED_POSITIONS_SINES   /* of each token's number, as "Attention is all you need" */
} heed_made_positions;

/* How the rows of one map for query, key and value lie. */
typedef enum heed_qkv_order {
  HEED_QKV_THIRDS,     /* all of the query, all of the key, all of the value */
  HEED_QKV_HEADS,      /* head by head, the three of each */
  HEED_QKV_INTERLEAVED /* number by number, the three of each */
} heed_qkv_order;

/* What a classifier reads of the final states. */
typedef enum heed_pool {
  HEED_POOL_CLS,     /* CLS; with a second classifier, on the distillation token, their mean */
  HEED_POOL_PATCHES, /* the mean of the patches */
  HEED_POOL_CLS_AND_PATCHES, /* CLS beside the mean of the patches: 2 C numbers */
  HEED_POOL_PROBE,           /* a learned query's attention over the tokens */
  HEED_POOL_END,             /* of a text: the token that ends it */
  HEED_POOL_LAST,            /* of a text: its last token, which is padding where it is short */
  HEED_POOL_TOKENS,          /* the mean of all tokens */
} heed_pool;

/* What the keys' bias is: one tensor of a family may be missing that none of another may lose. */
typedef enum heed_key_bias {
  HEED_KEY_BIAS_ALIKE,    /* there where the biases of query and value are */
  HEED_KEY_BIAS_OPTIONAL, /* may be absent */
  HEED_KEY_BIAS_ZERO      /* absent, or a tensor that the model masks: zeros */
} heed_key_bias;

/* Every family has one: enumerations are bytes here. */
typedef struct heed_rules {
  const heed_position_rule *positions; /* NULL: of a text, where the first rows are taken */
  /* of a table of relative positions for another grid; NULL: no model of the family has one */
  const heed_position_rule *bias_positions;
  const char *architecture; /* tells heads (timm_architectures.c) where no config does; or NULL */
  heed_rotation rotation;
  float epsilon;                /* of the norms, where no config gives it */
  float pool_epsilon;           /* of the norm of what is pooled; 0: as the others */
  heed_groups classifier_needs; /* optional groups that every model with a classifier has */
  heed_groups needs;       /* optional groups (HEED_GROUP) that every model of the family has */
  uint8_t position_tokens; /* heed_position_tokens */
  uint8_t pool;            /* heed_pool */
  uint8_t key_bias;        /* heed_key_bias */
  uint8_t activation;      /* heed_activation: of the MLP, where no config gives it */
  /* The activation is a guess without a config: exact GELU in models of that many layers, or of
   * that width, as in LAION's CLIP; 0: it is no guess. */
  uint8_t exact_layers;
  uint16_t exact_width;
  uint8_t pool_heads;   /* of the pooling attention, which reads all tokens; 0: as the layers */
  bool probe_reads_all; /* the pooling attention reads all tokens; else patches, without pool_heads
                         */
  /* The pooled state is an output: of patches after a norm of their mean, else of normed states. */
  bool pools;
  bool pooled_without_classes; /* the state that a classifier would read is an output without one */
  bool neck;                   /* what would be pooled comes after a neck, which is not run */
  bool classifier_embeds;      /* the classifier's outputs are the embedding, not classes */
  /* The pooled state is CLS after the final norm, which states and classifier go without; `twice`:
   * which they have too. */
  bool norm_pooled, norm_twice;
  bool cls_pooled;      /* CLS of the final states is the pooled output */
  bool gate_activation; /* a gate's activation is the MLP's; else SiLU */
  bool causal;          /* no token attends to a later one */
  bool rms;             /* the norms are RMS norms, which have no bias */
  bool norms_tell;      /* the norms are RMS norms where they have no bias */
  bool wide_norms;      /* queries and keys are normed over all heads together */
  bool unbiased;        /* the linear maps of the layers have no bias */
  /* Patches may be embedded by a linear map of their numbers, in the order of channels_last. */
  bool flat_patches;
  /* A picture stands still: patch weights [C, I, frames, P, P] are summed over the frames. */
  bool still;
  bool staged;      /* layers lie in stages, between which squares of 2 x 2 patches are merged */
  bool norm_inside; /* a norm follows each part, before its residual */
  /* pixel_values are frames, and a patch is of some of them: [C, I, frames, P, P] */
  bool video;
  /* What people who write a ViT themselves do in more than one way: */
  bool own_width;          /* all heads together may be wider or narrower than a token */
  bool norm_after;         /* a norm follows each part and its residual; else it comes before */
  bool scale_by_width;     /* scores are divided by the root of C, not of D */
  bool channels_last;      /* of a linear map of pixels: the channels of a pixel lie together */
  uint8_t made_positions;  /* heed_made_positions */
  uint8_t qkv_order;       /* heed_qkv_order */
  uint8_t head_activation; /* heed_activation: after the classifier's hidden layer */
} heed_rules;

#endif
