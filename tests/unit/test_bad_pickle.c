/* Files of PyTorch that are hostile or damaged: each gets its sentence, and nothing is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/opened_pickle.h"

static void refuse(test_bytes bytes, heed_status status, const char *part) {
  /* memory of its own size, so that reading past it shows */
  unsigned char *copy = malloc(bytes.size ? bytes.size : 1);
  if (bytes.size) memcpy(copy, bytes.data, bytes.size);
  const heed_source source = test_source(copy, bytes.size);
  opened_pickle opened;
  assert_fails(open_pickle(&source, &opened), status, part);
  if (strncmp(error.message, "w.pth: ", 7) != 0) fail_msg("no place in \"%s\"", error.message);
  free(copy);
  free(bytes.data);
}

static void refuse_pickle(const void *pickle, size_t size, heed_status status, const char *part) {
  refuse(test_torch_zip(pickle, size), status, part);
  refuse(test_torch_legacy(pickle, size), status, part);
}

/* Without a tensor: the other form would first miss its storage. */
#define REFUSE_ZIP(pickle, status, part) \
  refuse(test_torch_zip(pickle, sizeof(pickle) - 1), HEED_##status, part)
#define REFUSE(pickle, status, part) refuse_pickle(pickle, sizeof(pickle) - 1, HEED_##status, part)
#define W "X\1\0\0\0w"
#define MINUS "J\xFF\xFF\xFF\xFF"
#define SHAPED(offset, shape, stride) TEST_DICT(TEST_TENSOR(offset, shape, stride))
#define STORED(storage) TEST_DICT(TEST_TENSOR_OF(storage, "K\0", TEST_2_3, TEST_3_1))

static void test_calls(void **state) {
  (void)state;
  REFUSE("\x80\2cos\nsystem\nX\2\0\0\0ls\x85R.", INVALID_FILE,
         "unsafe file (found a call of os.system");
  REFUSE("\x80\2}" W TEST_PLAIN "sX\1\0\0\0xcposix\nsystem\nX\2\0\0\0ls\x85Rs.", INVALID_FILE,
         "unsafe file (found a call of posix.system");
  REFUSE("\x80\4\x8C\x0A"
         "subprocess\x8C\5Popen\x93)\x81.",
         INVALID_FILE, "unsafe file (found a call of subprocess.Popen");
  REFUSE("\x80\4\x8C\2os\x8C\6system\x93)}\x92.", INVALID_FILE, "a call of os.system");
  REFUSE("\x80\2c__builtin__\neval\nX\1\0\0\0"
         "1\x85R.",
         INVALID_FILE, "a call of __builtin__.eval");
  REFUSE("\x80\2cbuiltins\nexec\nX\1\0\0\0"
         "1\x85R.",
         INVALID_FILE, "a call of builtins.exec");
  REFUSE_ZIP("\x80\2cfoo\nbar\n)R.", INVALID_FILE, "no tensors (found an object of foo.bar");
  REFUSE_ZIP("\x80\2}" W "cfoo\nbar\n(K\1K\2tRs.", INVALID_FILE,
             "no tensors (found a dictionary of 1 entry");
  REFUSE("\x80\2}" W "ctorch._utils\n_rebuild_qtensor\n)Rs" W TEST_PLAIN "s.", UNSUPPORTED,
         "tensor w is not supported (found one of torch._utils._rebuild_qtensor");
}

static void test_no_state_dict(void **state) {
  (void)state;
  REFUSE("\x80\2" TEST_PLAIN ".", INVALID_FILE, "no tensors (found a tensor");
  REFUSE("\x80\2]" TEST_PLAIN "a.", INVALID_FILE, "no tensors (found a list");
  REFUSE_ZIP("\x80\2}.", INVALID_FILE, "no tensors (found a dictionary of 0 entries");
  REFUSE_ZIP("\x80\2N.", INVALID_FILE, "no tensors (found None");
  REFUSE("\x80\2}K\1" TEST_PLAIN "s.", INVALID_FILE, "no tensors"); /* a number as name */
  REFUSE("\x80\2}X\2\0\0\0w\0" TEST_PLAIN "s.", INVALID_FILE, "invalid name of a tensor");
  REFUSE("\x80\2}X\1\0\0\0\xFF" TEST_PLAIN "s.", INVALID_FILE, "no UTF-8");
  REFUSE("\x80\2}" W TEST_PLAIN "s" W TEST_PLAIN "s.", INVALID_FILE, "w.pth: ");
}

static void test_opcodes(void **state) {
  (void)state;
  REFUSE("\x80\1}.", INVALID_FILE, "another protocol");
  REFUSE("\x80\6}.", INVALID_FILE, "another protocol");
  REFUSE("\x80\2(icopy\nx\n.", UNSUPPORTED, "found opcode 105");
  REFUSE("\x80\5\x97.", UNSUPPORTED, "found opcode 151");
  REFUSE("\x80\2.", INVALID_FILE, "nothing on the stack");
  REFUSE("\x80\2(.", INVALID_FILE, "nothing on the stack");
  REFUSE("\x80\2}(0s.", INVALID_FILE, "nothing on the stack");
  REFUSE("\x80\2K\1(0a.", INVALID_FILE, "nothing on the stack");
  REFUSE("\x80\2}u.", INVALID_FILE, "no mark on the stack");
  REFUSE("\x80\2N\x86.", INVALID_FILE, "too few values");
  REFUSE("\x80\2N(N\x86.", INVALID_FILE, "too few values"); /* behind a mark */
  REFUSE("\x80\2K\1K\1a.", INVALID_FILE, "an item for what holds none");
  REFUSE("\x80\2)NNs.", INVALID_FILE, "an item for what holds none");
  REFUSE("\x80\2}(Nu.", INVALID_FILE, "a key without value");
  REFUSE("\x80\2h\0.", INVALID_FILE, "a memo number that was not put");
  REFUSE("\x80\2j\xFF\xFF\xFF\xFF.", INVALID_FILE, "a memo number that was not put");
  REFUSE("\x80\2}r\xFF\xFF\xFF\xFF.", INVALID_FILE, "a large memo number");
  REFUSE("\x80\2X\xFF\xFF\xFF\xFFw.", INVALID_FILE, "truncated");
  REFUSE("\x80\4\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFw.", INVALID_FILE, "truncated");
  REFUSE("\x80\4\x8E\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7Fw.", INVALID_FILE, "truncated");
  REFUSE("\x80\2\x8B\xFF\xFF\xFF\x7F.", INVALID_FILE, "truncated");
  REFUSE("\x80\4NN\x93.", INVALID_FILE, "a name that is no text");
  REFUSE("\x80\2cos\0\nsystem\n.", INVALID_FILE, "a long name or a zero byte in it");
  REFUSE("\x80\2K\1Q.", INVALID_FILE, "another persistent id");
}

static void test_tensors(void **state) {
  (void)state;
  REFUSE(SHAPED("K\1", TEST_2_3, TEST_3_1), INVALID_FILE, "tensor w reaches past its storage");
  REFUSE(SHAPED("K\0", "K\2K\4\x86", "K\4K\1\x86"), INVALID_FILE, "reaches past its storage");
  REFUSE(SHAPED("\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", TEST_2_3, TEST_3_1), INVALID_FILE,
         "reaches past its storage");
  REFUSE(SHAPED("K\7", "K\0\x85", "K\1\x85"), INVALID_FILE, "reaches past its storage");
  REFUSE(SHAPED(MINUS, TEST_2_3, TEST_3_1), INVALID_FILE, "invalid offset");
  REFUSE(SHAPED("N", TEST_2_3, TEST_3_1), INVALID_FILE, "invalid offset");
  REFUSE(SHAPED("K\0", MINUS "K\3\x86", TEST_3_1), INVALID_FILE, "invalid shape");
  REFUSE(SHAPED("K\0", "N", TEST_3_1), INVALID_FILE, "invalid shape (expected a tuple");
  REFUSE(SHAPED("K\0", TEST_2_3, MINUS "K\1\x86"), INVALID_FILE, "invalid strides");
  REFUSE(SHAPED("K\0", TEST_2_3, "K\1\x85"), INVALID_FILE, "it has not a stride per axis");
  REFUSE(SHAPED("K\0", TEST_2_3, "K\0K\1\x86"), INVALID_FILE, "a stride of 0");
  REFUSE(SHAPED("K\0", TEST_2_3, "K\2K\1\x86"), INVALID_FILE, "its strides overlap");
  REFUSE(SHAPED("K\0", "\x8A\5\0\0\0\0\1\x8A\5\0\0\0\0\1\x86", TEST_3_1), INVALID_FILE,
         "the shape is too large");
  REFUSE(SHAPED("K\0", "K\2K\5\x86", "\x8A\x08\0\0\0\0\0\0\0\x70K\1\x86"), INVALID_FILE,
         "reaches past its storage");
  REFUSE(SHAPED("K\0", "K\5K\2\x86", "\x8A\x08\0\0\0\0\0\0\0\x70K\1\x86"), INVALID_FILE,
         "its strides are too large");
  REFUSE(SHAPED("K\0", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1t", "(t"), UNSUPPORTED,
         "more than 16 axes");
  REFUSE_ZIP(TEST_DICT("ctorch._utils\n_rebuild_tensor_v2\n)R"), INVALID_FILE, "it has no storage");
  REFUSE_ZIP(TEST_DICT("ctorch._utils\n_rebuild_tensor_v2\nNR"), INVALID_FILE, "it has no storage");
}

static void test_storages(void **state) {
  (void)state;
  REFUSE(STORED(TEST_STORAGE("FloatStorage", "\7")), INVALID_FILE, "storage 0 ");
  REFUSE(STORED(TEST_STORAGE("DoubleStorage", "\6")), INVALID_FILE, "storage 0 ");
  REFUSE(STORED(TEST_STORAGE("QInt8Storage", "\6")), UNSUPPORTED,
         "storage class not supported (found the name torch.QInt8Storage");
  REFUSE(STORED("(X\7\0\0\0storageNX\1\0\0\0"
                "0X\3\0\0\0cpuK\6tQ"),
         UNSUPPORTED, "storage class not supported (found None");
  REFUSE(STORED("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                "0X\3\0\0\0cpu" MINUS "tQ"),
         INVALID_FILE, "storage 0 has a negative length");
  REFUSE(STORED("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                "0X\3\0\0\0cpuK\6(X\1\0\0\0vK\0K\2"
                "ttQ"),
         UNSUPPORTED, "storage 0 is a part of another one");
  static const char missing[] = STORED("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                                       "9X\3\0\0\0cpuK\6tQ");
  refuse(test_torch_zip(missing, sizeof missing - 1), HEED_INVALID_FILE, "storage 9 is missing");
  refuse(test_torch_legacy(missing, sizeof missing - 1), HEED_INVALID_FILE,
         "storage 0 belongs to no tensor");
}

/* ------------------------------------------------------------------------------- sizes and nesting
 */

/* before, then `piece` `times` times, then after. */
static test_bytes repeated(const char *before, const char *piece, size_t piece_size, size_t times,
                           const char *after) {
  const size_t begin = strlen(before), end = strlen(after);
  test_bytes pickle = {malloc(begin + times * piece_size + end + 1), begin};
  memcpy(pickle.data, before, begin);
  for (size_t i = 0; i < times; i++, pickle.size += piece_size)
    memcpy(pickle.data + pickle.size, piece, piece_size);
  memcpy(pickle.data + pickle.size, after, end);
  pickle.size += end;
  return pickle;
}

static void refuse_repeated(const char *before, const char *piece, size_t piece_size, size_t times,
                            const char *after, heed_status status, const char *part) {
  test_bytes pickle = repeated(before, piece, piece_size, times, after);
  refuse_pickle(pickle.data, pickle.size, status, part);
  free(pickle.data);
}

static void test_nesting(void **state) {
  (void)state;
  REFUSE_ZIP("\x80\2}q\0" W "h\0s.", UNSUPPORTED, "nested too deeply"); /* in itself */
  REFUSE_ZIP("\x80\2}q\0X\5\0\0\0modelh\0s.", UNSUPPORTED, "nested too deeply");
  REFUSE_ZIP("\x80\2]q\0h\0ah\0a.", INVALID_FILE, "no tensors (found a list");
  refuse_repeated("\x80\2", "(", 1, 2000, "N.", HEED_INVALID_FILE, "too deep nesting");
  test_bytes tuples = repeated("\x80\2N", "\x85", 1, 200000, ".");
  refuse(test_torch_zip(tuples.data, tuples.size), HEED_INVALID_FILE, "no tensors (found a tuple");
  free(tuples.data);
  /* each dictionary twice in the next: 2^30 in all */
  test_bytes laughs = {NULL, 0};
  assert_ok(test_bytes_append(&laughs,
                              "\x80\2}q\0"
                              "0",
                              6, &error));
  for (int i = 0; i < 30; i++)
    assert_ok(test_bytes_append(&laughs,
                                "}X\1\0\0\0ah\0sX\1\0\0\0bh\0sq\0"
                                "0",
                                22, &error));
  assert_ok(test_bytes_append(&laughs, "h\0.", 3, &error));
  refuse(test_torch_zip(laughs.data, laughs.size), HEED_UNSUPPORTED,
         "too many entries in its dictionaries");
  free(laughs.data);
}

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
  static const char first[] = "\x80\2}" W TEST_PLAIN "sq\0"
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
    check_limit(repeated("\x80\2", "N", 1, (1u << 20) + above, "."), above,
                "too much on the stack");
    check_limit(repeated("\x80\2", "]0", 2, values + above, "N."), above, "too many values");
    check_limit(repeated("\x80\2]", "Na", 2, items + above, "."), above, "too many items");
    /* of 4,097 bytes with the zero byte at their end; longer ones are not kept */
    check_limit(repeated("\x80\2", text, sizeof text, 16380 + above, "."), above,
                "too many bytes of text");
    check_limit(nested(33 + above), above, "nested too deeply");
  }
}

static void test_sizes(void **state) {
  (void)state;
  char text[1200] = "\x80\2}";
  refuse_repeated("\x80\2", "N", 1, (1u << 20) + 1, ".", HEED_INVALID_FILE,
                  "too much on the stack");
  refuse_repeated("\x80\2", "]0", 2, 1u << 22, "N.", HEED_UNSUPPORTED, "too many values");
  refuse_repeated("\x80\2]", "Na", 2, 1u << 22, ".", HEED_UNSUPPORTED, "too many items");
  /* one transposed tensor under 300 names: copies of 24 bytes for 9 of the file */
  test_bytes copies = {NULL, 0};
  static const char tensor[] = "\x80\2" TEST_TENSOR("K\0", TEST_2_3, "K\1K\2\x86") "q\0"
                                                                                   "0}";
  assert_ok(test_bytes_append(&copies, tensor, sizeof tensor - 1, &error));
  for (int i = 0; i < 300; i++) {
    const int size = snprintf(text, sizeof text, "U\3%03dh", i);
    assert_ok(test_bytes_append(&copies, text, (size_t)size, &error));
    assert_ok(test_bytes_append(&copies, "\0s", 2, &error));
  }
  assert_ok(test_bytes_append(&copies, ".", 1, &error));
  refuse_pickle(copies.data, copies.size, HEED_UNSUPPORTED,
                "too many tensors are transposed views");
  free(copies.data);
  /* a name of 1,100 bytes */
  test_bytes name = repeated("\x80\2}T\x4C\x04", "", 0, 0, "");
  assert_ok(test_bytes_append(&name, "\0", 2, &error));
  for (int i = 0; i < 1100; i++) assert_ok(test_bytes_append(&name, "n", 1, &error));
  static const char rest[] = TEST_PLAIN "s.";
  assert_ok(test_bytes_append(&name, rest, sizeof rest - 1, &error));
  refuse_pickle(name.data, name.size, HEED_INVALID_FILE, "invalid name of a tensor (found a long");
  free(name.data);
}

/* ------------------------------------------------------------------------------------- containers
 */

static const char plain[] = TEST_DICT(TEST_PLAIN);

static void refuse_zip(const test_zip_entry *entries, size_t count, heed_status status,
                       const char *part) {
  refuse(test_zip(entries, count, false), status, part);
  refuse(test_zip(entries, count, true), status, part);
}

static void test_zip_entries(void **state) {
  (void)state;
  static const unsigned char data[24];
  test_zip_entry entries[] = {{"a/data.pkl", plain, sizeof plain - 1, 0, 0},
                              {"a/data/0", data, sizeof data, 0, 0},
                              {"a/byteorder", "little", 6, 0, 0}};
  entries[1].method = 8;
  refuse_zip(entries, 3, HEED_UNSUPPORTED, "zip entry a/data/0 is compressed");
  entries[1].method = 0;
  entries[0].flags = 1;
  refuse_zip(entries, 3, HEED_UNSUPPORTED, "zip entry a/data.pkl is encrypted");
  entries[0].flags = 0;
  entries[2].data = "bigxxx";
  refuse_zip(entries, 3, HEED_UNSUPPORTED, "found big-endian");
  entries[2] = entries[1];
  refuse_zip(entries, 3, HEED_INVALID_FILE, "entry a/data/0 occurs twice");
  entries[1].size = 20;
  refuse_zip(entries, 2, HEED_INVALID_FILE, "storage 0 has the wrong length (found 20 bytes");
  refuse_zip(entries, 1, HEED_INVALID_FILE, "storage 0 is missing");
  entries[0].name = "a/b/data.pkl";
  refuse_zip(entries, 2, HEED_UNSUPPORTED, "found another zip file");
  entries[0].name = "position.npy";
  refuse_zip(entries, 2, HEED_UNSUPPORTED, "found numpy's .npz file");
  refuse_zip(entries, 0, HEED_UNSUPPORTED, "");
}

/* Changes one byte of a zip file, counted from its end when negative. */
static void refuse_changed(long at, unsigned char to, const char *part) {
  test_bytes bytes = test_torch_zip(plain, sizeof plain - 1);
  unsigned char *byte = at < 0 ? bytes.data + bytes.size + at : bytes.data + at;
  assert_int_not_equal(*byte, to);
  *byte = to;
  refuse(bytes, HEED_INVALID_FILE, part);
}

static void test_zip_bytes(void **state) {
  (void)state;
  const long directory = 22 + 3 * 46 + 10 + 8 + 9, first = -directory, second = first + 46 + 10;
  refuse_changed(first + 16, 0x55, "checksum");
  refuse_changed(30 + 10 + 5 + 8, 'v', "checksum"); /* the name of the tensor */
  refuse_changed(-22, 'X', "truncated (found no directory");
  refuse_changed(-18, 1, "a part of several");
  refuse_changed(-12, 200, "more entries than");
  refuse_changed(-10, 1, "a directory of another place");
  refuse_changed(-6, 1, "a directory of another place");
  refuse_changed(first, 'X', "another signature");
  refuse_changed(first + 29, 0xFF, "a long name");
  refuse_changed(first + 31, 0xFF, "a long name");
  refuse_changed(second + 42, 0, "overlaps the next");
  refuse_changed(second + 45, 0x7F, "does not fit the file");
  refuse_changed(second + 23, 0x7F, "does not fit the file");
}

static void test_legacy_bytes(void **state) {
  (void)state;
  test_bytes file = test_torch_legacy(plain, sizeof plain - 1);
  file.data[18] = 2; /* the protocol */
  refuse(file, HEED_UNSUPPORTED, "another protocol of PyTorch");
  file = test_torch_legacy(plain, sizeof plain - 1);
  file.data[3] = 'x';
  refuse(file, HEED_UNSUPPORTED, "a Python pickle without PyTorch's mark");
  file = test_torch_legacy(plain, sizeof plain - 1);
  file.data[file.size - 32] = 7; /* the storage's length */
  refuse(file, HEED_INVALID_FILE, "storage 0 is truncated or has the wrong length");
  refuse((test_bytes){calloc(1, 20), 20}, HEED_UNSUPPORTED, "neither a zip file nor a pickle");
  refuse((test_bytes){NULL, 0}, HEED_UNSUPPORTED, "neither a zip file nor a pickle");
}

/* Every length but the whole one is refused; every byte changed leaves a status and no fault. */
static void test_truncated_and_flipped(void **state) {
  (void)state;
  for (int form = 0; form < 2; form++) {
    test_bytes whole =
        form ? test_torch_legacy(plain, sizeof plain - 1) : test_torch_zip(plain, sizeof plain - 1);
    for (size_t size = 0; size < whole.size; size++) {
      unsigned char *cut = malloc(size ? size : 1);
      opened_pickle opened;
      memcpy(cut, whole.data, size);
      const heed_source source = test_source(cut, size);
      const heed_status status = open_pickle(&source, &opened);
      if (status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED)
        fail_msg("cut to %zu bytes: found %s", size, heed_status_name(status));
      free(cut);
    }
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
      opened_pickle opened;
      const heed_source source = test_source(whole.data, whole.size);
      whole.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
      if (open_pickle(&source, &opened) == HEED_OK) close_pickle(&opened);
      whole.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    free(whole.data);
  }
}

static void test_allocation_failures(void **state) {
  (void)state;
  static const char pickle[] = SHAPED("K\0", TEST_2_3, "K\1K\2\x86");
  for (int form = 0; form < 2; form++) {
    test_bytes bytes = form ? test_torch_legacy(pickle, sizeof pickle - 1)
                            : test_torch_zip(pickle, sizeof pickle - 1);
    const heed_source source = test_source(bytes.data, bytes.size);
    bool done = false;
    for (size_t n = 1; !done; n++) {
      test_allocator allocator = {0};
      heed_context_desc desc = test_context_desc(&allocator);
      heed_context *failing;
      heed_pickle *file;
      assert_ok(heed_context_create(&desc, &failing, &error));
      allocator.total = 0;
      allocator.fail_at = n;
      const heed_status status = heed_pickle_open(failing, &source, "w.pth", &file, &error);
      done = allocator.total < n;
      assert_int_equal(status, done ? HEED_OK : HEED_OUT_OF_MEMORY);
      heed_pickle_destroy(file);
      heed_context_destroy(failing);
      assert_int_equal(allocator.live, 0);
    }
    free(bytes.data);
  }
}

static void test_arguments(void **state) {
  (void)state;
  const heed_source source = {0};
  heed_pickle *file;
  assert_fails(heed_pickle_open(NULL, &source, "w", &file, &error), HEED_INVALID_ARGUMENT, "NULL");
  assert_fails(heed_pickle_open(context, &source, NULL, &file, &error), HEED_INVALID_ARGUMENT,
               "NULL");
  heed_pickle_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_no_state_dict),
      cmocka_unit_test(test_opcodes),
      cmocka_unit_test(test_tensors),
      cmocka_unit_test(test_storages),
      cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_zip_entries),
      cmocka_unit_test(test_zip_bytes),
      cmocka_unit_test(test_legacy_bytes),
      cmocka_unit_test(test_truncated_and_flipped),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
