/* Threads beside the main one. See threads.h. */
#define _POSIX_C_SOURCE 200809L
#include "threads.h"

#include <signal.h>

#define STACK_BYTES (2u << 20) /* some C libraries give threads less than decoders take */

uint32_t cli_threads_start(void *(*work)(void *user), void *user, uint32_t wanted,
                           pthread_t *threads) {
  sigset_t all, before;
  pthread_attr_t attributes;
  uint32_t started = 0;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  sigdelset(&all, SIGSYS); /* of the sandbox: blocked, it ends the program without a word */
  pthread_sigmask(SIG_BLOCK, &all, &before);
  while (started < wanted && pthread_create(&threads[started], &attributes, work, user) == 0)
    started++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}
