/* Files as they are read from a disk: regular files alone, models in folders, data beneath a
 * folder. Reads that fail, are short or are interrupted; memory that runs out. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/missing_model.h"
#include "files/regular_file.h"
#include "files/relative_file.h"
#include "files/weight_file.h"
#include "heed/native.h"
#include "support/onnx_file.h"
#include "support/test.h"
#include "support/torch_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

/* The linker puts these in the place of the library's calls (--wrap). */
#if defined(HEED_TEST_OFFSET_BITS)
#define __wrap_pread __wrap_pread64
#define __real_pread __real_pread64
#define __wrap_fstat __wrap_fstat64
#define __real_fstat __real_fstat64
#endif
static enum { WHOLE, INTERRUPTED, SHORT, FAILED, ENDED } reads;
static bool memory_fails, stat_fails;
ssize_t __real_pread(int descriptor, void *to, size_t count, off_t offset);
ssize_t __wrap_pread(int descriptor, void *to, size_t count, off_t offset);
int __real_fstat(int descriptor, struct stat *info);
int __wrap_fstat(int descriptor, struct stat *info);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

ssize_t __wrap_pread(int descriptor, void *to, size_t count, off_t offset) {
  static bool again;
  if (reads == INTERRUPTED && (again = !again)) return errno = EINTR, -1;
  if (reads == FAILED) return errno = EIO, -1;
  if (reads == ENDED) return 0;
  return __real_pread(descriptor, to, reads == SHORT && count > 1 ? 1 : count, offset);
}

int __wrap_fstat(int descriptor, struct stat *info) {
  if (stat_fails) return errno = EIO, -1;
  return __real_fstat(descriptor, info);
}

/* Of streams: a read ends in the middle, and the stream says so until it is cleared. Of reads that
 * fail the first is whole, so that the first bytes of a file are known. */
size_t __real_fread(void *to, size_t size, size_t count, FILE *file);
size_t __wrap_fread(void *to, size_t size, size_t count, FILE *file);
int __real_ferror(FILE *file);
int __wrap_ferror(FILE *file);
void __real_clearerr(FILE *file);
void __wrap_clearerr(FILE *file);
static bool stream_failed;
static int stream_reads;

size_t __wrap_fread(void *to, size_t size, size_t count, FILE *file) {
  stream_reads++;
  stream_failed = count > 1 && (reads == INTERRUPTED || (reads == FAILED && stream_reads > 1));
  const size_t done = __real_fread(to, size, stream_failed ? count / 2 : count, file);
  if (stream_failed) errno = reads == FAILED ? EIO : EINTR;
  return done;
}

int __wrap_ferror(FILE *file) { return stream_failed || __real_ferror(file); }

void __wrap_clearerr(FILE *file) {
  stream_failed = false;
  __real_clearerr(file);
}

void *__wrap_malloc(size_t size) { return memory_fails ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) {
  return memory_fails ? NULL : __real_calloc(count, size);
}

static char folder[64];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/heed_test_file_reads_XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  char command[128];
  (void)state;
  reads = WHOLE;
  memory_fails = false;
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static const char *in_folder(const char *name) {
  static char paths[4][512];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void put_bytes(const char *name, const void *bytes, size_t size) {
  FILE *file = fopen(in_folder(name), "wb");
  if (!file) fail_msg("%s", name);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void put(const char *name, const char *text) { put_bytes(name, text, strlen(text)); }

static void put_folder(const char *name) { assert_int_equal(mkdir(in_folder(name), 0700), 0); }

/* ------------------------------------------------------------------------------- regular files */

static void test_regular(void **state) {
  (void)state;
  unsigned char *bytes;
  size_t size;
  put("text", "0123456789");
  for (reads = WHOLE; reads <= SHORT; reads++) {
    assert_ok(heed_file_read(in_folder("text"), 10, &bytes, &size, &error));
    assert_int_equal(size, 10);
    assert_memory_equal(bytes, "0123456789", 10);
    free(bytes);
  }
  reads = FAILED;
  assert_fails(heed_file_read(in_folder("text"), 10, &bytes, &size, &error), HEED_IO,
               "text: cannot read (Input/output error)");
  assert_null(bytes);
  reads = ENDED;
  assert_fails(heed_file_read(in_folder("text"), 10, &bytes, &size, &error), HEED_IO,
               "text: truncated (found 0 bytes)");
  reads = WHOLE;
  assert_fails(heed_file_read(in_folder("text"), 9, &bytes, &size, &error), HEED_INVALID_FILE,
               "text: file too large (found 10 bytes, expected at most 9)");
  assert_null(bytes);
  memory_fails = true;
  const heed_status status = heed_file_read(in_folder("text"), 10, &bytes, &size, &error);
  memory_fails = false;
  assert_int_equal(status, HEED_OUT_OF_MEMORY);
  assert_null(bytes);
  stat_fails = true;
  const heed_status unknown = heed_file_read(in_folder("text"), 10, &bytes, &size, &error);
  stat_fails = false;
  assert_int_equal(unknown, HEED_IO);
  assert_non_null(strstr(error.message, "text: cannot open (Input/output error)"));
  assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
  static const struct {
    const char *path, *part;
  } others[] = {{"pipe", "not a regular file (found a pipe)"},
                {".", "not a regular file (found a directory)"},
                {"none", "none: cannot open (No such file or directory)"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_fails(heed_file_read(in_folder(others[i].path), 10, &bytes, &size, &error), HEED_IO,
                 others[i].part);
  assert_fails(heed_file_read("/dev/null", 10, &bytes, &size, &error), HEED_IO,
               "/dev/null: not a regular file (found a device)");
}

/* ---------------------------------------------------------------------------- beneath a folder */

static void test_beneath(void **state) {
  (void)state;
  char names[5000], path[600];
  heed_regular file;
  uint64_t size;
  put("model.onnx", "");
  put("data", "1234");
  put_folder("a");
  put_folder("a/b");
  put("a/b/data", "123456");
  assert_int_equal(symlink("data", in_folder("link")), 0);
  assert_int_equal(symlink("a", in_folder("linked")), 0);
  assert_int_equal(link(in_folder("data"), in_folder("a/hard")), 0);
  assert_int_equal(mkfifo(in_folder("a/pipe"), 0600), 0);
  snprintf(path, sizeof path, "%s", in_folder("model.onnx"));
  assert_ok(heed_beneath_open(&file, path, "a/b/data", &size, &error));
  assert_int_equal(size, 6);
  heed_regular_close(&file);
  memset(names, 'n', sizeof names - 1);
  names[300] = '\0';
  const struct {
    const char *location;
    heed_status status;
    const char *part;
  } cases[] = {{"../data", HEED_INVALID_FILE, "expected a file in the folder of the model"},
               {"link", HEED_INVALID_FILE, "external data link: found a link"},
               {"linked/b/data", HEED_IO, "external data linked/b/data: cannot open"},
               {"a/hard", HEED_INVALID_FILE, "external data a/hard: found a hard link"},
               {"a/pipe", HEED_INVALID_FILE, "external data a/pipe: found no regular file"},
               {"a/b", HEED_INVALID_FILE, "external data a/b: found no regular file"},
               {"a/none", HEED_IO, "cannot open (No such file or directory)"},
               {names, HEED_IO, "cannot open (File name too long)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_fails(heed_beneath_open(&file, path, cases[i].location, &size, &error), cases[i].status,
                 cases[i].part);
    assert_int_equal(file.descriptor, -1);
  }
  stat_fails = true;
  const heed_status unknown = heed_beneath_open(&file, path, "data", &size, &error);
  stat_fails = false;
  assert_int_equal(unknown, HEED_INVALID_FILE);
  assert_non_null(strstr(error.message, "external data data: found no regular file"));
  assert_fails(heed_beneath_open(&file, in_folder("none/model.onnx"), "data", &size, &error),
               HEED_IO, "cannot open (No such file or directory)");
  names[300] = 'n';
  names[4500] = '/';
  assert_fails(heed_beneath_open(&file, names, "data", &size, &error), HEED_IO,
               "cannot open (File name too long)");
  char before[1024];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(in_folder("a/b")), 0);
  assert_ok(heed_beneath_open(&file, "model.onnx", "data", &size, &error));
  heed_regular_close(&file);
  assert_int_equal(chdir(before), 0);
}

/* ---------------------------------------------------------------------------- models in folders */

static void refuse_model(const char *path, heed_status status, const char *part) {
  heed_model_files *files;
  assert_fails(heed_model_files_open(context, path, &files, &error), status, part);
  assert_null(files);
}

static void opens(const char *path, uint32_t count) {
  heed_model_files *files;
  assert_ok(heed_model_files_open(context, path, &files, &error));
  assert_int_equal(heed_model_files_desc(files)->file_count, count);
  heed_model_files_destroy(files);
}

static void test_folders(void **state) {
  (void)state;
  refuse_model(folder, HEED_INVALID_FILE, "no model here (found neither config.json nor");
  put_folder("onnx");
  refuse_model(folder, HEED_INVALID_FILE, "no model here");
  put("onnx/y.onnx", "");
  put("onnx/x.onnx", "");
  refuse_model(folder, HEED_INVALID_FILE,
               "onnx: several weight files (found 2, such as x.onnx and y.onnx, expected one");
  test_message model = test_onnx_linear();
  put_bytes("onnx/model.onnx", model.data, model.size);
  opens(folder, 1);
  put("config.json", "{}");
  put("preprocessor_config.json", "{}");
  opens(folder, 3);
  opens(in_folder("onnx/model.onnx"), 3); /* with those above */
  put("onnx/config.json", "{}");
  opens(in_folder("onnx/model.onnx"), 2); /* with the one beside */
  put_bytes("other.onnx", model.data, model.size);
  opens(in_folder("other.onnx"), 3);
  free(model.data);
  assert_int_equal(remove(in_folder("other.onnx")), 0);
  put("b.pth", "");
  put("a.pt", "");
  put("optimizer.pt", "");
  refuse_model(folder, HEED_INVALID_FILE, "several weight files (found 2, such as a.pt and b.pth");
  static const char empty[] = "\2\0\0\0\0\0\0\0{}";
  put_bytes("model.safetensors", empty, sizeof empty - 1);
  opens(folder, 3); /* before files of PyTorch */
  put("tokenizer.json", "{}");
  put("merges.txt", "");
  put("spiece.model", "");
  opens(folder, 6);
  char before[1024];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(folder), 0);
  opens("model.safetensors", 6);
  assert_int_equal(chdir(before), 0);
  put("tokenizer.json", "\x89PNG\r\n\x1A\n");
  refuse_model(folder, HEED_UNSUPPORTED, "tokenizer.json: format not supported (found a PNG");
  assert_int_equal(remove(in_folder("tokenizer.json")), 0);
  for (int i = 0; i < 600; i++) {
    char name[64];
    snprintf(name, sizeof name, "part-%d.safetensors", i);
    put_bytes(name, empty, sizeof empty - 1);
  }
  refuse_model(folder, HEED_INVALID_FILE, "too many model files (found more than ");
}

/* Where a file was found. */
static heed_status note_path(void *user, const char *path, heed_error *why) {
  (void)why;
  strcpy(user, path);
  return HEED_OK;
}

static void test_paths(void **state) {
  (void)state;
  char deep[4096], before[1024];
  static const char empty[] = "\2\0\0\0\0\0\0\0{}";
  assert_non_null(getcwd(before, sizeof before));
  /* a folder whose files have names that are too long */
  size_t length = strlen(strcpy(deep, folder));
  while (length < 4080) {
    const size_t part = 4088 - length < 250 ? 4088 - length : 250;
    deep[length] = '/';
    memset(deep + length + 1, 'd', part);
    deep[length += part + 1] = '\0';
    assert_int_equal(mkdir(deep, 0700), 0);
  }
  refuse_model(deep, HEED_INVALID_FILE, "/ddd");
  assert_int_equal(chdir(deep), 0);
  FILE *file = fopen("config.json", "wb");
  assert_non_null(file);
  fclose(file);
  assert_int_equal(chdir(before), 0);
  refuse_model(deep, HEED_IO, "cannot open (File name too long)");
  memset(deep, 'm', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  refuse_model(deep, HEED_IO, "cannot open (File name too long)");
  assert_ok(heed_model_files_each("/none.safetensors", note_path, deep, &error));
  assert_string_equal(deep, "/./none.safetensors");
  /* beside a file in this folder */
  test_message model = test_onnx_linear();
  put_bytes("m.onnx", model.data, model.size);
  free(model.data);
  put_bytes("model.safetensors", empty, sizeof empty - 1);
  put("config.json", "\x89PNG\r\n\x1A\n");
  refuse_model(in_folder("model.safetensors"), HEED_UNSUPPORTED,
               "config.json: format not supported (found a PNG");
  put("config.json", "{}");
  assert_int_equal(chdir(folder), 0);
  opens("m.onnx", 2);
  assert_int_equal(chdir(before), 0);
  struct rlimit limit, none;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  none = limit;
  none.rlim_cur = 0;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  heed_model_files *files;
  const heed_status status = heed_model_files_open(context, folder, &files, &error);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  assert_int_equal(status, HEED_IO);
  assert_non_null(strstr(error.message, "cannot open (Too many open files)"));
}

static void test_names(void **state) {
  (void)state;
  static const struct {
    const char *name;
    heed_weights_kind kind;
  } names[] = {{"model.safetensors", HEED_WEIGHTS_SAFETENSORS},
               {"model.safetensors.index.json", HEED_WEIGHTS_SAFETENSORS},
               {"pytorch_model.bin", HEED_WEIGHTS_SINGLE},
               {"pytorch_model.bin.index.json", HEED_WEIGHTS_SHARDS},
               {"pytorch_model-00001-of-00002.bin", HEED_WEIGHTS_SHARDS},
               {"pytorch_model-1.txt", HEED_WEIGHTS_NONE},
               {"x.onnx", HEED_WEIGHTS_ONNX},
               {"x.pth", HEED_WEIGHTS_TORCH},
               {"optimizer.pt", HEED_WEIGHTS_NONE},
               {"training_args.bin", HEED_WEIGHTS_NONE},
               {"config.json", HEED_WEIGHTS_NONE}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (heed_weights_kind_of(names[i].name) != names[i].kind) fail_msg("%s", names[i].name);
  assert_int_equal(heed_onnx_file_rank("model.onnx"), 0);
  assert_int_equal(heed_onnx_file_rank("vision_model.onnx"), 1);
  assert_int_equal(heed_onnx_file_rank("model_fp16.onnx"), 2);
  assert_int_equal(heed_onnx_file_rank("modelx.onnx"), UINT32_MAX);
}

static void test_foreign(void **state) {
  (void)state;
  put("c.npz", "");
  put("a.gguf", "");
  put("b.h5", "");
  refuse_model(folder, HEED_UNSUPPORTED, "a.gguf: format not supported (found a GGUF file");
  refuse_model(in_folder("b.h5"), HEED_UNSUPPORTED, "found a TensorFlow or Keras file (.h5)");
  put("config.json", "{}");
  refuse_model(folder, HEED_UNSUPPORTED, "a.gguf: format not supported");
}

static void test_missing(void **state) {
  (void)state;
  static const char *const hub[] = {"google/vit-base", "a/b", "a.b/c_d"},
                           *const neither[] = {"a/b/c",   "a/",      ".a/b",     "/a",
                                               "a/b.pth", "a/b.npz", "a/b.onnx", "a/b.safetensors",
                                               "a/b c",   "a",       "n/b"};
  char before[1024];
  assert_non_null(getcwd(before, sizeof before));
  put_folder("n");
  put("file", "");
  assert_int_equal(chdir(folder), 0);
  for (size_t i = 0; i < sizeof hub / sizeof *hub; i++)
    refuse_model(hub[i], HEED_IO, "a name on the Hugging Face hub");
  for (size_t i = 0; i < sizeof neither / sizeof *neither; i++)
    refuse_model(neither[i], HEED_IO, "neither a folder nor a file of this name");
  refuse_model("file/model", HEED_IO, "model not found");
  char owner[128];
  memset(owner, 'o', 97);
  strcpy(owner + 97, "/model");
  refuse_model(owner, HEED_IO, "neither a folder nor a file of this name");
  assert_true(heed_is_model_path("none"));
  assert_true(heed_is_model_path("none.pth"));
  assert_true(heed_is_model_path("none.gguf"));
  assert_true(heed_is_model_path("none.onnx"));
  assert_true(heed_is_model_path("n"));
  assert_true(heed_is_model_path(".png")); /* an ending alone is none */
  assert_false(heed_is_model_path("none.PNG"));
  assert_true(heed_is_model_path("file")); /* whose sentence says what it is */
  put("blob", "PK\3\4archive/data.pkl");
  put("photo", "\x89PNG\r\n\x1A\n");
  put("zip.png", "PK\3\4archive/data.pkl");
  put("notes.png", "notes");
  assert_true(heed_is_model_path("blob") && heed_is_model_path("zip.png"));
  assert_false(heed_is_model_path("photo") || heed_is_model_path("notes.png"));
  assert_true(heed_is_picture_path("photo"));
  assert_false(heed_is_picture_path("notes.png") || heed_is_picture_path("none") ||
               heed_is_picture_path("n") || heed_is_picture_path("blob"));
  assert_false(heed_is_model_path("/dev/null"));
  assert_int_equal(chdir(before), 0);
}

/* ------------------------------------------------------------------------------------- failures */

static test_message external_model(void) {
  test_message graph = {0}, tensor = {0};
  static const char *const pairs[][2] = {{"location", "w.data"}, {"length", "8"}};
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 2, 1);
  test_put_text(&tensor, 8, "t.x");
  test_put_number(&tensor, 14, 1);
  for (size_t i = 0; i < 2; i++) {
    test_message pair = {0};
    test_put_text(&pair, 1, pairs[i][0]);
    test_put_text(&pair, 2, pairs[i][1]);
    test_put_message(&tensor, 13, &pair);
  }
  test_put_message(&graph, 5, &tensor);
  return test_onnx_file(&graph);
}

static void test_external(void **state) {
  (void)state;
  test_message model = external_model();
  put_bytes("model.onnx", model.data, model.size);
  free(model.data);
  refuse_model(in_folder("model.onnx"), HEED_IO, "external data w.data: cannot open");
  put("w.data", "12345678");
  opens(in_folder("model.onnx"), 1);
  heed_model_files *files;
  memory_fails = true; /* of what is not the context's */
  const heed_status status =
      heed_model_files_open(context, in_folder("model.onnx"), &files, &error);
  memory_fails = false;
  assert_int_equal(status, HEED_OUT_OF_MEMORY);
}

static void test_reads_that_fail(void **state) {
  (void)state;
  static const char empty[] = "\2\0\0\0\0\0\0\0{}";
  put_bytes("model.safetensors", empty, sizeof empty - 1);
  for (reads = INTERRUPTED; reads <= SHORT; reads++) opens(folder, 1);
  reads = FAILED;
  refuse_model(folder, HEED_IO, "model.safetensors: cannot read (Input/output error)");
  put("config.json", "{}");
  assert_int_equal(remove(in_folder("model.safetensors")), 0);
  refuse_model(folder, HEED_IO, "config.json: cannot read (Input/output error)");
}

static void test_memory_runs_out(void **state) {
  (void)state;
  test_message model = external_model();
  put_bytes("model.onnx", model.data, model.size);
  free(model.data);
  put("w.data", "12345678");
  put("config.json", "{}");
  test_allocator allocator = {0};
  const heed_context_desc desc = test_context_desc(&allocator);
  heed_context *small;
  assert_ok(heed_context_create(&desc, &small, &error));
  const size_t live = allocator.live;
  heed_status status = HEED_OUT_OF_MEMORY;
  for (size_t n = 1; status != HEED_OK; n++) {
    heed_model_files *files;
    allocator.fail_at = allocator.total + n;
    status = heed_model_files_open(small, folder, &files, &error);
    if (status != HEED_OK && status != HEED_OUT_OF_MEMORY) fail_msg("%s", error.message);
    heed_model_files_destroy(files);
    assert_int_equal(allocator.live, live);
  }
  heed_context_destroy(small);
}

/* An image whose reads are interrupted is the same image; one whose reads fail is none. */
static void test_images(void **state) {
  char path[256];
  heed_picture whole, broken;
  (void)state;
  snprintf(path, sizeof path, "%s/image/rgb.png", HEED_TEST_VECTORS);
  assert_ok(heed_image_load(context, path, &whole, &error));
  reads = INTERRUPTED;
  stream_reads = 0;
  assert_ok(heed_image_load(context, path, &broken, &error));
  assert_true(stream_reads > 4); /* the first bytes in more than one, and what follows */
  assert_int_equal(broken.width, whole.width);
  assert_memory_equal(broken.pixels, whole.pixels, (size_t)3 * whole.width * whole.height);
  heed_picture_free(context, &broken);
  heed_picture_free(context, &whole);
  reads = FAILED;
  stream_reads = 0;
  assert_fails(heed_image_load(context, path, &broken, &error), HEED_IO,
               "rgb.png: cannot read (found \"Input/output error\", expected an image file)");
  assert_int_equal(stream_reads, 2);
  assert_null(broken.pixels);
  reads = WHOLE;
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
  const struct CMUnitTest tests[] = {
      IN_FOLDER(test_regular),         IN_FOLDER(test_beneath),  IN_FOLDER(test_folders),
      IN_FOLDER(test_foreign),         IN_FOLDER(test_paths),    cmocka_unit_test(test_names),
      IN_FOLDER(test_missing),         IN_FOLDER(test_external), IN_FOLDER(test_reads_that_fail),
      IN_FOLDER(test_memory_runs_out), IN_FOLDER(test_images)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
