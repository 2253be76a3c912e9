/* Texts and numbers of messages, and attributes by name. See message_parts.h. */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/message_parts.h"

heed_status heed_onnx_read_text(heed_onnx_reader *r, const heed_onnx_field *field, const char *what,
                                const char **text, heed_error *error) {
  HEED_TRY(heed_onnx_want(&r->wire, field, HEED_ONNX_BYTES, what, error));
  const uint64_t length = field->range.end - field->range.at;
  if (length > HEED_ONNX_MOST_TEXT)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: a text of a %s is too long (found %" PRIu64
                     " bytes, expected at most %u)",
                     r->wire.where, what, length, HEED_ONNX_MOST_TEXT);
  char *copy = heed_onnx_take(r->arena, length + 1, 1);
  if (!copy) return heed_fail_memory(error, r->wire.where, (size_t)length + 1);
  HEED_TRY(heed_onnx_copy(&r->wire, field->range, copy, error));
  if (strlen(copy) != length || !heed_utf8_valid(copy, (size_t)length))
    return heed_fail(error, HEED_INVALID_FILE, "%s: a text of a %s is not UTF-8", r->wire.where,
                     what);
  *text = copy;
  return HEED_OK;
}

heed_status heed_onnx_read_number(heed_onnx_reader *r, const heed_onnx_field *field,
                                  const char *what, int64_t *number, heed_error *error) {
  HEED_TRY(heed_onnx_want(&r->wire, field, HEED_ONNX_VARINT, what, error));
  *number = (int64_t)field->value;
  return HEED_OK;
}

const heed_onnx_attribute *heed_onnx_find_attribute(const heed_onnx_node *node, const char *name) {
  for (uint32_t i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0) return &node->attributes[i];
  return NULL;
}
