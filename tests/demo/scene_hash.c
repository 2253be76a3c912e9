/* Prints a hash over the pictures and patches of seeds 1 to 100: every compiler, level of
 * optimisation and platform must print the same. Built with scene.c and scene_draw.c alone. */
#include <inttypes.h>
#include <stdio.h>

#include "heed/scene.h"

#define SEEDS 100

/* FNV-1a, 64 bits. */
static uint64_t fnv(uint64_t hash, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  return hash;
}

int main(void) {
  static uint8_t rgb[HEED_SCENE_BYTES], owner[HEED_SCENE_PATCHES];
  uint64_t all = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    heed_scene scene;
    heed_scene_from_seed(seed, NULL, &scene);
    heed_scene_draw(&scene, rgb, owner);
    const uint64_t hash =
        fnv(fnv(UINT64_C(0xcbf29ce484222325), rgb, sizeof rgb), owner, sizeof owner);
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(hash >> 8 * i);
    all = fnv(all, bytes, sizeof bytes);
  }
  printf("%016" PRIx64 "\n", all);
  return 0;
}
