/* The opcodes of pickles. See machine.h.
 *
 * A stack of values, marks in it, and a memo of values that are used again. Each opcode takes at
 * least a byte and makes at most one value, so memory is bounded by the file, and by limits. */
#include "pickle/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/utf8.h"
#include "pickle/calls.h"

#define MAX_STACK (1u << 20)
#define MAX_MARKS 1024u
#define MAX_MEMO (1u << 22)
#ifndef MAX_LINE /* tests/proofs sets another */
#define MAX_LINE 512u
#endif
#define NEWEST_PROTOCOL 5

typedef struct machine {
  heed_pickle_heap *heap;
  heed_byte_reader *reader;
  heed_error *error;
  heed_pickle_id *stack, *memo;
  size_t stack_capacity, memo_capacity;
  uint32_t height, memo_count;
  uint32_t marks[MAX_MARKS]; /* heights of the stack */
  uint32_t mark_count;
  uint64_t at;       /* of the opcode, in the file */
  bool has_protocol; /* it begins with its protocol, as those from 2 on do */
  bool stopped;
} machine;

static heed_status damaged(machine *m, const char *found, const char *expected) {
  return heed_fail(m->error, HEED_INVALID_FILE,
                   "%s: damaged pickle (found %s at byte %" PRIu64 ", expected %s)", m->heap->where,
                   found, m->at, expected);
}

static heed_status take(machine *m, void *to, uint64_t count) {
  return heed_byte_reader_take(m->reader, to, count, m->error);
}

static heed_status take_number(machine *m, size_t bytes, uint64_t *number) {
  unsigned char from[8];
  *number = 0;
  HEED_TRY(take(m, from, bytes));
  *number = heed_little_endian(from, bytes);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ stack
 */

static heed_status push(machine *m, heed_pickle_id id) {
  if (m->height == MAX_STACK) return damaged(m, "too much on the stack", "at most 2^20 values");
  if (!heed_grow(m->heap->context, &m->stack, &m->stack_capacity, (size_t)m->height + 1,
                 sizeof *m->stack))
    return heed_fail_memory(m->error, m->heap->where, m->height * sizeof *m->stack);
  m->stack[m->height++] = id;
  return HEED_OK;
}

/* The lowest height that may be popped to. */
static uint32_t fence(const machine *m) { return m->mark_count ? m->marks[m->mark_count - 1] : 0; }

static heed_status pop(machine *m, heed_pickle_id *id) {
  *id = 0;
  HEED_ASSERT(m->height >= fence(m));
  if (m->height == fence(m)) return damaged(m, "nothing on the stack", "a value");
  *id = m->stack[--m->height];
  return HEED_OK;
}

/* The value that the next opcodes are about: it stays. */
static heed_status top(machine *m, heed_pickle_id *id) {
  HEED_TRY(pop(m, id));
  m->height++;
  return HEED_OK;
}

/* Items from *from to the stack's end belong to the last mark, which goes; so do they. */
static heed_status pop_mark(machine *m, uint32_t *from, uint32_t *end) {
  *from = *end = 0;
  if (m->mark_count == 0) return damaged(m, "no mark on the stack", "one");
  *end = m->height;
  *from = m->height = m->marks[--m->mark_count];
  HEED_ASSERT(*from <= *end && *end <= m->stack_capacity);
  return HEED_OK;
}

static heed_status push_new(machine *m, heed_pickle_kind kind, heed_pickle_id *id) {
  HEED_TRY(heed_pickle_make(m->heap, kind, id, m->error));
  return push(m, *id);
}

static heed_status append(machine *m, heed_pickle_id to, heed_pickle_id key, heed_pickle_id value) {
  return heed_pickle_append(m->heap, to, key, value, m->error);
}

/* --------------------------------------------------------------------------- opcodes: plain values
 */

static heed_status op_nothing(machine *m, uint32_t bytes) { return take(m, NULL, bytes); }

static heed_status op_protocol(machine *m, uint32_t unused) {
  uint64_t protocol;
  (void)unused;
  HEED_TRY(take_number(m, 1, &protocol));
  m->has_protocol = true;
  if (protocol >= 2 && protocol <= NEWEST_PROTOCOL) return HEED_OK;
  return damaged(m, "another protocol", "2 to 5");
}

static heed_status op_stop(machine *m, uint32_t unused) {
  (void)unused;
  m->stopped = true;
  return HEED_OK;
}

static heed_status op_none(machine *m, uint32_t unused) {
  (void)unused;
  return push(m, 0);
}

static heed_status push_integer(machine *m, int64_t number) {
  heed_pickle_id id;
  HEED_TRY(push_new(m, HEED_PICKLE_INTEGER, &id));
  m->heap->values[id].number = number;
  return HEED_OK;
}

static heed_status op_bool(machine *m, uint32_t value) { return push_integer(m, value); }

/* BININT1 and BININT2 have no sign, BININT has one. */
static heed_status op_integer(machine *m, uint32_t bytes) {
  uint64_t number;
  HEED_TRY(take_number(m, bytes, &number));
  return push_integer(m, bytes == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* Leaves out what follows its length. */
static heed_status op_opaque(machine *m, uint32_t length_bytes) {
  heed_pickle_id id;
  uint64_t length;
  HEED_TRY(take_number(m, length_bytes, &length));
  HEED_TRY(take(m, NULL, length));
  return push_new(m, HEED_PICKLE_OPAQUE, &id);
}

/* A double, its first byte first. */
static heed_status op_float(machine *m, uint32_t bytes) {
  unsigned char from[8];
  heed_pickle_id id;
  uint64_t bits = 0;
  HEED_TRY(take(m, from, bytes));
  HEED_TRY(push_new(m, HEED_PICKLE_FLOAT, &id));
  for (uint32_t i = 0; i < bytes; i++) bits = bits << 8 | from[i];
  m->heap->values[id].number = (int64_t)bits;
  return HEED_OK;
}

/* Two's complement of any length; longer than 64 bits is left out. */
static heed_status op_long(machine *m, uint32_t length_bytes) {
  unsigned char bytes[8];
  heed_pickle_id id;
  uint64_t length;
  HEED_TRY(take_number(m, length_bytes, &length));
  if (length > sizeof bytes) {
    HEED_TRY(take(m, NULL, length));
    return push_new(m, HEED_PICKLE_OPAQUE, &id);
  }
  HEED_TRY(take(m, bytes, length));
  const uint64_t sign =
      length && length < 8 && bytes[length - 1] & 0x80 ? UINT64_MAX << 8 * length : 0;
  return push_integer(m, (int64_t)(heed_little_endian(bytes, (size_t)length) | sign));
}

static heed_status op_text(machine *m, uint32_t length_bytes) {
  heed_pickle_id id;
  uint64_t length;
  char *text;
  HEED_TRY(take_number(m, length_bytes, &length));
  if (length > HEED_PICKLE_LONG_TEXT) {
    HEED_TRY(take(m, NULL, length));
    return push_new(m, HEED_PICKLE_OPAQUE, &id);
  }
  HEED_TRY(heed_pickle_make_text(m->heap, HEED_PICKLE_TEXT, (size_t)length, &id, &text, m->error));
  HEED_TRY(take(m, text, length));
  return push(m, id);
}

/* ----------------------------------------------------------------------------- opcodes: containers
 */

static heed_status op_mark(machine *m, uint32_t unused) {
  (void)unused;
  if (m->mark_count == MAX_MARKS) return damaged(m, "too deep nesting", "at most 1024 marks");
  m->marks[m->mark_count++] = m->height;
  return HEED_OK;
}

static heed_status op_empty(machine *m, uint32_t kind) {
  heed_pickle_id id;
  return push_new(m, (heed_pickle_kind)kind, &id);
}

static heed_status make_sequence(machine *m, heed_pickle_kind kind, uint32_t from, uint32_t end) {
  heed_pickle_id id;
  HEED_TRY(heed_pickle_make(m->heap, kind, &id, m->error));
  for (uint32_t i = from; i < end; i++) HEED_TRY(append(m, id, 0, m->stack[i]));
  m->height = from;
  return push(m, id);
}

/* TUPLE1 to TUPLE3. */
static heed_status op_tuple_of(machine *m, uint32_t count) {
  if (m->height - fence(m) < count) return damaged(m, "too few values", "those of a tuple");
  return make_sequence(m, HEED_PICKLE_TUPLE, m->height - count, m->height);
}

static heed_status op_sequence(machine *m, uint32_t kind) {
  uint32_t from, end;
  HEED_TRY(pop_mark(m, &from, &end));
  return make_sequence(m, (heed_pickle_kind)kind, from, end);
}

/* What may have items: a tuple, a text or None may not. */
static heed_status pop_container(machine *m, heed_pickle_id *id) {
  HEED_TRY(top(m, id));
  const heed_pickle_kind kind = heed_pickle_kind_of(m->heap, *id);
  if (kind == HEED_PICKLE_LIST || kind == HEED_PICKLE_DICT || kind == HEED_PICKLE_OBJECT)
    return HEED_OK;
  return damaged(m, "an item for what holds none", "a list, a dictionary or an object");
}

static heed_status op_append(machine *m, uint32_t unused) {
  heed_pickle_id to, item;
  (void)unused;
  HEED_TRY(pop(m, &item));
  HEED_TRY(pop_container(m, &to));
  return append(m, to, 0, item);
}

/* APPENDS, ADDITEMS. */
static heed_status op_appends(machine *m, uint32_t unused) {
  heed_pickle_id to;
  uint32_t from, end;
  (void)unused;
  HEED_TRY(pop_mark(m, &from, &end));
  HEED_TRY(pop_container(m, &to));
  for (uint32_t i = from; i < end; i++) HEED_TRY(append(m, to, 0, m->stack[i]));
  return HEED_OK;
}

static heed_status op_set_item(machine *m, uint32_t unused) {
  heed_pickle_id to, key, value;
  (void)unused;
  HEED_TRY(pop(m, &value));
  HEED_TRY(pop(m, &key));
  HEED_TRY(pop_container(m, &to));
  return append(m, to, key, value);
}

static heed_status set_items(machine *m, heed_pickle_id to, uint32_t from, uint32_t end) {
  if ((end - from) % 2) return damaged(m, "a key without value", "pairs");
  for (uint32_t i = from; i < end; i += 2) HEED_TRY(append(m, to, m->stack[i], m->stack[i + 1]));
  return HEED_OK;
}

static heed_status op_set_items(machine *m, uint32_t unused) {
  heed_pickle_id to;
  uint32_t from, end;
  (void)unused;
  HEED_TRY(pop_mark(m, &from, &end));
  HEED_TRY(pop_container(m, &to));
  return set_items(m, to, from, end);
}

static heed_status op_dict(machine *m, uint32_t unused) {
  heed_pickle_id id;
  uint32_t from, end;
  (void)unused;
  HEED_TRY(pop_mark(m, &from, &end));
  HEED_TRY(heed_pickle_make(m->heap, HEED_PICKLE_DICT, &id, m->error));
  HEED_TRY(set_items(m, id, from, end));
  return push(m, id);
}

static heed_status op_pop(machine *m, uint32_t unused) {
  heed_pickle_id id;
  uint32_t from, end;
  (void)unused;
  return m->height == fence(m) ? pop_mark(m, &from, &end) : pop(m, &id);
}

static heed_status op_pop_mark(machine *m, uint32_t unused) {
  uint32_t from, end;
  (void)unused;
  return pop_mark(m, &from, &end);
}

static heed_status op_duplicate(machine *m, uint32_t unused) {
  heed_pickle_id id;
  (void)unused;
  HEED_TRY(top(m, &id));
  return push(m, id);
}

/* ------------------------------------------------------------------------------------ opcodes:
 * memo */

static heed_status remember(machine *m, uint64_t index) {
  heed_pickle_id id;
  HEED_TRY(top(m, &id));
  if (index >= MAX_MEMO) return damaged(m, "a large memo number", "one below 2^22");
  if (!heed_grow(m->heap->context, &m->memo, &m->memo_capacity, (size_t)index + 1, sizeof *m->memo))
    return heed_fail_memory(m->error, m->heap->where, (size_t)index * sizeof *m->memo);
  m->memo_count += m->memo[index] == 0; /* as Python counts: entries, not puts */
  m->memo[index] = id + 1;              /* 0: not there */
  return HEED_OK;
}

static heed_status op_put(machine *m, uint32_t bytes) {
  uint64_t index;
  HEED_TRY(take_number(m, bytes, &index));
  return remember(m, index);
}

static heed_status op_memoize(machine *m, uint32_t unused) {
  (void)unused;
  return remember(m, m->memo_count);
}

static heed_status op_get(machine *m, uint32_t bytes) {
  uint64_t index;
  HEED_TRY(take_number(m, bytes, &index));
  if (index >= m->memo_capacity || m->memo[index] == 0)
    return damaged(m, "a memo number that was not put", "one that was");
  return push(m, m->memo[index] - 1);
}

/* --------------------------------------------------------------------------- opcodes: names and
 * calls */

static heed_status take_line(machine *m, char line[MAX_LINE]) {
  for (uint32_t i = 0; i < MAX_LINE; i++) {
    HEED_TRY(take(m, &line[i], 1));
    if (line[i] == '\0') break;
    if (line[i] != '\n') continue;
    line[i] = '\0';
    return HEED_OK;
  }
  return damaged(m, "a long name or a zero byte in it", "a line");
}

static heed_status push_global(machine *m, const char *module, const char *name) {
  heed_pickle_id id;
  char *text;
  const size_t length = strlen(module) + 1 + strlen(name);
  HEED_TRY(heed_pickle_make_text(m->heap, HEED_PICKLE_GLOBAL, length, &id, &text, m->error));
  snprintf(text, length + 1, "%s.%s", module, name);
  heed_pickle_mean(m->heap, id);
  return push(m, id);
}

static heed_status op_global(machine *m, uint32_t unused) {
  char module[MAX_LINE], name[MAX_LINE];
  (void)unused;
  HEED_TRY(take_line(m, module));
  HEED_TRY(take_line(m, name));
  return push_global(m, module, name);
}

static heed_status op_stack_global(machine *m, uint32_t unused) {
  heed_pickle_id name, module;
  char texts[2][MAX_LINE];
  (void)unused;
  HEED_TRY(pop(m, &name));
  HEED_TRY(pop(m, &module));
  if (heed_pickle_kind_of(m->heap, name) != HEED_PICKLE_TEXT ||
      heed_pickle_kind_of(m->heap, module) != HEED_PICKLE_TEXT)
    return damaged(m, "a name that is no text", "one");
  snprintf(texts[0], MAX_LINE, "%s", heed_pickle_text(m->heap, module));
  snprintf(texts[1], MAX_LINE, "%s", heed_pickle_text(m->heap, name));
  return push_global(m, texts[0], texts[1]); /* copies: the texts move */
}

/* REDUCE, NEWOBJ; NEWOBJ_EX has arguments by name too, which no tensor has. */
static heed_status op_call(machine *m, uint32_t by_name) {
  heed_pickle_id callable, arguments, result;
  if (by_name) HEED_TRY(pop(m, &arguments));
  HEED_TRY(pop(m, &arguments));
  HEED_TRY(pop(m, &callable));
  HEED_TRY(heed_pickle_call(m->heap, callable, arguments, &result, m->error));
  return push(m, result);
}

/* What a tensor's state would be is the class's to say: it may set another storage. A second state
 * would be joined to the first. */
static heed_status op_build(machine *m, uint32_t unused) {
  heed_pickle_id state, object;
  char found[HEED_PICKLE_DESCRIPTION];
  (void)unused;
  HEED_TRY(pop(m, &state));
  HEED_TRY(top(m, &object));
  heed_pickle_value *value = &m->heap->values[object];
  const bool has_state = value->kind == HEED_PICKLE_OBJECT || value->kind == HEED_PICKLE_DICT ||
                         value->kind == HEED_PICKLE_LIST;
  if (has_state && value->state == 0) {
    value->state = state;
    return HEED_OK;
  }
  return heed_fail(m->error, HEED_UNSUPPORTED,
                   "%s: pickle not supported (found a state that is set %s %s at byte %" PRIu64
                   ", expected weights as torch.save writes them)",
                   m->heap->where, has_state ? "again of" : "of",
                   heed_pickle_describe(m->heap, object, found), m->at);
}

static heed_status op_persistent(machine *m, uint32_t unused) {
  heed_pickle_id persistent, result;
  (void)unused;
  HEED_TRY(pop(m, &persistent));
  HEED_TRY(heed_pickle_load(m->heap, persistent, &result, m->error));
  return push(m, result);
}

/* ------------------------------------------------------------------------------------------ the
 * table */

static const struct {
  heed_status (*run)(machine *m, uint32_t parameter);
  uint32_t parameter;
} opcodes[256] = {
    [0x80] = {op_protocol, 0},
    [0x95] = {op_nothing, 8}, /* FRAME */
    ['.'] = {op_stop, 0},
    ['N'] = {op_none, 0},
    [0x88] = {op_bool, 1},
    [0x89] = {op_bool, 0},
    ['K'] = {op_integer, 1},
    ['M'] = {op_integer, 2},
    ['J'] = {op_integer, 4},
    [0x8A] = {op_long, 1},
    [0x8B] = {op_long, 4},
    ['G'] = {op_float, 8},
    ['X'] = {op_text, 4},
    [0x8C] = {op_text, 1},
    [0x8D] = {op_text, 8},
    ['U'] = {op_text, 1}, /* SHORT_BINSTRING and BINSTRING: texts of Python 2 */
    ['T'] = {op_text, 4},
    ['C'] = {op_opaque, 1},
    ['B'] = {op_opaque, 4},
    [0x8E] = {op_opaque, 8},
    [0x96] = {op_opaque, 8},
    ['('] = {op_mark, 0},
    ['0'] = {op_pop, 0},
    ['1'] = {op_pop_mark, 0},
    ['2'] = {op_duplicate, 0},
    [')'] = {op_empty, HEED_PICKLE_TUPLE},
    [']'] = {op_empty, HEED_PICKLE_LIST},
    [0x8F] = {op_empty, HEED_PICKLE_LIST},
    ['}'] = {op_empty, HEED_PICKLE_DICT},
    [0x85] = {op_tuple_of, 1},
    [0x86] = {op_tuple_of, 2},
    [0x87] = {op_tuple_of, 3},
    ['t'] = {op_sequence, HEED_PICKLE_TUPLE},
    ['l'] = {op_sequence, HEED_PICKLE_LIST},
    [0x91] = {op_sequence, HEED_PICKLE_LIST},
    ['d'] = {op_dict, 0},
    ['a'] = {op_append, 0},
    ['e'] = {op_appends, 0},
    [0x90] = {op_appends, 0},
    ['s'] = {op_set_item, 0},
    ['u'] = {op_set_items, 0},
    ['q'] = {op_put, 1},
    ['r'] = {op_put, 4},
    [0x94] = {op_memoize, 0},
    ['h'] = {op_get, 1},
    ['j'] = {op_get, 4},
    ['c'] = {op_global, 0},
    [0x93] = {op_stack_global, 0},
    ['R'] = {op_call, 0},
    [0x81] = {op_call, 0},
    [0x92] = {op_call, 1},
    ['b'] = {op_build, 0},
    ['Q'] = {op_persistent, 0},
};

static heed_status refuse_opcode(machine *m, unsigned opcode) {
  if (!m->has_protocol)
    return heed_fail(m->error, HEED_UNSUPPORTED,
                     "%s: pickle not supported (found protocol 0 or 1, expected 2 to 5; load it in "
                     "Python and save it again with torch.save)",
                     m->heap->where);
  return heed_fail(m->error, HEED_UNSUPPORTED,
                   "%s: pickle not supported (found opcode %u at byte %" PRIu64
                   ", expected those that torch.save writes)",
                   m->heap->where, opcode, m->at);
}

static heed_status run(machine *m, heed_pickle_id *result) {
  while (!m->stopped) {
    unsigned char opcode;
    m->at = heed_byte_reader_at(m->reader);
    HEED_TRY(take(m, &opcode, 1));
    if (!opcodes[opcode].run) return refuse_opcode(m, opcode);
    HEED_TRY(opcodes[opcode].run(m, opcodes[opcode].parameter));
  }
  return pop(m, result);
}

heed_status heed_pickle_run(heed_pickle_heap *heap, heed_byte_reader *reader,
                            heed_pickle_id *result, heed_error *error) {
  machine *m = heed_alloc(heap->context, 1, sizeof *m);
  if (!m) return heed_fail_memory(error, heap->where, sizeof *m);
  m->heap = heap;
  m->reader = reader;
  m->error = error;
  const heed_status status = run(m, result);
  heed_free(heap->context, m->stack);
  heed_free(heap->context, m->memo);
  heed_free(heap->context, m);
  return status;
}
