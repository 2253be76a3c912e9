/* See processor.h. Sources: the classes *ImageProcessor of transformers 4.57 and 5; torchvision's
 * and timm's transforms for evaluation; those of facebookresearch's dino, mae and deit, and of
 * MCG-NJU's VideoMAE. */
#include "model/image/processor.h"

#include <string.h>

#include "model/files/training.h"

#define MEAN_HALF \
  { 0.5f, 0.5f, 0.5f }
#define MEAN_IMAGENET \
  { 0.485f, 0.456f, 0.406f }
#define STD_IMAGENET \
  { 0.229f, 0.224f, 0.225f }
#define MEAN_CLIP \
  { 0.48145466f, 0.4578275f, 0.40821073f }
#define STD_CLIP \
  { 0.26862954f, 0.26130258f, 0.27577711f }
#define HALF .mean = MEAN_HALF, .std = MEAN_HALF
#define IMAGENET .mean = MEAN_IMAGENET, .std = STD_IMAGENET
#define CLIP .mean = MEAN_CLIP, .std = STD_CLIP
#define NO_TILES "one picture, no tiles"
#define SPLIT "do_image_splitting|do_pad"

static const heed_processor processors[] = {
    {"ViT", false, 224, 0, false, 2, HALF},
    {"DINOv3ViT", false, 224, 0, true, 2, IMAGENET},
    {"DeiT", false, 256, 224, false, 3, HALF},
    {"Dinov2", true, 256, 224, true, 3, IMAGENET},
    {"Bit", true, 224, 224, true, 3, CLIP},
    {"CLIP", true, 224, 224, false, 3, CLIP},
    {"ChineseCLIP", true, 224, 224, false, 3, CLIP},
    {"OwlViT", false, 224, 0, false, 3, CLIP},
    {"Blip", false, 224, 0, false, 3, CLIP},
    {"Beit", false, 256, 224, false, 3, HALF},
    {"Siglip", false, 224, 0, false, 3, HALF},
    {"DPT", false, 384, 0, true, 3, HALF, .way = HEED_WAY_MULTIPLES},
    {"ZoeDepth", false, 384, 0, true, 2, HALF, .way = HEED_WAY_MULTIPLES, .width = 512,
     .multiple = 32, .steps = "do_pad", .note = "no reflected border"},
    {"Owlv2", false, 960, 0, true, 2, CLIP, .way = HEED_WAY_CORNER, .steps = "do_pad",
     .note = "one filter for blur and size"},
    {"Sam", false, 224, 224, false, 2, IMAGENET, .way = HEED_WAY_PADDED, .steps = "do_pad"},
    {"VideoMAE", true, 224, 224, false, 2, HALF},
    {"Segformer", false, 512, 0, true, 2, IMAGENET},
    {"Pvt", false, 224, 0, false, 2, IMAGENET},
    {"Gemma3", false, 224, 0, false, 2, HALF, .steps = "do_pan_and_scan", .note = NO_TILES},
    {"Llava", true, 224, 224, false, 3, CLIP},
    {"LlavaNext", false, 224, 224, false, 3, CLIP, .way = HEED_WAY_BASE, .steps = "do_pad",
     .note = NO_TILES},
    {"LlavaOnevision", false, 224, 0, false, 3, CLIP, .way = HEED_WAY_BASE, .steps = "do_pad",
     .note = NO_TILES},
    {"Idefics2", false, 980, 0, true, 2, HALF, .way = HEED_WAY_WITHIN, .steps = SPLIT,
     .note = NO_TILES},
    {"Idefics3", false, 364, 0, true, 1, HALF, .way = HEED_WAY_LARGEST, .steps = SPLIT,
     .note = NO_TILES},
    {"SmolVLM", false, 364, 0, true, 1, HALF, .way = HEED_WAY_LARGEST, .steps = SPLIT,
     .note = NO_TILES},
    {"Siglip2", false, 256, 0, true, 2, HALF, .way = HEED_WAY_PATCHES},
    {"Qwen2VL", false, 224, 0, true, 3, CLIP, .way = HEED_WAY_PIXELS},
    {"Pixtral", false, 1024, 0, true, 3, CLIP, .way = HEED_WAY_TILES},
    {"GotOcr2", false, 224, 0, false, 3, CLIP, .note = NO_TILES},
    /* of no file, but of weights without one */
    {"RADIO", false, 224, 0, false, 3, .std = {1.0f, 1.0f, 1.0f}}, /* which normalises itself */
    {"torchvision", true, 256, 224, false, 2, IMAGENET, .torch_crop = true},
    {"timm", false, 224, 0, false, 2, HALF, .torch_crop = true},
    {"InternVL", false, 224, 0, false, 3, IMAGENET},
    {HEED_ORIGINAL_DINO, true, 256, 224, false, 3, IMAGENET, .torch_crop = true},
    {HEED_ORIGINAL_MAE, true, 256, 224, false, 3, IMAGENET, .torch_crop = true},
    {HEED_ORIGINAL_DEIT, true, 256, 224, false, 3, IMAGENET, .torch_crop = true},
    {"the original VideoMAE", true, 224, 224, false, 2, IMAGENET, .torch_crop = true},
};
#define COUNT (sizeof processors / sizeof *processors)
#define WITHOUT_FILE 8 /* the last ones */

const heed_processor *heed_processor_named(const char *name) {
  for (size_t i = 0; i < COUNT; i++)
    if (strcmp(name, processors[i].name) == 0) return &processors[i];
  return NULL;
}

const heed_processor *heed_processor_of_type(const char *type) {
  static const char *const ends[] = {"ImageProcessor", "ImageProcessorFast", "ImageProcessorPil",
                                     "FeatureExtractor"};
  for (size_t i = 0; i + WITHOUT_FILE < COUNT; i++) {
    const size_t length = strlen(processors[i].name);
    if (strncmp(type, processors[i].name, length) != 0) continue;
    for (size_t end = 0; end < sizeof ends / sizeof *ends; end++)
      if (strcmp(type + length, ends[end]) == 0) return &processors[i];
  }
  return NULL;
}
