/* Workers of a survey. See crew.h. */
#define _POSIX_C_SOURCE 200809L
#include "crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "session/threads.h"

#define MOST_WORKERS 64
#define READERS 4                /* that fit pictures for a device */
#define RING_BYTES (32ull << 20) /* of numbers that wait for their turn */

typedef struct crew_session {
  cli_pipeline pipeline; /* with the model of the desc's */
  cli_choice own;        /* a backend of its own; or */
  cli_choice *choice;    /* the desc's */
  bool busy;
} crew_session;

struct survey_crew {
  cli_state *cli;
  survey_crew_desc desc;
  crew_session *sessions;
  uint32_t session_count, worker_count;
  bool copy;    /* a session goes to another worker while its maps are read */
  bool passing; /* maps are read between the stages of a run */
  uint64_t begun, taken;
  bool held, stop, last; /* held: the caller has the picture `taken - 1`; last: no more begin */
  survey_worked *ring;
  uint32_t ahead;
  /* making: one session is made at a time; feeding: one picture begins at a time */
  pthread_mutex_t mutex, making, feeding;
  pthread_cond_t done, room, idle;
  uint32_t started;
  pthread_t thread[MOST_WORKERS];
};

/* --------------------------------------------------------------------------------------- sessions
 */

/* What a session takes beside the weights; 0: it cannot be planned without a picture. */
static uint64_t session_bytes(cli_state *cli, const survey_crew_desc *desc, bool passing) {
  cli_pipeline *pipeline = desc->pipeline;
  heed_memory memory = {0};
  pipeline->build.height = desc->shape->rows * desc->shape->patch;
  pipeline->build.width = desc->shape->columns * desc->shape->patch;
  pipeline->passing = passing;
  if (cli_pipeline_plan(cli, pipeline, desc->choice) == HEED_OK)
    heed_plan_memory(pipeline->plan, &memory);
  cli_pipeline_reset(pipeline);
  pipeline->passing = false;
  return memory.arena + memory.workspace;
}

static uint32_t count_sessions(cli_state *cli, const survey_crew_desc *desc, bool passing,
                               uint32_t threads) {
  const uint64_t bytes = session_bytes(cli, desc, passing);
  const uint64_t fit = bytes ? 1 + SURVEY_SESSION_BYTES / bytes : 1;
  uint32_t count = threads < fit ? threads : (uint32_t)fit;
  if (count > desc->count) count = desc->count ? (uint32_t)desc->count : 1;
  return count < MOST_WORKERS ? count : MOST_WORKERS;
}

/* A session's pipeline shares model and names with the desc's, which outlives it. */
static void borrow_pipeline(const survey_crew_desc *desc, bool passing, crew_session *session) {
  session->pipeline = *desc->pipeline;
  session->pipeline.taps = NULL;
  session->pipeline.passing = passing;
  session->choice = desc->choice;
}

static heed_status open_sessions(survey_crew *crew) {
  const survey_crew_desc *desc = &crew->desc;
  const uint32_t own = heed_backend_threads(desc->choice->opened), threads = own ? own : READERS;
  cli_pipeline_reset(desc->pipeline);
  /* an explanation makes sessions, which go alone: it has all threads */
  const bool alone = !own || desc->extras->maps;
  /* an embedding is read after the run */
  crew->passing = !alone && !desc->extras->embeds;
  crew->session_count = alone ? 1 : count_sessions(crew->cli, desc, crew->passing, threads);
  crew->worker_count = threads < MOST_WORKERS ? threads : MOST_WORKERS;
  crew->copy = crew->session_count < crew->worker_count;
  if (crew->copy && crew->passing) { /* whose session nobody else can run meanwhile */
    crew->passing = false;
    crew->session_count = count_sessions(crew->cli, desc, false, threads);
  }
  crew->sessions = calloc(crew->session_count, sizeof *crew->sessions);
  if (!crew->sessions)
    return heed_fail_memory(&crew->cli->error, "sessions", sizeof *crew->sessions);
  for (uint32_t i = 0; i < crew->session_count; i++) {
    crew_session *session = &crew->sessions[i];
    borrow_pipeline(desc, crew->passing, session);
    if (crew->session_count == 1) continue;
    session->own = *desc->choice;
    session->own.backend = "cpu";
    session->own.quiet = true;
    session->own.threads = threads / crew->session_count;
    session->choice = &session->own;
    cli_state silent = *crew->cli;
    silent.silent = true;
    const heed_status status = cli_choice_open(&silent, &session->own);
    if (status != HEED_OK) {
      session->own.opened = NULL;
      crew->cli->error = silent.error;
      return status;
    }
  }
  return HEED_OK;
}

static void close_session(crew_session *session) {
  cli_pipeline_reset(&session->pipeline);
  free(session->pipeline.taps);
  cli_choice_close(&session->own);
}

static crew_session *take_session(survey_crew *crew) {
  crew_session *found = NULL;
  pthread_mutex_lock(&crew->mutex);
  while (!found) {
    for (uint32_t i = 0; i < crew->session_count && !found; i++)
      if (!crew->sessions[i].busy) found = &crew->sessions[i];
    if (!found) pthread_cond_wait(&crew->idle, &crew->mutex);
  }
  found->busy = true;
  pthread_mutex_unlock(&crew->mutex);
  return found;
}

static void give_session(survey_crew *crew, crew_session *session) {
  pthread_mutex_lock(&crew->mutex);
  session->busy = false;
  pthread_cond_signal(&crew->idle);
  pthread_mutex_unlock(&crew->mutex);
}

/* ---------------------------------------------------------------------------------------- working
 */

/* A run that makes a session goes alone: sessions share the weights that the first one packs. */
static heed_status run_model(survey_crew *crew, cli_state *cli, crew_session *session,
                             const cli_prepared *prepared, survey_maps *maps,
                             survey_numbers *numbers) {
  cli_pipeline *pipeline = &session->pipeline;
  const bool fresh = !pipeline->session || pipeline->build.height != prepared->height ||
                     pipeline->build.width != prepared->width;
  if (fresh) {
    pthread_mutex_lock(&crew->making);
    cli_pipeline_reset(pipeline);
    pipeline->build.height = prepared->height;
    pipeline->build.width = prepared->width;
  }
  const heed_status status =
      pipeline->passing ? survey_gather_run(cli, pipeline, session->choice, crew->desc.shape,
                                            prepared, maps, numbers)
                        : cli_pipeline_run(cli, pipeline, session->choice, prepared->pixels);
  if (fresh) pthread_mutex_unlock(&crew->making);
  return status;
}

/* The numbers of what a run left in its session. */
static heed_status gather_all(survey_crew *crew, cli_state *cli, crew_session *session,
                              const cli_prepared *prepared, survey_maps *maps,
                              survey_numbers *numbers) {
  const survey_shape *shape = crew->desc.shape;
  CLI_TRY(survey_maps_take(cli, &session->pipeline, shape, crew->copy, maps));
  CLI_TRY(survey_gather_states(cli, &session->pipeline, shape, numbers));
  return survey_extras_gather(cli, crew->desc.extras, &session->pipeline, session->choice, prepared,
                              shape, numbers);
}

static heed_status work_on(survey_crew *crew, cli_state *cli, const cli_prepared *prepared,
                           survey_maps *maps, survey_worked *to) {
  crew_session *session = take_session(crew);
  heed_status status = run_model(crew, cli, session, prepared, maps, &to->numbers);
  if (status == HEED_OK && !crew->passing)
    status = gather_all(crew, cli, session, prepared, maps, &to->numbers);
  if (crew->copy) give_session(crew, session);
  if (status == HEED_OK && !crew->passing)
    status = survey_gather(cli, crew->desc.shape, maps, &to->numbers);
  if (!crew->copy) give_session(crew, session);
  to->width = prepared->width;
  to->height = prepared->height;
  to->top = maps->top;
  return status;
}

/* Waits for room in the ring; false: it is the end. */
static bool wait_for_room(survey_crew *crew) {
  pthread_mutex_lock(&crew->mutex);
  while (!crew->stop && !crew->last && crew->begun - (crew->taken - crew->held) >= crew->ahead)
    pthread_cond_wait(&crew->room, &crew->mutex);
  const bool room = !crew->stop && !crew->last;
  pthread_mutex_unlock(&crew->mutex);
  return room;
}

/* The place of the picture to work on next, whose item is there; NULL after the last. What ends the
 * list is a picture that failed. */
static survey_worked *begin_one(survey_crew *crew, cli_state *cli) {
  survey_worked *to = NULL;
  bool some = false;
  pthread_mutex_lock(&crew->feeding);
  if (wait_for_room(crew)) {
    to = &crew->ring[crew->begun % crew->ahead];
    to->item = (survey_item){0};
    to->status = crew->desc.next(cli, crew->desc.user, &to->item, &some);
    if (to->status != HEED_OK) to->error = cli->error;
  }
  pthread_mutex_lock(&crew->mutex);
  crew->last = crew->last || !some;
  crew->begun += some || (to && to->status != HEED_OK);
  if (to && to->status != HEED_OK) {
    to->done = true;
    to->bad = false;
  }
  if (crew->last) { /* whoever waits for more waits in vain */
    pthread_cond_broadcast(&crew->room);
    pthread_cond_broadcast(&crew->done);
  }
  pthread_mutex_unlock(&crew->mutex);
  pthread_mutex_unlock(&crew->feeding);
  return some && to && to->status == HEED_OK ? to : NULL;
}

static void *work(void *user) {
  survey_crew *crew = user;
  cli_state own = *crew->cli;
  survey_maps maps = {0};
  cli_prepared prepared = {0};
  survey_worked *to;
  while ((to = begin_one(crew, &own)) != NULL) {
    to->status = crew->desc.read(&own, crew->desc.user, &to->item, &prepared, &maps.twins);
    to->bad = to->status != HEED_OK;
    free(to->item.of.bytes); /* nobody needs them again */
    to->item.of.bytes = NULL;
    to->part = prepared.part;
    if (!to->bad) to->status = work_on(crew, &own, &prepared, &maps, to);
    if (to->status != HEED_OK) to->error = own.error;
    pthread_mutex_lock(&crew->mutex);
    to->done = true;
    pthread_cond_signal(&crew->done);
    pthread_mutex_unlock(&crew->mutex);
  }
  free(prepared.pixels);
  survey_maps_free(&maps);
  return NULL;
}

/* --------------------------------------------------------------------------------------- the crew
 */

static heed_status make_ring(survey_crew *crew) {
  const survey_shape *shape = crew->desc.shape;
  const uint64_t each = survey_heads(shape) *
                        (SURVEY_STATISTICS + survey_tokens(shape) + survey_offsets(shape)) *
                        sizeof(double);
  const uint32_t wanted = 2 * crew->worker_count, least = crew->worker_count + 1;
  crew->ahead = wanted * each > RING_BYTES ? least : wanted;
  crew->ring = calloc(crew->ahead, sizeof *crew->ring);
  if (!crew->ring)
    return heed_fail_memory(&crew->cli->error, "images", crew->ahead * sizeof *crew->ring);
  for (uint32_t i = 0; i < crew->ahead; i++)
    CLI_TRY(survey_numbers_create(shape, &crew->ring[i].numbers, &crew->cli->error));
  return HEED_OK;
}

heed_status survey_crew_begin(cli_state *cli, const survey_crew_desc *desc, survey_crew **crew) {
  survey_crew *made = calloc(1, sizeof *made);
  *crew = made;
  if (!made) return heed_fail_memory(&cli->error, "images", sizeof *made);
  made->cli = cli;
  made->desc = *desc;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_mutex_init(&made->making, NULL);
  pthread_mutex_init(&made->feeding, NULL);
  pthread_cond_init(&made->done, NULL);
  pthread_cond_init(&made->room, NULL);
  pthread_cond_init(&made->idle, NULL);
  heed_status status = open_sessions(made);
  if (status == HEED_OK) status = make_ring(made);
  if (status == HEED_OK)
    made->started = cli_threads_start(work, made, made->worker_count, made->thread);
  if (status == HEED_OK && !made->started)
    status = heed_fail(&cli->error, HEED_OUT_OF_MEMORY, "images: no thread can be started");
  if (status == HEED_OK) return HEED_OK;
  survey_crew_end(made);
  *crew = NULL;
  return status;
}

const survey_worked *survey_crew_take(survey_crew *crew) {
  pthread_mutex_lock(&crew->mutex);
  if (crew->held) {
    survey_worked *before = &crew->ring[(crew->taken - 1) % crew->ahead];
    survey_item_free(&before->item);
    before->done = false;
    crew->held = false;
    pthread_cond_signal(&crew->room);
  }
  survey_worked *next = &crew->ring[crew->taken % crew->ahead];
  while (!next->done && !(crew->last && crew->taken == crew->begun))
    pthread_cond_wait(&crew->done, &crew->mutex);
  crew->held = next->done;
  crew->taken += crew->held;
  pthread_mutex_unlock(&crew->mutex);
  return next->done ? next : NULL;
}

void survey_crew_end(survey_crew *crew) {
  if (!crew) return;
  pthread_mutex_lock(&crew->mutex);
  crew->stop = true;
  pthread_cond_broadcast(&crew->room);
  pthread_mutex_unlock(&crew->mutex);
  for (uint32_t i = 0; i < crew->started; i++) pthread_join(crew->thread[i], NULL);
  for (uint32_t i = 0; crew->sessions && i < crew->session_count; i++)
    close_session(&crew->sessions[i]);
  for (uint32_t i = 0; crew->ring && i < crew->ahead; i++) {
    survey_numbers_free(&crew->ring[i].numbers);
    survey_item_free(&crew->ring[i].item);
  }
  free(crew->sessions);
  free(crew->ring);
  pthread_cond_destroy(&crew->idle);
  pthread_cond_destroy(&crew->room);
  pthread_cond_destroy(&crew->done);
  pthread_mutex_destroy(&crew->feeding);
  pthread_mutex_destroy(&crew->making);
  pthread_mutex_destroy(&crew->mutex);
  free(crew);
}
