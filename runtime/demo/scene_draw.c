/* Draws scenes: backdrop, clutter, objects with shadow and shading, image noise; and which patches
 * each object covers.
 *
 * Every shape is a signed distance (below 0 inside) in pixels, so that one number gives the
 * antialiased edge, the rim and the soft shadow. The formulas for distance to polygons and to the
 * heart follow Inigo Quilez, "2D distance functions" (MIT licence). */
#include <math.h>
#include <string.h>

#include "heed/scene.h"

#define SIDE ((int32_t)HEED_SCENE_SIDE)
#define TILE 104 /* pixels: a circle of HEED_SCENE_MAX_RADIUS with the margin of the shadow */
#define MARGIN 3 /* pixels around the bounding circle */
#define SHADOW_X 2
#define SHADOW_Y 3
#define MAX_CORNERS 12

typedef struct point {
  float x, y;
} point;

typedef struct outline {
  uint32_t count;
  point corner[MAX_CORNERS];
} outline;

/* Corners on or within the unit circle, y up. */
static const outline triangle = {3, {{0.0f, 1.0f}, {-0.866f, -0.5f}, {0.866f, -0.5f}}};
static const outline square = {
    4, {{-0.7071f, -0.7071f}, {0.7071f, -0.7071f}, {0.7071f, 0.7071f}, {-0.7071f, 0.7071f}}};
static const outline star = {10,
                             {{0.0f, 1.0f},
                              {-0.2645f, 0.3641f},
                              {-0.9511f, 0.309f},
                              {-0.428f, -0.1391f},
                              {-0.5878f, -0.809f},
                              {0.0f, -0.45f},
                              {0.5878f, -0.809f},
                              {0.428f, -0.1391f},
                              {0.9511f, 0.309f},
                              {0.2645f, 0.3641f}}};
static const outline cross = {12,
                              {{-0.28f, 0.96f},
                               {-0.28f, 0.28f},
                               {-0.96f, 0.28f},
                               {-0.96f, -0.28f},
                               {-0.28f, -0.28f},
                               {-0.28f, -0.96f},
                               {0.28f, -0.96f},
                               {0.28f, -0.28f},
                               {0.96f, -0.28f},
                               {0.96f, 0.28f},
                               {0.28f, 0.28f},
                               {0.28f, 0.96f}}};
static const outline arrow = {7,
                              {{0.0f, 1.0f},
                               {-0.85f, 0.08f},
                               {-0.3f, 0.08f},
                               {-0.3f, -0.95f},
                               {0.3f, -0.95f},
                               {0.3f, 0.08f},
                               {0.85f, 0.08f}}};
static const outline hourglass = {6,
                                  {{-0.74f, 0.67f},
                                   {-0.13f, 0.0f},
                                   {-0.74f, -0.67f},
                                   {0.74f, -0.67f},
                                   {0.13f, 0.0f},
                                   {0.74f, 0.67f}}};

static const uint8_t palette[HEED_SCENE_COLOURS][3] = {
    {222, 56, 54},  {242, 138, 40}, {244, 206, 58}, {86, 176, 72},
    {40, 176, 178}, {56, 108, 222}, {142, 80, 204}, {236, 112, 176}};

static float minimum(float a, float b) { return a < b ? a : b; }

static float maximum(float a, float b) { return a > b ? a : b; }

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

static uint8_t level(int32_t value) { return (uint8_t)clamp(value, 0, 255); }

/* Cosine and sine of angle / HEED_SCENE_TURN turns, by polynomials on an eighth of a turn around
 * the axes; error below 1e-6. */
static point direction(uint32_t angle) {
  const uint32_t quarter = HEED_SCENE_TURN / 4, rest = (angle + quarter / 2) % HEED_SCENE_TURN;
  const float t = ((float)(rest % quarter) - (float)(quarter / 2)) *
                  (6.2831853f / (float)HEED_SCENE_TURN),
              s = t * t;
  const float sine = t * (1.0f + s * (-1.0f / 6.0f + s * (1.0f / 120.0f - s * (1.0f / 5040.0f))));
  const float cosine =
      1.0f + s * (-0.5f + s * (1.0f / 24.0f + s * (-1.0f / 720.0f + s * (1.0f / 40320.0f))));
  switch (rest / quarter) {
    case 0: return (point){cosine, sine};
    case 1: return (point){-sine, cosine};
    case 2: return (point){-cosine, -sine};
    default: return (point){sine, -cosine};
  }
}

/* ------------------------------------------------------------------- distances, a row at a time */

/* No drawing tells distances apart that are larger than 3 pixels, outside or inside: an edge counts
 * for pixels within FAR of it alone. NEAR is less, so that rounding does not matter. */
#define FAR 3.1f
#define NEAR 3.05f

/* Corners in pixels from the object's centre, y down. Loops run along the row so that compilers can
 * vectorise them. */
static void polygon_row(const outline *shape, const point *corner, float first_x, float y,
                        uint32_t width, float *distance) {
  float square_distance[TILE];
  int32_t inside[TILE];
  for (uint32_t i = 0; i < width; i++) {
    square_distance[i] = NEAR * NEAR;
    inside[i] = 0;
  }
  for (uint32_t e = 0; e < shape->count; e++) {
    const point a = corner[e], b = corner[(e + 1) % shape->count];
    const float ex = b.x - a.x, ey = b.y - a.y, scale = 1.0f / (ex * ex + ey * ey), wy = y - a.y;
    const bool rises = y >= a.y && y < b.y, falls = y < a.y && y >= b.y;
    if (y < minimum(a.y, b.y) - FAR || y > maximum(a.y, b.y) + FAR) continue;
    const int32_t end = (int32_t)width,
                  left = clamp((int32_t)(minimum(a.x, b.x) - FAR - first_x), 0, end),
                  right = clamp((int32_t)(maximum(a.x, b.x) + FAR - first_x) + 1, 0, end);
    for (uint32_t i = (uint32_t)left; i < (uint32_t)right; i++) {
      const float wx = first_x + (float)(int32_t)i - a.x, along = (wx * ex + wy * ey) * scale;
      const float t = along < 0.0f ? 0.0f : along > 1.0f ? 1.0f : along;
      const float dx = wx - ex * t, dy = wy - ey * t, d = dx * dx + dy * dy;
      square_distance[i] = d < square_distance[i] ? d : square_distance[i];
    }
    if (rises)
      for (uint32_t i = 0; i < width; i++)
        inside[i] ^= ex * wy > ey * (first_x + (float)(int32_t)i - a.x);
    if (falls)
      for (uint32_t i = 0; i < width; i++)
        inside[i] ^= ex * wy < ey * (first_x + (float)(int32_t)i - a.x);
  }
  for (uint32_t i = 0; i < width; i++) {
    const float d = sqrtf(square_distance[i]);
    distance[i] = inside[i] ? -d : d;
  }
}

/* In units of the bounding circle: x, y up, in the object's own frame. */
static float heart(float x, float y) {
  const float px = (x < 0.0f ? -x : x) * 0.62f, py = y * 0.62f + 0.55f;
  if (px + py > 1.0f) {
    const float dx = px - 0.25f, dy = py - 0.75f;
    return (sqrtf(dx * dx + dy * dy) - 0.35355339f) / 0.62f;
  }
  const float half = 0.5f * maximum(px + py, 0.0f), dx = px - half, dy = py - half;
  const float d = sqrtf(minimum(px * px + (py - 1.0f) * (py - 1.0f), dx * dx + dy * dy));
  return (px > py ? d : -d) / 0.62f;
}

static float curve(uint32_t shape, float x, float y) {
  const float length = sqrtf(x * x + y * y);
  switch (shape) {
    case 0: return length - 0.9f;
    case 1: return maximum(length - 0.95f, 0.5f - length);
    case 5: return heart(x, y);
    default: {
      const float dx = x - 0.46f, dy = y;
      return maximum(length - 0.96f, 0.78f - sqrtf(dx * dx + dy * dy));
    }
  }
}

static const outline *outline_of(uint32_t shape) {
  switch (shape) {
    case 2: return &triangle;
    case 3: return &square;
    case 4: return &star;
    case 7: return &cross;
    case 8: return &arrow;
    case 9: return &hourglass;
    default: return NULL;
  }
}

/* -------------------------------------------------------------------------------------- objects */

typedef struct tile {
  int32_t left, top; /* picture coordinates of its first pixel; may be outside */
  uint32_t side;
  int16_t distance[TILE * TILE]; /* 1/64 pixel */
} tile;

typedef struct canvas {
  uint8_t *rgb;
  point light; /* towards the light, y up */
} canvas;

static heed_scene_object clamped(const heed_scene_object *object) {
  heed_scene_object out = *object;
  if (out.shape >= HEED_SCENE_SHAPES) out.shape = HEED_SCENE_SHAPES - 1;
  if (out.colour >= HEED_SCENE_COLOURS) out.colour = HEED_SCENE_COLOURS - 1;
  out.x = clamp(out.x, 0, SIDE * HEED_SCENE_UNIT);
  out.y = clamp(out.y, 0, SIDE * HEED_SCENE_UNIT);
  out.radius = clamp(out.radius, HEED_SCENE_MIN_RADIUS, HEED_SCENE_MAX_RADIUS);
  out.angle %= HEED_SCENE_TURN;
  return out;
}

static void measure(const heed_scene_object *object, tile *out) {
  const float unit = 1.0f / (float)HEED_SCENE_UNIT, radius = (float)object->radius * unit,
              per_radius = 1.0f / radius;
  const point turn = direction(object->angle);
  const outline *shape = outline_of(object->shape);
  point corner[MAX_CORNERS];
  for (uint32_t i = 0; shape && i < shape->count; i++) {
    const point c = shape->corner[i];
    corner[i] =
        (point){radius * (c.x * turn.x - c.y * turn.y), -radius * (c.x * turn.y + c.y * turn.x)};
  }
  const int32_t reach = (object->radius + HEED_SCENE_UNIT - 1) / HEED_SCENE_UNIT + MARGIN;
  out->left = object->x / HEED_SCENE_UNIT - reach;
  out->top = object->y / HEED_SCENE_UNIT - reach;
  out->side = (uint32_t)(2 * reach + 1);
  float row[TILE];
  for (uint32_t r = 0; r < out->side; r++) {
    const float y = (float)(out->top + (int32_t)r) + 0.5f - (float)object->y * unit,
                first_x = (float)out->left + 0.5f - (float)object->x * unit;
    if (shape)
      polygon_row(shape, corner, first_x, y, out->side, row);
    else
      for (uint32_t i = 0; i < out->side; i++) {
        const float x = first_x + (float)(int32_t)i;
        row[i] = radius * curve(object->shape, (x * turn.x - y * turn.y) * per_radius,
                                (-x * turn.y - y * turn.x) * per_radius);
      }
    for (uint32_t i = 0; i < out->side; i++)
      out->distance[r * TILE + i] = (int16_t)(row[i] * 64.0f);
  }
}

/* The part of row `r` of a tile, moved by (dx, dy), that lies in the picture: tile columns
 * [first, end). Returns its picture row, or -1. */
static int32_t clip_row(const tile *at, int32_t r, int32_t dx, int32_t dy, int32_t *first,
                        int32_t *end) {
  const int32_t y = at->top + r + dy, left = at->left + dx;
  *first = clamp(-left, 0, (int32_t)at->side);
  *end = clamp(SIDE - left, 0, (int32_t)at->side);
  return y >= 0 && y < SIDE ? y : -1;
}

/* Numbers of pixels as those of their samples, which lie side by side. */
static void spread(const int16_t *pixels, int32_t count, int16_t *samples) {
  for (int32_t i = 0; i < count; i++)
    samples[3 * i] = samples[3 * i + 1] = samples[3 * i + 2] = pixels[i];
}

/* Shadow: black, at most a third, over 6 pixels, away from the light at the top left. */
static void draw_shadow(const tile *at, uint8_t *rgb) {
  int16_t keep[TILE], keeps[3 * TILE]; /* of 256 */
  for (int32_t r = 0; r < (int32_t)at->side; r++) {
    int32_t first, end;
    const int32_t y = clip_row(at, r, SHADOW_X, SHADOW_Y, &first, &end);
    if (y < 0) continue;
    const int16_t *distance = at->distance + r * TILE + first;
    for (int32_t i = 0; i < end - first; i++)
      keep[i] = (int16_t)(256 - clamp((192 - distance[i]) / 4, 0, 88));
    spread(keep, end - first, keeps);
    uint8_t *to = rgb + ((size_t)y * HEED_SCENE_SIDE + (size_t)(at->left + first + SHADOW_X)) * 3;
    for (int32_t i = 0; i < 3 * (end - first); i++) to[i] = (uint8_t)(to[i] * keeps[i] >> 8);
  }
}

/* A row of a body: how much it covers, and how light it is, of 256. */
static void shade_row(const canvas *to, const heed_scene_object *object, const int16_t *distance,
                      int32_t x, int32_t y, int32_t count, int16_t *cover, int16_t *shade) {
  const int32_t slope_x = (int32_t)(to->light.x * 72.0f * 256.0f),
                slope_y = (int32_t)(-to->light.y * 72.0f * 256.0f),
                dy = y * HEED_SCENE_UNIT - object->y;
  const double radius = (double)(object->radius * 256); /* its quotient is that of integers */
  for (int32_t i = 0; i < count; i++) {
    const int32_t dx = (x + i) * HEED_SCENE_UNIT - object->x,
                  slope = (int32_t)((double)(slope_x * dx + slope_y * dy) / radius),
                  rim = clamp((128 + distance[i]) / 4, 0, 255); /* darker, two pixels wide */
    cover[i] = (int16_t)clamp((32 - distance[i]) * 4, 0, 256);
    shade[i] = (int16_t)(262 + slope - rim);
  }
}

static void draw_body(const canvas *to, const heed_scene_object *object, const tile *at) {
  const uint8_t *colour = palette[object->colour];
  int16_t cover[TILE], shade[TILE], covers[3 * TILE];
  uint8_t lit[3 * TILE];
  for (int32_t r = 0; r < (int32_t)at->side; r++) {
    int32_t first, end;
    const int32_t y = clip_row(at, r, 0, 0, &first, &end), count = end - first;
    if (y < 0) continue;
    shade_row(to, object, at->distance + r * TILE + first, at->left + first, y, count, cover,
              shade);
    spread(cover, count, covers);
    for (int32_t i = 0; i < count; i++)
      for (uint32_t k = 0; k < 3; k++) lit[3 * i + (int32_t)k] = level((colour[k] * shade[i]) >> 8);
    uint8_t *pixel = to->rgb + ((size_t)y * HEED_SCENE_SIDE + (size_t)(at->left + first)) * 3;
    for (int32_t i = 0; i < 3 * count; i++)
      pixel[i] = (uint8_t)((pixel[i] * (256 - covers[i]) + lit[i] * covers[i]) >> 8);
  }
}

static void count_patches(const tile *at, uint16_t *count) {
  const int32_t patch = (int32_t)HEED_SCENE_PATCH;
  for (int32_t r = 0; r < (int32_t)at->side; r++) {
    int32_t first, end;
    const int32_t y = clip_row(at, r, 0, 0, &first, &end);
    if (y < 0) continue;
    for (int32_t c = first, next; c < end; c = next) {
      const int32_t x = at->left + c, to = c + patch - x % patch;
      int16_t inside = 0;
      next = to < end ? to : end;
      for (int32_t i = c; i < next; i++)
        inside = (int16_t)(inside + (at->distance[r * TILE + i] < 0));
      count[y / patch * (int32_t)HEED_SCENE_GRID + x / patch] += (uint16_t)inside;
    }
  }
}

/* ------------------------------------------------------------------------------------- backdrop */

static uint32_t below(uint64_t *state, uint32_t bound) {
  return (uint32_t)(((uint64_t)heed_scene_random(state) * bound) >> 32);
}

/* A muted colour, dark or light: the objects' own colours lie between. */
static void muted(uint64_t *state, bool dark, int32_t colour[3]) {
  const int32_t base = dark ? 24 + (int32_t)below(state, 44) : 188 + (int32_t)below(state, 48);
  for (uint32_t k = 0; k < 3; k++) colour[k] = base + (int32_t)below(state, 33) - 16;
}

#define LATTICE 8 /* knots a side, 32 pixels apart */

/* Smooth noise: a row of it, bilinear between random knots; in levels. */
static void smooth_noise(const int32_t *knots, int32_t y, int32_t row[HEED_SCENE_SIDE]) {
  const int32_t *upper = knots + (y / 32) * LATTICE, fy = y % 32;
  for (int32_t cell = 0; cell < SIDE / 32; cell++) {
    const int32_t *k = upper + cell, left = k[0] * (32 - fy) + k[LATTICE] * fy,
                  right = k[1] * (32 - fy) + k[LATTICE + 1] * fy;
    for (int32_t fx = 0; fx < 32; fx++)
      row[cell * 32 + fx] = (left * (32 - fx) + right * fx) / 16384;
  }
}

static void draw_backdrop(const heed_scene *scene, uint64_t *state, bool dark, uint8_t *rgb) {
  const int32_t clutter = clamp((int32_t)scene->clutter, 0, 100);
  int32_t from[3], to[3], knots[LATTICE * LATTICE], rough[HEED_SCENE_SIDE];
  int16_t mix[HEED_SCENE_SIDE], add[HEED_SCENE_SIDE]; /* mix: of 256 */
  uint8_t plane[3][HEED_SCENE_SIDE];                  /* a row that compilers can vectorise */
  muted(state, dark, from);
  muted(state, dark, to);
  const point along = direction(below(state, HEED_SCENE_TURN)),
              across = direction(below(state, HEED_SCENE_TURN));
  /* 65536 from corner to corner, at 45 degrees */
  const int32_t ax = (int32_t)(along.x * 181.0f), ay = (int32_t)(along.y * 181.0f);
  const int32_t sx = (int32_t)(across.x * 256.0f), sy = (int32_t)(across.y * 256.0f);
  const uint32_t kind = below(state, 3); /* 0: gradient, 1: with stripes, 2: with checks */
  /* Periods of 12 to 32 pixels; a product that wraps around is the phase. */
  const uint32_t frequency = UINT32_MAX / (3072 + below(state, 5120));
  const int32_t strength = kind == 0 ? 0 : clutter * (int32_t)below(state, 15) / 100,
                amplitude = clutter * 16 * 18 / 100;
  for (uint32_t i = 0; i < LATTICE * LATTICE; i++)
    knots[i] = (int32_t)below(state, (uint32_t)(2 * amplitude + 1)) - amplitude;
  for (int32_t y = 0; y < SIDE; y++) {
    smooth_noise(knots, y, rough);
    uint32_t across_x = (uint32_t)(sy * y) * frequency, across_y = (uint32_t)(sx * y) * frequency;
    int32_t far_along = (2 * y - SIDE) * ay - SIDE * ax;
    for (uint32_t x = 0; x < HEED_SCENE_SIDE; x++) {
      const uint32_t flip = (across_x ^ (kind == 2 ? across_y : 0)) >> 31;
      mix[x] = (int16_t)clamp(128 + (far_along >> 9), 0, 256);
      add[x] = (int16_t)(rough[x] + (flip ? strength : -strength));
      far_along += 2 * ax;
      across_x += (uint32_t)sx * frequency;
      across_y -= (uint32_t)sy * frequency;
    }
    for (uint32_t k = 0; k < 3; k++) {
      const int16_t base = (int16_t)from[k], step = (int16_t)(to[k] - from[k]); /* below 128 */
      for (uint32_t x = 0; x < HEED_SCENE_SIDE; x++) {
        const int16_t mixed = (int16_t)(step * mix[x]);
        plane[k][x] = level((int16_t)(base + (mixed >> 8) + add[x]));
      }
    }
    uint8_t *pixel = rgb + (size_t)y * HEED_SCENE_SIDE * 3;
    for (uint32_t x = 0; x < HEED_SCENE_SIDE; x++, pixel += 3)
      for (uint32_t k = 0; k < 3; k++) pixel[k] = plane[k][x];
  }
}

/* One stroke or dot, no thicker than 5 pixels: nothing that could pass for an object. */
static void draw_speck(uint64_t *state, bool dark, uint8_t *rgb) {
  const point turn = direction(below(state, HEED_SCENE_TURN));
  const int32_t cx = (int32_t)below(state, HEED_SCENE_SIDE),
                cy = (int32_t)below(state, HEED_SCENE_SIDE);
  const float half = (float)below(state, 12), thick = 1.0f + (float)below(state, 16) * 0.1f;
  const int32_t add = (dark ? 1 : -1) * (12 + (int32_t)below(state, 30));
  const int32_t left = clamp(cx - 16, 0, SIDE), count = clamp(cx + 17, 0, SIDE) - left;
  int16_t change[33], changes[3 * 33];
  for (int32_t y = clamp(cy - 16, 0, SIDE); y < clamp(cy + 17, 0, SIDE); y++) {
    for (int32_t i = 0; i < count; i++) {
      const float dx = (float)(left + i - cx), dy = (float)(y - cy),
                  along = dx * turn.x + dy * turn.y;
      const float t = along < -half  ? -half
                      : along > half ? half
                                     : along,
                  ex = dx - t * turn.x, ey = dy - t * turn.y;
      const float cover = thick + 0.5f - sqrtf(ex * ex + ey * ey);
      change[i] = (int16_t)((float)add * minimum(maximum(cover, 0.0f), 1.0f));
    }
    spread(change, count, changes);
    uint8_t *pixel = rgb + ((size_t)y * HEED_SCENE_SIDE + (size_t)left) * 3;
    for (int32_t i = 0; i < 3 * count; i++) pixel[i] = level(pixel[i] + changes[i]);
  }
}

#define NOISE_BLOCK 448 /* bytes, of which a scene has a multiple */

static void add_noise(const heed_scene *scene, uint64_t *state, uint8_t *rgb) {
  const int32_t noise = clamp((int32_t)scene->noise, 0, 32);
  if (noise == 0) return;
  const uint16_t range = (uint16_t)(2 * noise + 1);
  uint16_t bits[NOISE_BLOCK];
  for (size_t begin = 0; begin < HEED_SCENE_BYTES; begin += NOISE_BLOCK) {
    for (size_t i = 0; i < NOISE_BLOCK; i += 2) {
      const uint32_t both = heed_scene_random(state);
      bits[i] = (uint16_t)both;
      bits[i + 1] = (uint16_t)(both >> 16);
    }
    for (size_t i = 0; i < NOISE_BLOCK; i++) {
      const int16_t add = (int16_t)((uint32_t)bits[i] * range >> 16);
      const int16_t sum = (int16_t)(rgb[begin + i] + add - noise);
      rgb[begin + i] = (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
    }
  }
}

static inline void draw(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  uint64_t state = scene->seed ^ UINT64_C(0x6865656420646d6f);
  const bool dark = below(&state, 2) == 1;
  const uint32_t objects =
      scene->object_count < HEED_SCENE_MAX_OBJECTS ? scene->object_count : HEED_SCENE_MAX_OBJECTS;
  /* The light comes from the top left, within an eighth of a turn either way. */
  const canvas to = {.rgb = rgb,
                     .light = direction(HEED_SCENE_TURN / 4 + below(&state, HEED_SCENE_TURN / 4))};
  draw_backdrop(scene, &state, dark, rgb);
  const uint32_t specks =
      (uint32_t)clamp((int32_t)scene->clutter, 0, 100) * (8 + below(&state, 25)) / 100;
  for (uint32_t i = 0; i < specks; i++) draw_speck(&state, dark, rgb);
  uint16_t count[HEED_SCENE_PATCHES], most[HEED_SCENE_PATCHES];
  for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++)
    most[p] = HEED_SCENE_PATCH * HEED_SCENE_PATCH / 8;
  if (owner) memset(owner, HEED_SCENE_NO_OBJECT, HEED_SCENE_PATCHES);
  for (uint32_t i = 0; i < objects; i++) {
    const heed_scene_object object = clamped(&scene->objects[i]);
    tile at;
    measure(&object, &at);
    draw_shadow(&at, rgb);
    draw_body(&to, &object, &at);
    if (!owner) continue;
    memset(count, 0, sizeof count);
    count_patches(&at, count);
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++)
      if (count[p] >= most[p]) {
        most[p] = count[p];
        owner[p] = (uint8_t)i;
      }
  }
  add_noise(scene, &state, rgb);
}

void heed_scene_draw_plain(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  draw(scene, rgb, owner);
}

/* gcc aligns no stack for wider registers on Windows. */
#if defined __x86_64__ && defined __GNUC__ && !defined _WIN32
/* The same operations for them: integers, and floats without contraction. */
#define WIDE __attribute__((flatten, target("avx2")))
#define WIDEST __attribute__((flatten, target("avx512f,avx512bw,avx512dq,avx512vl")))

WIDE static void draw_wide(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  draw(scene, rgb, owner);
}

WIDEST static void draw_widest(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  draw(scene, rgb, owner);
}

void heed_scene_draw(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    draw_widest(scene, rgb, owner);
  else if (__builtin_cpu_supports("avx2"))
    draw_wide(scene, rgb, owner);
  else
    draw(scene, rgb, owner);
}
#else
void heed_scene_draw(const heed_scene *scene, uint8_t *rgb, uint8_t *owner) {
  draw(scene, rgb, owner);
}
#endif
