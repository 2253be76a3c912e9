/* EXPERIMENTAL: all of this header may change. ONNX files (.onnx) for heed_model_open: a library of
 * its own beside the core (CMake heed::onnx). docs/onnx.md says what it reads and how it finds the
 * names of weights. */
#ifndef HEED_ONNX_H
#define HEED_ONNX_H

#include "heed/heed.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_onnx heed_onnx;

/* Whether a file begins as one of ONNX does. `count` bytes of its start are given; 16 are enough.
 */
HEED_API bool heed_onnx_begins(const void *bytes, size_t count);

/* Opens a file of weights that an ONNX file names, such as "model.onnx_data": `location` as it
 * stands in the file, which may be anything. Sets *source, valid until heed_onnx_destroy. */
typedef heed_status (*heed_onnx_external)(void *user, const char *location, heed_source *source,
                                          heed_error *error);

typedef struct heed_onnx_desc {
  size_t struct_size;
  heed_source source;          /* of the file; what it points to is borrowed */
  const char *name;            /* of the file, for sentences; copied */
  heed_onnx_external external; /* NULL: a file with external data is refused */
  void *user;
} heed_onnx_desc;

/* Reads the graph of an ONNX file, not its weights, and finds the name that each weight had where
 * the model was traced. Borrows context. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED,
 * OUT_OF_MEMORY, IO, what `external` returns. */
HEED_NODISCARD HEED_API heed_status heed_onnx_open(heed_context *context,
                                                   const heed_onnx_desc *desc, heed_onnx **file,
                                                   heed_error *error);
HEED_API void heed_onnx_destroy(heed_onnx *file);

/* The named weights as the bytes of a .safetensors file, made as they are read: the source of a
 * heed_model_file. Matrices of linear maps are turned to [out, in], and quantised weights are
 * dequantised to F32. A read may be made from several threads when the sources may. Valid as long
 * as the file. */
HEED_API heed_source heed_onnx_source(heed_onnx *file);

/* What the file is, in one line: "opset 17 by pytorch 1.13.1, 165 nodes; 8 of 200 weights
 * dequantised". Valid as long as the file. */
HEED_API const char *heed_onnx_summary(const heed_onnx *file);

#ifdef __cplusplus
}
#endif

#endif
