/* A file of tensors on disk, whichever maker's it is: the rest reads it as a .safetensors file. */
#ifndef HEED_NATIVE_FILES_WEIGHT_FILE_H
#define HEED_NATIVE_FILES_WEIGHT_FILE_H

#include "files/regular_file.h"
#include "heed/onnx.h"
#include "heed/pickle.h"

#define HEED_MOST_EXTERNAL 64 /* files that an ONNX file names */

typedef struct heed_weights {
  heed_regular regular; /* what its path points to must live as long */
  heed_pickle *pickle;  /* of a file of PyTorch, else NULL */
  heed_onnx *onnx;      /* of an ONNX file, else NULL; and the files of its external data */
  heed_regular *external;
  uint32_t external_count;
} heed_weights;

/* Opens a .safetensors file, an ONNX file or a file of PyTorch, as its first bytes say, whatever
 * its name; of PyTorch's what lies under `key`, or NULL. A file of another kind is refused;
 * `expected` ends that sentence. `source` is valid until close, which is also for a file that
 * failed or was only zeroed. Statuses: IO, INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY. */
heed_status heed_weights_open(heed_context *context, const char *path, const char *expected,
                              const char *key, heed_weights *weights, heed_source *source,
                              heed_error *error);
void heed_weights_close(heed_weights *weights);
/* Whether these are the first bytes of weights that are read; HEED_KIND_BYTES of them are enough.
 */
bool heed_weights_begin(const char *name, const void *first, size_t count);

/* What a name in a folder says of a file there. The first kind that occurs in a folder is the one
 * that is read. */
typedef enum heed_weights_kind {
  HEED_WEIGHTS_SAFETENSORS, /* *.safetensors and their index */
  HEED_WEIGHTS_SINGLE,      /* pytorch_model.bin */
  HEED_WEIGHTS_SHARDS,      /* pytorch_model-*.bin and their index */
  HEED_WEIGHTS_TORCH,       /* any other of PyTorch that may be weights */
  HEED_WEIGHTS_ONNX,        /* *.onnx, also in a folder onnx/ */
  HEED_WEIGHTS_UNNAMED,     /* whose first bytes alone say it (unnamed_weights.h) */
  HEED_WEIGHTS_NONE
} heed_weights_kind;
heed_weights_kind heed_weights_kind_of(const char *name); /* never UNNAMED */
/* What training leaves beside weights, such as optimizer.pt. */
bool heed_is_of_training(const char *name);
/* The order in which one of several ONNX files of a folder is taken, 0 first; UINT32_MAX: only
 * where it is the one. */
uint32_t heed_onnx_file_rank(const char *name);

#endif
