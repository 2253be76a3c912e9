/* Changes of ONNX files: see change.h. A file is read as fields by ONNX's schema; one of them is
 * changed, and the lengths of all messages around it are written anew. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/change.h"
#include "fuzz/onnx_names.h"

enum kind {
  NO_MESSAGE,
  MODEL,
  GRAPH,
  NODE,
  ATTRIBUTE,
  TENSOR,
  SPARSE,
  VALUE,
  TYPE,
  TENSOR_TYPE,
  SHAPE,
  DIM,
  OPSET,
  FUNCTION,
  ENTRY
};

/* Which message a field of a message is. */
static const struct {
  uint8_t of, field, is;
} inner[] = {{MODEL, 7, GRAPH},      {MODEL, 8, OPSET},       {MODEL, 14, ENTRY},
             {MODEL, 25, FUNCTION},  {GRAPH, 1, NODE},        {GRAPH, 5, TENSOR},
             {GRAPH, 11, VALUE},     {GRAPH, 12, VALUE},      {GRAPH, 13, VALUE},
             {GRAPH, 15, SPARSE},    {NODE, 5, ATTRIBUTE},    {ATTRIBUTE, 5, TENSOR},
             {ATTRIBUTE, 6, GRAPH},  {ATTRIBUTE, 22, SPARSE}, {TENSOR, 13, ENTRY},
             {SPARSE, 1, TENSOR},    {SPARSE, 2, TENSOR},     {VALUE, 2, TYPE},
             {TYPE, 1, TENSOR_TYPE}, {TENSOR_TYPE, 2, SHAPE}, {SHAPE, 1, DIM},
             {FUNCTION, 7, NODE},    {FUNCTION, 9, OPSET},    {FUNCTION, 11, ATTRIBUTE}};

static uint8_t kind_of(uint8_t of, uint64_t field) {
  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
    if (inner[i].of == of && inner[i].field == field) return inner[i].is;
  return NO_MESSAGE;
}

/* A field: its tag, and what follows. A length is not of its content. */
typedef struct field {
  size_t start, content, end;
  uint64_t number;
  uint8_t form;
} field;

static bool read_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *number) {
  *number = 0;
  for (uint32_t shift = 0; *at < size && shift < 64; shift += 7) {
    const uint8_t byte = bytes[(*at)++];
    *number |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

static bool read_field(const uint8_t *bytes, size_t size, size_t at, field *f) {
  uint64_t tag, length = 0;
  f->start = at;
  if (!read_number(bytes, size, &at, &tag)) return false;
  f->number = tag >> 3;
  f->form = tag & 7;
  f->content = at;
  if (f->form == 0 && !read_number(bytes, size, &at, &length)) return false;
  if (f->form == 2) {
    if (!read_number(bytes, size, &at, &length)) return false;
    f->content = at;
  }
  if (f->form == 1) length = 8;
  if (f->form == 5) length = 4;
  if (f->form == 0) length = 0;
  if (f->form > 5 || f->form == 3 || f->form == 4 || length > size - at) return false;
  f->end = at + (size_t)length;
  return true;
}

/* ------------------------------------------------------------------------------------- writing */

typedef struct message {
  uint8_t bytes[512];
  size_t size;
} message;

static void put_number(message *m, uint64_t number) {
  do {
    m->bytes[m->size++] = (uint8_t)((number & 127) | (number > 127 ? 128 : 0));
  } while (number >>= 7);
}

static void put_integer(message *m, uint32_t number, uint64_t value) {
  put_number(m, (uint64_t)number << 3);
  put_number(m, value);
}

static void put_bytes(message *m, uint32_t number, const void *bytes, size_t size) {
  if (m->size + size + 20 > sizeof m->bytes) return;
  put_number(m, (uint64_t)number << 3 | 2);
  put_number(m, size);
  if (size) memcpy(m->bytes + m->size, bytes, size);
  m->size += size;
}

static void put_text(message *m, uint32_t number, const char *text) {
  put_bytes(m, number, text, strlen(text));
}

static uint64_t any_number(test_random *random) {
  static const uint64_t ends[] = {
      UINT64_MAX, INT64_MAX, (uint64_t)1 << 63, INT32_MAX, (uint64_t)1 << 31, (uint64_t)1 << 32,
      UINT32_MAX, 65536,     (uint64_t)1 << 40};
  if (test_random_below(random, 4) == 0)
    return ends[test_random_below(random, sizeof ends / sizeof *ends)];
  return (uint64_t)((int64_t)test_random_below(random, 20) - 3);
}

/* Any short text of the file: names of values, nodes, attributes and ops. */
static const uint8_t *any_name(const fuzz_input *file, test_random *random, size_t *size) {
  for (uint32_t tries = 0; tries < 64 && file->size > 2; tries++) {
    size_t at = test_random_below(random, (uint32_t)file->size - 1);
    const uint8_t length = file->bytes[at + 1];
    if ((file->bytes[at] & 7) != 2 || length > 40 || length > file->size - at - 2) continue;
    bool text = true;
    for (size_t i = 0; i < length; i++) text = text && file->bytes[at + 2 + i] > ' ';
    if (!text) continue;
    *size = length;
    return file->bytes + at + 2;
  }
  *size = 0;
  return file->bytes;
}

static void put_name(message *m, uint32_t number, const fuzz_input *file, test_random *random) {
  size_t size;
  const uint8_t *name = any_name(file, random, &size);
  put_bytes(m, number, name, size);
}

static void put_attribute(message *m, test_random *random) {
  static const uint32_t types[] = {2, 1, 3, 7, 6};
  message a = {.size = 0};
  const uint32_t kind = test_random_below(random, 5), count = test_random_below(random, 6);
  const float numbers[] = {0, 0.5f, 1, -1, 2, 1e-5f, 1e30f};
  const float real = numbers[test_random_below(random, 7)];
  put_text(&a, 1, fuzz_attributes[test_random_below(random, FUZZ_COUNT(fuzz_attributes))]);
  if (kind == 0) put_integer(&a, 3, any_number(random));
  if (kind == 1) {
    put_number(&a, 2 << 3 | 5);
    memcpy(a.bytes + a.size, &real, sizeof real);
    a.size += sizeof real;
  }
  if (kind == 2) put_text(&a, 4, fuzz_texts[test_random_below(random, FUZZ_COUNT(fuzz_texts))]);
  for (uint32_t i = 0; kind == 3 && i < count; i++) put_integer(&a, 8, any_number(random));
  put_integer(&a, 20, types[kind]);
  put_bytes(m, 5, a.bytes, a.size);
}

/* A new field of a message of this kind. */
static void put_new(message *m, uint8_t kind, const fuzz_input *file, test_random *random) {
  const uint32_t which = test_random_below(random, 4);
  message in = {.size = 0};
  switch (kind) {
    case MODEL:
      if (which == 0) put_text(&in, 1, test_random_below(random, 2) ? "com.microsoft" : "my");
      put_integer(&in, 2, which < 3 ? 7 + test_random_below(random, 22) : any_number(random));
      put_bytes(m, 8, in.bytes, in.size);
      break;
    case GRAPH:
    case FUNCTION:
      if (which == 0) {
        put_name(&in, 1, file, random);
        put_bytes(m, kind == GRAPH ? 11 + test_random_below(random, 3) : 4, in.bytes, in.size);
        break;
      }
      for (uint32_t i = test_random_below(random, 4); i > 0; i--) put_name(&in, 1, file, random);
      put_name(&in, 2, file, random);
      put_text(&in, 4, fuzz_ops[test_random_below(random, FUZZ_COUNT(fuzz_ops))]);
      if (which == 1) put_attribute(&in, random);
      put_bytes(m, kind == GRAPH ? 1 : 7, in.bytes, in.size);
      break;
    case NODE:
      if (which == 0)
        put_text(m, 7, test_random_below(random, 2) ? "com.microsoft" : "my");
      else if (which == 1)
        put_attribute(m, random);
      else
        put_name(m, which - 1, file, random);
      break;
    case ATTRIBUTE:
      if (which == 0)
        put_name(m, 21, file, random);
      else
        put_integer(m, which == 1 ? 20 : which == 2 ? 3 : 8, any_number(random));
      break;
    case TENSOR:
      if (which == 0) {
        put_text(&in, 1, test_random_below(random, 2) ? "location" : "offset");
        put_text(&in, 2, test_random_below(random, 2) ? "0" : "a");
        put_bytes(m, 13, in.bytes, in.size);
      } else {
        put_integer(m, which == 1 ? 1 : which == 2 ? 2 : 14, any_number(random));
      }
      break;
    default: put_integer(m, 1 + test_random_below(random, 4), any_number(random));
  }
}

/* ------------------------------------------------------------------------------------ changing */

/* One field of a message that is none itself. */
static void change_content(fuzz_input *message_bytes, const field *f, uint8_t kind,
                           const fuzz_input *file, test_random *random) {
  message made = {.size = 0};
  const size_t size = f->end - f->content;
  const uint32_t way = test_random_below(random, 8);
  put_number(&made, f->number << 3 | f->form);
  if (f->form == 0) {
    uint64_t number = 0;
    size_t at = f->content;
    read_number(message_bytes->bytes, f->end, &at, &number);
    put_number(&made, way < 2 ? number + 1 : way < 4 ? number - 1 : any_number(random));
  } else if (f->form == 2 && size <= 40 && way < 6) {
    const uint8_t *with = (const uint8_t *)"";
    size_t count = 0;
    if (kind == NODE && f->number == 4 && way < 5) {
      with = (const uint8_t *)fuzz_ops[test_random_below(random, FUZZ_COUNT(fuzz_ops))];
      count = strlen((const char *)with);
    } else if (way < 4) {
      with = any_name(file, random, &count);
    } else if (way == 4) {
      with = (const uint8_t *)fuzz_texts[test_random_below(random, FUZZ_COUNT(fuzz_texts))];
      count = strlen((const char *)with);
    }
    put_number(&made, count);
    memcpy(made.bytes + made.size, with, count);
    made.size += count;
  } else {
    fuzz_input content = fuzz_part(message_bytes->bytes + f->content, size, size + 256);
    if (f->number == FUZZ_INPUTS)
      fuzz_change_safetensors(&content, random);
    else
      fuzz_change_bytes(&content, random);
    if (f->form != 2) content.size = size;
    if (f->form == 2) put_number(&made, content.size);
    if (fuzz_put(message_bytes, f->start, f->end - f->start, made.bytes, made.size))
      fuzz_put(message_bytes, f->start + made.size, 0, content.bytes, content.size);
    free(content.bytes);
    return;
  }
  fuzz_put(message_bytes, f->start, f->end - f->start, made.bytes, made.size);
}

static void change_message(fuzz_input *m, uint8_t kind, const fuzz_input *file,
                           test_random *random) {
  field f, chosen = {0}, other = {0};
  uint32_t seen = 0, others = 0;
  for (size_t at = 0; read_field(m->bytes, m->size, at, &f); at = f.end)
    if (test_random_below(random, ++seen) == 0) chosen = f;
  const uint32_t way = test_random_below(random, 16);
  if (seen == 0 || way == 0) {
    message made = {.size = 0};
    put_new(&made, kind, file, random);
    fuzz_put(m, seen ? chosen.end : m->size, 0, made.bytes, made.size);
    return;
  }
  const uint8_t in = chosen.form == 2 ? kind_of(kind, chosen.number) : NO_MESSAGE;
  if (way == 1) {
    fuzz_put(m, chosen.start, chosen.end - chosen.start, "", 0);
  } else if (way < 4) { /* a copy of another, or it twice */
    for (size_t at = 0; read_field(m->bytes, m->size, at, &f); at = f.end)
      if (f.number == chosen.number && test_random_below(random, ++others) == 0) other = f;
    fuzz_input copy = fuzz_part(m->bytes + other.start, other.end - other.start, m->room);
    fuzz_put(m, chosen.start, way == 2 ? 0 : chosen.end - chosen.start, copy.bytes, copy.size);
    free(copy.bytes);
  } else if (in != NO_MESSAGE) {
    message made = {.size = 0};
    fuzz_input content = fuzz_part(m->bytes + chosen.content, chosen.end - chosen.content, m->room);
    change_message(&content, in, file, random);
    put_number(&made, chosen.number << 3 | 2);
    put_number(&made, content.size);
    if (m->size - (chosen.end - chosen.start) + made.size + content.size <= m->room) {
      fuzz_put(m, chosen.start, chosen.end - chosen.start, made.bytes, made.size);
      fuzz_put(m, chosen.start + made.size, 0, content.bytes, content.size);
    }
    free(content.bytes);
  } else {
    change_content(m, &chosen, kind, file, random);
  }
}

void fuzz_change_onnx(fuzz_input *input, test_random *random) {
  fuzz_input file = fuzz_part(input->bytes, input->size, input->size);
  change_message(input, MODEL, &file, random);
  free(file.bytes);
}
