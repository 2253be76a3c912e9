/* Statuses, sizes, half floats, shapes. */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/source.h"

static void test_status_names(void **state) {
  (void)state;
  assert_string_equal(heed_status_name(HEED_INVALID_FILE), "INVALID_FILE");
  assert_string_equal(heed_status_name((heed_status)999), "UNKNOWN");
  assert_int_equal(HEED_MISMATCH, 11);
}

static void test_a_long_message_is_cut_between_characters(void **state) {
  (void)state;
  heed_error error;
  char text[2 * HEED_ERROR_MESSAGE_SIZE] = "";
  for (size_t i = 0; i + 3 < sizeof text; i += 3) memcpy(text + i, "\xe2\x82\xac", 3);
  heed_fail(&error, HEED_IO, "x%s", text);
  const size_t length = strlen(error.message);
  assert_true(length < HEED_ERROR_MESSAGE_SIZE && length >= HEED_ERROR_MESSAGE_SIZE - 4);
  assert_int_equal((length - 1) % 3, 0);
  memset(text, 'a', sizeof text - 1);
  heed_fail(&error, HEED_IO, "%s", text);
  assert_int_equal(strlen(error.message), 511);
  text[511] = '\0';
  heed_fail(&error, HEED_IO, "%s", text);
  assert_string_equal(error.message, text);
}

static void test_a_message_is_one_line(void **state) {
  (void)state;
  heed_error error;
  heed_fail(&error, HEED_IO, "a%sb", "\n\x1b[31m");
  assert_string_equal(error.message, "a??[31mb");
}

/* What a terminal obeys, the first and the last of each range with their neighbours, and what is no
 * UTF-8. */
static void test_text_is_cleaned(void **state) {
  (void)state;
  static const struct {
    const char *text, *clean;
  } cases[] = {
      {"", ""},
      {"plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "plain \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"\x01\x1F ~\x7F", "?? ~?"},
      {"\xC2\x80\xC2\x9F\xC2\xA0", "??\xC2\xA0"},
      {"\xD8\x9B\xD8\x9C\xD8\x9D", "\xD8\x9B?\xD8\x9D"},
      {"\xE2\x80\x8D\xE2\x80\x8E\xE2\x80\x8F\xE2\x80\x90", "\xE2\x80\x8D??\xE2\x80\x90"},
      {"\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF",
       "\xE2\x80\xA7???\xE2\x80\xAF"},
      {"\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA", "\xE2\x81\xA5??\xE2\x81\xAA"},
      {"a\x9B"
       "1m\xE9\xC2",
       "a?1m??"},
      {"\xED\xA0\x80\xC0\x80", "?????"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    snprintf(text, sizeof text, "%s", cases[i].text);
    heed_utf8_clean(text);
    assert_string_equal(text, cases[i].clean);
  }
  assert_int_equal(heed_utf8_point("A", 1), 'A');
  assert_int_equal(heed_utf8_point("\xC3\xA9", 2), 0xE9);
  assert_int_equal(heed_utf8_point("\xE2\x82\xAC", 3), 0x20AC);
  assert_int_equal(heed_utf8_point("\xF4\x8F\xBF\xBF", 4), 0x10FFFF);
}

/* What is kept of a text within a limit: no part of a character. */
static void test_texts_are_cut_between_characters(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int limit, length;
  } cases[] = {{"abc", 5, 3},          {"abc", 3, 3},       {"abc", 2, 2},
               {"a\xC3\xA9", 2, 1},    {"a\xC3\xA9", 3, 3}, {"\xE2\x82\xAC", 2, 0},
               {"\x82\x82\x82", 2, 0}, {"", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(heed_utf8_cut(cases[i].text, cases[i].limit), cases[i].length);
}

/* Sources of files: too long for their use, without bytes, or failing. */
static heed_status read_nothing(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *why) {
  (void)user, (void)offset, (void)to, (void)count, (void)why;
  return HEED_IO;
}

static void test_sources(void **state) {
  (void)state;
  heed_context *context;
  heed_error error;
  char *text, bytes[4];
  const heed_source whole = {4, "text", NULL, NULL}, none = {4, NULL, NULL, NULL},
                    failing = {4, NULL, read_nothing, NULL};
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_source_text(context, &whole, "f", 4, &text, &error));
  assert_memory_equal(text, "text", 4);
  heed_free(context, text);
  assert_fails(heed_source_text(context, &whole, "f", 3, &text, &error), HEED_UNSUPPORTED,
               "f: too large (found 4 bytes, expected at most 3)");
  assert_int_equal(heed_source_text(context, &failing, "f", 4, &text, &error), HEED_IO);
  assert_null(text);
  assert_fails(heed_source_read(&none, "f", 0, bytes, 4, &error), HEED_INVALID_ARGUMENT,
               "f: the source has neither bytes nor a read callback");
  assert_fails(heed_source_read(&whole, "f", 5, bytes, 1, &error), HEED_INVALID_FILE,
               "f: truncated (found 4 bytes, expected 1 more at byte 5)");
  assert_fails(heed_source_read(&whole, "f", 1, bytes, 4, &error), HEED_INVALID_FILE,
               "expected 4 more at byte 1)");
  assert_ok(heed_source_read(&whole, "f", 9, bytes, 0, &error));
  const heed_model_file files[] = {{NULL, whole}, {"a", whole}, {"b", whole}};
  assert_ptr_equal(heed_find_file(files, 3, "b"), &files[2]);
  assert_null(heed_find_file(files, 3, "c"));
  heed_model_desc full, desc = {sizeof desc, NULL, 0};
  assert_ok(heed_model_desc_read(&full, &desc, &error));
  desc.file_count = 1;
  assert_fails(heed_model_desc_read(&full, &desc, &error), HEED_INVALID_ARGUMENT,
               "model: files is NULL (expected 1)");
  desc.struct_size = 1;
  assert_fails(heed_model_desc_read(&full, &desc, &error), HEED_INVALID_ARGUMENT, "struct_size");
  heed_context_destroy(context);
}

static void test_text_is_read_by_characters(void **state) {
  (void)state;
  static const char text[] = "A\xE2\x82\xAC\x1B\xE2\x80\xAE\xE2\x82";
  static const struct {
    size_t length;
    uint32_t point;
    bool shown;
  } expected[] = {{1, 'A', true},     {3, 0x20AC, true},  {1, 0x1B, false},
                  {3, 0x202E, false}, {1, 0xFFFD, false}, {1, 0xFFFD, false}};
  size_t at = 0;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    uint32_t point;
    bool shown;
    assert_int_equal(heed_text_next(text + at, sizeof text - 1 - at, &point, &shown),
                     expected[i].length);
    assert_int_equal(point, expected[i].point);
    assert_int_equal(shown, expected[i].shown);
    at += expected[i].length;
  }
  assert_int_equal(at, sizeof text - 1);
}

static void test_sizes_are_checked(void **state) {
  (void)state;
  size_t size;
  uint64_t wide;
  assert_false(heed_size_mul(SIZE_MAX / 2 + 1, 2, &size));
  assert_true(heed_size_mul(SIZE_MAX / 2, 2, &size));
  assert_false(heed_size_add(SIZE_MAX, 1, &size));
  assert_false(heed_u64_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &wide));
  const heed_shape huge = HEED_SHAPE(UINT32_MAX, UINT32_MAX, 2);
  assert_false(heed_shape_bytes(&huge, HEED_F32, &size));
}

/* Every half survives the way to float and back, and a bfloat16 is the upper half of a float; NaNs
 * stay NaN. */
static void test_halves_round_trip(void **state) {
  (void)state;
  for (uint32_t h = 0; h <= 0xFFFF; h++) {
    const float f = heed_f16_to_f32((uint16_t)h);
    if (isnan(f))
      assert_true((h & 0x7C00u) == 0x7C00u && (h & 0x3FFu));
    else
      assert_int_equal(heed_f32_to_f16(f), h);
    const float b = heed_bf16_to_f32((uint16_t)h);
    uint32_t bits;
    memcpy(&bits, &b, sizeof bits);
    if (isnan(b))
      assert_true((h & 0x7F80u) == 0x7F80u && (h & 0x7Fu));
    else
      assert_int_equal(bits, h << 16);
  }
}

/* Rounding to half is to the nearest, ties to even, against the definition in double. */
static void test_halves_round_to_nearest_even(void **state) {
  (void)state;
  test_random random = {7};
  for (int i = 0; i < 200000; i++) {
    const float value =
        ldexpf(test_random_uniform(&random, -1.0f, 1.0f), (int)test_random_below(&random, 44) - 27);
    const uint16_t half = heed_f32_to_f16(value);
    const double found = (double)heed_f16_to_f32(half), error = fabs(found - (double)value);
    if (isinf(found)) {
      assert_true(fabs((double)value) >= 65520.0);
      continue;
    }
    const double up = (double)heed_f16_to_f32((uint16_t)(half + 1)),
                 down = (half & 0x7FFFu) ? (double)heed_f16_to_f32((uint16_t)(half - 1)) : 1e9;
    assert_true(error <= fabs(up - (double)value) && error <= fabs(down - (double)value));
    if (error == fabs(up - (double)value) || error == fabs(down - (double)value))
      assert_int_equal(half & 1, 0);
  }
}

static void test_half_values(void **state) {
  (void)state;
  assert_true(heed_f16_to_f32(0x3C00) == 1.0f &&
              heed_f16_to_f32(0x0001) == 5.9604644775390625e-8f &&
              heed_f16_to_f32(0x7BFF) == 65504.0f);
  assert_int_equal(heed_f32_to_f16(65519.0f), 0x7BFF);
  assert_int_equal(heed_f32_to_f16(65520.0f), 0x7C00);
  assert_int_equal(heed_f32_to_f16(-INFINITY), 0xFC00);
}

static void test_an_allocator_needs_both_functions(void **state) {
  (void)state;
  heed_context *context;
  heed_error error;
  test_allocator counter = {0};
  heed_context_desc desc = test_context_desc(&counter);
  desc.allocator.free = NULL;
  assert_fails(heed_context_create(&desc, &context, &error), HEED_INVALID_ARGUMENT,
               "expected alloc and free");
  assert_null(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status_names),
      cmocka_unit_test(test_a_long_message_is_cut_between_characters),
      cmocka_unit_test(test_a_message_is_one_line),
      cmocka_unit_test(test_text_is_cleaned),
      cmocka_unit_test(test_texts_are_cut_between_characters),
      cmocka_unit_test(test_sources),
      cmocka_unit_test(test_text_is_read_by_characters),
      cmocka_unit_test(test_sizes_are_checked),
      cmocka_unit_test(test_halves_round_trip),
      cmocka_unit_test(test_halves_round_to_nearest_even),
      cmocka_unit_test(test_half_values),
      cmocka_unit_test(test_an_allocator_needs_both_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
