/* The profiles of attention at every CPU level, over the public headers alone: for machines that
 * have neither cmocka nor the command line. Exit code 1: a case is wrong, or a call failed. */
#include <stdio.h>

#include "heed/check.h"
#include "heed/heed.h"

static void say(void *user, const char *sentence) {
  (void)user;
  printf("wrong: %s\n", sentence);
}

static int run_level(heed_context *context, const char *level, uint32_t threads) {
  const heed_cpu_desc desc = {sizeof desc, threads, level};
  heed_backend *backend;
  heed_error error;
  int wrong = 0;
  if (heed_cpu_backend_create(context, &desc, &backend, &error) != HEED_OK)
    return printf("%s: %s\n", level, error.message), 1;
  for (uint32_t i = 0; heed_profile_name(i); i++) {
    heed_profile_result result;
    if (heed_check_profile(context, backend, heed_profile_name(i), 0.0, say, NULL, &result,
                           &error) != HEED_OK) {
      printf("%s: %s\n", heed_profile_name(i), error.message);
      wrong++;
      continue;
    }
    printf("%s, %s: %u cases, %u as the standard has them, %u as heed states\n",
           heed_backend_device(backend), result.profile, result.cases, result.passed,
           result.stated);
    wrong += result.passed + result.stated != result.cases || result.cases < 80;
  }
  heed_backend_destroy(backend);
  return wrong;
}

int main(void) {
  heed_context *context;
  heed_error error;
  int wrong = 0;
  if (heed_context_create(NULL, &context, &error) != HEED_OK)
    return fprintf(stderr, "profiles: %s\n", error.message), 1;
  for (uint32_t i = 0; heed_cpu_level(i); i++)
    for (uint32_t threads = 1; threads <= 3; threads += 2)
      wrong += run_level(context, heed_cpu_level(i), threads);
  heed_context_destroy(context);
  return wrong != 0;
}
