/* A family claims a file by what no other family has: every family's file without its config is its
 * own, or what is taken is said, or it is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/vit/role.h"
#include "support/test_context.h"
#include "support/weights.h"

/* Of files that never have a config: those whose folder is not called by their family. */
static const struct {
  const char *folder;
  const heed_family *family;
} bare[] = {{"dinov3_timm_gated", &heed_family_dinov3_original},
            {"eupe", &heed_family_dinov3_original},
            {"deit3_original", &heed_family_timm},
            {"beit_original", &heed_family_timm}};

static const struct {
  const char *name;
  const heed_family *family;
} families[] = {
#define HEED_FAMILY(name) {#name, &heed_family_##name},
#include "model/families/family_list.h"
#undef HEED_FAMILY
};

/* The family that a folder is called by, the longest name that fits; NULL: by none. */
static const heed_family *family_of_folder(const char *folder) {
  const heed_family *found = NULL;
  size_t longest = 0;
  for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
    if (strcmp(bare[i].folder, folder) == 0) return bare[i].family;
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    const size_t length = strlen(families[i].name);
    if (length <= longest || strncmp(folder, families[i].name, length) != 0) continue;
    if (folder[length] != '\0' && folder[length] != '_') continue;
    found = families[i].family;
    longest = length;
  }
  return found;
}

typedef struct subject {
  const char *folder;
  unsigned char *weights, *text;
  heed_model_file files[2];
  const heed_family *family; /* whose file it is */
} subject;

typedef struct found {
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions dims;
} found;

/* What heed makes of the first `count` files. */
static heed_status detect(const subject *s, uint32_t count, found *f) {
  *f = (found){0};
  heed_status status =
      heed_config_open(context, s->files, count, HEED_TOWER_VISION, &f->config, &error);
  if (status == HEED_OK)
    status = heed_checkpoint_open(context, s->files, count, &f->checkpoint, &error);
  if (status == HEED_OK) status = heed_roles_detect(f->checkpoint, f->config, &f->roles, &error);
  if (status == HEED_OK) status = heed_roles_dimensions(&f->roles, f->config, &f->dims, &error);
  return status;
}

static void forget(found *f) {
  heed_checkpoint_destroy(f->checkpoint);
  heed_config_destroy(f->config);
}

static void open_subject(subject *s, const char *folder, const char *config) {
  char path[96];
  size_t size;
  *s = (subject){.folder = folder};
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  s->weights = test_read_vector(path, &size);
  s->files[0] = (heed_model_file){"model.safetensors", test_source(s->weights, size)};
  if (!config) {
    s->family = family_of_folder(folder);
    if (!s->family) fail_msg("%s: add its family to the table of this test", folder);
    return;
  }
  snprintf(path, sizeof path, "vit/%s/%s", folder, config);
  s->text = test_read_vector(path, &size);
  s->files[1] = (heed_model_file){config, test_source(s->text, size)};
  found f;
  if (detect(s, 2, &f) != HEED_OK) fail_msg("%s: %s", folder, error.message);
  s->family = f.roles.family;
  if (s->family != f.config->family && f.config->json)
    fail_msg("%s: its config is not followed", folder);
  forget(&f);
}

static void close_subject(subject *s) {
  free(s->weights);
  free(s->text);
}

/* The first of a family's marks that the file has; false: none. */
static bool find_mark(const found *f, const char *marks, char name[64]) {
  for (const char *at = marks; at && *at; at += strcspn(at, "|"), at += *at == '|') {
    snprintf(name, 64, "%.*s", (int)strcspn(at, "|:"), at);
    const heed_checkpoint_tensor *tensor = heed_roles_named(&f->roles, name);
    const char *axes = at + strcspn(at, "|:");
    if (tensor && (*axes != ':' || tensor->info->shape.rank == (uint32_t)(axes[1] - '0')))
      return true;
  }
  return false;
}

/* The marks of `other` that the file has, which are then not its alone. */
static void check_marks(const subject *s, const found *f, const heed_family *other) {
  if (other == s->family || other->names != f->roles.names || other->tower != f->roles.tower)
    return;
  if ((f->roles.groups & other->has) != other->has || f->roles.groups & other->lacks) return;
  char name[64];
  if (!find_mark(f, other->excludes, name) && find_mark(f, other->marks, name))
    fail_msg("%s: tensor %s makes a file one of %s, but this is one of %s", s->folder, name,
             other->name, s->family->name);
}

/* Its own family, whose numbers nothing but tensors tells, or a word, or a refusal. */
static void check_without_config(const subject *s) {
  found f;
  const heed_status status = detect(s, 1, &f);
  if (status == HEED_OK) {
    for (uint32_t i = 0; heed_family_get(i); i++) check_marks(s, &f, heed_family_get(i));
    const bool said = f.roles.assumption || f.dims.activation_guessed;
    if (f.roles.family != s->family && !said)
      fail_msg("%s: without a config it is %s in silence (expected %s)", s->folder,
               f.roles.family->name, s->family->name);
  } else if (status == HEED_INTERNAL || strlen(error.message) < 20)
    fail_msg("%s: the sentence is %s", s->folder, error.message);
  forget(&f);
}

static void each_file_without_its_config(void **state) {
  (void)state;
#define VIT_VECTOR(folder, config)     \
  {                                    \
    subject s;                         \
    open_subject(&s, #folder, config); \
    check_without_config(&s);          \
    close_subject(&s);                 \
  }
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR
}

/* No tensor marks two families that can have the same names. */
static void marks_of_pairs(void **state) {
  (void)state;
  const heed_family *a, *b;
  for (uint32_t i = 0; (a = heed_family_get(i)); i++)
    for (uint32_t j = i + 1; (b = heed_family_get(j)); j++) {
      if (a->names != b->names || a->tower != b->tower || !a->marks || !b->marks) continue;
      if (a->has & b->lacks || b->has & a->lacks) continue; /* no file is of both */
      for (const char *at = a->marks; *at; at += strcspn(at, "|"), at += *at == '|') {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|:"), at);
        if (strstr(b->marks, name)) fail_msg("%s marks %s and %s", name, a->name, b->name);
      }
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_file_without_its_config),
                                     cmocka_unit_test(marks_of_pairs)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
