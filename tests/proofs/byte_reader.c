/* The reader of pickles and zip directories, from any state that its rules allow. */
#include "pickle/byte_reader.h"

#include "pickle/byte_reader.c"
#include "proofs/proof.h"

#define MOST_TAKEN 5 /* of a buffer of 2 bytes: filled up to three times */

static heed_byte_reader reader;
static heed_source source;

static bool reader_rules(void) {
  return reader.source == &source && reader.from <= reader.held &&
         reader.held <= sizeof reader.buffer && reader.end <= source.size &&
         (reader.next <= reader.end || reader.from == reader.held) &&
         reader.held - reader.from <= reader.next;
}

static void start(void) {
  source.size = nondet_u64();
  heed_byte_reader_start(&reader, &source, "file", nondet_u64(), nondet_u64());
  claim(reader_rules(), "a reader starts in order");
  reader.next = nondet_u64();
  reader.from = nondet_u32();
  reader.held = nondet_u32();
  fill_with_anything(reader.buffer, sizeof reader.buffer);
  assume(reader_rules());
}

void prove_take(void) {
  unsigned char to[MOST_TAKEN];
  heed_error error;
  start();
  const uint64_t count = nondet_u64(), before = heed_byte_reader_at(&reader);
  assume(count <= MOST_TAKEN);
  const heed_status status =
      heed_byte_reader_take(&reader, nondet_bool() ? to + sizeof to - count : NULL, count, &error);
  claim(reader_rules(), "a reader stays in order");
  claim(status != HEED_OK || heed_byte_reader_at(&reader) == before + count,
        "what is taken is behind the reader");
  claim(status != HEED_OK || count == 0 || before + count <= source.size,
        "what is taken is of the file");
  ends();
}
