/* Scenes as input of a verb. See scene_input.h. */
#include "scene_input.h"

#include <stdlib.h>
#include <string.h>

#include "heed/scene_json.h"

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

#define SCENE_BYTES ((uint64_t)1 << 20) /* a scene as text has some thousand */

bool scene_input_is_seed(const char *text) {
  uint64_t seed;
  return read_seed(text, &seed);
}

heed_status scene_input_read(cli_state *cli, const char *text, heed_scene *scene) {
  uint64_t seed;
  unsigned char *bytes;
  size_t size;
  if (read_seed(text, &seed)) {
    heed_scene_from_seed(seed, NULL, scene);
    return HEED_OK;
  }
  CLI_TRY(heed_file_read(text, SCENE_BYTES, &bytes, &size, &cli->error));
  const heed_status status = heed_scene_parse(cli->context, bytes, size, text, scene, &cli->error);
  free(bytes);
  return status;
}

static void middle_patch(const heed_scene_object *object, uint32_t index, const uint8_t *owner,
                         uint32_t *row, uint32_t *column) {
  int64_t nearest = INT64_MAX;
  for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++) {
    const int64_t r = p / HEED_SCENE_GRID, c = p % HEED_SCENE_GRID,
                  patch = HEED_SCENE_PATCH * HEED_SCENE_UNIT;
    const int64_t dx = c * patch + patch / 2 - object->x, dy = r * patch + patch / 2 - object->y;
    if (owner[p] != index || dx * dx + dy * dy >= nearest) continue;
    nearest = dx * dx + dy * dy;
    *row = (uint32_t)r;
    *column = (uint32_t)c;
  }
}

void scene_input_twins(const heed_scene *scene, const uint8_t *owner, scene_twins *twins) {
  uint32_t index[2];
  memset(twins, 0, sizeof *twins);
  twins->present = heed_scene_twins(scene, index);
  if (!twins->present) return;
  const heed_scene_object *a = &scene->objects[index[0]], *b = &scene->objects[index[1]];
  snprintf(twins->text, sizeof twins->text, "%s %s at (%d, %d) and %s %s at (%d, %d)",
           heed_scene_colour_names[a->colour], heed_scene_shape_names[a->shape],
           a->x / HEED_SCENE_UNIT, a->y / HEED_SCENE_UNIT, heed_scene_colour_names[b->colour],
           heed_scene_shape_names[b->shape], b->x / HEED_SCENE_UNIT, b->y / HEED_SCENE_UNIT);
  for (uint32_t k = 0; k < 2; k++) {
    middle_patch(&scene->objects[index[k]], index[k], owner, &twins->row[k], &twins->column[k]);
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++)
      if (owner[p] == index[k]) twins->patch[k][twins->count[k]++] = (uint8_t)p;
  }
}

double scene_twins_weight(const scene_twins *twins, const float *map, uint32_t prefix) {
  const size_t tokens = prefix + (size_t)HEED_SCENE_PATCHES;
  const double pairs = 2.0 * twins->count[0] * twins->count[1];
  double sum = 0.0;
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t q = 0; q < twins->count[k]; q++) {
      const float *row = map + (prefix + twins->patch[k][q]) * tokens + prefix;
      for (uint32_t p = 0; p < twins->count[1 - k]; p++) sum += (double)row[twins->patch[1 - k][p]];
    }
  return pairs > 0.0 ? sum / pairs * (double)tokens : 0.0;
}

heed_status scene_input_picture(cli_state *cli, const char *text, heed_picture *picture,
                                scene_twins *twins) {
  heed_scene scene;
  uint8_t owner[HEED_SCENE_PATCHES];
  CLI_TRY(scene_input_read(cli, text, &scene));
  CLI_TRY(heed_picture_create(cli->context, "scene", HEED_SCENE_SIDE, HEED_SCENE_SIDE, picture,
                              &cli->error));
  heed_scene_draw(&scene, picture->pixels, owner);
  scene_input_twins(&scene, owner, twins);
  return HEED_OK;
}

heed_status scene_input_each(cli_state *cli, uint32_t seed, uint32_t count,
                             heed_status (*see)(void *user, const heed_image *image), void *user) {
  uint8_t owner[HEED_SCENE_PATCHES], *rgb = malloc(HEED_SCENE_BYTES);
  if (!rgb) return heed_fail_memory(&cli->error, "scene", HEED_SCENE_BYTES);
  const heed_image image = {rgb, HEED_SCENE_SIDE, HEED_SCENE_SIDE, 3, HEED_SCENE_SIDE * 3};
  heed_status status = HEED_OK;
  for (uint32_t i = 0; status == HEED_OK && i < count; i++) {
    heed_scene scene;
    heed_scene_from_seed((uint64_t)seed + i, NULL, &scene);
    heed_scene_draw(&scene, rgb, owner);
    status = see(user, &image);
  }
  free(rgb);
  return status;
}
