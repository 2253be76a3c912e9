/* Limits of PyTorch's files that files of megabytes reach: at each number, and one above it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/opened_pickle.h"

/* At its number a limit is not what is wrong with a file; one above it is. Frees the pickle. */
static void check_limit(test_bytes pickle, bool above, const char *part) {
  test_bytes zip = test_torch_zip(pickle.data, pickle.size);
  const heed_source source = test_source(zip.data, zip.size);
  opened_pickle opened;
  const heed_status status = open_pickle(&source, &opened);
  if ((status != HEED_OK && strstr(error.message, part) != NULL) != above)
    fail_msg("found %s %s, expected %s\"%s\"", heed_status_name(status),
             status == HEED_OK ? "" : error.message, above ? "" : "anything but ", part);
  if (status == HEED_OK) close_pickle(&opened);
  free(pickle.data);
  free(zip.data);
}

/* A tensor in so many dictionaries, made from the inside out: 32 in the outermost are read. */
static test_bytes nested(size_t dictionaries) {
  static const char first[] = "\x80\2}X\1\0\0\0w" TEST_PLAIN "sq\0"
                              "0",
                    next[] = "}X\1\0\0\0ah\0sq\0"
                             "0";
  test_bytes pickle = {NULL, 0};
  assert_ok(test_bytes_append(&pickle, first, sizeof first - 1, &error));
  for (size_t i = 1; i < dictionaries; i++)
    assert_ok(test_bytes_append(&pickle, next, sizeof next - 1, &error));
  assert_ok(test_bytes_append(&pickle, "h\0.", 3, &error));
  return pickle;
}

static void test_limits(void **state) {
  (void)state;
  /* the last value is None; the first of the items is none */
  const size_t values = (1u << 22) - 1, items = (1u << 22) - 1;
  static char text[6 + 4096] = "X\0\x10\0";
  memset(text + 5, 'a', 4096);
  text[sizeof text - 1] = '0';
  for (size_t above = 0; above < 2; above++) {
    check_limit(test_repeated("\x80\2", "N", 1, (1u << 20) + above, "."), above,
                "too much on the stack");
    check_limit(test_repeated("\x80\2", "]0", 2, values + above, "N."), above, "too many values");
    check_limit(test_repeated("\x80\2]", "Na", 2, items + above, "."), above, "too many items");
    /* of 4,097 bytes with the zero byte at their end; longer ones are not kept */
    check_limit(test_repeated("\x80\2", text, sizeof text, 16380 + above, "."), above,
                "too many bytes of text");
    check_limit(nested(33 + above), above, "nested too deeply");
  }
}

/* One tensor under many names. */
static void test_many_tensors(void **state) {
  (void)state;
  static const char tensor[] = "\x80\2" TEST_PLAIN "q\0"
                               "0}";
  const size_t most = 1u << 20;
  for (size_t above = 0; above < 2; above++) {
    test_bytes made = {NULL, 0};
    const size_t begin = sizeof tensor - 1, each = 12, all = begin + (most + above) * each + 1;
    char *text = malloc(all + 1);
    memcpy(text, tensor, begin);
    for (size_t i = 0; i < most + above; i++) {
      char *at = text + begin + i * each;
      snprintf(at, each, "U\7%07zuh", i);
      memcpy(at + 10, "\0s", 2);
    }
    text[all - 1] = '.';
    assert_ok(test_bytes_append(&made, text, all, &error));
    free(text);
    check_limit(made, above, "too many tensors, or too long names");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_many_tensors)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
