/* Tokens in the order of an image and of a file: one undoes the other, and neither writes beyond.
 */
#include "session/token_order.h"

#include <stdlib.h>

#include "support/test.h"

enum { COUNT = 3, MAP = COUNT * COUNT };

static void check_guard(const float *rows) {
  for (int i = MAP; i < MAP + COUNT; i++) assert_true(rows[i] == -7.0f);
}

static void test_there_and_back(void **state) {
  (void)state;
  static const int32_t order[COUNT + 1] = {2, 0, 1, 0};
  float image[MAP + COUNT], file[MAP + COUNT], back[MAP + COUNT];
  for (int i = 0; i < MAP + COUNT; i++) {
    image[i] = (float)i;
    file[i] = back[i] = -7.0f;
  }
  cli_token_order_do(order, COUNT, image, file);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++)
      assert_true(file[i * COUNT + k] == (float)(order[i] * COUNT + order[k]));
  check_guard(file);
  cli_token_order_undo(order, COUNT, file, back);
  for (int i = 0; i < MAP; i++) assert_true(back[i] == (float)i);
  check_guard(back);
}

static void test_text(void **state) {
  (void)state;
  static const int32_t order[COUNT] = {2, 0, 1};
  char *text = cli_token_order_text(order, COUNT);
  int32_t *read = cli_token_order_read("2 0 1", COUNT);
  assert_string_equal(text, "2 0 1");
  assert_non_null(read);
  for (int i = 0; i < COUNT; i++) assert_int_equal(read[i], order[i]);
  free(read);
  free(text);
  static const char *const wrong[] = {"", "2 0", "2 0 1 3", "2 0 3", "2 0 2", "2 0 1 ", "2,0,1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_null(cli_token_order_read(wrong[i], COUNT));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                     cmocka_unit_test(test_text)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
