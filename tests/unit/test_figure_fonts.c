/* A figure on a machine without fonts: its signs beside ASCII are spelled out, and a line of the
 * log says why. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heed/native.h"
#include "support/test.h"

static heed_context *context;
static heed_error error;
static char folder[64], config[96], path[96];
static uint32_t warnings;

static void count_warning(heed_log_level level, const char *line, void *user) {
  (void)user;
  if (level == HEED_LOG_WARNING && strstr(line, "no fonts are installed")) warnings++;
}

/* Before cairo looks for fonts. */
static int hide_fonts(void **state) {
  (void)state;
  static const char nothing[] = "<?xml version=\"1.0\"?><fontconfig></fontconfig>\n";
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.log = count_warning;
  strcpy(folder, "/tmp/heed_test_fonts_XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(config, sizeof config, "%s/fonts.conf", folder);
  snprintf(path, sizeof path, "%s/figure.png", folder);
  FILE *file = fopen(config, "w");
  if (!file || fputs(nothing, file) < 0 || fclose(file) != 0) return -1;
  setenv("FONTCONFIG_FILE", config, 1);
  return heed_context_create(&desc, &context, &error) == HEED_OK ? 0 : -1;
}

static int drop(void **state) {
  (void)state;
  heed_context_destroy(context);
  remove(config);
  return rmdir(folder);
}

static heed_picture drawn(const char *title) {
  static const uint8_t white[64 * 64 * 3];
  static const float map[4] = {0.0f, 0.4f, 0.5f, 0.0f};
  const heed_figure_desc desc = {.struct_size = sizeof desc,
                                 .image = {white, 64, 64, 3, 192},
                                 .region = {0, 0, 64, 64},
                                 .maps = map,
                                 .layers = 1,
                                 .heads = 1,
                                 .rows = 2,
                                 .columns = 2,
                                 .tokens = 5,
                                 .query_row = -1,
                                 .title = title,
                                 .width_mm = 60.0};
  heed_picture picture;
  assert_ok(heed_figure_write(context, &desc, path, &error));
  assert_ok(heed_image_load(context, path, &picture, &error));
  assert_int_equal(remove(path), 0);
  return picture;
}

static void check_same(const char *title, const char *as, bool same) {
  heed_picture a = drawn(title), b = drawn(as);
  assert_int_equal(a.width, b.width);
  assert_int_equal(a.height, b.height);
  const int order = memcmp(a.pixels, b.pixels, (size_t)a.width * a.height * 3);
  if ((order == 0) != same)
    fail_msg("\"%s\" is drawn %s \"%s\"", title, same ? "unlike" : "as", as);
  heed_picture_free(context, &a);
  heed_picture_free(context, &b);
}

static void test_signs(void **state) {
  (void)state;
  if (!HEED_HAS_CAIRO) {
    print_message("skipped: heed was configured without cairo\n");
    skip();
  }
  check_same("1 \xC3\x97 uniform", "1 x uniform", true);
  check_same("\xE2\x89\xA5 4", ">= 4", true);
  check_same("cut\xE2\x80\xA6", "cut...", true);
  check_same("\xE7\x8C\xAB!", "?!", true);
  check_same("1 \xC3\x97 uniform", "1 y uniform", false);
  assert_int_equal(warnings, 1); /* of ten figures */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_signs)};
  return cmocka_run_group_tests(tests, hide_fonts, drop);
}
