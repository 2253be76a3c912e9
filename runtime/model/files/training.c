/* See training.h. Sources of the names: the arguments of facebookresearch's dino, mae, deit and
 * moco-v3, of timm's train.py and torchvision's references; vit-pytorch; courses. */
#include "model/files/training.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"

static const char *const words[HEED_TRAINING_FACTS] = {
    [HEED_TRAINING_HEADS] = "heads|num_heads|n_heads|nheads|nhead|n_head|head_num|"
                            "num_attention_heads|attention_heads",
    [HEED_TRAINING_HEAD_WIDTH] = "dim_head|head_dim|attention_head_size",
    [HEED_TRAINING_IMAGE_SIZE] = "image_size|img_size|input_size|image_dim|img_dim|resolution|"
                                 "crop_size|val_crop_size",
    [HEED_TRAINING_PATCH] = "patch_size|patch|patchsize",
    [HEED_TRAINING_CHANNELS] = "channels|in_channels|num_channels|n_channels|input_channels|"
                               "in_chans",
    [HEED_TRAINING_CLASSES] = "num_classes|nb_classes|n_classes|num_labels|class_num",
    [HEED_TRAINING_NORM_FIRST] = "norm_first",
    [HEED_TRAINING_MEAN] = "mean|img_mean|image_mean|norm_mean|pixel_mean",
    [HEED_TRAINING_STD] = "std|img_std|image_std|norm_std|pixel_std",
    [HEED_TRAINING_POOL] = "pool|pooling",
    [HEED_TRAINING_ACTIVATION] = "activation|hidden_act",
    [HEED_TRAINING_ARCHITECTURE] = "arch|architecture|model|model_name|net|backbone",
    [HEED_TRAINING_DATASET] = "dataset|data_set|dataset_name",
    [HEED_TRAINING_MARK] = "dino_loss|local_crops_number|norm_pix_loss|distillation_type|"
                           "teacher|student",
};

/* Whose arguments they are. */
static const struct {
  const char *word, *processor;
} makers[] = {{"dino_loss", HEED_ORIGINAL_DINO},
              {"local_crops_number", HEED_ORIGINAL_DINO},
              {"norm_pix_loss", HEED_ORIGINAL_MAE},
              {"distillation_type", HEED_ORIGINAL_DEIT}};

static const char *last_part(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? dot + 1 : path;
}

heed_training_fact heed_training_word(const char *name) {
  heed_training_fact fact = (heed_training_fact)0;
  while (fact < HEED_TRAINING_FACTS && !heed_list_has(words[fact], last_part(name))) fact++;
  return fact;
}

static uint32_t whole(const char *text) {
  uint32_t value = 0;
  if (!*text || strlen(text) > 6) return 0;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return 0;
    value = 10 * value + (uint32_t)(*text - '0');
  }
  return value;
}

/* A number of digits and a point, which ends at a comma or with the text; NULL: it is none. */
static const char *take_decimal(const char *text, float *number) {
  double value = 0, place = 0;
  const char *from = text;
  for (; (*text >= '0' && *text <= '9') || (*text == '.' && !(place > 0)); text++) {
    if (*text == '.') {
      place = 1;
      continue;
    }
    if (place > 0) place /= 10;
    value = place > 0 ? value + place * (*text - '0') : 10 * value + (*text - '0');
  }
  *number = (float)value;
  return text == from || (*text && *text != ',') ? NULL : text;
}

uint32_t heed_training_numbers(const heed_training_hint *hint, float *numbers, uint32_t room) {
  const char *at = hint->key ? hint->text : "";
  uint32_t count = 0;
  while (*at && count < room) {
    at = take_decimal(at, &numbers[count++]);
    if (!at) return 0;
    if (*at == ',' && !*++at) return 0;
  }
  return *at ? 0 : count;
}

void heed_training_tell_clash(const heed_training_hint *hint, char *text, size_t size) {
  const char *const *of = hint->clash;
  *text = '\0';
  if (of[0])
    snprintf(text, size, "%.60s=%.60s and %.60s=%.60s of the training differ", of[0], of[1], of[2],
             of[3]);
}

static void take(heed_training *training, bool told[HEED_TRAINING_FACTS], const char *key,
                 const char *text) {
  const heed_training_fact fact = heed_training_word(key);
  if (fact == HEED_TRAINING_FACTS || strstr(key, "decoder")) return;
  heed_training_hint *hint = &training->of[fact];
  if (!told[fact]) *hint = (heed_training_hint){key, text, whole(text), {NULL}};
  /* of two names the outer one is the model's, of two numbers neither */
  if (told[fact] && fact < HEED_TRAINING_POOL && hint->key && strcmp(hint->text, text) != 0)
    *hint = (heed_training_hint){.clash = {hint->key, hint->text, key, text}};
  told[fact] = true;
  if (strcmp(key, "teacher") == 0 || strcmp(key, "student") == 0) training->teacher_key = key;
  for (size_t i = 0; fact == HEED_TRAINING_MARK && i < sizeof makers / sizeof *makers; i++)
    if (!training->maker && strcmp(last_part(key), makers[i].word) == 0) {
      training->maker = makers[i].processor;
      training->maker_key = key;
    }
}

void heed_training_read(const heed_checkpoint *checkpoint, heed_training *training) {
  bool told[HEED_TRAINING_FACTS] = {false};
  const char *key, *text;
  *training = (heed_training){.maker = NULL};
  for (uint32_t i = 0; heed_checkpoint_metadata(checkpoint, i, &key, &text); i++)
    if (strncmp(key, HEED_TRAINING, sizeof HEED_TRAINING - 1) == 0)
      take(training, told, key + sizeof HEED_TRAINING - 1, text);
  const heed_training_hint *arch = &training->of[HEED_TRAINING_ARCHITECTURE];
  if (training->maker || !arch->key) return;
  const bool mae = strncmp(arch->text, "mae_vit_", 8) == 0,
             deit = strncmp(arch->text, "deit_", 5) == 0;
  if (!mae && !deit) return;
  training->maker = mae ? HEED_ORIGINAL_MAE : HEED_ORIGINAL_DEIT;
  training->maker_key = arch->key;
}
