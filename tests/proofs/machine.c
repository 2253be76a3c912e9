/* The opcodes of a pickle: one of them, from any state that the rules allow, with a small stack and
 * memo, which may be full. What it leaves obeys the same rules, so the proof holds for programs of
 * any length. */
#include "pickle/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proofs/heap.h"

/* Texts of names: bounded by what they are written into. */
static int write_text(char *to, size_t size) {
  claim(__CPROVER_w_ok(to, size), "there is room for a name");
  return 0;
}
static size_t length_of(const char *text) {
  claim(__CPROVER_r_ok(text, 1), "a name is a text");
  const size_t length = nondet_u32();
  assume(length < MAX_LINE); /* prove_line shows it */
  return length;
}
#define snprintf(to, size, ...) write_text(to, size)
#define strlen length_of
#include "pickle/machine.c"

#define MOST_STACK 3
#define MOST_MEMO 3
#define DEEPEST 2

/* -------------------------------------------------------------------- stand-ins: reader and heap
 */

uint64_t heed_byte_reader_at(const heed_byte_reader *reader) {
  (void)reader;
  return nondet_u64();
}

heed_status heed_byte_reader_take(heed_byte_reader *reader, void *to, uint64_t count,
                                  heed_error *error) {
  (void)reader;
  (void)error;
  claim(!to || count == 0 || __CPROVER_w_ok(to, count), "there is room for what is taken");
  if (nondet_bool()) return HEED_INVALID_FILE;
  if (to && count <= 8) fill_with_anything(to, count); /* a text stays any bytes */
  return HEED_OK;
}

uint64_t heed_little_endian(const unsigned char *bytes, size_t count) {
  claim(count == 0 || __CPROVER_r_ok(bytes, count), "a number lies in its bytes");
  return count < 8 ? nondet_u64() & (((uint64_t)1 << 8 * count) - 1) : nondet_u64();
}

void *heed_alloc(const heed_context *context, size_t count, size_t size) {
  (void)context;
  return nondet_bool() ? calloc(count, size) : NULL;
}

void heed_free(const heed_context *context, void *pointer) {
  (void)context;
  free(pointer);
}

/* What is needed, or nothing: a few ids, kept, the new ones 0. */
bool heed_grow(const heed_context *context, void *array, size_t *capacity, size_t need,
               size_t size) {
  (void)context;
  claim(size == sizeof(uint32_t), "ids grow");
  if (need <= *capacity) return true;
  if (need > MOST_STACK + 1 || nondet_bool()) return false;
  uint32_t **ids = array, *grown = malloc((MOST_STACK + 1) * sizeof *grown);
  assume(grown != NULL);
  for (size_t i = 0; i <= MOST_STACK; i++) grown[i] = i < *capacity ? (*ids)[i] : 0;
  *ids = grown;
  *capacity = MOST_STACK + 1;
  return true;
}

heed_status heed_pickle_make(heed_pickle_heap *heap, heed_pickle_kind kind, heed_pickle_id *id,
                             heed_error *error) {
  (void)error;
  *id = 0;
  if (nondet_bool() || heap->count == heap->capacity) return HEED_OUT_OF_MEMORY;
  *id = heap->count++;
  heap->values[*id] = (heed_pickle_value){.kind = (uint8_t)kind};
  return HEED_OK;
}

heed_status heed_pickle_make_text(heed_pickle_heap *heap, heed_pickle_kind kind, size_t length,
                                  heed_pickle_id *id, char **bytes, heed_error *error) {
  const heed_status status = heed_pickle_make(heap, kind, id, error);
  if (status != HEED_OK || length > HEED_PICKLE_LONG_TEXT) return HEED_UNSUPPORTED;
  *bytes = malloc(length + 1);
  assume(*bytes != NULL);
  return HEED_OK;
}

heed_status heed_pickle_append(heed_pickle_heap *heap, heed_pickle_id container, heed_pickle_id key,
                               heed_pickle_id value, heed_error *error) {
  (void)error;
  claim(container < heap->count && key < heap->count && value < heap->count,
        "what is joined are values");
  return nondet_bool() ? HEED_OK : HEED_UNSUPPORTED;
}

heed_pickle_kind heed_pickle_kind_of(const heed_pickle_heap *heap, heed_pickle_id id) {
  claim(id < heap->count, "a value is there");
  return (heed_pickle_kind)heap->values[id].kind;
}

const char *heed_pickle_text(const heed_pickle_heap *heap, heed_pickle_id id) {
  claim(id < heap->count, "a value is there");
  return heap->texts;
}

const char *heed_pickle_describe(const heed_pickle_heap *heap, heed_pickle_id id,
                                 char to[HEED_PICKLE_DESCRIPTION]) {
  claim(id < heap->count, "a value is there");
  return to;
}

void heed_pickle_mean(heed_pickle_heap *heap, heed_pickle_id global) {
  claim(global < heap->count, "a value is there");
}

heed_status heed_pickle_call(heed_pickle_heap *heap, heed_pickle_id callable,
                             heed_pickle_id arguments, heed_pickle_id *result, heed_error *error) {
  claim(callable < heap->count && arguments < heap->count, "what is called are values");
  return heed_pickle_make(heap, HEED_PICKLE_OBJECT, result, error);
}

heed_status heed_pickle_load(heed_pickle_heap *heap, heed_pickle_id persistent,
                             heed_pickle_id *result, heed_error *error) {
  claim(persistent < heap->count, "a value is there");
  return heed_pickle_make(heap, HEED_PICKLE_STORAGE, result, error);
}

/* ----------------------------------------------------------------------------------------- proofs
 */

static bool machine_rules(const machine *m) {
  if (m->height > m->stack_capacity || m->mark_count > DEEPEST + 1) return false;
  for (uint32_t i = 0; i < MOST_STACK + 1; i++)
    if (i < m->height && m->stack[i] >= m->heap->count) return false;
  for (uint32_t i = 0; i < MOST_STACK + 1; i++)
    if (i < m->memo_capacity && m->memo[i] > m->heap->count) return false;
  for (uint32_t i = 0; i < DEEPEST + 1; i++)
    if (i < m->mark_count && (m->marks[i] > m->height || (i > 0 && m->marks[i - 1] > m->marks[i])))
      return false;
  return true;
}

static void start(machine *m, heed_pickle_heap *heap) {
  any_heap(heap);
  assume(heap->count < heap->capacity);
  m->heap = heap;
  m->stack = malloc(MOST_STACK * sizeof *m->stack);
  m->memo = malloc(MOST_MEMO * sizeof *m->memo);
  assume(m->stack && m->memo);
  m->stack_capacity = MOST_STACK;
  m->memo_capacity = MOST_MEMO;
  m->height = nondet_u32();
  m->memo_count = nondet_u32();
  m->mark_count = nondet_u32();
  for (uint32_t i = 0; i <= DEEPEST; i++) m->marks[i] = nondet_u32();
  m->has_protocol = nondet_bool();
  m->stopped = false;
  assume(m->mark_count <= DEEPEST && m->memo_count <= MAX_MEMO && machine_rules(m));
}

static void step(unsigned char from, unsigned char to) {
  static machine m;
  heed_pickle_heap heap;
  start(&m, &heap);
  const unsigned char opcode = nondet_byte();
  assume(opcode >= from && opcode <= to && opcodes[opcode].run);
  const heed_status status = opcodes[opcode].run(&m, opcodes[opcode].parameter);
  claim(status != HEED_OK || machine_rules(&m), "a step keeps the rules");
  if (status == HEED_OK) ends();
}

void prove_signs(void) { step(0, '@'); }
void prove_capitals(void) { step('A', '`'); }
void prove_letters(void) { step('a', 0x7F); }
void prove_protocol_2(void) { step(0x80, 0x8B); }
void prove_protocol_4(void) { step(0x8C, 0xFF); }

/* The limit of marks, which the other proofs do not reach. */
void prove_marks(void) {
  static machine m;
  heed_pickle_heap heap = {.where = "file"};
  m.heap = &heap;
  m.mark_count = nondet_u32();
  assume(m.mark_count <= MAX_MARKS);
  if (op_mark(&m, 0) == HEED_OK) ends();
}

/* A line ends within its room. */
void prove_line(void) {
  static machine m;
  heed_pickle_heap heap = {.where = "file"};
  char line[MAX_LINE];
  bool ended = false;
  m.heap = &heap;
  if (take_line(&m, line) != HEED_OK) return;
  for (uint32_t i = 0; i < MAX_LINE; i++) ended = ended || line[i] == '\0';
  claim(ended, "a line ends");
  ends();
}
