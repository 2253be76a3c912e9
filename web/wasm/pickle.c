/* heed-pickle.wasm: files of PyTorch as .safetensors. See shim.h and heed/pickle.h. */
#include "pickle/foreign.h"

#include "base/status.h"
#include "shim.h"

heed_web *heed_web_create(uint32_t threads) {
  (void)threads;
  return heed_web_open();
}

heed_status heed_web_pickle_open(heed_web *web, const char *name, double size, uint32_t source,
                                 const char *key) {
  const heed_source from = heed_web_host_source(source, size);
  heed_pickle *file;
  HEED_TRY(
      heed_foreign_open(web->context, &from, name, HEED_EXPECTED_WEIGHTS, key, &file, &web->error));
  web->out.pickle = (struct heed_web_out_pickle){0};
  if (!file) return HEED_OK;
  web->out.pickle = (struct heed_web_out_pickle){.address = HEED_WEB_ADDRESS(file),
                                                 .size = (double)heed_pickle_source(file).size,
                                                 .shares = heed_pickle_shares(file)};
  return HEED_OK;
}

heed_status heed_web_pickle_read(heed_web *web, heed_pickle *file, double offset, void *to,
                                 size_t count) {
  const heed_source source = heed_pickle_source(file);
  return source.read(source.user, (uint64_t)offset, to, count, &web->error);
}
