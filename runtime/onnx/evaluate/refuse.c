/* The sentence that refuses a node. See evaluate.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"
#include "base/utf8.h"
#include "onnx/evaluate/evaluate.h"

heed_status heed_onnx_refuse(heed_onnx_call *call, heed_status status, const char *why, ...) {
  char text[256];
  va_list values;
  const heed_onnx_node *node = call->node;
  const heed_onnx *file = call->evaluator->file;
  const size_t at = (size_t)(node - file->model.graph.nodes);
  va_start(values, why);
  vsnprintf(text, sizeof text, why, values);
  va_end(values);
  if (at >= file->model.graph.node_count) /* an input or output */
    return heed_fail(call->error, status, "%s: %s %.*s: %s", file->name, node->op,
                     heed_utf8_cut(node->name, 100), node->name, text);
  return heed_fail(call->error, status, "%s: node %u (%.60s %.*s): %s", file->name, (unsigned)at,
                   node->op, heed_utf8_cut(node->name, 100), node->name, text);
}
