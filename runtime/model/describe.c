/* A model in words. See describe.h. */
#include "model/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define LINE_SIZE 1400 /* a longer one is cut */
#define SHOWN_CHANNELS 4u

typedef struct writer {
  char *text;
  size_t size, length; /* of the room; of the whole, which may be more */
} writer;

/* One line, safe to show whatever the files hold. */
static void put(writer *to, const char *format, ...) {
  char line[LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  heed_utf8_clean(line);
  const size_t room = to->length < to->size ? to->size - to->length : 0;
  const int written = snprintf(room ? to->text + to->length : NULL, room, "%s\n", line);
  to->length += written > 0 ? (size_t)written : 0;
}

static void put_resize(const heed_preprocess *how, char *text, size_t size) {
  static const char *const filters[] = {"nearest", "lanczos", "bilinear",
                                        "bicubic", "box",     "hamming"};
  const char *filter =
      how->resample < sizeof filters / sizeof *filters ? filters[how->resample] : "unknown filter";
  switch (how->resize) {
    case HEED_RESIZE_NONE: snprintf(text, size, "no resize"); break;
    case HEED_RESIZE_SQUASH:
      snprintf(text, size, "resize to %u x %u pixels, %s", how->width, how->height, filter);
      break;
    case HEED_RESIZE_SHORT_SIDE:
      snprintf(text, size, "resize the short side to %u pixels, %s", how->short_side, filter);
      break;
    case HEED_RESIZE_WHOLE:
      snprintf(text, size, "resize to fit into %u x %u pixels, %s", how->width, how->height,
               filter);
      break;
    case HEED_RESIZE_COVER:
      snprintf(text, size, "resize to cover %u x %u pixels, %s", how->width, how->height, filter);
      break;
    case HEED_RESIZE_MULTIPLES:
      snprintf(text, size, "resize near %u x %u pixels, multiples of %u, %s", how->width,
               how->height, how->multiple, filter);
      break;
    case HEED_RESIZE_CORNER:
    case HEED_RESIZE_CORNER_MEAN:
      snprintf(text, size, "resize to fit into the corner of %u x %u pixels, %s", how->width,
               how->height, filter);
      break;
    case HEED_RESIZE_WITHIN:
      snprintf(text, size, "resize the sides to %u to %u pixels, %s", how->short_side, how->width,
               filter);
      break;
    case HEED_RESIZE_PIXELS:
      snprintf(text, size, "resize to multiples of %u, %u to %u pixels in all, %s", how->multiple,
               how->least_pixels, how->most_pixels, filter);
      break;
    case HEED_RESIZE_TILES:
      snprintf(text, size, "resize the long side to at most %u, then up to multiples of %u, %s",
               how->width, how->multiple, filter);
      break;
    case HEED_RESIZE_PATCHES:
      snprintf(text, size, "resize to at most %u patches of %u pixels, %s", how->patches,
               how->multiple, filter);
      break;
  }
}

/* " 0.485 0.456 0.406", or the first few. */
static void put_channels(const float *values, uint32_t count, char *text, size_t size) {
  size_t length = 0;
  for (uint32_t i = 0; i < count && i < SHOWN_CHANNELS && length < size; i++)
    length += (size_t)snprintf(text + length, size - length, " %.6g", (double)values[i]);
  if (count > SHOWN_CHANNELS && length < size) snprintf(text + length, size - length, " ...");
}

static void put_preprocess(writer *to, const heed_preprocess *how, const heed_error *unprepared) {
  char resize[128], crop[48] = "", mean[96] = "", std[96] = "";
  if (unprepared) {
    put(to, "no images: %s", unprepared->message);
    return;
  }
  const uint32_t channels = how->channels ? how->channels : 3;
  put_resize(how, resize, sizeof resize);
  if (how->crop_width)
    snprintf(crop, sizeof crop, ", crop %u x %u", how->crop_width, how->crop_height);
  put_channels(how->mean, channels, mean, sizeof mean);
  put_channels(how->std, channels, std, sizeof std);
  put(to, "preprocessing: %s%s, x %.6g, mean%s, std%s", resize, crop, (double)how->rescale, mean,
      std);
}

static void put_image_model(writer *to, const heed_model_info *info, const heed_preprocess *how,
                            const heed_error *unprepared) {
  char frames[48] = "";
  if (info->frames)
    snprintf(frames, sizeof frames, "%u frames, %u a patch, ", info->frames, info->tubelet);
  put(to,
      "family %s: %s%u px, patch %u, %u layers x %u heads, width %u, mlp %u, %u prefix tokens, %u "
      "classes",
      info->family, frames, info->image_size, info->patch, info->layers, info->heads, info->width,
      info->mlp_width, info->prefix_tokens, info->classes);
  put(to, "positions resized: %s%s%s%s", info->positions ? info->positions : "none",
      info->family_assumed ? " (as in " : "", info->family_assumed ? info->family : "",
      info->family_assumed ? ": no config.json names the model)" : "");
  put(to, "rules: %s", info->rules ? info->rules : "none");
  if (info->heads_guessed) put(to, "guessed: %u heads, which no file has", info->heads);
  if (info->assumed) put(to, "assumed: %s", info->assumed);
  put_preprocess(to, how, unprepared);
}

static void put_text_model(writer *to, const heed_model_info *info) {
  put(to, "family %s: texts of %u tokens, %u layers x %u heads, width %u, mlp %u, embeddings of %u",
      info->family, info->max_length, info->layers, info->heads, info->width, info->mlp_width,
      info->projection);
  put(to, "rules: %s", info->rules ? info->rules : "none");
  if (info->heads_guessed) put(to, "guessed: %u heads, which no file has", info->heads);
  if (info->assumed) put(to, "assumed: %s", info->assumed);
}

static void put_sequence_model(writer *to, const heed_model_info *info) {
  char source[32];
  if (info->features)
    snprintf(source, sizeof source, "vectors of %u", info->features);
  else
    snprintf(source, sizeof source, "%u tokens", info->source_vocabulary);
  put(to,
      "family %s: from %s to %u tokens, %u + %u layers x %u heads, width %u, at most %u tokens, "
      "begin %d, end %d, padding %d",
      info->family, source, info->target_vocabulary, info->encoder_layers, info->decoder_layers,
      info->heads, info->width, info->max_length, info->begin, info->end, info->padding);
}

size_t heed_describe(const heed_model_info *info, const heed_preprocess *how,
                     const heed_error *unprepared, char *text, size_t size) {
  writer to = {text, size, 0};
  if (size) text[0] = '\0';
  switch (info->kind) {
    case HEED_MODEL_VISION: put_image_model(&to, info, how, unprepared); break;
    case HEED_MODEL_TEXT: put_text_model(&to, info); break;
    case HEED_MODEL_ENCODER_DECODER: put_sequence_model(&to, info); break;
  }
  put(&to, "%llu parameters, %llu bytes of weights in the file, %u tensors used, %u unused",
      (unsigned long long)info->parameters, (unsigned long long)info->weight_bytes,
      info->tensors_used, info->tensors_unused);
  return to.length;
}

size_t heed_model_describe(const heed_model *model, char *text, size_t size) {
  heed_model_info info;
  heed_preprocess how;
  heed_error why;
  heed_model_get_info(model, &info);
  heed_model_preprocess(model, &how);
  return heed_describe(&info, &how, heed_model_prepares(model, &why) == HEED_OK ? NULL : &why, text,
                       size);
}
