/* Any bytes as a scene in JSON: read, drawn, written, read again. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "heed/scene_json.h"
#include "support/test.h"

static void want_in_range(const heed_scene *scene) {
  if (scene->object_count > HEED_SCENE_MAX_OBJECTS || scene->clutter > 100 || scene->noise > 32)
    abort();
  for (uint32_t i = 0; i < scene->object_count; i++) {
    const heed_scene_object *object = &scene->objects[i];
    const int32_t side = (int32_t)HEED_SCENE_SIDE * HEED_SCENE_UNIT;
    if (object->shape >= HEED_SCENE_SHAPES || object->colour >= HEED_SCENE_COLOURS ||
        object->angle >= HEED_SCENE_TURN || object->radius < HEED_SCENE_MIN_RADIUS ||
        object->radius > HEED_SCENE_MAX_RADIUS || object->x < 0 || object->x > side ||
        object->y < 0 || object->y > side)
      abort();
  }
}

void fuzz_read(const uint8_t *data, size_t size) {
  static uint8_t rgb[HEED_SCENE_BYTES], owner[HEED_SCENE_PATCHES];
  char text[HEED_SCENE_TEXT_SIZE];
  heed_scene scene, again;
  heed_context *context;
  heed_error error;
  if (!(context = fuzz_context())) return;
  const heed_status status = heed_scene_parse(context, data, size, "fuzz", &scene, &error);
  if (status == HEED_OK) {
    want_in_range(&scene);
    const size_t length = heed_scene_text(&scene, text);
    if (length >= sizeof text || strlen(text) != length) abort();
    const bool same = heed_scene_parse(context, text, length, "again", &again, &error) == HEED_OK;
    fuzz_must(same, error.message);
    if (!same) {
      heed_context_destroy(context);
      return;
    }
    if (again.object_count != scene.object_count || again.seed != scene.seed ||
        again.clutter != scene.clutter || again.noise != scene.noise)
      abort();
    for (uint32_t i = 0; i < scene.object_count; i++)
      if (memcmp(&again.objects[i], &scene.objects[i], sizeof *again.objects) != 0) abort();
    /* a drawing takes a thousand times as long as a reading */
    if (length % 16 == 0) heed_scene_draw(&scene, rgb, owner);
  } else {
    fuzz_must(status == HEED_INVALID_FILE && !strncmp(error.message, "fuzz: ", 6), error.message);
  }
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) {
  static const char *const words[] = {"\"seed\"", "\"noise\"", "\"angle\"", "\"ring\"",
                                      "\"blue\"", "360",       NULL};
  fuzz_change_json(input, random, words);
}

#ifndef HEED_LIBFUZZER
int main(int argc, char **argv) {
  static const char star[] =
      "{\"seed\": 7, \"clutter\": 60, \"noise\": 4, \"objects\": [{\"shape\": \"star\", "
      "\"colour\": \"red\", \"x\": 60.5, \"y\": 80, \"radius\": 28, \"angle\": 30}]}";
  static const char *const words[] = {"{",
                                      "}",
                                      "[",
                                      "]",
                                      ",",
                                      "\"seed\":",
                                      "\"noise\":",
                                      "\"angle\":",
                                      "\"ring\"",
                                      "\"blue\"",
                                      "\"clutter\":",
                                      "360",
                                      "224",
                                      "47.99999",
                                      "18446744073709551615",
                                      NULL};
  char drawn[HEED_SCENE_TEXT_SIZE];
  heed_scene scene;
  heed_scene_from_seed(3, NULL, &scene);
  const fuzz_seed seeds[] = {{star, sizeof star - 1}, {drawn, heed_scene_text(&scene, drawn)}};
  return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
}
#endif
