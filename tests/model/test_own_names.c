/* ViTs that people write themselves: facts that no tensor tells, from names.json and hints.json;
 * what is guessed without them, and said; classifiers that are nn.Sequential; what is refused. */
#include "support/named_model.h"

#include "heed/model.h"

enum { FILES = 3 };

typedef struct opened {
  heed_model *model;
  heed_model_info info;
  unsigned char *bytes;
} opened;

/* Opens a folder of vectors without its names.json and with these files. */
static heed_status open_with(opened *o, const char *folder, const char *names, const char *hints) {
  char path[96];
  size_t size;
  heed_model_file files[FILES];
  uint32_t count = 0;
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  *o = (opened){.bytes = test_read_vector(path, &size)};
  files[count++] = (heed_model_file){"model.safetensors", test_source(o->bytes, size)};
  if (names) files[count++] = (heed_model_file){"names.json", test_source(names, strlen(names))};
  if (hints) files[count++] = (heed_model_file){"hints.json", test_source(hints, strlen(hints))};
  const heed_model_desc desc = {sizeof desc, files, count};
  const heed_status status = heed_model_open(context, &desc, &o->model, &error);
  if (status == HEED_OK) heed_model_get_info(o->model, &o->info);
  return status;
}

static void close_opened(opened *o) {
  heed_model_destroy(o->model);
  free(o->bytes);
}

static void assert_has(const char *text, const char *part) {
  if (!text || !strstr(text, part)) fail_msg("found \"%s\", expected \"%s\" in it", text, part);
}

static void guesses_are_said(void **state) {
  (void)state;
  opened o;
  assert_ok(open_with(&o, "own_heads", NULL, NULL));
  assert_int_equal(o.info.heads, 3);
  assert_has(o.info.assumed, "norm=before, activation=gelu, pool=cls (guesses;");
  assert_null(strstr(o.info.assumed, "heads"));
  close_opened(&o);
  assert_ok(open_with(&o, "vit_pytorch_2020", NULL, "{\"heads\": 3, \"pool\": \"tokens\"}"));
  assert_has(o.info.assumed, "norm=before, activation=gelu, head_activation=gelu, scale=width, "
                             "pixels=channels_last (guesses;");
  assert_has(o.info.rules, "classifier on the mean of the tokens");
  close_opened(&o);
  assert_ok(open_with(&o, "torch_encoder", NULL, "{\"heads\": 3}"));
  assert_has(o.info.assumed, "norm=after, activation=relu");
  close_opened(&o);
  assert_ok(open_with(&o, "torch_encoder_before", NULL, "{\"heads\": 3}"));
  assert_has(o.info.assumed, "norm=before, activation=gelu");
  close_opened(&o);
}

static void hints_come_before_names(void **state) {
  (void)state;
  opened o;
  assert_ok(open_with(&o, "own_blocks", "{\"heads\": 3, \"epsilon\": 0.5, \"labels\": [\"a\", 7]}",
                      "{\"heads\": 4, \"norm\": \"after\"}"));
  assert_int_equal(o.info.heads, 4);
  assert_true(o.info.epsilon == 0.5f);
  assert_has(o.info.rules, "a norm after each part");
  assert_string_equal(heed_model_label(o.model, 0), "a");
  assert_string_equal(heed_model_label(o.model, 1), "7");
  assert_string_equal(heed_model_label(o.model, 2), "class 2");
  close_opened(&o);
}

static void wrong_facts_are_refused(void **state) {
  static const struct {
    const char *folder, *hints, *sentence;
    heed_status status;
  } cases[] = {
      {"own_blocks", NULL, "the hint heads=N (--hints, in JavaScript hints)", HEED_INVALID_FILE},
      {"own_blocks", "{\"heads\": 5}", "hints.json: heads does not divide the width (found 5",
       HEED_INVALID_FILE},
      {"own_heads", "{\"heads\": 4}",
       "hints.json: heads does not fit the weights (found 4, "
       "expected 3: tensor encoder.blocks.0.attention.heads.0",
       HEED_INVALID_FILE},
      {"own_blocks", "{\"heads\": 3, \"patch_size\": 5}",
       "hints.json: patch_size does not fit the weights (found 5, expected 4", HEED_INVALID_FILE},
      {"own_blocks", "{\"norm\": \"post\"}",
       "hints.json: norm is not supported (found post, expected before or after)",
       HEED_UNSUPPORTED},
      {"own_blocks", "{\"family\": \"vlt\"}", "hints.json: family is not supported (found vlt",
       HEED_UNSUPPORTED},
      {"own_blocks", "[1]", "hints.json: it is not an object", HEED_INVALID_FILE},
      {"own_linear", "{\"heads\": 3, \"channels\": 5}",
       "does not tell the side of a patch (found 48 columns", HEED_INVALID_FILE},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    opened o;
    assert_fails(open_with(&o, cases[i].folder, NULL, cases[i].hints), cases[i].status,
                 cases[i].sentence);
    close_opened(&o);
  }
}

/* hf_vit with another classifier. */
static heed_status open_classifier(opened *o, const char *const *tensors, const heed_shape *shapes,
                                   const char *names) {
  static const char hints[] = "{\"heads\": 3}";
  model m = {.count = 0};
  take_vector(&m, "hf_vit");
  drop(&m, "classifier.weight");
  drop(&m, "classifier.bias");
  for (size_t i = 0; tensors[i]; i++) add(&m, tensors[i], 0.5f, shapes[i]);
  const test_bytes bytes = save(&m);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"hints.json", test_source(hints, strlen(hints))},
                                   {"names.json", test_source(names, names ? strlen(names) : 0)}};
  const heed_model_desc desc = {sizeof desc, files, names ? 3 : 2};
  *o = (opened){.bytes = bytes.data};
  const heed_status status = heed_model_open(context, &desc, &o->model, &error);
  if (status == HEED_OK) heed_model_get_info(o->model, &o->info);
  free_model(&m);
  return status;
}

static void sequential_classifiers(void **state) {
  static const char *const two[] = {"classifier.0.weight", "classifier.0.bias",
                                    "classifier.3.weight", "classifier.3.bias", NULL},
                           *const normed[] = {"classifier.0.weight", "classifier.0.bias",
                                              "classifier.2.weight", "classifier.2.bias", NULL},
                           *const late[] = {"classifier.0.weight",
                                            "classifier.0.bias",
                                            "classifier.1.weight",
                                            "classifier.1.bias",
                                            "classifier.3.weight",
                                            "classifier.3.bias",
                                            NULL},
                           *const batch[] = {"classifier.0.weight",       "classifier.0.bias",
                                             "classifier.3.weight",       "classifier.3.bias",
                                             "classifier.1.running_mean", NULL};
  const heed_shape maps[] = {HEED_SHAPE(10, 24), HEED_SHAPE(10), HEED_SHAPE(7, 10), HEED_SHAPE(7),
                             HEED_SHAPE(10)},
                   norm[] = {HEED_SHAPE(24), HEED_SHAPE(24), HEED_SHAPE(7, 24), HEED_SHAPE(7)},
                   behind[] = {HEED_SHAPE(24, 24), HEED_SHAPE(24),    HEED_SHAPE(24),
                               HEED_SHAPE(24),     HEED_SHAPE(7, 24), HEED_SHAPE(7)};
  (void)state;
  opened o;
  assert_ok(open_classifier(&o, two, maps, NULL));
  assert_int_equal(o.info.classes, 7);
  assert_has(o.info.assumed, "head_activation=relu (guesses;");
  close_opened(&o);
  assert_ok(open_classifier(&o, normed, norm, NULL));
  assert_int_equal(o.info.classes, 7);
  close_opened(&o);
  assert_fails(open_classifier(&o, late, behind, NULL), HEED_UNSUPPORTED,
               "tensor classifier.1.weight is not supported (found a norm behind "
               "classifier.0.weight");
  close_opened(&o);
  assert_fails(open_classifier(&o, batch, maps, NULL), HEED_UNSUPPORTED,
               "tensor classifier.1.running_mean does not fit family vit");
  close_opened(&o);
}

/* A folder of vectors with its config and, in its place or beside it, these names. */
static void open_named(opened *o, const char *folder, const char *config, const test_bytes *names,
                       unsigned char **text) {
  char path[96];
  size_t size;
  heed_model_file files[FILES];
  uint32_t count = 0;
  const bool own = config && strcmp(config, "names.json") == 0;
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  *o = (opened){.bytes = test_read_vector(path, &size)};
  *text = NULL;
  files[count++] = (heed_model_file){"model.safetensors", test_source(o->bytes, size)};
  if (config && !(own && names)) {
    snprintf(path, sizeof path, "vit/%s/%s", folder, config);
    *text = test_read_vector(path, &size);
    files[count++] = (heed_model_file){config, test_source(*text, size)};
  }
  if (names)
    files[count++] = (heed_model_file){"names.json", test_source(names->data, names->size)};
  const heed_model_desc desc = {sizeof desc, files, count};
  if (heed_model_open(context, &desc, &o->model, &error) != HEED_OK)
    fail_msg("%s: %s\n%.*s", folder, error.message, names ? (int)names->size : 0,
             names ? (const char *)names->data : "");
  heed_model_get_info(o->model, &o->info);
}

static void assert_same_text(const char *folder, const char *a, const char *b) {
  if ((a || b) && (!a || !b || strcmp(a, b) != 0))
    fail_msg("%s: found %s, expected %s", folder, b ? b : "nothing", a ? a : "nothing");
}

/* What a model is called, written and read again, is the same model: each tensor for the same role,
 * the same sizes and rules. */
static void check_round_trip(const char *folder, const char *config) {
  opened first, again;
  unsigned char *texts[2];
  test_bytes names = {NULL, 0};
  open_named(&first, folder, config, NULL, &texts[0]);
  assert_ok(heed_model_write_names(first.model, test_bytes_append, &names, &error));
  open_named(&again, folder, config, &names, &texts[1]);
  assert_same_text(folder, first.info.family, again.info.family);
  assert_same_text(folder, first.info.rules, again.info.rules);
  assert_int_equal(first.info.heads, again.info.heads);
  assert_int_equal(first.info.classes, again.info.classes);
  assert_int_equal(first.info.tensors_used, again.info.tensors_used);
  for (uint32_t i = 0; i < heed_model_tensor_count(first.model); i++) {
    heed_tensor_info a, b;
    heed_model_tensor(first.model, i, &a);
    heed_model_tensor(again.model, i, &b);
    assert_same_text(folder, a.used ? a.role : NULL, b.used ? b.role : NULL);
    assert_int_equal(a.layer, b.layer);
  }
  for (int i = 0; i < 2; i++) free(texts[i]);
  close_opened(&first);
  close_opened(&again);
  free(names.data);
}

static void names_open_what_they_name(void **state) {
  (void)state;
#define VIT_VECTOR(folder, config) check_round_trip(#folder, config);
#include "vit_vectors.h"
#undef VIT_VECTOR
}

/* A part of the names beside a style that is found: a classifier of another name. */
static void some_names_are_enough(void **state) {
  static const char *const strange[] = {"answer.weight", "answer.bias", NULL};
  const heed_shape shapes[] = {HEED_SHAPE(7, 24), HEED_SHAPE(7)};
  static const char names[] = "{\"classifier\": \"answer.*\"}";
  (void)state;
  opened o;
  assert_ok(open_classifier(&o, strange, shapes, NULL));
  assert_int_equal(o.info.classes, 0);
  close_opened(&o);
  assert_ok(open_classifier(&o, strange, shapes, names));
  assert_int_equal(o.info.classes, 7);
  close_opened(&o);
}

static void wrong_names_are_refused(void **state) {
  static const struct {
    const char *names, *sentence;
  } cases[] = {
      {"{\"qeury\": \"a.{i}.b\"}", "names.json: unknown key (found qeury, expected a role, such as "
                                   "query, or one of family, prefix, heads"},
      {"{\"query\": 3}",
       "names.json: query is not valid (found a number at byte 10, expected a string)"},
      {"{\"query\": \"a.b.*\"}", "expected a name with {i} for the layer)"},
      {"{\"cls_token\": \"a.{i}.b\"}", "expected a name without {i})"},
      {"{\"cls_token\": \"a.*\"}", "expected * at the end alone"},
      {"{\"query\": \"a.{i}.* 4/3\"}", "expected after the name nothing, 1/3 for a third"},
      {"{\"query\": \"a|b.{i}.*\"}", "expected a name with {i} for the layer, {h} for the head"},
      {"{\"query\": \"\"}", "expected the name of a tensor"},
      {"{\"query\": \"layers.{i}.q.*\"}", "tensor layers.0.q.weight is missing"},
      {"{\"classifier\": \"model.class_embedding\"}", "expected 2 axes"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    opened o;
    assert_fails(open_with(&o, "own_blocks", cases[i].names, "{\"heads\": 3}"), HEED_INVALID_FILE,
                 cases[i].sentence);
    close_opened(&o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(guesses_are_said),          cmocka_unit_test(hints_come_before_names),
      cmocka_unit_test(wrong_facts_are_refused),   cmocka_unit_test(sequential_classifiers),
      cmocka_unit_test(names_open_what_they_name), cmocka_unit_test(some_names_are_enough),
      cmocka_unit_test(wrong_names_are_refused)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
