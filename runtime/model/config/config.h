/* config.json and the image processor's file, of Hugging Face transformers and of timm, as
 * structs. */
#ifndef HEED_MODEL_CONFIG_CONFIG_H
#define HEED_MODEL_CONFIG_CONFIG_H

#include "base/context.h"
#include "base/json.h"
#include "heed/model.h"
#include "model/families/family.h"

/* A number, or 1 for true, and the key of config.json that says it; without a key nothing does, and
 * the value is 0. */
typedef struct heed_config_value {
  uint32_t value;
  const char *key;
  bool by_default;   /* the key is absent, and means that */
  const char *where; /* the file that says it; NULL: config.json */
} heed_config_value;

static inline const char *heed_config_where(const heed_config_value *said) {
  return said->where ? said->where : "config.json";
}

enum {
  HEED_SAID_FILES = 2,
  HEED_MOST_NAMED = 256,
  HEED_MOST_FULL_LAYERS = 64,
  HEED_MOST_STAGES = 8
};

/* The names that these files give. */
typedef struct heed_named {
  heed_names names; /* patterns NULL: none */
  char *text;
  size_t length, capacity;
  uint8_t roles[HEED_MOST_NAMED];
  uint32_t count;
} heed_named;

typedef struct heed_config {
  const heed_context *context;
  heed_json *json;            /* config.json, NULL without the file */
  heed_json *preprocessor;    /* the file that describes the image processor, NULL without one */
  heed_json_value processor;  /* its description there; 0: none */
  const char *processor_file; /* that file's name */
  heed_tower tower;           /* that was asked for: the numbers are of its object */
  bool timm;
  const heed_family *family; /* that its type names; NULL without the file */
  const char *model_type;    /* or timm's architecture; "" when not said */
  heed_config_value width, layers, heads, mlp_width;
  double mlp_ratio; /* timm: the MLP's width as a multiple, rounded down; 0: not said */
  heed_config_value image_size, patch, channels, classes, registers;
  heed_config_value qkv_bias, key_bias, gated_mlp, query_norm, rms;
  heed_config_value pool; /* heed_pool */
  heed_config_value mean_pooling, absolute_positions, position_bias,
      shared_position_bias;          /* BEiT: flags */
  heed_config_value probe;           /* SigLIP: a flag */
  heed_config_value window, merge;   /* in pixels, in patches; of a family with windows */
  heed_config_value frames, tubelet; /* of a model of videos */
  /* of layers in stages, where the config says them: blocks, heads, and the side of windows that a
   * table was made for, in each; the side of windows */
  uint32_t stage_blocks[HEED_MOST_STAGES], stage_heads[HEED_MOST_STAGES],
      trained_windows[HEED_MOST_STAGES], stage_blocks_count, stage_heads_count,
      trained_windows_count;
  heed_config_value stage_window;
  uint32_t full_layers[HEED_MOST_FULL_LAYERS], full_layer_count; /* those without windows */
  const char *full_layers_key;  /* that says them, of layers whose tables tell them too; or NULL */
  heed_config_value projection; /* numbers of the embedding */
  heed_config_value preferred_size; /* RADIO: of images; its positions are of larger ones */
  uint32_t summaries;               /* RADIO: registers that are CLS tokens */
  bool plain_pixels; /* RADIO: the model normalises pixels, which no file of timm describes */
  heed_config_value positions, vocabulary; /* of a text tower */
  heed_config_value stage; /* of an ONNX graph: which grid its layers are of, from 1 on */
  heed_config_value end;   /* the same: the id that ends a text */
  heed_rules rules;        /* the family's, with what the file says of them */
  bool activation_said, epsilon_said;
  /* flags of rules, and the activation of a classifier's hidden layer: of names.json alone */
  heed_config_value norm_after, scale_by_width, channels_last, head_activation, made_positions,
      qkv_order;
  const heed_position_rule *said_grid; /* that names.json asks for; or NULL */
  const heed_family *said_family;      /* that names.json asks for; or NULL */
  const char *said_prefix;             /* the same of the model's own part of the names; or NULL */
  heed_named named;
  heed_json *said[HEED_SAID_FILES]; /* names.json and hints.json, NULL without the file */
  const char *problem_type;         /* where the classes are not one of many, else NULL */
  const char **labels;              /* [label_count]; an entry may be NULL */
  char (*label_numbers)[24];        /* [label_count] or NULL: texts of labels that are numbers */
  uint32_t label_count;
} heed_config;

/* Reads both files where they are among `files`. A Hugging Face config must say every size that
 * shapes the model; a timm one says few. Statuses: INVALID_FILE, UNSUPPORTED (other model types,
 * activations, windows that are not square), IO, OUT_OF_MEMORY. */
heed_status heed_config_open(const heed_context *context, const heed_model_file *files,
                             uint32_t file_count, heed_tower tower, heed_config **config,
                             heed_error *error);
void heed_config_destroy(heed_config *config);
void heed_config_drop_labels(heed_config *config);

/* A JSON file whose root must be an object; *json is to be destroyed also after a failure.
 * Statuses: INVALID_FILE, IO, OUT_OF_MEMORY. */
heed_status heed_config_read_json(const heed_context *context, const heed_model_file *file,
                                  heed_json **json, heed_error *error);

/* The label of a class, or NULL. Valid as long as the config. */
const char *heed_config_label(const heed_config *config, uint32_t index);

/* What configs call an activation: "gelu". */
const char *heed_config_activation(heed_activation kind);
/* The activation of such a name; false: there is none. */
bool heed_config_activation_named(const char *name, uint8_t *activation);

/* Whether any file says how images are prepared: else the family's defaults are assumed. */
bool heed_config_tells_preprocess(const heed_config *config);

/* Finds the image processor's description among `files`, for both kinds of config. Statuses:
 * INVALID_FILE, IO, OUT_OF_MEMORY. */
heed_status heed_config_find_processor(heed_config *config, const heed_model_file *files,
                                       uint32_t file_count, heed_error *error);

/* Writes what `assumed` says of the image processor's class: what of one picture it does and heed
 * leaves out, or that heed does not know it and reads its description as that of `processor`.
 * Nothing: "". */
void heed_config_left_out(const heed_config *config, const char *processor, char *text,
                          size_t size);

/* What the image processor's description says, else open_clip's preprocess_cfg, else timm's
 * pretrained_cfg, else the defaults of the family, for images of this size and number of channels.
 * Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_config_preprocess(const heed_config *config, const heed_family *family,
                                   uint32_t image_size, uint32_t channels,
                                   heed_preprocess *preprocess, heed_error *error);

#endif
