/* Reading and writing safetensors: each way in which the reference refuses a file, reading every
 * dtype, the writer's bytes. */
#include "support/test_context.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/files/safetensors.h"
#include "support/weights.h"

static heed_status open_bytes(const void *bytes, size_t size, heed_safetensors **file) {
  const heed_source source = test_source(bytes, size);
  return heed_safetensors_open(context, &source, "w.safetensors", file, &error);
}

static heed_status open_header(const char *header, size_t data_size, heed_safetensors **file) {
  test_bytes bytes = test_safetensors(header, data_size);
  const heed_status status = open_bytes(bytes.data, bytes.size, file);
  free(bytes.data);
  return status;
}

static void refuse(const char *header, size_t data_size, const char *part) {
  heed_safetensors *file;
  assert_fails(open_header(header, data_size, &file), HEED_INVALID_FILE, part);
  assert_null(file);
  assert_int_equal(strncmp(error.message, "w.safetensors: ", 15), 0);
}

static void accept(const char *header, size_t data_size) {
  heed_safetensors *file;
  assert_ok(open_header(header, data_size, &file));
  heed_safetensors_destroy(file);
}

#define TENSOR(name, dtype, shape, begin, end)                                                   \
  "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end \
  "]}"

/* ------------------------------------------------------------------ the reference's error kinds */

static void header_too_small(void **state) {
  (void)state;
  heed_safetensors *file;
  for (size_t size = 0; size < 8; size++)
    assert_fails(open_bytes("\2\0\0\0\0\0\0\0", size, &file), HEED_INVALID_FILE,
                 "too short for a safetensors file");
  assert_non_null(strstr(error.message, "(found 7 bytes, expected at least 8)"));
}

static void header_too_large(void **state) {
  (void)state;
  heed_safetensors *file;
  const unsigned char bytes[8 + 2] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, '{', '}'};
  assert_fails(open_bytes(bytes, sizeof bytes, &file), HEED_INVALID_FILE,
               "header too large (found 18446744073709551615 bytes, expected at most 100000000)");
  const unsigned char just[8] = {0x01, 0xE1, 0xF5, 0x05};
  assert_fails(open_bytes(just, sizeof just, &file), HEED_INVALID_FILE,
               "header too large (found 100000001 bytes");
}

static void invalid_header_length(void **state) {
  (void)state;
  heed_safetensors *file;
  const unsigned char bytes[8 + 2] = {3, 0, 0, 0, 0, 0, 0, 0, '{', '}'};
  assert_fails(open_bytes(bytes, sizeof bytes, &file), HEED_INVALID_FILE,
               "does not fit the file (found a header of 3 bytes, expected at most 2)");
}

static void invalid_header_utf8(void **state) {
  (void)state;
  refuse("{\"\xFF\":1}", 0, "expected UTF-8");
}

static void invalid_header_json(void **state) {
  (void)state;
  refuse("", 0, "expected a value");
  refuse("{", 0, "expected a key");
  refuse("{}}", 0, "expected nothing more");
  refuse("[]", 0, "header is not an object (found an array)");
  refuse("3", 0, "header is not an object (found a number)");
  char deep[100001];
  memset(deep, '[', 100000);
  deep[100000] = '\0';
  refuse(deep, 0, "nested too deeply");
}

static void invalid_header_types(void **state) {
  (void)state;
  refuse("{\"a\":1}", 0,
         "tensor a: its entry has the wrong type (found a number, expected an object)");
  refuse("{\"a\":{}}", 0, "tensor a: dtype has the wrong type (found nothing, expected a string)");
  refuse("{\"a\":{\"dtype\":7,\"shape\":[],\"data_offsets\":[0,4]}}", 4,
         "dtype has the wrong type (found a number");
  refuse("{" TENSOR("a", "F99", "[1]", 0, 4) "}", 4, "tensor a: unknown dtype (found F99");
  refuse("{" TENSOR("a", "f32", "[1]", 0, 4) "}", 4, "unknown dtype (found f32");
  refuse("{" TENSOR("a", "F32\\u0000", "[1]", 0, 4) "}", 4, "unknown dtype");
  refuse("{" TENSOR("a", "F32", "4", 0, 4) "}", 4,
         "shape has the wrong type (found a number, expected an array)");
  refuse("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4,
         "shape has the wrong type (found nothing");
  refuse("{" TENSOR("a", "F32", "[-1]", 0, 4) "}", 4, "invalid dimension");
  refuse("{" TENSOR("a", "F32", "[1.0]", 0, 4) "}", 4, "invalid dimension");
  refuse("{" TENSOR("a", "F32", "[\\\"1\\\"]", 0, 4) "}", 4, "expected");
  refuse("{" TENSOR("a", "F32", "[18446744073709551616]", 0, 4) "}", 4, "invalid dimension");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4,
         "data_offsets has the wrong type (found nothing");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4,
         "invalid data_offsets");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 4,
         "invalid data_offsets");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,-4]}}", 4,
         "invalid data_offsets");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4e0]}}", 4,
         "invalid data_offsets");
  refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":{}}}", 4,
         "data_offsets has the wrong type (found an object");
}

static void invalid_metadata(void **state) {
  (void)state;
  refuse("{\"__metadata__\":[]}", 0,
         "__metadata__ has the wrong type (found an array, expected an object)");
  refuse("{\"__metadata__\":{\"a\":1}}", 0,
         "__metadata__ entry a has the wrong type (found a number, expected a string)");
  refuse("{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", 0,
         "__metadata__ entry a has the wrong type (found an object");
}

static void duplicate_names(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[1]", 0, 4) "," TENSOR("a", "F32", "[1]", 4, 8) "}", 8,
         "duplicate key \"a\"");
  refuse("{" TENSOR("a", "F32", "[1]", 0, 4) "," TENSOR("\\u0061", "F32", "[1]", 0, 4) "}", 4,
         "duplicate key \"a\"");
  refuse("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate key \"k\"");
}

static void invalid_offset_overlap(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[2]", 0, 8) "," TENSOR("b", "F32", "[1]", 4, 8) "}", 8,
         "tensor b: its data overlaps another tensor's (found its start at 4, expected 8)");
  refuse("{" TENSOR("a", "F32", "[1]", 0, 4) "," TENSOR("b", "F32", "[1]", 0, 4) "}", 4,
         "tensor b: its data overlaps another tensor's");
}

static void invalid_offset_hole(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[1]", 4, 8) "}", 8,
         "tensor a: its data leaves a gap before it (found its start at 4, expected 0)");
  refuse("{" TENSOR("b", "F32", "[1]", 8, 12) "," TENSOR("a", "F32", "[1]", 0, 4) "}", 12,
         "tensor b: its data leaves a gap before it");
}

static void invalid_offset_reversed(void **state) {
  (void)state;
  refuse("{" TENSOR("z", "U8", "[4]", 0, 4) "," TENSOR("a", "F32", "[1]", 4, 0) "}", 4,
         "tensor a: its data ends before it starts (found [4, 0])");
}

static void validation_overflow(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[4294967296,4294967296]", 0, 4) "}", 4,
         "the shape is too large (found more than 2^64 elements");
  refuse("{" TENSOR("a", "F32", "[18446744073709551615]", 0, 4) "}", 4,
         "the shape is too large (found more than 2^64 bits");
  refuse("{" TENSOR("a", "F32", "[2,18446744073709551615,0]", 0, 0) "}", 0,
         "the shape is too large");
}

static void misaligned_slice(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F4", "[3]", 0, 1) "}", 1,
         "tensor a: its data does not end on a byte (found F4");
  refuse("{" TENSOR("a", "F6_E2M3", "[2]", 0, 1) "}", 1, "its data does not end on a byte");
  accept("{" TENSOR("a", "F4", "[4]", 0, 2) "}", 2);
  accept("{" TENSOR("a", "F6_E3M2", "[4]", 0, 3) "}", 3);
}

static void tensor_invalid_info(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[2]", 0, 4) "}", 4,
         "tensor a: its data has the wrong length (found 4 bytes, expected 8)");
  refuse("{" TENSOR("a", "F16", "[2]", 0, 8) "}", 8,
         "tensor a: its data has the wrong length (found 8 bytes, expected 4)");
  refuse("{" TENSOR("a", "F32", "[0]", 0, 4) "}", 4, "found 4 bytes, expected 0");
  refuse("{" TENSOR("a", "F32", "[]", 0, 0) "}", 0, "found 0 bytes, expected 4");
}

static void metadata_incomplete_buffer(void **state) {
  (void)state;
  refuse("{" TENSOR("a", "F32", "[1]", 0, 4) "}", 3,
         "the data is cut off (found 3 bytes, expected 4)");
  refuse("{" TENSOR("a", "F32", "[1]", 0, 4) "}", 5,
         "the data continues after the last tensor (found 5 bytes, expected 4)");
  refuse("{}", 1, "the data continues after the last tensor (found 1 bytes, expected 0)");
  refuse("{" TENSOR("a", "U8", "[18446744073709551615]", 0, 18446744073709551615) "}", 3,
         "the shape is too large");
  refuse("{" TENSOR("a", "U8", "[2305843009213693951]", 0, 2305843009213693951) "}", 3,
         "the data is cut off");
}

/* ------------------------------------------------------------------------------ what is allowed */

static void accepted_files(void **state) {
  (void)state;
  accept("{}", 0);
  accept("{}      ", 0);
  accept(" \n{}", 0);
  accept("{\"__metadata__\":{}}", 0);
  accept("{\"__metadata__\":{\"a\":\"\",\"\":\"b\"}}", 0);
  accept("{" TENSOR("", "F32", "[1]", 0, 4) "}", 4);
  accept("{" TENSOR("zero", "F32", "[0]", 0, 0) "," TENSOR(
             "zero too", "F16", "[3,0,4294967296]", 0, 0) "," TENSOR("a", "F32", "[1]", 0, 4) "}",
         4);
  accept("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"more\":[1,{}]}}", 4);
  accept("{" TENSOR("b", "U8", "[4]", 4, 8) "," TENSOR("a", "F32", "[1]", 0, 4) "}", 8);
}

static void every_dtype(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int bytes_of_8;
    bool readable;
  } dtypes[] = {{"BOOL", 8, false},        {"F4", 4, false},          {"F6_E2M3", 6, false},
                {"F6_E3M2", 6, false},     {"U8", 8, true},           {"I8", 8, true},
                {"F8_E5M2", 8, false},     {"F8_E4M3", 8, false},     {"F8_E8M0", 8, false},
                {"F8_E4M3FNUZ", 8, false}, {"F8_E5M2FNUZ", 8, false}, {"I16", 16, false},
                {"U16", 16, false},        {"F16", 16, true},         {"BF16", 16, true},
                {"I32", 32, true},         {"U32", 32, false},        {"F32", 32, true},
                {"C64", 64, false},        {"F64", 64, true},         {"I64", 64, false},
                {"U64", 64, false}};
  assert_int_equal(sizeof dtypes / sizeof *dtypes, 22);
  for (size_t i = 0; i < 22; i++) {
    char header[256];
    heed_safetensors *file;
    float out[8];
    snprintf(header, sizeof header,
             "{\"t\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%d]}}", dtypes[i].name,
             dtypes[i].bytes_of_8);
    test_bytes bytes = test_safetensors(header, (size_t)dtypes[i].bytes_of_8);
    assert_ok(open_bytes(bytes.data, bytes.size, &file));
    const heed_safetensors_tensor *tensor = heed_safetensors_find(file, "t");
    assert_string_equal(tensor->dtype_name, dtypes[i].name);
    assert_int_equal(tensor->unsupported == NULL, dtypes[i].readable);
    assert_int_equal(tensor->bytes, dtypes[i].bytes_of_8);
    assert_int_equal(tensor->count, 8);
    if (dtypes[i].readable) {
      const bool narrowed = strcmp(dtypes[i].name, "F64") == 0;
      assert_string_equal(heed_dtype_name(tensor->dtype), narrowed ? "F32" : dtypes[i].name);
      assert_ok(heed_safetensors_read(file, tensor, 0, 8, out, &error));
    } else {
      assert_fails(heed_safetensors_read(file, tensor, 0, 8, out, &error), HEED_UNSUPPORTED,
                   dtypes[i].name);
    }
    heed_safetensors_destroy(file);
    free(bytes.data);
  }
}

/* Doubles become the nearest floats, from memory and through a callback, from any element on. A
 * number that would become infinite is refused. */
static void doubles_are_narrowed(void **state) {
  (void)state;
  enum { COUNT = 5000 }; /* more than one chunk */
  static const double last_value = COUNT - 1 + 1e-9;
  static const double special[] = {0.1, 1e-50, (double)INFINITY, -2.5, 16777217.0};
  char header[96];
  const int size = snprintf(header, sizeof header,
                            "{\"d\":{\"dtype\":\"F64\",\"shape\":[%d],\"data_offsets\":[0,%d]}}",
                            COUNT, 8 * COUNT);
  test_bytes bytes = test_safetensors(header, 8 * COUNT);
  for (int i = 0; i < COUNT; i++) {
    const double value = i < 5 ? special[i] : i + 1e-9;
    memcpy(bytes.data + 8 + size + 8 * i, &value, sizeof value);
  }
  const heed_source sources[] = {test_source(bytes.data, bytes.size), test_callback_source(&bytes)};
  for (int i = 0; i < 2; i++) {
    heed_safetensors *file;
    static float all[COUNT];
    float last;
    assert_ok(heed_safetensors_open(context, &sources[i], "f.safetensors", &file, &error));
    const heed_safetensors_tensor *tensor = heed_safetensors_find(file, "d");
    assert_ok(heed_safetensors_read(file, tensor, 0, COUNT, all, &error));
    assert_ok(heed_safetensors_read(file, tensor, COUNT - 1, 1, &last, &error));
    assert_true(all[0] == 0.1f && all[1] == 0.0f && all[2] == (float)INFINITY);
    assert_true(all[3] == -2.5f && all[4] == 16777216.0f && all[2500] == 2500.0f);
    assert_true(last == COUNT - 1);
    /* Just beyond float, and what still rounds to its largest. */
    const double edges[] = {0x1.ffffffp127, -1e39, 0x1.fffffefp127};
    for (int e = 0; e < 3; e++) {
      memcpy(bytes.data + 8 + size + 8 * (COUNT - 1), &edges[e], sizeof *edges);
      if (e == 2)
        assert_ok(heed_safetensors_read(file, tensor, 0, COUNT, all, &error));
      else
        assert_fails(heed_safetensors_read(file, tensor, 0, COUNT, all, &error), HEED_UNSUPPORTED,
                     "f.safetensors: tensor d has a number beyond F32 (found F64)");
    }
    assert_true(all[COUNT - 1] == FLT_MAX);
    memcpy(bytes.data + 8 + size + 8 * (COUNT - 1), &last_value, sizeof last_value);
    heed_safetensors_destroy(file);
  }
  free(bytes.data);
}

static void many_axes(void **state) {
  (void)state;
  heed_safetensors *file;
  float out[1];
  test_bytes bytes = test_safetensors(
      "{" TENSOR("six", "F32", "[1,1,1,1,1,1]", 0, 4) "," TENSOR(
          "seven", "F32", "[1,1,1,1,1,1,1]", 4,
          8) "," TENSOR("scalar", "F32", "[]", 8, 12) "," TENSOR("wide", "F32", "[4294967296,0]",
                                                                 12, 12) "}",
      12);
  assert_ok(open_bytes(bytes.data, bytes.size, &file));
  assert_int_equal(heed_safetensors_find(file, "six")->shape.rank, 6);
  assert_int_equal(heed_safetensors_find(file, "scalar")->shape.rank, 0);
  assert_ok(heed_safetensors_read(file, heed_safetensors_find(file, "six"), 0, 1, out, &error));
  assert_ok(heed_safetensors_read(file, heed_safetensors_find(file, "scalar"), 0, 1, out, &error));
  assert_fails(heed_safetensors_read(file, heed_safetensors_find(file, "seven"), 0, 1, out, &error),
               HEED_UNSUPPORTED, "more than 6 axes");
  assert_fails(heed_safetensors_read(file, heed_safetensors_find(file, "wide"), 0, 0, out, &error),
               HEED_UNSUPPORTED, "2^32");
  heed_safetensors_destroy(file);
  free(bytes.data);
}

/* -------------------------------------------------------------------------------------- reading */

static void table_of_a_file(void **state) {
  (void)state;
  heed_safetensors *file;
  test_bytes bytes =
      test_safetensors("{\"__metadata__\":{\"op\":\"gelu\"}," TENSOR(
                           "b", "U8", "[4]", 4, 8) "," TENSOR("a", "F32", "[1]", 0, 4) "}",
                       8);
  assert_ok(open_bytes(bytes.data, bytes.size, &file));
  assert_string_equal(heed_safetensors_name(file), "w.safetensors");
  assert_int_equal(heed_safetensors_count(file), 2);
  assert_string_equal(heed_safetensors_get(file, 0)->name, "a");
  assert_string_equal(heed_safetensors_get(file, 1)->name, "b");
  assert_int_equal(heed_safetensors_find(file, "a")->offset, bytes.size - 8);
  assert_int_equal(heed_safetensors_find(file, "b")->offset, bytes.size - 4);
  assert_null(heed_safetensors_find(file, "c"));
  assert_null(heed_safetensors_find(file, "__metadata__"));
  assert_string_equal(heed_safetensors_metadata(file, "op"), "gelu");
  assert_null(heed_safetensors_metadata(file, "attrs"));
  heed_safetensors_destroy(file);
  free(bytes.data);
}

static void oracle_files(void **state) {
  (void)state;
  size_t size;
  heed_safetensors *file;
  unsigned char *bytes = test_read_vector("vit/micro_32/model.safetensors", &size);
  assert_ok(open_bytes(bytes, size, &file));
  assert_int_equal(heed_safetensors_count(file), 40);
  assert_string_equal(heed_safetensors_metadata(file, "format"), "pt");
  const heed_safetensors_tensor *patch =
      heed_safetensors_find(file, "vit.embeddings.patch_embeddings.projection.weight");
  assert_true(heed_shape_equal(&patch->shape, &HEED_SHAPE(32, 3, 16, 16)));
  assert_int_equal(patch->offset, 8 + 4256 + 768);
  float *all = malloc((size_t)patch->count * sizeof *all), part[10];
  assert_ok(heed_safetensors_read(file, patch, 0, patch->count, all, &error));
  assert_memory_equal(all, bytes + patch->offset, (size_t)patch->bytes);
  assert_ok(heed_safetensors_read(file, patch, 1000, 10, part, &error));
  assert_memory_equal(part, all + 1000, sizeof part);
  free(all);
  heed_safetensors_destroy(file);
  free(bytes);
  bytes = test_read_vector("vit/micro_32/io.safetensors", &size);
  assert_ok(open_bytes(bytes, size, &file));
  assert_string_equal(heed_safetensors_metadata(file, "op"), "vit");
  assert_string_equal(heed_safetensors_metadata(file, "attrs"), "{}");
  assert_true(heed_shape_equal(&heed_safetensors_find(file, "expect.attention.1")->shape,
                               &HEED_SHAPE(2, 4, 5, 5)));
  heed_safetensors_destroy(file);
  free(bytes);
}

/* Half precision, longer than a chunk, at an odd address, from memory and through the callback, in
 * ranges. */
static void halves_are_widened(void **state) {
  (void)state;
  enum { COUNT = 20011 };
  for (int brain = 0; brain < 2; brain++) {
    test_random random = {99};
    uint16_t *halves = malloc(COUNT * sizeof *halves);
    float *found = malloc(COUNT * sizeof *found);
    for (int i = 0; i < COUNT; i++) halves[i] = (uint16_t)test_random_next(&random);
    const heed_safetensors_item items[] = {
        {"h", brain ? HEED_BF16 : HEED_F16, HEED_SHAPE(COUNT), halves},
        {"u", HEED_U8, HEED_SHAPE(3), "abc"}};
    test_bytes bytes = {malloc(1), 1}; /* one byte in front: every address odd */
    assert_ok(
        heed_safetensors_write(context, items, 2, NULL, 0, test_bytes_append, &bytes, &error));
    test_bytes inner = {bytes.data + 1, bytes.size - 1};
    const heed_source sources[] = {test_source(inner.data, inner.size),
                                   test_callback_source(&inner)};
    for (int s = 0; s < 2; s++) {
      heed_safetensors *file;
      unsigned char letters[2];
      assert_ok(heed_safetensors_open(context, &sources[s], "w.safetensors", &file, &error));
      const heed_safetensors_tensor *tensor = heed_safetensors_find(file, "h");
      for (uint64_t first = 0; first < COUNT; first += 9973) {
        const uint64_t count = COUNT - first;
        assert_ok(heed_safetensors_read(file, tensor, first, count, found, &error));
        for (uint64_t i = 0; i < count; i++) {
          const float wanted =
              brain ? heed_bf16_to_f32(halves[first + i]) : heed_f16_to_f32(halves[first + i]);
          /* 32-bit x86 returns floats by its x87 unit, which makes signalling NaNs quiet */
          if (sizeof(void *) == 4 && isnan(wanted))
            assert_true(isnan(found[i]));
          else
            assert_memory_equal(&found[i], &wanted, sizeof wanted);
        }
      }
      assert_ok(
          heed_safetensors_read(file, heed_safetensors_find(file, "u"), 1, 2, letters, &error));
      assert_memory_equal(letters, "bc", 2);
      heed_safetensors_destroy(file);
    }
    free(bytes.data);
    free(halves);
    free(found);
  }
}

static void ranges_outside(void **state) {
  (void)state;
  heed_safetensors *file;
  float out[4];
  test_bytes bytes = test_safetensors("{" TENSOR("a", "F32", "[4]", 0, 16) "}", 16);
  assert_ok(open_bytes(bytes.data, bytes.size, &file));
  const heed_safetensors_tensor *a = heed_safetensors_get(file, 0);
  assert_ok(heed_safetensors_read(file, a, 4, 0, out, &error));
  assert_fails(heed_safetensors_read(file, a, 0, 5, out, &error), HEED_INVALID_ARGUMENT,
               "tensor a: range out of bounds");
  assert_fails(heed_safetensors_read(file, a, 5, 0, out, &error), HEED_INVALID_ARGUMENT,
               "range out of bounds");
  assert_fails(heed_safetensors_read(file, a, 1, UINT64_MAX, out, &error), HEED_INVALID_ARGUMENT,
               "range out of bounds");
  heed_safetensors_destroy(file);
  free(bytes.data);
}

static heed_status failing_read(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *failure) {
  int *left = user;
  (void)to;
  (void)count;
  if ((*left)-- > 0) {
    memset(to, 0, count);
    if (offset == 0) memcpy(to, "\2\0\0\0\0\0\0\0", 8);
    return HEED_OK;
  }
  failure->status = HEED_IO;
  strcpy(failure->message, "disk: it is gone");
  return HEED_IO;
}

static void failing_source(void **state) {
  (void)state;
  heed_safetensors *file;
  for (int after = 0; after < 2; after++) {
    int left = after;
    const heed_source source = {.size = 10, .read = failing_read, .user = &left};
    assert_fails(heed_safetensors_open(context, &source, "w.safetensors", &file, &error), HEED_IO,
                 "disk: it is gone");
    assert_null(file);
  }
  const heed_source empty = {.size = 10};
  assert_fails(heed_safetensors_open(context, &empty, "w.safetensors", &file, &error),
               HEED_INVALID_ARGUMENT, "neither bytes nor a read callback");
}

static void truncated_everywhere(void **state) {
  (void)state;
  heed_safetensors *file;
  test_bytes bytes =
      test_safetensors("{\"__metadata__\":{\"k\":\"\\u00e9\"}," TENSOR(
                           "a", "F16", "[2,2]", 0, 8) "," TENSOR("b", "F32", "[1]", 8, 12) "}  ",
                       12);
  for (size_t size = 0; size < bytes.size; size++) {
    unsigned char *cut = malloc(size ? size : 1); /* of its own, so that reading past it shows */
    memcpy(cut, bytes.data, size);
    const heed_status status = open_bytes(cut, size, &file);
    if (status != HEED_INVALID_FILE)
      fail_msg("cut to %zu bytes: found %s", size, heed_status_name(status));
    free(cut);
  }
  assert_ok(open_bytes(bytes.data, bytes.size, &file));
  heed_safetensors_destroy(file);
  free(bytes.data);
}

static void allocation_failures(void **state) {
  (void)state;
  test_bytes bytes = test_safetensors(
      "{" TENSOR("a", "F16", "[2,2]", 0, 8) "," TENSOR("b", "F32", "[1]", 8, 12) "}", 12);
  const heed_source sources[] = {test_source(bytes.data, bytes.size), test_callback_source(&bytes)};
  for (int s = 0; s < 2; s++) {
    bool done = false;
    for (size_t n = 1; !done; n++) {
      test_allocator allocator = {0};
      heed_context_desc desc = test_context_desc(&allocator);
      heed_context *failing;
      heed_safetensors *file;
      assert_ok(heed_context_create(&desc, &failing, &error));
      allocator.total = 0;
      allocator.fail_at = n;
      const heed_status status =
          heed_safetensors_open(failing, &sources[s], "w.safetensors", &file, &error);
      done = allocator.total < n;
      assert_int_equal(status, done ? HEED_OK : HEED_OUT_OF_MEMORY);
      heed_safetensors_destroy(file);
      heed_context_destroy(failing);
      assert_int_equal(allocator.live, 0);
    }
  }
  free(bytes.data);
}

static void many_tensors(void **state) {
  (void)state;
  enum { COUNT = 100000 };
  char *header = malloc(COUNT * 80 + 8);
  heed_safetensors *file;
  size_t at = 0;
  header[at++] = '{';
  for (int i = 0; i < COUNT; i++) /* backwards, so that the sort has to work */
    at += (size_t)sprintf(header + at,
                          "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                          i ? "," : "", i, COUNT - 1 - i, COUNT - i);
  strcpy(header + at, "}");
  assert_ok(open_header(header, COUNT, &file));
  assert_int_equal(heed_safetensors_count(file), COUNT);
  assert_string_equal(heed_safetensors_get(file, 0)->name, "t99999");
  assert_non_null(heed_safetensors_find(file, "t31415"));
  heed_safetensors_destroy(file);
  free(header);
}

/* -------------------------------------------------------------------------------------- writing */

static void written_bytes(void **state) {
  (void)state;
  const int32_t numbers[2] = {1, -2};
  const float floats[1] = {1.5f};
  const heed_safetensors_item items[] = {{"b", HEED_U8, HEED_SHAPE(3), "xyz"},
                                         {"z", HEED_F32, {0}, floats},
                                         {"i", HEED_I32, HEED_SHAPE(2, 1), numbers},
                                         {"a", HEED_U8, HEED_SHAPE(1), "w"},
                                         {"none", HEED_F32, HEED_SHAPE(0, 2), NULL}};
  const heed_safetensors_pair pairs[] = {{"op", "ge\"l\\u\n\x01"}, {"\xC3\xA9", ""}};
  static const char header[] =
      "{\"__metadata__\":{\"op\":\"ge\\\"l\\\\u\\n\\u0001\",\"\xC3\xA9\":\"\"},"
      "\"none\":{\"dtype\":\"F32\",\"shape\":[0,2],\"data_offsets\":[0,0]},\"z\":{\"dtype\":"
      "\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
      "\"i\":{\"dtype\":\"I32\",\"shape\":[2,1],\"data_offsets\":[4,12]},\"a\":{\"dtype\":\"U8\","
      "\"shape\":[1],\"data_offsets\":[12,13]},"
      "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[13,16]}}";
  static const unsigned char data[] = {0,    0,    0xC0, 0x3F, 1,   0,   0,   0,
                                       0xFE, 0xFF, 0xFF, 0xFF, 'w', 'x', 'y', 'z'};
  const size_t length = sizeof header - 1, padded = (length + 7) / 8 * 8;
  test_bytes bytes = {NULL, 0};
  heed_safetensors *file;
  assert_ok(heed_safetensors_write(context, items, 5, pairs, 2, test_bytes_append, &bytes, &error));
  assert_int_equal(bytes.size, 8 + padded + sizeof data);
  assert_int_equal(bytes.data[0] + 256 * bytes.data[1], padded);
  assert_memory_equal(bytes.data + 8, header, length);
  for (size_t i = length; i < padded; i++) assert_int_equal(bytes.data[8 + i], ' ');
  assert_memory_equal(bytes.data + 8 + padded, data, sizeof data);
  assert_ok(open_bytes(bytes.data, bytes.size, &file));
  assert_string_equal(heed_safetensors_metadata(file, "op"), pairs[0].text);
  assert_int_equal(heed_safetensors_find(file, "none")->count, 0);
  heed_safetensors_destroy(file);
  free(bytes.data);
}

static heed_status no_space(void *user, const void *bytes, size_t count, heed_error *failure) {
  size_t *left = user;
  (void)bytes;
  if (*left >= count) {
    *left -= count;
    return HEED_OK;
  }
  failure->status = HEED_IO;
  strcpy(failure->message, "out.safetensors: no space left");
  return HEED_IO;
}

static void writing_refuses(void **state) {
  (void)state;
  test_bytes bytes = {NULL, 0};
  const heed_safetensors_item good = {"a", HEED_U8, HEED_SHAPE(1), "w"};
  const heed_safetensors_item twice[] = {good, {"b", HEED_F32, HEED_SHAPE(0), NULL}, good};
  const heed_safetensors_item utf8[] = {{"\xFF", HEED_U8, HEED_SHAPE(1), "w"}},
                              meta[] = {{"__metadata__", HEED_U8, HEED_SHAPE(1), "w"}};
  const heed_safetensors_item empty[] = {{"a", HEED_U8, HEED_SHAPE(1), NULL}},
                              dtype[] = {{"a", (heed_dtype)9, HEED_SHAPE(1), "w"}};
  const heed_safetensors_pair pair = {"k", "\xC3("};
#define REFUSED(items, count, part)                                                              \
  assert_fails(                                                                                  \
      heed_safetensors_write(context, items, count, NULL, 0, test_bytes_append, &bytes, &error), \
      HEED_INVALID_ARGUMENT, part)
  REFUSED(twice, 3, "duplicate tensor a");
  REFUSED(utf8, 1, "not UTF-8");
  REFUSED(meta, 1, "invalid tensor name");
  REFUSED(empty, 1, "tensor a has no data (expected 1 bytes)");
  REFUSED(dtype, 1, "no valid dtype");
  assert_fails(
      heed_safetensors_write(context, &good, 1, &pair, 1, test_bytes_append, &bytes, &error),
      HEED_INVALID_ARGUMENT, "not UTF-8");
  assert_int_equal(bytes.size, 0);
  for (size_t room = 0; room < 8 + 56 + 1; room++) { /* size, header, data */
    size_t left = room;
    assert_fails(heed_safetensors_write(context, &good, 1, NULL, 0, no_space, &left, &error),
                 HEED_IO, "no space left");
  }
  assert_ok(heed_safetensors_write(context, NULL, 0, NULL, 0, test_bytes_append, &bytes, &error));
  assert_int_equal(bytes.size, 16);
  free(bytes.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(header_too_small),
      cmocka_unit_test(header_too_large),
      cmocka_unit_test(invalid_header_length),
      cmocka_unit_test(invalid_header_utf8),
      cmocka_unit_test(invalid_header_json),
      cmocka_unit_test(invalid_header_types),
      cmocka_unit_test(invalid_metadata),
      cmocka_unit_test(duplicate_names),
      cmocka_unit_test(invalid_offset_overlap),
      cmocka_unit_test(invalid_offset_hole),
      cmocka_unit_test(invalid_offset_reversed),
      cmocka_unit_test(validation_overflow),
      cmocka_unit_test(misaligned_slice),
      cmocka_unit_test(tensor_invalid_info),
      cmocka_unit_test(metadata_incomplete_buffer),
      cmocka_unit_test(accepted_files),
      cmocka_unit_test(every_dtype),
      cmocka_unit_test(doubles_are_narrowed),
      cmocka_unit_test(many_axes),
      cmocka_unit_test(table_of_a_file),
      cmocka_unit_test(oracle_files),
      cmocka_unit_test(halves_are_widened),
      cmocka_unit_test(ranges_outside),
      cmocka_unit_test(failing_source),
      cmocka_unit_test(truncated_everywhere),
      cmocka_unit_test(allocation_failures),
      cmocka_unit_test(many_tensors),
      cmocka_unit_test(written_bytes),
      cmocka_unit_test(writing_refuses),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
