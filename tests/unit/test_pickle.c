/* Files of PyTorch that are read: both forms, every element type, views, and where weights lie in
 * the checkpoints that people have. Expected bytes are those that PyTorch saw (vectors/pickle), or
 * are written out here. */
#include <stdlib.h>
#include <string.h>

#include "support/opened_pickle.h"

static unsigned char *data_of(const heed_source *source, const heed_safetensors_tensor *tensor) {
  unsigned char *bytes = malloc((size_t)tensor->bytes + 1);
  if (source->bytes)
    memcpy(bytes, (const unsigned char *)source->bytes + tensor->offset, (size_t)tensor->bytes);
  else
    assert_ok(source->read(source->user, tensor->offset, bytes, (size_t)tensor->bytes, &error));
  return bytes;
}

/* The same tensors, bit for bit, in any order. */
static void compare(const opened_pickle *found, const char *vector) {
  size_t size;
  unsigned char *bytes = test_read_vector(vector, &size);
  const heed_source source = test_source(bytes, size);
  heed_safetensors *expected;
  assert_ok(heed_safetensors_open(context, &source, vector, &expected, &error));
  assert_int_equal(heed_safetensors_count(found->file), heed_safetensors_count(expected));
  for (uint32_t i = 0; i < heed_safetensors_count(expected); i++) {
    const heed_safetensors_tensor *e = heed_safetensors_get(expected, i),
                                  *f = heed_safetensors_find(found->file, e->name);
    if (!f) fail_msg("%s: not found", e->name);
    assert_string_equal(f->dtype_name, e->dtype_name);
    assert_true(f->count == e->count && heed_shape_equal(&f->shape, &e->shape));
    unsigned char *a = data_of(&found->source, f), *b = data_of(&source, e);
    if (memcmp(a, b, (size_t)e->bytes) != 0) fail_msg("%s: other bytes", e->name);
    free(a);
    free(b);
  }
  heed_safetensors_destroy(expected);
  free(bytes);
}

static void compare_file(const char *vector, const char *expected, const char *origin) {
  test_bytes bytes;
  bytes.data = test_read_vector(vector, &bytes.size);
  const heed_source sources[] = {test_source(bytes.data, bytes.size), test_callback_source(&bytes)};
  for (int i = 0; i < 2; i++) {
    opened_pickle opened;
    assert_ok(open_pickle(&sources[i], &opened));
    compare(&opened, expected);
    assert_string_equal(heed_pickle_origin(opened.pickle), origin);
    close_pickle(&opened);
  }
  free(bytes.data);
}

static void test_every_type_and_layout(void **state) {
  (void)state;
  compare_file("pickle/small.pth", "pickle/small.safetensors", "");
  compare_file("pickle/small_legacy.pth", "pickle/small.safetensors", "");
  compare_file("pickle/small_protocol_4.pth", "pickle/small.safetensors", "");
}

static bool shares(const char *vector) {
  size_t size;
  unsigned char *bytes = test_read_vector(vector, &size);
  const heed_source source = test_source(bytes, size);
  opened_pickle opened;
  assert_ok(open_pickle(&source, &opened));
  const bool found = heed_pickle_shares(opened.pickle);
  close_pickle(&opened);
  free(bytes);
  return found;
}

static void test_shared_bytes_are_known(void **state) {
  (void)state;
  assert_true(shares("pickle/small.pth"));
  assert_true(shares("pickle/small_legacy.pth"));
  assert_false(shares("pickle/vit/zip.pth"));
}

static void test_a_model_as_people_find_it(void **state) {
  (void)state;
  const char *expected = "vit/hf_vit/model.safetensors";
  compare_file("pickle/vit/zip.pth", expected, "");
  compare_file("pickle/vit/legacy.pth", expected, "");
  compare_file("pickle/vit/trained.ckpt", expected, "state_dict");
  compare_file("pickle/vit/module.pt", expected, "");
  compare_file("pickle/vit/script.pt", expected, "");
}

/* ----------------------------------------------------------------------------- pickles made here
 */

/* Opens bytes and frees them; a tensor must have this name, and its elements, which are four bytes
 * each, must be those of the storage that `order` names. */
static void expect_tensor(test_bytes bytes, const char *name, const unsigned char *order,
                          size_t count) {
  opened_pickle opened;
  const heed_source source = test_source(bytes.data, bytes.size);
  assert_ok(open_pickle(&source, &opened));
  const heed_safetensors_tensor *tensor = heed_safetensors_find(opened.file, name);
  if (!tensor) fail_msg("%s: found %s", name, heed_safetensors_get(opened.file, 0)->name);
  assert_int_equal(tensor->bytes, 4 * count);
  unsigned char *data = data_of(&opened.source, tensor);
  for (size_t i = 0; i < count; i++)
    for (unsigned k = 0; k < 4; k++) assert_int_equal(data[4 * i + k], 4 * order[i] + k);
  free(data);
  close_pickle(&opened);
  free(bytes.data);
}

static const unsigned char in_order[] = {0, 1, 2, 3, 4, 5};
#define EXPECT(pickle, name)                                                        \
  do {                                                                              \
    expect_tensor(test_torch_zip(pickle, sizeof pickle - 1), name, in_order, 6);    \
    expect_tensor(test_torch_legacy(pickle, sizeof pickle - 1), name, in_order, 6); \
  } while (0)
#define KEY(length, text) "X" length "\0\0\0" text

/* Tensors a.a to a.d of storage "0", or, where they are the other copy, of its transposed view. */
#define FOUR(prefix, length, tensor)                                               \
  KEY(length, prefix "a.a")                                                        \
  tensor "s" KEY(length, prefix "a.b") tensor "s" KEY(length, prefix "a.c") tensor \
      "s" KEY(length, prefix "a.d") tensor "s"
#define OTHER TEST_TENSOR("K\0", "K\3K\2\x86", "K\1K\3\x86")
#define MINE "}" FOUR("", "\3", TEST_PLAIN)
#define THEIRS "}" FOUR("", "\3", OTHER)

static void refuse_copies(test_bytes bytes, const char *key, const char *part) {
  const heed_source source = test_source(bytes.data, bytes.size);
  heed_pickle *file;
  assert_fails(heed_pickle_open_key(context, &source, "w.pth", key, &file, &error),
               HEED_INVALID_FILE, part);
  free(bytes.data);
}

static void expect_key(test_bytes bytes, const char *key, const char *origin) {
  const heed_source source = test_source(bytes.data, bytes.size);
  heed_pickle *file;
  assert_ok(heed_pickle_open_key(context, &source, "w.pth", key, &file, &error));
  assert_string_equal(heed_pickle_origin(file), origin);
  heed_pickle_destroy(file);
  free(bytes.data);
}

/* Which of several copies of a model: by the custom of who writes such files, in either order. */
static void test_copies(void **state) {
  (void)state;
#define TWO(a, a_length, a_value, b, b_length, b_value) \
  "\x80\2}" KEY(a_length, a) a_value "s" KEY(b_length, b) b_value "s."
#define EITHER(better, better_length, worse, worse_length)                      \
  EXPECT(TWO(better, better_length, MINE, worse, worse_length, THEIRS), "a.a"); \
  EXPECT(TWO(worse, worse_length, THEIRS, better, better_length, MINE), "a.d")
  EITHER("state_dict_ema", "\16", "state_dict", "\12");
  EITHER("model", "\5", "model_ema", "\11");
  EITHER("ema", "\3", "model", "\5");
  EITHER("teacher", "\7", "student", "\7");
  EITHER("target_encoder", "\16", "encoder", "\7");
  EITHER("online_network", "\16", "target_network", "\16");
  EITHER("online", "\6", "target", "\6");
  EITHER("ema_state_dict", "\16", "state_dict", "\12");
  EITHER("ema_state_dict", "\16", "model_state_dict", "\20");
  EITHER("model_ema_state_dict", "\24", "model_state_dict", "\20");
  EITHER("ema", "\3", "state_dict", "\12");
  EITHER("ema", "\3", "net", "\3");
  EITHER("params_ema", "\12", "params", "\6");
  EITHER("teacher_model", "\15", "student_model", "\15");
  /* a prefix of Lightning's and of ema-pytorch's names, and what wraps the average */
  EXPECT("\x80\2}" KEY("\12", "state_dict") "}" FOUR("ema_model.", "\15", TEST_PLAIN)
             FOUR("model.", "\11", OTHER) "s.",
         "a.a");
  EXPECT(TWO("model", "\5", THEIRS, "ema", "\3",
             "}" FOUR("ema_model.module.", "\24", TEST_PLAIN) FOUR("online_model.", "\20", OTHER)),
         "a.c");
  EXPECT("\x80\2}" KEY("\12", "state_dict") "}" FOUR("base_encoder.", "\20", TEST_PLAIN)
             FOUR("momentum_encoder.", "\24", OTHER) "s.",
         "a.b");
  EXPECT("\x80\2}" KEY("\5", "model") "}" FOUR("student.", "\13", OTHER)
             FOUR("teacher.", "\13", TEST_PLAIN) "s.",
         "a.c");
  EXPECT(TWO("state_dict", "\12", MINE, "callbacks", "\11", "}" KEY("\3", "EMA") THEIRS "s"),
         "a.a");
#define NOBODYS TWO("model", "\5", MINE, "shadow", "\6", THEIRS)
#define BYTES(pickle) test_torch_zip(pickle, sizeof pickle - 1)
  refuse_copies(BYTES(NOBODYS), NULL,
                "several copies of a model (found \"model\" and that of shadow");
  refuse_copies(BYTES(NOBODYS), "none",
                "(found \"none\", expected one of its entries: model, shadow)");
  expect_key(BYTES(NOBODYS), "shadow", "shadow");
  expect_key(BYTES(NOBODYS), "model", "model");
  expect_key(BYTES(NOBODYS), ".", "");
  expect_key(BYTES(TWO("state_dict", "\12", MINE, "state_dict_ema", "\16", THEIRS)), "state_dict",
             "state_dict");
  expect_key(
      BYTES(TWO("state_dict", "\12", MINE, "callbacks", "\11", "}" KEY("\3", "EMA") THEIRS "s")),
      "EMA", "callbacks.EMA");
}

static void expect_note(const heed_safetensors *file, const char *key, const char *text) {
  const char *found = heed_safetensors_metadata(file, key);
  if (!found != !text || (text && strcmp(found, text) != 0))
    fail_msg("%s: found %s, expected %s", key, found ? found : "nothing", text ? text : "nothing");
}

/* Arguments of a training: of a Namespace, of dictionaries in dictionaries, of the file itself; no
 * others, none twice, none that is no number or text. */
static void test_notes_of_a_training(void **state) {
  opened_pickle opened;
  size_t size;
  (void)state;
  unsigned char *namespaced = test_read_vector("pickle/vit/trained.ckpt", &size);
  const heed_source source = test_source(namespaced, size);
  assert_ok(open_pickle(&source, &opened));
  expect_note(opened.file, "training.args.arch", "vit");
  expect_note(opened.file, "training.args.lr", NULL);
  close_pickle(&opened);
  free(namespaced);
#define ITEM(length, key, value) KEY(length, key) value "s"
#define MODEL "}" ITEM("\5", "heads", "K\4") ITEM("\5", "heads", "K\5") ITEM("\2", "lr", "K\1")
#define SIZES ITEM("\12", "patch_size", "K\10K\7\x86") ITEM("\12", "image_size", "J\0\0\1\0")
#define HALF "G\x3f\xe0\0\0\0\0\0\0"
#define MEANS \
  ITEM("\4", "mean", "(" HALF "G\x3f\xde\xd0\xe5\x60\x41\x89\x37K\1t") ITEM("\3", "std", HALF)
#define WRONG \
  ITEM("\10", "img_mean", "(" HALF "Nt") ITEM("\7", "img_std", "(G\xbf\xe0\0\0\0\0\0\0t")
#define HYPER ITEM("\5", "model", MODEL) SIZES ITEM("\4", "pool", "N") MARK MEANS WRONG
#define MARK ITEM("\15", "norm_pix_loss", "G\0\0\0\0\0\0\0\0")
#define ROOT ITEM("\4", "arch", KEY("\5", "a\"b\\\n")) ITEM("\11", "dino_loss", "}")
#define OTHERS ITEM("\5", "other", "}" ITEM("\5", "heads", "K\6"))
#define WEIGHTS ITEM("\5", "model", "}" ITEM("\1", "w", TEST_PLAIN))
#define TRAINED "\x80\2}" WEIGHTS ROOT ITEM("\20", "hyper_parameters", "}" HYPER) OTHERS "."
  test_bytes bytes = BYTES(TRAINED);
  const heed_source made = test_source(bytes.data, bytes.size);
  assert_ok(open_pickle(&made, &opened));
  expect_note(opened.file, "training.arch", "a\"b\\\n");
  expect_note(opened.file, "training.dino_loss", "");
  expect_note(opened.file, "training.hyper_parameters.model.heads", "4");
  expect_note(opened.file, "training.hyper_parameters.norm_pix_loss", "");
  expect_note(opened.file, "training.hyper_parameters.image_size", "65536");
  expect_note(opened.file, "training.hyper_parameters.patch_size", NULL);
  expect_note(opened.file, "training.hyper_parameters.pool", NULL);
  expect_note(opened.file, "training.hyper_parameters.mean", "0.5,0.4815,1.0");
  expect_note(opened.file, "training.hyper_parameters.std", "0.5");
  expect_note(opened.file, "training.hyper_parameters.img_mean", NULL);
  expect_note(opened.file, "training.hyper_parameters.img_std", NULL);
  expect_note(opened.file, "training.other.heads", NULL);
  assert_int_equal(heed_safetensors_count(opened.file), 1);
  close_pickle(&opened);
  free(bytes.data);
}

/* Memo numbers count entries, as Python has it; metadata that say nothing change nothing. */
static void test_as_python_reads(void **state) {
  (void)state;
  EXPECT("\x80\4}" KEY("\1", "w") "q\0q\0" TEST_PLAIN "\x94"
                                  "0h\1s.",
         "w");
#define WITH(function, more)                           \
  TEST_DICT("ctorch._utils\n_rebuild_tensor_" function \
            "\n(" TEST_STORAGE("FloatStorage", "\6") "K\0" TEST_2_3 TEST_3_1 "\x89}" more "tR")
  EXPECT(WITH("v2", "}"), "w");
  EXPECT(WITH("v2", "N"), "w");
  EXPECT(WITH("v2", "}X\3\0\0\0neg\x89s"), "w");
  EXPECT(WITH("v3", "ctorch\nfloat32\n"), "w");
  EXPECT(WITH("v3", "ctorch\nfloat32\n}"), "w");
}

static void test_where_weights_lie(void **state) {
  (void)state;
  EXPECT(TEST_DICT(TEST_PLAIN), "w");
  EXPECT("\x80\2}" KEY("\5", "model") "}" KEY("\1", "w") TEST_PLAIN "ss.", "w");
  EXPECT("\x80\2}" KEY("\7", "teacher") "}" KEY("\1", "t") TEST_PLAIN
         "ss" KEY("\7", "student") "}" KEY("\1", "s") TEST_PLAIN "ss.",
         "t"); /* as many: the first of the list */
  EXPECT("\x80\2}" KEY("\7", "teacher") "}" KEY("\1", "t") TEST_PLAIN "ss" KEY(
             "\7", "student") "}" KEY("\1", "s") TEST_PLAIN "s" KEY("\1", "r") TEST_PLAIN "ss.",
         "s"); /* more */
  EXPECT("\x80\2}" KEY("\5", "epoch") "K\3s" KEY("\5", "other") "}" KEY("\1", "w") TEST_PLAIN "ss.",
         "other.w");
  EXPECT("\x80\2}" KEY("\5", "model") "}" KEY("\6", "module") "}" KEY("\x0E", "module.model.w")
             TEST_PLAIN "sss.",
         "w");
  EXPECT("\x80\2}" KEY("\7", "model.w") TEST_PLAIN "s.", "model.w"); /* as an index has it */
  EXPECT("\x80\2}" KEY("\x12", "_orig_mod.module.w") TEST_PLAIN "s.", "w");
  EXPECT("\x80\2ccollections\nOrderedDict\n]](" KEY("\1", "w") TEST_PLAIN "ea\x85R.", "w");
  EXPECT("\x80\2ctimm.models\nVisionTransformer\n)\x81}" KEY("\x0B", "_parameters") "}" KEY(
             "\1", "w") TEST_PLAIN "ssb.",
         "w");
}

static void test_opcodes_of_other_programs(void **state) {
  (void)state;
  EXPECT("\x80\3}U\1w" TEST_PLAIN "s.", "w");
  EXPECT("\x80\4\x95\0\0\0\0\0\0\0\0}\x94\x8C\1w\x94" TEST_PLAIN "s.", "w");
  EXPECT("\x80\4(\x8C\1w" TEST_TENSOR("K\0", "(K\2K\3t", "(K\3K\1t") "d.", "w");
  EXPECT("\x80\2}(" KEY("\1", "a") "G\0\0\0\0\0\0\0\0" KEY("\1", "b") "\x8A\1\xFF" KEY(
             "\1", "c") "(NK\1\x88l" KEY("\1", "d") "C\3xyz" KEY("\1", "w") TEST_PLAIN "u.",
         "w");
  EXPECT("\x80\2}" KEY("\1", "w") "ctorch._utils\n_rebuild_parameter\n" TEST_PLAIN "\x88)\x87Rs.",
         "w");
  EXPECT("\x80\2}" KEY("\1", "w") "ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_"
                                  "tensor_v2\nctorchvision\nImage\n(" TEST_STORAGE(
                                      "FloatStorage", "\6") "K\0" TEST_2_3 TEST_3_1 "\x89)t}tRs.",
         "w");
  static const char untyped[] = TEST_DICT("ctorch._utils\n_rebuild_tensor_v3\n(" TEST_STORAGE(
      "UntypedStorage", "\x18") "K\0" TEST_2_3 TEST_3_1 "\x89)ctorch\nfloat32\nNtR");
  expect_tensor(test_torch_zip(untyped, sizeof untyped - 1), "w", in_order, 6);
}

static void test_strides(void **state) {
  (void)state;
  static const unsigned char transposed[] = {0, 2, 4, 1, 3, 5}, column[] = {1, 3, 5},
                             apart[] = {0, 5};
  static const char t[] = TEST_DICT(TEST_TENSOR("K\0", TEST_2_3, "K\1K\2\x86")),
                    c[] = TEST_DICT(TEST_TENSOR("K\1", "K\3\x85", "K\2\x85")),
                    a[] = TEST_DICT(TEST_TENSOR("K\0", "K\1K\2K\1\x87", "K\0K\5K\7\x87")),
                    none[] = TEST_DICT(TEST_TENSOR("K\6", "K\0K\3\x86", "K\0K\0\x86"));
  expect_tensor(test_torch_zip(t, sizeof t - 1), "w", transposed, 6);
  expect_tensor(test_torch_legacy(c, sizeof c - 1), "w", column, 3);
  expect_tensor(test_torch_zip(a, sizeof a - 1), "w", apart, 2);
  expect_tensor(test_torch_legacy(none, sizeof none - 1), "w", in_order, 0);
}

static void test_zip64(void **state) {
  (void)state;
  static const char pickle[] = TEST_DICT(TEST_PLAIN);
  unsigned char data[24];
  for (unsigned char i = 0; i < 24; i++) data[i] = i;
  const test_zip_entry entries[] = {{"data.pkl", pickle, sizeof pickle - 1, 0, 0x808},
                                    {"byteorder", "little", 6, 0, 0},
                                    {"data/0", data, sizeof data, 0, 0x808}};
  expect_tensor(test_zip(entries, 3, true), "w", in_order, 6);
  expect_tensor(test_zip(entries, 3, false), "w", in_order, 6);
}

/* Only the header, the directory and the pickle are read when a file is opened; a read of a tensor
 * asks for its bytes alone. */
typedef struct counted {
  test_bytes bytes;
  uint64_t read;
} counted;

static heed_status read_counted(void *user, uint64_t offset, void *to, size_t count,
                                heed_error *fault) {
  counted *from = user;
  (void)fault;
  from->read += count;
  memcpy(to, from->bytes.data + offset, count);
  return HEED_OK;
}

static void test_only_what_is_needed_is_read(void **state) {
  (void)state;
  enum { DATA = 1 << 20 };
  static const char pickle[] =
      TEST_DICT(TEST_TENSOR_OF("(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
                               "0X\3\0\0\0cpuJ\0\0\4\0tQ",
                               "K\0", "J\0\0\4\0\x85", "K\1\x85"));
  void *data = calloc(1, DATA);
  const test_zip_entry entries[] = {{"a/data.pkl", pickle, sizeof pickle - 1, 0, 0},
                                    {"a/data/0", data, DATA, 0, 0}};
  counted from = {test_zip(entries, 2, false), 0};
  const heed_source source = {from.bytes.size, NULL, read_counted, &from};
  opened_pickle opened;
  float values[100];
  assert_ok(open_pickle(&source, &opened));
  assert_true(from.read < 70000); /* the zip file's end is looked for in 64 KiB */
  from.read = 0;
  assert_ok(heed_safetensors_read(opened.file, heed_safetensors_get(opened.file, 0), 5000, 100,
                                  values, &error));
  assert_int_equal(from.read, 400);
  close_pickle(&opened);
  free(from.bytes.data);
  free(data);
}

static void test_begins(void **state) {
  (void)state;
  assert_true(heed_pickle_begins("PK\3\4\0\0\0\0\0", 9));
  assert_true(heed_pickle_begins("\x80\2\x8A\nl\xFC\x9C\x46\xF9", 9));
  assert_false(heed_pickle_begins("\x80\2\0\0\0\0\0\0{", 9)); /* 640 bytes of header */
  assert_false(heed_pickle_begins("PK\3\4\0\0\0\0{", 9));
  assert_false(heed_pickle_begins("\x80\1.....", 6));
  assert_false(heed_pickle_begins("PK", 2));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_notes_of_a_training),
      cmocka_unit_test(test_copies),
      cmocka_unit_test(test_as_python_reads),
      cmocka_unit_test(test_every_type_and_layout),
      cmocka_unit_test(test_shared_bytes_are_known),
      cmocka_unit_test(test_a_model_as_people_find_it),
      cmocka_unit_test(test_where_weights_lie),
      cmocka_unit_test(test_opcodes_of_other_programs),
      cmocka_unit_test(test_strides),
      cmocka_unit_test(test_zip64),
      cmocka_unit_test(test_only_what_is_needed_is_read),
      cmocka_unit_test(test_begins),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
