/* Any bytes as a case file of `heed check`, as it is and with the header's length put right. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/header_length.h"
#include "heed/check.h"
#include "support/test.h"
#include "support/weights.h"

static heed_status take(void *user, const char *name, heed_dtype dtype, const heed_shape *shape,
                        const void *data, heed_error *error) {
  (void)user;
  (void)error;
  uint64_t count = 1;
  for (uint32_t i = 0; i < shape->rank; i++) count *= shape->dim[i];
  const unsigned char *bytes = data;
  volatile unsigned char seen = bytes[0];
  seen = bytes[count * heed_dtype_size(dtype) - 1];
  (void)seen;
  if (!name[0]) abort();
  return HEED_OK;
}

static void try_case(heed_context *context, heed_backend *backend, const uint8_t *data,
                     size_t size) {
  heed_check_result result;
  heed_error error;
  const heed_status status =
      heed_check_case(context, backend, data, size, 0.0, take, NULL, &result, &error);
  if (status == HEED_OK) {
    if (!result.op[0] || !memchr(result.worst, 0, sizeof result.worst)) abort();
  } else {
    if (status != HEED_INVALID_ARGUMENT) fuzz_must_refuse(status, &error);
    if (!error.message[0]) abort();
  }
}

void fuzz_read(const uint8_t *data, size_t size) {
  const heed_cpu_desc one = {sizeof one, 1, "scalar"};
  heed_context *context = fuzz_context();
  heed_backend *backend = NULL;
  heed_error error;
  unsigned char *repaired = malloc(size ? size : 1);
  if (!repaired) abort();
  if (size) memcpy(repaired, data, size);
  fuzz_repair_length(repaired, size);
  if (context && heed_cpu_backend_create(context, &one, &backend, &error) == HEED_OK) {
    try_case(context, backend, data, size);
    if (size >= 8 && memcmp(repaired, data, size) != 0) try_case(context, backend, repaired, size);
  }
  fuzz_must(backend != NULL, "no backend");
  free(repaired);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
}

/* The attributes are JSON in a text of the header: quotes in it have a backslash. False: there are
 * none. */
static bool change_attributes(fuzz_input *input, test_random *random) {
  static const char key[] = "\"attrs\":\"";
  static const char *const words[] = {"\"axis\"", "\"scale\"", "\"none\"",   "[1,0]", "[1,2,3]",
                                      "[]",       "-1",        "2147483648", "0.5",   "null",
                                      "true",     "\"same\"",  "{}",         NULL};
  size_t begin = 8;
  while (begin + sizeof key < input->size && memcmp(input->bytes + begin, key, sizeof key - 1) != 0)
    begin++;
  if (begin + sizeof key >= input->size) return false;
  begin += sizeof key - 1;
  size_t end = begin;
  fuzz_input plain = fuzz_part(input->bytes, 0, 4096);
  for (; end < input->size && input->bytes[end] != '"' && plain.size < plain.room; end++) {
    if (input->bytes[end] == '\\' && ++end == input->size) break;
    plain.bytes[plain.size++] = input->bytes[end];
  }
  fuzz_change_json(&plain, random, words);
  fuzz_input text = fuzz_part(input->bytes, 0, 2 * plain.room);
  for (size_t i = 0; i < plain.size; i++) {
    if (plain.bytes[i] == '"' || plain.bytes[i] == '\\') text.bytes[text.size++] = '\\';
    text.bytes[text.size++] = plain.bytes[i];
  }
  if (end <= input->size) fuzz_put(input, begin, end - begin, text.bytes, text.size);
  fuzz_repair_length(input->bytes, input->size);
  free(plain.bytes);
  free(text.bytes);
  return true;
}

void fuzz_change(fuzz_input *input, test_random *random) {
  if (test_random_below(random, 2) == 0 && change_attributes(input, random)) return;
  fuzz_change_safetensors(input, random);
}

#ifndef HEED_LIBFUZZER
#define F32(name, shape, begin, end) \
  "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin "," #end "]}"

int main(int argc, char **argv) {
  static const char *const words[] = {"{",
                                      "}",
                                      "[",
                                      "]",
                                      ",",
                                      "[2,1]",
                                      "[1,1,2,2]",
                                      "attention",
                                      "softmax",
                                      "linear",
                                      "\\\"axis\\\":",
                                      "\\\"scale\\\":0.5,",
                                      "\\\"causal\\\":true,",
                                      "\\\"window\\\":[1,0],",
                                      "expect.output",
                                      "\"I32\"",
                                      "\"F16\"",
                                      NULL};
  static const char *const files[] = {"general/pad.safetensors",
                                      "general/slice.safetensors",
                                      "general/gather.safetensors",
                                      "general/argmax.safetensors",
                                      "general/power.safetensors",
                                      "masks/decoder_self.safetensors",
                                      "worked/retrieval.safetensors",
                                      "general/select.safetensors",
                                      NULL};
  fuzz_seed seeds[9];
  unsigned char *read[8];
  size_t count = 0;
  for (; files[count]; count++) {
    read[count] = test_read_vector(files[count], &seeds[count].size);
    seeds[count].bytes = read[count];
  }
  const test_bytes attention = test_safetensors(
      "{\"__metadata__\":{\"op\":\"attention\",\"attrs\":\"{\\\"scale\\\":0.5}\"}," F32(
          "query", "[1,1,2,2]", 0, 16) "," F32("key", "[1,1,2,2]", 16,
                                               32) "," F32("value", "[1,1,2,2]", 32, 48) "}",
      48);
  seeds[count].bytes = attention.data;
  seeds[count].size = attention.size;
  const int status = fuzz_main(argc, argv, seeds, count + 1, words);
  for (size_t i = 0; i < count; i++) free(read[i]);
  free(attention.data);
  return status;
}
#endif
