/* The demo's scenes: 224 x 224 RGB pictures of drawn shapes in which exactly one shape occurs
 * twice; that shape is the class.
 *
 * A scene is a list of objects and a seed for its backdrop. The same scene gives the same bytes on
 * every platform: positions are integers, and the drawing uses integers and the exactly rounded
 * float operations + - * / sqrt alone (compile with -ffp-contract=off). Nothing is allocated and
 * nothing global is written; scene.c and scene_draw.c need no other file of the project. */
#ifndef HEED_SCENE_H
#define HEED_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEED_SCENE_SIDE 224u /* pixels */
#define HEED_SCENE_PATCH 16u /* pixels */
#define HEED_SCENE_GRID 14u  /* patches */
#define HEED_SCENE_PATCHES (HEED_SCENE_GRID * HEED_SCENE_GRID)
#define HEED_SCENE_BYTES \
  ((size_t)HEED_SCENE_SIDE * HEED_SCENE_SIDE * 3) /* RGB, rows from the top */
#define HEED_SCENE_SHAPES 10u
#define HEED_SCENE_COLOURS 8u
#define HEED_SCENE_MAX_OBJECTS 16u
#define HEED_SCENE_UNIT 16    /* units a pixel, of positions and radii */
#define HEED_SCENE_TURN 4096u /* units of a full turn */
#define HEED_SCENE_MIN_RADIUS (8 * HEED_SCENE_UNIT)
#define HEED_SCENE_MAX_RADIUS (48 * HEED_SCENE_UNIT)
#define HEED_SCENE_NO_OBJECT 255u

typedef struct heed_scene_object {
  uint32_t shape, colour; /* indices of the names below */
  int32_t x, y, radius;   /* centre and bounding circle, in 1/16 pixel, from the top left */
  uint32_t angle;         /* counter-clockwise, in 1/4096 turn, < HEED_SCENE_TURN */
} heed_scene_object;

typedef struct heed_scene {
  uint64_t seed;    /* of backdrop, light and noise */
  uint32_t clutter; /* 0..100: how busy the backdrop is */
  uint32_t noise;   /* 0..32: image noise reaches this many levels either way */
  uint32_t object_count;
  heed_scene_object objects[HEED_SCENE_MAX_OBJECTS]; /* later ones lie on top */
} heed_scene;

/* What scenes a seed may give. */
typedef struct heed_scene_level {
  uint32_t min_objects, max_objects;
  uint32_t min_radius, max_radius; /* pixels */
  uint32_t clutter, noise;         /* upper ends: each scene draws its own */
  /* for training: shapes repeat at will, and no shape is the class */
  bool any_shapes;
} heed_scene_level;

/* The demo's own level: 5 to 8 objects of radius 21 to 34, smaller where they would not fit. */
extern const heed_scene_level heed_scene_full;

extern const char *const heed_scene_shape_names[HEED_SCENE_SHAPES];
extern const char *const heed_scene_colour_names[HEED_SCENE_COLOURS];

/* The scene of a seed. level NULL = heed_scene_full; its numbers are clamped to what can be
 * drawn. */
void heed_scene_from_seed(uint64_t seed, const heed_scene_level *level, heed_scene *scene);
/* The first two objects of one shape, when exactly one shape occurs more than once and it does so
 * twice. */
bool heed_scene_twins(const heed_scene *scene, uint32_t twins[2]);

/* rgb[HEED_SCENE_BYTES]; owner[HEED_SCENE_PATCHES] (nullable) gets, for every patch, the object
 * that covers most of it, at least an eighth, or HEED_SCENE_NO_OBJECT. Fields out of range are
 * clamped. */
void heed_scene_draw(const heed_scene *scene, uint8_t *rgb, uint8_t *owner);
/* The same without the wider registers that a processor may have, for tests. */
void heed_scene_draw_plain(const heed_scene *scene, uint8_t *rgb, uint8_t *owner);

/* splitmix64: the one source of chance here. */
static inline uint32_t heed_scene_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((z ^ (z >> 31)) >> 32);
}

#endif
