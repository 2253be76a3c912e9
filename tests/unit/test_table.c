/* Tables of rows, as heed/native.h offers them: what is written is read back, and nothing is left
 * beside it. tests/cli/arrays_test.sh reads NumPy's files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/native.h"
#include "support/folder.h"
#include "support/test.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

#define ROWS 300

static char folder[512], path[544];
static const heed_table_column columns[] = {{"mean", {1, {3}}}, {"maps", {2, {2, 5}}}};
static const char *const text_names[] = {"names", "labels"};
static const heed_metadata_entry entries[] = {{"model", "micro"}};
static const heed_table_desc desc = {sizeof desc, path, columns, 2, text_names, 2};

static int make_folder(void **state) {
  (void)state;
  if (!test_folder_make(folder, sizeof folder, "heed_test_table")) return -1;
  snprintf(path, sizeof path, "%s/out.safetensors", folder);
  return 0;
}

/* Fails where a temporary file is left. */
static int remove_folder(void **state) {
  (void)state;
  remove(path);
  return test_folder_remove(folder) ? 0 : -1;
}

static float value_at(uint32_t row, uint32_t column, uint32_t i) {
  return (float)(row * 100 + column * 50 + i) + 0.25f;
}

static void add_row(heed_table *table, uint32_t row) {
  float mean[3], maps[10];
  char name[32];
  for (uint32_t i = 0; i < 3; i++) mean[i] = value_at(row, 0, i);
  for (uint32_t i = 0; i < 10; i++) maps[i] = value_at(row, 1, i);
  snprintf(name, sizeof name, "\"%u\"\n\xC3\xA9\xFF", row);
  assert_ok(heed_table_add(table, (const float *const[]){mean, maps},
                           (const char *const[]){name, row % 2 ? "odd" : ""}, &error));
  memset(name, '?', sizeof name - 1); /* it was copied */
}

static heed_status put(void *user, FILE *to, heed_error *failure) {
  return heed_table_put(user, to, path, entries, 1, failure);
}

static void check_column(const heed_tensor_file *file, uint32_t column, uint32_t size) {
  const heed_file_tensor *tensor = heed_tensor_file_find(file, columns[column].name);
  float row[10];
  assert_int_equal(tensor->count, ROWS * size);
  assert_int_equal(tensor->shape.rank, columns[column].shape.rank + 1);
  assert_int_equal(tensor->shape.dim[0], ROWS);
  assert_int_equal(tensor->shape.dim[1], columns[column].shape.dim[0]);
  for (uint32_t r = 0; r < ROWS; r++) {
    assert_ok(heed_tensor_file_read(file, tensor, (uint64_t)r * size, size, row, &error));
    for (uint32_t i = 0; i < size; i++) assert_true(row[i] == value_at(r, column, i));
  }
}

static void test_rows_become_columns(void **state) {
  (void)state;
  heed_table *table;
  heed_tensor_file *file;
  assert_ok(heed_table_create(context, &desc, &table, &error));
  for (uint32_t row = 0; row < ROWS; row++) add_row(table, row);
  assert_int_equal(heed_table_rows(table), ROWS);
  assert_ok(heed_file_stream(path, put, table, &error));
  heed_table_destroy(table);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  assert_int_equal(heed_tensor_file_count(file), 2);
  check_column(file, 0, 3);
  check_column(file, 1, 10);
  assert_string_equal(heed_tensor_file_metadata(file, "model"), "micro");
  const char *names = heed_tensor_file_metadata(file, "names");
  static const char first[] = "[\"\\u00220\\u0022\\u000a\xC3\xA9\\ufffd\",\"\\u00221";
  assert_memory_equal(names, first, sizeof first - 1);
  assert_memory_equal(heed_tensor_file_metadata(file, "labels"), "[\"\",\"odd\",\"\"", 12);
  heed_tensor_file_destroy(file);
}

static void test_no_rows(void **state) {
  (void)state;
  heed_table *table;
  heed_tensor_file *file;
  assert_ok(heed_table_create(context, &desc, &table, &error));
  assert_ok(heed_file_stream(path, put, table, &error));
  heed_table_destroy(table);
  assert_ok(heed_tensor_file_open(context, path, NULL, &file, &error));
  assert_int_equal(heed_tensor_file_find(file, "maps")->shape.dim[0], 0);
  assert_string_equal(heed_tensor_file_metadata(file, "names"), "[]");
  heed_tensor_file_destroy(file);
}

static void test_without_a_path(void **state) {
  (void)state;
  heed_table *table;
  heed_table_desc nowhere = desc;
  nowhere.path = NULL;
  assert_ok(heed_table_create(context, &nowhere, &table, &error));
  add_row(table, 7);
  FILE *to = fopen(path, "wb");
  assert_non_null(to);
  assert_fails(heed_table_put(table, to, "x.npy", NULL, 0, &error), HEED_INVALID_ARGUMENT,
               "x.npy: .npy holds one array (found 2");
  assert_ok(heed_table_put(table, to, "x.npz", NULL, 0, &error));
  assert_int_equal(fclose(to), 0);
  heed_table_destroy(table);
}

static void test_what_is_refused(void **state) {
  (void)state;
  heed_table *table;
  heed_table_desc wrong = desc;
  const heed_table_column large = {"large", {3, {UINT32_MAX, UINT32_MAX, UINT32_MAX}}};
  wrong.path = "/no/such/folder/x.npz";
  assert_fails(heed_table_create(context, &wrong, &table, &error), HEED_IO, "/no/such/folder");
  assert_null(table);
  wrong = desc;
  wrong.columns = &large;
  wrong.column_count = 1;
  assert_fails(heed_table_create(context, &wrong, &table, &error), HEED_INVALID_ARGUMENT,
               "table: column large is too large");
  heed_table_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_rows_become_columns, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_no_rows, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_without_a_path, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_what_is_refused, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
