/* GFLOP/s of linear and attention on the CPU, per level and number of threads, through the public
 * API. Not a test. bench_ops [LEVEL|all] [THREADS|0 = 1 and 2] [SECONDS a figure] [A B C]: of all
 * shapes, or of those of three numbers; median and best of repeated runs; a multiply and an add are
 * 2.
 * One thread is timed by its processor time, so that another process on the machine disturbs it
 * less (in WebAssembly there is only the clock). Each level begins with its ceilings, multiply-adds
 * of floats and of bytes on registers alone. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/tensor.h"
#include "ceiling.h"
#include "heed/heed.h"

typedef struct shape {
  const char *op;
  /* linear, int8 (linear with such weights): rows, depth, columns; attention: heads, tokens,
   * depth */
  uint32_t a, b, c;
  heed_activation activation;
} shape;

static const shape shapes[] = {
    {"linear", 197, 192, 768, 0},
    {"linear", 197, 384, 1536, 0},
    {"linear", 197, 768, 2304, 0},
    {"linear", 197, 768, 3072, 0},
    {"linear", 197, 768, 3072, HEED_ACTIVATION_GELU},
    {"linear", 197, 3072, 768, 0},
    {"linear", 197, 768, 768, 0},
    {"linear", 1024, 1024, 1024, 0},
    {"linear", 1, 768, 1000, 0},
    {"int8", 197, 192, 768, 0},
    {"int8", 197, 384, 1536, 0},
    {"int8", 197, 768, 2304, 0},
    {"int8", 197, 768, 3072, 0},
    {"int8", 197, 768, 3072, HEED_ACTIVATION_GELU},
    {"int8", 197, 3072, 768, 0},
    {"int8", 197, 768, 768, 0},
    {"attention", 3, 197, 64, 0},
    {"attention", 12, 197, 64, 0},
    {"attention", 12, 1024, 64, 0},
};

#if defined(__EMSCRIPTEN__)
#define PROCESSOR_TIME CLOCK_MONOTONIC
#else
#define PROCESSOR_TIME CLOCK_THREAD_CPUTIME_ID
#endif
static clockid_t source = CLOCK_MONOTONIC;

static double now(void) {
  struct timespec t;
  clock_gettime(source, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(heed_status status, const heed_error *error) {
  if (status == HEED_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static heed_value input(heed_graph *graph, const char *name, heed_shape size) {
  return heed_define_input(graph, name, HEED_F32, &size);
}

/* The bytes of the floats as weights, all of one scale. */
static heed_value define_int8(heed_graph *graph, const shape *s, const float *weights) {
  static float scale[4096];
  for (size_t i = 0; i < sizeof scale / sizeof *scale; i++) scale[i] = 0.01f;
  const heed_quantised_desc weight = {.struct_size = sizeof weight,
                                      .shape = HEED_SHAPE(s->c, s->b),
                                      .scale = scale,
                                      .data = (const int8_t *)weights};
  return heed_define_quantised(graph, &weight);
}

static heed_value define(heed_graph *graph, const shape *s, const float *weights) {
  const bool int8 = strcmp(s->op, "int8") == 0;
  if (int8 || strcmp(s->op, "linear") == 0) {
    const heed_constant_desc weight = {sizeof weight, NULL, HEED_F32, HEED_SHAPE(s->c, s->b),
                                       weights,       NULL, NULL};
    const heed_constant_desc bias = {sizeof bias, NULL, HEED_F32, HEED_SHAPE(s->c),
                                     weights,     NULL, NULL};
    heed_linear_desc desc = {.struct_size = sizeof desc, .activation = s->activation};
    desc.x = input(graph, "x", HEED_SHAPE(s->a, s->b));
    desc.weight = int8 ? define_int8(graph, s, weights) : heed_define_constant(graph, &weight);
    desc.bias = heed_define_constant(graph, &bias);
    return heed_define_linear(graph, &desc);
  }
  heed_attention_desc desc = {.struct_size = sizeof desc, .merge_heads = true};
  desc.query = input(graph, "query", HEED_SHAPE(1, s->a, s->b, s->c));
  desc.key = input(graph, "key", HEED_SHAPE(1, s->a, s->b, s->c));
  desc.value = input(graph, "value", HEED_SHAPE(1, s->a, s->b, s->c));
  return heed_define_attention(graph, &desc).output;
}

/* Whether the arguments leave this shape. */
static bool is_wanted(const shape *s, int count, char **numbers) {
  const uint32_t have[] = {s->a, s->b, s->c};
  for (int i = 0; i < count && i < 3; i++)
    if (strtoul(numbers[i], NULL, 10) != have[i]) return false;
  return count < 3 || !s->activation;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Not the scalar level, whose products a compiler may vectorise. */
static const bench_ceiling_level *const ceilings[] = {
#if defined(HEED_CPU_HAS_SSE2)
    &bench_ceiling_level_sse2,
    &bench_ceiling_level_avx2,
    &bench_ceiling_level_avx512,
#if defined(HEED_CPU_HAS_AVX2VNNI)
    &bench_ceiling_level_vnni_avx2,
#endif
#if defined(HEED_CPU_HAS_AVX512VNNI)
    &bench_ceiling_level_vnni_avx512,
#endif
#elif defined(HEED_CPU_HAS_NEON)
    &bench_ceiling_level_neon,
#elif defined(HEED_CPU_HAS_RELAXED)
    &bench_ceiling_level_relaxed,
#elif defined(HEED_CPU_HAS_WASM128)
    &bench_ceiling_level_wasm128,
#endif
    NULL,
};

static int32_t run_ceiling(const bench_ceiling_level *ceiling, bool int8, uint32_t rounds) {
  static const unsigned char x[4] = {1, 0, 1, 0};
  static const int8_t weights[64] = {1};
  return int8 ? ceiling->run_int8(rounds, x, weights)
              : (int32_t)ceiling->run(rounds, 1.0f, 0.5f, 1.0f);
}

static void measure_ceiling(const char *level, bool int8, double seconds) {
  const uint32_t rounds = 200000;
  double best = 1e9;
  int32_t sum = 0;
  for (size_t i = 0; ceilings[i]; i++) {
    const uint32_t operations = int8 ? ceilings[i]->int8_operations : ceilings[i]->operations;
    if (strcmp(ceilings[i]->name, level) != 0 || !operations) continue;
    for (const double start = now(); now() - start < seconds;) {
      const double begin = now();
      sum ^= run_ceiling(ceilings[i], int8, rounds);
      const double time = now() - begin;
      best = time < best ? time : best;
    }
    printf("%-24s ceiling%s, registers only: %.1f GFLOP/s (sum %d)\n", level, int8 ? " int8" : "",
           (double)rounds * operations / best * 1e-9, sum);
  }
}

static void measure(heed_context *context, heed_backend *backend, const shape *s,
                    const float *numbers, double seconds) {
  heed_error error;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  check(heed_graph_create(context, &graph, &error), &error);
  heed_graph_output(graph, define(graph, s, numbers));
  check(heed_plan_create(graph, backend, NULL, &plan, &error), &error);
  check(heed_session_create(plan, NULL, &session, &error), &error);
  for (uint32_t i = 1; i <= heed_graph_value_count(graph); i++) {
    heed_value_info info;
    if (heed_graph_value_info(graph, (heed_value){i}, &info) == HEED_OK && info.is_input)
      check(heed_session_write(session, (heed_value){i}, numbers,
                               (size_t)heed_shape_count(&info.shape) * sizeof(float), &error),
            &error);
  }
  heed_plan_step step;
  heed_plan_step_info(plan, 0, &step);
  double times[2000];
  size_t count = 0;
  /* an engine of WebAssembly compiles better once it has seen the code run for a while */
  size_t warm = 0;
  for (const double start = now(); warm < 3 || now() - start < seconds; warm++)
    check(heed_session_run(session, NULL, &error), &error);
  for (const double start = now(); count < 2000 && (count < 5 || now() - start < seconds);
       count++) {
    const double begin = now();
    check(heed_session_run(session, NULL, &error), &error);
    times[count] = now() - begin;
  }
  qsort(times, count, sizeof *times, ascending);
  printf("%-24s %-9s %4u %4u %4u%s  median %8.3f ms %7.1f GFLOP/s   best %8.3f ms %7.1f GFLOP/s\n",
         heed_backend_device(backend), s->op, s->a, s->b, s->c, s->activation ? " gelu" : "     ",
         times[count / 2] * 1e3, (double)step.flops / times[count / 2] * 1e-9, times[0] * 1e3,
         (double)step.flops / times[0] * 1e-9);
  fflush(stdout);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
}

int main(int argc, char **argv) {
  const char *only = argc > 1 && strcmp(argv[1], "all") != 0 ? argv[1] : NULL;
  const uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
  const double seconds = argc > 3 ? strtod(argv[3], NULL) : 1.0;
  heed_error error;
  heed_context *context;
  check(heed_context_create(NULL, &context, &error), &error);
  const size_t most = 4u << 20;
  float *numbers = malloc(most * sizeof *numbers);
  if (!numbers) return 1;
  uint32_t state = 1;
  for (size_t i = 0; i < most; i++) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    if (only && strcmp(only, heed_cpu_level(l)) != 0) continue;
    for (uint32_t t = 1; t <= 2; t++) {
      const heed_cpu_desc desc = {sizeof desc, threads ? threads : t, heed_cpu_level(l)};
      heed_backend *backend;
      if (threads && t > 1) continue;
      source = desc.threads == 1 ? PROCESSOR_TIME : CLOCK_MONOTONIC;
      check(heed_cpu_backend_create(context, &desc, &backend, &error), &error);
      for (int int8 = 0; int8 < 2 && desc.threads == 1; int8++)
        measure_ceiling(heed_cpu_level(l), int8, seconds);
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        if (is_wanted(&shapes[s], argc - 4, argv + 4))
          measure(context, backend, &shapes[s], numbers, seconds);
      heed_backend_destroy(backend);
    }
  }
  free(numbers);
  heed_context_destroy(context);
  return 0;
}
