/* The weights of a model as one table of tensors, whether they lie in one safetensors file or in
 * the shards of an index. */
#ifndef HEED_MODEL_FILES_CHECKPOINT_H
#define HEED_MODEL_FILES_CHECKPOINT_H

#include "heed/model.h"
#include "model/files/safetensors.h"

typedef struct heed_checkpoint_tensor {
  const heed_safetensors_tensor *info;
  const heed_safetensors *file;
  bool used; /* something asked for it with heed_checkpoint_need */
  /* what it is for (heed_role_pattern), or NULL; a fused tensor has the first of its parts */
  const char *role;
  uint32_t layer;
  struct heed_checkpoint_tensor
      *next_head;                       /* the tensor of the next head, where each has its own */
  struct heed_checkpoint_tensor *scale; /* of an I8 tensor (model/vit/int8_weights.h); NULL: none */
} heed_checkpoint_tensor;

typedef struct heed_checkpoint heed_checkpoint;

/* Opens, of `files`: model.safetensors or pytorch_model.bin; or the shards that the index of either
 * names; or the only *.safetensors, *.bin, *.pth, *.pt or *.ckpt. All are safetensors by content.
 * Owns the parsed headers, borrows what the sources point to. Statuses: INVALID_FILE, UNSUPPORTED,
 * IO, OUT_OF_MEMORY. */
heed_status heed_checkpoint_open(const heed_context *context, const heed_model_file *files,
                                 uint32_t file_count, heed_checkpoint **checkpoint,
                                 heed_error *error);
void heed_checkpoint_destroy(heed_checkpoint *checkpoint);

/* The file that sentences about the whole name. */
const char *heed_checkpoint_name(const heed_checkpoint *checkpoint);
/* Tensors in the order of the files. */
uint32_t heed_checkpoint_count(const heed_checkpoint *checkpoint);
const heed_checkpoint_tensor *heed_checkpoint_get(const heed_checkpoint *checkpoint,
                                                  uint32_t index);
/* The tensor of this name, or NULL. */
heed_checkpoint_tensor *heed_checkpoint_find(const heed_checkpoint *checkpoint, const char *name);

/* The entry of this index in the metadata of its first file; false after the last. */
bool heed_checkpoint_metadata(const heed_checkpoint *checkpoint, uint32_t index, const char **key,
                              const char **text);

/* Whether a tensor's name begins with the text. */
bool heed_checkpoint_begins(const heed_checkpoint *checkpoint, const char *text, size_t length);

/* Marks the tensor as used when its elements are floats and its shape is the expected one.
 * Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_checkpoint_use(heed_checkpoint_tensor *tensor, const heed_shape *expected,
                                heed_error *error);
/* The tensor of this name, used; INVALID_FILE when it is missing. */
heed_status heed_checkpoint_need(heed_checkpoint *checkpoint, const char *name,
                                 const heed_shape *expected, heed_checkpoint_tensor **tensor,
                                 heed_error *error);

/* Elements [first, first + count) as float. INVALID_FILE: one of them is NaN or infinite, since
 * results would then be no numbers. */
heed_status heed_checkpoint_read(const heed_checkpoint_tensor *tensor, uint64_t first,
                                 uint64_t count, float *to, heed_error *error);

/* ---- tensors in int8 and their scales: int8_scales.c */

#define HEED_SCALE_SUFFIX "_scale"

/* Whether the scales of an I8 tensor are there and fit; marks them as used. Statuses: INVALID_FILE,
 * UNSUPPORTED. */
heed_status heed_checkpoint_use_scales(const heed_checkpoint_tensor *tensor, heed_error *error);
/* The scales of rows [first, first + count): finite and above 0, else INVALID_FILE. */
heed_status heed_checkpoint_scales(const heed_checkpoint_tensor *tensor, uint64_t first,
                                   uint64_t count, float *to, heed_error *error);
/* Elements [first, first + count) of an I8 tensor as floats: stored number times scale. */
heed_status heed_checkpoint_read_int8(const heed_checkpoint_tensor *tensor, uint64_t first,
                                      uint64_t count, float *to, heed_error *error);

typedef struct heed_checkpoint_totals {
  uint64_t elements, bytes; /* of the used tensors; scales are no elements */
  uint32_t used, unused;
} heed_checkpoint_totals;
void heed_checkpoint_total(const heed_checkpoint *checkpoint, heed_checkpoint_totals *totals);
/* What the public functions tell of a tensor. */
void heed_checkpoint_describe(const heed_checkpoint *checkpoint, uint32_t index,
                              heed_tensor_info *info);

#endif
