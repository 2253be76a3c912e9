/* A program of somebody else's: says which heed it got, and fails when header and library disagree.
 * Compiles as C and as C++. */
#include <stdio.h>
#include <string.h>

#include "heed/heed.h"
#ifdef CONSUMER_CHECK
#include "heed/check.h"
#endif
#ifdef CONSUMER_VULKAN
#include "heed/vulkan.h"
#endif

#ifdef CONSUMER_CHECK
/* Two bytes are no case file, which the library must say. */
static int check(heed_context *context) {
  heed_error error;
  heed_backend *backend;
  heed_check_result result;
  if (heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK) return 1;
  const heed_status status =
      heed_check_case(context, backend, "{}", 2, 0.0, NULL, NULL, &result, &error);
  printf("check: %s\n", error.message);
  heed_backend_destroy(backend);
  return status != HEED_INVALID_FILE;
}
#endif

int main(void) {
  heed_error error;
  heed_context *context;
  if (heed_context_create(NULL, &context, &error) != HEED_OK) {
    fprintf(stderr, "heed_context_create: %s\n", error.message);
    return 1;
  }
  printf("heed %s\n", heed_version());
#ifdef CONSUMER_CHECK
  if (check(context) != 0) return 1;
#endif
#ifdef CONSUMER_VULKAN
  /* Either a device or a sentence: that it links is what is tested. */
  heed_backend *backend;
  const heed_status status = heed_vulkan_backend_create(context, NULL, &backend, &error);
  printf("Vulkan: %s\n", status == HEED_OK ? heed_backend_device(backend) : error.message);
  heed_backend_destroy(backend);
#endif
  heed_context_destroy(context);
  char numbers[32];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", HEED_VERSION_MAJOR, HEED_VERSION_MINOR,
           HEED_VERSION_PATCH);
  if (strcmp(heed_version(), HEED_VERSION) == 0 && strcmp(numbers, HEED_VERSION) == 0) return 0;
  fprintf(stderr, "the library is %s, the header is %s, its numbers are %s\n", heed_version(),
          HEED_VERSION, numbers);
  return 1;
}
