/* A contact sheet: where its tiles lie, in which colours, and what it refuses. */
#include "figure/sheet.h"

#include <math.h>
#include <string.h>

#include "figure/compose.h"
#include "support/test_context.h"

static uint8_t red[60 * 30 * 3];
static const float map[2] = {0.0f, 1.0f}; /* all weight on the right half */

static double width_of(void *user, const char *text, const figure_font *font) {
  (void)user;
  return 0.5 * font->size * (double)strlen(text);
}
static const figure_ruler ruler = {width_of, NULL};

static heed_sheet_tile red_tile(void) {
  for (size_t i = 0; i < sizeof red; i += 3) red[i] = 200, red[i + 1] = 40, red[i + 2] = 0;
  const heed_sheet_tile tile = {.struct_size = sizeof tile,
                                .image = {red, 60, 30, 3, 180},
                                .region = {0, 0, 60, 30},
                                .map = map,
                                .rows = 1,
                                .columns = 2,
                                .tokens = 3,
                                .name = "a name",
                                .note = "a note that is far too long for a tile of this width"};
  return tile;
}

static heed_sheet *sheet_of(uint32_t count) {
  heed_sheet *sheet;
  const heed_sheet_tile tile = red_tile();
  assert_ok(heed_sheet_create(context, &sheet, &error));
  for (uint32_t i = 0; i < count; i++) assert_ok(heed_sheet_add(sheet, &tile, &error));
  assert_int_equal(heed_sheet_count(sheet), count);
  return sheet;
}

static const figure_shape *image_of(const figure_shapes *shapes, uint32_t n) {
  for (size_t i = 0; i < shapes->count; i++)
    if (shapes->shape[i].kind == FIGURE_IMAGE && n-- == 0) return &shapes->shape[i];
  fail_msg("there is no image %u more", n);
  return NULL;
}

/* Six columns of a page of 800 units; pictures stand at the foot of their places. */
static void test_places(void **state) {
  (void)state;
  heed_sheet *sheet = sheet_of(7);
  const heed_sheet_desc desc = {.struct_size = sizeof desc, .caption = "a caption"};
  figure_shapes shapes;
  assert_ok(heed_sheet_compose(sheet, &desc, &ruler, &shapes, &error));
  assert_true(fabs(shapes.width - 800.0) < 1e-9);
  const figure_box first = image_of(&shapes, 0)->box, last = image_of(&shapes, 5)->box,
                   next = image_of(&shapes, 6)->box;
  assert_true(fabs(first.width - 116.0) < 1e-9 && fabs(first.height - 58.0) < 1e-9);
  assert_true(last.x > first.x && last.x + last.width <= 800.0 && last.y == first.y);
  assert_true(next.x == first.x && next.y >= first.y + 116.0);
  uint32_t notes = 0, names = 0;
  for (size_t i = 0; i < shapes.count; i++) {
    const figure_shape *shape = &shapes.shape[i];
    assert_true(shape->box.x >= 0.0 && shape->box.y <= shapes.height);
    if (shape->kind != FIGURE_TEXT) continue;
    names += strcmp(shape->text, "a name") == 0;
    notes += strncmp(shape->text, "a note", 6) == 0;
    if (strncmp(shape->text, "a note", 6) == 0) assert_true(shape->box.width <= 116.0);
  }
  assert_int_equal(names, 7);
  assert_int_equal(notes, 7);
  heed_shapes_free(&shapes);
  heed_sheet_destroy(sheet);
}

/* The left half is the picture's own, the right one under the colour of the scale's end; the end is
 * that of the largest weight: 3 tokens, so 3 times uniform. */
static void test_colours(void **state) {
  (void)state;
  heed_sheet *sheet = sheet_of(1);
  const heed_sheet_desc desc = {.struct_size = sizeof desc};
  figure_shapes shapes;
  assert_ok(heed_sheet_compose(sheet, &desc, &ruler, &shapes, &error));
  const figure_shape *image = image_of(&shapes, 0);
  const uint8_t *left = image->pixels + 4 * (size_t)(image->columns / 4),
                *right = image->pixels + 4 * (size_t)(3 * image->columns / 4);
  uint8_t over[3];
  heed_colormap_rgb(HEED_COLORMAP_CIVIDIS, 1.0, over);
  for (int c = 0; c < 3; c++) {
    assert_int_equal(left[c], red[c]);
    assert_true(fabs(right[c] - (0.2 * red[c] + 0.8 * over[c])) <= 1.5);
  }
  assert_int_equal(left[3], 255);
  heed_shapes_free(&shapes);
  heed_sheet_destroy(sheet);
}

static void test_refused(void **state) {
  (void)state;
  heed_sheet *sheet = sheet_of(0);
  heed_sheet_tile tile = red_tile();
  heed_sheet_desc desc = {.struct_size = sizeof desc};
  figure_shapes shapes;
  assert_fails(heed_sheet_compose(sheet, &desc, &ruler, &shapes, &error), HEED_INVALID_ARGUMENT,
               "sheet: no pictures");
  tile.tokens = 1;
  assert_fails(heed_sheet_add(sheet, &tile, &error), HEED_INVALID_ARGUMENT, "tokens");
  tile = red_tile();
  tile.struct_size = 1;
  assert_fails(heed_sheet_add(sheet, &tile, &error), HEED_INVALID_ARGUMENT, "sheet: struct_size");
  tile = red_tile();
  for (uint32_t i = 0; i < HEED_SHEET_MOST; i++) assert_ok(heed_sheet_add(sheet, &tile, &error));
  assert_fails(heed_sheet_add(sheet, &tile, &error), HEED_INVALID_ARGUMENT, "too many pictures");
  desc.width_mm = 10.0;
  assert_fails(heed_sheet_compose(sheet, &desc, &ruler, &shapes, &error), HEED_INVALID_ARGUMENT,
               "sheet: width out of range");
  assert_fails(heed_sheet_write(NULL, NULL, "a.png", &error), HEED_INVALID_ARGUMENT, "NULL");
  heed_sheet_destroy(sheet);
  heed_sheet_destroy(NULL);
}

/* Each allocation fails once; nothing is left. Of flat pictures, which are drawn in no time. */
static void test_out_of_memory(void **state) {
  (void)state;
  heed_sheet_tile tile = red_tile();
  tile.image.height = 1;
  tile.region.height = 1;
  const heed_sheet_desc desc = {.struct_size = sizeof desc, .caption = "a caption"};
  size_t n = 1;
  for (;; n++) {
    test_allocator counter = {.fail_at = n};
    const heed_context_desc failing = test_context_desc(&counter);
    heed_context *own = NULL;
    heed_sheet *sheet = NULL;
    figure_shapes shapes;
    heed_status status = heed_context_create(&failing, &own, &error);
    if (status == HEED_OK) status = heed_sheet_create(own, &sheet, &error);
    for (int i = 0; i < 17 && status == HEED_OK; i++) status = heed_sheet_add(sheet, &tile, &error);
    if (status == HEED_OK) status = heed_sheet_compose(sheet, &desc, &ruler, &shapes, &error);
    if (status == HEED_OK) heed_shapes_free(&shapes);
    heed_sheet_destroy(sheet);
    heed_context_destroy(own);
    assert_int_equal(counter.live, 0);
    if (counter.total < n) {
      assert_int_equal(status, HEED_OK);
      break;
    }
    assert_int_equal(status, HEED_OUT_OF_MEMORY);
  }
  assert_true(n > 70);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_colours),
                                     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
