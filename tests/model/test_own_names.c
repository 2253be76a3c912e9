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

/* Positions that nobody stored, an order of rows that is most people's, a size that is a guess. */
static void what_no_file_stores_is_said(void **state) {
  (void)state;
  opened o;
  assert_ok(open_with(&o, "vit_pytorch_simple", NULL, "{\"heads\": 3}"));
  assert_has(o.info.assumed, "image_size=224 (a guess)");
  assert_has(o.info.assumed, "positions=sincos, pixels=channels_last (guesses;");
  assert_has(o.info.rules, "classifier on the mean of the patches");
  assert_has(o.info.positions, "computed: sine and cosine of columns and rows");
  assert_int_equal(o.info.image_size, 224);
  close_opened(&o);
  assert_ok(open_with(&o, "own_by_head", NULL, "{\"heads\": 3, \"positions\": \"none\"}"));
  assert_has(o.info.assumed, "norm=before, activation=gelu, pool=cls, qkv=thirds (guesses;");
  assert_string_equal(o.info.positions, "none");
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
      {"own_by_head", "{\"heads\": 3, \"qkv\": \"heads\"}",
       "no position embeddings (found none of their names, expected pos_embedding or the like, "
       "which "
       "--names can say, or the hint positions=sincos, sines or none (--hints",
       HEED_INVALID_FILE},
      {"own_blocks", "{\"heads\": 3, \"positions\": \"none\"}",
       "hints.json: positions does not fit the weights (found none, expected stored: the file has "
       "them)",
       HEED_INVALID_FILE},
      {"own_by_head", "{\"heads\": 3, \"positions\": \"stored\"}",
       "hints.json: positions does not fit the weights (found stored, expected none, sincos or "
       "sines)",
       HEED_INVALID_FILE},
      {"own_by_head", "{\"heads\": 3, \"positions\": \"none\", \"interpolation_grid\": \"exact\"}",
       "no position embeddings are stored, and interpolation_grid is of those", HEED_INVALID_FILE},
      {"own_after", "{\"heads\": 3, \"channels\": 1, \"qkv\": \"heads\"}",
       "hints.json: qkv does not fit the weights (found heads, expected it left out: query and key "
       "are tensors apart)",
       HEED_INVALID_FILE},
      {"own_by_head", "{\"heads\": 3, \"qkv\": \"rows\"}",
       "hints.json: qkv is not supported (found rows, expected thirds, heads or interleaved)",
       HEED_UNSUPPORTED},
      {"own_linear", "{\"heads\": 3, \"channels\": 5}",
       "does not tell the side of a patch (found 48 columns", HEED_INVALID_FILE},
      {"own_linear", "{\"heads\": 3, \"patch_size\": 65536}",
       "hints.json: patch_size does not fit the weights (found 65536", HEED_INVALID_FILE},
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

/* ------------------------------------------------------------------------- hints of a training */

/* Opens a folder's weights with what a training's file says, and these hints of a user. */
static heed_status open_trained(opened *o, model *m, const char *const (*said)[2], uint32_t count,
                                const char *hints) {
  heed_safetensors_pair pairs[8];
  for (uint32_t i = 0; i < count; i++) pairs[i] = (heed_safetensors_pair){said[i][0], said[i][1]};
  const test_bytes bytes = save_with(m, pairs, count);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"hints.json", test_source(hints, hints ? strlen(hints) : 0)}};
  const heed_model_desc desc = {sizeof desc, files, hints ? 2 : 1};
  *o = (opened){.bytes = bytes.data};
  const heed_status status = heed_model_open(context, &desc, &o->model, &error);
  if (status == HEED_OK) heed_model_get_info(o->model, &o->info);
  return status;
}

typedef struct trained_case {
  const char *folder;
  const char *said[4][2];
  const char *hints, *assumed;
  uint32_t heads;
} trained_case;

static uint32_t count_said(const trained_case *c) {
  uint32_t count = 0;
  while (count < 4 && c->said[count][0]) count++;
  return count;
}

/* What the weights leave open is taken, and said; what they contradict is said; a user's hints come
 * before. own_blocks is of width 24, patch 4, 5 x 5 patches. */
static void trainings_are_hints(void **state) {
#define ARGS "training.args."
  static const trained_case cases[] = {
      {"own_blocks",
       {{ARGS "num_heads", "3"}},
       NULL,
       "heads=3 (args.num_heads of the training)",
       3},
      {"own_blocks",
       {{"training.hyper_parameters.model.dim_head", "8"}},
       NULL,
       "heads=3 (hyper_parameters.model.dim_head of the training)",
       3},
      {"own_blocks",
       {{ARGS "heads", "3"}, {ARGS "patch_size", "8"}, {ARGS "img_size", "224"}},
       NULL,
       "not args.patch_size=8 of the training: the weights have patch_size=4; not "
       "args.img_size=224 of the training: the weights have image_size=20",
       3},
      {"own_blocks",
       {{ARGS "heads", "5"}},
       "{\"heads\": 4}",
       "norm=before, activation=gelu, pool=cls (guesses;",
       4},
      {"own_blocks",
       {{ARGS "heads", "3"}, {ARGS "decoder_num_heads", "2"}, {ARGS "activation", "relu"}},
       NULL,
       "norm=before, pool=cls (guesses; --hints, in JavaScript hints, says otherwise); heads=3 "
       "(args.heads of the training); activation=relu (args.activation of the training)",
       3},
      {"torch_encoder",
       {{ARGS "nhead", "3"}, {ARGS "norm_first", "1"}},
       NULL,
       "norm_first=1 (args.norm_first of the training)",
       3},
      {"vit_pytorch",
       {{ARGS "heads", "4"}, {ARGS "pool", "mean"}},
       NULL,
       "pool=mean (args.pool of the training)",
       4},
      {"own_heads",
       {{ARGS "num_heads", "4"}},
       NULL,
       "not args.num_heads=4 of the training: the weights have heads=3",
       3},
      {"own_blocks",
       {{ARGS "heads", "3"}, {ARGS "image_size", "21"}, {ARGS "dataset", "cifar10"}},
       NULL,
       "trained on cifar10 (args.dataset), whose mean and std no file has",
       3},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m = {.count = 0};
    opened o;
    take_vector(&m, cases[i].folder);
    if (open_trained(&o, &m, cases[i].said, count_said(&cases[i]), cases[i].hints) != HEED_OK)
      fail_msg("case %zu: %s", i, error.message);
    assert_int_equal(o.info.heads, cases[i].heads);
    assert_has(o.info.assumed, cases[i].assumed);
    if (i == 6) assert_has(o.info.rules, "the mean of the tokens");
    if (i == 5) assert_null(strstr(o.info.rules, "a norm after"));
    if (i == 8) assert_int_equal(o.info.image_size, 21);
    close_opened(&o);
    free_model(&m);
  }
}

/* Mean and std of a training are taken where they are of the image's channels and of 0 to 1. */
static void trainings_tell_colours(void **state) {
  static const struct {
    const char *mean, *std, *assumed;
    float first, last, deviation;
  } cases[] = {
      {"0.49,0.48,0.45", "0.25,0.24,0.26",
       "preprocessing of ViT, mean and std by args.mean and args.std of the training", 0.49f, 0.45f,
       0.25f},
      {"0.1307", "0.3081", "mean and std by args.mean", 0.1307f, 0.1307f, 0.3081f},
      {"123.7,116.3,103.5", "58.4,57.1,57.4",
       "not args.mean of the training (expected mean and std", 0.5f, 0.5f, 0.5f},
      {"0.49,0.48", "0.25,0.24", "not args.mean of the training", 0.5f, 0.5f, 0.5f},
      {"0.49,0.48,0.45", "0.0,0.24,0.26", "not args.mean of the training", 0.5f, 0.5f, 0.5f},
      {"0.49,0.48,", "0.25,0.24,0.26", "for 3 channels", 0.5f, 0.5f, 0.5f},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const said[][2] = {
        {ARGS "heads", "3"}, {ARGS "mean", cases[i].mean}, {ARGS "std", cases[i].std}};
    model m = {.count = 0};
    opened o;
    heed_preprocess preprocess;
    take_vector(&m, "own_blocks");
    assert_ok(open_trained(&o, &m, said, 3, NULL));
    assert_has(o.info.assumed, cases[i].assumed);
    heed_model_preprocess(o.model, &preprocess);
    assert_float_equal(preprocess.mean[0], cases[i].first, 1e-6);
    assert_float_equal(preprocess.mean[2], cases[i].last, 1e-6);
    assert_float_equal(preprocess.std[0], cases[i].deviation, 1e-6);
    close_opened(&o);
    free_model(&m);
  }
}

/* What heed_model_convert writes tells as much. */
static void trainings_are_converted(void **state) {
  static const char *const said[][2] = {{ARGS "heads", "3"}, {"other", "2"}};
  (void)state;
  model m = {.count = 0};
  opened o;
  test_bytes bytes = {NULL, 0};
  heed_safetensors *file;
  take_vector(&m, "own_blocks");
  assert_ok(open_trained(&o, &m, said, 2, NULL));
  const heed_convert_desc desc = {.struct_size = sizeof desc,
                                  .storage = HEED_STORAGE_F16,
                                  .sink = test_bytes_append,
                                  .user = &bytes};
  assert_ok(heed_model_convert(o.model, &desc, NULL, &error));
  const heed_source source = test_source(bytes.data, bytes.size);
  assert_ok(heed_safetensors_open(context, &source, "converted", &file, &error));
  assert_string_equal(heed_safetensors_metadata(file, ARGS "heads"), "3");
  assert_null(heed_safetensors_metadata(file, "other"));
  heed_safetensors_destroy(file);
  free(bytes.data);
  close_opened(&o);
  free_model(&m);
}

/* Two numbers that differ are none, and one that does not divide is none. */
static void trainings_that_do_not_tell(void **state) {
  static const trained_case cases[] = {
      {"own_blocks", {{ARGS "heads", "3"}, {"training.cfg.num_heads", "4"}}},
      {"own_blocks", {{ARGS "heads", "5"}}},
      {"own_blocks", {{ARGS "heads", "three"}}},
      {"own_blocks", {{ARGS "heads", "99999999999"}}},
      {"own_blocks", {{"args.heads", "3"}}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m = {.count = 0};
    opened o;
    take_vector(&m, cases[i].folder);
    assert_fails(open_trained(&o, &m, cases[i].said, count_said(&cases[i]), NULL),
                 HEED_INVALID_FILE, "cannot infer the number of heads (found width 24");
    close_opened(&o);
    free_model(&m);
  }
}

/* Two arguments that differ are named, whether something else tells or not. */
static void trainings_that_contradict(void **state) {
  static const char *const heads[][2] = {{ARGS "heads", "3"}, {"training.cfg.num_heads", "4"}},
                           *const patch[][2] = {{ARGS "heads", "3"},
                                                {ARGS "patch_size", "4"},
                                                {"training.cfg.patch_size", "8"}};
  (void)state;
  model m = {.count = 0};
  opened o;
  take_vector(&m, "own_blocks");
  assert_fails(open_trained(&o, &m, heads, 2, NULL), HEED_INVALID_FILE,
               "width 24; args.heads=3 and cfg.num_heads=4 of the training differ, expected");
  close_opened(&o);
  assert_ok(open_trained(&o, &m, heads, 2, "{\"heads\": 3}"));
  assert_has(o.info.assumed,
             "args.heads=3 and cfg.num_heads=4 of the training differ: neither is taken");
  close_opened(&o);
  assert_ok(open_trained(&o, &m, patch, 3, NULL));
  assert_has(o.info.assumed, "args.patch_size=4 and cfg.patch_size=8 of the training differ");
  close_opened(&o);
  free_model(&m);
}

/* An encoder with timm's names has the preprocessing of those whose training it was. */
static void trainings_tell_their_makers(void **state) {
  static const struct {
    const char *key, *text, *maker;
    uint32_t heads;
    float mean;
  } cases[] = {{ARGS "local_crops_number", "8", "the original DINO", 1, 0.485f},
               {"training.dino_loss", "", "the original DINO", 1, 0.485f},
               {"training.teacher", "", "the original DINO", 1, 0.485f},
               {ARGS "norm_pix_loss", "1", "the original MAE", 1, 0.485f},
               {ARGS "model", "mae_vit_base_patch16", "the original MAE", 1, 0.485f},
               {ARGS "teacher", "regnety_160", "timm", 1, 0.5f},
               {ARGS "distillation_type", "none", "the original DeiT", 1, 0.485f},
               {ARGS "model", "deit_small_patch16_224", "the original DeiT", 1, 0.485f},
               {"training.arch", "test_vit_patch4", "timm", 2, 0.5f}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *const said[][2] = {{cases[i].key, cases[i].text}};
    model m;
    opened o;
    heed_preprocess preprocess;
    char sentence[96];
    make_model(&m, &timm_names, "teacher.backbone.");
    assert_ok(open_trained(&o, &m, said, 1, NULL));
    heed_model_preprocess(o.model, &preprocess);
    snprintf(sentence, sizeof sentence, "preprocessing of %s", cases[i].maker);
    assert_has(o.info.assumed, sentence);
    assert_int_equal(o.info.heads, cases[i].heads);
    assert_true(preprocess.mean[0] == cases[i].mean);
    assert_int_equal(strstr(o.info.positions, "with 0.1 patches") != NULL, i < 3);
    close_opened(&o);
    free_model(&m);
  }
}

/* "vit_small" has 12 heads in MoCo v3 and 6 in DINO: it is no hint where MoCo's files have it. */
static void names_of_several_makers_are_guesses(void **state) {
  static const char *const said[][2] = {{"training.arch", "vit_small"}}, *const dino[][2] = {
                                                                             {ARGS "arch",
                                                                              "vit_small"}};
  (void)state;
  model m;
  opened o;
  make_model(&m, &timm_names, "module.");
  assert_ok(open_trained(&o, &m, said, 1, NULL));
  assert_true(o.info.heads_guessed);
  assert_has(o.info.assumed, "1 heads (a guess: width 64 / 64)");
  close_opened(&o);
  assert_ok(open_trained(&o, &m, dino, 1, NULL));
  assert_false(o.info.heads_guessed);
  assert_has(o.info.assumed, "heads=1 (args.arch vit_small of the training)");
  close_opened(&o);
  free_model(&m);
}

/* timm's architecture tells rules that no tensor does, and refuses other blocks. */
static void trainings_of_timm_tell_rules(void **state) {
  static const char *const clip[][2] = {{"training.arch", "vit_base_patch16_clip_quickgelu_224"}},
                           *const other[][2] = {{"training.arch", "vit_base_patch16_rpn_224"}};
  (void)state;
  model m;
  opened o;
  make_model(&m, &timm_names, "");
  assert_ok(open_trained(&o, &m, clip, 1, NULL));
  assert_true(o.info.epsilon == 1e-5f && o.info.activation == HEED_ACTIVATION_GELU_QUICK);
  close_opened(&o);
  assert_fails(open_trained(&o, &m, other, 1, NULL), HEED_UNSUPPORTED,
               "architecture is not supported (found vit_base_patch16_rpn_224 with a norm after "
               "each part");
  close_opened(&o);
  free_model(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(guesses_are_said),
                                     cmocka_unit_test(hints_come_before_names),
                                     cmocka_unit_test(what_no_file_stores_is_said),
                                     cmocka_unit_test(wrong_facts_are_refused),
                                     cmocka_unit_test(sequential_classifiers),
                                     cmocka_unit_test(names_open_what_they_name),
                                     cmocka_unit_test(some_names_are_enough),
                                     cmocka_unit_test(wrong_names_are_refused),
                                     cmocka_unit_test(trainings_are_hints),
                                     cmocka_unit_test(trainings_tell_colours),
                                     cmocka_unit_test(trainings_that_contradict),
                                     cmocka_unit_test(trainings_that_do_not_tell),
                                     cmocka_unit_test(trainings_are_converted),
                                     cmocka_unit_test(trainings_tell_their_makers),
                                     cmocka_unit_test(names_of_several_makers_are_guesses),
                                     cmocka_unit_test(trainings_of_timm_tell_rules)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
