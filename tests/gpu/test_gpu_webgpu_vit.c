/* Whole ViTs on a WebGPU device against float64 results: outputs, and the maps of all layers. */
#include <math.h>

#include "pipe_backend.h"
#include "support/opened_vit.h"

#define TOLERANCE 1e-4

static double worst;

/* Every element of a value is within TOLERANCE (1 + its size) of the file's. */
static void compare(const vit *v, const char *folder, const char *name,
                    const heed_safetensors_tensor *tensor) {
  heed_error error;
  uint64_t count;
  float *found = read_value(v, name, &count), *want = malloc((size_t)tensor->bytes);
  assert_true(count == tensor->count);
  assert_ok(heed_safetensors_read(v->io, tensor, 0, count, want, &error));
  for (uint64_t i = 0; i < count; i++) {
    const double expected = (double)want[i],
                 off = fabs((double)found[i] - expected) / (1.0 + fabs(expected));
    if (!(off <= TOLERANCE))
      fail_msg("%s: %s[%llu]: found %g, expected %g", folder, name, (unsigned long long)i,
               (double)found[i], expected);
    if (off > worst) worst = off;
  }
  free(found);
  free(want);
}

static void check(const char *folder, const char *config) {
  vit_files files;
  vit v = {0};
  heed_error error;
  uint32_t checked = 0;
  load_run(&files, folder, config, "io");
  const heed_build_desc build = run_sizes(&files);
  assert_ok(heed_context_create(NULL, &v.context, &error));
  assert_ok(pipe_backend_create(v.context, &(pipe_options){0}, &v.backend, &error));
  assert_ok(open_vit_on(&v, &files, &build, NULL, &error));
  for (uint32_t i = 0; i < heed_safetensors_count(v.io); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(v.io, i);
    const char *expected = tensor->name + strlen("expect.");
    char name[80];
    if (strncmp(tensor->name, "expect.", 7) != 0 || strcmp(expected, "rollout") == 0) continue;
    if (strncmp(expected, "attention.", 10) == 0)
      snprintf(name, sizeof name, "layer.%s.attention.weights", expected + 10);
    else
      snprintf(name, sizeof name, "%s", expected);
    compare(&v, folder, name, tensor);
    checked++;
  }
  assert_true(checked > 1);
  close_vit(&v);
  free_files(&files);
}

static void every_folder_is_right(void **state) {
  (void)state;
  static const struct {
    const char *folder, *config;
  } vectors[] = {
      {"micro_32", "config.json"},
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
  };
  const size_t count = sizeof vectors / sizeof *vectors;
  for (size_t i = 0; i < count; i++) check(vectors[i].folder, vectors[i].config);
  print_message("%zu folders, largest error %.3g\n", count, worst);
}

int main(void) {
  char why[512];
  if (!pipe_backend_start(why, sizeof why)) {
    printf("skipped: %s\n", why);
    pipe_backend_stop();
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_folder_is_right)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  pipe_backend_stop();
  return failed;
}
