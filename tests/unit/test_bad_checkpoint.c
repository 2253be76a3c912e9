/* Checkpoints that lack tensors or have wrong ones, sizes with and without a config, shards, every
 * allocation failed once. */
#include "support/named_model.h"

/* --------------------------------------------------------------------------------- wrong models */

static void wrong_tensors(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  drop(&m, "vit.encoder.layer.1.output.dense.weight");
  add(&m, "vit.encoder.layer.1.output.dense.more", 0.0f, HEED_SHAPE(1));
  assert_ok(load(&l, &m, config_text));
  assert_fails(take(&l, HEED_ROLE_FC2_WEIGHT, 1, HEED_SHAPE(WIDTH, MLP), &ref), HEED_INVALID_FILE,
               "model.safetensors: tensor vit.encoder.layer.1.output.dense.weight is missing");
  assert_fails(take(&l, HEED_ROLE_FC1_WEIGHT, 0, HEED_SHAPE(MLP, WIDTH + 1), &ref),
               HEED_INVALID_FILE,
               "model.safetensors: tensor vit.encoder.layer.0.intermediate.dense.weight has the "
               "wrong shape (found [96, 64], expected [96, 65])");
  assert_fails(take(&l, HEED_ROLE_CLS_TOKEN, 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE,
               "has the wrong shape (found [1, 1, 64], expected [64])");
  assert_fails(heed_roles_check_unused(&l.roles, &error), HEED_UNSUPPORTED,
               "does not fit family vit");
  unload(&l);
  free_model(&m);
  make_model(&m, &timm_names, "");
  assert_ok(load(&l, &m, NULL));
  assert_fails(
      take(&l, HEED_ROLE_KEY_WEIGHT, 0, HEED_SHAPE(32, WIDTH), &ref), HEED_INVALID_FILE,
      "tensor blocks.0.attn.qkv.weight has the wrong shape (found [192, 64], expected [96, 64])");
  unload(&l);
  free_model(&m);
}

static void wrong_dtypes(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  for (uint32_t i = 0; i < m.count; i++)
    if (strcmp(m.names[i], "vit.layernorm.weight") == 0) m.items[i].dtype = HEED_I32;
  assert_ok(load(&l, &m, config_text));
  assert_fails(take(&l, HEED_ROLE_FINAL_NORM_WEIGHT, 0, HEED_SHAPE(WIDTH), &ref), HEED_UNSUPPORTED,
               "tensor vit.layernorm.weight has the wrong dtype (found I32, expected F32, F64, F16 "
               "or BF16)");
  unload(&l);
  free_model(&m);
  test_bytes bytes =
      test_safetensors("{\"x\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8);
  const heed_model_file file = {"any.safetensors", test_source(bytes.data, bytes.size)};
  heed_checkpoint *checkpoint;
  heed_checkpoint_tensor *tensor;
  assert_ok(heed_checkpoint_open(context, &file, 1, &checkpoint, &error));
  assert_fails(heed_checkpoint_need(checkpoint, "x", &HEED_SHAPE(1), &tensor, &error),
               HEED_UNSUPPORTED, "any.safetensors: tensor x is not supported (found I64");
  assert_fails(heed_checkpoint_need(checkpoint, "y", &HEED_SHAPE(1, 2), &tensor, &error),
               HEED_INVALID_FILE, "any.safetensors: tensor y is missing (expected shape [1, 2])");
  heed_checkpoint_destroy(checkpoint);
  free(bytes.data);
}

/* What heed does not know in a layer, or in the model's own part of the names, is refused; heads
 * and training's leftovers are not. */
static void unknown_tensors(void **state) {
  (void)state;
  static const struct {
    const spelling *names;
    const char *extra;
    bool fine;
  } cases[] = {
      {&old_names, "vit.encoder.layer.0.attention.attention.relative_position_bias.table", false},
      {&old_names, "vit.encoder.layer.2.output.dense.weight", false},
      {&old_names, "vit.embeddings.mask_token", true},
      {&old_names, "decoder.0.weight", true},
      {&timm_names, "blocks.0.attn.rel_pos.weight", false},
      {&timm_names, "norm_mid.weight", false},
      {&timm_names, "head_dist_.weight", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    loaded l;
    make_model(&m, cases[i].names, cases[i].names->prefix);
    add(&m, cases[i].extra, 0.0f, HEED_SHAPE(3));
    assert_ok(load(&l, &m, config_text));
    for (uint32_t t = 0; t < m.count - 1; t++)
      assert_ok(heed_checkpoint_use(heed_checkpoint_find(l.checkpoint, m.names[t]),
                                    &m.items[t].shape, &error));
    if (cases[i].fine)
      assert_ok(heed_roles_check_unused(&l.roles, &error));
    else
      assert_fails(heed_roles_check_unused(&l.roles, &error), HEED_UNSUPPORTED, cases[i].extra);
    unload(&l);
    free_model(&m);
  }
}

static void no_model(void **state) {
  (void)state;
  model m = {.count = 0};
  loaded l;
  add(&m, "encoder.weight", 0.0f, HEED_SHAPE(1));
  assert_fails(load(&l, &m, NULL), HEED_UNSUPPORTED,
               "model.safetensors: no ViT (found none of "
               "encoder.layer.0.layernorm_before.weight, blocks.0.norm1.weight");
  unload(&l);
  add(&m, "a.blocks.0.norm1.weight", 0.0f, HEED_SHAPE(1));
  add(&m, "b.blocks.0.norm1.weight", 0.0f, HEED_SHAPE(1));
  assert_fails(load(&l, &m, NULL), HEED_UNSUPPORTED,
               "more than one ViT (found a.blocks.0.norm1.weight and b.blocks.0.norm1.weight");
  unload(&l);
  free_model(&m);
}

static void replace(model *m, const char *name, heed_shape shape) {
  drop(m, name);
  add(m, name, 0.0f, shape);
}

static void refuse_sizes(model *m, const char *text, heed_status status, const char *part) {
  loaded l;
  assert_fails(load(&l, m, text), status, part);
  unload(&l);
  free_model(m);
}

static void sizes_that_do_not_fit(void **state) {
  (void)state;
  model m;
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(WIDTH, 3, PATCH, 5));
  refuse_sizes(&m, NULL, HEED_UNSUPPORTED, "patches are not square (found 4 x 5)");
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(WIDTH, 3, 0, 0));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE,
               "patch_embed.proj.weight has the wrong shape (found [64, 3, 0, 0], expected 4 axes "
               "of 1 to 1048576)");
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(48, 3, PATCH, PATCH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "cannot infer the number of heads (found width 48");
  make_model(&m, &timm_names, "");
  replace(&m, "pos_embed", HEED_SHAPE(1, 8, WIDTH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "not for a square image (found 8 rows");
  make_model(&m, &timm_names, "");
  replace(&m, "pos_embed", HEED_SHAPE(8, WIDTH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE,
               "pos_embed has the wrong shape (found [8, 64], expected 3 axes");
  make_model(&m, &timm_names, "");
  drop(&m, "pos_embed");
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "tensor pos_embed is missing");
  make_model(&m, &timm_names, "");
  drop(&m, "patch_embed.proj.weight");
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "tensor patch_embed.proj.weight is missing");
  make_model(&m, &old_names, "");
  refuse_sizes(&m,
               "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
               "\"intermediate_size\":96,\"image_size\":3,\"patch_size\":4}",
               HEED_INVALID_FILE,
               "image and patch do not fit each other (found image_size 3 and 4");
  make_model(&m, &old_names, "");
  refuse_sizes(&m,
               "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
               "\"intermediate_size\":96,\"image_size\":1048576,"
               "\"patch_size\":4}",
               HEED_INVALID_FILE, "image and patch do not fit each other");
  make_model(&m, &old_names, "");
  refuse_sizes(&m,
               "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,"
               "\"intermediate_size\":96,\"image_size\":16,\"patch_"
               "size\":4}",
               HEED_INVALID_FILE,
               "image_size does not fit the weights (found 16, which makes 17 rows of positions, "
               "expected 10");
}

/* --------------------------------------------------------------------------------------- shards */

static heed_status open_shards(const char *index, const model *first, const model *second,
                               const char *second_name, heed_checkpoint **checkpoint) {
  test_bytes a = save(first), b = save(second);
  const heed_model_file files[] = {
      {"model.safetensors.index.json", test_source(index, strlen(index))},
      {"model-00001-of-00002.safetensors", test_source(a.data, a.size)},
      {second_name, test_source(b.data, b.size)}};
  const heed_status status = heed_checkpoint_open(context, files, 3, checkpoint, &error);
  float value;
  if (status == HEED_OK) {
    assert_ok(
        heed_checkpoint_read(heed_checkpoint_find(*checkpoint, "in.b"), 0, 1, &value, &error));
    assert_true(value == 2.0f);
    assert_int_equal(heed_checkpoint_count(*checkpoint), 3);
    heed_checkpoint_destroy(*checkpoint);
  }
  free(a.data);
  free(b.data);
  return status;
}

#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"

static void shards(void **state) {
  (void)state;
  model a = {.count = 0}, b = {.count = 0};
  heed_checkpoint *checkpoint;
  add(&a, "in.a", 1.0f, HEED_SHAPE(2));
  add(&b, "in.b", 2.0f, HEED_SHAPE(2));
  add(&b, "not.listed", 3.0f, HEED_SHAPE(2));
#define INDEX(map) "{\"metadata\":{\"total_size\":16},\"weight_map\":" map "}"
  assert_ok(
      open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint));
  assert_fails(open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b,
                           "other.safetensors", &checkpoint),
               HEED_INVALID_FILE, "model.safetensors.index.json: the file " TWO " is missing");
  assert_fails(open_shards(INDEX("{\"in.a\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint),
               HEED_INVALID_FILE,
               TWO ": tensor in.a is missing (expected it there by model.safetensors.index.json)");
  assert_fails(open_shards(INDEX("{\"in.a\":3}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               "tensor in.a has no file (found a number");
  static const char *const bad[] = {"../" ONE,
                                    "/etc/x.safetensors",
                                    "a\\\\b.safetensors",
                                    "model.txt",
                                    "",
                                    ".safetensors",
                                    "x.safetensors\\u0000",
                                    "C:" ONE,
                                    "C:\\\\" ONE,
                                    "\\\\\\\\server\\\\share\\\\" ONE,
                                    "//server/" ONE,
                                    ONE ":stream.bin"}; /* of Windows */
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char index[256];
    snprintf(index, sizeof index, INDEX("{\"in.a\":\"%s\"}"), bad[i]);
    assert_fails(open_shards(index, &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
                 "invalid file of tensor in.a");
  }
  assert_fails(open_shards(INDEX("[]"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               "no weight_map (found an array");
  assert_fails(open_shards(INDEX("{}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               "no weight_map");
  assert_fails(open_shards("{}", &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               "no weight_map (found nothing");
  assert_fails(open_shards("[", &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               "model.safetensors.index.json: expected a value");
  add(&a, "in.b", 4.0f, HEED_SHAPE(1));
  assert_fails(
      open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint),
      HEED_INVALID_FILE, TWO ": duplicate tensor in.b (found also in " ONE ")");
  free_model(&a);
  free_model(&b);
}

static void which_file(void **state) {
  (void)state;
  model m = {.count = 0};
  heed_checkpoint *checkpoint;
  add(&m, "x", 1.0f, HEED_SHAPE(1));
  test_bytes bytes = save(&m);
  const heed_source source = test_source(bytes.data, bytes.size);
  const heed_source text = test_source("{\"a\": 1, \"b\": 2}", 16);
  const heed_model_file files[] = {{"config.json", text},
                                   {"vit_tiny.safetensors", source},
                                   {"model.safetensors", source},
                                   {"b.safetensors", source}};
  assert_fails(heed_checkpoint_open(context, files, 0, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors: missing (found 0 other files");
  assert_fails(heed_checkpoint_open(context, files, 1, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors: missing (found 1 other file, expected");
  assert_ok(heed_checkpoint_open(context, files, 2, &checkpoint, &error));
  assert_string_equal(heed_checkpoint_name(checkpoint), "vit_tiny.safetensors");
  heed_checkpoint_destroy(checkpoint);
  assert_ok(heed_checkpoint_open(context, files, 4, &checkpoint, &error));
  assert_string_equal(heed_checkpoint_name(checkpoint), "model.safetensors");
  heed_checkpoint_destroy(checkpoint);
  const heed_model_file two[] = {files[1], files[3]};
  assert_fails(heed_checkpoint_open(context, two, 2, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors.index.json: missing (found 2 weight files");
  assert_null(checkpoint);
  /* whatever it is called: by its first bytes, and else its reader says what it is */
  const heed_model_file blob[] = {files[0], {"3f2a", source}}, json[] = {{"w.json", source}},
                        other[] = {files[0], {"vit.pth.tar", text}};
  assert_ok(heed_checkpoint_open(context, blob, 2, &checkpoint, &error));
  assert_string_equal(heed_checkpoint_name(checkpoint), "3f2a");
  heed_checkpoint_destroy(checkpoint);
  assert_ok(heed_checkpoint_open(context, json, 1, &checkpoint, &error));
  heed_checkpoint_destroy(checkpoint);
  assert_fails(heed_checkpoint_open(context, other, 2, &checkpoint, &error), HEED_INVALID_FILE,
               "vit.pth.tar: ");
  free(bytes.data);
  free_model(&m);
}

static void allocation_failures(void **state) {
  (void)state;
  model a = {.count = 0}, b = {.count = 0};
  add(&a, "in.a", 1.0f, HEED_SHAPE(2));
  add(&b, "in.b", 2.0f, HEED_SHAPE(2));
  test_bytes first = save(&a), second = save(&b);
  static const char index[] = "{\"weight_map\":{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}}";
  const heed_model_file files[] = {
      {"model.safetensors.index.json", test_source(index, sizeof index - 1)},
      {ONE, test_callback_source(&first)},
      {TWO, test_source(second.data, second.size)}};
  bool done = false;
  for (size_t n = 1; !done; n++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *failing;
    heed_checkpoint *checkpoint;
    assert_ok(heed_context_create(&desc, &failing, &error));
    allocator.total = 0;
    allocator.fail_at = n;
    const heed_status status = heed_checkpoint_open(failing, files, 3, &checkpoint, &error);
    done = allocator.total < n;
    assert_int_equal(status, done ? HEED_OK : HEED_OUT_OF_MEMORY);
    heed_checkpoint_destroy(checkpoint);
    heed_context_destroy(failing);
    assert_int_equal(allocator.live, 0);
  }
  free(first.data);
  free(second.data);
  free_model(&a);
  free_model(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_tensors),
      cmocka_unit_test(wrong_dtypes),
      cmocka_unit_test(unknown_tensors),
      cmocka_unit_test(no_model),
      cmocka_unit_test(sizes_that_do_not_fit),
      cmocka_unit_test(shards),
      cmocka_unit_test(which_file),
      cmocka_unit_test(allocation_failures),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
