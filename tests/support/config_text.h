/* config.json and preprocessor_config.json from texts; for programs that have the context of
 * test_context.h. */
#ifndef HEED_TESTS_SUPPORT_CONFIG_TEXT_H
#define HEED_TESTS_SUPPORT_CONFIG_TEXT_H

#include <string.h>

#include "model/config/config.h"
#include "support/test_context.h"
#include "support/weights.h"

/* Either text may be NULL: no such file. */
static inline heed_status open_texts(const char *config_text, const char *preprocessor,
                                     heed_config **config) {
  heed_model_file files[2] = {{NULL, {0}}};
  uint32_t count = 0;
  if (config_text)
    files[count++] =
        (heed_model_file){"config.json", test_source(config_text, strlen(config_text))};
  if (preprocessor)
    files[count++] = (heed_model_file){"preprocessor_config.json",
                                       test_source(preprocessor, strlen(preprocessor))};
  return heed_config_open(context, files, count, HEED_TOWER_VISION, config, &error);
}

#endif
