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
  const char budget[] = "reading takes too much memory";
  for (size_t above = 0; above < 2; above++) {
    check_limit(test_repeated("\x80\2", "N", 1, (1u << 20) + above, "."), above,
                "too much on the stack");
    /* tables of values and of items double */
    check_limit(test_repeated("\x80\2", "]0", 2, (1u << 20) - 1 + above, "N."), above, budget);
    check_limit(test_repeated("\x80\2]", "Na", 2, (1u << 21) - 1 + above, "."), above, budget);
    check_limit(nested(33 + above), above, "nested too deeply");
  }
}

/* One tensor under many names, where the caller allows the memory. */
static void test_many_tensors(void **state) {
  (void)state;
  heed_context *const own = context;
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.most_reading = UINT64_C(1) << 32;
  assert_ok(heed_context_create(&desc, &context, &error));
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
  heed_context_destroy(context);
  context = own;
}

typedef struct counting {
  const unsigned char *bytes;
  uint64_t read;
} counting;

static heed_status read_counted(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *sentence) {
  counting *source = user;
  (void)sentence;
  memcpy(to, source->bytes + offset, count);
  source->read += count;
  return HEED_OK;
}

/* Tensors of two elements that lie at both ends of one storage: what is read does not grow with
 * what lies between. Their elements are those of the storage. */
static void test_elements_far_apart(void **state) {
  (void)state;
  enum { ELEMENTS = 60000, TENSORS = 2000 };
  static const char begin[] = "\x80\2(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                              "0X\3\0\0\0cpuM\x60\xEAtQ"
                              "q\1"
                              "0ctorch._utils\n_rebuild_tensor_v2\nq\2"
                              "0(h\1K\0K\2\x85M\x5F\xEA\x85\x89}tq\3"
                              "0}";
  test_bytes pickle = {NULL, 0};
  assert_ok(test_bytes_append(&pickle, begin, sizeof begin - 1, &error));
  for (uint32_t i = 0; i < TENSORS; i++) {
    char item[16] = "U\4";
    snprintf(item + 2, sizeof item - 2, "%04uh", i);
    memcpy(item + 7, "\2h\3Rs", 5);
    assert_ok(test_bytes_append(&pickle, item, 12, &error));
  }
  assert_ok(test_bytes_append(&pickle, ".", 1, &error));
  float *elements = calloc(ELEMENTS, sizeof *elements), found[2];
  elements[0] = 2.0f;
  elements[ELEMENTS - 1] = 3.0f;
  const test_zip_entry entries[] = {{"a/data.pkl", pickle.data, pickle.size, 0, 0},
                                    {"a/data/0", elements, ELEMENTS * sizeof *elements, 0, 0}};
  test_bytes file = test_zip(entries, 2, false);
  counting counted = {file.data, 0};
  const heed_source source = {file.size, NULL, read_counted, &counted};
  opened_pickle opened;
  assert_ok(open_pickle(&source, &opened));
  assert_true(counted.read < 2 * file.size);
  assert_int_equal(heed_safetensors_count(opened.file), TENSORS);
  assert_ok(heed_safetensors_read(opened.file, heed_safetensors_find(opened.file, "1234"), 0, 2,
                                  found, &error));
  assert_true(found[0] == 2.0f && found[1] == 3.0f);
  close_pickle(&opened);
  free(elements);
  free(pickle.data);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits),
                                     cmocka_unit_test(test_many_tensors),
                                     cmocka_unit_test(test_elements_far_apart)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
