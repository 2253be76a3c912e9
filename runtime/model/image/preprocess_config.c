/* The files that say how images are prepared, as a heed_preprocess: timm's pretrained_cfg and
 * open_clip's preprocess_cfg here, transformers' in preprocessor.c.
 *
 * Defaults: timm's models/_pretrained.py (PretrainedCfg), data/config.py and
 * data/transforms_factory.py: the short side is resized to floor(input / crop_pct), then the centre
 * is cropped; open_clip's transform.py (PreprocessCfg). */
#include "model/image/preprocess_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"

#define OPEN_CLIP_FILE "open_clip_config.json"
#define TIMM_CROP 0.875   /* crop_pct where a file of timm is silent */
#define TIMM_VIT_CROP 0.9 /* that of most of its vision transformers */

/* ----------------------------------------------------------------------------------------- timm */

/* timm's way: the short side (squash: both sides) to size / crop, then the centre. */
static void set_pretrained(const heed_processor *class, uint32_t image_size, double crop,
                           bool squash, heed_preprocess *to) {
  const uint32_t resize = (uint32_t)floor(image_size / crop);
  heed_preprocess_defaults(class, image_size, to);
  to->resize = squash ? HEED_RESIZE_SQUASH : HEED_RESIZE_SHORT_SIDE;
  to->short_side = squash ? 0 : resize;
  to->width = to->height = squash ? resize : 0;
  to->crop_width = to->crop_height = image_size;
  to->resample = 3;
}

static heed_status read_pretrained(const heed_fields *fields, uint32_t image_size,
                                   heed_preprocess *to) {
  const heed_processor *silent = heed_processor_named("torchvision");
  const char *mode = "center";
  double crop = TIMM_CROP;
  const heed_json_value pct = heed_field(fields, "crop_pct");
  if (pct && (!heed_json_double(fields->json, pct, &crop) || !(crop > 0.01 && crop <= 1.0)))
    return heed_field_fail(fields, "crop_pct", pct, "a number above 0.01, at most 1");
  HEED_TRY(heed_field_string(fields, "crop_mode", &mode));
  const bool squash = strcmp(mode, "squash") == 0;
  if (!squash && strcmp(mode, "center") != 0)
    return heed_field_refuse(fields, "crop_mode", mode, "center or squash");
  set_pretrained(silent, image_size, crop, squash, to);
  HEED_TRY(heed_preprocess_resample(fields, "interpolation", &to->resample));
  HEED_TRY(heed_preprocess_numbers(fields, "mean", false, to->channels, to->mean));
  return heed_preprocess_numbers(fields, "std", true, to->channels, to->std);
}

/* The short side, or both sides, to the model's size. `fields` may be of no object. */
static heed_status read_open_clip(const heed_fields *fields, uint32_t image_size,
                                  heed_preprocess *to) {
  const char *mode = "shortest", *filter = "";
  HEED_TRY(heed_field_string(fields, "resize_mode", &mode));
  const bool squash = strcmp(mode, "squash") == 0;
  if (!squash && strcmp(mode, "shortest") != 0)
    return heed_field_refuse(fields, "resize_mode", mode, "shortest or squash");
  heed_preprocess_defaults(heed_processor_named(squash ? "Blip" : "CLIP"), image_size, to);
  to->crop_rule = HEED_CROP_EVEN;
  (void)heed_json_string(fields->json, heed_field(fields, "interpolation"), &filter, NULL);
  if (strcmp(filter, "random") != 0) /* which is of training alone: bicubic otherwise */
    HEED_TRY(heed_preprocess_resample(fields, "interpolation", &to->resample));
  HEED_TRY(heed_preprocess_numbers(fields, "mean", false, to->channels, to->mean));
  return heed_preprocess_numbers(fields, "std", true, to->channels, to->std);
}

/* The members of config.json, or of none. */
static heed_fields root_of(const heed_config *config, const char *where, heed_error *error) {
  return (heed_fields){config->json, config->json ? heed_json_root(config->json) : 0, where, error};
}

static bool is_open_clip(const heed_config *config) {
  const heed_fields fields = root_of(config, NULL, NULL);
  return config->json &&
         (heed_field(&fields, "preprocess_cfg") || heed_field(&fields, "model_cfg"));
}

bool heed_config_tells_preprocess(const heed_config *config) {
  return config->processor || (config->timm && !config->plain_pixels) || is_open_clip(config);
}

void heed_config_left_out(const heed_config *config, const char *processor, char *text,
                          size_t size) {
  const heed_fields fields = {config->preprocessor, config->processor, NULL, NULL};
  const char *type = NULL;
  const heed_processor *found = config->processor ? heed_preprocess_class(&fields, &type) : NULL;
  *text = '\0';
  if (found && found->note)
    snprintf(text, size, "preprocessing of %s, %s", found->name, found->note);
  else if (type && !found)
    snprintf(text, size, "preprocessing of %.*s, read as that of %s", heed_utf8_cut(type, 60), type,
             processor);
}

/* What a family's weights mean without a word of it. Those of other makers than transformers were
 * tried by torchvision's transforms. */
static void assume(const heed_family *family, uint32_t image_size, heed_preprocess *to) {
  if (strcmp(family->processor, "timm") == 0)
    set_pretrained(heed_processor_named("timm"), image_size, TIMM_VIT_CROP, false, to);
  else
    heed_preprocess_defaults(heed_processor_named(family->processor), image_size, to);
  if (family->names && family->names != &heed_names_hugging_face &&
      family->names != &heed_names_hugging_face_clip)
    to->crop_rule = HEED_CROP_EVEN;
}

/* The object of an image processor, in the file that has it. */
static heed_status read_processor(const heed_config *config, const heed_family *family,
                                  uint32_t image_size, heed_preprocess *to, heed_error *error) {
  const heed_fields fields = {config->preprocessor, config->processor, config->processor_file,
                              error};
  if (heed_json_kind_of(config->preprocessor, config->processor) != HEED_JSON_OBJECT)
    return heed_field_fail(&fields, "image_processor", config->processor, "an object");
  return heed_preprocess_transformers(&fields, heed_processor_named(family->processor), image_size,
                                      to);
}

heed_status heed_config_preprocess(const heed_config *config, const heed_family *family,
                                   uint32_t image_size, uint32_t channels,
                                   heed_preprocess *preprocess, heed_error *error) {
  heed_fields fields = root_of(config, OPEN_CLIP_FILE, error), pretrained;
  if (channels > HEED_MOST_CHANNELS)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "model: too many channels for images (found %u, expected at most %d; "
                     "pixel_values are taken)",
                     channels, HEED_MOST_CHANNELS);
  preprocess->channels = channels;
  if (config->processor) return read_processor(config, family, image_size, preprocess, error);
  if (is_open_clip(config)) {
    HEED_TRY(heed_field_object(&fields, "preprocess_cfg", &fields));
    return read_open_clip(&fields, image_size, preprocess);
  }
  if (config->timm && !config->plain_pixels) {
    fields.where = "config.json";
    HEED_TRY(heed_field_object(&fields, "pretrained_cfg", &pretrained));
    return read_pretrained(pretrained.object ? &pretrained : &fields, image_size, preprocess);
  }
  assume(family, image_size, preprocess);
  return HEED_OK;
}
