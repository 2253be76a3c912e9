/* The scales of int8 tensors, and the tensors as floats by them. See checkpoint.h. */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/checkpoint.h"

heed_status heed_checkpoint_use_scales(const heed_checkpoint_tensor *tensor, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE];
  const char *file = heed_safetensors_name(tensor->file);
  heed_checkpoint_tensor *scale = tensor->scale;
  const uint32_t rows = tensor->info->shape.rank ? tensor->info->shape.dim[0] : 0;
  if (!scale)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s has no scales (found I8 alone, expected also %.*s%s)", file,
                     HEED_CUT(tensor->info->name), HEED_CUT(tensor->info->name), HEED_SCALE_SUFFIX);
  const uint64_t depth = rows ? tensor->info->count / rows : 0;
  if (scale->info->unsupported ||
      (scale->info->dtype != HEED_F32 && scale->info->dtype != HEED_F16 &&
       scale->info->dtype != HEED_BF16))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s has the wrong dtype (found %s, expected F32, F16 or BF16)",
                     file, HEED_CUT(scale->info->name), scale->info->dtype_name);
  const heed_shape *shape = &scale->info->shape; /* [rows], or [rows, groups] of equal length */
  if (shape->rank < 1 || shape->rank > 2 || shape->dim[0] != rows || scale->info->count == 0 ||
      depth % (scale->info->count / rows) != 0)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s has the wrong shape (found %s, expected [%u, 1] or [%u, "
                     "groups])",
                     file, HEED_CUT(scale->info->name), heed_shape_text(&scale->info->shape, found),
                     rows, rows);
  scale->used = true;
  return HEED_OK;
}

heed_status heed_checkpoint_scales(const heed_checkpoint_tensor *tensor, uint64_t first,
                                   uint64_t count, float *to, heed_error *error) {
  HEED_TRY(
      heed_safetensors_read(tensor->scale->file, tensor->scale->info, first, count, to, error));
  for (uint64_t i = 0; i < count; i++)
    if (!isfinite(to[i]) || to[i] <= 0.0f)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: invalid scale in row %llu of tensor %.*s (found %g, expected a finite "
                       "number above 0)",
                       heed_safetensors_name(tensor->file),
                       (unsigned long long)((first + i) / (tensor->scale->info->count /
                                                           tensor->scale->info->shape.dim[0])),
                       HEED_CUT(tensor->scale->info->name), (double)to[i]);
  return HEED_OK;
}

heed_status heed_checkpoint_read_int8(const heed_checkpoint_tensor *tensor, uint64_t first,
                                      uint64_t count, float *to, heed_error *error) {
  enum { CHUNK = 1024 };
  int8_t numbers[CHUNK];
  /* elements that share a scale: a row or a part of it */
  const uint64_t group = tensor->info->count / tensor->scale->info->count;
  uint64_t which = UINT64_MAX;
  float scale = 0.0f; /* of group `which` */
  for (uint64_t done = 0; done < count;) {
    const uint64_t part = count - done < CHUNK ? count - done : CHUNK;
    HEED_TRY(heed_safetensors_read(tensor->file, tensor->info, first + done, part, numbers, error));
    for (uint64_t i = 0; i < part; i++, done++) {
      const uint64_t at = (first + done) / group;
      if (at != which) HEED_TRY(heed_checkpoint_scales(tensor, at, 1, &scale, error));
      which = at;
      to[done] = (float)numbers[i] * scale;
    }
  }
  return HEED_OK;
}
