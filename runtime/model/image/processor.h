/* Classes of image processors: what each does where its file is silent. Data alone. */
#ifndef HEED_MODEL_IMAGE_PROCESSOR_H
#define HEED_MODEL_IMAGE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes are for models of 224 pixels and scale with the model, unless fixed. */
typedef struct heed_processor {
  const char *name; /* without "ImageProcessor" or "FeatureExtractor" */
  bool short_side;  /* a size that is one number means the short side */
  uint16_t resize, crop;
  bool fixed;
  uint8_t resample;
  float mean[3], std[3];
  bool torch_crop;   /* the centre crop is rounded as torchvision rounds it */
  bool multiples;    /* it reads keep_aspect_ratio and ensure_multiple_of */
  bool base;         /* the whole picture is squashed, also to a size that names the short side */
  const char *steps; /* its do_NAME that leave that picture as it is, separated by '|'; or NULL */
  const char *note;  /* what of its work is left out; or NULL */
} heed_processor;

/* The class of this name without "ImageProcessor"; NULL: none. */
const heed_processor *heed_processor_named(const char *name);
/* The class of "ViTImageProcessor", "ViTImageProcessorFast", "ViTFeatureExtractor"; NULL: none. */
const heed_processor *heed_processor_of_type(const char *type);
/* Writes their names for a sentence. */
void heed_processor_list(char *to, size_t size);

#endif
