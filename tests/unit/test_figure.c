/* Colour maps, text and figures: what is drawn where, in which colour. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/text.h"
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
    assert_int_equal(color_of((heed_colormap)map, INFINITY), color_of((heed_colormap)map, 1.0));
    assert_int_equal(color_of((heed_colormap)map, NAN), 0x808080);
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
  assert_string_equal(heed_text_number(NAN, 2, text), "nan");
}

static void test_text(void **state) {
  (void)state;
  uint8_t pixels[12 * 20 * 3] = {0};
  heed_canvas canvas = {pixels, 20, 12};
  assert_int_equal(heed_text_count("a\xC3\xA4z", SIZE_MAX), 3);
  assert_int_equal(heed_text_width("head 0", SIZE_MAX, 2), 70);
  assert_int_equal(heed_text_width("", SIZE_MAX, 2), 0);
  heed_text_draw(&canvas, 1, 2, "T", SIZE_MAX, 1, 0xFFFFFF);
  /* its bar */
  for (int x = 0; x < 20; x++)
    assert_int_equal(pixels[(2 * 20 + x) * 3], x >= 1 && x < 6 ? 255 : 0);
  /* its stem */
  for (int y = 3; y < 9; y++) assert_int_equal(pixels[(y * 20 + 3) * 3], 255);
  /* Clipped on every side; each printable character leaves ink. */
  for (int c = '!'; c <= '~'; c++) {
    const char one[2] = {(char)c, 0};
    memset(pixels, 0, sizeof pixels);
    heed_text_draw(&canvas, 2, 1, one, SIZE_MAX, 1, 0xFFFFFF);
    int ink = 0;
    for (size_t i = 0; i < sizeof pixels; i += 3) ink += pixels[i] != 0;
    if (ink < 3) fail_msg("character %c has %d pixels", c, ink);
    heed_text_draw(&canvas, -3, -4, one, SIZE_MAX, 3, 0xFFFFFF);
    heed_text_draw(&canvas, 17, 9, one, SIZE_MAX, 3, 0xFFFFFF);
  }
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

static uint32_t pixel_at(const heed_figure *figure, uint32_t x, uint32_t y) {
  assert_true(x < figure->width && y < figure->height);
  const uint8_t *pixel = figure->pixels + ((size_t)y * figure->width + x) * 3;
  return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* A colour mixed with black as the overlay is. */
static uint32_t over_black(uint32_t color) {
  uint32_t mixed = 0;
  for (int shift = 16; shift >= 0; shift -= 8)
    mixed |= (uint32_t)((color >> shift & 0xFF) * 0.55 + 0.5) << shift;
  return mixed;
}

/* Each patch lies where the model saw it, to the pixel: the picture is drawn at (16, 16), 448
 * pixels high. */
static void test_overlay(void **state) {
  (void)state;
  heed_figure figure;
  heed_figure_desc desc = small_desc(eight);
  desc.query_row = 1, desc.query_column = 2;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  for (uint32_t i = 0; i < 8; i++) {
    const double x = 10.0 + 80.0 * (i % 4 + 0.5) / 4, y = 20.0 + 40.0 * (i / 4 + 0.5) / 2;
    assert_int_equal(
        pixel_at(&figure, 16 + (uint32_t)(x * 4.48), 16 + (uint32_t)(y * 4.48)),
        over_black(color_of(HEED_COLORMAP_CIVIDIS,
                            (double)eight[i] * 9 / 4))); /* the bar ends at 4 x uniform */
  }
  /* Left edge of the region: 10 * 4.48 = 44.8, so the pixel centres from 45 on are inside. Right:
   * 90 * 4.48 = 403.2. */
  const uint32_t y = 16 + (uint32_t)(30 * 4.48), pale = 0x808080;
  assert_int_equal(pixel_at(&figure, 16 + 44, y), pale);
  assert_int_equal(pixel_at(&figure, 16 + 45, y), over_black(color_of(HEED_COLORMAP_CIVIDIS, 0.0)));
  assert_int_equal(pixel_at(&figure, 16 + 402, y),
                   over_black(color_of(HEED_COLORMAP_CIVIDIS, 0.05 * 9 / 4)));
  assert_int_equal(pixel_at(&figure, 16 + 403, y), pale);
  /* The query patch is x 50..70, y 40..60 of the picture: white, then black around its outside. */
  const uint32_t left = 16 + 224, middle = 16 + 224;
  assert_int_equal(pixel_at(&figure, left - 1, middle), 0xFFFFFF);
  assert_int_equal(pixel_at(&figure, left - 2, middle), 0xFFFFFF);
  assert_int_equal(pixel_at(&figure, left - 3, middle), 0x000000);
  assert_int_equal(pixel_at(&figure, left, middle),
                   over_black(color_of(HEED_COLORMAP_CIVIDIS, 0.2 * 9 / 4)));
  heed_figure_free(context, &figure);
}

/* The square of a colour that is at least 20 pixels wide (no bar is): its upper left corner and
 * side. */
static void find_square(const heed_figure *figure, uint32_t color, uint32_t from_x, uint32_t *x,
                        uint32_t *y, uint32_t *side) {
  for (*y = 0; *y < figure->height; ++*y)
    for (*x = from_x; *x < figure->width; ++*x) {
      for (*side = 0; *x + *side < figure->width && pixel_at(figure, *x + *side, *y) == color;
           ++*side) {
      }
      if (*side >= 20) return;
    }
  fail_msg("no square of colour %06X", color);
}

/* Every patch of every map is a square in the colour of weight * tokens over the end of the bar,
 * here the least, in reading order. */
static void test_grid(void **state) {
  (void)state;
  float maps[2 * 3 * 4];
  heed_figure figure;
  heed_figure_desc desc = small_desc(maps);
  desc.layers = 2, desc.heads = 3, desc.rows = desc.columns = 2, desc.tokens = 5,
  desc.colormap = HEED_COLORMAP_MAGMA;
  for (int i = 0; i < 24; i++) maps[i] = (float)(i * 10 + 20) / 500.0f; /* colours all apart */
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  uint32_t x[24], y[24], side[24];
  for (int i = 0; i < 24; i++)
    find_square(&figure, color_of(HEED_COLORMAP_MAGMA, (double)maps[i] * 5 / 4), 16 + 448 + 16,
                &x[i], &y[i], &side[i]);
  for (int i = 0; i < 24; i++) {
    const int map = i / 4, row = i / 2 % 2, column = i % 2;
    assert_int_equal(side[i], side[0]);
    assert_int_equal(x[i], x[4 * map] + (uint32_t)column * side[0]);
    assert_int_equal(y[i], y[4 * map] + (uint32_t)row * side[0]);
    assert_int_equal(pixel_at(&figure, x[i] + side[i] - 1, y[i] + side[i] - 1),
                     pixel_at(&figure, x[i], y[i]));
    assert_int_equal(y[4 * map], y[map < 3 ? 0 : 12]);                     /* a row is a layer */
    assert_int_equal(x[4 * map], x[4 * (map % 3)]);                        /* a column is a head */
    if (map % 3) assert_true(x[4 * map] > x[4 * (map - 1) + 1] + side[0]); /* apart */
  }
  assert_true(y[12] > y[2] + side[0]);
  heed_figure_free(context, &figure);
}

static uint64_t hash_of(const heed_figure *figure) { /* FNV-1a */
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < (size_t)figure->width * figure->height * 3; i++)
    hash = (hash ^ figure->pixels[i]) * 0x100000001B3u;
  return hash;
}

/* The same bits from every compiler and level of optimisation. A change of the look changes the
 * number. */
static void test_same_bits(void **state) {
  (void)state;
  static uint8_t photo[90 * 61 * 3];
  float maps[12 * 12], mass[12];
  test_random random = {3};
  for (size_t i = 0; i < sizeof photo; i++) photo[i] = (uint8_t)test_random_below(&random, 256);
  for (int i = 0; i < 144; i++) maps[i] = test_random_uniform(&random, 0.0f, 0.1f);
  for (int i = 0; i < 12; i++) mass[i] = test_random_uniform(&random, 0.0f, 1.0f);
  heed_figure_desc desc = small_desc(maps);
  desc.image = (heed_image){photo, 90, 61, 3, 270};
  desc.layers = 4, desc.heads = 3, desc.rows = 3, desc.columns = 4, desc.tokens = 13,
  desc.prefix_mass = mass, desc.query_row = 0, desc.query_column = 3;
  desc.caption = "Every number as drawn: 0123456789.\nSecond line, with a word that is not ASCII: "
                 "na\xC3\xAFve.";
  for (int again = 0; again < 2; again++) {
    heed_figure figure;
    assert_ok(heed_figure_draw(context, &desc, &figure, &error));
    if (hash_of(&figure) != UINT64_C(0x002F02CE3BF16D12))
      fail_msg("the figure's hash is 0x%016llX", (unsigned long long)hash_of(&figure));
    heed_figure_free(context, &figure);
  }
}

/* Weights that are zero everywhere, NaN or infinite are drawn, not divided by. */
static void test_odd_weights(void **state) {
  (void)state;
  float maps[8] = {0};
  heed_figure figure;
  const heed_figure_desc desc = small_desc(maps);
  uint32_t x, y, side;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  find_square(&figure, color_of(HEED_COLORMAP_CIVIDIS, 0.0), 480, &x, &y, &side);
  heed_figure_free(context, &figure);
  maps[0] = NAN, maps[1] = INFINITY, maps[2] = -1.0f, maps[3] = 0.5f;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  find_square(&figure, 0x808080, 480, &x, &y, &side);
  find_square(&figure, color_of(HEED_COLORMAP_CIVIDIS, 1.0), 480, &x, &y, &side);
  heed_figure_free(context, &figure);
}

/* The share of a figure's pixels right of the picture and left of its bar that have this colour. */
static double share_of(const heed_figure *figure, uint32_t color) {
  size_t count = 0;
  for (uint32_t y = 0; y < figure->height; y++)
    for (uint32_t x = 480; x < figure->width - 200; x++) count += pixel_at(figure, x, y) == color;
  return (double)count / ((double)figure->height * (figure->width - 680));
}

/* Rows that one token takes all of: nothing shines that has next to nothing, and a bar of its own
 * is there for who asks for it. */
static void test_small_weights(void **state) {
  (void)state;
  /* all on CLS, hidden, denormals */
  const float rows[][8] = {{3e-7f, 2e-7f}, {0}, {1e-40f, 1e-41f}};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    heed_figure figure;
    heed_figure_desc desc = small_desc(rows[k]);
    uint32_t x, y, side;
    for (int scale = HEED_SCALE_AUTO; scale <= HEED_SCALE_LOG; scale++) {
      desc.scale = (heed_scale_kind)scale;
      assert_ok(heed_figure_draw(context, &desc, &figure, &error));
      assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 0.0)) > 0.2);
      assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 1.0)) == 0.0);
      heed_figure_free(context, &figure);
    }
    desc.scale = HEED_SCALE_OWN;
    assert_ok(heed_figure_draw(context, &desc, &figure, &error));
    find_square(&figure, color_of(HEED_COLORMAP_CIVIDIS, k == 1 ? 0.0 : 1.0), 480, &x, &y, &side);
    heed_figure_free(context, &figure);
  }
}

/* One head with 124 x uniform among 144: the others keep their colours, unless a straight scale is
 * asked for. */
static void test_outlier(void **state) {
  (void)state;
  static float maps[144 * 8];
  heed_figure figure;
  heed_figure_desc desc = small_desc(maps);
  for (size_t i = 0; i < 144 * 8; i++) maps[i] = i % 2 ? 0.5f / 197.0f : 2.0f / 197.0f;
  maps[70 * 8] = 124.0f / 197.0f;
  desc.layers = desc.heads = 12, desc.tokens = 197;
  const double reach = log10(124.0) + 2.0, ends[] = {0.5, 2.0, 124.0};
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  for (int i = 0; i < 2; i++) {
    const uint32_t color = color_of(HEED_COLORMAP_CIVIDIS, (log10(ends[i]) + 2.0) / reach);
    if (!(share_of(&figure, color) > 0.1))
      fail_msg("%g x uniform has %g of the grid", ends[i], share_of(&figure, color));
  }
  assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 1.0)) > 0.0);
  heed_figure_free(context, &figure);
  desc.scale = HEED_SCALE_UNIFORM;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 2.0 / 124.0)) > 0.1);
  heed_figure_free(context, &figure);
  desc.scale = HEED_SCALE_OWN;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 1.0)) > 0.1);
  assert_true(share_of(&figure, color_of(HEED_COLORMAP_CIVIDIS, 0.25)) > 0.1);
  heed_figure_free(context, &figure);
}

/* Two tokens, CLS and one patch: the bar ends at 2 x uniform, all that there is. */
static void test_two_tokens(void **state) {
  (void)state;
  const float weight = 0.5f;
  heed_figure figure;
  heed_figure_desc desc = small_desc(&weight);
  uint32_t x, y, side;
  desc.rows = desc.columns = 1, desc.tokens = 2;
  assert_ok(heed_figure_draw(context, &desc, &figure, &error));
  find_square(&figure, color_of(HEED_COLORMAP_CIVIDIS, 0.5), 480, &x, &y, &side);
  heed_figure_free(context, &figure);
}

/* Words stand on the picture, in white on black; a note that is too long for it is cut at its
 * edge. */
static void test_note(void **state) {
  (void)state;
  heed_figure with, without;
  heed_figure_desc desc = small_desc(eight);
  desc.note = "";
  assert_ok(heed_figure_draw(context, &desc, &without, &error));
  for (int longer = 0; longer < 2; longer++) {
    desc.note = longer ? "100.0 % on a token with a name that is longer than all of the picture is "
                         "wide, and longer still than that, even small"
                       : "98.3 % on CLS";
    assert_ok(heed_figure_draw(context, &desc, &with, &error));
    assert_int_equal(with.width, without.width);
    int white = 0, ground = 0;
    for (uint32_t y = 16; y < 16 + 448; y++)
      for (uint32_t x = 0; x < 480; x++) {
        const bool same = pixel_at(&with, x, y) == pixel_at(&without, x, y),
                   on_picture = x >= 16 && x < 16 + 448;
        if (!same && !on_picture) fail_msg("the note leaves the picture at %u, %u", x, y);
        white += !same && pixel_at(&with, x, y) == 0xFFFFFF;
        ground += !same && pixel_at(&with, x, y) == 0x101010;
      }
    assert_true(white > 100 && ground > 2 * white);
    heed_figure_free(context, &with);
  }
  heed_figure_free(context, &without);
}

/* Layers, heads, grids and pictures of every shape; labels and captions too long for their
 * place. */
static void test_layouts(void **state) {
  (void)state;
  static const uint32_t sizes[][6] = {/* layers, heads, rows, columns, picture */
                                      {1, 1, 1, 1, 1, 1},        {24, 16, 14, 14, 640, 427},
                                      {12, 12, 37, 37, 1, 3000}, {12, 1, 7, 30, 3000, 1},
                                      {1, 16, 30, 7, 50, 50},    {2, 2, 1, 37, 900, 31},
                                      {3, 5, 37, 1, 31, 900},    {1, 1, 64, 48, 448, 448}};
  const char *labels[16];
  for (int i = 0; i < 16; i++)
    labels[i] = i % 2 ? NULL : "a label that is far too long for the map below it";
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const uint32_t *s = sizes[k], patches = s[2] * s[3];
    float *maps = calloc((size_t)s[0] * s[1] * patches, sizeof *maps), mass[24 * 16] = {0};
    uint8_t *photo = calloc((size_t)s[4] * s[5], 1);
    const uint32_t numbers[24] = {4294967295u};
    heed_figure figure;
    heed_figure_desc desc = small_desc(maps);
    maps[0] = 0.5f;
    desc.layers = s[0], desc.heads = s[1], desc.rows = s[2], desc.columns = s[3],
    desc.tokens = patches + 5, desc.prefix_mass = mass;
    desc.image = (heed_image){photo, s[4], s[5], 1, s[4]};
    desc.region = (heed_region){-3.0, 0.25 * s[5], 2.0 * s[4], 0.5 * s[5]};
    desc.query_row = (int32_t)s[2] - 1, desc.query_column = (int32_t)s[3] - 1;
    desc.column_labels = labels, desc.layer_numbers = numbers;
    desc.caption = "\n\n a  line with spaces "
                   "\nandonewordthatislongerthanthewholefigureiswideandonewordthatislongerthanthewh"
                   "olefigureiswideandone"
                   "wordthatislongerthanthewholefigureiswideandonewordthatislongerthanthewholefigur"
                   "eiswide\n\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\n";
    assert_ok(heed_figure_draw(context, &desc, &figure, &error));
    assert_true(figure.width >= 500 && figure.width <= 2400 && figure.height >= 300 &&
                figure.height <= 2400);
    heed_figure_free(context, &figure);
    free(maps);
    free(photo);
  }
}

static void test_refused(void **state) {
  (void)state;
  heed_figure figure;
  const heed_figure_desc good = small_desc(eight);
  heed_figure_desc desc = good;
  desc.struct_size = 1;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "figure: struct_size");
  desc = good, desc.heads = 0;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "found 1 layers, 0 heads");
  desc = good, desc.rows = 5000;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "5000 x 4 patches");
  desc = good, desc.tokens = 7;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "found 7 tokens, expected maps and at least 8");
  desc = good, desc.maps = NULL;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "maps or tokens");
  desc = good, desc.query_row = 2;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "query patch is off (found 2, -1");
  desc = good, desc.scale = (heed_scale_kind)5;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "scale is off (found 5, expected 0 to 4");
  desc = good, desc.region.width = 0.0;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "region is off (found 0 x 40");
  desc = good, desc.region.x = NAN;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "region is off");
  desc = good, desc.image.channels = 2;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "the picture is off");
  desc = good, desc.image.stride = 299;
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "the picture is off");
  desc = good, desc.layers = desc.heads = 4096; /* refused by its size before a map is read */
  assert_fails(heed_figure_draw(context, &desc, &figure, &error), HEED_INVALID_ARGUMENT,
               "too large to draw");
  assert_null(figure.pixels);
}

static void test_out_of_memory(void **state) {
  (void)state;
  const heed_figure_desc desc = small_desc(eight);
  size_t n = 1;
  for (bool reached = true; reached; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc counting = test_context_desc(&allocator);
    heed_context *counted;
    heed_figure figure;
    assert_ok(heed_context_create(&counting, &counted, &error));
    allocator.fail_at = allocator.total + n;
    const heed_status status = heed_figure_draw(counted, &desc, &figure, &error);
    reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    heed_figure_free(counted, &figure);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
  }
  assert_true(n > 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_colormap_values), cmocka_unit_test(test_colormap_lightness),
      cmocka_unit_test(test_numbers),         cmocka_unit_test(test_text),
      cmocka_unit_test(test_overlay),         cmocka_unit_test(test_grid),
      cmocka_unit_test(test_same_bits),       cmocka_unit_test(test_odd_weights),
      cmocka_unit_test(test_small_weights),   cmocka_unit_test(test_outlier),
      cmocka_unit_test(test_two_tokens),      cmocka_unit_test(test_note),
      cmocka_unit_test(test_layouts),         cmocka_unit_test(test_refused),
      cmocka_unit_test(test_out_of_memory)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
