/* Masks of keys, as com.microsoft's attentions take them: whole numbers. See evaluate.h. */
#include <string.h>

#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

bool heed_onnx_key_mask_shape(const array *mask, uint64_t batch, uint64_t queries, uint64_t keys,
                              uint64_t dims[4]) {
  const uint64_t *of = mask->dims;
  const bool ends = mask->rank == 1 && (of[0] == batch || of[0] == 2 * batch),
             flags = mask->rank == 2 && of[0] == batch && of[1] == keys,
             rows = mask->rank == 3 && of[0] == batch && of[1] == queries && of[2] == keys;
  const uint64_t shape[] = {batch, 1, rows ? queries : 1, keys};
  memcpy(dims, shape, sizeof shape);
  return !heed_onnx_is_float(mask->type) && (ends || flags || rows);
}

/* Whether a key is attended, by flags [B, Tq|1, Tk], by its item's end, or by end and start. */
static bool is_attended(const array *mask, const uint64_t dims[4], uint64_t at) {
  const uint64_t batch = dims[0], b = at / dims[3] / dims[2];
  const int64_t key = (int64_t)(at % dims[3]);
  if (mask->rank > 1) return mask->data[at].i > 0;
  return key < mask->data[b].i && (mask->count == batch || key >= mask->data[batch + b].i);
}

void heed_onnx_fill_key_mask(const heed_onnx_call *call, const array *mask, array *to) {
  const double hidden = heed_onnx_float(call, "mask_filter_value", -10000);
  for (uint64_t i = 0; i < to->count; i++)
    heed_onnx_set(to, i, is_attended(mask, to->dims, i) ? 0 : hidden);
}
