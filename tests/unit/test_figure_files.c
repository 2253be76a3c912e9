/* Figures as files: the pixels of a PNG that matter, the text of SVG and PDF, metadata, and that
 * equal figures are equal files. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figure/compose.h"
#include "heed/native.h"
#include "support/test_context.h"

static char folder[64];

static int make_folder(void **state) {
  strcpy(folder, "/tmp/heed_test_figure_XXXXXX");
  return make_context(state) == 0 && mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state) {
  drop_context(state);
  return rmdir(folder); /* fails where a temporary file is left */
}

static const char *in_folder(const char *name) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

/* A picture of one colour, 64 x 64, in 2 x 2 patches: weight 0, a half of the scale, all of it and
 * beyond. */
static uint8_t orange[64 * 64 * 3];
static const float maps[2][4] = {{0.0f, 2.0f / 5.0f, 4.0f / 5.0f, 0.0f},
                                 {0.0f, 2.0f / 5.0f, 4.0f / 5.0f, 0.0f}};

static heed_figure_desc orange_desc(void) {
  heed_figure_desc desc = {.struct_size = sizeof desc,
                           .region = {0, 0, 64, 64},
                           .maps = maps[0],
                           .layers = 1,
                           .heads = 1,
                           .rows = 2,
                           .columns = 2,
                           .tokens = 5,
                           .query_row = 1,
                           .query_column = 1,
                           .caption = "a caption",
                           .title = "a <title> & more",
                           .provenance = "where it comes from"};
  for (size_t i = 0; i < sizeof orange; i += 3)
    orange[i] = 240, orange[i + 1] = 140, orange[i + 2] = 20;
  desc.image = (heed_image){orange, 64, 64, 3, 192};
  return desc;
}

/* Writes a figure and reads the file, which is removed; the caller frees. */
static unsigned char *written(const heed_figure_desc *desc, const char *name, size_t *size) {
  assert_ok(heed_figure_write(context, desc, in_folder(name), &error));
  unsigned char *bytes = test_read_file(in_folder(name), size);
  assert_int_equal(remove(in_folder(name)), 0);
  return bytes;
}

static bool holds(const unsigned char *bytes, size_t size, const char *part, size_t length) {
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(bytes + i, part, length) == 0) return true;
  return false;
}
#define HOLDS(part) holds(bytes, size, "" part, sizeof(part) - 1)

static void needs_cairo(void) {
  if (HEED_HAS_CAIRO) return;
  print_message("skipped: heed was configured without cairo\n");
  skip();
}

/* ------------------------------------------------------------------------------------ pixels */

static uint32_t pixel_at(const heed_picture *picture, double x, double y) {
  const uint32_t column = (uint32_t)(2.0 * x), row = (uint32_t)(2.0 * y); /* 2 pixels per unit */
  assert_true(column < picture->width && row < picture->height);
  const uint8_t *pixel = picture->pixels + ((size_t)row * picture->width + column) * 3;
  return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

static void check_color(uint32_t found, uint32_t expected) {
  for (int shift = 16; shift >= 0; shift -= 8)
    if (abs((int)(found >> shift & 0xFF) - (int)(expected >> shift & 0xFF)) > 1)
      fail_msg("found #%06x, expected #%06x", found, expected);
}

/* The colour of the picture under a map of this share of the scale. */
static uint32_t covered(double t) {
  const double picture[3] = {240, 140, 20}, opacity = 0.8 * t;
  uint8_t over[3];
  uint32_t color = 0;
  heed_colormap_rgb(HEED_COLORMAP_CIVIDIS, t, over);
  for (int c = 0; c < 3; c++)
    color = color << 8 | (uint32_t)(picture[c] * (1.0 - opacity) + over[c] * opacity + 0.5);
  return color;
}

static double no_width(void *user, const char *text, const figure_font *font) {
  (void)user;
  (void)text;
  return font->size;
}

/* Where the picture lies on the page: with one map that does not depend on the font. */
static figure_box picture_box(const heed_figure_desc *desc) {
  const figure_ruler ruler = {no_width, NULL};
  figure_layout layout;
  heed_figure_lay_out(desc, &(figure_texts){desc->title, desc->caption}, &ruler, &layout);
  return layout.picture;
}

/* No weight shows the picture's own colours, the whole covers them most. */
static void test_map_on_picture(void **state) {
  (void)state;
  needs_cairo();
  const heed_figure_desc desc = orange_desc();
  const figure_box in = picture_box(&desc);
  heed_picture picture;
  assert_ok(heed_figure_write(context, &desc, in_folder("map.png"), &error));
  assert_ok(heed_image_load(context, in_folder("map.png"), &picture, &error));
  assert_int_equal(remove(in_folder("map.png")), 0);
  assert_int_equal(picture.width, 1600);
  check_color(pixel_at(&picture, in.x + 0.25 * in.width, in.y + 0.25 * in.height), 0xf08c14);
  check_color(pixel_at(&picture, in.x + 0.75 * in.width, in.y + 0.25 * in.height), covered(0.5));
  check_color(pixel_at(&picture, in.x + 0.25 * in.width, in.y + 0.70 * in.height), covered(1.0));
  /* whole pixels: a patch begins where the one before it ends */
  check_color(pixel_at(&picture, in.x + 0.5 * in.width - 0.6, in.y + 0.1 * in.height), 0xf08c14);
  check_color(pixel_at(&picture, in.x + 0.5 * in.width + 0.6, in.y + 0.1 * in.height),
              covered(0.5));
  /* the query's mark, around the lower right patch: white on dark */
  check_color(pixel_at(&picture, in.x + 0.5 * in.width - 1.0, in.y + 0.9 * in.height), 0xffffff);
  check_color(pixel_at(&picture, in.x + 0.5 * in.width - 2.4, in.y + 0.9 * in.height), 0x0e1420);
  check_color(pixel_at(&picture, 4.0, 4.0), 0xffffff);
  heed_picture_free(context, &picture);
}

/* Ink in the place of the text, on a machine without fonts too: cairo has one of its own. */
static void test_text_is_drawn(void **state) {
  (void)state;
  needs_cairo();
  const heed_figure_desc desc = orange_desc();
  const figure_box in = picture_box(&desc);
  heed_picture picture;
  int ink = 0;
  assert_ok(heed_figure_write(context, &desc, in_folder("text.png"), &error));
  assert_ok(heed_image_load(context, in_folder("text.png"), &picture, &error));
  assert_int_equal(remove(in_folder("text.png")), 0);
  for (double x = in.x; x < in.x + 150.0; x += 0.5)
    for (double y = in.y - 14.0; y < in.y - 1.0; y += 0.5)
      ink += pixel_at(&picture, x, y) != 0xffffff;
  assert_true(ink > 300);
  heed_picture_free(context, &picture);
}

/* ------------------------------------------------------------------------------------ formats */

static void test_png_metadata(void **state) {
  (void)state;
  needs_cairo();
  heed_figure_desc desc = orange_desc();
  size_t size;
  unsigned char *bytes = written(&desc, "figure.png", &size);
  assert_true(HOLDS("tEXtTitle\0a <title> & more"));
  assert_true(HOLDS(
      "iTXtDescription\0\0\0\0\0where it comes from\nScale: attention weight \xC3\x97 tokens"));
  assert_true(HOLDS("tEXtSoftware\0heed "));
  assert_true(HOLDS("pHYs\0\0\x1d\x87\0\0\x1d\x87\1")); /* 7559 per metre, 192 per inch */
  free(bytes);
  desc.title = "\xC3\xA4", desc.provenance = NULL;
  bytes = written(&desc, "no_ending", &size);
  assert_true(HOLDS("\x89PNG"));
  assert_true(HOLDS("iTXtTitle\0\0\0\0\0\xC3\xA4"));
  assert_true(HOLDS("iTXtDescription\0\0\0\0\0a caption\nScale: "));
  free(bytes);
}

static void test_svg(void **state) {
  (void)state;
  needs_cairo();
  heed_figure_desc desc = orange_desc();
  size_t size;
  desc.heads = 2;
  unsigned char *bytes = written(&desc, "figure.SVG", &size);
  assert_true(HOLDS("<title>a &lt;title&gt; &amp; more</title>"));
  assert_true(HOLDS("<desc>where it comes from\nScale: "));
  assert_true(HOLDS("<dc:creator>heed "));
  assert_true(HOLDS(">head 0</text>") && HOLDS(">head 1</text>"));
  assert_true(HOLDS(">query (1, 1)</text>"));
  assert_true(HOLDS(">a caption</text>"));
  assert_true(HOLDS("font-family=\"DejaVu Sans, "));
  assert_true(HOLDS("width=\"800.00\""));
  assert_true(HOLDS("xlink:href=\"data:image/png;base64,iVBORw0KGgo")); /* a PNG's first bytes */
  assert_true(HOLDS("</svg>\n"));
  assert_false(HOLDS("<title>a <title>"));
  free(bytes);
  desc.width_mm = 85.0;
  bytes = written(&desc, "figure.svg", &size);
  assert_true(HOLDS("width=\"85.00mm\""));
  free(bytes);
}

static void test_pdf(void **state) {
  (void)state;
  needs_cairo();
  const heed_figure_desc desc = orange_desc();
  size_t size;
  unsigned char *bytes = written(&desc, "figure.pdf", &size);
  assert_true(HOLDS("%PDF-"));
  assert_true(HOLDS("/Title (a <title> & more)"));
  assert_true(HOLDS("/Subject <FEFF007700680065")); /* UTF-16, for the multiplication sign: "whe" */
  assert_true(HOLDS("/Creator (heed "));
  assert_true(HOLDS("/Font")); /* text, not outlines */
  assert_false(HOLDS("/CreationDate"));
  free(bytes);
}

/* Equal figures are equal files, whatever was written before. */
static void test_same_bytes(void **state) {
  (void)state;
  needs_cairo();
  static const char *const names[] = {"a.png", "a.svg", "a.pdf"};
  const heed_figure_desc desc = orange_desc();
  for (int i = 0; i < 3; i++) {
    size_t sizes[2];
    unsigned char *first = written(&desc, names[i], &sizes[0]),
                  *second = written(&desc, names[i], &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(first, second, sizes[0]);
    free(first);
    free(second);
  }
}

/* ------------------------------------------------------------------------------------ refusals */

/* A caller that was compiled with an older header has a shorter desc, a newer one a longer desc. */
static void test_struct_size(void **state) {
  (void)state;
  needs_cairo();
  struct {
    heed_figure_desc desc;
    size_t more;
  } newer = {orange_desc(), 0};
  newer.desc.struct_size = sizeof newer;
  assert_ok(heed_figure_write(context, &newer.desc, in_folder("a.svg"), &error));
  newer.desc.struct_size = offsetof(heed_figure_desc, head_numbers);
  assert_ok(heed_figure_write(context, &newer.desc, in_folder("a.svg"), &error));
  newer.desc.struct_size = sizeof newer, newer.more = 1;
  assert_int_equal(remove(in_folder("a.svg")), 0);
  assert_fails(heed_figure_write(context, &newer.desc, in_folder("a.svg"), &error),
               HEED_INVALID_ARGUMENT, "figure: ");
  newer.desc.struct_size = 1;
  assert_fails(heed_figure_write(context, &newer.desc, in_folder("a.svg"), &error),
               HEED_INVALID_ARGUMENT, "figure: struct_size");
}

static void test_format(void **state) {
  (void)state;
  needs_cairo();
  assert_ok(heed_figure_check("a/b.c/name", &error));
  assert_ok(heed_figure_check(".hidden", &error));
  assert_ok(heed_figure_check("name.Pdf", &error));
  assert_fails(
      heed_figure_check("maps.jpg", &error), HEED_INVALID_ARGUMENT,
      "maps.jpg: unknown format of a figure (found \".jpg\", expected .png, .svg or .pdf)");
  const heed_figure_desc desc = orange_desc();
  assert_fails(heed_figure_write(context, &desc, in_folder("a.eps"), &error), HEED_INVALID_ARGUMENT,
               "found \".eps\"");
}

static void test_places_that_cannot_be_written(void **state) {
  (void)state;
  needs_cairo();
  static const char *const names[] = {"no/such/a.png", "no/such/a.svg", "no/such/a.pdf"};
  const heed_figure_desc desc = orange_desc();
  for (int i = 0; i < 3; i++)
    assert_fails(heed_figure_write(context, &desc, in_folder(names[i]), &error), HEED_IO,
                 "cannot create the file");
  if (access("/dev/full", W_OK) != 0) return;
  for (int i = 0; i < 3; i++) {
    char link[128];
    snprintf(link, sizeof link, "%s/full%s", folder, names[i] + 9);
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_fails(heed_figure_write(context, &desc, link, &error), HEED_IO, "No space left");
    assert_int_equal(remove(link), 0);
  }
}

/* Each allocation that goes through the context fails once; no file is left. */
static void test_out_of_memory(void **state) {
  (void)state;
  needs_cairo();
  static const char *const names[] = {"a.png", "a.svg", "a.pdf"};
  const heed_figure_desc desc = orange_desc();
  for (int i = 0; i < 3; i++)
    for (size_t n = 1, reached = 1; reached; n++) {
      test_allocator allocator = {0, 0, 0};
      const heed_context_desc counting = test_context_desc(&allocator);
      heed_context *counted;
      assert_ok(heed_context_create(&counting, &counted, &error));
      allocator.fail_at = allocator.total + n;
      const heed_status status = heed_figure_write(counted, &desc, in_folder(names[i]), &error);
      reached = allocator.total >= allocator.fail_at;
      assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
      assert_int_equal(remove(in_folder(names[i])), reached ? -1 : 0);
      heed_context_destroy(counted);
      assert_int_equal(allocator.live, 0);
    }
}

/* A build without cairo says what is missing. */
static void test_without_cairo(void **state) {
  (void)state;
  const heed_figure_desc desc = orange_desc();
  assert_fails(heed_figure_check("maps.png", &error), HEED_UNSUPPORTED,
               "maps.png: this build of heed draws no figures (found no cairo");
  assert_fails(heed_figure_write(context, &desc, in_folder("a.png"), &error), HEED_UNSUPPORTED,
               "libcairo2-dev");
}

int main(void) {
  const struct CMUnitTest with_cairo[] = {cmocka_unit_test(test_map_on_picture),
                                          cmocka_unit_test(test_text_is_drawn),
                                          cmocka_unit_test(test_png_metadata),
                                          cmocka_unit_test(test_svg),
                                          cmocka_unit_test(test_pdf),
                                          cmocka_unit_test(test_same_bytes),
                                          cmocka_unit_test(test_struct_size),
                                          cmocka_unit_test(test_format),
                                          cmocka_unit_test(test_places_that_cannot_be_written),
                                          cmocka_unit_test(test_out_of_memory)};
  const struct CMUnitTest without[] = {cmocka_unit_test(test_without_cairo)};
  if (!HEED_HAS_CAIRO && cmocka_run_group_tests(without, make_folder, drop_folder) != 0) return 1;
  return cmocka_run_group_tests(with_cairo, make_folder, drop_folder);
}
