/* See judged.h. */
#include "explain/methods/judged.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

heed_status heed_judged_check(const heed_explain_run *run, const heed_pass *pass, const char *name,
                              bool pixels, const char *what, heed_error *error) {
  const heed_named_tensor *tensor = heed_explain_find(run, name);
  const heed_shape expected = pixels ? HEED_SHAPE(pass->batch, pass->height, pass->width)
                                     : HEED_SHAPE(pass->batch, pass->rows * pass->columns);
  char found[HEED_SHAPE_TEXT_SIZE], wanted[HEED_SHAPE_TEXT_SIZE];
  if (!tensor)
    return heed_fail(error, HEED_INVALID_FILE, "%s: missing tensor %s (expected %s)", what, name,
                     heed_shape_text(&expected, wanted));
  if (heed_shape_equal(&tensor->shape, &expected)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit pixel_values (found %s, expected "
                   "%s)",
                   what, name, heed_shape_text(&tensor->shape, found),
                   heed_shape_text(&expected, wanted));
}

heed_status heed_judged_check_pixels(const heed_explain_run *run, const heed_pass *pass,
                                     const char *what, heed_error *error) {
  const bool pixels =
      heed_explain_find(run, "judge.pixels") || !heed_explain_find(run, "judge.map");
  return heed_judged_check(run, pass, pixels ? "judge.pixels" : "judge.map", pixels, what, error);
}

void *heed_judged_room(const heed_explain_run *run, size_t count, size_t size, heed_error *error) {
  void *made = heed_alloc_raw(run->context, count, size);
  if (!made) (void)heed_fail_memory(error, "explain", count * size);
  return made;
}

/* The patches' numbers in their pixels. */
static void spread(const heed_explain_run *run, const float *map, float *pixels) {
  const heed_pass *pass = &run->pass;
  const uint32_t patch = run->info.patch;
  for (uint32_t b = 0; b < pass->batch; b++, map += (size_t)pass->rows * pass->columns)
    for (uint32_t y = 0; y < pass->height; y++)
      for (uint32_t x = 0; x < pass->width; x++)
        *pixels++ = y / patch < pass->rows && x / patch < pass->columns
                        ? map[(size_t)(y / patch) * pass->columns + x / patch]
                        : NAN;
}

float *heed_judged_pixels(const heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *pixels = heed_explain_find(run, "judge.pixels");
  const size_t count = (size_t)run->pass.batch * run->pass.height * run->pass.width;
  float *made = heed_judged_room(run, count, sizeof *made, error);
  if (made && pixels) memcpy(made, pixels->data, count * sizeof *made);
  if (made && !pixels) spread(run, heed_explain_find(run, "judge.map")->data, made);
  return made;
}

float *heed_judged_add(heed_explain_run *run, const char *name, uint32_t columns,
                       heed_error *error) {
  const heed_shape shape =
      columns ? HEED_SHAPE(run->pass.batch, columns) : HEED_SHAPE(run->pass.batch);
  return heed_explain_add(run, name, HEED_F32, &shape, error);
}
