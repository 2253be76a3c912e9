/* The marks of names: parts, transposed and flat tensors, alternatives, optional roles; read by any
 * range. */
#include "support/named_model.h"

enum { ROWS = 70, COLUMNS = 5 };

#define NAMES(ROW)                        \
  ROW("?gone|token<", CLS_TOKEN)          \
  ROW("#joined.@1/3?", QUERY_WEIGHT)      \
  ROW("#turned^", KEY_WEIGHT)             \
  ROW("#turned_parts^@2/3", VALUE_WEIGHT) \
  ROW("?/head_", POOLER_WEIGHT)           \
  ROW("#fc1.~0/2|#plain.", FC1_WEIGHT)    \
  ROW("#fc2.", FC2_WEIGHT)                \
  ROW("#absent.|#other.", NORM2_WEIGHT)
static HEED_NAMES(made_up, "layers.#norm.weight", NULL, NAMES);
static const heed_family family = {.name = "made up", .names = &heed_names_made_up};

typedef struct fixture {
  model m;
  test_bytes bytes;
  heed_checkpoint *checkpoint;
  heed_roles roles;
} fixture;

static void open_fixture(fixture *f, uint32_t fc1_rows) {
  f->m.count = 0;
  add(&f->m, "outer.inner.token", 1.0f, HEED_SHAPE(COLUMNS));
  add(&f->m, "outer.inner.layers.3.joined.weight", 2.0f, HEED_SHAPE(3 * ROWS, COLUMNS));
  add(&f->m, "outer.inner.layers.3.turned", 4.0f, HEED_SHAPE(COLUMNS, ROWS));
  add(&f->m, "outer.inner.layers.3.turned_parts", 8.0f, HEED_SHAPE(COLUMNS, 3 * ROWS));
  add(&f->m, "outer.head_weight", 16.0f, HEED_SHAPE(2, 2));
  add(&f->m, "outer.head_bias", 32.0f, HEED_SHAPE(2));
  add(&f->m, "outer.inner.layers.3.fc1.weight", 64.0f, HEED_SHAPE(fc1_rows, 4));
  add(&f->m, "outer.inner.layers.3.fc2.weight", 64.0f, HEED_SHAPE(4, 6));
  f->bytes = save(&f->m);
  const heed_model_file file = {"model.safetensors", test_source(f->bytes.data, f->bytes.size)};
  assert_ok(heed_checkpoint_open(context, &file, 1, &f->checkpoint, &error));
  f->roles = (heed_roles){.checkpoint = f->checkpoint,
                          .names = &heed_names_made_up,
                          .family = &family,
                          .layer = heed_names_made_up.anchors,
                          .layer_length = 7,
                          .prefix = "outer.inner.",
                          .outer = "outer."};
}

static void close_fixture(fixture *f) {
  heed_checkpoint_destroy(f->checkpoint);
  free(f->bytes.data);
  free_model(&f->m);
}

static heed_role_ref resolve(const fixture *f, heed_role role, heed_shape shape) {
  heed_role_ref ref;
  assert_ok(heed_checkpoint_role(&f->roles, role, 3, &shape, &ref, &error));
  assert_non_null(ref.tensor);
  return ref;
}

/* Element (row, column) of a role is seed + (base + row * by_row + column * by_column) / 1024,
 * whatever range it is read in. */
static void check_ranges(const heed_role_ref *ref, float seed, uint32_t base, uint32_t by_row,
                         uint32_t by_column) {
  float out[ROWS * COLUMNS];
  for (uint32_t first = 0; first < ROWS * COLUMNS; first += 13)
    for (uint32_t count = 0; first + count <= ROWS * COLUMNS; count += 29) {
      assert_ok(heed_role_read(ref, first, count, out, &error));
      for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = (first + i) / COLUMNS, column = (first + i) % COLUMNS;
        assert_true(out[i] == seed + (float)(base + row * by_row + column * by_column) / 1024.0f);
      }
    }
}

static void parts_and_transposed(void **state) {
  (void)state;
  fixture f;
  open_fixture(&f, 12);
  const heed_shape shape = HEED_SHAPE(ROWS, COLUMNS);
  heed_role_ref ref = resolve(&f, HEED_ROLE_QUERY_WEIGHT, shape);
  check_ranges(&ref, 2.0f, ROWS * COLUMNS, COLUMNS, 1);
  ref = resolve(&f, HEED_ROLE_KEY_WEIGHT, shape);
  check_ranges(&ref, 4.0f, 0, 1, ROWS);
  ref = resolve(&f, HEED_ROLE_VALUE_WEIGHT, shape);
  check_ranges(&ref, 8.0f, 2 * ROWS, 1, 3 * ROWS);
  assert_fails(heed_checkpoint_role(&f.roles, HEED_ROLE_KEY_WEIGHT, 3, &HEED_SHAPE(COLUMNS, ROWS),
                                    &ref, &error),
               HEED_INVALID_FILE, "turned has the wrong shape (found [5, 70], expected [70, 5])");
  close_fixture(&f);
}

static void places(void **state) {
  (void)state;
  fixture f;
  heed_place place;
  heed_role_ref ref;
  open_fixture(&f, 12);
  ref = resolve(&f, HEED_ROLE_CLS_TOKEN, HEED_SHAPE(1, 1, COLUMNS));
  assert_int_equal(ref.count, COLUMNS);
  ref = resolve(&f, HEED_ROLE_POOLER_WEIGHT, HEED_SHAPE(2, 2));
  assert_string_equal(ref.tensor->info->name, "outer.head_weight");
  ref = resolve(&f, HEED_ROLE_POOLER_BIAS, HEED_SHAPE(2));
  assert_string_equal(ref.tensor->info->name, "outer.head_bias");
  assert_ok(heed_roles_find(&f.roles, HEED_ROLE_VALUE_WEIGHT, 3, &place, &error));
  const heed_shape logical = heed_place_shape(&place, 2);
  assert_true(heed_shape_equal(&logical, &HEED_SHAPE(ROWS, COLUMNS)));
  close_fixture(&f);
}

static void packed_by_its_shape(void **state) {
  (void)state;
  static const uint32_t fc1_rows[] = {12, 6};
  for (int i = 0; i < 2; i++) {
    fixture f;
    heed_place place;
    open_fixture(&f, fc1_rows[i]);
    const heed_status status = heed_roles_find(&f.roles, HEED_ROLE_FC1_WEIGHT, 3, &place, &error);
    if (i == 0) { /* two rows for each column of fc2 */
      assert_int_equal(status, HEED_OK);
      assert_int_equal(place.parts, 2);
      assert_int_equal(heed_place_shape(&place, 2).dim[0], 6);
    } else { /* not packed, and the name of the plain one is not there */
      assert_int_equal(status, HEED_INVALID_FILE);
    }
    close_fixture(&f);
  }
}

static void needed_and_optional(void **state) {
  (void)state;
  fixture f;
  heed_place place;
  open_fixture(&f, 12);
  assert_ok(heed_roles_find(&f.roles, HEED_ROLE_QUERY_BIAS, 3, &place, &error));
  assert_null(place.tensor);
  assert_fails(heed_roles_find(&f.roles, HEED_ROLE_NORM2_BIAS, 3, &place, &error),
               HEED_INVALID_FILE, "tensor outer.inner.layers.3.absent.bias is missing");
  assert_false(heed_roles_need(&f.roles, HEED_ROLE_REGISTER_TOKENS)); /* the style has none */
  f.roles.groups = HEED_GROUP(QKV_BIASES);
  assert_fails(heed_roles_find(&f.roles, HEED_ROLE_QUERY_BIAS, 3, &place, &error),
               HEED_INVALID_FILE, "tensor outer.inner.layers.3.joined.bias is missing");
  assert_int_equal(heed_roles_groups(&f.roles) & HEED_GROUP(CLS), HEED_GROUP(CLS));
  assert_true(heed_roles_name_one(&f.roles, "outer.inner.gone"));
  assert_false(heed_roles_name_one(&f.roles, "outer.inner.gon"));
  close_fixture(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_and_transposed),
      cmocka_unit_test(places),
      cmocka_unit_test(packed_by_its_shape),
      cmocka_unit_test(needed_and_optional),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
