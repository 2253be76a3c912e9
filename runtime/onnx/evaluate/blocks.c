/* DepthToSpace and SpaceToDepth: squares of an image as channels, and back. See evaluate.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

heed_status heed_onnx_read_blocks(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  heed_onnx_blocks *to) {
  static const uint32_t orders[3][6] = {{0, 3, 4, 1, 5, 2}, {0, 1, 4, 2, 5, 3}, {0, 3, 5, 1, 2, 4}};
  const bool packs = strcmp(call->node->op, "SpaceToDepth") == 0,
             channels_first = strcmp(heed_onnx_text(call, "mode", "DCR"), "CRD") == 0;
  const int64_t side = heed_onnx_integer(call, "blocksize", 0);
  if (rank != 4 || side < 1 || side > INT32_MAX)
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "invalid blocks (found %u axes and a side of %lld)", rank,
                            (long long)side);
  const uint64_t b = (uint64_t)side, c = dims[1] / b / b;
  if (packs ? dims[2] % b || dims[3] % b : dims[1] != c * b * b)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "a side of %lld does not divide its input",
                            (long long)side);
  const uint64_t six[3][6] = {{dims[0], b, b, c, dims[2], dims[3]},
                              {dims[0], c, b, b, dims[2], dims[3]},
                              {dims[0], dims[1], dims[2] / b, b, dims[3] / b, b}},
                 out[2][4] = {{dims[0], c, dims[2] * b, dims[3] * b},
                              {dims[0], dims[1] * b * b, dims[2] / b, dims[3] / b}};
  const uint32_t kind = packs ? 2 : channels_first ? 1 : 0;
  memcpy(to->six, six[kind], sizeof to->six);
  memcpy(to->order, orders[kind], sizeof to->order);
  memcpy(to->out, out[packs], sizeof to->out);
  return HEED_OK;
}

static heed_status run_blocks(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_blocks blocks;
  uint64_t stride[6], step = 1;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_blocks(call, x->rank, x->dims, &blocks));
  HEED_TRY(heed_onnx_output(call, 0, x->type, 4, blocks.out));
  for (uint32_t i = 6; i-- > 0; step *= blocks.six[i]) stride[i] = step;
  for (uint64_t i = 0; i < x->count; i++) {
    uint64_t from = 0, rest = i;
    for (uint32_t k = 6; k-- > 0; rest /= blocks.six[blocks.order[k]])
      from += rest % blocks.six[blocks.order[k]] * stride[blocks.order[k]];
    call->out[0]->data[i] = x->data[from];
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_squares[] = {
    {"DepthToSpace", run_blocks, 0}, {"SpaceToDepth", run_blocks, 0}, {NULL, NULL, 0}};
