/* Scenes as input of a verb: memory that runs out before one is drawn, and what sees them fails. */
#include "session/scene_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static heed_error error;

/* The linker puts this in the place of the library's (--wrap). */
static bool memory_fails;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) { return memory_fails ? NULL : __real_malloc(size); }

/* A verb's state whose context fails at this allocation; 0: at none. */
static cli_state start(test_allocator *allocator, size_t fail_at) {
  cli_state cli = {.verb = "test"};
  const heed_context_desc desc = test_context_desc(allocator);
  assert_ok(heed_context_create(&desc, &cli.context, &error));
  allocator->fail_at = fail_at ? allocator->total + fail_at : 0;
  return cli;
}

static void test_picture(void **state) {
  (void)state;
  for (size_t fail_at = 0; fail_at < 2; fail_at++) {
    test_allocator allocator = {0};
    heed_picture picture = {NULL, 0, 0};
    scene_twins twins;
    cli_state cli = start(&allocator, fail_at);
    const heed_status status = scene_input_picture(&cli, "7", &picture, &twins);
    assert_int_equal(status, fail_at ? HEED_OUT_OF_MEMORY : HEED_OK);
    assert_int_equal(picture.pixels != NULL, fail_at == 0);
    if (fail_at)
      assert_string_equal(cli.error.message, "scene: out of memory (requested 150528 bytes)");
    heed_picture_free(cli.context, &picture);
    heed_context_destroy(cli.context);
    assert_int_equal(allocator.live, 0);
  }
}

typedef struct seen {
  uint32_t count, most;
} seen;

static heed_status see(void *user, const heed_image *image) {
  seen *s = user;
  assert_int_equal(image->width, HEED_SCENE_SIDE);
  return ++s->count == s->most ? HEED_CANCELLED : HEED_OK;
}

static void test_each(void **state) {
  (void)state;
  test_allocator allocator = {0};
  cli_state cli = start(&allocator, 0);
  seen s = {0, 0};
  assert_int_equal(scene_input_each(&cli, 5, 3, see, &s), HEED_OK);
  assert_int_equal(s.count, 3);
  s = (seen){0, 2};
  assert_int_equal(scene_input_each(&cli, 5, 3, see, &s), HEED_CANCELLED);
  assert_int_equal(s.count, 2);
  memory_fails = true;
  const heed_status status = scene_input_each(&cli, 5, 3, see, &s);
  memory_fails = false;
  assert_int_equal(status, HEED_OUT_OF_MEMORY);
  assert_int_equal(s.count, 2);
  assert_non_null(strstr(cli.error.message, "scene: out of memory"));
  heed_context_destroy(cli.context);
}

/* Uniform attention is 1; else the weights of the pairs alone count, each way as much. */
static void test_twins_weight(void **state) {
  (void)state;
  static float map[(2 + HEED_SCENE_PATCHES) * (2 + HEED_SCENE_PATCHES)];
  scene_twins twins = {.count = {2, 3}, .patch = {{0, 195}, {7, 8, 100}}};
  const scene_twins none = {.count = {2, 0}};
  for (uint32_t prefix = 0; prefix < 3; prefix++) {
    const size_t tokens = prefix + (size_t)HEED_SCENE_PATCHES;
    for (size_t i = 0; i < tokens * tokens; i++) map[i] = 1.0f / (float)tokens;
    assert_true(fabs(scene_twins_weight(&twins, map, prefix) - 1.0) < 1e-6);
    assert_true(scene_twins_weight(&none, map, prefix) == 0.0);
    for (size_t i = 0; i < tokens * tokens; i++) map[i] = 0.0f;
    map[(prefix + 195) * tokens + prefix + 8] = 0.5f;
    map[(prefix + 100) * tokens + prefix] = 0.25f;
    map[(prefix + 7) * tokens + prefix + 8] = 1.0f;
    map[prefix * tokens + prefix + 1] = 1.0f;
    assert_true(fabs(scene_twins_weight(&twins, map, prefix) -
                     0.5 * (0.5 / 6 + 0.25 / 6) * (double)tokens) < 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_picture), cmocka_unit_test(test_each),
                                     cmocka_unit_test(test_twins_weight)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
