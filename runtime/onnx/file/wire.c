/* The wire form of protocol buffers. See wire.h. */
#include "onnx/file/wire.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "model/files/source.h"

static heed_status fill(heed_onnx_wire *wire, uint64_t at, heed_error *error) {
  const uint64_t left = wire->source->size - at;
  const uint32_t count = left < sizeof wire->buffer ? (uint32_t)left : sizeof wire->buffer;
  wire->held = 0;
  HEED_TRY(heed_source_read(wire->source, wire->where, at, wire->buffer, count, error));
  wire->held_at = at;
  wire->held = count;
  return HEED_OK;
}

static heed_status take_byte(heed_onnx_wire *wire, heed_onnx_range *range, unsigned char *byte,
                             heed_error *error) {
  if (range->at >= range->end)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: byte %" PRIu64 ": a message ends inside a field (expected more bytes)",
                     wire->where, range->at);
  if (range->at < wire->held_at || range->at - wire->held_at >= wire->held)
    HEED_TRY(fill(wire, range->at, error));
  *byte = wire->buffer[range->at++ - wire->held_at];
  return HEED_OK;
}

static heed_status take_varint(heed_onnx_wire *wire, heed_onnx_range *range, uint64_t *number,
                               heed_error *error) {
  const uint64_t begin = range->at;
  *number = 0;
  for (uint32_t shift = 0;; shift += 7) {
    unsigned char byte = 0;
    HEED_TRY(take_byte(wire, range, &byte, error));
    if (shift == 63 && byte > 1) break; /* so that shift stays below 64 */
    *number |= (uint64_t)(byte & 0x7F) << shift;
    if (!(byte & 0x80)) return HEED_OK;
  }
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: byte %" PRIu64 ": invalid number (found more than 64 bits)", wire->where,
                   begin);
}

static heed_status take_fixed(heed_onnx_wire *wire, heed_onnx_range *range, uint32_t bytes,
                              uint64_t *number, heed_error *error) {
  *number = 0;
  for (uint32_t i = 0; i < bytes; i++) {
    unsigned char byte = 0;
    HEED_TRY(take_byte(wire, range, &byte, error));
    *number |= (uint64_t)byte << 8 * i;
  }
  return HEED_OK;
}

static heed_status take_number(heed_onnx_wire *wire, heed_onnx_range *range,
                               heed_onnx_wire_type type, uint64_t *number, heed_error *error) {
  return type == HEED_ONNX_VARINT
             ? take_varint(wire, range, number, error)
             : take_fixed(wire, range, type == HEED_ONNX_FIXED32 ? 4 : 8, number, error);
}

static heed_status take_range(heed_onnx_wire *wire, heed_onnx_range *range, heed_onnx_range *inner,
                              heed_error *error) {
  uint64_t length;
  HEED_TRY(take_varint(wire, range, &length, error));
  if (length > range->end - range->at)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: byte %" PRIu64 ": a field is longer than its message (found %" PRIu64
                     " bytes, expected at most %" PRIu64 ")",
                     wire->where, range->at, length, range->end - range->at);
  *inner = (heed_onnx_range){range->at, range->at + length};
  range->at = inner->end;
  return HEED_OK;
}

heed_status heed_onnx_next(heed_onnx_wire *wire, heed_onnx_range *range, heed_onnx_field *field,
                           heed_error *error) {
  const uint64_t begin = range->at;
  uint64_t tag;
  *field = (heed_onnx_field){0};
  if (range->at == range->end) return HEED_OK;
  HEED_TRY(take_varint(wire, range, &tag, error));
  const uint32_t type = (uint32_t)(tag & 7);
  const bool known = type == HEED_ONNX_VARINT || type == HEED_ONNX_FIXED64 ||
                     type == HEED_ONNX_BYTES || type == HEED_ONNX_FIXED32;
  if (tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF || !known)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: byte %" PRIu64 ": not a field of an ONNX file (found tag %" PRIu64
                     " of wire type %u, expected type 0, 1, 2 or 5)",
                     wire->where, begin, tag >> 3, type);
  field->number = (uint32_t)(tag >> 3);
  field->type = (heed_onnx_wire_type)type;
  return type == HEED_ONNX_BYTES ? take_range(wire, range, &field->range, error)
                                 : take_number(wire, range, field->type, &field->value, error);
}

heed_status heed_onnx_want(const heed_onnx_wire *wire, const heed_onnx_field *field,
                           heed_onnx_wire_type type, const char *what, heed_error *error) {
  if (field->type == type) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: field %u of a %s has the wrong type (found wire type %d, expected %d)",
                   wire->where, field->number, what, (int)field->type, (int)type);
}

heed_status heed_onnx_next_number(heed_onnx_wire *wire, heed_onnx_field *field,
                                  heed_onnx_wire_type type, uint64_t *number, bool *more,
                                  heed_error *error) {
  *more = false;
  if (field->number == 0) return HEED_OK;
  if (field->type != HEED_ONNX_BYTES) {
    HEED_TRY(heed_onnx_want(wire, field, type, "list of numbers", error));
    *number = field->value;
    *more = true;
    field->number = 0;
    return HEED_OK;
  }
  if (field->range.at == field->range.end) return HEED_OK;
  HEED_TRY(take_number(wire, &field->range, type, number, error));
  *more = true;
  return HEED_OK;
}

heed_status heed_onnx_copy(heed_onnx_wire *wire, heed_onnx_range range, void *to,
                           heed_error *error) {
  const size_t count = (size_t)(range.end - range.at);
  if (range.at >= wire->held_at && range.end - wire->held_at <= wire->held) {
    memcpy(to, wire->buffer + (range.at - wire->held_at), count);
    return HEED_OK;
  }
  return heed_source_read(wire->source, wire->where, range.at, to, count, error);
}
