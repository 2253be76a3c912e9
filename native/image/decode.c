/* Bytes of a picture -> its samples: files in, the kind by the first bytes, sizes, orientation. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/desc.h"
#include "files/names.h"
#include "files/os.h"
#include "files/output.h"
#include "image/decoding.h"
#include "pickle/kind.h"

heed_status heed_decoding_check_size(const decoding *work, uint32_t width, uint32_t height) {
  if ((uint64_t)width * height > work->most.pixels || width > work->most.side ||
      height > work->most.side)
    return heed_fail(
        work->error, HEED_INVALID_FILE,
        "%s: image too large (found %u x %u pixels, expected at most %u in all and %u per side)",
        work->name, width, height, work->most.pixels, work->most.side);
  return HEED_OK;
}

heed_status heed_decoding_make_room(decoding *work, uint32_t width, uint32_t height) {
  const size_t pixel = heed_pixel_bytes(&work->picture);
  size_t count = width;
  work->picture.width = width;
  work->picture.height = height;
  if (heed_size_mul(count, height, &count))
    work->picture.pixels = heed_alloc_raw(work->context, count, pixel);
  if (!work->picture.pixels) return heed_fail_memory(work->error, work->name, count * pixel);
  return HEED_OK;
}

#define KINDS "a PNG, JPEG, " WEBP TIFF ".npy or .npz"
#define MANY TIFF ".npy and .npz files"
#if HEED_HAS_WEBP
#define WEBP "WebP, "
#else
#define WEBP ""
#endif
#if HEED_HAS_TIFF
#define TIFF "TIFF, "
#else
#define TIFF ""
#endif

typedef heed_status (*decoder)(decoding *work);

/* By what heed_file_kind calls them. */
static const struct {
  const char *kind;
  decoder decode;
} decoders[] = {{HEED_KIND_PNG, heed_decode_png},
                {HEED_KIND_JPEG, heed_decode_jpeg},
#if HEED_HAS_WEBP
                {HEED_KIND_WEBP, heed_decode_webp},
#endif
#if HEED_HAS_TIFF
                {HEED_KIND_TIFF, heed_decode_tiff},
#endif
                {HEED_KIND_NPY, heed_decode_npy}};

/* What decodes a file that begins with these bytes; NULL: nothing. A zip may be many things: its
 * name tells. */
static decoder decoder_of(const char *name, const uint8_t *bytes, size_t size) {
  const char *kind = heed_file_kind(bytes, size);
  for (size_t i = 0; kind && i < sizeof decoders / sizeof *decoders; i++)
    if (strcmp(kind, decoders[i].kind) == 0) return decoders[i].decode;
  return kind && strcmp(kind, HEED_KIND_ZIP) == 0 && heed_ends_with_any_case(name, ".npz")
             ? heed_decode_npz
             : NULL;
}

/* The way out for a kind whose library this build has not; "" for others. */
static const char *way_out(const char *kind) {
  if (kind && !HEED_HAS_WEBP && strcmp(kind, HEED_KIND_WEBP) == 0)
    return "; this build is without libwebp: save the image as PNG";
  if (kind && !HEED_HAS_TIFF && strcmp(kind, HEED_KIND_TIFF) == 0)
    return "; this build is without libtiff: save the image as PNG or .npy";
  return "";
}

/* Says what else the bytes are, as far as it is known. */
static heed_status refuse_kind(const char *name, const uint8_t *bytes, size_t size,
                               heed_error *error) {
  const char *kind = heed_file_kind(bytes, size);
  if (size == 0)
    return heed_fail(error, HEED_INVALID_FILE, "%s: empty file (found 0 bytes, expected " KINDS ")",
                     name);
  char found[20] = "bytes";
  for (size_t i = 0; i < 4 && i < size; i++)
    snprintf(found + 5 + 3 * i, sizeof found - 5 - 3 * i, " %02X", bytes[i]);
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: image format not supported (found %s, expected " KINDS "%s)", name,
                   kind ? kind : found, way_out(kind));
}

static heed_status decode_by_kind(decoding *work) {
  const decoder decode = decoder_of(work->name, work->bytes, work->size);
  if (!decode) return refuse_kind(work->name, work->bytes, work->size, work->error);
  HEED_TRY(decode(work));
  const uint32_t found = work->picture.channels, wanted = work->most.channels;
  if (found == wanted || wanted == 1 || wanted == 3) return HEED_OK;
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: wrong number of channels (found %u, expected the model's %u: " MANY
                   " may have them)",
                   work->name, found, wanted);
}

static heed_status read_limits(const heed_image_limits *limits, heed_image_limits *most,
                               heed_error *error) {
  *most = (heed_image_limits){.struct_size = sizeof *most};
  if (limits) HEED_TRY(heed_desc_read(most, sizeof *most, limits, "image limits", error));
  if (most->bytes == 0) most->bytes = HEED_IMAGE_MAX_BYTES;
  if (most->pixels == 0) most->pixels = HEED_IMAGE_MAX_PIXELS;
  if (most->side == 0) most->side = HEED_IMAGE_MAX_SIDE;
  if (most->scans == 0) most->scans = HEED_IMAGE_MAX_SCANS;
  if (most->channels == 0) most->channels = 3;
  if (most->channels > HEED_MOST_CHANNELS)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "image limits: too many channels (found %u, expected at most %d)",
                     most->channels, HEED_MOST_CHANNELS);
  return HEED_OK;
}

const char *heed_image_kinds(void) { return "PNG, JPEG, " WEBP TIFF ".npy and .npz"; }

heed_status heed_image_decode(heed_context *context, const char *name, const void *bytes,
                              size_t size, heed_picture *picture, heed_error *error) {
  return heed_image_decode_within(context, name, bytes, size, NULL, picture, error);
}

heed_status heed_image_decode_within(heed_context *context, const char *name, const void *bytes,
                                     size_t size, const heed_image_limits *limits,
                                     heed_picture *picture, heed_error *error) {
  decoding work = {.context = context,
                   .name = name,
                   .bytes = bytes,
                   .size = size,
                   .picture = {.channels = 3, .frames = 1},
                   .orientation = 1,
                   .error = error};
  *picture = (heed_picture){0};
  HEED_TRY(read_limits(limits, &work.most, error));
  heed_status status = decode_by_kind(&work);
  if (status == HEED_OK)
    status = heed_picture_orient(context, &work.picture, work.orientation, error);
  if (status == HEED_OK)
    *picture = work.picture;
  else
    heed_free(context, work.picture.pixels);
  return status;
}

static heed_status fail_read(const char *path, heed_error *error) {
  return heed_fail(error, heed_status_of_errno(errno),
                   "%s: cannot read (found \"%s\", expected an image file)", path, strerror(errno));
}

/* fread that goes on where a signal interrupted it. */
static size_t read_on(FILE *file, uint8_t *to, size_t count) {
  errno = 0;
  size_t done = fread(to, 1, count, file);
  while (done < count && ferror(file) && errno == EINTR) {
    clearerr(file);
    done += fread(to + done, 1, count - done, file);
  }
  return done;
}

/* What follows the first *size bytes. */
static heed_status read_rest(heed_context *context, const char *path, FILE *file, uint32_t most,
                             uint8_t **bytes, size_t capacity, size_t *size, heed_error *error) {
  for (size_t count = 1; count > 0; *size += count) {
    if (*size > most)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: file too large (found more than %u bytes, expected an image)", path,
                       most);
    if (!heed_grow(context, bytes, &capacity, *size + 1, 1))
      return heed_fail_memory(error, path, *size + 1);
    count = read_on(file, *bytes + *size, capacity - *size);
    if (ferror(file)) return fail_read(path, error);
  }
  return HEED_OK;
}

/* The first bytes come first, so that what is no picture, however long, is refused by them. */
static heed_status read_all(heed_context *context, const char *path, FILE *file, uint32_t most,
                            uint8_t **bytes, size_t *size, heed_error *error) {
  uint8_t first[HEED_KIND_BYTES];
  const uint64_t whole = heed_os_stream_size(file);
  *size = read_on(file, first, sizeof first);
  if (ferror(file)) return fail_read(path, error);
  if (!decoder_of(path, first, *size)) return refuse_kind(path, first, *size, error);
  if (whole > most)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: file too large (found %llu bytes, expected at most %u of an image)", path,
                     (unsigned long long)whole, most);
  /* one more, so that its end shows without another buffer */
  const size_t capacity = (whole > sizeof first ? (size_t)whole : 65536) + 1;
  *bytes = heed_alloc_raw(context, capacity, 1);
  if (!*bytes) return heed_fail_memory(error, path, capacity);
  memcpy(*bytes, first, *size);
  return read_rest(context, path, file, most, bytes, capacity, size, error);
}

heed_status heed_image_load(heed_context *context, const char *path, heed_picture *picture,
                            heed_error *error) {
  return heed_image_load_within(context, path, NULL, picture, error);
}

heed_status heed_image_load_within(heed_context *context, const char *path,
                                   const heed_image_limits *limits, heed_picture *picture,
                                   heed_error *error) {
  heed_image_limits most;
  const bool standard = strcmp(path, "-") == 0;
  *picture = (heed_picture){0};
  HEED_TRY(read_limits(limits, &most, error));
  errno = 0;
  FILE *file = standard ? heed_os_standard_in() : heed_os_stream(path, "rb");
  if (standard) path = "stdin";
  if (!file)
    return heed_fail(error, heed_status_of_errno(errno),
                     "%s: cannot open (found \"%s\", expected an image file)", path,
                     strerror(errno));
  uint8_t *bytes = NULL;
  size_t size = 0;
  heed_status status = read_all(context, path, file, most.bytes, &bytes, &size, error);
  if (!standard) fclose(file);
  if (status == HEED_OK)
    status = heed_image_decode_within(context, path, bytes, size, &most, picture, error);
  heed_free(context, bytes);
  return status;
}

heed_status heed_picture_create(heed_context *context, const char *name, uint32_t width,
                                uint32_t height, heed_picture *picture, heed_error *error) {
  *picture = (heed_picture){0};
  if (height && width > SIZE_MAX / 3 / height) return heed_fail_memory(error, name, SIZE_MAX);
  uint8_t *pixels = heed_alloc(context, (size_t)width * height, 3);
  if (!pixels) return heed_fail_memory(error, name, (size_t)width * height * 3);
  *picture = (heed_picture){
      .pixels = pixels, .width = width, .height = height, .channels = 3, .frames = 1};
  return HEED_OK;
}

void heed_picture_free(heed_context *context, heed_picture *picture) {
  heed_free(context, picture->pixels);
  *picture = (heed_picture){0};
}

heed_image heed_picture_view(const heed_picture *picture) {
  heed_picture whole = *picture;
  if (!whole.channels) whole.channels = 3; /* of a caller that knows no others */
  return (heed_image){whole.pixels,
                      whole.width,
                      whole.height,
                      whole.channels,
                      whole.width * heed_pixel_bytes(&whole),
                      whole.samples};
}
