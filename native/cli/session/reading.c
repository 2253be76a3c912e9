/* Pictures that are read ahead, in a ring. See reading.h. */
#define _POSIX_C_SOURCE 200809L
#include "reading.h"

#include <pthread.h>
#include <stdlib.h>

#include "threads.h"

#define MOST_THREADS 8

typedef struct read_picture {
  bool done;
  heed_status status;
  heed_error error; /* of a picture that failed */
  cli_prepared prepared;
} read_picture;

struct cli_reading {
  cli_state *cli;
  cli_read_picture read;
  void *user;
  uint32_t count, ahead;
  uint32_t begun, taken; /* pictures whose reading has begun; that were taken */
  bool stop;
  read_picture *ring; /* [ahead] */
  pthread_mutex_t mutex;
  pthread_cond_t done, room;
  uint32_t threads;
  pthread_t thread[MOST_THREADS];
};

/* The picture to read next; false after the last. Waits for room in the ring. */
static bool begin_one(cli_reading *r, uint32_t *picture) {
  pthread_mutex_lock(&r->mutex);
  while (!r->stop && r->begun < r->count && r->begun - r->taken >= r->ahead)
    pthread_cond_wait(&r->room, &r->mutex);
  const bool some = !r->stop && r->begun < r->count;
  if (some) *picture = r->begun++;
  pthread_mutex_unlock(&r->mutex);
  return some;
}

static void *work(void *user) {
  cli_reading *r = user;
  cli_state own = *r->cli;
  uint32_t picture;
  while (begin_one(r, &picture)) {
    cli_prepared prepared = {0};
    const heed_status status = r->read(&own, r->user, picture, &prepared);
    pthread_mutex_lock(&r->mutex);
    r->ring[picture % r->ahead] = (read_picture){true, status, own.error, prepared};
    pthread_cond_signal(&r->done);
    pthread_mutex_unlock(&r->mutex);
  }
  return NULL;
}

heed_status cli_reading_begin(cli_state *cli, cli_read_picture read, void *user, uint32_t count,
                              uint32_t ahead, uint32_t threads, cli_reading **reading) {
  cli_reading *made = calloc(1, sizeof *made);
  *reading = made;
  if (!made) return heed_fail_memory(&cli->error, "images", sizeof *made);
  made->cli = cli;
  made->read = read;
  made->user = user;
  made->count = count;
  made->ahead = ahead;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->done, NULL);
  pthread_cond_init(&made->room, NULL);
  made->ring = calloc(ahead, sizeof *made->ring);
  if (!made->ring) {
    cli_reading_end(made);
    *reading = NULL;
    return heed_fail_memory(&cli->error, "images", ahead * sizeof *made->ring);
  }
  made->threads =
      cli_threads_start(work, made, threads < MOST_THREADS ? threads : MOST_THREADS, made->thread);
  return HEED_OK;
}

heed_status cli_reading_take(cli_reading *r, cli_prepared *prepared) {
  if (!r->threads) return r->read(r->cli, r->user, r->taken++, prepared);
  read_picture *next = &r->ring[r->taken % r->ahead];
  pthread_mutex_lock(&r->mutex);
  while (!next->done) pthread_cond_wait(&r->done, &r->mutex);
  const read_picture picture = *next;
  *next = (read_picture){0};
  r->taken++;
  pthread_cond_signal(&r->room);
  pthread_mutex_unlock(&r->mutex);
  *prepared = picture.prepared;
  if (picture.status != HEED_OK) r->cli->error = picture.error;
  return picture.status;
}

void cli_reading_end(cli_reading *r) {
  if (!r) return;
  pthread_mutex_lock(&r->mutex);
  r->stop = true;
  pthread_cond_broadcast(&r->room);
  pthread_mutex_unlock(&r->mutex);
  for (uint32_t i = 0; i < r->threads; i++) pthread_join(r->thread[i], NULL);
  for (uint32_t i = 0; r->ring && i < r->ahead; i++) free(r->ring[i].prepared.pixels);
  free(r->ring);
  pthread_cond_destroy(&r->room);
  pthread_cond_destroy(&r->done);
  pthread_mutex_destroy(&r->mutex);
  free(r);
}
