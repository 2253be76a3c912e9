/* The reader of messages, in parts: model_message.c the graph, tensor_message.c its tensors. */
#ifndef HEED_ONNX_FILE_MESSAGE_PARTS_H
#define HEED_ONNX_FILE_MESSAGE_PARTS_H

#include "onnx/file/message.h"
#include "onnx/file/wire.h"

#define HEED_ONNX_MOST 1000000u       /* of one repeated field */
#define HEED_ONNX_MOST_TEXT 65535u    /* bytes of a name */
#define HEED_ONNX_MOST_OPSETS 256u    /* domains of a model */
#define HEED_ONNX_MOST_ATTRIBUTES 64u /* of a node */

typedef struct heed_onnx_reader {
  heed_onnx_wire wire;
  heed_onnx_arena *arena;
  uint32_t depth; /* of graphs inside attributes */
} heed_onnx_reader;

/* How often each field number below `numbers` occurs in a message. Statuses: INVALID_FILE,
 * UNSUPPORTED (more than HEED_ONNX_MOST). */
heed_status heed_onnx_count_fields(heed_onnx_reader *r, heed_onnx_range range, uint32_t counts[],
                                   uint32_t numbers, heed_error *error);
/* A field as a text of UTF-8, or as a number; `what` names the message. */
heed_status heed_onnx_read_text(heed_onnx_reader *r, const heed_onnx_field *field, const char *what,
                                const char **text, heed_error *error);
heed_status heed_onnx_read_number(heed_onnx_reader *r, const heed_onnx_field *field,
                                  const char *what, int64_t *number, heed_error *error);

heed_status heed_onnx_read_graph(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_graph *graph,
                                 heed_error *error);
heed_status heed_onnx_read_tensor(heed_onnx_reader *r, heed_onnx_range range,
                                  heed_onnx_tensor *tensor, heed_error *error);

#endif
