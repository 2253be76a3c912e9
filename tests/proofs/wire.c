/* The wire reader of ONNX files, from any state that its rules allow, for files of any length. What
 * a call leaves obeys the same rules, so the proof holds for all calls after one another. take_byte
 * is proved by itself; what reads many bytes then relies on its contract. */
#include "onnx/file/wire.h"

#include "proofs/proof.h"

/* The buffer holds bytes of the file. */
static bool buffer_rules(const heed_onnx_wire *wire) {
  return wire->held <= sizeof wire->buffer && wire->held_at <= wire->source->size &&
         wire->held <= wire->source->size - wire->held_at;
}

/* clang-format off */
#define READS(to)                                                                       \
  __CPROVER_requires(buffer_rules(wire) && range->at <= range->end && range->end <= wire->source->size) \
  __CPROVER_ensures(buffer_rules(wire) && range->at >= __CPROVER_old(range->at) && range->at <= range->end) \
  __CPROVER_ensures(__CPROVER_return_value != HEED_OK || range->at > __CPROVER_old(range->at)) \
  __CPROVER_assigns(wire->held_at, wire->held, __CPROVER_object_upto(wire->buffer, sizeof wire->buffer), range->at, *to)

static heed_status take_byte(heed_onnx_wire *wire, heed_onnx_range *range, unsigned char *byte,
                             heed_error *error) READS(byte);
static heed_status take_varint(heed_onnx_wire *wire, heed_onnx_range *range, uint64_t *number,
                               heed_error *error) READS(number);
static heed_status take_number(heed_onnx_wire *wire, heed_onnx_range *range,
                               heed_onnx_wire_type type, uint64_t *number, heed_error *error)
    READS(number);
/* clang-format on */

#include "onnx/file/wire.c"

static heed_onnx_wire wire;
static heed_source source;

static bool range_rules(heed_onnx_range range) {
  return range.at <= range.end && range.end <= source.size;
}

static bool inside(heed_onnx_range inner, heed_onnx_range outer) {
  return outer.at <= inner.at && inner.at <= inner.end && inner.end <= outer.end;
}

static void start(void) {
  source.size = nondet_u64();
  wire.source = &source;
  wire.where = "file";
  wire.held = nondet_u32();
  wire.held_at = nondet_u64();
  fill_with_anything(wire.buffer, sizeof wire.buffer);
  assume(buffer_rules(&wire));
}

static heed_onnx_range any_range(void) {
  const heed_onnx_range range = {nondet_u64(), nondet_u64()};
  assume(range_rules(range));
  return range;
}

static heed_onnx_wire_type any_type(void) {
  const uint32_t type = nondet_u32();
  assume(type == HEED_ONNX_VARINT || type == HEED_ONNX_FIXED64 || type == HEED_ONNX_FIXED32);
  return (heed_onnx_wire_type)type;
}

void prove_byte(void) {
  start();
  heed_onnx_range range = any_range();
  unsigned char byte;
  heed_error error;
  (void)take_byte(&wire, &range, &byte, &error);
  ends();
}

void prove_varint(void) {
  start();
  heed_onnx_range range = any_range();
  uint64_t number;
  heed_error error;
  (void)take_varint(&wire, &range, &number, &error);
  ends();
}

void prove_number(void) {
  start();
  heed_onnx_range range = any_range();
  uint64_t number;
  heed_error error;
  (void)take_number(&wire, &range, any_type(), &number, &error);
  ends();
}

void prove_next(void) {
  start();
  heed_onnx_range range = any_range();
  const heed_onnx_range before = range;
  heed_onnx_field field;
  heed_error error;
  const heed_status status = heed_onnx_next(&wire, &range, &field, &error);
  claim(buffer_rules(&wire), "the buffer holds bytes of the file");
  claim(inside(range, before), "the rest is inside of the message");
  if (status != HEED_OK) return;
  claim(field.number == 0 || range.at > before.at, "a field takes bytes: loops end");
  claim(field.number != 0 || before.at == before.end, "a message ends at its end alone");
  if (field.number != 0 && field.type == HEED_ONNX_BYTES)
    claim(inside(field.range, before) && field.range.end == range.at,
          "a field's bytes are inside of its message");
  ends();
}

void prove_next_number(void) {
  start();
  heed_onnx_field field = {0};
  field.number = nondet_u32();
  field.type = nondet_bool() ? HEED_ONNX_BYTES : any_type();
  field.value = nondet_u64();
  field.range = any_range();
  const heed_onnx_field before = field;
  uint64_t number;
  bool more;
  heed_error error;
  const heed_status status =
      heed_onnx_next_number(&wire, &field, any_type(), &number, &more, &error);
  claim(buffer_rules(&wire), "the buffer holds bytes of the file");
  claim(inside(field.range, before.range), "the rest is inside of the field");
  if (status == HEED_OK && more)
    claim(field.number == 0 || field.range.at > before.range.at, "a number takes bytes: loops end");
  ends();
}

void prove_copy(void) {
  start();
  const heed_onnx_range range = any_range();
  assume(range.end - range.at <= 64);
  unsigned char to[64];
  heed_error error;
  (void)heed_onnx_copy(&wire, range, to + sizeof to - (range.end - range.at), &error);
  ends();
}
