/* What the library asks of the system about files, on each system: names that no code page has,
 * paths longer than Windows' own functions take, reads by range, folders, files that take the place
 * of others, data beneath a folder. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/names.h"
#include "files/os.h"
#include "files/regular_file.h"
#include "files/relative_file.h"
#include "heed/native.h"
#include "support/folder.h"
#include "support/test.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

static char folder[512];

static int make_folder(void **state) {
  return make_context(state) == 0 && test_folder_make(folder, sizeof folder, "heed_test_os") ? 0
                                                                                             : -1;
}

/* Fails where a temporary file is left. */
static int remove_folder(void **state) {
  drop_context(state);
  return test_folder_remove(folder) ? 0 : -1;
}

/* Of the folder; the next two calls leave it valid. */
static const char *in_folder(const char *name) {
  static char paths[3][1024];
  static unsigned next;
  char *path = paths[next++ % 3];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void put(const char *path, const char *text) {
  assert_ok(heed_file_write(path, text, strlen(text), &error));
}

static void check(const char *path, const char *text) {
  unsigned char *bytes;
  size_t size;
  assert_ok(heed_file_read(path, 100, &bytes, &size, &error));
  assert_int_equal(size, strlen(text));
  assert_memory_equal(bytes, text, size);
  free(bytes);
}

/* Letters of several alphabets, and one beyond 16 bits. */
#define MANY "na\xC3\xAFve \xE6\xA8\xA1\xE5\x9E\x8B \xF0\x9F\x90\x88.safetensors"

static void test_names(void **state) {
  (void)state;
  heed_os_info info;
  const char *path = in_folder(MANY);
  assert_true(heed_os_is_absent(path));
  assert_false(heed_os_look(path, &info));
  assert_int_equal(errno, ENOENT);
  put(path, "first");
  put(path, "second, longer"); /* in its place */
  check(path, "second, longer");
  assert_false(heed_os_is_absent(path));
  assert_true(heed_os_look(path, &info));
  assert_int_equal(info.kind, HEED_OS_REGULAR);
  assert_int_equal(info.size, 14);
  assert_int_equal(info.links, 1);
  assert_true(heed_os_look(folder, &info));
  assert_int_equal(info.kind, HEED_OS_FOLDER);
  assert_string_equal(heed_last_name(path), MANY);
  heed_os_folder *names = heed_os_folder_open(folder);
  assert_non_null(names);
  for (int round = 0; round < 2; round++) {
    int found = 0, others = 0;
    for (const char *name; (name = heed_os_folder_next(names));) {
      found += strcmp(name, MANY) == 0;
      others += strcmp(name, MANY) != 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    }
    assert_int_equal(errno, 0);
    assert_int_equal(found, 1);
    assert_int_equal(others, 0);
    heed_os_folder_rewind(names);
  }
  heed_os_folder_close(names);
  heed_os_remove(path);
  assert_true(heed_os_is_absent(path));
}

static void test_refused(void **state) {
  (void)state;
  heed_os_info info;
  heed_regular file;
  uint64_t size;
  static char longest[HEED_PATH_SIZE + 8];
  memset(longest, 'a', sizeof longest - 1);
  assert_fails(heed_regular_open(&file, in_folder("none"), &size, &error), HEED_IO,
               "none: cannot open (No such file or directory)");
  assert_fails(heed_regular_open(&file, "", &size, &error), HEED_IO, "cannot open (");
  assert_fails(heed_regular_open(&file, longest, &size, &error), HEED_IO, "aaa");
  assert_fails(heed_regular_open(&file, folder, &size, &error), HEED_IO,
               "not a regular file (found a directory)");
  assert_null(heed_os_folder_open(in_folder("none")));
  assert_int_equal(errno, ENOENT);
  put(in_folder("file"), "text");
  assert_null(heed_os_folder_open(in_folder("file")));
  assert_int_equal(errno, ENOTDIR);
  assert_false(heed_os_look(in_folder("file/beneath"), &info));
  assert_true(errno == ENOTDIR || errno == ENOENT);
  assert_true(heed_os_is_absent(in_folder("file/beneath")));
  assert_fails(heed_file_write(folder, "text", 4, &error), HEED_IO, "cannot write to its folder");
  assert_fails(heed_file_write(in_folder("none/file"), "text", 4, &error), HEED_IO,
               "cannot create the file (found \"No such file or directory\"");
  assert_null(heed_os_create(in_folder("file"), NULL));
  assert_int_equal(errno, EEXIST);
  heed_os_remove(in_folder("file"));
}

/* Windows' own functions end at 260 characters. */
static void test_long_paths(void **state) {
  (void)state;
  static const char name[] = "/0123456789 0123456789 0123456789 0123456789 0123456789";
  enum { DEPTH = 6, LENGTH = sizeof name - 1 };
  char path[1024];
  size_t length = strlen(folder);
  strcpy(path, folder);
  for (int i = 0; i < DEPTH; i++, length += LENGTH) {
    memcpy(path + length, name, sizeof name);
    assert_true(test_folder_add(path));
  }
  memcpy(path + length, "/file", sizeof "/file");
  assert_true(strlen(path) > 300);
  put(path, "far");
  check(path, "far");
  heed_os_remove(path);
  assert_true(heed_os_is_absent(path));
  for (int i = 0; i < DEPTH; i++, length -= LENGTH) {
    path[length] = '\0';
    assert_true(test_folder_remove(path));
  }
}

static void test_ranges(void **state) {
  (void)state;
  const char *path = in_folder("numbers");
  char some[8] = "";
  put(path, "0123456789");
  const int one = heed_os_open(path), other = heed_os_open(path);
  assert_true(one >= 0 && other >= 0);
  assert_int_equal(heed_os_read(one, 7, some, 8), 3);
  assert_memory_equal(some, "789", 3);
  assert_int_equal(heed_os_read(one, 2, some, 2), 2); /* wherever the last one ended */
  assert_memory_equal(some, "23", 2);
  assert_int_equal(heed_os_read(one, 10, some, 1), 0);
  assert_int_equal(heed_os_read(one, (uint64_t)1 << 40, some, 1), 0);
  /* while it is read, which goes on with what it was; Windows may refuse */
  const bool put_there = heed_file_write(path, "another", 7, &error) == HEED_OK;
  if (!put_there) assert_true(heed_os_separates('\\') && strstr(error.message, "cannot rename"));
  assert_int_equal(heed_os_read(one, 0, some, 4), 4);
  assert_memory_equal(some, "0123", 4);
  heed_os_close(one);
  heed_os_close(other);
  check(path, put_there ? "another" : "0123456789");
  heed_os_remove(path);
}

static heed_status beneath(const char *location, const char *text) {
  char some[16];
  heed_regular file;
  uint64_t size = 0;
  const heed_status status =
      heed_beneath_open(&file, in_folder("model.onnx"), location, &size, &error);
  if (status != HEED_OK) return status;
  assert_int_equal(size, strlen(text));
  assert_ok(heed_regular_read(&file, 0, some, (size_t)size, &error));
  assert_memory_equal(some, text, size);
  heed_regular_close(&file);
  return HEED_OK;
}

static void test_beneath(void **state) {
  (void)state;
  assert_true(test_folder_add(in_folder("data")));
  put(in_folder("weights.bin"), "beside");
  put(in_folder("data/" MANY), "beneath");
  assert_ok(beneath("weights.bin", "beside"));
  assert_ok(beneath("data/" MANY, "beneath"));
  assert_fails(beneath("none", ""), HEED_IO, "cannot open (No such file or directory)");
  assert_fails(beneath("data", ""), HEED_INVALID_FILE, "found no regular file");
  assert_fails(beneath("../weights.bin", ""), HEED_INVALID_FILE, "in the folder of the model");
  assert_fails(beneath("data\\" MANY, ""), HEED_INVALID_FILE, "in the folder of the model");
  assert_true(test_hard_link(in_folder("weights.bin"), in_folder("same.bin")));
  assert_fails(beneath("same.bin", ""), HEED_INVALID_FILE, "found a hard link");
  heed_os_remove(in_folder("same.bin"));
  heed_os_remove(in_folder("weights.bin"));
  heed_os_remove(in_folder("data/" MANY));
  assert_true(test_folder_remove(in_folder("data")));
}

static void test_streams(void **state) {
  (void)state;
  char some[4] = "";
  FILE *file = heed_os_temporary();
  assert_non_null(file);
  assert_int_equal(fwrite("\r\n\x1A\n", 1, 4, file), 4); /* no text of Windows */
  assert_int_equal(heed_os_stream_size(file), 4);
  assert_true(heed_os_seek(file, 1));
  assert_int_equal(fread(some, 1, 3, file), 3);
  assert_memory_equal(some, "\n\x1A\n", 3);
  assert_true(heed_os_seek(file, (uint64_t)5 << 32)); /* beyond 32 bits */
  fclose(file);
}

/* The path that is written has one spelling, which is read as the same file. */
static void test_target(void **state) {
  (void)state;
  char target[HEED_PATH_SIZE], again[HEED_PATH_SIZE];
  put(in_folder(MANY), "text");
  assert_int_equal(heed_file_target(in_folder(MANY), target), 0);
  check(target, "text");
  assert_int_equal(heed_file_target(target, again), 0);
  assert_string_equal(target, again);
  assert_int_equal(heed_file_target(in_folder("none"), target), 0);
  heed_os_remove(in_folder(MANY));
}

/* A model of a folder with such a name, and its weights alone. */
static void test_model(void **state) {
  (void)state;
  static const char *const names[] = {"config.json", "model.safetensors"};
  assert_true(test_folder_add(in_folder(MANY)));
  for (int i = 0; i < 2; i++) {
    char from[1024], to[64];
    size_t size;
    snprintf(from, sizeof from, "vit/micro_32/%s", names[i]);
    snprintf(to, sizeof to, MANY "/%s", names[i]);
    unsigned char *bytes = test_read_vector(from, &size);
    assert_ok(heed_file_write(in_folder(to), bytes, size, &error));
    free(bytes);
  }
  for (int i = 0; i < 2; i++) {
    heed_model_files *files;
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_model_load(context, in_folder(i ? MANY "/model.safetensors" : MANY), NULL,
                              &files, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.layers, 2);
    heed_model_destroy(model);
    heed_model_files_destroy(files);
  }
  heed_os_remove(in_folder(MANY "/config.json"));
  heed_os_remove(in_folder(MANY "/model.safetensors"));
  assert_true(test_folder_remove(in_folder(MANY)));
}

/* Folders are made, renamed and removed; which file it is does not change with its name. */
static void test_folders(void **state) {
  (void)state;
  heed_os_info first, again, other;
  assert_true(heed_os_make_folder(in_folder("made"), 0777));
  assert_false(heed_os_make_folder(in_folder("made"), 0777));
  assert_int_equal(errno, EEXIST);
  assert_true(heed_os_is_there(in_folder("made")));
  assert_false(heed_os_is_link(in_folder("made")));
  put(in_folder("made/" MANY), "text");
  put(in_folder("made/other"), "text");
  assert_true(heed_os_look(in_folder("made/" MANY), &first));
  assert_true(heed_os_look(in_folder("made/other"), &other));
  heed_os_remove_folder(in_folder("made")); /* not empty: it stays */
  assert_true(heed_os_replace(in_folder("made"), in_folder("renamed")));
  assert_false(heed_os_is_there(in_folder("made")));
  assert_true(heed_os_look(in_folder("renamed/" MANY), &again));
  assert_true(first.volume == again.volume && first.number == again.number);
  assert_true(first.volume == other.volume && first.number != other.number);
  heed_os_remove(in_folder("renamed/" MANY));
  heed_os_remove(in_folder("renamed/other"));
  heed_os_remove_folder(in_folder("renamed"));
  assert_true(heed_os_is_absent(in_folder("renamed")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_long_paths), cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_beneath),    cmocka_unit_test(test_streams),
      cmocka_unit_test(test_target),     cmocka_unit_test(test_model),
      cmocka_unit_test(test_folders)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
