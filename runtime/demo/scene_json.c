/* Scenes from and to JSON. See scene_json.h. */
#include "heed/scene_json.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"

typedef struct reader {
  const heed_json *json;
  const char *where;
  heed_error *error;
} reader;

/* A member of `object` that must be there when required; *found is 0 when it is not. */
static heed_status member(const reader *r, heed_json_value object, const char *key, bool required,
                          heed_json_value *found) {
  *found = heed_json_get(r->json, object, key);
  if (*found || !required) return HEED_OK;
  return heed_fail(r->error, HEED_INVALID_FILE, "%s: the object at byte %zu has no %s", r->where,
                   heed_json_offset(r->json, object), key);
}

static heed_status fail(const reader *r, heed_json_value value, const char *key,
                        const char *expected) {
  return heed_fail(r->error, HEED_INVALID_FILE,
                   "%s: invalid %s at byte %zu (found %s, expected %s)", r->where, key,
                   heed_json_offset(r->json, value),
                   heed_json_kind_name(heed_json_kind_of(r->json, value)), expected);
}

/* low..high, times `scale`, rounded; what is absent and not required stays 0. */
static heed_status number(const reader *r, heed_json_value object, const char *key, bool required,
                          double low, double high, double scale, int32_t *to) {
  heed_json_value value;
  double v;
  HEED_TRY(member(r, object, key, required, &value));
  if (!value) return HEED_OK;
  char expected[64];
  snprintf(expected, sizeof expected, "a number from %d to %d", (int)low, (int)high);
  if (!heed_json_double(r->json, value, &v) || !(v >= low && v <= high))
    return fail(r, value, key, expected);
  *to = (int32_t)(v * scale + 0.5);
  return HEED_OK;
}

static heed_status name(const reader *r, heed_json_value object, const char *key,
                        const char *const *names, uint32_t count, uint32_t *to) {
  heed_json_value value;
  const char *text;
  HEED_TRY(member(r, object, key, true, &value));
  if (!heed_json_string(r->json, value, &text, NULL)) return fail(r, value, key, "a string");
  for (*to = 0; *to < count; ++*to)
    if (strcmp(names[*to], text) == 0) return HEED_OK;
  return heed_fail(r->error, HEED_INVALID_FILE,
                   "%s: unknown %s (found \"%.32s\", expected one of %s to %s)", r->where, key,
                   text, names[0], names[count - 1]);
}

static heed_status read_object(const reader *r, heed_json_value value, heed_scene_object *object) {
  const double radius_low = HEED_SCENE_MIN_RADIUS / HEED_SCENE_UNIT,
               radius_high = HEED_SCENE_MAX_RADIUS / HEED_SCENE_UNIT;
  int32_t angle = 0;
  if (heed_json_kind_of(r->json, value) != HEED_JSON_OBJECT)
    return fail(r, value, "objects", "objects");
  HEED_TRY(name(r, value, "shape", heed_scene_shape_names, HEED_SCENE_SHAPES, &object->shape));
  HEED_TRY(name(r, value, "colour", heed_scene_colour_names, HEED_SCENE_COLOURS, &object->colour));
  HEED_TRY(number(r, value, "x", true, 0, HEED_SCENE_SIDE, HEED_SCENE_UNIT, &object->x));
  HEED_TRY(number(r, value, "y", true, 0, HEED_SCENE_SIDE, HEED_SCENE_UNIT, &object->y));
  HEED_TRY(
      number(r, value, "radius", true, radius_low, radius_high, HEED_SCENE_UNIT, &object->radius));
  HEED_TRY(number(r, value, "angle", false, 0, 360, HEED_SCENE_TURN / 360.0, &angle));
  object->angle = (uint32_t)angle % HEED_SCENE_TURN;
  return HEED_OK;
}

static heed_status read_scene(const reader *r, heed_scene *scene) {
  const heed_json_value root = heed_json_root(r->json);
  heed_json_value value;
  int32_t clutter = 0, noise = 0;
  if (heed_json_kind_of(r->json, root) != HEED_JSON_OBJECT)
    return fail(r, root, "the scene", "an object");
  HEED_TRY(member(r, root, "seed", false, &value));
  if (value && !heed_json_u64(r->json, value, &scene->seed))
    return fail(r, value, "seed", "a whole number");
  HEED_TRY(number(r, root, "clutter", false, 0, 100, 1, &clutter));
  HEED_TRY(number(r, root, "noise", false, 0, 32, 1, &noise));
  scene->clutter = (uint32_t)clutter;
  scene->noise = (uint32_t)noise;
  HEED_TRY(member(r, root, "objects", true, &value));
  const uint32_t count = heed_json_count(r->json, value);
  if (heed_json_kind_of(r->json, value) != HEED_JSON_ARRAY)
    return fail(r, value, "objects", "an array");
  if (count > HEED_SCENE_MAX_OBJECTS)
    return heed_fail(r->error, HEED_INVALID_FILE,
                     "%s: too many objects (found %u, expected at most %u)", r->where, count,
                     HEED_SCENE_MAX_OBJECTS);
  for (heed_json_value at = heed_json_first(r->json, value); at;
       at = heed_json_next(r->json, value, at))
    HEED_TRY(read_object(r, at, &scene->objects[scene->object_count++]));
  return HEED_OK;
}

heed_status heed_scene_parse(const heed_context *context, const void *text, size_t size,
                             const char *where, heed_scene *scene, heed_error *error) {
  heed_json *json;
  memset(scene, 0, sizeof *scene);
  HEED_TRY(heed_json_parse(context, text, size, where, &json, error));
  const reader r = {json, where, error};
  const heed_status status = read_scene(&r, scene);
  heed_json_destroy(json);
  return status;
}

/* Sixteenths of a pixel and 4096ths of a turn have at most four decimals that matter; integers keep
 * the locale out of it. */
static int write_decimal(char *to, size_t size, const char *key, uint32_t value, uint32_t unit,
                         uint32_t scale) {
  const uint64_t parts = ((uint64_t)value * scale * 10000 + unit / 2) / unit;
  return snprintf(to, size, ", \"%s\": %u.%04u", key, (unsigned)(parts / 10000),
                  (unsigned)(parts % 10000));
}

size_t heed_scene_text(const heed_scene *scene, char text[HEED_SCENE_TEXT_SIZE]) {
  int length =
      snprintf(text, HEED_SCENE_TEXT_SIZE,
               "{\"seed\": %llu, \"clutter\": %u, \"noise\": %u,\n \"objects\": [",
               (unsigned long long)scene->seed, (unsigned)scene->clutter, (unsigned)scene->noise);
  for (uint32_t i = 0; i < scene->object_count && i < HEED_SCENE_MAX_OBJECTS; i++) {
    const heed_scene_object *object = &scene->objects[i];
    const struct {
      const char *key;
      uint32_t value, unit, scale;
    } numbers[] = {{"x", (uint32_t)object->x, HEED_SCENE_UNIT, 1},
                   {"y", (uint32_t)object->y, HEED_SCENE_UNIT, 1},
                   {"radius", (uint32_t)object->radius, HEED_SCENE_UNIT, 1},
                   {"angle", object->angle, HEED_SCENE_TURN, 360}};
    length += snprintf(text + length, HEED_SCENE_TEXT_SIZE - (size_t)length,
                       "%s\n  {\"shape\": \"%s\", \"colour\": \"%s\"", i ? "," : "",
                       heed_scene_shape_names[object->shape % HEED_SCENE_SHAPES],
                       heed_scene_colour_names[object->colour % HEED_SCENE_COLOURS]);
    for (size_t k = 0; k < 4; k++)
      length += write_decimal(text + length, HEED_SCENE_TEXT_SIZE - (size_t)length, numbers[k].key,
                              numbers[k].value, numbers[k].unit, numbers[k].scale);
    length += snprintf(text + length, HEED_SCENE_TEXT_SIZE - (size_t)length, "}");
  }
  length += snprintf(text + length, HEED_SCENE_TEXT_SIZE - (size_t)length, "]}\n");
  return (size_t)length;
}
