/* The attentions of an ONNX graph: every softmax that is one. */
#ifndef HEED_ONNX_FILE_ATTENTION_FINDER_H
#define HEED_ONNX_FILE_ATTENTION_FINDER_H

#include "onnx/file/file.h"

typedef struct heed_onnx_attention {
  heed_onnx_id weights; /* the value [..., Tq, Tk] that meets the values: the softmax's, or what
                           is made of it and others; 0: one node is the attention */
  const char *scope;    /* "encoder.layer.0.attention"; of the arena of the file */
  uint32_t node;        /* of the softmax */
  bool heads_mixed;     /* what meets the values are sums over heads of these weights */
} heed_onnx_attention;

typedef struct heed_onnx_attention_list {
  heed_onnx_attention *items;
  uint32_t count;
  size_t capacity;
} heed_onnx_attention_list;

/* The shape of a map of two or three axes as [B, H, Tq, Tk]: of three the first has the heads of
 * each item of a batch, where it fits. Others stay as they are, which false says. */
bool heed_onnx_map_shape(uint64_t batch, uint32_t rank, const uint64_t *dims, uint64_t whole[4]);
/* In the order of the nodes. Statuses: OUT_OF_MEMORY. */
heed_status heed_onnx_find_attentions(const heed_onnx *file, heed_onnx_attention_list *list,
                                      heed_error *error);
void heed_onnx_attention_list_free(const heed_onnx *file, heed_onnx_attention_list *list);

#endif
