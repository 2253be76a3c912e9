/* Files of other containers as .safetensors files. See shim.h. */
#include "shim.h"

void heed_web_reader_close(const heed_web *web, heed_web_reader *reader) {
  if (reader) reader->close(web, reader);
}

heed_status heed_web_reader_read(heed_web *web, const heed_web_reader *reader, double offset,
                                 void *to, size_t count) {
  return reader->source.read(reader->source.user, (uint64_t)offset, to, count, &web->error);
}
