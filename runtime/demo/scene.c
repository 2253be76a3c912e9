/* Scenes from seeds: which objects, where; which of them are twins. See scene.h. */
#include "heed/scene.h"

#include <string.h>

const heed_scene_level heed_scene_full = {.min_objects = 5,
                                          .max_objects = 8,
                                          .min_radius = 21,
                                          .max_radius = 34,
                                          .clutter = 100,
                                          .noise = 8,
                                          .any_shapes = false};

const char *const heed_scene_shape_names[HEED_SCENE_SHAPES] = {
    "disc",  "ring",     "triangle", "square", "star",
    "heart", "crescent", "cross",    "arrow",  "hourglass"};
const char *const heed_scene_colour_names[HEED_SCENE_COLOURS] = {
    "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"};

/* 0..bound-1; the bias of a 32-bit multiply is below 1e-6 for the bounds used here. */
static uint32_t below(uint64_t *state, uint32_t bound) {
  return (uint32_t)(((uint64_t)heed_scene_random(state) * bound) >> 32);
}

static uint32_t between(uint64_t *state, uint32_t low, uint32_t high) {
  return low + below(state, high - low + 1);
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high) {
  return value < low ? low : value > high ? high : value;
}

static heed_scene_level clamp_level(const heed_scene_level *level) {
  heed_scene_level out = *level;
  out.max_objects =
      clamp(out.max_objects, 2, out.any_shapes ? HEED_SCENE_MAX_OBJECTS : HEED_SCENE_SHAPES + 1);
  out.min_objects = clamp(out.min_objects, 2, out.max_objects);
  out.max_radius = clamp(out.max_radius, HEED_SCENE_MIN_RADIUS / HEED_SCENE_UNIT,
                         HEED_SCENE_MAX_RADIUS / HEED_SCENE_UNIT);
  out.min_radius = clamp(out.min_radius, HEED_SCENE_MIN_RADIUS / HEED_SCENE_UNIT, out.max_radius);
  out.clutter = clamp(out.clutter, 0, 100);
  out.noise = clamp(out.noise, 0, 32);
  return out;
}

static void swap_objects(heed_scene_object *a, heed_scene_object *b) {
  const heed_scene_object t = *a;
  *a = *b;
  *b = t;
}

/* Objects 0 and 1 become the twins; the other shapes are all different. */
static void choose_shapes(uint64_t *state, const heed_scene_level *level, heed_scene *scene) {
  uint32_t shapes[HEED_SCENE_SHAPES];
  for (uint32_t i = 0; i < HEED_SCENE_SHAPES; i++) shapes[i] = i;
  for (uint32_t i = HEED_SCENE_SHAPES - 1; i > 0; i--) {
    const uint32_t j = below(state, i + 1), t = shapes[i];
    shapes[i] = shapes[j];
    shapes[j] = t;
  }
  for (uint32_t i = 0; i < scene->object_count; i++) {
    heed_scene_object *object = &scene->objects[i];
    object->shape =
        level->any_shapes ? below(state, HEED_SCENE_SHAPES) : shapes[i == 0 ? 0 : i - 1];
    object->colour = below(state, HEED_SCENE_COLOURS);
    object->angle = below(state, HEED_SCENE_TURN);
    object->radius = (int32_t)between(state, level->min_radius * HEED_SCENE_UNIT,
                                      level->max_radius * HEED_SCENE_UNIT);
  }
  if (level->any_shapes) return;
  heed_scene_object *a = &scene->objects[0], *b = &scene->objects[1];
  b->colour = (a->colour + 1 + below(state, HEED_SCENE_COLOURS - 1)) % HEED_SCENE_COLOURS;
  /* Sizes at least an eighth of the range apart, rotations at least a sixteenth of a turn. */
  const uint32_t range = (level->max_radius - level->min_radius) * HEED_SCENE_UNIT, gap = range / 8;
  const uint32_t from_low = (uint32_t)a->radius - level->min_radius * HEED_SCENE_UNIT;
  b->radius = (int32_t)(level->min_radius * HEED_SCENE_UNIT +
                        (from_low + gap + below(state, range - 2 * gap + 1)) % (range + 1));
  b->angle =
      (a->angle + HEED_SCENE_TURN / 16 + below(state, HEED_SCENE_TURN * 7 / 8)) % HEED_SCENE_TURN;
}

static bool is_free(const heed_scene *scene, uint32_t count, int32_t x, int32_t y, int32_t radius) {
  for (uint32_t i = 0; i < count; i++) {
    const heed_scene_object *other = &scene->objects[i];
    const int32_t dx = x - other->x, dy = y - other->y,
                  reach = radius + other->radius + 3 * HEED_SCENE_UNIT;
    if (dx * dx + dy * dy < reach * reach) return false;
  }
  return true;
}

/* Largest first: the order in which a place is found most often. */
static bool place(uint64_t *state, heed_scene *scene) {
  const int32_t side = (int32_t)HEED_SCENE_SIDE * HEED_SCENE_UNIT;
  for (uint32_t i = 0; i < scene->object_count; i++) {
    heed_scene_object *object = &scene->objects[i];
    const int32_t low = object->radius + 2 * HEED_SCENE_UNIT;
    bool found = false;
    for (uint32_t attempt = 0; attempt < 100 && !found; attempt++) {
      object->x = low + (int32_t)below(state, (uint32_t)(side - 2 * low) + 1);
      object->y = low + (int32_t)below(state, (uint32_t)(side - 2 * low) + 1);
      found = is_free(scene, i, object->x, object->y, object->radius);
    }
    if (!found) return false;
  }
  return true;
}

void heed_scene_from_seed(uint64_t seed, const heed_scene_level *wanted, heed_scene *scene) {
  const heed_scene_level level = clamp_level(wanted ? wanted : &heed_scene_full);
  uint64_t state = seed;
  memset(scene, 0, sizeof *scene);
  scene->seed = seed;
  scene->clutter = below(&state, level.clutter + 1);
  scene->noise = below(&state, level.noise + 1);
  scene->object_count = between(&state, level.min_objects, level.max_objects);
  choose_shapes(&state, &level, scene);
  for (uint32_t i = 1; i < scene->object_count; i++)
    for (uint32_t j = i; j > 0 && scene->objects[j].radius > scene->objects[j - 1].radius; j--)
      swap_objects(&scene->objects[j], &scene->objects[j - 1]);
  /* Shrinking ends the search: 16 circles of the smallest radius always find room. */
  while (!place(&state, scene))
    for (uint32_t i = 0; i < scene->object_count; i++) {
      scene->objects[i].radius = scene->objects[i].radius * 31 / 32;
      if (scene->objects[i].radius < HEED_SCENE_MIN_RADIUS)
        scene->objects[i].radius = HEED_SCENE_MIN_RADIUS;
    }
  for (uint32_t i = scene->object_count - 1; i > 0; i--)
    swap_objects(&scene->objects[i], &scene->objects[below(&state, i + 1)]);
}

bool heed_scene_twins(const heed_scene *scene, uint32_t twins[2]) {
  uint32_t count[HEED_SCENE_SHAPES] = {0}, pairs = 0, twin_shape = 0;
  const uint32_t objects = clamp(scene->object_count, 0, HEED_SCENE_MAX_OBJECTS);
  for (uint32_t i = 0; i < objects; i++)
    count[clamp(scene->objects[i].shape, 0, HEED_SCENE_SHAPES - 1)]++;
  for (uint32_t s = 0; s < HEED_SCENE_SHAPES; s++) {
    if (count[s] > 2) return false;
    if (count[s] != 2) continue;
    pairs++;
    twin_shape = s;
  }
  if (pairs != 1) return false;
  uint32_t found = 0;
  for (uint32_t i = 0; i < objects; i++)
    if (clamp(scene->objects[i].shape, 0, HEED_SCENE_SHAPES - 1) == twin_shape) twins[found++] = i;
  return true;
}
