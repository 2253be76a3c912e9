/* An ONNX file that is open: its messages, the files of its weights, its names. */
#ifndef HEED_ONNX_FILE_FILE_H
#define HEED_ONNX_FILE_FILE_H

#include "heed/onnx.h"
#include "model/files/virtual_file.h"
#include "onnx/file/message.h"
#include "onnx/file/weights.h"

#define HEED_ONNX_MOST_FILES 64 /* of external data */

/* What makes a value of the graph. */
typedef struct heed_onnx_maker {
  const char *name;
  const heed_onnx_tensor *tensor; /* of an initializer; or */
  const heed_onnx_node *node;     /* or, both NULL, an input of the graph */
  uint32_t node_index, output;
} heed_onnx_maker;

typedef struct heed_onnx_file_of {
  const char *location;
  heed_source source;
} heed_onnx_file_of;

struct heed_onnx {
  const heed_context *context; /* while it is opened, the one of its budget */
  heed_source source;
  char *name;
  heed_onnx_arena arena;
  heed_onnx_model model;
  heed_onnx_maker *makers; /* [maker_count], by heed_onnx_id; from 1 on by name */
  uint32_t maker_count;
  const heed_onnx_value **takes; /* [take_count]: inputs of the graph without an initializer */
  uint32_t take_count;
  uint32_t *missing; /* [missing_count]: of each op that heed has not, its first node */
  uint32_t missing_count;
  heed_onnx_file_of *externals;
  uint32_t external_count;
  heed_onnx_weight *weights;
  uint32_t weight_count;
  size_t weight_room;
  heed_assembled made;
  struct heed_onnx_attention_list *attentions;
  uint64_t batch;       /* of the first input of the graph that this is a part of; 0: it is whole */
  uint64_t input_bytes; /* the inputs of that graph, which limits grow with; 0: it is whole */
  char summary[256];
};

/* onnx/file/index.c: fills makers, and looks all names up: from here on a value is a number, and
 * one that is left out has no maker. Every value has one maker, and every input of a node comes
 * from an earlier one. Statuses: INVALID_FILE, OUT_OF_MEMORY. */
heed_status heed_onnx_index(heed_onnx *file, heed_error *error);
/* The node that makes a value, where it has this type; or NULL. */
const heed_onnx_node *heed_onnx_node_of(const heed_onnx *file, heed_onnx_id value, const char *op);
/* The value's tensor, through Identity and a Constant node; or NULL. */
const heed_onnx_tensor *heed_onnx_tensor_of(const heed_onnx *file, heed_onnx_id value);

/* onnx/evaluate/evaluate.c: finds the op of each node, and fills missing. Statuses: OUT_OF_MEMORY.
 */
heed_status heed_onnx_find_missing(heed_onnx *file, heed_error *error);
/* onnx/file/names.c: fills weights. Statuses: INVALID_FILE, OUT_OF_MEMORY, those of the sources. */
heed_status heed_onnx_find_names(heed_onnx *file, heed_error *error);

/* onnx/file/dequantise.c. Whether its bytes are those of the file. */
bool heed_onnx_weight_is_plain(const heed_onnx_weight *weight);
/* Checks shapes, reads scales and zero points, sets rank and dims. Statuses: INVALID_FILE,
 * UNSUPPORTED, OUT_OF_MEMORY, those of the sources. */
heed_status heed_onnx_weight_prepare(heed_onnx *file, heed_onnx_weight *weight, heed_error *error);
/* Bytes of the weight as heed_onnx_source has it: as stored, or as floats. */
uint64_t heed_onnx_weight_bytes(const heed_onnx_weight *weight);
heed_status heed_onnx_weight_read(const heed_onnx *file, const heed_onnx_weight *weight,
                                  uint64_t offset, void *to, size_t count, heed_error *error);

/* Its elements [first, first + count) as floats, in the order of the weight's shape. */
heed_status heed_onnx_weight_floats(const heed_onnx *file, const heed_onnx_weight *weight,
                                    uint64_t first, uint64_t count, float *to, heed_error *error);

/* onnx/file/elements.c: elements [first, first + count) of a tensor, which has them and whose type
 * is one that is read, as floats. Statuses: INVALID_FILE, those of the sources. */
heed_status heed_onnx_read_floats(const heed_onnx *file, const heed_onnx_tensor *tensor,
                                  uint64_t first, uint64_t count, float *to, heed_error *error);
/* Bytes of a tensor as they are stored. */
heed_status heed_onnx_read_bytes(const heed_onnx *file, const heed_onnx_tensor *tensor,
                                 uint64_t offset, void *to, size_t count, heed_error *error);

#endif
