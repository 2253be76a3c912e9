/* Every family's vectors with one thing changed: a tensor dropped, misspelt or added, a number or a
 * key of the config changed. Each is a refusal with a sentence, or every output that is left has
 * the same bits, or its rules or what is assumed are others, which heed reports: nothing is guessed
 * in silence. */
#include <ctype.h>

#include "support/changed_model.h"

/* what: the change, in words. */
static void check(subject *s, const heed_safetensors_item *items, uint32_t count,
                  const char *config, const char *what, const char *changed) {
  outputs found = {{NULL}, {0}, ""};
  const heed_status status = run_files(s, items, count, config, &found);
  const char *wrong = NULL;
  if (status != HEED_OK) {
    s->refused++;
    if (status == HEED_INTERNAL || status == HEED_OUT_OF_MEMORY || strlen(error.message) < 20)
      wrong = error.message;
  }
  const bool said = strcmp(found.said, s->expected.said) != 0;
  for (int i = 0; i < OUTPUTS && status == HEED_OK; i++) {
    const outputs *e = &s->expected;
    if (found.data[i] && (!e->data[i] || e->bytes[i] != found.bytes[i] ||
                          memcmp(e->data[i], found.data[i], found.bytes[i]) != 0))
      wrong = output_names[i];
  }
  if (status == HEED_OK && wrong && said) {
    s->said++;
    wrong = NULL;
  } else if (status == HEED_OK)
    s->same++;
  if (wrong) {
    print_error("%s: %s %s: %s %s\n", s->folder, what, changed,
                status == HEED_OK ? "another" : "the sentence is", wrong);
    s->wrong++;
  }
  free_outputs(&found);
}

static void change_tensors(subject *s) {
  heed_safetensors_item items[MOST];
  char name[NAME];
  for (uint32_t i = 0; i < s->count; i++) {
    memcpy(items, s->items, sizeof items);
    memmove(&items[i], &items[i + 1], (MOST - i - 1) * sizeof *items);
    check(s, items, s->count - 1, s->config, "without", s->names[i]);
    for (size_t part = 0; part < 3; part++) {
      const size_t length = strlen(s->names[i]), at = part * (length - 1) / 2;
      memcpy(items, s->items, sizeof items);
      assert_true(snprintf(name, sizeof name, "%s", s->names[i]) < (int)sizeof name);
      name[at] = name[at] == 'x' ? 'y' : 'x';
      items[i].name = name;
      check(s, items, s->count, s->config, "misspelt", name);
    }
    memcpy(items, s->items, sizeof items);
    snprintf(name, sizeof name, "%.*sx%s", (int)(strlen(s->names[i]) / 2), s->names[i],
             s->names[i] + strlen(s->names[i]) / 2);
    items[s->count] = items[i];
    items[s->count].name = name;
    check(s, items, s->count + 1, s->config, "with", name);
  }
}

/* Facts that no tensor tells: the model follows them, as its library does. */
static bool is_followed(const char *key) {
  static const char *const keys[] = {
      "layer_norm_eps", "hidden_act", "num_attention_heads", "heads",       "num_heads",
      "head_width",     "quick_gelu", "model_type",          "global_pool", "attn_pool_num_heads"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

static void change_config(subject *s) {
  char config[2 * CONFIG], key[64];
  for (char *at = s->config; (at = strchr(at, '"')); at++) {
    const size_t length = strcspn(at + 1, "\"");
    char *after = at + length + 2, *value = after + strspn(after, " :");
    snprintf(key, sizeof key, "%.*s", (int)length, at + 1);
    if (value != after && !is_followed(key)) {
      snprintf(config, sizeof config, "%.*sx%s", (int)(at + 1 - s->config), s->config, at + 1);
      check(s, s->items, s->count, config, "misspelt key", key);
      if (isdigit((unsigned char)*value)) {
        static const char *const numbers[] = {"0",  "1",    "3",     "8",   "97",
                                              "-4", "1e99", "\"a\"", "null"};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
          snprintf(config, sizeof config, "%.*s%s%s", (int)(value - s->config), s->config,
                   numbers[i], value + strspn(value, "0123456789.e-"));
          check(s, s->items, s->count, config, numbers[i], key);
        }
      }
    }
    at += length + 1;
  }
}

static void check_folder(const char *folder, const char *config_name) {
  static subject s;
  open_subject(&s, folder, config_name);
  change_tensors(&s);
  if (config_name) change_config(&s);
  printf("%s: %u refused, %u with the same bits, %u reported\n", folder, s.refused, s.same, s.said);
  const uint32_t wrong = s.wrong, refused = s.refused;
  close_subject(&s);
  assert_true(refused > 40);
  assert_int_equal(wrong, 0);
}

#define VIT_VECTOR(folder, config)          \
  static void test_##folder(void **state) { \
    (void)state;                            \
    check_folder(#folder, config);          \
  }
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR

/* A layer scale of ones is none. */
static void layer_scale_of_ones(void **state) {
  (void)state;
  static subject s;
  static const char *const names[] = {"blocks.0.ls1.gamma", "blocks.0.ls2.gamma",
                                      "blocks.1.ls1.gamma", "blocks.1.ls2.gamma"};
  float ones[64];
  outputs found = {{NULL}, {0}, ""};
  for (int i = 0; i < 64; i++) ones[i] = 1.0f;
  open_subject(&s, "timm", "config.json");
  const heed_shape shape = {1, {heed_safetensors_find(s.file, "norm.weight")->shape.dim[0]}};
  for (int i = 0; i < 4; i++)
    s.items[s.count++] = (heed_safetensors_item){names[i], HEED_F32, shape, ones};
  assert_ok(run_files(&s, s.items, s.count, s.config, &found));
  for (int i = 0; i < OUTPUTS; i++) {
    assert_int_equal(found.bytes[i], s.expected.bytes[i]);
    if (found.data[i]) assert_memory_equal(found.data[i], s.expected.data[i], found.bytes[i]);
  }
  free_outputs(&found);
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define VIT_VECTOR(folder, config) cmocka_unit_test(test_##folder),
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR
      cmocka_unit_test(layer_scale_of_ones),
  };
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
