/* Text as ids. See shim.h and heed/tokenizer.h. */
#include "heed/tokenizer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

heed_status heed_web_tokenizer_open(heed_web *web, const char *names, const double *sizes,
                                    const void *bytes, uint32_t count) {
  heed_model_file *files = heed_alloc(web->context, count + 1u, sizeof *files);
  if (!files) return heed_fail_memory(&web->error, "tokenizer", count * sizeof *files);
  const char *at = bytes;
  for (uint32_t i = 0; i < count; i++) {
    files[i] = (heed_model_file){names, {(uint64_t)sizes[i], at, NULL, NULL}};
    names += strlen(names) + 1;
    at += (size_t)sizes[i];
  }
  const heed_model_desc desc = {sizeof desc, files, count, HEED_TOWER_TEXT};
  heed_tokenizer *tokenizer;
  const heed_status status = heed_tokenizer_open(web->context, &desc, &tokenizer, &web->error);
  heed_free(web->context, files);
  HEED_TRY(status);
  const heed_tokenizer_info *info = heed_tokenizer_get_info(tokenizer);
  web->out.tokenizer = (struct heed_web_out_tokenizer){.address = HEED_WEB_ADDRESS(tokenizer),
                                                       .kind = HEED_WEB_ADDRESS(info->kind),
                                                       .vocabulary = info->vocabulary,
                                                       .begin = info->begin,
                                                       .end = info->end,
                                                       .padding = info->padding,
                                                       .most = info->most,
                                                       .assumed = HEED_WEB_ADDRESS(info->assumed)};
  return HEED_OK;
}

heed_status heed_web_tokenizer_encode(heed_web *web, const heed_tokenizer *tokenizer,
                                      const char *text, size_t length, int32_t *ids,
                                      uint32_t most) {
  uint32_t count, whole;
  HEED_TRY(heed_tokenizer_encode(tokenizer, text, length, ids, most, &count, &whole, &web->error));
  web->out.ids = (struct heed_web_out_ids){.count = count, .whole = whole};
  return HEED_OK;
}

void heed_web_tokenizer_text(const heed_tokenizer *tokenizer, int32_t id, char *to, size_t size) {
  heed_tokenizer_text(tokenizer, id, to, size);
}
