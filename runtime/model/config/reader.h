/* What the readers of config.json share. Each reads one style into the same heed_config. */
#ifndef HEED_MODEL_CONFIG_READER_H
#define HEED_MODEL_CONFIG_READER_H

#include "model/config/config.h"
#include "model/config/fields.h"

/* One reader per style: `fields` is the root of the file. */
heed_status heed_config_hugging_face(heed_config *config, const heed_fields *fields);
heed_status heed_config_timm(heed_config *config, const heed_fields *fields);
heed_status heed_config_open_clip(heed_config *config, const heed_fields *fields);
heed_status heed_config_radio(heed_config *config, const heed_fields *fields);
/* Whether the file is RADIO's. */
bool heed_config_is_radio(const heed_fields *fields);

/* The class that config.json names first, "architectures"; "": none. */
const char *heed_config_class(const heed_json *json);
/* Whether the class is an encoder-decoder's, which heed/sequences.h opens: "HeedTransformer" or
 * "HeedSeq2Seq". */
bool heed_config_is_sequence(const char *class_name);

/* A value and the key that says it; an absent key changes nothing. */
heed_status heed_read_size(const heed_fields *fields, const char *key, uint32_t least,
                           heed_config_value *to);
heed_status heed_read_square(const heed_fields *fields, const char *key, heed_config_value *to);
heed_status heed_read_bool(const heed_fields *fields, const char *key, heed_config_value *to);

/* Of layers in stages: blocks and heads of each, windows; nothing of other families. */
heed_status heed_config_stages(heed_config *config, const heed_fields *fields);

/* The side of windows in the name of timm's architecture: "swinv2_tiny_window8_256",
 * "swinv2_base_window12to16_192to256", whose first is that of the training before. */
void heed_config_named_windows(heed_config *config, const char *architecture);

/* The activation that `key` names; an absent key changes nothing. UNSUPPORTED: another name. */
heed_status heed_config_read_activation(const heed_fields *fields, const char *key,
                                        uint8_t *activation);

/* UNSUPPORTED: `what` has one of the options, which end with a 0 each, and it is not false. They
 * change results and leave no trace in the weights. */
heed_status heed_config_refuse(const heed_fields *fields, const char *what, const char *options);

/* Room for the names of `count` classes, all NULL. */
heed_status heed_config_labels(heed_config *config, uint32_t count, heed_error *error);

/* Takes a label that is a string or, as of folders that are called by digits, a number. */
heed_status heed_config_take_label(heed_config *config, const heed_fields *fields, const char *key,
                                   heed_json_value value, uint32_t index);

/* Of timm, which open_clip's trunks are too: the width of the MLP as a multiple, what the
 * classifier reads, and the facts of an architecture's name. */
heed_status heed_config_mlp_multiple(heed_config *config, const heed_fields *fields);
/* The arguments of the architecture's constructor, in the member of that name. */
heed_status heed_config_model_args(heed_config *config, const heed_fields *fields, const char *key);
heed_status heed_config_pool(heed_config *config, const heed_fields *fields, const char *key);
heed_status heed_config_architecture(heed_config *config, const heed_fields *fields,
                                     const char *key);

#endif
