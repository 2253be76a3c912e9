/* Files of PyTorch, and those of other makers, which are refused by name. See shim.h and
 * heed/pickle.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "pickle/foreign.h"
#include "shim.h"

typedef struct pickle_reader {
  heed_web_reader base;
  heed_pickle *file;
} pickle_reader;

static void close_pickle(const heed_web *web, heed_web_reader *reader) {
  heed_pickle_destroy(((pickle_reader *)reader)->file);
  heed_free(web->context, reader);
}

heed_status heed_web_pickle_open(heed_web *web, const char *name, double size, uint32_t source,
                                 const char *key) {
  const heed_source from = heed_web_host_source(source, size);
  heed_pickle *file;
  HEED_TRY(
      heed_foreign_open(web->context, &from, name, HEED_EXPECTED_WEIGHTS, key, &file, &web->error));
  web->out.reader = (struct heed_web_out_reader){0};
  if (!file) return HEED_OK;
  pickle_reader *reader = heed_alloc(web->context, 1, sizeof *reader);
  if (!reader) {
    heed_pickle_destroy(file);
    return heed_fail_memory(&web->error, name, sizeof *reader);
  }
  *reader = (pickle_reader){{heed_pickle_source(file), close_pickle}, file};
  web->out.reader = (struct heed_web_out_reader){.address = HEED_WEB_ADDRESS(reader),
                                                 .size = (double)reader->base.source.size,
                                                 .shares = heed_pickle_shares(file)};
  return HEED_OK;
}
