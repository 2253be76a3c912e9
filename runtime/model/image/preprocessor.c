/* preprocessor_config.json of transformers, which version 5 keeps inside processor_config.json.
 *
 * Defaults: processor.c. Keys that a class does not know change nothing there, nor here; steps that
 * only other classes have are refused. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/image/preprocess_config.h"

/* The class that the file names, else *class. */
static heed_status find_processor(const heed_fields *fields, const heed_processor **class) {
  const char *type = NULL;
  char known[320];
  HEED_TRY(heed_field_string(fields, "feature_extractor_type", &type));
  HEED_TRY(heed_field_string(fields, "image_processor_type", &type));
  if (!type) return HEED_OK;
  const heed_processor *found = heed_processor_of_type(type);
  if (found) {
    *class = found;
    return HEED_OK;
  }
  heed_processor_list(known, sizeof known);
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: the kind of processor is not supported (found %.*s, expected that of %s)",
                   fields->where, HEED_CUT(type), known);
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

/* What DPT does with a size. */
static heed_status read_multiples(const heed_fields *fields, heed_preprocess *to) {
  bool keep = false;
  uint32_t multiple = 1;
  HEED_TRY(heed_field_bool(fields, "keep_aspect_ratio", &keep));
  HEED_TRY(heed_field_size(fields, "ensure_multiple_of", 1, &multiple));
  if (to->resize == HEED_RESIZE_SHORT_SIDE)
    return heed_field_fail(fields, "size", heed_field(fields, "size"), "a height and a width");
  if (to->resize != HEED_RESIZE_SQUASH) return HEED_OK;
  to->multiple = multiple;
  if (keep) {
    to->resize = HEED_RESIZE_MULTIPLES;
    return HEED_OK;
  }
  to->width = (uint32_t)rint((double)to->width / multiple) * multiple;
  to->height = (uint32_t)rint((double)to->height / multiple) * multiple;
  return HEED_OK;
}

/* A size of the class's defaults, or as the file has it. */
static heed_status read_resized(const heed_fields *fields, const heed_processor *class,
                                heed_preprocess *to) {
  uint32_t height, width, one;
  bool shortest, square = !class->short_side;
  HEED_TRY(heed_field_bool(fields, "default_to_square", &square));
  HEED_TRY(read_size(fields, "size", &height, &width, &one, &shortest));
  if (height) {
    to->resize = HEED_RESIZE_SQUASH;
    to->height = height;
    to->width = width;
    to->short_side = 0;
  } else if (one) {
    const bool short_side = (shortest || !square) && !class->base;
    to->resize = short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH;
    to->short_side = short_side ? one : 0;
    to->width = to->height = short_side ? 0 : one;
  }
  return HEED_OK;
}

static heed_status read_resize(const heed_fields *fields, const heed_processor *class,
                               heed_preprocess *to) {
  bool wanted = true;
  HEED_TRY(heed_field_bool(fields, "do_resize", &wanted));
  HEED_TRY(read_resized(fields, class, to));
  if (!wanted) {
    to->resize = HEED_RESIZE_NONE;
    to->width = to->height = to->short_side = 0;
  }
  if (class->multiples) HEED_TRY(read_multiples(fields, to));
  return heed_preprocess_resample(fields, "resample", &to->resample);
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
  HEED_TRY(heed_field_bool(fields, "rescale", &rescale)); /* OWL-ViT's first files */
  HEED_TRY(heed_field_bool(fields, "do_rescale", &rescale));
  HEED_TRY(heed_field_bool(fields, "do_normalize", &normalize));
  HEED_TRY(heed_field_float(fields, "rescale_factor", &to->rescale));
  HEED_TRY(heed_preprocess_numbers(fields, "image_mean", false, to->channels, to->mean));
  HEED_TRY(heed_preprocess_numbers(fields, "image_std", true, to->channels, to->std));
  if (!rescale) to->rescale = 1.0f;
  for (uint32_t i = 0; i < to->channels && !normalize; i++) {
    to->mean[i] = 0.0f;
    to->std[i] = 1.0f;
  }
  return HEED_OK;
}

/* Steps and numbers of other processors, which heed's way has not; without alpha, RGB is what
 * images are anyway, and of labels there are none. A class that is named passes over the numbers
 * that it does not know; where none is named, they tell that it is another. */
static heed_status refuse_steps(const heed_fields *fields, const heed_processor *class) {
  static const char mine[] = "do_resize|do_center_crop|do_rescale|do_normalize|do_convert_rgb|"
                             "do_reduce_labels",
                    others[] = "offset|rescale_offset|min_pixels|max_pixels|bgr|max_image_size|"
                               "image_grid_pinpoints|pad_size|keep_aspect_ratio|"
                               "ensure_multiple_of|size_divisor";
  const bool named =
      heed_field(fields, "image_processor_type") || heed_field(fields, "feature_extractor_type");
  const heed_json *json = fields->json;
  for (heed_json_value v = heed_json_first(json, fields->object); v;
       v = heed_json_next(json, fields->object, v)) {
    const char *key = heed_json_key(json, v, NULL);
    const heed_json_kind kind = heed_json_kind_of(json, v);
    const bool step = strncmp(key, "do_", 3) == 0 && !heed_list_has(class->steps, key) &&
                      !heed_list_has(mine, key),
               other = strcmp(key, "crop_pct") == 0 || (!named && heed_list_has(others, key));
    if ((step || other) && kind != HEED_JSON_NULL && kind != HEED_JSON_FALSE)
      return heed_field_refuse(fields, key, heed_json_kind_name(kind), "none");
  }
  return HEED_OK;
}

heed_status heed_preprocess_transformers(const heed_fields *fields, const heed_processor *class,
                                         uint32_t image_size, heed_preprocess *to) {
  HEED_TRY(find_processor(fields, &class));
  HEED_TRY(refuse_steps(fields, class));
  heed_preprocess_defaults(class, image_size, to);
  to->crop_rule = HEED_CROP_DOWN; /* of transformers' classes, whatever the weights are of */
  HEED_TRY(read_resize(fields, class, to));
  HEED_TRY(read_crop(fields, image_size, to));
  return read_values(fields, to);
}

const heed_processor *heed_preprocess_class(const heed_fields *fields) {
  const heed_processor *class = NULL;
  heed_error ignored;
  heed_fields quiet = *fields;
  quiet.error = &ignored;
  return find_processor(&quiet, &class) == HEED_OK ? class : NULL;
}
