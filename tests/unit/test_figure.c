/* Colour maps and the shapes of figures: what lies where, in which colour. The widths of text are
 * made up here; what becomes of the shapes is test_figure_files' subject. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "figure/compose.h"
#include "support/test_context.h"

/* ---------------------------------------------------------------------------------- colour maps */

static uint32_t color_of(heed_colormap map, double t) {
  uint8_t rgb[3];
  heed_colormap_rgb(map, t, rgb);
  return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

/* Published ends and middles. */
static void test_colormap_values(void **state) {
  (void)state;
  assert_int_equal(color_of(HEED_COLORMAP_VIRIDIS, 0.0), 0x440154);
  assert_int_equal(color_of(HEED_COLORMAP_VIRIDIS, 1.0), 0xFDE725);
  assert_int_equal(color_of(HEED_COLORMAP_MAGMA, 0.0), 0x000004);
  assert_int_equal(color_of(HEED_COLORMAP_MAGMA, 1.0), 0xFCFDBF);
  assert_int_equal(color_of(HEED_COLORMAP_INFERNO, 1.0), 0xFCFFA4);
  assert_int_equal(color_of(HEED_COLORMAP_CIVIDIS, 0.0), 0x00224E);
  assert_int_equal(color_of(HEED_COLORMAP_CIVIDIS, 1.0), 0xFEE838);
  assert_int_equal(color_of(HEED_COLORMAP_GREY, 0.5), 0x808080);
  for (int map = 0; map < 5; map++) {
    assert_int_equal(color_of((heed_colormap)map, -3.0), color_of((heed_colormap)map, 0.0));
    assert_int_equal(color_of((heed_colormap)map, (double)INFINITY),
                     color_of((heed_colormap)map, 1.0));
    assert_int_equal(color_of((heed_colormap)map, (double)NAN), 0x808080);
  }
  assert_string_equal(heed_colormap_name(HEED_COLORMAP_CIVIDIS), "cividis");
  assert_string_equal(heed_colormap_name(HEED_COLORMAP_GREY), "grey");
  assert_string_equal(heed_colormap_name((heed_colormap)99), "cividis");
}

/* Lightness (CIE L* of sRGB) never falls: an entry that was copied wrong shows. */
static void test_colormap_lightness(void **state) {
  (void)state;
  for (int map = 0; map < 5; map++) {
    double last = 0.0;
    for (int i = 0; i < 256; i++) {
      static const double share[3] = {0.2126, 0.7152, 0.0722};
      uint8_t rgb[3];
      double light = 0.0;
      heed_colormap_rgb((heed_colormap)map, i / 255.0, rgb);
      for (int c = 0; c < 3; c++)
        light += share[c] * (rgb[c] <= 10 ? rgb[c] / 255.0 / 12.92
                                          : pow((rgb[c] / 255.0 + 0.055) / 1.055, 2.4));
      light = light > 0.008856 ? 116.0 * cbrt(light) - 16.0 : 903.3 * light;
      if (i && (light < last - 0.25 || light > last + 1.7))
        fail_msg("%s, entry %d: lightness %g after %g", heed_colormap_name((heed_colormap)map), i,
                 light, last);
      last = light;
    }
  }
}

/* ----------------------------------------------------------------------------------------- text */

static void test_numbers(void **state) {
  (void)state;
  char text[HEED_TEXT_NUMBER_SIZE];
  assert_string_equal(heed_text_number(0.0, 0, text), "0");
  assert_string_equal(heed_text_number(12.345, 1, text), "12.3");
  assert_string_equal(heed_text_number(0.05, 3, text), "0.050");
  assert_string_equal(heed_text_number(-0.001, 1, text), "0.0");
  assert_string_equal(heed_text_number(-2.5, 2, text), "-2.50");
  assert_string_equal(heed_text_number(999999999.0, 9, text), "999999999.000000000");
  assert_string_equal(heed_text_number(1e30, 2, text), "huge");
  assert_string_equal(heed_text_number((double)NAN, 2, text), "nan");
}

/* Every character is six tenths of the size wide: 'e' with a diaeresis counts once. */
static double ruler_width(void *user, const char *text, const figure_font *font) {
  size_t count = 0;
  (void)user;
  for (; *text; text++) count += ((unsigned char)*text & 0xC0u) != 0x80u;
  return (double)count * font->size * (font->bold ? 0.65 : 0.6);
}
static const figure_ruler ruler = {ruler_width, NULL};
static const figure_font ten = {10.0, false, 0};

static void test_lines(void **state) {
  (void)state;
  char fitted[FIGURE_FITTED_SIZE];
  assert_int_equal(heed_text_line(&ruler, &ten, "one two three", 48.0), 7); /* "one two" */
  assert_int_equal(heed_text_line(&ruler, &ten, "one\ntwo", 480.0), 3);
  assert_int_equal(heed_text_line(&ruler, &ten, "longerthanthat", 30.0), 5);
  assert_int_equal(heed_text_line(&ruler, &ten, "\xC3\xA4\xC3\xA4\xC3\xA4", 12.0), 4);
  assert_int_equal(heed_text_line(&ruler, &ten, "x", 0.0), 1); /* always one */
  assert_int_equal(heed_text_lines(&ruler, &ten, "one two three\n\nfour", 48.0), 4);
  assert_int_equal(heed_text_lines(&ruler, &ten, NULL, 48.0), 0);
  assert_string_equal(heed_text_fitted(&ruler, &ten, "one two", 42.0, fitted), "one two");
  assert_string_equal(heed_text_fitted(&ruler, &ten, "one two", 41.0, fitted), "one t\xE2\x80\xA6");
  assert_string_equal(heed_text_fitted(&ruler, &ten, "one two", 5.0, fitted), "");
}

/* -------------------------------------------------------------------------------------- figures */

static uint8_t black[100 * 100 * 3];

/* A black picture of 100 x 100 of which the model saw (10, 20) to (90, 60), in 2 x 4 patches. */
static heed_figure_desc small_desc(const float *maps) {
  heed_figure_desc desc = {.struct_size = sizeof desc,
                           .layers = 1,
                           .heads = 1,
                           .rows = 2,
                           .columns = 4,
                           .tokens = 9,
                           .query_row = -1,
                           .query_column = -1};
  desc.image = (heed_image){black, 100, 100, 3, 300};
  desc.region = (heed_region){10.0, 20.0, 80.0, 40.0};
  desc.maps = maps;
  return desc;
}

static const float eight[8] = {0.0f, 0.01f, 0.02f, 0.05f, 0.08f, 0.1f, 0.2f, 0.25f};

static figure_shapes composed(const heed_figure_desc *desc) {
  figure_shapes shapes;
  assert_ok(heed_figure_compose(context, desc, &ruler, 2.0, &shapes, &error));
  assert_false(shapes.failed);
  return shapes;
}

/* The n-th image of a figure: 0 the picture, 1 the map over it, 2 a bar, then the maps. */
static const figure_shape *image_of(const figure_shapes *shapes, uint32_t n) {
  for (size_t i = 0; i < shapes->count; i++)
    if (shapes->shape[i].kind == FIGURE_IMAGE && n-- == 0) return &shapes->shape[i];
  fail_msg("the figure has no image %u more", n);
  return NULL;
}

static const figure_shape *map_of(const figure_shapes *shapes, uint32_t n) {
  return image_of(shapes, n + 3);
}

static const figure_shape *text_of(const figure_shapes *shapes, const char *text) {
  for (size_t i = 0; i < shapes->count; i++)
    if (shapes->shape[i].kind == FIGURE_TEXT && strcmp(shapes->shape[i].text, text) == 0)
      return &shapes->shape[i];
  return NULL;
}

static uint32_t pixel_color(const figure_shape *image, uint32_t i) {
  const uint8_t *rgba = image->pixels + 4 * (size_t)i;
  return (uint32_t)rgba[0] << 16 | (uint32_t)rgba[1] << 8 | rgba[2];
}

/* The map lies where the model saw the picture, in the figure's colours, and is as opaque as the
 * weight is large: the bar ends at four times uniform, here 4 / 9. Its bar has the plain colours.
 */
static void test_overlay(void **state) {
  (void)state;
  heed_figure_desc desc = small_desc(eight);
  float full[8] = {0.0f, 0.5f};
  desc.colormap = HEED_COLORMAP_MAGMA;
  figure_shapes shapes = composed(&desc);
  const figure_box picture = image_of(&shapes, 0)->box;
  const figure_shape *over = image_of(&shapes, 1), *bar = image_of(&shapes, 2);
  assert_true(over->clipped && over->rows == 2 && over->columns == 4);
  assert_true(fabs(picture.width - picture.height) < 1e-9);
  assert_true(fabs(over->box.x - (picture.x + 0.1 * picture.width)) < 1e-9);
  assert_true(fabs(over->box.y - (picture.y + 0.2 * picture.height)) < 1e-9);
  assert_true(fabs(over->box.width - 0.8 * picture.width) < 1e-9);
  assert_true(fabs(over->box.height - 0.4 * picture.height) < 1e-9);
  for (uint32_t i = 0; i < 8; i++) {
    const double t = (double)eight[i] * 9.0 / 4.0, expected = 255.0 * 0.8 * t;
    assert_int_equal(pixel_color(over, i), color_of(HEED_COLORMAP_MAGMA, t));
    if (fabs(over->pixels[4 * i + 3] - expected) > 0.501)
      fail_msg("patch %u: opacity %u, expected %g", i, over->pixels[4 * i + 3], expected);
  }
  assert_int_equal(pixel_color(bar, 0), color_of(HEED_COLORMAP_MAGMA, 0.0));
  assert_int_equal(pixel_color(bar, 255), color_of(HEED_COLORMAP_MAGMA, 1.0));
  assert_true(bar->pixels[3] == 255 && bar->pixels[4 * 255 + 3] == 255);
  heed_shapes_free(&shapes);
  desc.maps = full;
  shapes = composed(&desc);
  assert_int_equal(image_of(&shapes, 1)->pixels[3], 0);   /* the picture's own colours */
  assert_int_equal(image_of(&shapes, 1)->pixels[7], 204); /* 0.8 of 255 */
  heed_shapes_free(&shapes);
}

/* What the model did not see is paled: the four sides of the region together with it make up the
 * picture. */
static void test_pale(void **state) {
  (void)state;
  const heed_figure_desc desc = small_desc(eight);
  figure_shapes shapes = composed(&desc);
  const figure_box in = image_of(&shapes, 0)->box, seen = image_of(&shapes, 1)->box;
  double area = seen.width * seen.height;
  int count = 0;
  for (size_t i = 0; i < shapes.count; i++) {
    const figure_shape *shape = &shapes.shape[i];
    if (shape->kind != FIGURE_FILL || shape->opacity != 0.6) continue;
    assert_int_equal(shape->color, 0xFFFFFF);
    area += shape->box.width * shape->box.height;
    count++;
  }
  assert_int_equal(count, 4);
  assert_true(fabs(area - in.width * in.height) < 1e-6 * area);
  heed_shapes_free(&shapes);
}

/* The query's patch is x 50..70, y 40..60 of the picture: a white frame around it, on a dark one,
 * and its name. A query without a place is named in a corner. */
static void test_query(void **state) {
  (void)state;
  heed_figure_desc desc = small_desc(eight);
  figure_shapes shapes;
  desc.query_row = 1, desc.query_column = 2;
  shapes = composed(&desc);
  const figure_box in = image_of(&shapes, 0)->box;
  int frames = 0;
  for (size_t i = 0; i < shapes.count; i++) {
    const figure_shape *shape = &shapes.shape[i];
    if (shape->kind != FIGURE_FRAME || shape->box.x > in.x + in.width ||
        (shape->color != 0xFFFFFF && shape->color != 0x0e1420))
      continue;
    assert_true(fabs(shape->box.x + 1.0 - (in.x + 0.5 * in.width)) < 1e-9);
    assert_true(fabs(shape->box.y + 1.0 - (in.y + 0.4 * in.height)) < 1e-9);
    assert_true(fabs(shape->box.width - 2.0 - 0.2 * in.width) < 1e-9);
    frames++;
  }
  assert_int_equal(frames, 2);
  const figure_shape *name = text_of(&shapes, "query (1, 2)");
  assert_non_null(name);
  assert_true(name->box.x > in.x + 0.7 * in.width ||
              name->box.x + name->box.width < in.x + 0.5 * in.width);
  assert_true(name->box.y > in.y + 0.4 * in.height && name->box.y < in.y + 0.6 * in.height);
  heed_shapes_free(&shapes);
  desc.query_row = desc.query_column = -1;
  shapes = composed(&desc);
  assert_non_null(text_of(&shapes, "query: CLS"));
  heed_shapes_free(&shapes);
  desc.query_name = "key: CLS";
  shapes = composed(&desc);
  assert_non_null(text_of(&shapes, "key: CLS"));
  assert_null(text_of(&shapes, "query: CLS"));
  heed_shapes_free(&shapes);
  desc.query_name = NULL, desc.tokens = 8; /* no token without a place */
  shapes = composed(&desc);
  assert_null(text_of(&shapes, "query: CLS"));
  heed_shapes_free(&shapes);
}

/* Every patch of every map is in the colour of weight * tokens over the end of the bar, here the
 * least, in reading order; a row is a layer, a column is a head. */
static void test_grid(void **state) {
  (void)state;
  static const uint32_t layers[2] = {7, 11}, heads[3] = {2, 3, 10};
  float maps[2 * 3 * 4];
  heed_figure_desc desc = small_desc(maps);
  desc.layers = 2, desc.heads = 3, desc.rows = desc.columns = 2, desc.tokens = 5,
  desc.colormap = HEED_COLORMAP_MAGMA, desc.layer_numbers = layers, desc.head_numbers = heads;
  for (int i = 0; i < 24; i++) maps[i] = (float)(i * 10 + 20) / 500.0f; /* colours all apart */
  figure_shapes shapes = composed(&desc);
  for (uint32_t m = 0; m < 6; m++) {
    const figure_shape *map = map_of(&shapes, m), *first = map_of(&shapes, 0),
                       *above = map_of(&shapes, m % 3);
    for (uint32_t i = 0; i < 4; i++)
      assert_int_equal(pixel_color(map, i),
                       color_of(HEED_COLORMAP_MAGMA, (double)maps[4 * m + i] * 5 / 4));
    assert_true(map->box.width == first->box.width && map->box.height == first->box.height);
    assert_true(map->box.x == above->box.x);
    assert_true(m < 3 ? map->box.y == first->box.y
                      : map->box.y >= first->box.y + first->box.height + 4.0);
    if (m % 3) {
      const figure_shape *left = map_of(&shapes, m - 1);
      assert_true(fabs(map->box.x - left->box.x - left->box.width - 4.0) < 1e-9);
    }
  }
  static const char *const names[] = {"head", "layer", "2", "3", "10", "7", "11"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!text_of(&shapes, names[i])) fail_msg("no \"%s\" in the figure", names[i]);
  const figure_box under_ten = map_of(&shapes, 2)->box, beside_11 = map_of(&shapes, 3)->box;
  assert_true(fabs(text_of(&shapes, "10")->box.x - under_ten.x - under_ten.width / 2.0) < 1e-9);
  assert_true(text_of(&shapes, "11")->box.y > beside_11.y &&
              text_of(&shapes, "11")->box.y < beside_11.y + beside_11.height);
  heed_shapes_free(&shapes);
}

/* Below a map the weight on CLS: a number where there is room, else a line. */
static void test_prefix_mass(void **state) {
  (void)state;
  static float maps[144 * 8];
  float mass[144] = {0.25f, 1.5f};
  heed_figure_desc desc = small_desc(maps);
  desc.heads = 2, desc.prefix_mass = mass;
  figure_shapes shapes = composed(&desc);
  assert_non_null(text_of(&shapes, "head 1"));
  assert_non_null(text_of(&shapes, "CLS 25 %"));
  heed_shapes_free(&shapes);
  desc.tokens = 13; /* registers too */
  shapes = composed(&desc);
  assert_non_null(text_of(&shapes, "prefix 25 %"));
  heed_shapes_free(&shapes);
  desc.layers = desc.heads = 12;
  shapes = composed(&desc);
  assert_null(text_of(&shapes, "prefix 25 %"));
  double line[2] = {0.0, 0.0};
  for (size_t i = 0, n = 0; i < shapes.count && n < 2; i++)
    if (shapes.shape[i].kind == FIGURE_FILL && shapes.shape[i].color == 0x0e1420 &&
        shapes.shape[i].box.height == 2.0)
      line[n++] = shapes.shape[i].box.width;
  const double width = map_of(&shapes, 0)->box.width;
  assert_true(fabs(line[0] - 0.25 * width) < 1e-9 && fabs(line[1] - width) < 1e-9);
  heed_shapes_free(&shapes);
}

static bool has_color(const figure_shape *map, uint32_t color) {
  for (uint32_t i = 0; i < map->rows * map->columns; i++)
    if (pixel_color(map, i) == color) return true;
  return false;
}

static bool map_has(const heed_figure_desc *desc, uint32_t map, uint32_t color) {
  figure_shapes shapes = composed(desc);
  const bool has = has_color(map_of(&shapes, map), color);
  heed_shapes_free(&shapes);
  return has;
}

/* Weights that are zero everywhere, NaN or infinite are drawn, not divided by. */
static void test_odd_weights(void **state) {
  (void)state;
  float maps[8] = {0};
  const heed_figure_desc desc = small_desc(maps);
  assert_true(map_has(&desc, 0, color_of(HEED_COLORMAP_CIVIDIS, 0.0)));
  maps[0] = NAN, maps[1] = INFINITY, maps[2] = -1.0f, maps[3] = 0.5f;
  assert_true(map_has(&desc, 0, 0x808080));
  assert_true(map_has(&desc, 0, color_of(HEED_COLORMAP_CIVIDIS, 1.0)));
  figure_shapes shapes = composed(&desc);
  const uint8_t *over = image_of(&shapes, 1)->pixels;
  assert_true(over[0] == 128 && over[3] == 204 && over[7] == 204 && over[11] == 0);
  heed_shapes_free(&shapes);
}

/* Rows that one token takes all of: nothing shines that has next to nothing, and a scale of its own
 * is there for who asks for it. */
static void test_small_weights(void **state) {
  (void)state;
  /* all on CLS, hidden, denormals */
  const float rows[][8] = {{3e-7f, 2e-7f}, {0}, {1e-40f, 1e-41f}};
  const uint32_t dark = color_of(HEED_COLORMAP_CIVIDIS, 0.0),
                 bright = color_of(HEED_COLORMAP_CIVIDIS, 1.0);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    heed_figure_desc desc = small_desc(rows[k]);
    for (int scale = HEED_SCALE_AUTO; scale <= HEED_SCALE_LOG; scale++) {
      desc.scale = (heed_scale_kind)scale;
      assert_true(map_has(&desc, 0, dark));
      assert_false(map_has(&desc, 0, bright));
    }
    desc.scale = HEED_SCALE_OWN;
    assert_true(map_has(&desc, 0, k == 1 ? dark : bright));
  }
}

/* One head with 124 x uniform among 144: the others keep their colours, unless a straight scale is
 * asked for; and the caption says which. */
static void test_outlier(void **state) {
  (void)state;
  static float maps[144 * 8];
  heed_figure_desc desc = small_desc(maps);
  for (size_t i = 0; i < 144 * 8; i++) maps[i] = i % 2 ? 0.5f / 197.0f : 2.0f / 197.0f;
  maps[70 * 8] = 124.0f / 197.0f;
  desc.layers = desc.heads = 12, desc.tokens = 197;
  const double reach = log10(124.0) + 2.0, ends[] = {0.5, 2.0};
  for (int i = 0; i < 2; i++)
    assert_true(map_has(&desc, 3, color_of(HEED_COLORMAP_CIVIDIS, (log10(ends[i]) + 2.0) / reach)));
  assert_true(map_has(&desc, 70, color_of(HEED_COLORMAP_CIVIDIS, 1.0)));
  desc.scale = HEED_SCALE_UNIFORM;
  assert_true(map_has(&desc, 3, color_of(HEED_COLORMAP_CIVIDIS, 2.0 / 124.0)));
  desc.scale = HEED_SCALE_OWN;
  assert_true(map_has(&desc, 3, color_of(HEED_COLORMAP_CIVIDIS, 1.0)));
  assert_true(map_has(&desc, 3, color_of(HEED_COLORMAP_CIVIDIS, 0.25)));
}

/* Two figures with one end have one colour for one weight, and what is beyond the end has its
 * colour. */
static void test_locked_end(void **state) {
  (void)state;
  const float one[8] = {0.0f, 1.0f / 9.0f}, other[8] = {0.9f, 1.0f / 9.0f};
  const float *const rows[] = {one, other};
  for (int i = 0; i < 2; i++) {
    heed_figure_desc desc = small_desc(rows[i]);
    desc.end = 2.0;
    assert_true(map_has(&desc, 0, color_of(HEED_COLORMAP_CIVIDIS, 0.5)));
    assert_true(map_has(&desc, 0, color_of(HEED_COLORMAP_CIVIDIS, 1.0)) == (i == 1));
    figure_shapes shapes = composed(&desc);
    assert_true(!text_of(&shapes, "\xE2\x89\xA5 2") == (i == 0));
    heed_shapes_free(&shapes);
  }
}

/* Two tokens, CLS and one patch: the bar ends at 2 x uniform, all that there is. */
static void test_two_tokens(void **state) {
  (void)state;
  const float weight = 0.5f;
  heed_figure_desc desc = small_desc(&weight);
  desc.rows = desc.columns = 1, desc.tokens = 2;
  assert_true(map_has(&desc, 0, color_of(HEED_COLORMAP_CIVIDIS, 0.5)));
}

/* The words about the scale. */
static void test_scale_words(void **state) {
  (void)state;
  static const char *const words[] = {"\xC3\x97 tokens; 1 = uniform", "tokens; 1 = uniform",
                                      "in % of the query's row", "logarithmic; 1 = uniform",
                                      "its own largest weight"};
  static const char *const units[] = {"\xC3\x97 uniform", "\xC3\x97 uniform", "% of the row",
                                      "\xC3\x97 uniform, log", "of its largest"};
  for (int scale = HEED_SCALE_AUTO; scale <= HEED_SCALE_OWN; scale++) {
    heed_figure_desc desc = small_desc(eight);
    bool found = false;
    desc.scale = (heed_scale_kind)scale;
    figure_shapes shapes = composed(&desc);
    for (size_t i = 0; i < shapes.count; i++)
      found = found ||
              (shapes.shape[i].kind == FIGURE_TEXT && strstr(shapes.shape[i].text, words[scale]));
    if (!found) fail_msg("scale %d: no \"%s\" in the figure", scale, words[scale]);
    assert_non_null(text_of(&shapes, units[scale]));
    heed_shapes_free(&shapes);
  }
}

/* A note stands on the picture, shortened where it is too long for it. */
static void test_note(void **state) {
  (void)state;
  heed_figure_desc desc = small_desc(eight);
  for (int longer = 0; longer < 2; longer++) {
    desc.note = longer ? "100.0 % on a token with a name that is longer than all of the picture is "
                         "wide, and longer still than that"
                       : "98.3 % on CLS";
    figure_shapes shapes = composed(&desc);
    const figure_box in = image_of(&shapes, 0)->box;
    const figure_shape *note = NULL;
    for (size_t i = 0; i < shapes.count; i++)
      if (shapes.shape[i].kind == FIGURE_TEXT && strstr(shapes.shape[i].text, " % on "))
        note = &shapes.shape[i];
    assert_non_null(note);
    assert_int_equal(strstr(note->text, "\xE2\x80\xA6") != NULL, longer);
    assert_true(note->box.x > in.x && note->box.x + note->box.width < in.x + in.width);
    assert_true(note->box.y > in.y && note->box.y < in.y + in.height);
    heed_shapes_free(&shapes);
  }
}

static figure_box ink_of(const figure_shape *text) {
  const double back = text->anchor == FIGURE_START    ? 0.0
                      : text->anchor == FIGURE_MIDDLE ? 0.5
                                                      : 1.0;
  return (figure_box){text->box.x - back * text->box.width, text->box.y - 0.75 * text->font.size,
                      text->box.width, 0.8 * text->font.size};
}

static bool meet(figure_box a, figure_box b) {
  return a.x < b.x + b.width - 1e-6 && b.x < a.x + a.width - 1e-6 && a.y < b.y + b.height - 1e-6 &&
         b.y < a.y + a.height - 1e-6;
}

/* No text leaves the page, runs into another text or lies over a map. */
static void check_words_apart(const figure_shapes *shapes, size_t k) {
  for (size_t i = 0; i < shapes->count; i++) {
    const figure_shape *text = &shapes->shape[i];
    if (text->kind != FIGURE_TEXT) continue;
    const figure_box ink = ink_of(text);
    if (ink.x < 0.0 || ink.y < 0.0 || ink.x + ink.width > shapes->width ||
        ink.y + ink.height > shapes->height)
      fail_msg("layout %zu: \"%s\" leaves the page", k, text->text);
    if (text->font.bold) continue; /* on the picture */
    for (size_t j = 0; j < shapes->count; j++) {
      const figure_shape *other = &shapes->shape[j];
      if (i == j || other->kind == FIGURE_FILL || other->kind == FIGURE_FRAME || other->clipped)
        continue;
      if (meet(ink, other->kind == FIGURE_TEXT ? ink_of(other) : other->box))
        fail_msg("layout %zu: \"%s\" lies over %s", k, text->text,
                 other->kind == FIGURE_TEXT ? other->text : "an image");
    }
  }
}

/* Layers, heads, grids and pictures of every shape and width of the page; labels and captions too
 * long for their place. */
static void test_layouts(void **state) {
  (void)state;
  static const uint32_t sizes[][7] = {
      /* layers, heads, rows, columns, picture, millimetres */
      {1, 1, 1, 1, 1, 1, 0},         {24, 16, 14, 14, 640, 427, 0}, {12, 12, 37, 37, 1, 3000, 0},
      {12, 1, 7, 30, 3000, 1, 0},    {1, 16, 30, 7, 50, 50, 0},     {2, 2, 1, 37, 900, 31, 0},
      {3, 5, 37, 1, 31, 900, 0},     {1, 1, 64, 48, 448, 448, 0},   {12, 12, 14, 14, 640, 427, 85},
      {1, 12, 14, 14, 427, 640, 60}, {1, 1, 14, 14, 300, 200, 85},  {5, 4, 14, 14, 224, 224, 180},
      {1, 4, 14, 14, 224, 224, 1000}};
  const char *labels[16];
  for (int i = 0; i < 16; i++)
    labels[i] = i % 2 ? NULL : "a label that is far too long for the map below it";
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const uint32_t *s = sizes[k], patches = s[2] * s[3];
    float *maps = calloc((size_t)s[0] * s[1] * patches, sizeof *maps), mass[24 * 16] = {0};
    uint8_t *photo = calloc((size_t)s[4] * s[5], 1);
    const uint32_t numbers[24] = {4000000};
    heed_figure_desc desc = small_desc(maps);
    maps[0] = 0.5f;
    desc.layers = s[0], desc.heads = s[1], desc.rows = s[2], desc.columns = s[3],
    desc.tokens = patches + 5, desc.prefix_mass = mass, desc.width_mm = s[6];
    desc.image = (heed_image){photo, s[4], s[5], 1, s[4]};
    desc.region = (heed_region){-3.0, 0.25 * s[5], 2.0 * s[4], 0.5 * s[5]};
    desc.query_row = (int32_t)s[2] - 1, desc.query_column = (int32_t)s[3] - 1;
    desc.column_labels = labels, desc.layer_numbers = numbers;
    desc.title = "a title that takes more than one line of the column below the picture";
    desc.caption = "\n\n a  line with spaces "
                   "\nandonewordthatislongerthanthewholefigureiswideandonewordthatislongerthanthewh"
                   "olefigureiswideandone"
                   "wordthatislongerthanthewholefigureiswideandonewordthatislongerthanthewholefigur"
                   "eiswide\n\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n\x1b[31m\xFF";
    figure_shapes shapes = composed(&desc);
    const double wanted = s[6] ? s[6] / 25.4 * 96.0 : 800.0;
    if (!(shapes.width >= wanted - 1e-9 && shapes.width <= fmax(wanted, 1000.0) &&
          shapes.height >= 150.0 && shapes.height <= 2400.0))
      fail_msg("layout %zu: %g x %g", k, shapes.width, shapes.height);
    check_words_apart(&shapes, k);
    heed_shapes_free(&shapes);
    free(maps);
    free(photo);
  }
}

/* Panels alone: no word, bar or frame; the picture as high as the maps, and all as wide as the
 * page; the mark stays. */
static void test_plain(void **state) {
  (void)state;
  static const uint32_t sizes[][6] = {/* layers, heads, rows, columns, picture */
                                      {1, 1, 14, 14, 640, 427},  {12, 12, 14, 14, 640, 427},
                                      {1, 12, 16, 16, 300, 900}, {5, 4, 7, 20, 224, 224},
                                      {2, 3, 14, 14, 3000, 30},  {12, 12, 37, 37, 64, 64}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const uint32_t *s = sizes[k], patches = s[2] * s[3], count = s[0] * s[1];
    float *maps = calloc((size_t)count * patches, sizeof *maps), mass[144] = {0};
    uint8_t *photo = calloc((size_t)s[4] * s[5], 1);
    heed_figure_desc desc = small_desc(maps);
    maps[0] = 0.5f;
    desc.layers = s[0], desc.heads = s[1], desc.rows = s[2], desc.columns = s[3];
    desc.tokens = patches + 1, desc.prefix_mass = mass, desc.plain = true, desc.width_mm = 180.0;
    desc.image = (heed_image){photo, s[4], s[5], 1, s[4]};
    desc.region = (heed_region){0.0, 0.0, s[4], s[5]};
    desc.query_row = 1, desc.query_column = 2;
    desc.title = "a title", desc.note = "a note", desc.caption = "a caption";
    figure_shapes shapes = composed(&desc);
    uint32_t images = 0;
    double right = 0.0, low = 0.0;
    for (size_t i = 0; i < shapes.count; i++) {
      const figure_shape *shape = &shapes.shape[i];
      assert_int_not_equal(shape->kind, FIGURE_TEXT);
      if (shape->kind != FIGURE_IMAGE) continue;
      images++;
      right = fmax(right, shape->box.x + shape->box.width);
      low = fmax(low, shape->box.y + shape->box.height);
      assert_true(shape->box.x >= 0.0 && shape->box.y >= 0.0);
    }
    assert_int_equal(images, 2 + count); /* the picture, the map over it, the maps */
    assert_true(fabs(right - shapes.width) < 1e-6 && fabs(low - shapes.height) < 1e-6);
    if (k < 4) {
      const double wanted = 180.0 / 25.4 * 96.0, high = image_of(&shapes, 0)->box.height;
      if (shapes.width > wanted + 1e-6 || shapes.width < 0.9 * wanted || high > low + 1e-6 ||
          high < low - 1.0)
        fail_msg("plain layout %zu: %g wide, picture %g of %g", k, shapes.width, high, low);
    }
    assert_true(shapes.width <= 1000.0);
    heed_shapes_free(&shapes);
    free(maps);
    free(photo);
  }
}

/* A picture is averaged, not skipped through: each pixel counts as much as it covers. */
static void test_sample(void **state) {
  (void)state;
  const uint8_t six[6] = {0, 30, 60, 90, 120, 150};
  uint8_t rgba[4 * 4],
      photo[2 * 2 * 4] = {10, 20, 30, 0, 40, 50, 60, 0, 70, 80, 90, 0, 100, 110, 120, 0};
  heed_figure_sample(&(heed_image){six, 6, 1, 1, 6}, 1, 4, rgba);
  assert_int_equal(rgba[0], 10); /* (0 + 30 / 2) / 1.5 */
  assert_int_equal(rgba[4], 50); /* (30 / 2 + 60) / 1.5 */
  assert_int_equal(rgba[12], 140);
  heed_figure_sample(&(heed_image){photo, 2, 2, 4, 8}, 1, 1, rgba);
  assert_true(rgba[0] == 55 && rgba[1] == 65 && rgba[2] == 75 && rgba[3] == 255);
  heed_figure_sample(&(heed_image){photo, 2, 2, 4, 8}, 1, 4, rgba);
  assert_true(rgba[0] == 40 && rgba[4] == 40 && rgba[8] == 70 && rgba[12] == 70);
}

/* Colours of patches as they are: no scale, and the picture is left as it is. */
static void test_rgb(void **state) {
  (void)state;
  const float rgb[8 * 3] = {0.0f,        0.5f, 1.0f, /* */ 0.2f, 0.4f, 0.6f,
                            /* */ -1.0f, 2.0f, 0.0f, 0.25f,      NAN,  0.0f};
  static const uint32_t expected[4] = {0x0080FF, 0x336699, 0x00FF00, 0x808080};
  heed_figure_desc desc = small_desc(NULL);
  desc.rgb = rgb, desc.title = "colours", desc.caption = "of patches";
  figure_shapes shapes = composed(&desc);
  const figure_shape *colours = image_of(&shapes, 1);
  assert_true(colours->rows == 2 && colours->columns == 4 && !colours->clipped);
  for (uint32_t i = 0; i < 8; i++)
    assert_int_equal(pixel_color(colours, i), i < 4 ? expected[i] : 0);
  uint32_t images = 0;
  for (size_t i = 0; i < shapes.count; i++) images += shapes.shape[i].kind == FIGURE_IMAGE;
  assert_int_equal(images, 2);
  assert_non_null(text_of(&shapes, "of patches"));
  assert_string_equal(shapes.scale, "");
  const double height = shapes.height;
  heed_shapes_free(&shapes);
  desc.rgb = NULL, desc.maps = eight; /* with bars it is higher */
  shapes = composed(&desc);
  assert_true(shapes.height > height);
  heed_shapes_free(&shapes);
}

static void test_refused(void **state) {
  (void)state;
  figure_shapes shapes;
  const heed_figure_desc good = small_desc(eight);
  heed_figure_desc desc = good;
#define REFUSED(part)                                                             \
  assert_fails(heed_figure_compose(context, &desc, &ruler, 2.0, &shapes, &error), \
               HEED_INVALID_ARGUMENT, part)
  desc = good, desc.heads = 0;
  REFUSED("found 1 layers, 0 heads");
  desc = good, desc.rows = 5000;
  REFUSED("5000 x 4 patches");
  desc = good, desc.tokens = 7;
  REFUSED("found 7 tokens, expected maps or rgb, and at least 8");
  desc = good, desc.maps = NULL;
  REFUSED("maps or tokens");
  desc = good, desc.rgb = eight; /* and maps */
  REFUSED("maps or tokens");
  desc = good, desc.query_row = 2;
  REFUSED("query patch out of range (found 2, -1");
  desc = good, desc.scale = (heed_scale_kind)5;
  REFUSED("unknown scale (found 5, expected 0 to 4");
  desc = good, desc.end = 0.5;
  REFUSED("end of the scale out of range (found 0.5, expected 1 to 9 times uniform)");
  desc = good, desc.end = 9.5;
  REFUSED("end of the scale out of range");
  desc = good, desc.end = (double)NAN;
  REFUSED("end of the scale out of range");
  desc = good, desc.end = 4.0, desc.scale = HEED_SCALE_OWN;
  REFUSED("no common end (found 4)");
  desc = good, desc.region.width = 0.0;
  REFUSED("region out of range (found 0 x 40");
  desc = good, desc.region.x = (double)NAN;
  REFUSED("region out of range");
  desc = good, desc.image.channels = 2;
  REFUSED("invalid image");
  desc = good, desc.image.stride = 299;
  REFUSED("invalid image");
  desc = good, desc.width_mm = 59.0;
  REFUSED("width out of range (found 59 mm, expected 60 to 1000)");
  desc = good, desc.width_mm = (double)NAN;
  REFUSED("width out of range");
  desc = good, desc.layers = 4097;
  REFUSED("sizes out of range (found 4097 layers");
  desc = good, desc.heads = 4097;
  REFUSED("sizes out of range");
  desc = good, desc.rows = 4097;
  REFUSED("sizes out of range");
  desc = good, desc.columns = 4097;
  REFUSED("sizes out of range");
  /* 4,096 of each are not too many, but refused by their size before a map is read */
  desc = good, desc.layers = desc.heads = 4096;
  desc.rows = desc.columns = 4096, desc.tokens = 4096 * 4096;
  REFUSED("too large to draw");
  assert_null(shapes.shape);
}

/* A figure of this width in units, whose height is 457, 18 for each line of its title and 15 for
 * each of its caption. */
static heed_status tall(double width, uint32_t titles, uint32_t lines, figure_shapes *shapes) {
  heed_figure_desc desc = small_desc(eight);
  char title[1024] = "", caption[8] = "";
  memset(title, '\n', titles);
  memset(caption, '\n', lines);
  desc.title = title;
  desc.caption = caption;
  desc.width_mm = width / 96.0 * 25.4;
  return heed_figure_compose(context, &desc, &ruler, 2.0, shapes, &error);
}

/* Sides of 16,000 units, and 30,000,000 in all: both at once, and one more of each. */
static void test_largest(void **state) {
  (void)state;
  figure_shapes shapes;
  assert_ok(tall(1875.0, 861, 3, &shapes));
  assert_true(shapes.width == 1875.0 && shapes.height == 16000.0);
  heed_shapes_free(&shapes);
  assert_fails(tall(1876.0, 861, 3, &shapes), HEED_INVALID_ARGUMENT,
               "found 1876 x 16000 units, expected at most 16000 a side and 30000000 in all");
  assert_fails(tall(1500.0, 862, 2, &shapes), HEED_INVALID_ARGUMENT, "found 1500 x 16003 units");
}

static void test_out_of_memory(void **state) {
  (void)state;
  const heed_figure_desc desc = small_desc(eight);
  size_t n = 1;
  for (bool reached = true; reached; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc counting = test_context_desc(&allocator);
    heed_context *counted;
    figure_shapes shapes;
    assert_ok(heed_context_create(&counting, &counted, &error));
    allocator.fail_at = allocator.total + n;
    const heed_status status = heed_figure_compose(counted, &desc, &ruler, 2.0, &shapes, &error);
    reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    heed_shapes_free(&shapes);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
  }
  assert_true(n > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_colormap_values), cmocka_unit_test(test_colormap_lightness),
      cmocka_unit_test(test_numbers),         cmocka_unit_test(test_lines),
      cmocka_unit_test(test_overlay),         cmocka_unit_test(test_pale),
      cmocka_unit_test(test_query),           cmocka_unit_test(test_grid),
      cmocka_unit_test(test_prefix_mass),     cmocka_unit_test(test_odd_weights),
      cmocka_unit_test(test_small_weights),   cmocka_unit_test(test_outlier),
      cmocka_unit_test(test_locked_end),      cmocka_unit_test(test_two_tokens),
      cmocka_unit_test(test_scale_words),     cmocka_unit_test(test_note),
      cmocka_unit_test(test_layouts),         cmocka_unit_test(test_plain),
      cmocka_unit_test(test_sample),          cmocka_unit_test(test_rgb),
      cmocka_unit_test(test_refused),         cmocka_unit_test(test_largest),
      cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
