/* What the trainer calls: a batch of scenes with labels for every patch, through ctypes. Not part
 * of the library. */
#include <string.h>

#include "heed/scene.h"

/* rgb[count][224*224*3]; shape[count][196]: 0..9, 10 = background; object[count][196]: index of the
 * object, 255 = none; class_of[count]: the twins' shape, or -1; twins[count][2]: their objects, 255
 * where there are none. level[7] as heed_scene_level. */
__attribute__((visibility("default"))) void heed_scene_batch(uint64_t first_seed, uint32_t count,
                                                             const uint32_t *level, uint8_t *rgb,
                                                             uint8_t *shape, uint8_t *object,
                                                             int32_t *class_of, uint8_t *twins) {
  const heed_scene_level wanted = {level[0], level[1], level[2],     level[3],
                                   level[4], level[5], level[6] != 0};
  for (uint32_t i = 0; i < count; i++) {
    heed_scene scene;
    uint32_t pair[2] = {HEED_SCENE_NO_OBJECT, HEED_SCENE_NO_OBJECT};
    heed_scene_from_seed(first_seed + i, &wanted, &scene);
    heed_scene_draw(&scene, rgb + i * HEED_SCENE_BYTES, object + (size_t)i * HEED_SCENE_PATCHES);
    class_of[i] = !wanted.any_shapes && heed_scene_twins(&scene, pair)
                      ? (int32_t)scene.objects[pair[0]].shape
                      : -1;
    for (uint32_t k = 0; k < 2; k++) twins[i * 2 + k] = (uint8_t)pair[k];
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++) {
      const uint8_t owner = object[(size_t)i * HEED_SCENE_PATCHES + p];
      shape[(size_t)i * HEED_SCENE_PATCHES + p] =
          (uint8_t)(owner == HEED_SCENE_NO_OBJECT ? HEED_SCENE_SHAPES : scene.objects[owner].shape);
    }
  }
}
