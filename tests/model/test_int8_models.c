/* Models whose weights are int8: every family beside its floats, scales per group of columns, and
 * what fails on the way: each allocation, each read, each write. */
#include <math.h>

#include "support/opened_vit.h"
#include "support/weights.h"

typedef struct family {
  const char *folder, *config;
} family;

static const family families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
};

/* ------------------------------------------------------------------------------------ converting
 */

static heed_status convert_to(heed_storage storage, const vit_files *files,
                              const heed_context_desc *context, heed_sink sink, void *user,
                              heed_error *error) {
  heed_context *made = NULL;
  heed_model *model = NULL;
  const heed_model_desc desc = {sizeof desc, files->file, files->count};
  const heed_convert_desc how = {
      .struct_size = sizeof how, .storage = storage, .sink = sink, .user = user};
  heed_status status = heed_context_create(context, &made, error);
  if (status == HEED_OK) status = heed_model_open(made, &desc, &model, error);
  if (status == HEED_OK) status = heed_model_convert(model, &how, NULL, error);
  heed_model_destroy(model);
  heed_context_destroy(made);
  return status;
}

static heed_status convert(const vit_files *files, const heed_context_desc *context, heed_sink sink,
                           void *user, heed_error *error) {
  return convert_to(HEED_STORAGE_INT8, files, context, sink, user, error);
}

/* The same files with int8 in the first; bytes to be freed after them. */
static vit_files to_int8(const vit_files *files, test_bytes *bytes) {
  vit_files converted = *files;
  heed_error error;
  *bytes = (test_bytes){NULL, 0};
  assert_ok(convert(files, NULL, test_bytes_append, bytes, &error));
  converted.file[0].source = test_source(bytes->data, bytes->size);
  return converted;
}

/* -------------------------------------------------------------------------------------- accuracy
 */

/* What int8 may change in each folder: hidden states, as a part of the largest, and any attention
 * weight. Half as much again as was measured, on AVX2 and on NEON alike. The weights of the vectors
 * are random and their rows short, which is hard on int8. A new folder has `usual`, which the
 * others stay within but for one; a row of its own holds it closer. */
typedef struct bound {
  const char *folder;
  double state, weight;
} bound;

static const bound usual = {NULL, 0.062, 0.074};
static const bound bounds[] = {
    {"torch_encoder", 0.094, 0.105}, /* nothing but norms in the residual */
    {"aimv2", 0.115, 0.143},         /* int8-float: as much; a row is split between two keys */
    {"beit", 0.025, 0.032},
    {"beit_shared", 0.020, 0.033},
    {"beit_original", 0.025, 0.034},
    {"blip", 0.028, 0.037},
    {"clip", 0.022, 0.072},
    {"clip_classifier", 0.036, 0.064},
    {"clip_tower", 0.040, 0.033},
    {"data2vec", 0.023, 0.053},
    {"deit3_original", 0.039, 0.031},
    {"dinov2_classifier", 0.032, 0.044},
    {"dinov2_giant", 0.023, 0.035},
    {"dinov2_original", 0.028, 0.034},
    {"dinov2_original_giant", 0.049, 0.036},
    {"dinov2_original_registers", 0.025, 0.033},
    {"dinov2_registers_classifier", 0.025, 0.035},
    {"dinov2_renamed", 0.027, 0.057},
    {"dinov2_tower", 0.052, 0.037},
    {"dinov3", 0.030, 0.036},
    {"dinov3_gated", 0.059, 0.049},
    {"dinov3_original", 0.028, 0.040},
    {"dinov3_original_gated", 0.024, 0.058},
    {"dinov3_timm", 0.020, 0.059},
    {"dinov3_timm_gated", 0.095, 0.074},
    {"dpt", 0.024, 0.042},
    {"eva02", 0.021, 0.052},
    {"eva02_clip", 0.048, 0.061},
    {"eva02_map", 0.042, 0.052},
    {"eva02_original", 0.061, 0.038},
    {"eva02_unfused", 0.029, 0.032},
    {"hf_deit_distilled", 0.031, 0.051},
    {"hf_dino", 0.025, 0.025},
    {"hf_dinov2", 0.031, 0.028},
    {"hf_dinov2_registers", 0.041, 0.046},
    {"hf_vit", 0.027, 0.027},
    {"idefics", 0.029, 0.035},
    {"ijepa", 0.022, 0.038},
    {"ijepa_bare", 0.041, 0.052},
    {"mae", 0.029, 0.043},
    {"msn", 0.024, 0.051},
    {"open_clip", 0.025, 0.033},
    {"open_clip_openai", 0.026, 0.057},
    {"open_clip_trunk_head", 0.062, 0.058},
    {"owlvit", 0.033, 0.048},
    {"pe", 0.018, 0.034},
    {"pe_core", 0.021, 0.040},
    {"pe_gigantic", 0.030, 0.033},
    {"rope_registers", 0.024, 0.035},
    {"rope_vit", 0.023, 0.024},
    {"rope_vit_ape", 0.027, 0.065},
    {"rope_vit_mixed", 0.021, 0.023},
    {"rope_vit_mixed_ape", 0.018, 0.036},
    {"siglip", 0.034, 0.038},
    {"siglip_classifier", 0.034, 0.047},
    {"siglip_tower", 0.029, 0.050},
    {"timm", 0.033, 0.030},
    {"timm_beit", 0.032, 0.045},
    {"timm_beit_shared", 0.017, 0.050},
    {"timm_deit3", 0.033, 0.045},
    {"timm_eva_giant", 0.021, 0.045},
    {"timm_gap", 0.026, 0.037},
    {"timm_gap_bare", 0.022, 0.023},
    {"timm_gap_registers", 0.030, 0.043},
    {"timm_gated", 0.029, 0.039},
    {"timm_map", 0.024, 0.040},
    {"timm_map_registers", 0.041, 0.069},
    {"timm_pre_norm", 0.029, 0.034},
    {"timm_qk_norm", 0.022, 0.025},
    {"timm_registers", 0.032, 0.050},
    {"timm_siglip_trunk", 0.038, 0.050},
    {"torchvision", 0.032, 0.062},
    {"vit_tower", 0.021, 0.048},
};

static const bound *bound_of(const char *folder) {
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (strcmp(bounds[i].folder, folder) == 0) return &bounds[i];
  return &usual;
}

/* The largest difference of a value, and the largest magnitude. */
static double compare(const vit *a, const vit *b, const char *name, double *largest) {
  uint64_t count, same;
  float *x = read_value(a, name, &count), *y = read_value(b, name, &same);
  double most = 0.0;
  assert_true(count == same);
  *largest = 0.0;
  for (uint64_t i = 0; i < count; i++) {
    const double off = fabs((double)x[i] - (double)y[i]);
    if (!(off <= most)) most = off;
    if (fabs((double)x[i]) > *largest) *largest = fabs((double)x[i]);
  }
  free(x);
  free(y);
  return most;
}

static void compare_family(const family *f, double *worst_state, double *worst_weight) {
  vit_files files;
  test_bytes bytes;
  vit floats, int8;
  heed_error error;
  heed_model_info info;
  double largest;
  load_run(&files, f->folder, f->config, "io_wide");
  const vit_files converted = to_int8(&files, &bytes);
  const heed_build_desc build = run_sizes(&files);
  assert_ok(open_vit(&floats, &files, NULL, NULL, 1, &build, NULL, &error));
  assert_ok(open_vit(&int8, &converted, NULL, NULL, 1, &build, NULL, &error));
  double state = compare(&floats, &int8, "last_hidden_state", &largest), weight = 0.0;
  state /= largest;
  heed_model_get_info(floats.model, &info);
  for (uint32_t i = 0; i < info.layers; i++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    const double off = compare(&floats, &int8, name, &largest);
    if (!(off <= weight)) weight = off;
  }
  printf("%-28s hidden states %.2e of the largest, attention weights %.2e\n", f->folder, state,
         weight);
  if (!(state > 0.0)) fail_msg("%s: int8 changed nothing", f->folder);
  const bound *most = bound_of(f->folder);
  if (!(state <= most->state && weight <= most->weight))
    fail_msg("%s: off by %g of the largest hidden state (expected at most %g) and %g of an "
             "attention weight (at most %g)",
             f->folder, state, most->state, weight, most->weight);
  if (state > *worst_state) *worst_state = state;
  if (weight > *worst_weight) *worst_weight = weight;
  close_vit(&floats);
  close_vit(&int8);
  free(bytes.data);
  free_files(&files);
}

static void test_families_stay_near_their_floats(void **state) {
  (void)state;
  double worst_state = 0.0, worst_weight = 0.0;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    compare_family(&families[i], &worst_state, &worst_weight);
  printf("at most: hidden states %.2e, attention weights %.2e\n", worst_state, worst_weight);
}

/* ---------------------------------------------------------------------------------------- faults
 */

static heed_status drop(void *user, const void *bytes, size_t count, heed_error *error) {
  (void)user, (void)bytes, (void)count, (void)error;
  return HEED_OK;
}

static heed_status open_int8(const vit_files *files, const heed_context_desc *context,
                             heed_error *error) {
  vit v;
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  const heed_status status = open_vit(&v, files, context, NULL, 2, &build, NULL, error);
  close_vit(&v);
  return status;
}

/* Fails the n-th allocation of converting or of a session, for every n. */
static void fail_allocations(const vit_files *files, bool converting) {
  size_t n = 1;
  for (;; n++) {
    heed_error error = {HEED_OK, ""};
    test_allocator counter = {.fail_at = n};
    const heed_context_desc context = test_context_desc(&counter);
    const heed_status status = converting ? convert(files, &context, drop, NULL, &error)
                                          : open_int8(files, &context, &error);
    if (counter.live) fail_msg("%zu blocks leaked when allocation %zu failed", counter.live, n);
    if (counter.total < n) {
      assert_int_equal(status, HEED_OK);
      break;
    }
    if (status != HEED_OUT_OF_MEMORY)
      fail_msg("allocation %zu failed and the status was %s (%s)", n, heed_status_name(status),
               error.message);
  }
  assert_true(n > 10);
}

static void test_every_allocation_failed_once(void **state) {
  (void)state;
  vit_files files;
  test_bytes bytes;
  load_files(&files, "micro_32");
  const vit_files converted = to_int8(&files, &bytes);
  fail_allocations(&files, true);
  fail_allocations(&converted, false);
  free(bytes.data);
  free_files(&files);
}

/* A source or a sink whose n-th call fails. */
typedef struct breaking {
  const unsigned char *bytes;
  size_t calls, fail_at;
} breaking;

static heed_status break_at(breaking *b, heed_error *error) {
  if (++b->calls != b->fail_at) return HEED_OK;
  snprintf(error->message, sizeof error->message, "the disk is gone");
  error->status = HEED_IO;
  return HEED_IO;
}

static heed_status read_or_break(void *user, uint64_t offset, void *to, size_t count,
                                 heed_error *error) {
  breaking *b = user;
  TRY(break_at(b, error));
  memcpy(to, b->bytes + offset, count);
  return HEED_OK;
}

static heed_status write_or_break(void *user, const void *bytes, size_t count, heed_error *error) {
  (void)bytes, (void)count;
  return break_at(user, error);
}

/* Fails the n-th read of the weights, or the n-th write, for n to 48 and every tenth part further:
 * the sentence comes through, and nothing is left. */
static void fail_calls(const vit_files *files, bool converting, bool writing) {
  size_t n = 1;
  for (;; n += 1 + (n > 48 ? n / 10 : 0)) {
    heed_error error = {HEED_OK, ""};
    test_allocator counter = {0};
    const heed_context_desc context = test_context_desc(&counter);
    breaking b = {files->file[0].source.bytes, 0, n};
    vit_files broken = *files;
    if (!writing)
      broken.file[0].source = (heed_source){files->file[0].source.size, NULL, read_or_break, &b};
    const heed_status status =
        converting ? convert(&broken, &context, writing ? write_or_break : drop, &b, &error)
                   : open_int8(&broken, &context, &error);
    if (counter.live) fail_msg("%zu blocks leaked when call %zu failed", counter.live, n);
    if (b.calls < n) {
      assert_int_equal(status, HEED_OK);
      break;
    }
    if (!strstr(error.message, "the disk is gone"))
      fail_msg("call %zu of %s failed and the sentence was \"%s\" (%s)", n,
               !converting ? "a session"
               : writing   ? "a sink"
                           : "a conversion",
               error.message, heed_status_name(status));
    assert_int_equal(status, HEED_IO);
  }
  assert_true(n > 10);
}

static void test_reads_and_writes_that_fail(void **state) {
  (void)state;
  vit_files files;
  test_bytes bytes;
  load_files(&files, "micro_32");
  const vit_files converted = to_int8(&files, &bytes);
  fail_calls(&files, true, false);
  fail_calls(&files, true, true);
  fail_calls(&converted, false, false);
  free(bytes.data);
  free_files(&files);
}

/* A file that ends too soon, wherever. */
static void test_short_files(void **state) {
  (void)state;
  vit_files files;
  test_bytes bytes;
  load_files(&files, "micro_32");
  vit_files converted = to_int8(&files, &bytes);
  for (size_t cut = 1; cut < bytes.size; cut += bytes.size / 37) {
    heed_error error = {HEED_OK, ""};
    converted.file[0].source = test_source(bytes.data, bytes.size - cut);
    if (open_int8(&converted, NULL, &error) != HEED_INVALID_FILE)
      fail_msg("a file cut by %zu of %zu bytes was not refused", cut, bytes.size);
  }
  free(bytes.data);
  free_files(&files);
}

/* ---------------------------------------------------------------------------------------- groups
 */

enum { GROUPS = 4, MOST = 64 };

/* A file's tensors changed: scales [N, GROUPS] in the one, the floats that they mean in the other.
 */
typedef struct changed {
  heed_safetensors *file;
  heed_safetensors_item grouped[MOST], floats[MOST];
  void *memory[3 * MOST];
  uint32_t count, float_count, blocks;
} changed;

static void *keep(changed *c, size_t bytes) {
  void *block = malloc(bytes);
  assert_non_null(block);
  assert_true(c->blocks < 3 * MOST);
  return c->memory[c->blocks++] = block;
}

static void add_int8(changed *c, const heed_safetensors_tensor *info, const int8_t *numbers) {
  heed_error error;
  char *name = keep(c, strlen(info->name) + 8);
  sprintf(name, "%s_scale", info->name);
  const uint32_t rows = info->shape.dim[0], depth = info->shape.dim[1], group = depth / GROUPS;
  assert_true(depth % GROUPS == 0);
  float *plain = keep(c, rows * sizeof *plain), *scales = keep(c, rows * GROUPS * sizeof *scales),
        *floats = keep(c, (size_t)info->count * sizeof *floats);
  assert_ok(
      heed_safetensors_read(c->file, heed_safetensors_find(c->file, name), 0, rows, plain, &error));
  for (uint32_t i = 0; i < rows * GROUPS; i++)
    scales[i] = plain[i / GROUPS] * (1.0f + 0.25f * (float)(i % 3));
  for (uint32_t i = 0; i < rows * depth; i++)
    floats[i] = (float)numbers[i] * scales[i / depth * GROUPS + i % depth / group];
  c->grouped[c->count++] = (heed_safetensors_item){info->name, HEED_I8, info->shape, numbers};
  c->grouped[c->count++] =
      (heed_safetensors_item){name, HEED_F32, HEED_SHAPE(rows, GROUPS), scales};
  c->floats[c->float_count++] = (heed_safetensors_item){info->name, HEED_F32, info->shape, floats};
}

static void change(changed *c, const test_bytes *bytes, heed_context *context) {
  heed_error error;
  const heed_source source = test_source(bytes->data, bytes->size);
  assert_ok(heed_safetensors_open(context, &source, "int8", &c->file, &error));
  for (uint32_t i = 0; i < heed_safetensors_count(c->file); i++) {
    const heed_safetensors_tensor *info = heed_safetensors_get(c->file, i);
    const void *data = bytes->data + info->offset;
    const size_t length = strlen(info->name);
    if (info->dtype == HEED_I8) {
      add_int8(c, info, data);
      continue;
    }
    if (length > 6 && strcmp(info->name + length - 6, "_scale") == 0) continue;
    const heed_safetensors_item item = {info->name, info->dtype, info->shape, data};
    c->grouped[c->count++] = c->floats[c->float_count++] = item;
  }
}

static float *run_items(const vit_files *files, const heed_safetensors_item *items, uint32_t count,
                        heed_context *context, uint64_t *values) {
  heed_error error;
  test_bytes bytes = {NULL, 0};
  vit_files with = *files;
  vit v;
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  assert_ok(
      heed_safetensors_write(context, items, count, NULL, 0, test_bytes_append, &bytes, &error));
  with.file[0].source = test_source(bytes.data, bytes.size);
  assert_ok(open_vit(&v, &with, NULL, NULL, 1, &build, NULL, &error));
  float *states = read_value(&v, "last_hidden_state", values);
  close_vit(&v);
  free(bytes.data);
  return states;
}

static void test_scales_of_groups_are_floats(void **state) {
  (void)state;
  vit_files files;
  test_bytes bytes;
  heed_context *context;
  heed_error error;
  uint64_t count;
  static changed c;
  load_files(&files, "micro_32");
  (void)to_int8(&files, &bytes);
  assert_ok(heed_context_create(NULL, &context, &error));
  change(&c, &bytes, context);
  float *found = run_items(&files, c.grouped, c.count, context, &count),
        *want = run_items(&files, c.floats, c.float_count, context, &count);
  assert_memory_equal(found, want, (size_t)count * sizeof *found);
  free(found);
  free(want);
  test_bytes grouped = {NULL, 0};
  vit_files with = files;
  assert_ok(heed_safetensors_write(context, c.grouped, c.count, NULL, 0, test_bytes_append,
                                   &grouped, &error));
  with.file[0].source = test_source(grouped.data, grouped.size);
  fail_calls(&with, false, false);
  free(grouped.data);
  for (uint32_t i = 0; i < c.blocks; i++) free(c.memory[i]);
  heed_safetensors_destroy(c.file);
  heed_context_destroy(context);
  free(bytes.data);
  free_files(&files);
}

/* --------------------------------------------------------------------------------- what is refused
 */

/* The file with another scale of its first int8 tensor, [rows, depth]; NULL: without one. Each of
 * its numbers is `value`. `more`, if not NULL, is one tensor more. I32 is written as U32, which is
 * not read, where `value` is negative. */
static heed_status open_with_scale(const vit_files *files, const test_bytes *bytes,
                                   heed_context *context, const heed_shape *shape, heed_dtype dtype,
                                   float value, const heed_safetensors_item *more,
                                   heed_error *refused) {
  heed_safetensors_item items[2 * MOST];
  heed_safetensors *file;
  heed_error error;
  test_bytes made = {NULL, 0};
  char name[128] = "";
  uint32_t count = 0;
  float *numbers = malloc(4096 * sizeof *numbers);
  const heed_source source = test_source(bytes->data, bytes->size);
  for (int i = 0; i < 4096; i++) numbers[i] = value;
  assert_ok(heed_safetensors_open(context, &source, "int8", &file, &error));
  for (uint32_t i = 0; i < heed_safetensors_count(file) && !*name; i++)
    if (heed_safetensors_get(file, i)->dtype == HEED_I8)
      snprintf(name, sizeof name, "%s_scale", heed_safetensors_get(file, i)->name);
  assert_true(*name);
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *info = heed_safetensors_get(file, i);
    if (strcmp(info->name, name) == 0) continue;
    items[count++] =
        (heed_safetensors_item){info->name, info->dtype, info->shape, bytes->data + info->offset};
  }
  if (shape) items[count++] = (heed_safetensors_item){name, dtype, *shape, numbers};
  if (more) items[count++] = *more;
  assert_ok(
      heed_safetensors_write(context, items, count, NULL, 0, test_bytes_append, &made, &error));
  for (size_t i = 0; dtype == HEED_I32 && value < 0.0f && i + 5 < made.size; i++)
    if (memcmp(made.data + i, "\"I32\"", 5) == 0) made.data[i + 1] = 'U';
  vit_files with = *files;
  with.file[0].source = test_source(made.data, made.size);
  const heed_status status = open_int8(&with, NULL, refused);
  free(made.data);
  free(numbers);
  heed_safetensors_destroy(file);
  return status;
}

static void test_scales_that_are_none(void **state) {
  (void)state;
  enum { ROWS = 32 }; /* the first tensor is [32, 32] */
  const struct {
    heed_shape shape;
    heed_dtype dtype;
    float value;
    heed_status status;
    const char *part;
  } cases[] = {
      {HEED_SHAPE(ROWS, 1), HEED_F32, 0.01f, HEED_OK, ""},
      {HEED_SHAPE(ROWS), HEED_F32, 0.01f, HEED_OK, ""},
      {HEED_SHAPE(ROWS, 8), HEED_F32, 0.01f, HEED_OK, ""},
      {HEED_SHAPE(ROWS, 1), HEED_I32, 0.01f, HEED_UNSUPPORTED,
       "has the wrong dtype (found I32, expected F32, F16 or BF16)"},
      {HEED_SHAPE(ROWS, 1), HEED_U8, 0.01f, HEED_UNSUPPORTED, "has the wrong dtype (found U8"},
      {HEED_SHAPE(ROWS, 1), HEED_I32, -0.01f, HEED_UNSUPPORTED, "has the wrong dtype (found U32"},
      {HEED_SHAPE(ROWS, 0), HEED_F32, 0.01f, HEED_UNSUPPORTED,
       "has the wrong shape (found [32, 0]"},
      {HEED_SHAPE(ROWS - 1, 1), HEED_F32, 0.01f, HEED_UNSUPPORTED,
       "has the wrong shape (found [31, 1], expected [32, 1] or [32, groups])"},
      {HEED_SHAPE(1, ROWS), HEED_F32, 0.01f, HEED_UNSUPPORTED,
       "has the wrong shape (found [1, 32]"},
      {HEED_SHAPE(ROWS, 5), HEED_F32, 0.01f, HEED_UNSUPPORTED,
       "has the wrong shape (found [32, 5]"},
      {HEED_SHAPE(ROWS, 64), HEED_F32, 0.01f, HEED_UNSUPPORTED, "has the wrong shape"},
      {HEED_SHAPE(ROWS, 1, 1), HEED_F32, 0.01f, HEED_UNSUPPORTED, "has the wrong shape"},
      {HEED_SHAPE(ROWS, 1), HEED_F32, 0.0f, HEED_INVALID_FILE, "invalid scale in row 0 of tensor"},
      {HEED_SHAPE(ROWS, 1), HEED_F32, -0.01f, HEED_INVALID_FILE,
       "(found -0.01, expected a finite number above 0)"},
      {HEED_SHAPE(ROWS, 8), HEED_F32, INFINITY, HEED_INVALID_FILE, "invalid scale in row 0"},
      {HEED_SHAPE(ROWS, 1), HEED_F32, NAN, HEED_INVALID_FILE, "invalid scale in row 0"},
  };
  vit_files files;
  test_bytes bytes;
  heed_context *context;
  heed_error error;
  load_files(&files, "micro_32");
  (void)to_int8(&files, &bytes);
  assert_ok(heed_context_create(NULL, &context, &error));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    error = (heed_error){HEED_OK, ""};
    const heed_status status = open_with_scale(&files, &bytes, context, &cases[i].shape,
                                               cases[i].dtype, cases[i].value, NULL, &error);
    if (status != cases[i].status || (status != HEED_OK && !strstr(error.message, cases[i].part)))
      fail_msg("case %zu: %s (%s)", i, heed_status_name(status), error.message);
  }
  assert_fails(open_with_scale(&files, &bytes, context, NULL, HEED_F32, 0, NULL, &error),
               HEED_UNSUPPORTED, "has no scales (found I8 alone, expected also");
  /* beside it one whose name is too long to be followed by "_scale" */
  char name[400];
  memset(name, 'n', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  const heed_safetensors_item more = {name, HEED_I8, HEED_SHAPE(4), "four"};
  assert_ok(
      open_with_scale(&files, &bytes, context, &cases[0].shape, HEED_F32, 0.01f, &more, &error));
  heed_context_destroy(context);
  free(bytes.data);
  free_files(&files);
}

/* The files with a quantization_config at the start of their config; text to be freed after them.
 */
static vit_files describe(const vit_files *files, const char *value, char **text) {
  vit_files with = *files;
  heed_source *config = &with.file[1].source;
  assert_string_equal(with.file[1].name, "config.json");
  const char *open = memchr(config->bytes, '{', (size_t)config->size);
  assert_non_null(open);
  const size_t rest = (size_t)(config->size - (uint64_t)(open + 1 - (const char *)config->bytes));
  *text = malloc(rest + strlen(value) + 64);
  assert_non_null(*text);
  const int length = sprintf(*text, "{\"quantization_config\":%s,%.*s", value, (int)rest, open + 1);
  *config = test_source(*text, (size_t)length);
  return with;
}

/* The floats that a file's int8 and scales mean; every row of positions has its own. */
static void widen(changed *c, const test_bytes *bytes, heed_context *context) {
  heed_error error;
  const heed_source source = test_source(bytes->data, bytes->size);
  assert_ok(heed_safetensors_open(context, &source, "int8", &c->file, &error));
  for (uint32_t i = 0; i < heed_safetensors_count(c->file); i++) {
    const heed_safetensors_tensor *info = heed_safetensors_get(c->file, i);
    const size_t length = strlen(info->name), count = (size_t)info->count;
    if (length > 6 && strcmp(info->name + length - 6, "_scale") == 0) continue;
    heed_safetensors_item item = {info->name, info->dtype, info->shape, bytes->data + info->offset};
    if (info->dtype == HEED_I8) {
      char *name = keep(c, length + 8);
      sprintf(name, "%s_scale", info->name);
      const heed_safetensors_tensor *of = heed_safetensors_find(c->file, name);
      float *scales = keep(c, (size_t)of->count * sizeof *scales),
            *floats = keep(c, count * sizeof *floats);
      const int8_t *numbers = item.data;
      assert_int_equal(of->dtype, HEED_BF16);
      assert_ok(heed_safetensors_read(c->file, of, 0, of->count, scales, &error));
      for (size_t k = 0; k < count; k++)
        floats[k] = (float)numbers[k] * scales[k * (size_t)of->count / count];
      item.data = floats;
      item.dtype = HEED_F32;
    }
    c->floats[c->float_count++] = item;
  }
}

/* Where the config says that activations are floats, products are those of the weights in floats,
 * bit for bit; else they are those of int8. */
static void test_weights_alone(void **state) {
  (void)state;
#define OF(groups)                                                                  \
  "{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\",\"config_" \
  "groups\":" groups "}"
  static const struct {
    const char *value;
    bool floats;
  } cases[] = {{OF("{\"a\":{\"input_activations\":null}}"), true},
               {OF("{\"a\":{}}"), true},
               {OF("{\"a\":{},\"b\":{\"input_activations\":{\"num_bits\":8}}}"), false},
               {OF("{}"), false},
               {OF("7"), false}};
#undef OF
  vit_files files;
  test_bytes bytes = {NULL, 0};
  heed_context *context;
  heed_error error;
  changed c = {0};
  uint64_t count = 0;
  load_files(&files, "micro_32");
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(convert_to(HEED_STORAGE_INT8_FLOAT, &files, NULL, test_bytes_append, &bytes, &error));
  widen(&c, &bytes, context);
  float *expected = run_items(&files, c.floats, c.float_count, context, &count);
  vit_files stored = files;
  stored.file[0].source = test_source(bytes.data, bytes.size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text;
    uint64_t found_count = 0;
    const vit_files with = describe(&stored, cases[i].value, &text);
    const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
    vit v;
    assert_ok(open_vit(&v, &with, NULL, NULL, 1, &build, NULL, &error));
    float *found = read_value(&v, "last_hidden_state", &found_count);
    close_vit(&v);
    assert_int_equal(found_count, count);
    if ((memcmp(found, expected, (size_t)count * sizeof *found) == 0) != cases[i].floats)
      fail_msg("case %zu: %s bits", i, cases[i].floats ? "other" : "the same");
    free(found);
    free(text);
  }
  heed_safetensors_destroy(c.file);
  for (uint32_t i = 0; i < c.blocks; i++) free(c.memory[i]);
  free(expected);
  heed_context_destroy(context);
  free(bytes.data);
  free_files(&files);
}

/* What the config says of the weights is read only where they are int8. */
static void test_quantisation_of_the_config(void **state) {
  (void)state;
  static const struct {
    const char *value, *part; /* of quantization_config; NULL: read */
  } cases[] = {
      {"{\"quant_method\":\"compressed-tensors\",\"format\":\"int-quantized\"}", NULL},
      {"{\"quant_method\":\"compressed-tensors\",\"format\":\"pack-quantized\"}",
       "unsupported quantised weights (found pack-quantized of compressed-tensors, expected "
       "int-quantized of compressed-tensors)"},
      {"{\"quant_method\":\"gptq\",\"format\":\"int-quantized\"}", "found int-quantized of gptq"},
      {"{\"quant_method\":\"gptq\"}", "found nothing of gptq"},
      {"{\"quant_method\":7}", "found nothing of nothing"},
  };
  vit_files files;
  test_bytes bytes;
  heed_error error;
  load_files(&files, "micro_32");
  vit_files converted = to_int8(&files, &bytes);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text;
    const vit_files with = describe(&converted, cases[i].value, &text);
    vit_files plain = files;
    plain.file[1] = with.file[1];
    if (cases[i].part)
      assert_fails(open_int8(&with, NULL, &error), HEED_UNSUPPORTED, cases[i].part);
    else
      assert_ok(open_int8(&with, NULL, &error));
    assert_ok(open_int8(&plain, NULL, &error));
    free(text);
  }
  free(bytes.data);
  free_files(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_families_stay_near_their_floats),
      cmocka_unit_test(test_every_allocation_failed_once),
      cmocka_unit_test(test_reads_and_writes_that_fail),
      cmocka_unit_test(test_short_files),
      cmocka_unit_test(test_scales_of_groups_are_floats),
      cmocka_unit_test(test_scales_that_are_none),
      cmocka_unit_test(test_quantisation_of_the_config),
      cmocka_unit_test(test_weights_alone),
  };
  return cmocka_run_group_tests_name("int8_models", tests, NULL, NULL);
}
