/* Resizing of pictures, shared by preprocessing and figures. */
#ifndef HEED_MODEL_PREPROCESS_H
#define HEED_MODEL_PREPROCESS_H

#include "heed/model.h"

/* Makes every image give pixel_values of height x width: unless that is so anyway, an image then
 * covers that size, aspect kept, and the centre is cropped. */
void heed_preprocess_cover(heed_preprocess *preprocess, uint32_t height, uint32_t width);

/* A window of the resized picture: the whole would be full_width x full_height; [x, x + width) x
 * [y, y + height) of it is wanted. */
typedef struct heed_resize_window {
  uint32_t full_width, full_height, x, y, width, height;
} heed_resize_window;

/* Pixels as Pillow's Image.resize((full_width, full_height), resample) gives them, of the window
 * only: rgb [height, width, 3]. Statuses: OUT_OF_MEMORY, INVALID_ARGUMENT. */
heed_status heed_resize_rgb(heed_context *context, const heed_image *image, uint32_t resample,
                            const heed_resize_window *window, uint8_t *rgb, heed_error *error);

#endif
