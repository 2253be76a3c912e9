/* Sessions of one model have its weights once, whatever their sizes, and give the same numbers as
 * sessions that are alone. */
#include <pthread.h>

#include "base/system.h"
#include "support/opened_vit.h"

enum { THREADS = 4, ROUNDS = 6 };

/* An allocator that knows how many bytes are held. */
typedef struct held {
  size_t bytes;
} held;

enum { HEAD = 64 };

static void *held_alloc(size_t size, size_t alignment, void *user) {
  assert_int_equal(alignment, HEAD);
  unsigned char *block = heed_system_alloc(HEAD + size, HEAD);
  if (!block) return NULL;
  memcpy(block, &size, sizeof size);
  ((held *)user)->bytes += size;
  return block + HEAD;
}

static void held_free(void *pointer, void *user) {
  unsigned char *block = (unsigned char *)pointer - HEAD;
  size_t size;
  memcpy(&size, block, sizeof size);
  ((held *)user)->bytes -= size;
  heed_system_free(block);
}

/* A session of a model, on a backend of its own. */
typedef struct alone {
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} alone;

static void make(alone *a, heed_context *context, const heed_model *model, const char *level,
                 uint32_t threads, uint32_t batch) {
  heed_error error;
  const heed_cpu_desc cpu = {sizeof cpu, threads, level};
  const heed_build_desc build = {.struct_size = sizeof build, .batch = batch};
  assert_ok(heed_cpu_backend_create(context, &cpu, &a->backend, &error));
  assert_ok(heed_model_build(model, &build, &a->graph, &error));
  assert_ok(heed_plan_create(a->graph, a->backend, NULL, &a->plan, &error));
  assert_ok(heed_session_create(a->plan, NULL, &a->session, &error));
}

static void drop(alone *a) {
  heed_session_destroy(a->session);
  heed_plan_destroy(a->plan);
  heed_graph_destroy(a->graph);
  heed_backend_destroy(a->backend);
}

/* The last hidden state of the first image, whose pixels are made by a rule; the caller frees. */
static float *run(const alone *a, uint64_t *count) {
  heed_error error;
  heed_value_info info;
  const heed_value input = heed_graph_find(a->graph, "pixel_values"),
                   output = heed_graph_find(a->graph, "last_hidden_state");
  assert_ok(heed_graph_value_info(a->graph, input, &info));
  const uint64_t pixels = heed_shape_count(&info.shape), each = pixels / info.shape.dim[0];
  float *data = malloc((size_t)pixels * sizeof *data);
  assert_non_null(data);
  for (uint64_t i = 0; i < pixels; i++) data[i] = (float)(i % each * 37 % 101) / 50.0f - 1.0f;
  assert_ok(heed_session_write(a->session, input, data, (size_t)pixels * sizeof *data, &error));
  free(data);
  assert_ok(heed_session_run(a->session, NULL, &error));
  assert_ok(heed_graph_value_info(a->graph, output, &info));
  *count = heed_shape_count(&info.shape) / info.shape.dim[0];
  data = malloc((size_t)*count * sizeof *data);
  assert_non_null(data);
  assert_ok(heed_session_read(a->session, output, 0, *count, data, &error));
  return data;
}

static void assert_runs_as(const alone *a, const float *expected, uint64_t count) {
  uint64_t found;
  float *data = run(a, &found);
  assert_int_equal(found, count);
  assert_memory_equal(data, expected, (size_t)count * sizeof *data);
  free(data);
}

static heed_model *open_model(heed_context *context, const vit_files *files) {
  heed_error error;
  heed_model *model;
  const heed_model_desc desc = {sizeof desc, files->file, files->count};
  assert_ok(heed_model_open(context, &desc, &model, &error));
  return model;
}

/* What a session gives in a context of its own; the caller frees. */
static float *run_alone(const vit_files *files, const char *level, uint64_t *count) {
  heed_error error;
  heed_context *context;
  alone a;
  assert_ok(heed_context_create(NULL, &context, &error));
  heed_model *model = open_model(context, files);
  make(&a, context, model, level, 1, 1);
  float *data = run(&a, count);
  drop(&a);
  heed_model_destroy(model);
  heed_context_destroy(context);
  return data;
}

/* Layer scales, gates, rotary positions, a class norm. */
static const char *const folders[] = {"hf_vit", "hf_dinov2", "dinov3_gated", "eva02_clip"};

static void test_second_session_takes_no_weights(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    held h = {0};
    heed_error error;
    heed_context *context;
    heed_memory memory;
    vit_files files;
    alone first, second;
    uint64_t count;
    load_files(&files, folders[i]);
    float *expected = run_alone(&files, NULL, &count);
    heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
    desc.allocator = (heed_allocator){held_alloc, held_free, &h};
    assert_ok(heed_context_create(&desc, &context, &error));
    const size_t empty = h.bytes;
    heed_model *model = open_model(context, &files);
    make(&first, context, model, NULL, 2, 2);
    make(&second, context, model, NULL, 1, 1); /* another size, backend and graph */
    heed_plan_memory(second.plan, &memory);
    const size_t both = h.bytes;
    heed_session_destroy(second.session);
    /* what is not read from the file, such as resized positions, is the graph's own */
    const uint64_t taken = both - h.bytes, own = memory.arena + memory.workspace;
    if (taken < own || taken > own + memory.weights / 4)
      fail_msg("%s: took %llu bytes beside %llu, of %llu of weights", folders[i],
               (unsigned long long)(taken - own), (unsigned long long)own,
               (unsigned long long)memory.weights);
    assert_ok(heed_session_create(second.plan, NULL, &second.session, &error));
    assert_runs_as(&first, expected, count);
    drop(&first); /* what is shared stays */
    assert_runs_as(&second, expected, count);
    drop(&second);
    heed_model_destroy(model);
    assert_int_equal(h.bytes, empty);
    heed_context_destroy(context);
    free(expected);
    free_files(&files);
  }
}

/* Weights are packed for a level, and are those of a model. */
static void test_what_differs_is_apart(void **state) {
  (void)state;
  heed_error error;
  heed_context *context;
  vit_files files, others;
  alone best, scalar, other;
  uint64_t count;
  load_files(&files, "hf_dinov2");
  load_files(&others, "hf_dinov2");
  /* other numbers: none is negative */
  uint64_t header;
  memcpy(&header, others.bytes[0], sizeof header);
  for (size_t i = 8 + (size_t)header; i + 3 < others.file[0].source.size; i += 4)
    others.bytes[0][i + 3] &= 0x7f;
  float *expected_best = run_alone(&files, NULL, &count),
        *expected_scalar = run_alone(&files, "scalar", &count),
        *expected_other = run_alone(&others, NULL, &count);
  assert_memory_not_equal(expected_best, expected_other, (size_t)count * sizeof(float));
  assert_ok(heed_context_create(NULL, &context, &error));
  heed_model *model = open_model(context, &files), *other_model = open_model(context, &others);
  make(&best, context, model, NULL, 1, 1);
  make(&scalar, context, model, "scalar", 1, 1);
  make(&other, context, other_model, NULL, 1, 1);
  assert_runs_as(&best, expected_best, count);
  assert_runs_as(&scalar, expected_scalar, count);
  assert_runs_as(&other, expected_other, count);
  drop(&best);
  drop(&scalar);
  drop(&other);
  heed_model_destroy(model);
  heed_model_destroy(other_model);
  heed_context_destroy(context);
  free(expected_best);
  free(expected_scalar);
  free(expected_other);
  free_files(&files);
  free_files(&others);
}

typedef struct worker {
  heed_context *context;
  const heed_model *model;
  const float *expected;
  uint64_t count;
  uint32_t wrong;
} worker;

static void *make_and_run(void *user) {
  worker *w = user;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    alone a;
    uint64_t count;
    make(&a, w->context, w->model, NULL, 1, 1 + round % 2);
    float *data = run(&a, &count);
    w->wrong += count != w->count || memcmp(data, w->expected, (size_t)count * sizeof *data) != 0;
    free(data);
    drop(&a);
  }
  return NULL;
}

static void test_threads_make_and_drop(void **state) {
  (void)state;
  heed_error error;
  heed_context *context;
  vit_files files;
  uint64_t count;
  pthread_t threads[THREADS];
  worker workers[THREADS];
  load_files(&files, "hf_dinov2");
  float *expected = run_alone(&files, NULL, &count);
  assert_ok(heed_context_create(NULL, &context, &error));
  heed_model *model = open_model(context, &files);
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){context, model, expected, count, 0};
    assert_int_equal(pthread_create(&threads[i], NULL, make_and_run, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].wrong, 0);
  }
  heed_model_destroy(model);
  heed_context_destroy(context);
  free(expected);
  free_files(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_second_session_takes_no_weights),
      cmocka_unit_test(test_what_differs_is_apart),
      cmocka_unit_test(test_threads_make_and_drop),
  };
  return cmocka_run_group_tests_name("shared weights", tests, NULL, NULL);
}
