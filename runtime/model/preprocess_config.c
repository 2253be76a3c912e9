/* preprocessor_config.json and timm's pretrained_cfg as a heed_preprocess.
 *
 * Defaults: the classes *ImageProcessor of transformers; timm's data/config.py
 * (resolve_data_config) and data/transforms_factory.py: the short side is resized to floor(input /
 * crop_pct), then the centre is cropped. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "model/config.h"
#include "model/config_fields.h"

#define OPEN_CLIP_FILE "open_clip_config.json"
#define PREPROCESSOR_FILE "preprocessor_config.json"
#define TIMM_CROP 0.9 /* crop_pct by default */

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

/* What a class of processors does where the file is silent. Sizes are for models of 224 pixels and
 * scale with the model, unless fixed. */
typedef struct processor {
  const char *name; /* without "ImageProcessor" or "FeatureExtractor" */
  bool short_side;  /* a size that is one number means the short side */
  uint16_t resize, crop;
  bool fixed;
  uint8_t resample;
  float mean[3], std[3];
} processor;

static const processor processors[] = {
    {"ViT", false, 224, 0, false, 2, MEAN_HALF, MEAN_HALF},
    {"DINOv3ViT", false, 224, 0, true, 2, MEAN_IMAGENET, STD_IMAGENET},
    {"DeiT", false, 256, 224, false, 3, MEAN_HALF, MEAN_HALF},
    {"Dinov2", true, 256, 224, true, 3, MEAN_IMAGENET, STD_IMAGENET},
    {"Bit", true, 224, 224, true, 3, MEAN_CLIP, STD_CLIP},
    {"CLIP", true, 224, 224, false, 3, MEAN_CLIP, STD_CLIP},
    {"Blip", false, 224, 0, false, 3, MEAN_CLIP, STD_CLIP},
    {"Beit", false, 256, 224, false, 3, MEAN_HALF, MEAN_HALF},
    {"Siglip", false, 224, 0, false, 3, MEAN_HALF, MEAN_HALF},
    {"torchvision", true, 256, 224, false, 2, MEAN_IMAGENET, STD_IMAGENET},
    {"timm", false, 224, 0, false, 2, MEAN_HALF, MEAN_HALF},
};

/* The class of processors of this name, which begins `text`; NULL: none. */
static const processor *find_class(const char *text) {
  for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
    const size_t length = strlen(processors[i].name);
    if (strlen(text) >= length && memcmp(text, processors[i].name, length) == 0)
      return &processors[i];
  }
  return NULL;
}

static uint32_t scaled(const processor *class, uint32_t size, uint32_t image_size) {
  return class->fixed ? size : (uint32_t)((uint64_t)size * image_size / 224);
}

static void set_defaults(const processor *class, uint32_t image_size, heed_preprocess *to) {
  const uint32_t resize = scaled(class, class->resize, image_size),
                 crop = scaled(class, class->crop, image_size);
  *to = (heed_preprocess){.resize = class->short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH,
                          .resample = class->resample};
  if (class->short_side)
    to->short_side = resize;
  else
    to->width = to->height = resize;
  to->crop_width = to->crop_height = crop;
  to->rescale = 1.0f / 255.0f;
  memcpy(to->mean, class->mean, sizeof to->mean);
  memcpy(to->std, class->std, sizeof to->std);
}

/* ------------------------------------------------------------------------------- shared by both */

/* Three numbers, a list of one, or a number: *to is left alone when absent. */
static heed_status read_triple(const heed_fields *fields, const char *key, bool positive,
                               float to[3]) {
  const heed_json_value value = heed_field(fields, key);
  const bool list = heed_json_kind_of(fields->json, value) == HEED_JSON_ARRAY;
  const uint32_t count = list ? heed_json_count(fields->json, value) : 1;
  if (!value) return HEED_OK;
  heed_json_value element = list ? heed_json_first(fields->json, value) : value;
  for (uint32_t i = 0; i < count; i++) {
    double number;
    if ((count != 1 && count != 3) || !heed_json_double(fields->json, element, &number) ||
        !isfinite((float)number) || (positive && !((float)number > 0.0f)))
      return heed_field_fail(fields, key, value,
                             positive ? "three numbers above 0" : "three numbers");
    to[i] = (float)number;
    if (count == 1)
      to[1] = to[2] = to[0];
    else
      element = heed_json_next(fields->json, value, element);
  }
  return count ? HEED_OK : heed_field_fail(fields, key, value, "three numbers");
}

static heed_status read_resample(const heed_fields *fields, const char *key, uint32_t *to) {
  static const char *const names[] = {"nearest", "lanczos", "bilinear",
                                      "bicubic", "box",     "hamming"};
  const heed_json_value value = heed_field(fields, key);
  const char *text = NULL;
  uint64_t number = 6;
  if (!value) return HEED_OK;
  if (heed_json_string(fields->json, value, &text, NULL)) {
    for (number = 0; number < 6; number++)
      if (strcmp(text, names[number]) == 0) break;
  } else {
    heed_field_whole(fields, value, &number);
  }
  if (number > 5) return heed_field_fail(fields, key, value, "one of Pillow's filters, 0 to 5");
  *to = (uint32_t)number;
  return HEED_OK;
}

/* --------------------------------------------------------------------- preprocessor_config.json */

static heed_status find_processor(const heed_fields *fields, const heed_family *family,
                                  const processor **class) {
  const char *type = NULL;
  *class = find_class(family->processor);
  HEED_TRY(heed_field_string(fields, "feature_extractor_type", &type));
  HEED_TRY(heed_field_string(fields, "image_processor_type", &type));
  if (!type) return HEED_OK;
  const processor *found = find_class(type);
  const char *rest = found ? type + strlen(found->name) : "";
  if (strncmp(rest, "ImageProcessor", 14) == 0 || strncmp(rest, "FeatureExtractor", 16) == 0) {
    *class = found;
    return HEED_OK;
  }
  return heed_field_refuse(fields, "the kind of processor", type,
                           "the processor of ViT, DeiT, Beit, Bit, CLIP, Siglip or DINOv3");
}

/* [height, width] as old files have it. */
static bool read_pair(const heed_fields *fields, heed_json_value value, uint32_t *height,
                      uint32_t *width) {
  uint64_t first = 0, second = 0;
  const heed_json_value at = heed_json_first(fields->json, value);
  if (heed_json_count(fields->json, value) != 2 || !heed_field_whole(fields, at, &first))
    return false;
  if (!heed_field_whole(fields, heed_json_next(fields->json, value, at), &second)) return false;
  if (first == 0 || second == 0 || first > HEED_CONFIG_MAX || second > HEED_CONFIG_MAX)
    return false;
  *height = (uint32_t)first;
  *width = (uint32_t)second;
  return true;
}

/* A size in any of its spellings: a number (*one), a pair, {"height", "width"} or {"shortest_edge"}
 * (*one). */
static heed_status read_size(const heed_fields *fields, const char *key, uint32_t *height,
                             uint32_t *width, uint32_t *one, bool *shortest) {
  static const char expected[] = "a number, a height and a width, or a shortest_edge";
  const heed_json_value value = heed_field(fields, key);
  const heed_json_kind kind = heed_json_kind_of(fields->json, value);
  *height = *width = *one = 0;
  *shortest = false;
  if (kind == HEED_JSON_ARRAY)
    return read_pair(fields, value, height, width) ? HEED_OK
                                                   : heed_field_fail(fields, key, value, expected);
  if (kind != HEED_JSON_OBJECT) return heed_field_size(fields, key, 1, one);
  const heed_fields parts = {fields->json, value, fields->where, fields->error};
  HEED_TRY(heed_field_size(&parts, "height", 1, height));
  HEED_TRY(heed_field_size(&parts, "width", 1, width));
  HEED_TRY(heed_field_size(&parts, "shortest_edge", 1, one));
  *shortest = *one != 0;
  if (heed_field(&parts, "longest_edge"))
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: %s with a longest_edge is not supported (expected %s)", fields->where,
                     key, expected);
  if ((*height && *width && !*one) || (!*height && !*width && *one)) return HEED_OK;
  return heed_field_fail(fields, key, value, expected);
}

static heed_status read_resize(const heed_fields *fields, const processor *class,
                               heed_preprocess *to) {
  uint32_t height, width, one;
  bool shortest, wanted = true, square = !class->short_side;
  HEED_TRY(heed_field_bool(fields, "do_resize", &wanted));
  HEED_TRY(heed_field_bool(fields, "default_to_square", &square));
  HEED_TRY(read_size(fields, "size", &height, &width, &one, &shortest));
  if (height) {
    to->resize = HEED_RESIZE_SQUASH;
    to->height = height;
    to->width = width;
    to->short_side = 0;
  } else if (one) {
    const bool short_side = shortest || !square;
    to->resize = short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH;
    to->short_side = short_side ? one : 0;
    to->width = to->height = short_side ? 0 : one;
  }
  if (!wanted) {
    to->resize = HEED_RESIZE_NONE;
    to->width = to->height = to->short_side = 0;
  }
  return read_resample(fields, "resample", &to->resample);
}

static heed_status read_crop(const heed_fields *fields, uint32_t image_size, heed_preprocess *to) {
  uint32_t height, width, one;
  bool shortest, wanted = to->crop_width != 0;
  HEED_TRY(heed_field_bool(fields, "do_center_crop", &wanted));
  HEED_TRY(read_size(fields, "crop_size", &height, &width, &one, &shortest));
  if (!to->crop_width) to->crop_width = to->crop_height = image_size;
  if (one) height = width = one;
  if (height) {
    to->crop_height = height;
    to->crop_width = width;
  }
  if (!wanted) to->crop_width = to->crop_height = 0;
  return HEED_OK;
}

static heed_status read_values(const heed_fields *fields, heed_preprocess *to) {
  bool rescale = true, normalize = true;
  HEED_TRY(heed_field_bool(fields, "do_rescale", &rescale));
  HEED_TRY(heed_field_bool(fields, "do_normalize", &normalize));
  HEED_TRY(heed_field_float(fields, "rescale_factor", &to->rescale));
  HEED_TRY(read_triple(fields, "image_mean", false, to->mean));
  HEED_TRY(read_triple(fields, "image_std", true, to->std));
  if (!rescale) to->rescale = 1.0f;
  for (int i = 0; i < 3 && !normalize; i++) {
    to->mean[i] = 0.0f;
    to->std[i] = 1.0f;
  }
  return HEED_OK;
}

/* Steps and numbers of other processors, which heed's way has not; without alpha, RGB is what
 * images are anyway, and of labels there are none. */
static heed_status refuse_steps(const heed_fields *fields) {
  const heed_json *json = fields->json;
  for (heed_json_value v = heed_json_first(json, fields->object); v;
       v = heed_json_next(json, fields->object, v)) {
    const char *key = heed_json_key(json, v, NULL);
    const heed_json_kind kind = heed_json_kind_of(json, v);
    const bool step = strncmp(key, "do_", 3) == 0 &&
                      !heed_list_has("do_resize|do_center_crop|do_rescale|do_normalize|"
                                     "do_convert_rgb|do_reduce_labels",
                                     key);
    if ((step || strcmp(key, "crop_pct") == 0) && kind != HEED_JSON_NULL && kind != HEED_JSON_FALSE)
      return heed_field_refuse(fields, key, heed_json_kind_name(kind), "none");
  }
  return HEED_OK;
}

static heed_status read_preprocessor(const heed_fields *fields, const heed_family *family,
                                     uint32_t image_size, heed_preprocess *to) {
  const processor *class;
  HEED_TRY(find_processor(fields, family, &class));
  HEED_TRY(refuse_steps(fields));
  set_defaults(class, image_size, to);
  HEED_TRY(read_resize(fields, class, to));
  HEED_TRY(read_crop(fields, image_size, to));
  return read_values(fields, to);
}

/* ----------------------------------------------------------------------------------------- timm */

/* timm's way: the short side (squash: both sides) to size / crop, then the centre. */
static void set_pretrained(uint32_t image_size, double crop, bool squash, heed_preprocess *to) {
  const uint32_t resize = (uint32_t)floor(image_size / crop);
  set_defaults(find_class("timm"), image_size, to);
  to->resize = squash ? HEED_RESIZE_SQUASH : HEED_RESIZE_SHORT_SIDE;
  to->short_side = squash ? 0 : resize;
  to->width = to->height = squash ? resize : 0;
  to->crop_width = to->crop_height = image_size;
  to->resample = 3;
}

static heed_status read_pretrained(const heed_fields *fields, uint32_t image_size,
                                   heed_preprocess *to) {
  const char *mode = "center";
  double crop = TIMM_CROP;
  const heed_json_value pct = heed_field(fields, "crop_pct");
  if (pct && (!heed_json_double(fields->json, pct, &crop) || !(crop > 0.01 && crop <= 1.0)))
    return heed_field_fail(fields, "crop_pct", pct, "a number above 0.01, at most 1");
  HEED_TRY(heed_field_string(fields, "crop_mode", &mode));
  const bool squash = strcmp(mode, "squash") == 0;
  if (!squash && strcmp(mode, "center") != 0)
    return heed_field_refuse(fields, "crop_mode", mode, "center or squash");
  set_pretrained(image_size, crop, squash, to);
  HEED_TRY(read_resample(fields, "interpolation", &to->resample));
  HEED_TRY(read_triple(fields, "mean", false, to->mean));
  return read_triple(fields, "std", true, to->std);
}

/* The short side, or both sides, to the model's size. */
static heed_status read_open_clip(const heed_fields *fields, uint32_t image_size,
                                  heed_preprocess *to) {
  const char *mode = "shortest";
  HEED_TRY(heed_field_string(fields, "resize_mode", &mode));
  const bool squash = strcmp(mode, "squash") == 0;
  if (!squash && strcmp(mode, "shortest") != 0)
    return heed_field_refuse(fields, "resize_mode", mode, "shortest or squash");
  set_defaults(find_class(squash ? "Siglip" : "CLIP"), image_size, to);
  HEED_TRY(read_resample(fields, "interpolation", &to->resample));
  HEED_TRY(read_triple(fields, "mean", false, to->mean));
  return read_triple(fields, "std", true, to->std);
}

/* The members of config.json, or of none. */
static heed_fields root_of(const heed_config *config, const char *where, heed_error *error) {
  return (heed_fields){config->json, config->json ? heed_json_root(config->json) : 0, where, error};
}

bool heed_config_tells_preprocess(const heed_config *config) {
  const heed_fields fields = root_of(config, NULL, NULL);
  return config->preprocessor || config->timm ||
         (config->json && heed_field(&fields, "preprocess_cfg"));
}

heed_status heed_config_preprocess(const heed_config *config, const heed_family *family,
                                   uint32_t image_size, heed_preprocess *preprocess,
                                   heed_error *error) {
  if (config->preprocessor) {
    const heed_fields fields = {config->preprocessor, heed_json_root(config->preprocessor),
                                PREPROCESSOR_FILE, error};
    return read_preprocessor(&fields, family, image_size, preprocess);
  }
  heed_fields open_clip = root_of(config, OPEN_CLIP_FILE, error);
  if (config->json) HEED_TRY(heed_field_object(&open_clip, "preprocess_cfg", &open_clip));
  if (open_clip.object) return read_open_clip(&open_clip, image_size, preprocess);
  if (config->timm) {
    const heed_fields fields = root_of(config, "config.json", error);
    heed_fields pretrained;
    HEED_TRY(heed_field_object(&fields, "pretrained_cfg", &pretrained));
    return read_pretrained(pretrained.object ? &pretrained : &fields, image_size, preprocess);
  }
  if (strcmp(family->processor, "timm") == 0)
    set_pretrained(image_size, TIMM_CROP, false, preprocess);
  else
    set_defaults(find_class(family->processor), image_size, preprocess);
  return HEED_OK;
}
