/* Tensor files and files of a caller's own writing, as heed/native.h offers them: what is written
 * is read back, and what fails leaves the old file. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heed/native.h"
#include "support/test.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

static char folder[64], path[128];

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/heed_test_tensor_file_XXXXXX");
  if (!mkdtemp(folder)) return -1;
  snprintf(path, sizeof path, "%s/file", folder);
  return 0;
}

/* Fails where a temporary file is left. */
static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return rmdir(folder);
}

static const float weights[2][3] = {{1.0f, -2.0f, 0.5f}, {4.0f, 8.0f, -0.25f}};
static const int32_t ids[2] = {7, -9};
static const heed_tensor_data tensors[] = {{"ids", HEED_I32, {1, {2}}, ids},
                                           {"weights", HEED_F32, {2, {2, 3}}, weights},
                                           {"empty", HEED_U8, {1, {0}}, NULL}};
static const heed_metadata_entry entries[] = {{"grid", "14 14 1"}, {"name", "\xC3\xA9 \"x\""}};

static void test_tensors_are_read_back(void **state) {
  (void)state;
  heed_tensor_file *file;
  float row[3];
  int32_t number;
  assert_ok(heed_tensor_file_write(context, path, tensors, 3, entries, 2, &error));
  char *other = strdup(path);
  assert_ok(heed_tensor_file_open(context, other, NULL, &file, &error));
  memset(other, '?', strlen(other)); /* the path was copied */
  assert_int_equal(heed_tensor_file_count(file), 3);
  assert_string_equal(heed_tensor_file_get(file, 0)->name, "weights"); /* the widest dtype first */
  assert_null(heed_tensor_file_get(file, 3));
  const heed_file_tensor *found = heed_tensor_file_find(file, "weights");
  assert_int_equal(found->count, 6);
  assert_int_equal(found->shape.rank, 2);
  assert_int_equal(found->shape.dim[1], 3);
  assert_string_equal(found->dtype_name, "F32");
  assert_null(found->unsupported);
  assert_ok(heed_tensor_file_read(file, found, 3, 3, row, &error));
  assert_memory_equal(row, weights[1], sizeof row);
  assert_fails(heed_tensor_file_read(file, found, 4, 3, row, &error), HEED_INVALID_ARGUMENT, path);
  assert_ok(heed_tensor_file_read(file, heed_tensor_file_find(file, "ids"), 1, 1, &number, &error));
  assert_int_equal(number, -9);
  assert_null(heed_tensor_file_find(file, "absent"));
  assert_string_equal(heed_tensor_file_metadata(file, "name"), entries[1].text);
  assert_null(heed_tensor_file_metadata(file, "absent"));
  heed_tensor_file_destroy(file);
  heed_tensor_file_destroy(NULL);
  free(other);
}

/* A file of one tensor "ids", I64 [3]. */
static void write_i64(const int64_t values[3]) {
  static const char header[] =
      "{\"ids\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]}}";
  const unsigned char size[8] = {sizeof header - 1};
  FILE *to = fopen(path, "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(size, 1, 8, to), 8);
  assert_int_equal(fwrite(header, 1, sizeof header - 1, to), sizeof header - 1);
  assert_int_equal(fwrite(values, 8, 3, to), 3); /* test machines are little endian */
  assert_int_equal(fclose(to), 0);
}

static void test_i64_is_read_as_i32(void **state) {
  (void)state;
  const int64_t good[3] = {49406, INT32_MIN, INT32_MAX}, bad[3] = {1, 2147483648, 2};
  heed_tensor_file *file;
  int32_t found[3];
  write_i64(good);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  const heed_file_tensor *tensor = heed_tensor_file_find(file, "ids");
  assert_string_equal(tensor->dtype_name, "I64");
  assert_null(tensor->unsupported);
  assert_int_equal(tensor->dtype, HEED_I32);
  assert_int_equal(tensor->shape.dim[0], 3);
  assert_ok(heed_tensor_file_read(file, tensor, 0, 3, found, &error));
  for (int i = 0; i < 3; i++) assert_true(found[i] == good[i]);
  assert_ok(heed_tensor_file_read(file, tensor, 2, 1, found, &error));
  assert_int_equal(found[0], INT32_MAX);
  assert_fails(heed_tensor_file_read(file, tensor, 2, 2, found, &error), HEED_INVALID_ARGUMENT,
               "range out of bounds");
  heed_tensor_file_destroy(file);
  write_i64(bad);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  tensor = heed_tensor_file_find(file, "ids");
  assert_fails(heed_tensor_file_read(file, tensor, 0, 3, found, &error), HEED_INVALID_FILE,
               "tensor ids: a number is too large (found 2147483648 at index 1, expected 32 bits)");
  heed_tensor_file_destroy(file);
}

static void test_other_files_are_refused(void **state) {
  (void)state;
  static const char webp[] = "RIFF\x20\0\0\0WEBPVP8 and more that nobody reads";
  heed_tensor_file *file = (heed_tensor_file *)path;
  assert_fails(heed_tensor_file_open(context, path, NULL, &file, &error), HEED_IO, path);
  assert_null(file);
  assert_ok(heed_file_write(path, "", 0, &error));
  assert_fails(heed_tensor_file_open(context, path, NULL, &file, &error), HEED_UNSUPPORTED,
               "found an empty file, expected .safetensors");
  assert_ok(heed_file_write(path, "short", 5, &error));
  assert_fails(heed_tensor_file_open(context, path, NULL, &file, &error), HEED_UNSUPPORTED,
               "found bytes 73 68 6F 72, expected .safetensors");
  assert_ok(heed_file_write(path, webp, sizeof webp, &error));
  assert_fails(heed_tensor_file_open(context, path, NULL, &file, &error), HEED_UNSUPPORTED,
               "expected .safetensors");
  assert_fails(heed_tensor_file_open(context, path, "saved maps", &file, &error), HEED_UNSUPPORTED,
               "expected saved maps");
}

static void test_a_refused_tensor_leaves_the_old_file(void **state) {
  (void)state;
  const heed_tensor_data twice[] = {tensors[0], tensors[0]};
  size_t size;
  assert_ok(heed_file_write(path, "old", 3, &error));
  assert_fails(heed_tensor_file_write(context, path, twice, 2, NULL, 0, &error),
               HEED_INVALID_ARGUMENT, "duplicate tensor ids");
  unsigned char *seen = test_read_file(path, &size);
  assert_int_equal(size, 3);
  assert_memory_equal(seen, "old", 3);
  free(seen);
}

static heed_status write_half(void *user, FILE *to, heed_error *failure) {
  fputs("half", to);
  if (!*(bool *)user) return HEED_OK;
  return heed_fail(failure, HEED_CANCELLED, "%s: enough", "writer");
}

static void test_a_writer_that_fails_leaves_the_old_file(void **state) {
  (void)state;
  bool fails = true;
  size_t size;
  assert_ok(heed_file_write(path, "old", 3, &error));
  assert_fails(heed_file_stream(path, write_half, &fails, &error), HEED_CANCELLED,
               "writer: enough");
  unsigned char *seen = test_read_file(path, &size);
  assert_memory_equal(seen, "old", 3);
  free(seen);
  fails = false;
  assert_ok(heed_file_stream(path, write_half, &fails, &error));
  seen = test_read_file(path, &size);
  assert_int_equal(size, 4);
  assert_memory_equal(seen, "half", 4);
  free(seen);
  if (access("/dev/full", W_OK) == 0)
    assert_fails(heed_file_stream("/dev/full", write_half, &fails, &error), HEED_IO,
                 "No space left");
}

static void end(int number) {
  heed_file_abandon_all();
  _exit(128 + number);
}

static heed_status write_half_and_raise(void *user, FILE *to, heed_error *failure) {
  (void)user, (void)failure;
  fputs("half", to);
  fflush(to);
  raise(SIGINT);
  return HEED_OK;
}

/* Two files are open when the signal comes: the one is written by the other's writer. */
static heed_status write_another(void *user, FILE *to, heed_error *failure) {
  fputs("half", to);
  return heed_file_stream(user, write_half_and_raise, NULL, failure);
}

static void test_a_signal_leaves_the_old_file(void **state) {
  (void)state;
  char other[128];
  size_t size;
  int ended;
  snprintf(other, sizeof other, "%s/other", folder);
  assert_ok(heed_file_write(path, "old", 3, &error));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGINT, end);
    _exit((int)heed_file_stream(path, write_another, other, &error));
  }
  assert_int_equal(waitpid(child, &ended, 0), child);
  assert_true(WIFEXITED(ended));
  assert_int_equal(WEXITSTATUS(ended), 128 + SIGINT);
  unsigned char *seen = test_read_file(path, &size);
  assert_int_equal(size, 3);
  assert_memory_equal(seen, "old", 3);
  free(seen);
  assert_int_not_equal(access(other, F_OK), 0);
}

/* Where a link leads, also one to what is not there yet. */
static void test_a_link_leads_to_its_target(void **state) {
  (void)state;
  char link[128], target[HEED_PATH_SIZE], real[HEED_PATH_SIZE];
  snprintf(link, sizeof link, "%s/link", folder);
  assert_int_equal(symlink("file", link), 0);
  assert_int_equal(heed_file_target(link, target), 0);
  assert_string_equal(target, path);
  assert_ok(heed_file_write(path, "", 0, &error));
  assert_int_equal(heed_file_target(link, target), 0);
  assert_non_null(realpath(path, real));
  assert_string_equal(target, real);
  remove(link);
}

/* Each allocation of opening and writing fails once, and nothing is left. */
/* Numbers of I64 whose bytes went, or that lie beyond; one alone, which is no list of ids. */
static void test_i64_that_cannot_be_read(void **state) {
  (void)state;
  static const char header[] = "{\"id\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]}}";
  const unsigned char size[8] = {sizeof header - 1};
  const int64_t values[3] = {1, 2, 3};
  heed_tensor_file *file;
  int32_t found[3];
  write_i64(values);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  const heed_file_tensor *tensor = heed_tensor_file_find(file, "ids");
  assert_fails(heed_tensor_file_read(file, tensor, 4, 0, found, &error), HEED_INVALID_ARGUMENT,
               "range out of bounds");
  assert_int_equal(truncate(path, 70), 0);
  assert_fails(heed_tensor_file_read(file, tensor, 0, 3, found, &error), HEED_IO, "");
  heed_tensor_file_destroy(file);
  FILE *to = fopen(path, "wb");
  assert_non_null(to);
  assert_int_equal(fwrite(size, 1, 8, to), 8);
  assert_int_equal(fwrite(header, 1, sizeof header - 1, to), sizeof header - 1);
  assert_int_equal(fwrite(values, 8, 1, to), 1);
  assert_int_equal(fclose(to), 0);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  assert_non_null(heed_tensor_file_find(file, "id")->unsupported);
  heed_tensor_file_destroy(file);
}

static void test_memory_runs_out(void **state) {
  (void)state;
  test_allocator allocator = {0};
  const heed_context_desc desc = test_context_desc(&allocator);
  heed_context *small;
  assert_ok(heed_context_create(&desc, &small, &error));
  const size_t live = allocator.live;
  heed_status status = HEED_OUT_OF_MEMORY;
  for (size_t n = 1; status != HEED_OK; n++) {
    heed_tensor_file *file;
    allocator.fail_at = allocator.total + n;
    status = heed_tensor_file_write(small, path, tensors, 3, entries, 2, &error);
    if (status == HEED_OK) status = heed_tensor_file_open(small, path, NULL, &file, &error);
    if (status == HEED_OK)
      heed_tensor_file_destroy(file);
    else
      assert_int_equal(status, HEED_OUT_OF_MEMORY);
    assert_int_equal(allocator.live, live);
  }
  heed_context_destroy(small);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tensors_are_read_back, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_i64_is_read_as_i32, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_i64_that_cannot_be_read, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_other_files_are_refused, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_a_refused_tensor_leaves_the_old_file, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(test_a_writer_that_fails_leaves_the_old_file, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(test_a_signal_leaves_the_old_file, make_folder,
                                      remove_folder),
      cmocka_unit_test_setup_teardown(test_a_link_leads_to_its_target, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_memory_runs_out, make_folder, remove_folder)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
