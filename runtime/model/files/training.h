/* What a training wrote beside its weights (its arguments, the name of its architecture), as hints
 * where the weights leave something open. They are metadata of a .safetensors file,
 * "training.args.patch_size": "16", which runtime/pickle makes of PyTorch's files. */
#ifndef HEED_MODEL_FILES_TRAINING_H
#define HEED_MODEL_FILES_TRAINING_H

#include "model/files/checkpoint.h"

#define HEED_TRAINING "training." /* what such keys begin with */

/* Whose training it was; processors (image/processor.h) are called so. */
#define HEED_ORIGINAL_DINO "the original DINO"
#define HEED_ORIGINAL_MAE "the original MAE"
#define HEED_ORIGINAL_DEIT "the original DeiT"

typedef enum heed_training_fact {
  HEED_TRAINING_HEADS,
  HEED_TRAINING_HEAD_WIDTH,
  HEED_TRAINING_IMAGE_SIZE,
  HEED_TRAINING_PATCH,
  HEED_TRAINING_CHANNELS,
  HEED_TRAINING_CLASSES,
  HEED_TRAINING_NORM_FIRST,
  HEED_TRAINING_MEAN, /* of the channels of images: "0.485,0.456,0.406" */
  HEED_TRAINING_STD,
  HEED_TRAINING_POOL,
  HEED_TRAINING_ACTIVATION,
  HEED_TRAINING_ARCHITECTURE,
  HEED_TRAINING_DATASET,
  HEED_TRAINING_MARK, /* arguments that one maker's scripts alone have */
  HEED_TRAINING_FACTS
} heed_training_fact;

typedef struct heed_training_hint {
  const char *key;      /* "args.patch_size"; NULL: nothing tells, or two things that differ */
  const char *text;     /* valid as long as the checkpoint */
  uint32_t value;       /* of a text that is a whole number, else 0 */
  const char *clash[4]; /* key, text, key, text of two things that differ; or NULL */
} heed_training_hint;

typedef struct heed_training {
  heed_training_hint of[HEED_TRAINING_FACTS];
  const char *maker; /* one of these; or NULL */
  const char *maker_key;
  const char *teacher_key; /* "teacher" or "student", an entry of the file itself; or NULL */
} heed_training;

/* The fact that an entry of this name tells, of a path its last part; HEED_TRAINING_FACTS: none. */
heed_training_fact heed_training_word(const char *name);

/* The numbers of a mean or std, at most `room`; 0: none, or the text is no list of such. */
uint32_t heed_training_numbers(const heed_training_hint *hint, float *numbers, uint32_t room);
/* "args.heads=3 and cfg.num_heads=4 of the training differ"; "" where nothing differs. */
void heed_training_tell_clash(const heed_training_hint *hint, char *text, size_t size);

void heed_training_read(const heed_checkpoint *checkpoint, heed_training *training);

#endif
