/* preprocessor_config.json of transformers, which version 5 keeps inside processor_config.json.
 *
 * Defaults: processor.c. Keys that a class does not know change nothing there, nor here; steps that
 * only other classes have are refused. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "model/image/preprocess_config.h"

/* What the file calls its class; NULL: nothing. */
static heed_status read_type(const heed_fields *fields, const char **type) {
  *type = NULL;
  HEED_TRY(heed_field_string(fields, "feature_extractor_type", type));
  return heed_field_string(fields, "image_processor_type", type);
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
static heed_status read_multiples(const heed_fields *fields, const heed_processor *class,
                                  heed_preprocess *to) {
  bool keep = class->multiple != 0;
  uint32_t multiple = keep ? class->multiple : 1;
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
    const bool short_side = (shortest || !square) && class->way != HEED_WAY_BASE;
    to->resize = short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH;
    to->short_side = short_side ? one : 0;
    to->width = to->height = short_side ? 0 : one;
  }
  return HEED_OK;
}

/* Both edges of Idefics 2's size. */
static heed_status read_edges(const heed_fields *fields, const heed_processor *class,
                              heed_preprocess *to) {
  heed_fields size;
  uint32_t shortest = 378, longest = class->resize;
  HEED_TRY(heed_field_object(fields, "size", &size));
  if (size.object && (!heed_field(&size, "shortest_edge") || !heed_field(&size, "longest_edge")))
    return heed_field_fail(fields, "size", size.object, "a shortest_edge and a longest_edge");
  HEED_TRY(heed_field_size(&size, "shortest_edge", 1, &shortest));
  HEED_TRY(heed_field_size(&size, "longest_edge", 1, &longest));
  to->resize = HEED_RESIZE_WITHIN;
  to->width = to->height = longest;
  to->short_side = shortest;
  return HEED_OK;
}

/* The side of the whole picture beside Idefics 3's tiles. */
static heed_status read_largest(const heed_fields *fields, const heed_processor *class,
                                heed_preprocess *to) {
  heed_fields largest;
  uint32_t side = class->resize;
  HEED_TRY(heed_field_object(fields, "max_image_size", &largest));
  HEED_TRY(heed_field_size(&largest, "longest_edge", 1, &side));
  to->width = to->height = side;
  return HEED_OK;
}

static heed_status read_patches(const heed_fields *fields, heed_preprocess *to) {
  to->resize = HEED_RESIZE_PATCHES;
  to->width = to->height = 0;
  HEED_TRY(heed_field_size(fields, "max_num_patches", 1, &to->patches));
  return heed_field_size(fields, "patch_size", 1, &to->multiple);
}

/* Qwen2-VL's: the numbers of pixels stand beside the size, or as its edges. */
static heed_status read_pixels(const heed_fields *fields, heed_preprocess *to) {
  uint32_t patch = 14, merge = 2;
  uint64_t side;
  heed_fields size;
  HEED_TRY(heed_field_object(fields, "size", &size));
  HEED_TRY(heed_field_pixels(&size, "shortest_edge", &to->least_pixels));
  HEED_TRY(heed_field_pixels(&size, "longest_edge", &to->most_pixels));
  HEED_TRY(heed_field_pixels(fields, "min_pixels", &to->least_pixels));
  HEED_TRY(heed_field_pixels(fields, "max_pixels", &to->most_pixels));
  HEED_TRY(heed_field_size(fields, "patch_size", 1, &patch));
  HEED_TRY(heed_field_size(fields, "merge_size", 1, &merge));
  side = (uint64_t)patch * merge;
  if (side > HEED_CONFIG_MAX)
    return heed_field_fail(fields, "merge_size", heed_field(fields, "merge_size"),
                           "squares of at most 1048576 pixels a side");
  to->multiple = (uint32_t)side;
  to->width = to->height = 0;
  to->resize = HEED_RESIZE_PIXELS;
  if (to->least_pixels <= to->most_pixels) return HEED_OK;
  return heed_field_fail(fields, "min_pixels", heed_field(fields, "min_pixels"),
                         "no more than max_pixels");
}

/* Pixtral's; Mistral 3 has what it merges beside the image processor's description. */
static heed_status read_tiles(const heed_fields *fields, heed_preprocess *to) {
  heed_fields size, patch = *fields, whole = *fields;
  const char *key = "patch_size";
  uint32_t merge = 1;
  whole.object = heed_json_root(fields->json);
  HEED_TRY(heed_field_object(fields, "size", &size));
  HEED_TRY(heed_field_size(&size, "longest_edge", 1, &to->width));
  if (heed_json_kind_of(fields->json, heed_field(fields, key)) == HEED_JSON_OBJECT) {
    HEED_TRY(heed_field_object(fields, key, &patch));
    key = "height";
  }
  HEED_TRY(heed_field_size(&patch, key, 1, &to->multiple));
  HEED_TRY(heed_field_size(&whole, "spatial_merge_size", 1, &merge));
  if ((uint64_t)to->multiple * merge > HEED_CONFIG_MAX)
    return heed_field_fail(&whole, "spatial_merge_size", heed_field(&whole, "spatial_merge_size"),
                           "squares of at most 1048576 pixels a side");
  to->multiple *= merge;
  to->height = to->width;
  to->resize = HEED_RESIZE_TILES;
  return HEED_OK;
}

/* SAM's: the long side, and the square around it. */
static heed_status read_padded(const heed_fields *fields, heed_preprocess *to) {
  heed_fields size, pad;
  bool pads = true;
  HEED_TRY(heed_field_object(fields, "size", &size));
  HEED_TRY(heed_field_object(fields, "pad_size", &pad));
  HEED_TRY(heed_field_bool(fields, "do_pad", &pads));
  HEED_TRY(heed_field_size(&size, "longest_edge", 1, &to->width));
  HEED_TRY(heed_field_size(&pad, "height", 1, &to->crop_height));
  HEED_TRY(heed_field_size(&pad, "width", 1, &to->crop_width));
  to->height = to->width;
  if (!pads) to->crop_height = to->crop_width = 0;
  return HEED_OK;
}

static heed_status read_way(const heed_fields *fields, const heed_processor *class,
                            heed_preprocess *to) {
  switch (class->way) {
    case HEED_WAY_WITHIN: return read_edges(fields, class, to);
    case HEED_WAY_LARGEST: return read_largest(fields, class, to);
    case HEED_WAY_PATCHES: return read_patches(fields, to);
    case HEED_WAY_PIXELS: return read_pixels(fields, to);
    case HEED_WAY_TILES: return read_tiles(fields, to);
    case HEED_WAY_PADDED: return read_padded(fields, to);
    default: return read_resized(fields, class, to);
  }
}

static heed_status read_resize(const heed_fields *fields, const heed_processor *class,
                               heed_preprocess *to) {
  bool wanted = true;
  HEED_TRY(heed_field_bool(fields, "do_resize", &wanted));
  HEED_TRY(read_way(fields, class, to));
  if (!wanted) {
    to->resize = HEED_RESIZE_NONE;
    to->width = to->height = to->short_side = 0;
  }
  if (class->way == HEED_WAY_MULTIPLES) HEED_TRY(read_multiples(fields, class, to));
  return heed_preprocess_resample(fields, "resample", &to->resample);
}

/* The square around OWLv2's picture, which its size is of. */
static heed_status read_corner(const heed_fields *fields, heed_preprocess *to) {
  bool pads = true;
  HEED_TRY(heed_field_bool(fields, "do_pad", &pads));
  if (!pads || to->resize != HEED_RESIZE_SQUASH) return HEED_OK;
  to->resize = HEED_RESIZE_CORNER;
  to->crop_width = to->width;
  to->crop_height = to->height;
  return HEED_OK;
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
 * images are anyway, and of labels there are none. A class that heed knows passes over the numbers
 * that it does not read; of another they may change the picture. */
static heed_status refuse_steps(const heed_fields *fields, const heed_processor *class,
                                bool known) {
  static const char mine[] = "do_resize|do_center_crop|do_rescale|do_normalize|do_convert_rgb|"
                             "do_reduce_labels",
                    others[] = "offset|rescale_offset|min_pixels|max_pixels|bgr|max_image_size|"
                               "image_grid_pinpoints|pad_size|keep_aspect_ratio|"
                               "ensure_multiple_of|size_divisor|max_num_patches";
  const heed_json *json = fields->json;
  for (heed_json_value v = heed_json_first(json, fields->object); v;
       v = heed_json_next(json, fields->object, v)) {
    const char *key = heed_json_key(json, v, NULL);
    const heed_json_kind kind = heed_json_kind_of(json, v);
    const bool step = strncmp(key, "do_", 3) == 0 && !heed_list_has(class->steps, key) &&
                      !heed_list_has(mine, key),
               other = strcmp(key, "crop_pct") == 0 || (!known && heed_list_has(others, key));
    if ((step || other) && kind != HEED_JSON_NULL && kind != HEED_JSON_FALSE)
      return heed_field_refuse(fields, key, heed_json_kind_name(kind), "none");
  }
  return HEED_OK;
}

heed_status heed_preprocess_transformers(const heed_fields *fields, const heed_processor *class,
                                         uint32_t image_size, heed_preprocess *to) {
  const char *type;
  HEED_TRY(read_type(fields, &type));
  const heed_processor *known = type ? heed_processor_of_type(type) : NULL;
  if (known) class = known;
  HEED_TRY(refuse_steps(fields, class, known != NULL));
  heed_preprocess_defaults(class, image_size, to);
  to->crop_rule = HEED_CROP_DOWN; /* of transformers' classes, whatever the weights are of */
  HEED_TRY(read_resize(fields, class, to));
  HEED_TRY(read_crop(fields, image_size, to));
  if (class->way == HEED_WAY_CORNER) HEED_TRY(read_corner(fields, to));
  return read_values(fields, to);
}

const heed_processor *heed_preprocess_class(const heed_fields *fields, const char **type) {
  heed_error ignored;
  heed_fields quiet = *fields;
  quiet.error = &ignored;
  return read_type(&quiet, type) == HEED_OK && *type ? heed_processor_of_type(*type) : NULL;
}
