/* Drops a status; a compiler with -Werror must refuse it. */
#include "heed/native.h"
#include "heed/vulkan.h"

int main(void) {
#if defined(DROP_VULKAN)
  heed_vulkan_self_check(NULL, NULL, NULL, NULL);
#elif defined(DROP_NATIVE)
  heed_model_files_open(NULL, NULL, NULL, NULL);
#elif defined(DROP_HEED)
  heed_session_run(NULL, NULL, NULL);
#endif
  return 0;
}
