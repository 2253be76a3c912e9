/* Files of PyTorch made in memory for tests: zip files, and pickles of a few opcodes. */
#ifndef HEED_TESTS_SUPPORT_TORCH_FILE_H
#define HEED_TESTS_SUPPORT_TORCH_FILE_H

#include "support/weights.h"

typedef struct test_zip_entry {
  const char *name;
  const void *data;
  size_t size;
  unsigned method, flags;
} test_zip_entry;

/* A zip file of these entries; zip64: all sizes and places in its 64-bit fields. Free data. */
test_bytes test_zip(const test_zip_entry *entries, size_t count, bool zip64);
/* A zip file with a/data.pkl and 24 bytes 0, 1, ... as a/data/0. */
test_bytes test_torch_zip(const void *pickle, size_t size);
/* A file of the form before 1.6 with this pickle and one storage of 6 floats under the key "0". */
test_bytes test_torch_legacy(const void *pickle, size_t size);

/* A pickle: before, then `piece` `times` times, then after. Free data. */
test_bytes test_repeated(const char *before, const char *piece, size_t piece_size, size_t times,
                         const char *after);

/* Opcodes. A tensor of storage "0": offset, shape and strides as opcodes. */
#define TEST_STORAGE(type, elements)             \
  "(X\7\0\0\0storagectorch\n" type "\nX\1\0\0\0" \
  "0X\3\0\0\0cpuK" elements "tQ"
#define TEST_TENSOR_OF(storage, offset, shape, stride) \
  "ctorch._utils\n_rebuild_tensor_v2\n(" storage offset shape stride "\x89)tR"
#define TEST_TENSOR(offset, shape, stride) \
  TEST_TENSOR_OF(TEST_STORAGE("FloatStorage", "\6"), offset, shape, stride)
#define TEST_2_3 "K\2K\3\x86"
#define TEST_3_1 "K\3K\1\x86"
#define TEST_PLAIN TEST_TENSOR("K\0", TEST_2_3, TEST_3_1)
/* {"w": value}, a whole pickle. */
#define TEST_DICT(value) "\x80\2}X\1\0\0\0w" value "s."

#endif
