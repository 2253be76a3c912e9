/* The demo's scenes (their bytes: tests/demo): exactly one pair of twins, objects apart, patches
 * where the objects are, JSON both ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/scene_json.h"
#include "support/test.h"

static void test_one_pair_of_twins(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    heed_scene scene;
    uint32_t twins[2], count[HEED_SCENE_SHAPES] = {0}, pairs = 0;
    heed_scene_from_seed(seed, NULL, &scene);
    if (!heed_scene_twins(&scene, twins))
      fail_msg("seed %llu has no twins", (unsigned long long)seed);
    if (scene.object_count < 5 || scene.object_count > 8)
      fail_msg("seed %llu: found %u objects, expected 5 to 8", (unsigned long long)seed,
               scene.object_count);
    for (uint32_t i = 0; i < scene.object_count; i++) pairs += ++count[scene.objects[i].shape] == 2;
    if (pairs != 1)
      fail_msg("seed %llu: found %u pairs, expected 1", (unsigned long long)seed, pairs);
    const heed_scene_object *a = &scene.objects[twins[0]], *b = &scene.objects[twins[1]];
    if (a->shape != b->shape || a->colour == b->colour || a->radius == b->radius ||
        a->angle == b->angle)
      fail_msg("seed %llu: twins must share their shape and nothing else",
               (unsigned long long)seed);
  }
}

static void test_objects_are_apart_and_inside(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    heed_scene scene;
    heed_scene_from_seed(seed, NULL, &scene);
    const int32_t side = (int32_t)HEED_SCENE_SIDE * HEED_SCENE_UNIT;
    for (uint32_t i = 0; i < scene.object_count; i++) {
      const heed_scene_object *a = &scene.objects[i];
      if (a->x < a->radius || a->y < a->radius || a->x + a->radius > side ||
          a->y + a->radius > side)
        fail_msg("seed %llu: an object leaves the picture", (unsigned long long)seed);
      for (uint32_t j = 0; j < i; j++) {
        const heed_scene_object *b = &scene.objects[j];
        const int64_t dx = a->x - b->x, dy = a->y - b->y,
                      reach = a->radius + b->radius + 3 * HEED_SCENE_UNIT;
        if (dx * dx + dy * dy < reach * reach)
          fail_msg("seed %llu: objects %u and %u are too close", (unsigned long long)seed, i, j);
      }
    }
  }
}

/* Every object owns patches, and those lie within its circle, grown by a patch's diagonal. */
static void test_patches_are_where_objects_are(void **state) {
  (void)state;
  uint8_t *rgb = malloc(HEED_SCENE_BYTES), owner[HEED_SCENE_PATCHES];
  assert_non_null(rgb);
  for (uint64_t seed = 0; seed < 200; seed++) {
    heed_scene scene;
    uint32_t owned[HEED_SCENE_MAX_OBJECTS] = {0};
    heed_scene_from_seed(seed, NULL, &scene);
    heed_scene_draw(&scene, rgb, owner);
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++) {
      if (owner[p] == HEED_SCENE_NO_OBJECT) continue;
      assert_true(owner[p] < scene.object_count);
      const heed_scene_object *object = &scene.objects[owner[p]];
      const double dx = (p % HEED_SCENE_GRID + 0.5) * 16 - object->x / 16.0,
                   dy = (p / HEED_SCENE_GRID + 0.5) * 16 - object->y / 16.0,
                   reach = object->radius / 16.0 + 11.4;
      if (dx * dx + dy * dy > reach * reach)
        fail_msg("seed %llu: patch %u is not at object %u", (unsigned long long)seed, p, owner[p]);
      owned[owner[p]]++;
    }
    for (uint32_t i = 0; i < scene.object_count; i++)
      if (owned[i] < 2)
        fail_msg("seed %llu: object %u owns %u patches, expected at least 2",
                 (unsigned long long)seed, i, owned[i]);
  }
  free(rgb);
}

/* Angles count counter-clockwise and the arrow of angle 0 points up: its tip is drawn, its flank is
 * not. */
static void test_arrow_points_up(void **state) {
  (void)state;
  uint8_t *rgb = malloc(HEED_SCENE_BYTES);
  assert_non_null(rgb);
  const uint32_t angle[4] = {0, 1024, 2048, 3072};
  const int32_t tip_x[4] = {112, 82, 112, 142}, tip_y[4] = {82, 112, 142, 112};
  for (uint32_t i = 0; i < 4; i++) {
    heed_scene scene = {.object_count = 1,
                        .objects = {{.shape = 8,
                                     .colour = 0,
                                     .x = 112 * 16,
                                     .y = 112 * 16,
                                     .radius = 40 * 16,
                                     .angle = angle[i]}}};
    heed_scene_draw(&scene, rgb, NULL);
    for (uint32_t k = 0; k < 4; k++) {
      /* 30 pixels from the centre the head is 21 wide, the shaft 24; to the sides there is nothing.
       * Red is red's largest channel. */
      const uint8_t *pixel = rgb + ((size_t)tip_y[k] * HEED_SCENE_SIDE + (size_t)tip_x[k]) * 3;
      const bool drawn = pixel[0] > pixel[2] + 60;
      if (drawn != (k % 2 == i % 2))
        fail_msg("angle %u, point %u: found %s", angle[i], k, drawn ? "the arrow" : "backdrop");
    }
  }
  free(rgb);
}

/* Fields out of range are clamped: nothing is read or written outside (the sanitizers watch). */
static void test_wild_fields_are_clamped(void **state) {
  (void)state;
  uint8_t *rgb = malloc(HEED_SCENE_BYTES), owner[HEED_SCENE_PATCHES];
  assert_non_null(rgb);
  test_random random = {4711};
  for (uint32_t round = 0; round < 50; round++) {
    heed_scene scene;
    uint32_t twins[2];
    for (size_t i = 0; i < sizeof scene; i++)
      ((uint8_t *)&scene)[i] = (uint8_t)test_random_next(&random);
    heed_scene_draw(&scene, rgb, owner);
    heed_scene_twins(&scene, twins);
  }
  const heed_scene_level wild = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0,
                                 UINT32_MAX, UINT32_MAX, true};
  heed_scene scene;
  heed_scene_from_seed(1, &wild, &scene);
  assert_true(scene.object_count <= HEED_SCENE_MAX_OBJECTS);
  free(rgb);
}

/* Wider registers draw the same bytes, also of objects that leave the picture. */
static void test_any_registers(void **state) {
  (void)state;
  uint8_t *rgb = malloc(2 * HEED_SCENE_BYTES), owner[2][HEED_SCENE_PATCHES];
  assert_non_null(rgb);
  test_random random = {23};
  for (uint64_t seed = 0; seed < 300; seed++) {
    heed_scene scene;
    heed_scene_from_seed(seed, NULL, &scene);
    for (uint32_t i = 0; seed % 2 && i < scene.object_count; i++) {
      scene.objects[i].shape = test_random_below(&random, HEED_SCENE_SHAPES);
      scene.objects[i].x = (int32_t)test_random_below(&random, 4000) - 200;
      scene.objects[i].y = (int32_t)test_random_below(&random, 4000) - 200;
      scene.objects[i].radius = (int32_t)test_random_below(&random, 800);
    }
    heed_scene_draw(&scene, rgb, owner[0]);
    heed_scene_draw_plain(&scene, rgb + HEED_SCENE_BYTES, owner[1]);
    assert_memory_equal(rgb, rgb + HEED_SCENE_BYTES, HEED_SCENE_BYTES);
    assert_memory_equal(owner[0], owner[1], HEED_SCENE_PATCHES);
  }
  free(rgb);
}

static void test_text_and_back(void **state) {
  (void)state;
  heed_context *context;
  heed_error error;
  assert_ok(heed_context_create(NULL, &context, &error));
  for (uint64_t seed = 0; seed < 500; seed++) {
    heed_scene scene, back;
    char text[HEED_SCENE_TEXT_SIZE];
    heed_scene_from_seed(seed * UINT64_C(0x123456789abcdef), NULL, &scene);
    assert_ok(
        heed_scene_parse(context, text, heed_scene_text(&scene, text), "scene", &back, &error));
    assert_memory_equal(&scene, &back, sizeof scene);
  }
  heed_context_destroy(context);
}

static void test_bad_text_says_what(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } cases[] = {
      {"[]", "the scene"},
      {"{}", "has no objects"},
      {"{\"objects\": 3}", "an array"},
      {"{\"objects\": [3]}", "expected objects"},
      {"{\"objects\": [{\"shape\": \"blob\"}]}", "unknown shape"},
      {"{\"objects\": [{\"shape\": \"star\", \"colour\": 1}]}", "a string"},
      {"{\"objects\": [{\"shape\": \"star\", \"colour\": \"red\", \"x\": 1e9}]}", "from 0 to 224"},
      {"{\"objects\": [{\"shape\": \"star\", \"colour\": \"red\", \"x\": 1, \"y\": 1}]}",
       "has no radius"},
      {"{\"objects\": [], \"seed\": -1}", "a whole number"},
      {"{\"objects\": [], \"clutter\": 101}", "from 0 to 100"},
      {"{\"objects\": [{}", "byte"}};
  heed_context *context;
  heed_error error;
  heed_scene scene;
  assert_ok(heed_context_create(NULL, &context, &error));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_fails(
        heed_scene_parse(context, cases[i].text, strlen(cases[i].text), "scene", &scene, &error),
        HEED_INVALID_FILE, cases[i].says);
  static const char object[] =
      "{\"shape\": \"star\", \"colour\": \"red\", \"x\": 1, \"y\": 1, \"radius\": 9}";
  for (uint32_t above = 0; above < 2; above++) {
    char many[2048] = "{\"objects\": [";
    for (uint32_t i = 0; i < HEED_SCENE_MAX_OBJECTS + above; i++) {
      if (i) strcat(many, ", ");
      strcat(many, object);
    }
    strcat(many, "]}");
    if (above)
      assert_fails(heed_scene_parse(context, many, strlen(many), "scene", &scene, &error),
                   HEED_INVALID_FILE, "too many objects (found 17, expected at most 16)");
    else
      assert_ok(heed_scene_parse(context, many, strlen(many), "scene", &scene, &error));
  }
  heed_context_destroy(context);
}

static void test_every_allocation_may_fail(void **state) {
  (void)state;
  const char *text = "{\"objects\": [{\"shape\": \"star\", \"colour\": \"red\", \"x\": 1, \"y\": "
                     "1, \"radius\": 9}]}";
  for (size_t fail_at = 2;; fail_at++) {
    test_allocator allocator = {.fail_at = fail_at};
    const heed_context_desc desc = test_context_desc(&allocator);
    heed_context *context;
    heed_error error;
    heed_scene scene;
    assert_ok(heed_context_create(&desc, &context, &error));
    const heed_status status =
        heed_scene_parse(context, text, strlen(text), "scene", &scene, &error);
    const bool reached = allocator.total >= fail_at;
    heed_context_destroy(context);
    assert_int_equal(allocator.live, 0);
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    if (!reached) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_pair_of_twins),
                                     cmocka_unit_test(test_objects_are_apart_and_inside),
                                     cmocka_unit_test(test_patches_are_where_objects_are),
                                     cmocka_unit_test(test_arrow_points_up),
                                     cmocka_unit_test(test_wild_fields_are_clamped),
                                     cmocka_unit_test(test_any_registers),
                                     cmocka_unit_test(test_text_and_back),
                                     cmocka_unit_test(test_bad_text_says_what),
                                     cmocka_unit_test(test_every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
