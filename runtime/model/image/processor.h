/* Classes of image processors: what each does where its file is silent. Data alone. */
#ifndef HEED_MODEL_IMAGE_PROCESSOR_H
#define HEED_MODEL_IMAGE_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a class makes of one picture. */
typedef enum heed_processor_way {
  HEED_WAY_SIZE,      /* it is resized to a size */
  HEED_WAY_BASE,      /* it is squashed, also to a size that names the short side */
  HEED_WAY_MULTIPLES, /* keep_aspect_ratio and ensure_multiple_of are read */
  HEED_WAY_CORNER,    /* it lies in the corner of a grey square, unless do_pad is false */
  HEED_WAY_WITHIN,    /* its sides lie between the size's shortest_edge and longest_edge */
  HEED_WAY_LARGEST,   /* it is squashed to max_image_size's longest_edge, whatever the size says */
  HEED_WAY_PATCHES,   /* it gets max_num_patches squares of patch_size pixels at most */
  HEED_WAY_PIXELS,    /* it gets multiples of merged squares, from min_pixels to max_pixels */
  HEED_WAY_PADDED,    /* it lies in the corner of a square of the mean colour, of pad_size */
  HEED_WAY_TILES,     /* its long side is at most longest_edge, both are multiples of patch_size */
  HEED_WAYS
} heed_processor_way;

/* Sizes are for models of 224 pixels and scale with the model, unless fixed. */
typedef struct heed_processor {
  const char *name; /* without "ImageProcessor" or "FeatureExtractor" */
  bool short_side;  /* a size that is one number means the short side */
  uint16_t resize, crop;
  bool fixed;
  uint8_t resample;
  float mean[3], std[3];
  bool torch_crop;   /* the centre crop is rounded as torchvision rounds it */
  uint8_t way;       /* heed_processor_way */
  uint16_t width;    /* of a fixed size whose height is `resize`; 0: it is a square */
  uint16_t multiple; /* HEED_WAY_MULTIPLES: of both sides, aspect kept; 0: 1, and it is not */
  const char *steps; /* its do_NAME that leave that picture as it is, separated by '|'; or NULL */
  const char *note;  /* what of its work is left out; or NULL */
} heed_processor;

/* The class of this name without "ImageProcessor"; NULL: none. */
const heed_processor *heed_processor_named(const char *name);
/* The class of "ViTImageProcessor", "ViTImageProcessorFast", "ViTFeatureExtractor"; NULL: none. */
const heed_processor *heed_processor_of_type(const char *type);

#endif
