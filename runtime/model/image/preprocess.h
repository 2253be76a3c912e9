/* What the ways into preprocessing share. */
#ifndef HEED_MODEL_IMAGE_PREPROCESS_H
#define HEED_MODEL_IMAGE_PREPROCESS_H

#include "heed/model.h"

/* Makes every image give pixel_values of height x width: unless that is so anyway, an image then
 * covers that size, aspect kept, and the centre is cropped. */
void heed_preprocess_cover(heed_preprocess *preprocess, uint32_t height, uint32_t width);

#endif
