/* Layers in chunks, as training of DINOv2 and DINOv3 saves them (block_chunks): blocks.1.7.norm1 is
 * of layer 7. A chunk begins with an Identity for each layer of the chunks before it, so the second
 * number counts over all chunks. Source: facebookresearch/dinov2, models/vision_transformer.py. */
#ifndef HEED_MODEL_FILES_CHUNKS_H
#define HEED_MODEL_FILES_CHUNKS_H

#include "model/files/safetensors.h"

typedef struct heed_chunks {
  heed_safetensors_tensor *tensors; /* those of other names */
  char *names;
} heed_chunks;

/* Puts tensors of the same data in the place of those of layers in chunks, with names without the
 * chunk: "blocks.7.norm1.weight". chunks, to be freed, owns these. where: the file, for sentences.
 * INVALID_FILE: the numbers do not go on from chunk to chunk; OUT_OF_MEMORY. */
heed_status heed_chunks_rename(const heed_context *context, const heed_safetensors_tensor **tensors,
                               uint32_t count, const char *where, heed_chunks *chunks,
                               heed_error *error);
void heed_chunks_free(const heed_context *context, heed_chunks *chunks);

#endif
