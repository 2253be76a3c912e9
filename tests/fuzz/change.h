/* Changes of inputs that keep their format: lengths, commas and check sums are right again, so that
 * a change reaches what reads the fields. Each makes one change and leaves size <= room. */
#ifndef HEED_TESTS_FUZZ_CHANGE_H
#define HEED_TESTS_FUZZ_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/test.h"

typedef struct fuzz_input {
  uint8_t *bytes;
  size_t size, room;
} fuzz_input;

/* Any bytes: libFuzzer's own changes, or in a test those of fuzz.c. */
void fuzz_change_bytes(fuzz_input *input, test_random *random);
/* JSON: values, members and keys. `words`: NULL-terminated values and keys to put in; or NULL. */
void fuzz_change_json(fuzz_input *input, test_random *random, const char *const *words);
/* A safetensors file: its header as JSON, its length, and as much data as the header says. */
void fuzz_change_safetensors(fuzz_input *input, test_random *random);
/* An ONNX file: fields of its messages. */
void fuzz_change_onnx(fuzz_input *input, test_random *random);
/* A file of PyTorch in any form: opcodes of its pickles, entries and fields of its zip. */
void fuzz_change_torch(fuzz_input *input, test_random *random);
/* Lines of a text. */
void fuzz_change_lines(fuzz_input *input, test_random *random);

/* The largest end of data that a header of a safetensors file promises. */
uint64_t fuzz_promised_data(const uint8_t *header, size_t size);

/* `count` bytes at `at` become `size` bytes of `with`; false, and nothing: there is no room. */
bool fuzz_put(fuzz_input *input, size_t at, size_t count, const void *with, size_t size);
/* A copy of a part of an input with this room, to change it alone. Free bytes. */
fuzz_input fuzz_part(const uint8_t *bytes, size_t size, size_t room);

#endif
