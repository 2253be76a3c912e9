/* Threads beside the main one. See threads.h. */
#include "threads.h"

#include "terminal/system.h"

#define STACK_BYTES (2u << 20) /* some C libraries give threads less than decoders take */

uint32_t cli_threads_start(void *(*work)(void *user), void *user, uint32_t wanted,
                           pthread_t *threads) {
  pthread_attr_t attributes;
  uint32_t started = 0;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  while (started < wanted && cli_system_thread(&threads[started], &attributes, work, user))
    started++;
  pthread_attr_destroy(&attributes);
  return started;
}
