/* Files of PyTorch that are hostile or damaged: each gets its sentence, and nothing is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pickle/foreign.h"
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
#define TEXT_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
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
  /* the names of modules that only begin as dangerous ones do */
  REFUSE_ZIP("\x80\2cosx\nsystem\n)R.", INVALID_FILE, "no tensors (found an object of osx.system");
  REFUSE_ZIP("\x80\2cfoo\nbar\n)R.", INVALID_FILE, "no tensors (found an object of foo.bar");
  REFUSE_ZIP("\x80\2}" W "cfoo\nbar\n(K\1K\2tRs.", INVALID_FILE,
             "no tensors (found a dictionary of 1 entry");
  REFUSE("\x80\2}" W "ctorch._utils\n_rebuild_qtensor\n)Rs" W TEST_PLAIN "s.", UNSUPPORTED,
         "tensor w is not supported (found one of torch._utils._rebuild_qtensor");
}

/* A tensor with what follows its hooks, by the function of this name. */
#define REBUILT(function, more)                        \
  TEST_DICT("ctorch._utils\n_rebuild_tensor_" function \
            "\n(" TEST_STORAGE("FloatStorage", "\6") "K\0" TEST_2_3 TEST_3_1 "\x89}" more "tR")
#define NEG "X\3\0\0\0neg"

/* Tensors that PyTorch would make otherwise than by reading elements: each is named, none is left
 * out or read as it lies. */
static void test_tensors_that_are_made(void **state) {
  (void)state;
  REFUSE(TEST_DICT(TEST_PLAIN "Nb"), UNSUPPORTED, "found a state that is set of a tensor at byte");
  REFUSE(TEST_DICT(TEST_PLAIN "(NK\0tb"), UNSUPPORTED, "a state that is set of a tensor");
  REFUSE_ZIP("\x80\2cfoo\nbar\n)R}b}b.", UNSUPPORTED, "a state that is set again of an object");
  REFUSE(REBUILT("v2", "}" NEG "\x88s"), UNSUPPORTED,
         "tensor w is not supported (found a view with \"neg\"");
  REFUSE(REBUILT("v2", "}X\4\0\0\0conj\x88s"), UNSUPPORTED, "found a view with \"conj\"");
  REFUSE(REBUILT("v2", "K\1"), INVALID_FILE, "tensor w: its metadata are none");
  REFUSE(REBUILT("v2", "ctorch\nfloat16\n"), INVALID_FILE, "tensor w: its metadata are none");
  REFUSE(REBUILT("v3", "ctorch\nfloat32\n}" NEG "\x88s"), UNSUPPORTED, "a view with \"neg\"");
  REFUSE(TEST_DICT("coperator\nneg\n" TEST_PLAIN "\x85R"), UNSUPPORTED,
         "tensor w is not supported (found a call of operator.neg, which heed does not run");
  REFUSE(TEST_DICT("ctorch\nstack\n](" TEST_PLAIN "e\x85R"), UNSUPPORTED, "a call of torch.stack");
  REFUSE(TEST_DICT("ctorch\nneg\ncfoo\nbar\n" TEST_PLAIN "\x85R\x85R"), UNSUPPORTED,
         "a call of torch.neg");
  REFUSE(TEST_DICT("ctorch._utils\n_rebuild_sparse_tensor\nctorch.serialization\n_get_layout\n"
                   "X\x10\0\0\0torch.sparse_coo\x85R(" TEST_PLAIN "t\x86R"),
         UNSUPPORTED, "_rebuild_sparse_tensor, a sparse tensor, expected a dense one");
  REFUSE(TEST_DICT("ctorch.serialization\nload\n)R"), INVALID_FILE, "unsafe file");
#define TYPED(name, type) \
  "X\1\0\0\0" name TEST_TENSOR_OF(TEST_STORAGE(type, "\6"), "K\0", TEST_2_3, TEST_3_1) "s"
  REFUSE("\x80\2}" TYPED("w", "FloatStorage") TYPED("x", "IntStorage") ".", INVALID_FILE,
         "storage 0 occurs with two lengths or element types");
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
  REFUSE("(dp0\nVw\np1\nI3\ns.", UNSUPPORTED, "found protocol 0 or 1, expected 2 to 5");
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
  REFUSE(SHAPED("\x8A\x09\0\0\0\0\0\0\0\0\0", TEST_2_3, TEST_3_1), INVALID_FILE,
         "invalid offset"); /* 0 of more than 64 bits */
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

static void refuse_repeated(const char *before, const char *piece, size_t piece_size, size_t times,
                            const char *after, heed_status status, const char *part) {
  test_bytes pickle = test_repeated(before, piece, piece_size, times, after);
  refuse_pickle(pickle.data, pickle.size, status, part);
  free(pickle.data);
}

static void test_nesting(void **state) {
  (void)state;
  REFUSE_ZIP("\x80\2}q\0" W "h\0s.", UNSUPPORTED, "nested too deeply"); /* in itself */
  REFUSE_ZIP("\x80\2}q\0X\5\0\0\0modelh\0s.", UNSUPPORTED, "nested too deeply");
  REFUSE_ZIP("\x80\2]q\0h\0ah\0a.", INVALID_FILE, "no tensors (found a list");
  refuse_repeated("\x80\2", "(", 1, 2000, "N.", HEED_INVALID_FILE, "too deep nesting");
  test_bytes tuples = test_repeated("\x80\2N", "\x85", 1, 200000, ".");
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

static void test_sizes(void **state) {
  (void)state;
  char text[1200] = "\x80\2}";
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
  test_bytes name = test_repeated("\x80\2}T\x4C\x04", "", 0, 0, "");
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
  const test_zip_entry two[] = {{"b/data.pkl", plain, sizeof plain - 1, 0, 0},
                                {"b/data/0", data, sizeof data, 0, 0},
                                {"a/data.pkl", plain, sizeof plain - 1, 0, 0},
                                {"a/data/0", data, sizeof data, 0, 0}};
  refuse_zip(two, 4, HEED_INVALID_FILE, "two pickles (found b/data.pkl and a/data.pkl");
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

/* A pickle with every kind of opcode, behind `padding`: values, items and texts that are dropped.
 */
static test_bytes rich_pickle(size_t padding) {
  static const char rich[] =
      "}X\1\0\0\0aG\0\0\0\0\0\0\0\0sX\1\0\0\0b\x8A\x09\1\2\3\4\5\6\7\x08\x09s"
      "X\1\0\0\0c(K\1K\2lsX\1\0\0\0d(X\1\0\0\0kNdsX\1\0\0\0e](K\1K\2esX\1\0\0\0f}(X\1\0\0\0kNus"
      "X\1\0\0\0gccollections\nOrderedDict\n]]X\1\0\0\0kaNaa\x85Rs"
      "X\1\0\0\0hcfoo\nBar\n)\x81}bsX\1\0\0\0i(X\6\0\0\0modulecfoo\nBar\nNNtQs"
      "X\1\0\0\0tctorch._tensor\n_rebuild_from_type_v2\n(K\1NNtRs"
      "X\1\0\0\0v" TEST_TENSOR("K\0", TEST_2_3, "K\1K\2\x86") "sq\0" W TEST_PLAIN "s.";
  test_bytes pickle = {NULL, 0};
  assert_ok(test_bytes_append(&pickle, "\x80\2", 2, &error));
  for (size_t i = 0; i < padding; i++)
    assert_ok(test_bytes_append(&pickle, "](NNNNe0X\x40\0\0\0" TEXT_64 "0", 78, &error));
  assert_ok(test_bytes_append(&pickle, rich, sizeof rich - 1, &error));
  return pickle;
}

/* Fails every allocation of opening a file once; its status otherwise. */
static void fail_memory_of(test_bytes bytes) {
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

/* What grows does so at each opcode in turn. */
static void test_memory_of_opcodes(void **state) {
  (void)state;
  for (size_t padding = 0; padding < 70; padding++) {
    test_bytes pickle = rich_pickle(padding);
    fail_memory_of(padding % 2 ? test_torch_legacy(pickle.data, pickle.size)
                               : test_torch_zip(pickle.data, pickle.size));
    free(pickle.data);
  }
}

/* Every read of a file fails once. */
typedef struct failing_source {
  const test_bytes *whole;
  uint32_t reads, fail_at;
} failing_source;

static heed_status read_failing(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *why) {
  failing_source *source = user;
  (void)why;
  if (++source->reads == source->fail_at) return HEED_IO;
  memcpy(to, source->whole->data + offset, count);
  return HEED_OK;
}

static void test_reads(void **state) {
  (void)state;
  test_bytes pickle = rich_pickle(400); /* more than is read at once */
  static const unsigned char data[24];
  const test_zip_entry entries[] = {{"a/data.pkl", pickle.data, pickle.size, 0, 0},
                                    {"a/byteorder", "little", 6, 0, 0},
                                    {"a/data/0", data, sizeof data, 0, 0}};
  test_bytes files[] = {test_zip(entries, 3, false), test_zip(entries, 3, true),
                        test_torch_legacy(pickle.data, pickle.size)};
  for (size_t i = 0; i < 3; i++) {
    heed_status status = HEED_IO;
    uint32_t failures = 0;
    for (; status != HEED_OK; failures++) {
      failing_source failing = {&files[i], 0, failures + 1};
      const heed_source source = {files[i].size, NULL, read_failing, &failing};
      heed_pickle *file;
      status = heed_pickle_open(context, &source, "w.pth", &file, &error);
      if (status != HEED_OK) assert_int_equal(status, HEED_IO);
      heed_pickle_destroy(file);
    }
    assert_true(failures > 3);
    free(files[i].data);
  }
  free(pickle.data);
}

static test_bytes legacy_of(const char *host, size_t host_size, const void *pickle, size_t size,
                            const char *keys, size_t keys_size) {
  static const char before[] = "\x80\2\x8A\nl\xFC\x9C\x46\xF9 j\xA8P\x19.\x80\2M\xE9\3.";
  test_bytes file = {NULL, 0};
  assert_ok(test_bytes_append(&file, before, sizeof before - 1, &error));
  assert_ok(test_bytes_append(&file, host, host_size, &error));
  assert_ok(test_bytes_append(&file, pickle, size, &error));
  assert_ok(test_bytes_append(&file, keys, keys_size, &error));
  return file;
}

#define LEGACY(host, pickle, keys) \
  legacy_of(host, sizeof(host) - 1, pickle, sizeof(pickle) - 1, keys, sizeof(keys) - 1)
#define DATA_24      \
  "\6\0\0\0\0\0\0\0" \
  "0123456789abcdef01234567"
#define TWO_STORAGES(a, b)                                                                 \
  "\x80\2}" W TEST_TENSOR_OF(a, "K\0", "K\1\x85", "K\1\x85") "sX\1\0\0\0v" TEST_TENSOR_OF( \
      b, "K\0", "K\1\x85", "K\1\x85") "s."

static void test_legacy_storages(void **state) {
  (void)state;
  refuse(LEGACY("\x80\2}.", TEST_DICT(TEST_PLAIN),
                "\x80\2]X\1\0\0\0"
                "0aX\1\0\0\0"
                "0a." DATA_24 DATA_24),
         HEED_INVALID_FILE, "storage 0 occurs twice");
  refuse(LEGACY("\x80\2}X\15\0\0\0little_endian\x89s.", TEST_DICT(TEST_PLAIN), ""),
         HEED_UNSUPPORTED, "found big-endian, expected little-endian");
  refuse(
      LEGACY("\x80\2}.",
             TWO_STORAGES(TEST_STORAGE("FloatStorage", "\6"), TEST_STORAGE("FloatStorage", "\5")),
             "\x80\2]."),
      HEED_INVALID_FILE, "storage 0 occurs with two lengths or element types");
  refuse(LEGACY("\x80\2}.",
                TWO_STORAGES(TEST_STORAGE("FloatStorage", "\6"), TEST_STORAGE("IntStorage", "\6")),
                "\x80\2]."),
         HEED_INVALID_FILE, "storage 0 occurs with two lengths or element types");
  refuse(LEGACY("\x80\2}.", TEST_DICT(TEST_PLAIN), "\x80\2]."), HEED_INVALID_FILE,
         "storage 0 is missing (expected its data)");
#define HUGE_STORAGE                                  \
  "(X\7\0\0\0storagectorch\nDoubleStorage\nX\1\0\0\0" \
  "0X\3\0\0\0cpu\x8A\x08\0\0\0\0\0\0\0\x40tQ"
  refuse(LEGACY("\x80\2}.", STORED(HUGE_STORAGE),
                "\x80\2]X\1\0\0\0"
                "0a.\0\0\0\0\0\0\0\x40"),
         HEED_INVALID_FILE, "storage 0 is truncated or has the wrong length");
  REFUSE_ZIP(STORED(HUGE_STORAGE), INVALID_FILE, "its storage is too large (expected less than");
}

static void test_more_opcodes(void **state) {
  (void)state;
  char text[1200] = "\x80\2c";
  REFUSE_ZIP("\x80\2G\0", INVALID_FILE, "truncated");
  REFUSE_ZIP("\x80\2\x8A\5\1", INVALID_FILE, "truncated");
  REFUSE_ZIP("\x80\2\x8A\x09\1", INVALID_FILE, "truncated");
  REFUSE_ZIP("\x80\2X\1\x20\0\0", INVALID_FILE, "truncated");
  REFUSE("\x80\2Nq\5h\3.", INVALID_FILE, "a memo number that was not put");
  REFUSE_ZIP("\x80\2ccosmos\nsystem\n)R.", INVALID_FILE, "no tensors (found an object of cosmos.s");
  REFUSE_ZIP("\x80\2ctorch\n\n)R.", INVALID_FILE, "no tensors (found an object of torch.");
  REFUSE_ZIP("\x80\2NNb.", UNSUPPORTED, "found a state that is set of None at byte");
  REFUSE_ZIP("\x80\2}X\5\0\0\0model}q\0X\1\0\0\0ah\0ss.", UNSUPPORTED, "nested too deeply");
  memset(text + 3, 'a', 600);
  refuse_pickle(text, 603, HEED_INVALID_FILE, "a long name or a zero byte in it");
#define LONG "\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"
  REFUSE(SHAPED("K\0", "K\2K\3\x86", "K\1" LONG "\x86"), INVALID_FILE,
         "its strides are too large (expected those of its storage)");
  REFUSE(SHAPED(LONG, "K\3\x85", LONG "\x85"), INVALID_FILE,
         "reaches past its storage (found elements 9223372036854775807 to 18446744073709551615");
  REFUSE(STORED(TEST_STORAGE("UntypedStorage", "\6")), INVALID_FILE,
         "its storage has no element type");
  test_bytes long_text = {NULL, 0};
  char *letters = calloc(5000, 1);
  assert_ok(test_bytes_append(&long_text, "\x80\2]X\x88\x13\0\0", 8, &error));
  memset(letters, 'a', 5000);
  assert_ok(test_bytes_append(&long_text, letters, 5000, &error));
  assert_ok(test_bytes_append(&long_text, "a.", 2, &error));
  refuse(test_torch_zip(long_text.data, long_text.size), HEED_INVALID_FILE,
         "no tensors (found a list");
  free(letters);
  free(long_text.data);
}

static void test_more_zip(void **state) {
  (void)state;
  static const unsigned char data[24];
  /* the end before any place for a locator, and a locator before any place for its record */
  static const char nothing[] = "PK\3\4PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0",
                    locator[] = "PK\3\4PK\6\7\0\0\0\0\4\0\0\0\0\0\0\0\1\0\0\0"
                                "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
  test_bytes file = {NULL, 0};
  assert_ok(test_bytes_append(&file, nothing, sizeof nothing - 1, &error));
  refuse(file, HEED_UNSUPPORTED, "found another zip file");
  file = (test_bytes){NULL, 0};
  assert_ok(test_bytes_append(&file, locator, sizeof locator - 1, &error));
  refuse(file, HEED_INVALID_FILE, "a ZIP64 record outside of the file");
  test_zip_entry entries[] = {{"a/data.pkl", plain, sizeof plain - 1, 0, 0},
                              {"a/data/0", data, sizeof data, 0, 0},
                              {"a/byteorder", "littlebig", 9, 8, 0}};
  refuse_zip(entries, 3, HEED_UNSUPPORTED, "zip entry a/byteorder is compressed");
  /* an extra field too short for the last of its numbers */
  file = test_zip(entries, 1, true);
  unsigned char *extra = file.data + file.size - 22 - 20 - 56 - 28;
  assert_int_equal(extra[2], 24);
  extra[2] = 16;
  refuse(file, HEED_INVALID_FILE, "an entry that does not fit the file");
  /* a name that no entry has room for */
  char folder[1024], pickle[300];
  memset(folder, 'f', sizeof folder);
  strcpy(folder + 1000, "/data.pkl");
  test_bytes stored = {NULL, 0};
  static const char head[] = "\x80\2}" W "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storage"
                             "ctorch\nFloatStorage\nX\x2C\1\0\0",
                    tail[] = "X\3\0\0\0cpuK\6tQK\0" TEST_2_3 TEST_3_1 "\x89)tRs.";
  memset(pickle, 'k', 300);
  assert_ok(test_bytes_append(&stored, head, sizeof head - 1, &error));
  assert_ok(test_bytes_append(&stored, pickle, 300, &error));
  assert_ok(test_bytes_append(&stored, tail, sizeof tail - 1, &error));
  entries[0] = (test_zip_entry){folder, stored.data, stored.size, 0, 0};
  refuse(test_zip(entries, 1, false), HEED_INVALID_FILE, "storage kkkk");
  free(stored.data);
}

/* What no test has room for is a source that says so, and has zeros but for its end. */
typedef struct virtual_zip {
  unsigned char end[98];
  uint64_t size;
} virtual_zip;

static heed_status read_virtual(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *why) {
  const virtual_zip *zip = user;
  (void)why;
  for (size_t i = 0; i < count; i++) {
    const uint64_t at = offset + i, from_end = zip->size - at;
    ((unsigned char *)to)[i] = at < 4                        ? (unsigned char)"PK\3\4"[at]
                               : from_end <= sizeof zip->end ? zip->end[sizeof zip->end - from_end]
                                                             : 0;
  }
  return HEED_OK;
}

static void test_large_directories(void **state) {
  (void)state;
  static const struct {
    uint64_t size;
    uint32_t entries;
    heed_status status;
    const char *part;
  } cases[] = {{(uint64_t)3 << 30, 1, HEED_INVALID_FILE, "a directory above 2 GiB"},
               {(uint64_t)60 << 20, 1u << 20, HEED_INVALID_FILE, "w.pth: "},
               {(uint64_t)60 << 20, (1u << 20) + 1, HEED_UNSUPPORTED,
                "too many zip entries (found 1048577, expected at most 1048576)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    virtual_zip zip = {{0}, cases[i].size};
    const uint64_t record = zip.size - sizeof zip.end, bytes = record - 4;
    memcpy(zip.end, "PK\6\6", 4);
    for (int k = 0; k < 8; k++) {
      zip.end[32 + k] = (unsigned char)((uint64_t)cases[i].entries >> 8 * k);
      zip.end[40 + k] = (unsigned char)(bytes >> 8 * k);
      zip.end[48 + k] = k ? 0 : 4;
      zip.end[56 + 8 + k] = (unsigned char)(record >> 8 * k);
    }
    memcpy(zip.end + 56, "PK\6\7", 4);
    memcpy(zip.end + 76, "PK\5\6", 4);
    const heed_source source = {zip.size, NULL, read_virtual, &zip};
    heed_pickle *file;
    assert_fails(heed_pickle_open(context, &source, "w.pth", &file, &error), cases[i].status,
                 cases[i].part);
  }
  const heed_source large = {UINT64_MAX, "", NULL, NULL};
  heed_pickle *file;
  assert_fails(heed_pickle_open(context, &large, "w.pth", &file, &error), HEED_INVALID_ARGUMENT,
               "w.pth: the source is too large");
  assert_false(heed_pickle_begins("\x80\6}.", 4));
  assert_false(heed_pickle_begins("\x80\1}.", 4));
  assert_true(heed_pickle_begins("\x80\5}.", 4));
}

static void opens(test_bytes bytes, const char *name, uint32_t tensors) {
  const heed_source source = test_source(bytes.data, bytes.size);
  opened_pickle opened;
  assert_ok(open_pickle(&source, &opened));
  assert_int_equal(heed_safetensors_count(opened.file), tensors);
  assert_non_null(heed_safetensors_find(opened.file, name));
  close_pickle(&opened);
  free(bytes.data);
}

/* What is odd, and read all the same. */
static void test_odd(void **state) {
  (void)state;
#define OPENS(pickle, name, tensors) \
  opens(test_torch_zip(pickle, sizeof(pickle) - 1), name, tensors)
#define MODEL_OF(inner) "X\5\0\0\0model" inner "s"
#define NAMED(name) "}X\1\0\0\0" name TEST_PLAIN "s"
  OPENS(STORED(TEST_STORAGE("cuda.FloatStorage", "\6")), "w", 1);
  OPENS("\x80\2" NAMED("w") MODEL_OF(NAMED("x")) ".", "w", 2);
  OPENS("\x80\2" NAMED("w") "X\1\0\0\0v" TEST_PLAIN "s" MODEL_OF(NAMED("x")) ".", "w", 3);
  OPENS("\x80\2}X\7\0\0\0module." TEST_PLAIN "s.", "module.", 1);
  static const unsigned char data[24];
  const test_zip_entry entries[] = {{"data.pkl", plain, sizeof plain - 1, 0, 0},
                                    {"data/0", data, sizeof data, 0, 0},
                                    {"byteorder", "li", 2, 0, 0}};
  test_bytes file = test_zip(entries, 3, false);
  unsigned char *directory = file.data + file.size - 22 - 3 * 46 - 8 - 6 - 9;
  assert_memory_equal(directory, "PK\1\2", 4);
  memset(directory + 16, 0, 4); /* no checksum */
  opens(file, "w", 1);
}

/* A transposed tensor of more than is read at once. */
static void test_large_view(void **state) {
  (void)state;
  enum { ROWS = 3000 };
  static const char pickle[] =
      TEST_DICT(TEST_TENSOR_OF("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                               "0X\3\0\0\0cpuM\x70\x17tQ",
                               "K\0", "M\xB8\x0BK\2\x86", "K\1M\xB8\x0B\x86"));
  float *numbers = malloc(2 * ROWS * sizeof *numbers), *found = malloc(2 * ROWS * sizeof *found);
  for (int i = 0; i < 2 * ROWS; i++) numbers[i] = (float)i;
  const test_zip_entry entries[] = {{"a/data.pkl", pickle, sizeof pickle - 1, 0, 0},
                                    {"a/data/0", numbers, 2 * ROWS * sizeof *numbers, 0, 0}};
  test_bytes file = test_zip(entries, 2, false);
  const heed_source source = test_source(file.data, file.size);
  opened_pickle opened;
  assert_ok(open_pickle(&source, &opened));
  assert_ok(heed_safetensors_read(opened.file, heed_safetensors_find(opened.file, "w"), 0, 2 * ROWS,
                                  found, &error));
  for (int row = 0; row < ROWS; row++)
    for (int k = 0; k < 2; k++) assert_true(found[2 * row + k] == numbers[k * ROWS + row]);
  close_pickle(&opened);
  free(file.data);
  free(numbers);
  free(found);
}

/* Where external data may lie, and files that only begin to be read. */
static void test_foreign(void **state) {
  (void)state;
  static const struct {
    const char *location;
    bool plain;
  } cases[] = {{"w", true},     {"a/w", true},     {"...", true},   {".w", true},
               {"..w", true},   {"w/..", false},   {"..", false},   {".", false},
               {"./w", false},  {"a/../w", false}, {"", false},     {"/w", false},
               {"a//w", false}, {"a/", false},     {"a\\w", false}, {"c:w", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (heed_is_plain_location(cases[i].location) != cases[i].plain)
      fail_msg("%s", cases[i].location);
  assert_true(heed_is_torch_name("W.PTH") && heed_is_torch_name("w.Pt"));
  assert_false(heed_is_torch_name(".pth") || heed_is_torch_name("w.{t"));
  test_bytes whole = {(unsigned char *)(uintptr_t)plain, sizeof plain};
  failing_source failing = {&whole, 0, 1};
  const heed_source source = {whole.size, NULL, read_failing, &failing};
  heed_pickle *file;
  assert_int_equal(heed_foreign_open(context, &source, "w.pth", "", NULL, &file, &error), HEED_IO);
  assert_null(file);
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
      cmocka_unit_test(test_tensors_that_are_made),
      cmocka_unit_test(test_no_state_dict),
      cmocka_unit_test(test_opcodes),
      cmocka_unit_test(test_tensors),
      cmocka_unit_test(test_storages),
      cmocka_unit_test(test_nesting),

      cmocka_unit_test(test_sizes),

      cmocka_unit_test(test_zip_entries),
      cmocka_unit_test(test_zip_bytes),
      cmocka_unit_test(test_legacy_bytes),
      cmocka_unit_test(test_truncated_and_flipped),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_arguments),
      cmocka_unit_test(test_memory_of_opcodes),
      cmocka_unit_test(test_reads),
      cmocka_unit_test(test_foreign),
      cmocka_unit_test(test_legacy_storages),
      cmocka_unit_test(test_more_opcodes),
      cmocka_unit_test(test_more_zip),
      cmocka_unit_test(test_large_directories),
      cmocka_unit_test(test_odd),
      cmocka_unit_test(test_large_view),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
