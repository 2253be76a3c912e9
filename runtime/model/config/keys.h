/* The keys of a config that heed knows: what it does not know could change a model. */
#ifndef HEED_MODEL_CONFIG_KEYS_H
#define HEED_MODEL_CONFIG_KEYS_H

#include "model/config/fields.h"

typedef enum heed_key_place {
  HEED_KEYS_TIMM_ARGS,       /* model_args: arguments of a constructor */
  HEED_KEYS_OPEN_CLIP_MODEL, /* model_cfg */
  HEED_KEYS_OPEN_CLIP_VISION,
  HEED_KEYS_OPEN_CLIP_TEXT,
  HEED_KEYS_HUGGING_FACE,       /* config.json that is a tower's own */
  HEED_KEYS_HUGGING_FACE_MEMBER /* the part of a larger one */
} heed_key_place;

/* UNSUPPORTED, naming the key: one of the object's that is on no list of the place, with a value
 * that switches something on; `besides` is one more list, separated by '|', or NULL. `what` is what
 * the sentence calls the object. */
heed_status heed_config_check_keys(const heed_fields *fields, heed_key_place place,
                                   const char *besides, const char *what);

#endif
