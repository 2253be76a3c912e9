/* Threads beside the main one. */
#ifndef HEED_CLI_SESSION_THREADS_H
#define HEED_CLI_SESSION_THREADS_H

#include <pthread.h>
#include <stdint.h>

/* Starts up to `wanted` threads that do `work`, and returns how many there are: fewer where no more
 * can be had. They take no signals, which are the main thread's. Join each of threads [wanted]. */
uint32_t cli_threads_start(void *(*work)(void *user), void *user, uint32_t wanted,
                           pthread_t *threads);

#endif
