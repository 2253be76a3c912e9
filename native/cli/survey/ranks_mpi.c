/* Ranks of MPI. See ranks.h.
 *
 * A thread of rank 0 answers requests: it alone calls MPI there, and asks for messages every half
 * millisecond, so that it takes no core from the model. In the other ranks workers call MPI, one at
 * a time. A request is one message each way for up to MOST_RANGE pictures. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "ranks.h"

#define MOST_RANGE 64
#define POLL_NANOSECONDS 500000

enum { REQUEST = 1, REPLY = 2 };

typedef struct range {
  uint64_t first, end;
} range;

struct survey_ranks {
  survey_rank own;
  uint64_t count, todo; /* pictures in all; that nobody was given yet */
  uint64_t next;        /* rank 0: where to look for them */
  uint8_t *done;        /* rank 0: of all ranks */
  range given;          /* to this rank */
  bool serves;
  pthread_mutex_t mutex; /* rank 0: the thread that answers, and its own workers */
  pthread_t server;
};

/* ----------------------------------------------------------------------------------- rank 0 gives
 */

static bool is_done(const survey_ranks *r, uint64_t picture) {
  return r->done[picture / 8] >> picture % 8 & 1;
}

/* Shorter towards the end, so that all ranks end together. */
static range give(survey_ranks *r) {
  pthread_mutex_lock(&r->mutex);
  const uint64_t share = r->todo / (4 * (uint64_t)r->own.count), most = share < 1 ? 1
                                                                        : share < MOST_RANGE
                                                                            ? share
                                                                            : MOST_RANGE;
  while (r->next < r->count && is_done(r, r->next)) r->next++;
  range given = {r->next, r->next};
  while (given.end < r->count && given.end - given.first < most && !is_done(r, given.end))
    given.end++;
  r->next = given.end;
  r->todo -= given.end - given.first;
  pthread_mutex_unlock(&r->mutex);
  return given;
}

/* Until each rank was told that there is no more. */
static void *serve(void *user) {
  survey_ranks *r = user;
  const struct timespec pause = {0, POLL_NANOSECONDS};
  for (uint32_t left = r->own.count - 1; left > 0;) {
    int there;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, REQUEST, MPI_COMM_WORLD, &there, &status);
    if (!there) {
      nanosleep(&pause, NULL);
      continue;
    }
    MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, REQUEST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const range given = give(r);
    MPI_Send(&given, sizeof given, MPI_BYTE, status.MPI_SOURCE, REPLY, MPI_COMM_WORLD);
    left -= given.first == given.end;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------------- each rank
 */

/* Rank 0 may have ended, by a signal that this rank gets, too: then nobody answers. */
static void ask(survey_ranks *r) {
  const struct timespec pause = {0, POLL_NANOSECONDS};
  MPI_Request reply;
  int there = 0;
  MPI_Irecv(&r->given, sizeof r->given, MPI_BYTE, 0, REPLY, MPI_COMM_WORLD, &reply);
  MPI_Send(NULL, 0, MPI_BYTE, 0, REQUEST, MPI_COMM_WORLD);
  MPI_Test(&reply, &there, MPI_STATUS_IGNORE);
  while (!there && !cli_signals_arrived()) {
    nanosleep(&pause, NULL);
    MPI_Test(&reply, &there, MPI_STATUS_IGNORE);
  }
}

bool survey_ranks_next(survey_ranks *r, uint64_t *picture) {
  if (r->given.first == r->given.end && r->own.rank == 0) {
    r->given = give(r);
  } else if (r->given.first == r->given.end) {
    ask(r);
  }
  if (r->given.first == r->given.end) return false;
  *picture = r->given.first++;
  return true;
}

heed_status survey_ranks_share(cli_state *cli, survey_ranks *r, const uint8_t *done, uint64_t count,
                               uint64_t *todo) {
  const size_t bytes = (size_t)count / 8 + 1;
  uint8_t *own = calloc(bytes, 1);
  r->done = calloc(bytes, 1);
  if (!own || !r->done) {
    free(own);
    return heed_fail_memory(&cli->error, "ranks", 2 * bytes);
  }
  for (size_t i = 0; done && i < bytes; i++) own[i] = done[i];
  MPI_Reduce(own, r->done, (int)bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
  free(own);
  r->count = count;
  for (uint64_t i = 0; i < count; i++) r->todo += !is_done(r, i);
  *todo = r->todo;
  if (r->own.rank != 0 || r->own.count == 1) return HEED_OK;
  r->serves = pthread_create(&r->server, NULL, serve, r) == 0;
  return r->serves ? HEED_OK
                   : heed_fail(&cli->error, HEED_OUT_OF_MEMORY, "ranks: no thread can be started");
}

int64_t survey_ranks_sum(survey_ranks *r, int64_t number) {
  int64_t sum = number;
  MPI_Allreduce(&number, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  (void)r;
  return sum;
}

void survey_ranks_meet(survey_ranks *r) {
  if (r->serves) pthread_join(r->server, NULL);
  r->serves = false;
  MPI_Barrier(MPI_COMM_WORLD);
}

survey_rank survey_ranks_own(const survey_ranks *r) { return r ? r->own : (survey_rank){0, 1, 0}; }

/* Only a launcher's process begins MPI, which takes a tenth of a second. */
static bool is_launched(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return true;
  return false;
}

heed_status survey_ranks_begin(cli_state *cli, survey_ranks **ranks) {
  int provided, rank, count, local;
  MPI_Comm machine;
  *ranks = NULL;
  if (!is_launched()) return HEED_OK;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &local);
  MPI_Comm_free(&machine);
  survey_ranks *made = calloc(1, sizeof *made);
  *ranks = made;
  if (!made) return heed_fail_memory(&cli->error, "ranks", sizeof *made);
  made->own = (survey_rank){(uint32_t)rank, (uint32_t)count, (uint32_t)local};
  pthread_mutex_init(&made->mutex, NULL);
  return provided >= MPI_THREAD_SERIALIZED
             ? HEED_OK
             : heed_fail(&cli->error, HEED_UNSUPPORTED,
                         "MPI: no threads (found level %d, expected MPI_THREAD_SERIALIZED)",
                         provided);
}

void survey_ranks_end(survey_ranks *r, bool failed) {
  if (!r) return;
  if (failed && r->own.count > 1) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  pthread_mutex_destroy(&r->mutex);
  free(r->done);
  free(r);
}
