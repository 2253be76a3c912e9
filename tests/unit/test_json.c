/* The JSON reader: what RFC 8259 allows, what it forbids, limits, numbers, memory. */
#include "support/test_context.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/decimal.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/utf8.h"

static heed_status parse(const char *text, heed_json **json) {
  return heed_json_parse(context, text, strlen(text), "t.json", json, &error);
}

static void accepted_texts(void **state) {
  (void)state;
  static const char *const texts[] = {"null",
                                      " true ",
                                      "false",
                                      "0",
                                      "-0",
                                      "12",
                                      "-12.5e+10",
                                      "1E5",
                                      "1e-5",
                                      "\"\"",
                                      "\"a\"",
                                      "[]",
                                      "{}",
                                      "[ ]",
                                      "{ }",
                                      "[1,2,3]",
                                      "[[],[[]],{}]",
                                      "{\"a\":1,\"b\":{\"a\":2}}",
                                      "\t\r\n [ 1 , 2 ] \n",
                                      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"",
                                      "\"\xC3\xA9\xE2\x82\xAC\xF0\x9D\x84\x9E\x7F\"",
                                      "{\"\":0}",
                                      "123456789012345678901234567890",
                                      "1e999"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    heed_json *json;
    assert_ok(parse(texts[i], &json));
    heed_json_destroy(json);
  }
}

static void refused_texts(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "expected a value at byte 0 (found the end of the text)"},
      {"   ", "found the end of the text"},
      {"nul", "expected a value"},
      {"nulll", "expected nothing more at byte 4 (found 'l')"},
      {"True", "expected a value"},
      {"+1", "expected a value at byte 0 (found '+')"},
      {"-", "expected a digit"},
      {"-a", "expected a digit"},
      {"01", "expected nothing more at byte 1"},
      {"1.", "after the point"},
      {".5", "expected a value"},
      {"1e", "of the exponent"},
      {"1e+", "of the exponent"},
      {"0x10", "expected nothing more"},
      {"NaN", "expected a value"},
      {"Infinity", "expected a value"},
      {"[", "expected a value"},
      {"]", "expected a value"},
      {"[1", "expected ',' or ']'"},
      {"[1,]", "expected a value at byte 3 (found ']')"},
      {"[,1]", "expected a value"},
      {"[1 2]", "expected ',' or ']'"},
      {"[1}", "expected ',' or ']'"},
      {"{", "expected a key in quotes"},
      {"{a:1}", "expected a key in quotes"},
      {"{'a':1}", "expected a key in quotes"},
      {"{\"a\"}", "expected ':'"},
      {"{\"a\":}", "expected a value"},
      {"{\"a\":1,}", "expected a key in quotes"},
      {"{\"a\":1]", "expected ',' or '}'"},
      {"{\"a\" 1}", "expected ':'"},
      {"{} {}", "expected nothing more"},
      {"[] x", "expected nothing more at byte 3"},
      {"\"abc", "closing quote"},
      {"\"a\nb\"", "no control character in a string at byte 2 (found byte 0x0A)"},
      {"\"\\x\"", "a valid escape"},
      {"\"\\", "a valid escape"},
      {"\"\\u12\"", "four hexadecimal digits"},
      {"\"\\u12G4\"", "four hexadecimal digits"},
      {"\"\\uD800\"", "an unpaired surrogate"},
      {"\"\\uDC00\"", "an unpaired surrogate"},
      {"\"\\uD800\\u0041\"", "an unpaired surrogate"},
      {"\"\\uD800\\uD800\"", "an unpaired surrogate"},
      {"\xEF\xBB\xBF{}", "expected a value at byte 0 (found byte 0xEF)"},
      {"// c\n1", "expected a value"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_json *json;
    assert_fails(parse(cases[i].text, &json), HEED_INVALID_FILE, cases[i].part);
    assert_null(json);
    assert_int_equal(strncmp(error.message, "t.json: ", 8), 0);
  }
}

static void bad_utf8(void **state) {
  (void)state;
  static const char *const texts[] = {"\"\x80\"",
                                      "\"\xC0\x80\"",
                                      "\"\xC1\xBF\"",
                                      "\"\xC3\"",
                                      "\"\xE0\x80\x80\"",
                                      "\"\xE0\x9F\xBF\"",
                                      "\"\xED\xA0\x80\"",
                                      "\"\xE2\x82\"",
                                      "\"\xF0\x80\x80\x80\"",
                                      "\"\xF4\x90\x80\x80\"",
                                      "\"\xF5\x80\x80\x80\"",
                                      "\"\xFF\"",
                                      "\"\xF0\x9D\x84\"",
                                      "{\"\xC3(\":1}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    heed_json *json;
    assert_fails(parse(texts[i], &json), HEED_INVALID_FILE, "expected UTF-8");
  }
}

/* Every code point, written plain and escaped, comes out as the same UTF-8. */
static void every_code_point(void **state) {
  (void)state;
  for (uint32_t point = 0; point <= 0x10FFFFu; point += point < 0x3000u ? 1 : 61) {
    char escaped[32], plain[8];
    const char *text;
    size_t length;
    heed_json *json;
    if (point >= 0xD800u && point <= 0xDFFFu) continue;
    const size_t wanted = heed_utf8_write(plain, point);
    if (point < 0x10000u)
      snprintf(escaped, sizeof escaped, "\"\\u%04X\"", (unsigned)point);
    else
      snprintf(escaped, sizeof escaped, "\"\\u%04x\\u%04x\"",
               (unsigned)(0xD800u + ((point - 0x10000u) >> 10)),
               (unsigned)(0xDC00u + (point & 0x3FFu)));
    assert_ok(parse(escaped, &json));
    assert_true(heed_json_string(json, heed_json_root(json), &text, &length));
    assert_int_equal(length, wanted);
    assert_memory_equal(text, plain, wanted);
    assert_int_equal(text[length], 0);
    assert_int_equal(heed_utf8_length(plain, 0, wanted), wanted);
    heed_json_destroy(json);
  }
}

static void zero_bytes(void **state) {
  (void)state;
  heed_json *json;
  const char *text;
  size_t length;
  assert_fails(heed_json_parse(context, "\"a\0b\"", 5, "t.json", &json, &error), HEED_INVALID_FILE,
               "found byte 0x00");
  assert_fails(heed_json_parse(context, "1\0", 2, "t.json", &json, &error), HEED_INVALID_FILE,
               "expected nothing more");
  assert_fails(heed_json_parse(context, "\0", 1, "t.json", &json, &error), HEED_INVALID_FILE,
               "expected a value");
  assert_ok(parse("{\"a\\u0000b\":\"c\\u0000d\"}", &json));
  const heed_json_value member = heed_json_first(json, heed_json_root(json));
  assert_memory_equal(heed_json_key(json, member, &length), "a\0b", 4);
  assert_int_equal(length, 3);
  assert_true(heed_json_string(json, member, &text, &length));
  assert_memory_equal(text, "c\0d", 4);
  assert_int_equal(length, 3);
  assert_int_equal(heed_json_get(json, heed_json_root(json), "a"), 0);
  heed_json_destroy(json);
}

static void tree_is_walked(void **state) {
  (void)state;
  heed_json *json;
  uint64_t number;
  bool flag;
  assert_ok(parse(" {\"a\": [1, [2, 3], {\"x\": 4}], \"b\": true, \"c\": {}, \"d\": null}", &json));
  const heed_json_value root = heed_json_root(json), a = heed_json_get(json, root, "a");
  assert_int_equal(heed_json_count(json, root), 4);
  assert_int_equal(heed_json_count(json, a), 3);
  assert_int_equal(heed_json_offset(json, root), 1);
  assert_int_equal(heed_json_offset(json, a), 7);
  heed_json_value v = heed_json_first(json, a);
  assert_true(heed_json_u64(json, v, &number));
  assert_int_equal(number, 1);
  v = heed_json_next(json, a, v);
  assert_int_equal(heed_json_kind_of(json, v), HEED_JSON_ARRAY);
  assert_int_equal(heed_json_count(json, v), 2);
  v = heed_json_next(json, a, v);
  assert_true(heed_json_u64(json, heed_json_get(json, v, "x"), &number));
  assert_int_equal(number, 4);
  assert_int_equal(heed_json_next(json, a, v), 0);
  char keys[8] = "";
  for (heed_json_value m = heed_json_first(json, root); m; m = heed_json_next(json, root, m))
    strcat(keys, heed_json_key(json, m, NULL));
  assert_string_equal(keys, "abcd");
  assert_true(heed_json_bool(json, heed_json_get(json, root, "b"), &flag));
  assert_true(flag);
  assert_int_equal(heed_json_first(json, heed_json_get(json, root, "c")), 0);
  assert_int_equal(heed_json_kind_of(json, heed_json_get(json, root, "d")), HEED_JSON_NULL);
  assert_int_equal(heed_json_get(json, root, "e"), 0);
  assert_int_equal(heed_json_get(json, a, "x"), 0);
  assert_int_equal(heed_json_get(json, 0, "x"), 0);
  assert_int_equal(heed_json_kind_of(json, 0), HEED_JSON_NONE);
  assert_false(heed_json_u64(json, root, &number));
  assert_false(heed_json_bool(json, a, &flag));
  heed_json_destroy(json);
}

static void duplicate_keys(void **state) {
  (void)state;
  heed_json *json;
  assert_fails(parse("{\"a\":1,\"b\":2,\"a\":3}", &json), HEED_INVALID_FILE,
               "duplicate key \"a\" (found again at byte 14)");
  assert_fails(parse("{\"a\":1,\"\\u0061\":3}", &json), HEED_INVALID_FILE, "duplicate key \"a\"");
  assert_fails(parse("[{\"x\":{\"\":1,\"\":1}}]", &json), HEED_INVALID_FILE, "duplicate key \"\"");
  assert_ok(parse("{\"a\":{\"a\":{\"a\":1}}}", &json));
  heed_json_destroy(json);
}

/* {"k0":0,"k1":0,...} */
static char *many_keys(size_t count, const char *last) {
  char *text = malloc(count * 16 + 64);
  size_t at = 0;
  text[at++] = '{';
  for (size_t i = 0; i < count; i++) at += (size_t)sprintf(text + at, "\"k%zu\":0,", i);
  sprintf(text + at, "\"%s\":0}", last);
  return text;
}

/* Quadratic would take hours, which the time limit of ctest ends. */
static void many_keys_fast(void **state) {
  (void)state;
  heed_json *json;
  char *text = many_keys(500000, "last");
  assert_ok(parse(text, &json));
  assert_int_equal(heed_json_count(json, heed_json_root(json)), 500001);
  heed_json_destroy(json);
  free(text);
  text = many_keys(500000, "k7");
  assert_fails(parse(text, &json), HEED_INVALID_FILE, "duplicate key \"k7\"");
  free(text);
}

static void depth_limit(void **state) {
  (void)state;
  char text[200001];
  heed_json *json;
  for (int kind = 0; kind < 2; kind++) {
    const char *open = kind ? "{\"a\":" : "[";
    for (int depth = 1; depth <= 70; depth++) {
      size_t at = 0;
      for (int i = 0; i < depth; i++) at += (size_t)sprintf(text + at, "%s", open);
      at += (size_t)sprintf(text + at, "1");
      for (int i = 0; i < depth; i++) at += (size_t)sprintf(text + at, kind ? "}" : "]");
      if (depth <= HEED_JSON_MAX_DEPTH) {
        assert_ok(parse(text, &json));
        heed_json_destroy(json);
      } else {
        assert_fails(parse(text, &json), HEED_INVALID_FILE, "nested too deeply");
      }
    }
  }
  memset(text, '[', 100000);
  memset(text + 100000, ']', 100000);
  text[200000] = '\0';
  assert_fails(parse(text, &json), HEED_INVALID_FILE,
               "nested too deeply at byte 64 (found more than 64 levels)");
}

static void large_text(void **state) {
  (void)state;
  const size_t size = 100u << 20;
  char *text = malloc(size);
  heed_json *json;
  memset(text, ' ', size);
  memcpy(text + size - 4, "[42]", 4);
  assert_ok(heed_json_parse(context, text, size, "t.json", &json, &error));
  assert_int_equal(heed_json_offset(json, heed_json_root(json)), size - 4);
  heed_json_destroy(json);
  free(text);
}

/* -------------------------------------------------------------------------------------- numbers */

static void integers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool u64_ok, i64_ok;
    uint64_t u64;
    int64_t i64;
  } cases[] = {
      {"0", true, true, 0, 0},
      {"-0", false, true, 0, 0},
      {"7", true, true, 7, 7},
      {"-7", false, true, 0, -7},
      {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
      {"9223372036854775808", true, false, UINT64_C(9223372036854775808), 0},
      {"-9223372036854775808", false, true, 0, INT64_MIN},
      {"-9223372036854775809", false, false, 0, 0},
      {"18446744073709551615", true, false, UINT64_MAX, 0},
      {"18446744073709551616", false, false, 0, 0},
      {"99999999999999999999999", false, false, 0, 0},
      {"1.0", false, false, 0, 0},
      {"1e2", false, false, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_json *json;
    uint64_t u = 0;
    int64_t s = 0;
    assert_ok(parse(cases[i].text, &json));
    assert_int_equal(heed_json_u64(json, 1, &u), cases[i].u64_ok);
    assert_int_equal(heed_json_i64(json, 1, &s), cases[i].i64_ok);
    assert_true(u == cases[i].u64 && s == cases[i].i64);
    heed_json_destroy(json);
  }
}

/* Whether the nearest double is promised: at most 19 digits, the last one between 10^-27 and
 * 10^27. */
static bool is_exact(const char *text) {
  long exponent = 0;
  int digits = 0;
  bool fraction = false;
  for (; *text && *text != 'e'; text++) {
    if (*text == '.') fraction = true;
    if (*text < '0' || *text > '9') continue;
    exponent -= fraction;
    digits += digits || *text != '0';
  }
  if (*text == 'e') exponent += strtol(text + 1, NULL, 10);
  return digits <= 19 && exponent >= -27 && exponent <= 27;
}

/* Equal to the C library's, which rounds to nearest; where that is not promised, it or its
 * neighbour, beside which infinity stands for what is too large. */
static void check_double(const char *text) {
  double found = HUGE_VAL;
  char *end;
  const double wanted = strtod(text, &end);
  const bool fits = heed_decimal_to_double(text, strlen(text), &found);
  if (fits != !isinf(found)) fail_msg("%s: found %a, which fits: %d", text, found, fits);
  const bool near = found == nextafter(wanted, HUGE_VAL) || found == nextafter(wanted, -HUGE_VAL);
  if (memcmp(&found, &wanted, sizeof found) != 0 && (is_exact(text) || !near))
    fail_msg("%s: found %a, expected %a%s", text, found, wanted,
             is_exact(text) ? "" : " or beside it");
}

static void doubles_of_note(void **state) {
  (void)state;
  static const char *const texts[] = {
      "0",
      "-0",
      "0.0",
      "-0e5",
      "0e999999999999999999999",
      "1",
      "0.1",
      "0.3",
      "1e-12",
      "1e-5",
      "0.00392156862745098",
      "1e22",
      "1e23",
      "123456789012345",
      "9007199254740993",
      "9007199254740992.5",
      "9007199254740993.00000000000000000000000000000000000000000001",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.797693134862315807e308",
      "1.797693134862315808e308",
      "1.8e308",
      "1e309",
      "1e99999999999999999999",
      "1e-99999999999999999999",
      "4.9406564584124654e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "2.47032822920623272088e-324",
      "2.47032822920623272089e-324",
      "2.2250738585072014e-308",
      "2.2250738585072011e-308",
      "2.2250738585072012e-308",
      "1e-323",
      "1e-400",
      "8.98846567431158e307",
      "5e-324",
      "0.5e-323",
      "100000000000000016777215",
      "100000000000000016777216",
      "6.631236846766476e-316",
      "3.237883913302901289588352412501532174863037669423108059901297e-319"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_double(texts[i]);
}

/* Numbers as configs have them, with all the digits that a writer gives a double and more: the
 * nearest double to each, and so the number that was written. */
static void doubles_as_written(void **state) {
  (void)state;
  test_random random = {20262};
  char text[64];
  for (int i = 0; i < 40000; i++) {
    const double value = (double)(test_random_next(&random) >> 11) * pow(10.0, i % 30 - 24);
    double found;
    snprintf(text, sizeof text, "%.*g", 1 + i % 19, value);
    if (!is_exact(text)) continue;
    check_double(text);
    if (1 + i % 19 < 17) continue;
    assert_true(heed_decimal_to_double(text, strlen(text), &found));
    assert_memory_equal(&found, &value, sizeof found);
  }
}

/* Bit patterns printed with 17 digits, and the points half way between neighbours written out
 * exactly. */
static void doubles_at_random(void **state) {
  (void)state;
  test_random random = {20261};
  char text[2048];
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = test_random_next(&random) & UINT64_C(0x7FFFFFFFFFFFFFFF);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.25e", value);
    check_double(text);
    if (i % 20 == 0 && value < 1e300) { /* an exact half: 53 bits and one more */
      const double next = nextafter(value, (double)INFINITY);
      const long double half = (long double)value + ((long double)next - (long double)value) / 2;
      snprintf(text, sizeof text, "%.1200Le", half);
      check_double(text);
    }
  }
  memset(text, '9', 1500);
  strcpy(text + 1500, "e-1400");
  check_double(text);
  memset(text, '0', 1500);
  text[1] = '.';
  strcpy(text + 1500, "1234e1490");
  check_double(text);
}

static void locale_is_ignored(void **state) {
  (void)state;
  static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  double value;
  const char *set = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names && !set; i++)
    set = setlocale(LC_ALL, names[i]);
  assert_true(heed_decimal_to_double("2.5", 3, &value) && value == 2.5);
  assert_true(heed_decimal_to_double("1234567890.123456789", 20, &value) &&
              value == 1234567890.123456789);
  setlocale(LC_ALL, "C");
  if (!set) print_message("no locale with a decimal comma here: checked in C only\n");
}

/* ------------------------------------------------------------------------------ memory, sorting */

static void allocation_failures(void **state) {
  (void)state;
  char *text = many_keys(100, "last");
  bool done = false;
  for (size_t n = 1; !done; n++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *failing;
    heed_json *json;
    assert_ok(heed_context_create(&desc, &failing, &error));
    allocator.total = 0;
    allocator.fail_at = n;
    const heed_status status =
        heed_json_parse(failing, text, strlen(text), "t.json", &json, &error);
    done = allocator.total < n;
    if (done)
      assert_int_equal(status, HEED_OK);
    else
      assert_int_equal(status, HEED_OUT_OF_MEMORY);
    allocator.fail_at = 0;
    heed_json_destroy(json);
    heed_context_destroy(failing);
    assert_int_equal(allocator.live, 0);
    assert_true(n < 100);
  }
  free(text);
}

static bool smaller(const void *user, uint32_t a, uint32_t b) {
  const uint32_t *keys = user;
  return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
}

static void sorting(void **state) {
  (void)state;
  test_random random = {7};
  for (uint32_t count = 0; count < 300; count++) {
    uint32_t keys[300] = {0}, items[300] = {0};
    for (uint32_t i = 0; i < count; i++) {
      keys[i] = test_random_below(&random, 1 + count / 2);
      items[i] = i;
    }
    heed_sort(items, count, smaller, keys);
    for (uint32_t i = 1; i < count; i++) assert_true(smaller(keys, items[i - 1], items[i]));
  }
}

static void *count_bytes(size_t size, size_t alignment, void *user) {
  (void)alignment;
  *(size_t *)user += size;
  return malloc(size);
}

static void free_counted(void *pointer, void *user) {
  (void)user;
  free(pointer);
}

/* A large table takes what its 16 bytes a value need, and is not copied as it grows. */
static void memory_of_a_large_table(void **state) {
  (void)state;
  enum { VALUES = 200000 };
  size_t bytes = 0;
  heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
  desc.allocator = (heed_allocator){count_bytes, free_counted, &bytes};
  heed_context *counted;
  assert_ok(heed_context_create(&desc, &counted, &error));
  char *text = malloc(2 * VALUES + 1);
  for (size_t i = 0; i < VALUES; i++) memcpy(text + 2 * i, i ? ",1" : "[1", 2);
  text[2 * VALUES] = ']';
  heed_json *json;
  bytes = 0;
  assert_ok(heed_json_parse(counted, text, 2 * VALUES + 1, "t.json", &json, &error));
  assert_int_equal(heed_json_count(json, heed_json_root(json)), VALUES);
  assert_true(bytes < 2 * VALUES + 16 * VALUES + 4096);
  heed_json_destroy(json);
  heed_context_destroy(counted);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepted_texts),
      cmocka_unit_test(refused_texts),
      cmocka_unit_test(bad_utf8),
      cmocka_unit_test(every_code_point),
      cmocka_unit_test(zero_bytes),
      cmocka_unit_test(tree_is_walked),
      cmocka_unit_test(duplicate_keys),
      cmocka_unit_test(many_keys_fast),
      cmocka_unit_test(depth_limit),
      cmocka_unit_test(large_text),
      cmocka_unit_test(memory_of_a_large_table),
      cmocka_unit_test(integers),
      cmocka_unit_test(doubles_of_note),
      cmocka_unit_test(doubles_as_written),
      cmocka_unit_test(doubles_at_random),
      cmocka_unit_test(locale_is_ignored),
      cmocka_unit_test(allocation_failures),
      cmocka_unit_test(sorting),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
