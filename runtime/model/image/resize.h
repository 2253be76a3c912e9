/* Resizing of pictures. */
#ifndef HEED_MODEL_IMAGE_RESIZE_H
#define HEED_MODEL_IMAGE_RESIZE_H

#include "heed/model.h"

/* A window of the resized picture: the whole would be full_width x full_height; [x, x + width) x
 * [y, y + height) of it is wanted. */
typedef struct heed_resize_window {
  uint32_t full_width, full_height, x, y, width, height;
} heed_resize_window;

/* Pillow's filters by their numbers; NULL: there is none of that number. */
const char *heed_resample_name(uint32_t resample);

/* Samples as Pillow's Image.resize((full_width, full_height), resample) gives them, of the window
 * only: `to` is [height, width, channels], uint8_t of an image of 8 bits, else float. An image of
 * one channel is spread over all of them; of another its first ones are taken, and it has as many.
 * Statuses: OUT_OF_MEMORY, INVALID_ARGUMENT. */
heed_status heed_resize(heed_context *context, const heed_image *image, uint32_t resample,
                        const heed_resize_window *window, uint32_t channels, void *to,
                        heed_error *error);

#endif
