/* Bytes of a source in their order. See byte_reader.h. */
#include "pickle/byte_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "model/files/source.h"

uint64_t heed_little_endian(const unsigned char *bytes, size_t count) {
  uint64_t number = 0;
  while (count-- > 0) number = number << 8 | bytes[count];
  return number;
}

/* CRC-32 of IEEE 802.3, reflected, four bits at a time. */
static uint32_t add_to_crc(uint32_t crc, const unsigned char *bytes, size_t count) {
  static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                     0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                     0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                     0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
  crc = ~crc;
  for (size_t i = 0; i < count; i++) {
    crc ^= bytes[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

void heed_byte_reader_start(heed_byte_reader *reader, const heed_source *source, const char *where,
                            uint64_t begin, uint64_t end) {
  reader->source = source;
  reader->where = where;
  reader->next = begin;
  reader->end = end < source->size ? end : source->size;
  reader->crc = 0;
  reader->from = reader->held = 0;
}

uint64_t heed_byte_reader_at(const heed_byte_reader *reader) {
  return reader->next - (reader->held - reader->from);
}

static heed_status refill(heed_byte_reader *reader, heed_error *error) {
  const uint64_t left = reader->end > reader->next ? reader->end - reader->next : 0;
  const uint32_t count =
      left < sizeof reader->buffer ? (uint32_t)left : (uint32_t)sizeof reader->buffer;
  if (count == 0)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: truncated (found its end at byte %" PRIu64 ", expected more)",
                     reader->where, reader->next);
  HEED_TRY(
      heed_source_read(reader->source, reader->where, reader->next, reader->buffer, count, error));
  reader->crc = add_to_crc(reader->crc, reader->buffer, count);
  reader->next += count;
  reader->from = 0;
  reader->held = count;
  return HEED_OK;
}

heed_status heed_byte_reader_take(heed_byte_reader *reader, void *to, uint64_t count,
                                  heed_error *error) {
  unsigned char *bytes = to;
  while (count > 0) {
    if (reader->from == reader->held) HEED_TRY(refill(reader, error));
    const uint32_t room = reader->held - reader->from, part = count < room ? (uint32_t)count : room;
    if (bytes) {
      memcpy(bytes, reader->buffer + reader->from, part);
      bytes += part;
    }
    reader->from += part;
    count -= part;
  }
  return HEED_OK;
}

heed_status heed_byte_reader_finish(heed_byte_reader *reader, heed_error *error) {
  return heed_byte_reader_take(reader, NULL, reader->end - heed_byte_reader_at(reader), error);
}
