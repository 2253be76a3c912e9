/* Any bytes as a picture, as they are and with a PNG's check sums repaired; and as an EXIF
 * block. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "image/image.h"
#include "support/vector_file.h"

/* What the checks promise: a picture whose every pixel can be read, within the limits, or a
 * sentence and nothing. */
static void try_as(heed_context *context, const char *name, uint32_t channels, const uint8_t *bytes,
                   size_t size) {
  heed_picture picture;
  heed_error error;
  /* memory for a picture that a few bytes promise would take most of the time */
  const heed_image_limits limits = {.struct_size = sizeof limits,
                                    .channels = channels,
                                    .frame = (uint32_t)(size % 3),
                                    .pixels = 1u << 22};
  const heed_status status =
      heed_image_decode_within(context, name, bytes, size, &limits, &picture, &error);
  if (status != HEED_OK) {
    if (status != HEED_OUT_OF_MEMORY) fuzz_must_refuse(status, &error);
    fuzz_must(!picture.pixels, "a picture that is refused has pixels");
    fuzz_must(strncmp(error.message, name, strlen(name)) == 0, error.message);
    return;
  }
  const uint64_t pixels = (uint64_t)picture.width * picture.height;
  if (pixels == 0 || pixels > HEED_IMAGE_MAX_PIXELS) abort();
  volatile uint8_t seen = picture.pixels[0];
  const uint32_t sample = picture.samples == HEED_SAMPLES_U8    ? 1
                          : picture.samples == HEED_SAMPLES_U16 ? 2
                                                                : 4;
  if (channels > 3 && picture.channels != channels) abort();
  seen = picture.pixels[pixels * picture.channels * sample - 1];
  (void)seen;
  const bool shown = heed_picture_show(context, &picture, &error) == HEED_OK;
  fuzz_must(shown, error.message);
  if (shown) seen = picture.pixels[3 * pixels - 1];
  heed_picture_free(context, &picture);
}

/* For a model in colour, in grey and of five channels; a zip is an array by its name. */
static void try_picture(heed_context *context, const uint8_t *bytes, size_t size) {
  try_as(context, "fuzz", 3, bytes, size);
  try_as(context, "fuzz", 1, bytes, size);
  try_as(context, "fuzz.npz", 5, bytes, size);
}

static uint32_t check_sum(const uint8_t *bytes, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

/* Check sums of all chunks as their bytes are now, so that mutations reach past the first check.
 * False: not one changed. */
static bool repair_check_sums(uint8_t *bytes, size_t size) {
  bool changed = false;
  for (size_t at = 8; size - at >= 12 && size >= 20;) {
    const uint32_t length = (uint32_t)bytes[at] << 24 | (uint32_t)bytes[at + 1] << 16 |
                            (uint32_t)bytes[at + 2] << 8 | bytes[at + 3];
    if (length > size - at - 12) break;
    const uint32_t sum = check_sum(bytes + at + 4, (size_t)length + 4);
    for (int i = 0; i < 4; i++) {
      uint8_t *byte = bytes + at + 8 + length + i;
      changed = changed || *byte != (uint8_t)(sum >> (24 - 8 * i));
      *byte = (uint8_t)(sum >> (24 - 8 * i));
    }
    at += (size_t)length + 12;
  }
  return changed;
}

void fuzz_read(const uint8_t *data, size_t size) {
  heed_context *context = fuzz_context();
  if (!context) return;
  uint8_t *repaired = malloc(size ? size : 1);
  if (!repaired) abort();
  if (size) memcpy(repaired, data, size);
  const uint32_t orientation = heed_exif_orientation(data, size);
  if (orientation < 1 || orientation > 8) abort();
  try_picture(context, data, size);
  if (size >= 20 && data[0] == 0x89 && repair_check_sums(repaired, size))
    try_picture(context, repaired, size);
  free(repaired);
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_bytes(input, random); }

#ifndef HEED_LIBFUZZER
#define MOST_SEEDS 96

/* Pictures of a file of vectors: tensors "file.NAME". */
static size_t take_kinds(fuzz_seed *seeds, size_t count) {
  vector_file file = vector_file_open("image/kinds.safetensors");
  for (uint32_t i = 0; i < heed_safetensors_count(file.file) && count < MOST_SEEDS; i++) {
    const char *name = heed_safetensors_get(file.file, i)->name;
    heed_shape shape;
    if (strncmp(name, "file.", 5) != 0) continue;
    seeds[count].bytes = vector_file_read(&file, name, HEED_U8, &shape);
    seeds[count++].size = shape.dim[0];
  }
  vector_file_close(&file);
  return count;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"image/rgb.png",           "image/palette_4.png",
                                      "image/gray_alpha_16.png", "image/rgb_transparent.png",
                                      "image/orientation_6.png", "image/one_bit.png",
                                      "image/gray.jpg",          "image/cmyk.jpg",
                                      "image/progressive.jpg",   "image/orientation_6.jpg"};
  static const char *const words[] = {
      "IHDR",     "PLTE",     "tRNS",     "eXIf",     "zTXt",
      "iCCP",     "IDAT",     "IEND",     "Exif",     "\x7F\xFF\xFF\xFF",
      "\xFF\xDA", "\xFF\xC2", "\xFF\xC9", "\xFF\xC4", "\xFF\xDD",
      "\xFF\xD9", "\xFF\xE1", "II*",      "MM",       "VP8X",
      "ANMF",     "VP8L",     "'shape'",  "<f4",      "PK\1\2",
      NULL};
  fuzz_seed seeds[MOST_SEEDS];
  size_t count = sizeof names / sizeof *names;
  for (size_t i = 0; i < count; i++) seeds[i].bytes = test_read_vector(names[i], &seeds[i].size);
  count = take_kinds(seeds, count);
  const int status = fuzz_main(argc, argv, seeds, count, words);
  for (size_t i = 0; i < count; i++) free((void *)(uintptr_t)seeds[i].bytes);
  return status;
}
#endif
