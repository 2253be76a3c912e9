/* TensorProto: where the elements of a tensor lie, and that they are as many as its shape says.
 * Elements in typed fields are copied as little-endian bytes; those of raw_data stay in the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/message_parts.h"

typedef struct type_fact {
  const char *name, *safetensors;
  uint8_t bits, field; /* field: of TensorProto, that has the elements beside raw_data */
} type_fact;

static const type_fact types[] = {
    [HEED_ONNX_FLOAT] = {"FLOAT", "F32", 32, 4},
    [HEED_ONNX_UINT8] = {"UINT8", "U8", 8, 5},
    [HEED_ONNX_INT8] = {"INT8", "I8", 8, 5},
    [HEED_ONNX_UINT16] = {"UINT16", "U16", 16, 5},
    [HEED_ONNX_INT16] = {"INT16", "I16", 16, 5},
    [HEED_ONNX_INT32] = {"INT32", "I32", 32, 5},
    [HEED_ONNX_INT64] = {"INT64", "I64", 64, 7},
    [HEED_ONNX_STRING] = {"STRING", NULL, 0, 6},
    [HEED_ONNX_BOOL] = {"BOOL", "BOOL", 8, 5},
    [HEED_ONNX_FLOAT16] = {"FLOAT16", "F16", 16, 5},
    [HEED_ONNX_DOUBLE] = {"DOUBLE", "F64", 64, 10},
    [HEED_ONNX_UINT32] = {"UINT32", "U32", 32, 11},
    [HEED_ONNX_UINT64] = {"UINT64", "U64", 64, 11},
    [14] = {"COMPLEX64", NULL, 0, 0},
    [15] = {"COMPLEX128", NULL, 0, 0},
    [HEED_ONNX_BFLOAT16] = {"BFLOAT16", "BF16", 16, 5},
    [HEED_ONNX_FLOAT8E4M3FN] = {"FLOAT8E4M3FN", "F8_E4M3", 8, 5},
    [HEED_ONNX_FLOAT8E4M3FNUZ] = {"FLOAT8E4M3FNUZ", "F8_E4M3FNUZ", 8, 5},
    [HEED_ONNX_FLOAT8E5M2] = {"FLOAT8E5M2", "F8_E5M2", 8, 5},
    [HEED_ONNX_FLOAT8E5M2FNUZ] = {"FLOAT8E5M2FNUZ", "F8_E5M2FNUZ", 8, 5},
    [HEED_ONNX_UINT4] = {"UINT4", "U8", 4, 5},
    [HEED_ONNX_INT4] = {"INT4", "I8", 4, 5},
    [HEED_ONNX_FLOAT4E2M1] = {"FLOAT4E2M1", "U8", 4, 5},
    [HEED_ONNX_FLOAT8E8M0] = {"FLOAT8E8M0", "F8_E8M0", 8, 5},
    [HEED_ONNX_UINT2] = {"UINT2", "U8", 2, 5},
    [HEED_ONNX_INT2] = {"INT2", "I8", 2, 5},
};

static const type_fact *fact_of(uint32_t type) {
  return type < sizeof types / sizeof *types && types[type].name ? &types[type] : NULL;
}

const char *heed_onnx_type_name(uint32_t type, char text[16]) {
  const type_fact *fact = fact_of(type);
  if (fact) return fact->name;
  snprintf(text, 16, "type %u", type);
  return text;
}

uint32_t heed_onnx_type_bits(uint32_t type) { return fact_of(type) ? fact_of(type)->bits : 0; }

uint32_t heed_onnx_type_size(uint32_t type) { return (heed_onnx_type_bits(type) + 7) / 8; }

const char *heed_onnx_type_safetensors(uint32_t type) {
  return fact_of(type) ? fact_of(type)->safetensors : NULL;
}

/* A tensor while it is read. */
typedef struct reading {
  heed_onnx_reader *r;
  heed_onnx_tensor *tensor;
  heed_onnx_range whole, raw;
  bool has_raw, external;
  int64_t offset, length; /* external; length -1: to the end */
  unsigned keys;          /* bits of those of external_data that were there */
} reading;

static heed_status fail_tensor(const reading *t, heed_status status, const char *why,
                               heed_error *error) {
  return heed_fail(error, status, "%s: tensor %.*s: %s", t->r->wire.where,
                   HEED_CUT(t->tensor->name), why);
}

/* A number of external_data. */
static heed_status parse_number(const reading *t, const char *text, int64_t *number,
                                heed_error *error) {
  if (!*text)
    return fail_tensor(t, HEED_INVALID_FILE, "invalid offset or length of external data", error);
  *number = 0;
  for (const char *c = text; *c; c++) {
    if (*c < '0' || *c > '9' || *number > INT64_MAX / 16)
      return fail_tensor(t, HEED_INVALID_FILE, "invalid offset or length of external data", error);
    *number = *number * 10 + (*c - '0');
  }
  return HEED_OK;
}

/* "./a/./b" is "a/b", in place. ".." stays, and is refused by who opens it. */
static const char *without_dots(char *location) {
  char *to = location;
  for (const char *from = location; *from;) {
    const bool begins = from == location || from[-1] == '/';
    if (begins && from[0] == '.' && from[1] == '/')
      from += 2;
    else
      *to++ = *from++;
  }
  *to = '\0';
  return location;
}

static heed_status read_external_pair(reading *t, heed_onnx_range range, heed_error *error) {
  const char *key = "", *value = "";
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&t->r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) HEED_TRY(heed_onnx_read_text(t->r, &field, "tensor", &key, error));
    if (field.number == 2) HEED_TRY(heed_onnx_read_text(t->r, &field, "tensor", &value, error));
  }
  static const char *const keys[] = {"location", "offset", "length"};
  for (unsigned i = 0; i < 3; i++) {
    if (strcmp(key, keys[i]) != 0) continue;
    if (t->keys >> i & 1)
      return fail_tensor(t, HEED_INVALID_FILE,
                         "its external data has two places (expected one location, offset and "
                         "length)",
                         error);
    t->keys |= 1u << i;
  }
  if (strcmp(key, "location") == 0) t->tensor->location = without_dots((char *)value);
  if (strcmp(key, "offset") == 0) return parse_number(t, value, &t->offset, error);
  if (strcmp(key, "length") == 0) return parse_number(t, value, &t->length, error);
  return HEED_OK;
}

static heed_status read_dims(reading *t, heed_onnx_field *field, heed_error *error) {
  for (;;) {
    uint64_t size;
    bool more;
    HEED_TRY(heed_onnx_next_number(&t->r->wire, field, HEED_ONNX_VARINT, &size, &more, error));
    if (!more) return HEED_OK;
    if (t->tensor->rank == HEED_ONNX_MAX_RANK)
      return fail_tensor(t, HEED_UNSUPPORTED, "too many axes (expected at most 8)", error);
    if (size > UINT32_MAX)
      return fail_tensor(t, HEED_INVALID_FILE, "a dimension is negative or too large", error);
    t->tensor->dims[t->tensor->rank++] = size;
  }
}

static heed_status read_field(reading *t, heed_onnx_field *field, heed_error *error) {
  const char what[] = "tensor";
  int64_t number;
  switch (field->number) {
    case 1: return read_dims(t, field, error);
    case 2:
      HEED_TRY(heed_onnx_read_number(t->r, field, what, &number, error));
      t->tensor->type = number > 0 && number < 256 ? (uint32_t)number : 255;
      return HEED_OK;
    case 8: return heed_onnx_read_text(t->r, field, what, &t->tensor->name, error);
    case 9:
      HEED_TRY(heed_onnx_want(&t->r->wire, field, HEED_ONNX_BYTES, what, error));
      t->raw = field->range;
      t->has_raw = true;
      return HEED_OK;
    case 13:
      HEED_TRY(heed_onnx_want(&t->r->wire, field, HEED_ONNX_BYTES, what, error));
      return read_external_pair(t, field->range, error);
    case 14:
      HEED_TRY(heed_onnx_read_number(t->r, field, what, &number, error));
      t->external = number == 1;
      return HEED_OK;
    default: return HEED_OK;
  }
}

/* Elements and bytes; those of 4 bits are padded to a whole byte. */
static heed_status measure(const reading *t, heed_error *error) {
  heed_onnx_tensor *tensor = t->tensor;
  uint64_t bits;
  tensor->count = 1;
  for (uint32_t i = 0; i < tensor->rank; i++)
    if (!heed_u64_mul(tensor->count, tensor->dims[i], &tensor->count))
      return fail_tensor(t, HEED_INVALID_FILE, "too many elements", error);
  if (!heed_u64_mul(tensor->count, heed_onnx_type_bits(tensor->type), &bits) || bits > INT64_MAX)
    return fail_tensor(t, HEED_INVALID_FILE, "too many elements", error);
  tensor->bytes = bits / 8 + (bits % 8 != 0);
  return HEED_OK;
}

static heed_status fail_bytes(const reading *t, uint64_t found, heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s: wrong size (found %" PRIu64 " bytes, expected %" PRIu64 ")",
                   t->r->wire.where, HEED_CUT(t->tensor->name), found, t->tensor->bytes);
}

/* The elements of a typed field, one number for each; for less than 8 bits, for each byte. */
static heed_status read_typed(const reading *t, heed_error *error) {
  heed_onnx_tensor *tensor = t->tensor;
  const uint32_t number = fact_of(tensor->type)->field, size = heed_onnx_type_size(tensor->type);
  const heed_onnx_wire_type type = number == 4    ? HEED_ONNX_FIXED32
                                   : number == 10 ? HEED_ONNX_FIXED64
                                                  : HEED_ONNX_VARINT;
  /* a number takes a byte of the file at least */
  if (tensor->bytes / size > t->whole.end - t->whole.at) return fail_bytes(t, 0, error);
  unsigned char *bytes = heed_onnx_take(t->r->arena, tensor->bytes, 1);
  if (!bytes) return heed_fail_memory(error, t->r->wire.where, (size_t)tensor->bytes);
  uint64_t at = 0;
  heed_onnx_range range = t->whole;
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&t->r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number != number) continue;
    for (;;) {
      uint64_t value;
      bool more;
      HEED_TRY(heed_onnx_next_number(&t->r->wire, &field, type, &value, &more, error));
      if (!more) break;
      if (at + size > tensor->bytes) return fail_bytes(t, at + size, error);
      for (uint32_t i = 0; i < size; i++) bytes[at++] = (unsigned char)(value >> 8 * i & 0xFF);
    }
  }
  tensor->bytes_here = bytes;
  return at == tensor->bytes ? HEED_OK : fail_bytes(t, at, error);
}

static heed_status locate(reading *t, heed_error *error) {
  heed_onnx_tensor *tensor = t->tensor;
  if (t->external) {
    if (!tensor->location || !*tensor->location)
      return fail_tensor(t, HEED_INVALID_FILE, "external data without a location", error);
    if (t->length >= 0 && (uint64_t)t->length != tensor->bytes)
      return fail_bytes(t, (uint64_t)t->length, error);
    tensor->offset = (uint64_t)t->offset;
    return HEED_OK;
  }
  tensor->location = NULL;
  if (!t->has_raw) return read_typed(t, error);
  if (t->raw.end - t->raw.at != tensor->bytes) return fail_bytes(t, t->raw.end - t->raw.at, error);
  tensor->offset = t->raw.at;
  return HEED_OK;
}

heed_status heed_onnx_read_tensor(heed_onnx_reader *r, heed_onnx_range range,
                                  heed_onnx_tensor *tensor, heed_error *error) {
  reading t = {.r = r, .tensor = tensor, .whole = range, .length = -1};
  *tensor = (heed_onnx_tensor){.name = ""};
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    HEED_TRY(read_field(&t, &field, error));
  }
  if (!fact_of(tensor->type))
    return fail_tensor(&t, HEED_INVALID_FILE, "unknown type of elements", error);
  HEED_TRY(measure(&t, error));
  /* elements of types that heed does not read: the tensor is known by its name alone */
  return heed_onnx_type_bits(tensor->type) ? locate(&t, error) : HEED_OK;
}
