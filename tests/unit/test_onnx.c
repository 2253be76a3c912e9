/* Weights of ONNX files that torch exported, as they are and quantised, beside those that they were
 * made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "onnx/file/array.h"
#include "support/onnx_file.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;

typedef struct opened {
  unsigned char *bytes;
  heed_onnx *onnx;
  heed_safetensors *tensors;
  heed_source source;
} opened;

static opened open_vector(const char *name) {
  opened file = {0};
  size_t size;
  file.bytes = test_read_vector(name, &size);
  const heed_source raw = {size, file.bytes, NULL, NULL};
  file.source = raw;
  if (strstr(name, ".onnx")) {
    const heed_onnx_desc desc = {sizeof desc, raw, name, NULL, NULL};
    assert_ok(heed_onnx_open(context, &desc, &file.onnx, &error));
    file.source = heed_onnx_source(file.onnx);
  }
  assert_ok(heed_safetensors_open(context, &file.source, name, &file.tensors, &error));
  return file;
}

static void close_file(opened *file) {
  heed_safetensors_destroy(file->tensors);
  heed_onnx_destroy(file->onnx);
  free(file->bytes);
}

static float *read_whole(const opened *file, const heed_safetensors_tensor *tensor) {
  float *values = malloc((size_t)tensor->count * sizeof *values);
  assert_ok(heed_safetensors_read(file->tensors, tensor, 0, tensor->count, values, &error));
  return values;
}

/* Every tensor of `expected` is in `name`, with these numbers. */
static void compare(const char *name, const char *expected, double tolerance, uint32_t least) {
  opened found = open_vector(name), want = open_vector(expected);
  const uint32_t count = heed_safetensors_count(want.tensors);
  assert_true(count >= least);
  for (uint32_t i = 0; i < count; i++) {
    const heed_safetensors_tensor *b = heed_safetensors_get(want.tensors, i),
                                  *a = heed_safetensors_find(found.tensors, b->name);
    if (!a) fail_msg("%s: no tensor %s", name, b->name);
    assert_true(heed_shape_equal(&a->shape, &b->shape));
    float *x = read_whole(&found, a), *y = read_whole(&want, b);
    for (uint64_t k = 0; k < b->count; k++)
      if (!(fabs((double)x[k] - (double)y[k]) <= tolerance * (1 + fabs((double)y[k]))))
        fail_msg("%s: %s[%llu]: found %g, expected %g", name, b->name, (unsigned long long)k,
                 (double)x[k], (double)y[k]);
    free(x);
    free(y);
  }
  close_file(&found);
  close_file(&want);
}

static void test_q8(void **state) {
  (void)state;
  compare("onnx/vit/onnx/model_quantized.onnx", "onnx/expected_q8.safetensors", 0, 12);
}

static void test_q4(void **state) {
  (void)state;
  compare("onnx/vit/onnx/model_q4.onnx", "onnx/expected_q4.safetensors", 0, 12);
}

static void test_fp16(void **state) {
  (void)state;
  compare("onnx/vit/onnx/model_fp16.onnx", "onnx/model.onnx", 1.0 / 2048, 40);
}

/* Rounding leaves the weights near those of the model itself: a name is not another's. */
static void test_near(void **state) {
  (void)state;
  compare("onnx/vit/onnx/model_quantized.onnx", "onnx/model.onnx", 0.01, 40);
  compare("onnx/vit/onnx/model_q4.onnx", "onnx/model.onnx", 0.1, 40);
}

/* The graph as it is: outputs and every attention of the reference, which is independent. */
static void test_graph(void **state) {
  (void)state;
  opened model = open_vector("onnx/model.onnx"), want = open_vector("onnx/io.safetensors");
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = want.source, .name = "io", .attentions = true};
  heed_onnx_result *result;
  heed_safetensors *got;
  uint32_t compared = 0;
  assert_string_equal(heed_onnx_attention_name(model.onnx, 1), "/layer.1/attention/Softmax");
  assert_null(heed_onnx_attention_name(model.onnx, 2));
  assert_null(heed_onnx_missing_op(model.onnx, 0));
  assert_ok(heed_onnx_evaluate(model.onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(heed_safetensors_open(context, &source, "result", &got, &error));
  opened made = {.tensors = got, .source = source};
  for (uint32_t i = 0; i < heed_safetensors_count(got); i++) {
    const heed_safetensors_tensor *a = heed_safetensors_get(got, i),
                                  *b = heed_safetensors_find(want.tensors, a->name);
    if (!b) continue;
    assert_true(heed_shape_equal(&a->shape, &b->shape));
    float *x = read_whole(&made, a), *y = read_whole(&want, b);
    for (uint64_t k = 0; k < b->count; k++)
      if (!(fabs((double)x[k] - (double)y[k]) <= 2e-5 * (1 + fabs((double)y[k]))))
        fail_msg("%s[%llu]: found %g, expected %g", a->name, (unsigned long long)k, (double)x[k],
                 (double)y[k]);
    free(x);
    free(y);
    compared++;
  }
  assert_int_equal(compared, 4);
  heed_safetensors_destroy(got);
  heed_onnx_result_destroy(result);
  close_file(&model);
  close_file(&want);
}

/* A file with one attention, of query, key and value [1, 1, 4, 3] or [1, 4, 3], each 0, 0.5, 1 ...
 */
static test_message attention_file(const char *op, uint32_t rank) {
  static const uint32_t dims[] = {1, 1, 4, 3};
  test_message graph = {0}, heads = {0};
  test_put_floats(&graph, "q", rank, dims + 4 - rank);
  test_put_floats(&graph, "k", rank, dims + 4 - rank);
  test_put_floats(&graph, "v", rank, dims + 4 - rank);
  test_put_integer(&heads, rank == 4 ? "q_num_heads" : "num_heads", 1);
  test_put_node(&graph, op, "one", "q,k,v", "y", &heads);
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

static void compare_weights(const float *found) {
  for (int q = 0; q < 4; q++) {
    double row[4], sum = 0;
    for (int k = 0; k < 4; k++) {
      double score = 0;
      for (int d = 0; d < 3; d++) score += 0.25 * (q * 3 + d) * (k * 3 + d);
      sum += row[k] = exp(score / sqrt(3));
    }
    for (int k = 0; k < 4; k++) assert_true(fabs((double)found[q * 4 + k] - row[k] / sum) < 1e-6);
  }
}

/* The weights of an attention that is one node, whose graph has no value for them. */
static void test_attention_node(void **state) {
  (void)state;
  static const unsigned char nothing[] = "\x18\0\0\0\0\0\0\0{\"__metadata__\":{}}     ";
  for (uint32_t rank = 3; rank <= 4; rank++) {
    test_message file = attention_file(rank == 4 ? "Attention" : "MultiHeadAttention", rank);
    const heed_onnx_desc desc = {
        sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
    const heed_onnx_evaluate_desc run = {.struct_size = sizeof run,
                                         .inputs = {sizeof nothing - 1, nothing, NULL, NULL},
                                         .attentions = true};
    heed_onnx_result *result;
    opened made = {0};
    assert_ok(heed_onnx_open(context, &desc, &made.onnx, &error));
    assert_string_equal(heed_onnx_attention_name(made.onnx, 0), "one");
    assert_ok(heed_onnx_evaluate(made.onnx, &run, &result, &error));
    made.source = heed_onnx_result_source(result);
    assert_ok(heed_safetensors_open(context, &made.source, "result", &made.tensors, &error));
    const heed_safetensors_tensor *weights = heed_safetensors_find(made.tensors, "attention.0");
    assert_non_null(weights);
    assert_int_equal(weights->count, 16);
    float *found = read_whole(&made, weights);
    compare_weights(found);
    free(found);
    heed_safetensors_destroy(made.tensors);
    heed_onnx_result_destroy(result);
    heed_onnx_destroy(made.onnx);
    free(file.data);
  }
}

/* The number of a code, from its bits: another way than the library's. */
static double small_number(uint32_t type, unsigned code) {
  const bool half = type == HEED_ONNX_FLOAT8E5M2 || type == HEED_ONNX_FLOAT8E5M2FNUZ;
  const unsigned mantissa_bits = type == HEED_ONNX_FLOAT4E2M1 ? 1
                                 : half                       ? 2
                                                              : 3,
                 bits = type == HEED_ONNX_FLOAT4E2M1 ? 4 : 8, sign = code >> (bits - 1),
                 size = code & ((1u << (bits - 1)) - 1);
  const int bias = type == HEED_ONNX_FLOAT4E2M1       ? 1
                   : type == HEED_ONNX_FLOAT8E4M3FN   ? 7
                   : type == HEED_ONNX_FLOAT8E4M3FNUZ ? 8
                   : type == HEED_ONNX_FLOAT8E5M2     ? 15
                                                      : 16;
  double value = 0;
  for (unsigned k = 0; k < size; k++) { /* steps double each 2^mantissa_bits codes */
    const int power = (int)(k >> mantissa_bits);
    value += pow(2, (power ? power : 1) - bias - (int)mantissa_bits);
  }
  return sign ? -value : value;
}

/* Each code stands for its own number, and a number goes to the nearest, of two to the even. */
static void test_small_floats(void **state) {
  static const struct {
    uint32_t type, most; /* the code of the largest number */
    bool zero;           /* minus zero is a code of its own */
  } types[] = {{HEED_ONNX_FLOAT8E4M3FN, 0x7E, true},
               {HEED_ONNX_FLOAT8E4M3FNUZ, 0x7F, false},
               {HEED_ONNX_FLOAT8E5M2, 0x7B, true},
               {HEED_ONNX_FLOAT8E5M2FNUZ, 0x7F, false},
               {HEED_ONNX_FLOAT4E2M1, 7, true}};
  (void)state;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    const uint32_t type = types[t].type;
    const unsigned sign = type == HEED_ONNX_FLOAT4E2M1 ? 8 : 0x80;
    for (unsigned code = 0; code <= types[t].most; code++) {
      const double number = small_number(type, code);
      assert_true(heed_onnx_decode_small(type, (uint8_t)code) == number);
      assert_int_equal(heed_onnx_encode_small(type, number), code);
      if (!code && !types[t].zero) continue;
      assert_true(heed_onnx_decode_small(type, (uint8_t)(code | sign)) == -number);
      assert_int_equal(heed_onnx_encode_small(type, -number), code | sign);
      if (code == types[t].most) continue;
      const double next = small_number(type, code + 1), middle = (number + next) / 2,
                   even = code % 2 ? next : number, little = (next - number) / 1024;
      assert_true(heed_onnx_round_small(type, middle, HEED_ONNX_SATURATE) == even);
      assert_true(heed_onnx_round_small(type, middle - little, HEED_ONNX_SATURATE) == number);
      assert_true(heed_onnx_round_small(type, -middle - little, HEED_ONNX_SATURATE) == -next);
    }
    const double most = small_number(type, types[t].most);
    assert_true(heed_onnx_round_small(type, 1e9, HEED_ONNX_SATURATE) == most);
    assert_true(heed_onnx_round_small(type, -HUGE_VAL, HEED_ONNX_SATURATE) == -most);
    const double beyond = heed_onnx_round_small(type, 1e9, 0);
    assert_true(type == HEED_ONNX_FLOAT4E2M1   ? beyond == most
                : type == HEED_ONNX_FLOAT8E5M2 ? isinf(beyond)
                                               : isnan(beyond));
    if (type != HEED_ONNX_FLOAT4E2M1)
      assert_true(isnan(heed_onnx_decode_small(type, heed_onnx_encode_small(type, (double)NAN))));
  }
  for (unsigned code = 0; code < 255; code++) {
    assert_true(heed_onnx_decode_small(HEED_ONNX_FLOAT8E8M0, (uint8_t)code) ==
                pow(2, (int)code - 127));
    assert_int_equal(heed_onnx_encode_small(HEED_ONNX_FLOAT8E8M0, pow(2, (int)code - 127)), code);
  }
  assert_true(heed_onnx_round_small(HEED_ONNX_FLOAT8E8M0, 4.1, 0) == 8);
  assert_true(heed_onnx_round_small(HEED_ONNX_FLOAT8E8M0, 7.9, HEED_ONNX_DOWN) == 4);
  assert_true(heed_onnx_round_small(HEED_ONNX_FLOAT8E8M0, 5.9, HEED_ONNX_NEAREST) == 4);
  assert_true(heed_onnx_round_small(HEED_ONNX_FLOAT8E8M0, 6, HEED_ONNX_NEAREST) == 8);
}

/* At the ends of the formats: what is no number, infinite, zero, too large or too small. */
static void test_ends_of_small_floats(void **state) {
  static const uint32_t types[] = {HEED_ONNX_FLOAT8E4M3FN, HEED_ONNX_FLOAT8E4M3FNUZ,
                                   HEED_ONNX_FLOAT8E5M2,   HEED_ONNX_FLOAT8E5M2FNUZ,
                                   HEED_ONNX_FLOAT4E2M1,   HEED_ONNX_FLOAT8E8M0};
  static const uint8_t nans[] = {0x7F, 0x80, 0x7E, 0x80};
  (void)state;
  for (size_t t = 0; t < 6; t++) {
    assert_true(heed_onnx_is_small_float(types[t]));
    const double rounded = heed_onnx_round_small(types[t], (double)NAN, 0),
                 zero = heed_onnx_round_small(types[t], -0.0, 0);
    if (types[t] == HEED_ONNX_FLOAT8E8M0) continue;
    assert_true(types[t] == HEED_ONNX_FLOAT4E2M1 ? rounded == 0 : isnan(rounded));
    const bool unsigned_zero =
        types[t] == HEED_ONNX_FLOAT8E4M3FNUZ || types[t] == HEED_ONNX_FLOAT8E5M2FNUZ;
    assert_true(zero == 0 && !signbit(zero) == unsigned_zero);
    if (types[t] != HEED_ONNX_FLOAT4E2M1)
      assert_int_equal(heed_onnx_encode_small(types[t], (double)NAN), nans[t]);
  }
  assert_false(heed_onnx_is_small_float(HEED_ONNX_FLOAT));
  assert_int_equal(heed_onnx_encode_small(HEED_ONNX_FLOAT8E4M3FN, copysign((double)NAN, -1)), 0xFF);
  assert_int_equal(heed_onnx_encode_small(HEED_ONNX_FLOAT8E5M2, HUGE_VAL), 0x7C);
  assert_int_equal(heed_onnx_encode_small(HEED_ONNX_FLOAT8E5M2, -HUGE_VAL), 0xFC);
  assert_true(heed_onnx_decode_small(HEED_ONNX_FLOAT8E5M2, 0x7C) == HUGE_VAL);
  assert_true(heed_onnx_decode_small(HEED_ONNX_FLOAT8E5M2, 0xFC) == -HUGE_VAL);
  for (int code = 0x7D; code <= 0x7F; code++)
    assert_true(isnan(heed_onnx_decode_small(HEED_ONNX_FLOAT8E5M2, (uint8_t)code)));
  /* powers of two: from 2^-127 to 2^127, and no number */
  const uint32_t power = HEED_ONNX_FLOAT8E8M0;
  assert_true(isnan(heed_onnx_decode_small(power, 0xFF)));
  assert_int_equal(heed_onnx_encode_small(power, (double)NAN), 0xFF);
  assert_true(isnan(heed_onnx_round_small(power, (double)NAN, 0)));
  assert_true(isnan(heed_onnx_round_small(power, -HUGE_VAL, HEED_ONNX_SATURATE)));
  assert_true(heed_onnx_round_small(power, -3, HEED_ONNX_DOWN) == 2);
  assert_true(heed_onnx_round_small(power, 0, 0) == 0x1p-127);
  assert_true(heed_onnx_round_small(power, 0x1p-130, 0) == 0x1p-126);
  assert_true(heed_onnx_round_small(power, 0x1p-130, HEED_ONNX_DOWN) == 0x1p-127);
  assert_true(heed_onnx_round_small(power, 0x1p-130, HEED_ONNX_NEAREST) == 0x1p-127);
  assert_true(heed_onnx_round_small(power, 0x1.8p127, HEED_ONNX_SATURATE) == 0x1p127);
  assert_true(isnan(heed_onnx_round_small(power, 0x1.8p127, 0)));
  assert_true(heed_onnx_round_small(power, 0x1.8p127, HEED_ONNX_DOWN) == 0x1p127);
}

/* Inputs and outputs in the order of the file; a weight among the inputs is none of them. */
static void test_ports(void **state) {
  static const uint32_t open[] = {0, 3, 8, 0}, matrix[] = {2, 3};
  heed_onnx_port port;
  heed_onnx *onnx;
  (void)state;
  test_message graph = {0};
  test_put_floats(&graph, "w", 2, matrix);
  test_put_value(&graph, 11, "w");
  test_put_shaped(&graph, 11, "image", 4, open);
  test_put_text(&graph, 11, "\x0A\x01x"); /* without a type */
  test_put_node(&graph, "Add", "n", "x,w", "y", NULL);
  test_put_value(&graph, 12, "y");
  test_put_text(&graph, 12, "\x0A\x05image");
  test_message file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_true(heed_onnx_takes(onnx, 0, &port));
  assert_string_equal(port.name, "image");
  assert_string_equal(port.dtype, "F32");
  assert_true(port.shaped);
  assert_int_equal(port.rank, 4);
  for (uint32_t i = 0; i < 4; i++) assert_int_equal(port.dim[i], open[i] ? (int)open[i] : -1);
  assert_true(heed_onnx_takes(onnx, 1, &port));
  assert_string_equal(port.name, "x");
  assert_null(port.dtype);
  assert_false(port.shaped);
  assert_false(heed_onnx_takes(onnx, 2, &port));
  assert_true(heed_onnx_gives(onnx, 0, &port));
  assert_string_equal(port.name, "y");
  assert_int_equal(port.dim[1], 3);
  assert_true(heed_onnx_gives(onnx, 1, &port));
  assert_string_equal(port.name, "image");
  assert_int_equal(port.rank, 0);
  assert_false(heed_onnx_gives(onnx, 2, &port));
  heed_onnx_destroy(onnx);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ports),
                                     cmocka_unit_test(test_q8),
                                     cmocka_unit_test(test_q4),
                                     cmocka_unit_test(test_fp16),
                                     cmocka_unit_test(test_near),
                                     cmocka_unit_test(test_graph),
                                     cmocka_unit_test(test_attention_node),
                                     cmocka_unit_test(test_small_floats),
                                     cmocka_unit_test(test_ends_of_small_floats)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK) return 1;
  const int failed = cmocka_run_group_tests_name("onnx", tests, NULL, NULL);
  heed_context_destroy(context);
  return failed;
}
