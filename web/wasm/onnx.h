/* An ONNX file that is open: its weights, and its graph where it is on heed's own ops. */
#ifndef HEED_WEB_WASM_ONNX_H
#define HEED_WEB_WASM_ONNX_H

#include "heed/onnx.h"
#include "onnx/vision/vision.h"
#include "shim.h"

struct heed_web_onnx {
  heed_web_reader base; /* its weights as a .safetensors file */
  heed_onnx *file;
  heed_onnx_lowered *lowered; /* or NULL */
  heed_vision facts;          /* of it; all 0 where the inputs were given */
  uint32_t stage;             /* whose layers those are, from 1 on; 0: of the first */
  heed_error refused;         /* why it is no vision transformer, or HEED_OK */
  char assumed[400];          /* of its graph as a model, or "" */
  char in_double[200];        /* what of the lowered graph has no kernel, or "" */
  char note[512];
};

#endif
