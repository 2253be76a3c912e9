/* Scenes as input of a verb. See scene_input.h. */
#include "cli/scene_input.h"

#include <stdlib.h>

#include "demo/scene_json.h"

static bool read_seed(const char *text, uint64_t *seed) {
  uint64_t value = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    const uint64_t digit = (uint64_t)(*text - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *seed = value;
  return true;
}

heed_status scene_input_read(cli_state *cli, const char *text, heed_scene *scene) {
  uint64_t seed;
  unsigned char *bytes;
  size_t size;
  if (read_seed(text, &seed)) {
    heed_scene_from_seed(seed, NULL, scene);
    return HEED_OK;
  }
  HEED_TRY(cli_read_file(cli, text, &bytes, &size));
  const heed_status status = heed_scene_parse(cli->context, bytes, size, text, scene, &cli->error);
  free(bytes);
  return status;
}

bool scene_input_twins(const heed_scene *scene, char text[160]) {
  uint32_t twins[2];
  text[0] = '\0';
  if (!heed_scene_twins(scene, twins)) return false;
  const heed_scene_object *a = &scene->objects[twins[0]], *b = &scene->objects[twins[1]];
  snprintf(text, 160, "%s %s at (%d, %d) and %s %s at (%d, %d)", heed_scene_colour_names[a->colour], heed_scene_shape_names[a->shape], a->x / HEED_SCENE_UNIT,
           a->y / HEED_SCENE_UNIT, heed_scene_colour_names[b->colour], heed_scene_shape_names[b->shape], b->x / HEED_SCENE_UNIT, b->y / HEED_SCENE_UNIT);
  return true;
}
