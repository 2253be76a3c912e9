/* WebP bytes -> RGB, 8 bit, through libwebp; of an animation one frame, with those before it below
 * it as it says. */
#include <string.h>

#include "image/decoding.h"
#include "late/webp.h"

static heed_status fail_webp(const decoding *work, const char *found) {
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: not a valid WebP (found %s, expected a complete image)", work->name, found);
}

static heed_status check_frame(decoding *work, uint32_t frames) {
  work->picture.frames = frames;
  if (work->most.frame < frames) return HEED_OK;
  return heed_fail(work->error, HEED_INVALID_FILE,
                   "%s: frame out of range (found %u, expected less than %u)", work->name,
                   work->most.frame, frames);
}

/* EXIF's, else XMP's, as Pillow takes them. */
static uint32_t find_orientation(const WebPDemuxer *demuxer) {
  static const char *const chunks[] = {"EXIF", "XMP "};
  uint32_t found = 0;
  for (int i = 0; i < 2 && !found; i++) {
    WebPChunkIterator chunk;
    if (!WebPDemuxGetChunk(demuxer, chunks[i], 1, &chunk)) continue;
    found = (i == 0 ? heed_exif_find : heed_xmp_orientation)(chunk.chunk.bytes, chunk.chunk.size);
    WebPDemuxReleaseChunkIterator(&chunk);
  }
  return found >= 1 && found <= 8 ? found : 1;
}

static heed_status decode_still(decoding *work) {
  const size_t row = (size_t)work->picture.width * 3;
  return WebPDecodeRGBInto(work->bytes, work->size, work->picture.pixels,
                           row * work->picture.height, (int)row)
             ? HEED_OK
             : fail_webp(work, "broken data");
}

static heed_status decode_frame(decoding *work) {
  const WebPData data = {work->bytes, work->size};
  const size_t count = (size_t)work->picture.width * work->picture.height;
  WebPAnimDecoderOptions options;
  WebPAnimDecoderOptionsInitInternal(&options, WEBP_DEMUX_ABI_VERSION);
  options.color_mode = MODE_RGBA;
  WebPAnimDecoder *decoder = WebPAnimDecoderNewInternal(&data, &options, WEBP_DEMUX_ABI_VERSION);
  uint8_t *canvas = NULL; /* of the decoder */
  int time;
  bool whole = decoder != NULL;
  for (uint32_t i = 0; whole && i <= work->most.frame; i++)
    whole = WebPAnimDecoderGetNext(decoder, &canvas, &time) != 0;
  for (size_t i = 0; whole && i < count; i++)
    memcpy(work->picture.pixels + 3 * i, canvas + 4 * i, 3);
  WebPAnimDecoderDelete(decoder);
  return whole ? HEED_OK : fail_webp(work, "a broken frame, or no memory for it");
}

static heed_status decode_of(decoding *work, const WebPDemuxer *demuxer) {
  const uint32_t width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH),
                 height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT);
  HEED_TRY(heed_decoding_check_size(work, width, height));
  HEED_TRY(check_frame(work, WebPDemuxGetI(demuxer, WEBP_FF_FRAME_COUNT)));
  HEED_TRY(heed_decoding_make_room(work, width, height));
  work->orientation = find_orientation(demuxer);
  const bool animated = WebPDemuxGetI(demuxer, WEBP_FF_FORMAT_FLAGS) & ANIMATION_FLAG;
  return animated ? decode_frame(work) : decode_still(work);
}

heed_status heed_decode_webp(decoding *work) {
  const WebPData data = {work->bytes, work->size};
  HEED_TRY(heed_late_open_webp(work->error));
  WebPDemuxer *demuxer = WebPDemuxInternal(&data, 0, NULL, WEBP_DEMUX_ABI_VERSION);
  if (!demuxer) return fail_webp(work, "a file that ends early, or broken chunks");
  const heed_status status = decode_of(work, demuxer);
  WebPDemuxDelete(demuxer);
  return status;
}
