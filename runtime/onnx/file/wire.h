/* The wire form of protocol buffers: fields with a number, of varints, of 4 or 8 bytes, or of a
 * length. A message is a range of the file; nothing is read beyond its end. */
#ifndef HEED_ONNX_FILE_WIRE_H
#define HEED_ONNX_FILE_WIRE_H

#include "base/context.h"
#include "heed/model.h"

#ifndef HEED_ONNX_WINDOW /* tests/proofs sets another */
#define HEED_ONNX_WINDOW 4096
#endif

/* A window on the file. */
typedef struct heed_onnx_wire {
  const heed_source *source;
  const char *where; /* begins the sentences of errors */
  uint64_t held_at;  /* where the buffered bytes lie */
  uint32_t held;
  unsigned char buffer[HEED_ONNX_WINDOW];
} heed_onnx_wire;

/* Bytes of the file that are still to be read. */
typedef struct heed_onnx_range {
  uint64_t at, end;
} heed_onnx_range;

typedef enum heed_onnx_wire_type {
  HEED_ONNX_VARINT = 0,
  HEED_ONNX_FIXED64 = 1,
  HEED_ONNX_BYTES = 2,
  HEED_ONNX_FIXED32 = 5
} heed_onnx_wire_type;

typedef struct heed_onnx_field {
  uint32_t number; /* 0: the message has ended */
  heed_onnx_wire_type type;
  uint64_t value;        /* of the types other than BYTES */
  heed_onnx_range range; /* BYTES: where they lie */
} heed_onnx_field;

/* The next field of a message, of which `range` then is the rest. Statuses: INVALID_FILE, those of
 * the source. */
heed_status heed_onnx_next(heed_onnx_wire *wire, heed_onnx_range *range, heed_onnx_field *field,
                           heed_error *error);
/* INVALID_FILE unless the field has this type; `what` names it. */
heed_status heed_onnx_want(const heed_onnx_wire *wire, const heed_onnx_field *field,
                           heed_onnx_wire_type type, const char *what, heed_error *error);
/* The next number of a repeated field, packed or not: of `type`. The field's range or type is then
 * the rest; *more is false after the last. */
heed_status heed_onnx_next_number(heed_onnx_wire *wire, heed_onnx_field *field,
                                  heed_onnx_wire_type type, uint64_t *number, bool *more,
                                  heed_error *error);
/* Copies the bytes of a range. */
heed_status heed_onnx_copy(heed_onnx_wire *wire, heed_onnx_range range, void *to,
                           heed_error *error);

#endif
