/* Checkpoints: names of every style resolved to the same numbers. */
#include "support/named_model.h"

/* --------------------------------------------------------------------------------------- styles */

/* Each tensor is told by its Hugging Face name and layer, whatever the file calls it. */
static void check_parts(const loaded *l) {
  uint32_t norms = 0, queries = 0;
  for (uint32_t i = 0; i < heed_checkpoint_count(l->checkpoint); i++) {
    heed_tensor_info info;
    heed_checkpoint_describe(l->checkpoint, i, &info);
    assert_non_null(info.role);
    norms += strcmp(info.role, "encoder.layer.#.layernorm_before.weight") == 0 &&
             info.layer == LAYERS - 1;
    queries += strcmp(info.role, "encoder.layer.#.attention.attention.query.weight") == 0;
  }
  assert_int_equal(norms, 1);
  assert_int_equal(queries, LAYERS);
}

static void every_style(void **state) {
  (void)state;
  static const struct {
    const spelling *names;
    const char *prefix;
    const heed_names *style;
    const heed_family *family;
  } cases[] = {{&old_names, "vit.", &heed_names_hugging_face, &heed_family_vit},
               {&old_names, "", &heed_names_hugging_face, &heed_family_vit},
               {&old_names, "deit.", &heed_names_hugging_face, &heed_family_deit},
               {&new_names, "vit.", &heed_names_hugging_face, &heed_family_vit},
               {&new_names, "", &heed_names_hugging_face, &heed_family_vit},
               {&timm_names, "", &heed_names_timm, &heed_family_timm}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int with_config = 0; with_config < 2; with_config++) {
      model m;
      loaded l;
      heed_checkpoint_totals totals;
      make_model(&m, cases[i].names, cases[i].prefix);
      assert_ok(load(&l, &m, with_config ? config_text : NULL));
      assert_ptr_equal(l.roles.names, cases[i].style);
      assert_ptr_equal(l.roles.family, cases[i].family);
      /* The config is not timm's. MAE and MSN have the names of ViT. */
      assert_true((l.roles.assumption != NULL) ==
                  (cases[i].style == &heed_names_timm ||
                   (!with_config && cases[i].family == &heed_family_vit)));
      assert_string_equal(l.roles.prefix, cases[i].prefix);
      assert_int_equal(l.d.width, WIDTH);
      assert_int_equal(l.d.layers, LAYERS);
      assert_int_equal(l.d.heads, with_config ? 4 : 1);
      assert_int_equal(l.d.mlp_width, MLP);
      assert_int_equal(l.d.image_size, GRID * PATCH);
      assert_int_equal(l.d.patch, PATCH);
      assert_int_equal(l.d.channels, 3);
      assert_int_equal(l.d.classes, CLASSES);
      assert_int_equal(l.d.prefix_tokens, 1);
      assert_int_equal(l.d.position_rows, GRID * GRID + 1);
      assert_int_equal(l.d.position_prefix, 1);
      assert_true(l.d.epsilon == (cases[i].style == &heed_names_timm ? 1e-6f : 1e-12f));
      check_all(&l, cases[i].style == &heed_names_timm);
      check_parts(&l);
      heed_checkpoint_total(l.checkpoint, &totals);
      assert_int_equal(totals.used, m.count);
      assert_int_equal(totals.unused, 0);
      assert_int_equal(totals.bytes, 4 * totals.elements);
      unload(&l);
      free_model(&m);
    }
}

static void wrapped_prefix(void **state) {
  (void)state;
  model m;
  loaded l;
  make_model(&m, &timm_names, "timm_model.");
  drop(&m, "head.weight");
  drop(&m, "head.bias");
  add_linear(&m, "timm_model.head", 5.0f, CLASSES, WIDTH);
  assert_ok(load(&l, &m, NULL));
  assert_string_equal(l.roles.prefix, "timm_model.");
  check_all(&l, true);
  unload(&l);
  free_model(&m);
  make_model(&m, &old_names, "module.vit.");
  drop(&m, "classifier.weight");
  drop(&m, "classifier.bias");
  add_linear(&m, "module.classifier", 5.0f, CLASSES, WIDTH);
  assert_ok(load(&l, &m, NULL));
  assert_string_equal(l.roles.outer, "module.");
  check_all(&l, false);
  unload(&l);
  free_model(&m);
}

/* Puts the layers of timm's names into chunks: "blocks.1.norm1" becomes "blocks." and the new text
 * of its layer. */
static void make_chunks(model *m, const char *prefix, const char *const layers[LAYERS]) {
  make_model(m, &timm_names, prefix);
  for (uint32_t i = 0; i < m->count; i++) {
    char *at = strstr(m->names[i], "blocks."), rest[96];
    if (!at) continue;
    const int layer = at[7] - '0';
    snprintf(rest, sizeof rest, "%s", at + 8);
    snprintf(at + 7, sizeof rest - 7 - (size_t)(at - m->names[i]), "%s%s", layers[layer], rest);
  }
}

/* DINOv2's block_chunks: the second number is the layer, over all chunks. */
static void layers_in_chunks(void **state) {
  (void)state;
  static const char *const good[][LAYERS] = {{"0.0", "0.1"}, {"0.0", "1.1"}};
  static const char *const bad[][LAYERS] = {
      {"0.0", "1.0"}, {"0.0", "1.2"}, {"1.0", "0.1"}, {"0.1", "1.2"}, {"0.0", "2.1"}};
  model m;
  loaded l;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    for (int wrapped = 0; wrapped < 2; wrapped++) {
      make_chunks(&m, wrapped ? "backbone." : "", good[i]);
      if (wrapped) {
        drop(&m, "head.weight");
        drop(&m, "head.bias");
        add_linear(&m, "backbone.head", 5.0f, CLASSES, WIDTH);
      }
      assert_ok(load(&l, &m, NULL));
      assert_int_equal(l.d.layers, LAYERS);
      check_all(&l, true);
      unload(&l);
      free_model(&m);
    }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    make_chunks(&m, "", bad[i]);
    assert_int_equal(load(&l, &m, NULL), HEED_INVALID_FILE);
    assert_non_null(strstr(error.message, "layers in chunks have no numbers in a row (found "));
    unload(&l);
    free_model(&m);
  }
  /* a layer in a chunk and outside of it */
  make_chunks(&m, "", good[1]);
  add(&m, "blocks.1.norm1.weight", 0.0f, HEED_SHAPE(WIDTH));
  assert_int_equal(load(&l, &m, NULL), HEED_INVALID_FILE);
  assert_non_null(strstr(error.message, "duplicate tensor blocks.1.norm1.weight"));
  unload(&l);
  free_model(&m);
}

static void distilled_deit(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "deit.");
  drop(&m, "deit.embeddings.position_embeddings");
  drop(&m, "classifier.weight");
  drop(&m, "classifier.bias");
  add(&m, "deit.embeddings.position_embeddings", 2.0f, HEED_SHAPE(1, GRID * GRID + 2, WIDTH));
  add(&m, "deit.embeddings.distillation_token", 6.0f, HEED_SHAPE(1, 1, WIDTH));
  add_linear(&m, "cls_classifier", 7.0f, CLASSES, WIDTH);
  add_linear(&m, "distillation_classifier", 8.0f, CLASSES, WIDTH);
  add_linear(&m, "deit.pooler.dense", 9.0f, WIDTH, WIDTH);
  assert_ok(load(&l, &m, config_text));
  assert_ptr_equal(l.roles.family, &heed_family_deit);
  assert_true(l.d.distillation);
  assert_int_equal(l.d.prefix_tokens, 2);
  assert_int_equal(l.d.position_prefix, 2);
  assert_int_equal(l.d.position_rows, GRID * GRID + 2);
  want(&l, HEED_ROLE_DISTILLATION_TOKEN, 0, HEED_SHAPE(1, 1, WIDTH), 6.0f, 0);
  want(&l, HEED_ROLE_CLASSIFIER_WEIGHT, 0, HEED_SHAPE(CLASSES, WIDTH), 7.0f, 0);
  want(&l, HEED_ROLE_DISTILLATION_CLASSIFIER_BIAS, 0, HEED_SHAPE(CLASSES), 58.0f, 0);
  want(&l, HEED_ROLE_POOLER_WEIGHT, 0, HEED_SHAPE(WIDTH, WIDTH), 9.0f, 0);
  assert_ok(take(&l, HEED_ROLE_LAYER_SCALE1, 0, HEED_SHAPE(WIDTH), &ref));
  assert_null(ref.tensor);
  unload(&l);
  free_model(&m);
}

static void timm_registers_and_scales(void **state) {
  (void)state;
  model m;
  loaded l;
  make_model(&m, &timm_names, "");
  drop(&m, "pos_embed");
  add(&m, "pos_embed", 2.0f, HEED_SHAPE(1, GRID * GRID, WIDTH)); /* no_embed_class */
  add(&m, "reg_token", 6.0f, HEED_SHAPE(1, 4, WIDTH));
  add(&m, "blocks.1.ls1.gamma", 7.0f, HEED_SHAPE(WIDTH));
  assert_ok(load(&l, &m, NULL));
  assert_int_equal(l.d.registers, 4);
  assert_int_equal(l.d.prefix_tokens, 5);
  assert_int_equal(l.d.position_prefix, 0);
  assert_int_equal(l.d.image_size, GRID * PATCH);
  want(&l, HEED_ROLE_REGISTER_TOKENS, 0, HEED_SHAPE(1, 4, WIDTH), 6.0f, 0);
  want(&l, HEED_ROLE_LAYER_SCALE1, 1, HEED_SHAPE(WIDTH), 7.0f, 0);
  unload(&l);
  free_model(&m);
}

/* timm's names, and what tells whose file it is. */
static void whose_names(void **state) {
  (void)state;
  static const char timm_config[] = "{\"architecture\":\"vit_x\",\"num_classes\":5,\"model_args\":{"
                                    "\"img_size\":12,\"patch_size\":4,\"num_heads\":4}}";
  static const struct {
    const char *extra, *config;
    heed_shape shape;
    const heed_family *family;
    bool assumed;
    uint32_t registers;
  } cases[] = {
      {NULL, timm_config, {0}, &heed_family_timm, false, 0},
      {NULL, NULL, {0}, &heed_family_timm, true, 0},
      {"mask_token", NULL, {2, {1, WIDTH}}, &heed_family_dinov2_original, false, 0},
      {"mask_token", config_text, {2, {1, WIDTH}}, &heed_family_dinov2_original, false, 0},
      {"mask_token", timm_config, {2, {1, WIDTH}}, &heed_family_timm, false, 0},
      {"mask_token", NULL, {3, {1, 1, WIDTH}}, &heed_family_timm, true, 0}, /* MAE's */
      {"register_tokens",
       NULL,
       {3, {1, 4, WIDTH}},
       &heed_family_dinov2_original_registers,
       false,
       4},
      {"storage_tokens", NULL, {3, {1, 2, WIDTH}}, &heed_family_dinov2_original_registers, true, 2},
      {"register_tokens", timm_config, {3, {1, 4, WIDTH}}, &heed_family_timm, false, 4}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    loaded l;
    make_model(&m, &timm_names, "");
    if (cases[i].extra) add(&m, cases[i].extra, 6.0f, cases[i].shape);
    assert_ok(load(&l, &m, cases[i].config));
    assert_ptr_equal(l.roles.family, cases[i].family);
    assert_true((l.roles.assumption != NULL) == cases[i].assumed);
    assert_int_equal(l.d.registers, cases[i].registers);
    assert_int_equal(l.d.position_prefix, 1);
    if (cases[i].registers)
      want(&l, HEED_ROLE_REGISTER_TOKENS, 0, HEED_SHAPE(1, cases[i].registers, WIDTH), 6.0f, 0);
    unload(&l);
    free_model(&m);
  }
}

static void stacked_projection(void **state) {
  (void)state;
  const spelling *names[] = {&old_names, &timm_names};
  for (int n = 0; n < 2; n++) {
    model m;
    loaded l;
    enum { WHOLE = 3 * WIDTH };
    float all[WHOLE], part[WHOLE];
    heed_weight weight = {.count = 3};
    make_model(&m, names[n], names[n]->prefix);
    assert_ok(load(&l, &m, config_text));
    for (uint32_t i = 0; i < 3; i++)
      assert_ok(take(&l, (heed_role)(HEED_ROLE_QUERY_BIAS + 2 * i), 1, HEED_SHAPE(WIDTH),
                     &weight.part[i]));
    if (n == 0) weight.part[1].tensor = NULL; /* as an optional one that is absent */
    assert_ok(heed_weight_read(&weight, 0, WHOLE, all, &error));
    assert_true(all[0] == 251.0f);
    assert_true(all[WIDTH] == (n ? 251.0f + (float)WIDTH / 1024.0f : 0.0f));
    assert_true(all[2 * WIDTH + 1] ==
                (n ? 251.0f + (2 * WIDTH + 1) / 1024.0f : 253.0f + 1.0f / 1024.0f));
    for (uint64_t first = 0; first < WHOLE; first += 31)
      for (uint64_t count = 0; first + count <= WHOLE; count += 29) {
        assert_ok(heed_weight_read(&weight, first, count, part, &error));
        assert_memory_equal(part, all + first, (size_t)count * sizeof *part);
      }
    assert_fails(heed_weight_read(&weight, 1, WHOLE, part, &error), HEED_INVALID_ARGUMENT,
                 "exceeds its end");
    unload(&l);
    free_model(&m);
  }
}

/* Without any bias of query, key and value when neither config nor file has one; a bias that is
 * lost is missing. */
static void lost_biases(void **state) {
  (void)state;
  static const char *const all[] = {"vit.encoder.layer.0.attention.attention.query.bias",
                                    "vit.encoder.layer.0.attention.attention.key.bias",
                                    "vit.encoder.layer.0.attention.attention.value.bias",
                                    "vit.encoder.layer.1.attention.attention.query.bias",
                                    "vit.encoder.layer.1.attention.attention.key.bias",
                                    "vit.encoder.layer.1.attention.attention.value.bias"};
  static const char *const needed[] = {"classifier.bias",
                                       "vit.embeddings.patch_embeddings.projection.bias"};
  static const heed_role roles[] = {HEED_ROLE_CLASSIFIER_BIAS, HEED_ROLE_PATCH_BIAS};
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  for (int i = 0; i < 5; i++) drop(&m, all[i]);
  assert_ok(load(&l, &m, NULL));
  assert_fails(take(&l, HEED_ROLE_QUERY_BIAS, 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE,
               "query.bias is missing");
  unload(&l);
  drop(&m, all[5]);
  assert_ok(load(&l, &m, NULL));
  assert_ok(take(&l, HEED_ROLE_QUERY_BIAS, 0, HEED_SHAPE(WIDTH), &ref));
  assert_null(ref.tensor);
  unload(&l);
  assert_fails(load(&l, &m, config_text), HEED_INVALID_FILE,
               "qkv_bias (by default) does not fit the weights");
  unload(&l);
  for (int i = 0; i < 2; i++) {
    drop(&m, needed[i]);
    assert_ok(load(&l, &m, NULL));
    assert_fails(take(&l, roles[i], 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE, needed[i]);
    unload(&l);
  }
  free_model(&m);
}

static void oracle_model(void **state) {
  (void)state;
  size_t size, config_size;
  unsigned char *bytes = test_read_vector("vit/micro_32/model.safetensors", &size),
                *text = test_read_vector("vit/micro_32/config.json", &config_size);
  const heed_model_file files[] = {{"config.json", test_source(text, config_size)},
                                   {"model.safetensors", test_source(bytes, size)}};
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions d;
  assert_ok(heed_config_open(context, files, 2, HEED_TOWER_VISION, &config, &error));
  assert_ok(heed_checkpoint_open(context, files, 2, &checkpoint, &error));
  assert_ok(heed_roles_detect(checkpoint, config, &roles, &error));
  assert_ok(heed_roles_dimensions(&roles, config, &d, &error));
  assert_int_equal(d.width, 32);
  assert_int_equal(d.heads, 4);
  assert_int_equal(d.position_rows, 5);
  assert_int_equal(d.classes, 5);
  assert_int_equal(heed_checkpoint_count(checkpoint), 40);
  heed_checkpoint_destroy(checkpoint);
  heed_config_destroy(config);
  free(bytes);
  free(text);
}

static heed_shape shape_of_place(heed_shape stored, uint32_t parts, bool transposed, bool flat) {
  const heed_safetensors_tensor info = {.shape = stored};
  heed_checkpoint_tensor tensor = {.info = &info};
  const heed_place place = {
      .tensor = &tensor, .parts = parts, .transposed = transposed, .flat = flat};
  return heed_place_shape(&place, 3);
}

/* The shape of a part, or rank 0 where the tensor cannot be split or turned so. */
static void shapes_of_places(void **state) {
  (void)state;
  const struct {
    heed_shape stored;
    uint32_t parts;
    bool transposed, flat;
    heed_shape expected;
  } cases[] = {{HEED_SHAPE(6, 4), 3, false, false, HEED_SHAPE(2, 4)},
               {HEED_SHAPE(4, 6), 3, true, false, HEED_SHAPE(2, 4)},
               {HEED_SHAPE(6), 1, false, true, HEED_SHAPE(1, 1, 6)},
               {HEED_SHAPE(7, 4), 3, false, false, {0, {0}}},
               {HEED_SHAPE(6, 4), 3, true, false, {0, {0}}},
               {HEED_SHAPE(6), 1, true, false, {0, {0}}},
               {HEED_SHAPE(6, 4, 2), 1, true, false, {0, {0}}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_shape found =
        shape_of_place(cases[i].stored, cases[i].parts, cases[i].transposed, cases[i].flat);
    assert_int_equal(found.rank, cases[i].expected.rank);
    for (uint32_t k = 0; k < found.rank; k++)
      assert_int_equal(found.dim[k], cases[i].expected.dim[k]);
  }
}

/* Any piece of a role that is stored transposed, of a part of it, and beyond the end. */
static void pieces_of_a_transposed_role(void **state) {
  (void)state;
  model m;
  loaded l;
  make_model(&m, &old_names, "vit.");
  assert_ok(load(&l, &m, config_text));
  heed_checkpoint_tensor copy, *tensor = NULL;
  for (uint32_t i = 0; i < heed_checkpoint_count(l.checkpoint) && !tensor; i++) {
    copy = *heed_checkpoint_get(l.checkpoint, i);
    if (copy.info->shape.rank == 2 && copy.info->shape.dim[0] != copy.info->shape.dim[1])
      tensor = &copy;
  }
  assert_non_null(tensor);
  /* [in, 2 out]: the second of two roles [out, in] */
  const uint32_t in = tensor->info->shape.dim[0], out = tensor->info->shape.dim[1] / 2;
  float *stored = malloc((size_t)in * 2 * out * sizeof *stored),
        *found = malloc((size_t)in * out * sizeof *found);
  assert_ok(heed_checkpoint_read(tensor, 0, (uint64_t)in * 2 * out, stored, &error));
  heed_weight weight = {{{.tensor = tensor,
                          .first = out,
                          .count = (uint64_t)in * out,
                          .stride = (uint64_t)2 * out,
                          .columns = in}},
                        1};
  const uint64_t all = (uint64_t)in * out, pieces[][2] = {{0, all}, {1, all - 2}, {in + 3, 2}};
  for (size_t p = 0; p < 3; p++) {
    assert_ok(heed_weight_read(&weight, pieces[p][0], pieces[p][1], found, &error));
    for (uint64_t e = 0; e < pieces[p][1]; e++) {
      const uint64_t at = pieces[p][0] + e, row = at / in, column = at % in;
      assert_true(found[e] == stored[column * 2 * out + out + row]);
    }
  }
  assert_fails(heed_weight_read(&weight, 1, all, found, &error), HEED_INVALID_ARGUMENT,
               "weight: range exceeds its end");
  assert_fails(heed_weight_read(&weight, all, 1, found, &error), HEED_INVALID_ARGUMENT,
               "weight: range exceeds its end");
  free(stored);
  free(found);
  unload(&l);
  free_model(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_style),
      cmocka_unit_test(wrapped_prefix),
      cmocka_unit_test(layers_in_chunks),
      cmocka_unit_test(distilled_deit),
      cmocka_unit_test(timm_registers_and_scales),
      cmocka_unit_test(whose_names),
      cmocka_unit_test(stacked_projection),
      cmocka_unit_test(lost_biases),
      cmocka_unit_test(oracle_model),
      cmocka_unit_test(shapes_of_places),
      cmocka_unit_test(pieces_of_a_transposed_role),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
