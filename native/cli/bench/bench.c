/* heed bench: times a model or one op. Median and least of the runs after warm-up; a figure means
 * little without its ceiling or peer. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h> /* clock */

#include "bench_op.h"
#include "session/onnx_graph.h"
#include "session/pipeline.h"
#include "session/profile.h"
#include "session/synthetic.h"
#include "stream.h"
#include "terminal/json_out.h"
#include "terminal/system.h"

typedef struct bench {
  cli_choice choice;
  const char *vit, *size, *way;
  cli_bench_op op;
  uint32_t batch, runs, warmup, in_flight;
  double stream_ms; /* a run of a stream */
  double thread_us; /* processor time of this thread, a run */
  bool json, profile, tune, all_tokens;
  heed_graph *graph; /* what is timed */
  heed_plan *plan;
  char what[128];
} bench;

/* Processor time of this thread alone, in microseconds: what a run costs the host beside
 * waiting. */
static double thread_microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void report(const bench *b, const double *times, double load, double cpu,
                   const cli_profile *profile) {
  uint64_t flops = 0;
  for (uint32_t i = 0; i < heed_plan_step_count(b->plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(b->plan, i, &step);
    flops += step.flops;
  }
  heed_memory memory;
  heed_plan_memory(b->plan, &memory);
  const int64_t peak = cli_system_peak_bytes();
  const double median = times[b->runs / 2], least = times[0];
  if (!b->json) {
    printf("%s on %s (%s): median %.3f ms, min %.3f ms, %.1f GFLOP/s (%.3f GFLOP, %u runs), load "
           "%.0f ms, predicted %.1f MB, peak RSS %.1f "
           "MB\n",
           CLI_SHOWN(b->what), heed_backend_name(b->choice.opened),
           CLI_SHOWN(heed_backend_device(b->choice.opened)), median, least,
           (double)flops / median * 1e-6, (double)flops * 1e-9, b->runs, load,
           (double)(memory.weights + memory.arena + memory.workspace) * 1e-6, (double)peak * 1e-6);
    if (strcmp(heed_backend_name(b->choice.opened), "vulkan") == 0)
      printf("host: %.1f us of processor time a run beside waiting\n", b->thread_us);
    if (b->in_flight)
      printf("stream, %u in flight: %.3f ms a run with its copies\n", b->in_flight, b->stream_ms);
    if (b->profile) cli_profile_print(profile);
    return;
  }
  json_out json = {.file = stdout};
  json_begin(&json);
  json_text(&json, "what", b->what);
  json_text(&json, "backend", heed_backend_name(b->choice.opened));
  json_text(&json, "device", heed_backend_device(b->choice.opened));
  json_integer(&json, "threads", b->choice.threads);
  json_integer(&json, "runs", b->runs);
  json_number(&json, "median_ms", median);
  json_number(&json, "min_ms", least);
  json_number(&json, "gflop", (double)flops * 1e-9);
  json_number(&json, "gflops", (double)flops / median * 1e-6);
  json_number(&json, "cpu_ms", cpu);
  json_number(&json, "thread_us", b->thread_us);
  json_number(&json, "load_ms", load);
  if (b->in_flight) json_integer(&json, "in_flight", b->in_flight);
  if (b->in_flight) json_number(&json, "stream_ms", b->stream_ms);
  json_integer(&json, "weights_bytes", (int64_t)memory.weights);
  json_integer(&json, "arena_bytes", (int64_t)memory.arena);
  json_integer(&json, "workspace_bytes", (int64_t)memory.workspace);
  json_integer(&json, "peak_rss_bytes", peak);
  if (b->profile) cli_profile_json(profile, &json);
  json_close(&json, '}');
  printf("\n");
}

/* Inputs become pseudo-random numbers in (-1, 1). */
static heed_status fill_inputs(cli_state *cli, heed_session *session, const heed_graph *graph) {
  uint64_t state = 1;
  for (uint32_t id = 1; id <= heed_graph_value_count(graph); id++) {
    heed_value_info info;
    if (heed_graph_value_info(graph, (heed_value){id}, &info) != HEED_OK || !info.is_input ||
        info.dtype != HEED_F32)
      continue;
    const size_t count = (size_t)heed_shape_count(&info.shape);
    float *data = malloc(count * sizeof *data);
    if (!data) return heed_fail_memory(&cli->error, info.name, count * sizeof *data);
    for (size_t i = 0; i < count; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      data[i] = (float)(state >> 40) / 8388608.0f - 1.0f;
    }
    const heed_status status =
        heed_session_write(session, (heed_value){id}, data, count * sizeof *data, &cli->error);
    free(data);
    CLI_TRY(status);
  }
  return HEED_OK;
}

/* Says what measuring the tiles brought; runs from the next command on. */
static heed_status tune(cli_state *cli, const bench *b) {
#if HEED_HAS_VULKAN
  heed_vulkan_tuning tuning;
  CLI_TRY(heed_vulkan_tune(b->choice.opened, b->graph, &tuning, &cli->error));
  fprintf(b->json ? stderr : stdout,
          "tiles: %u shapes measured, another tile for %u: %.0f us instead of %.0f, from the next "
          "run on\n",
          tuning.shapes, tuning.changed, tuning.after, tuning.before);
  return HEED_OK;
#else
  (void)b;
  return heed_fail(&cli->error, HEED_UNSUPPORTED, "--tune: built without Vulkan");
#endif
}

static heed_status time_plan(cli_state *cli, bench *b) {
  heed_session *session;
  double *times = calloc(b->runs, sizeof *times);
  if (!times) return heed_fail_memory(&cli->error, "bench", b->runs * sizeof *times);
  const double start = cli_milliseconds();
  heed_status status = heed_session_create(b->plan, NULL, &session, &cli->error);
  const double load = cli_milliseconds() - start;
  cli_profile profile = {.rows = NULL};
  clock_t processor = 0; /* time of all threads in the timed runs */
  if (status == HEED_OK) {
    status = fill_inputs(cli, session, b->graph);
    for (uint32_t i = 0; i < b->warmup + b->runs && status == HEED_OK; i++) {
      if (i == b->warmup) {
        processor = clock();
        b->thread_us = thread_microseconds();
      }
      const double before = cli_milliseconds();
      status = heed_session_run(session, NULL, &cli->error);
      if (i >= b->warmup) times[i - b->warmup] = cli_milliseconds() - before;
    }
    processor = clock() - processor;
    b->thread_us = (thread_microseconds() - b->thread_us) / b->runs;
    if (status == HEED_OK && b->profile)
      status = cli_profile_take(cli, b->choice.opened, b->plan, session, b->runs, &profile);
    if (status == HEED_OK && b->in_flight)
      status = cli_stream_time(cli, session, b->runs, b->in_flight, &b->stream_ms);
    heed_session_destroy(session);
  }
  if (status == HEED_OK) {
    qsort(times, b->runs, sizeof *times, cli_ascending);
    report(b, times, load, (double)processor * 1e3 / CLOCKS_PER_SEC / b->runs, &profile);
    if (b->tune) status = tune(cli, b);
  }
  cli_profile_release(&profile);
  free(times);
  return status;
}

/* Runs the op once for each number of tokens, or once in its own shape. */
static heed_status bench_op(cli_state *cli, bench *b) {
  uint32_t tokens[CLI_BENCH_MOST_TOKENS], count;
  heed_plan_desc plan = HEED_PLAN_DESC_INIT;
  CLI_TRY(cli_bench_read_tokens(cli, &b->op, tokens, &count));
  CLI_TRY(cli_bench_read_mode(cli, &b->op, &plan.attention));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < count && status == HEED_OK; i++) {
    status = heed_graph_create(cli->context, &b->graph, &cli->error);
    if (status == HEED_OK)
      status = cli_bench_define(cli, &b->op, tokens[i], b->graph, b->what, sizeof b->what);
    if (status == HEED_OK)
      status = heed_plan_create(b->graph, b->choice.opened, &plan, &b->plan, &cli->error);
    if (status == HEED_OK) status = time_plan(cli, b);
    heed_plan_destroy(b->plan);
    heed_graph_destroy(b->graph);
    b->plan = NULL;
    b->graph = NULL;
  }
  return status;
}

/* The model, or the graph of an ONNX file that no config.json names a family of. */
static heed_status load_model(cli_state *cli, const bench *b, const char *path,
                              cli_pipeline *pipeline) {
  pipeline->way = b->way;
  pipeline->size = b->size;
  const heed_status status = cli_pipeline_load(cli, pipeline, path);
  const bool graph = b->way && strcmp(b->way, "graph") == 0 && !b->op.maps;
  if (status != HEED_OK && graph && !pipeline->model && pipeline->files &&
      heed_model_files_onnx(pipeline->files)) {
    pipeline->info.family = "ONNX graph";
    return HEED_OK;
  }
  return status;
}

static heed_status bench_model(cli_state *cli, bench *b, const char *path) {
  cli_pipeline pipeline = {0};
  cli_synthetic synthetic = {0};
  heed_status status = HEED_OK;
  if (b->vit)
    status = cli_synthetic_load(cli, b->vit, &synthetic, &pipeline);
  else
    status = load_model(cli, b, path, &pipeline);
  pipeline.build = (heed_build_desc){.struct_size = sizeof pipeline.build,
                                     .batch = b->batch,
                                     .classes_only = !b->op.maps && !b->all_tokens};
  if (status == HEED_OK) status = cli_onnx_choose(cli, b->way, path, false, &pipeline);
  if (status == HEED_OK) status = cli_pipeline_size(cli, &pipeline, b->size);
  if (status == HEED_OK && b->op.maps) status = cli_pipeline_tap_weights(cli, &pipeline);
  if (status == HEED_OK) status = cli_pipeline_plan(cli, &pipeline, &b->choice);
  if (status == HEED_OK) {
    b->graph = pipeline.graph;
    b->plan = pipeline.plan;
    snprintf(b->what, sizeof b->what, "%s %s%.60s%s%.12s batch %u%s", pipeline.info.family,
             b->vit ? "shape " : "",
             b->vit ? b->vit
             : path ? path
                    : "embedded",
             b->size ? " size " : "", b->size ? b->size : "", b->batch,
             b->op.maps ? " with all maps" : "");
    status = time_plan(cli, b);
  }
  cli_pipeline_close(&pipeline);
  cli_synthetic_close(&synthetic);
  return status;
}

static int run(cli_state *cli, int argc, char **argv) {
  bench b = {.choice = CLI_CHOICE_INIT, .batch = 1, .runs = 10, .warmup = 2};
  cli_words words;
  const cli_option options[] = {
      CLI_WEIGHTS_OPTIONS(cli),
      {"--vit", CLI_TEXT, &b.vit, "Ti|S|B|L",
       "use a ViT of this size with synthetic weights instead of MODEL"},
      CLI_MODEL_WAY_OPTION(b.way),
      CLI_GRAPH_OPTIONS(cli),
      CLI_SIZE_OPTION(b.size),
      {"--batch", CLI_NUMBER, &b.batch, "N", "images per run (default: 1)"},
      {"--op", CLI_TEXT, &b.op.name, "NAME",
       "time one op instead of a model, such as attention or linear"},
      {"--shape", CLI_TEXT, &b.op.shape, "B,H,Tq,Tk,D",
       "shape of attention (default: 1,1,1024,1024,64); linear: M,K,N; layer_norm: ROWS,WIDTH"},
      {"--tokens", CLI_TEXT, &b.op.tokens, "T,T,...",
       "time attention for each of these token counts"},
      {"--causal", CLI_TEXT, &b.op.causal, "top_left|bottom_right",
       "apply this causal rule to attention"},
      {"--window", CLI_NUMBER, &b.op.window, "W", "restrict attention to W keys on each side"},
      {"--mode", CLI_TEXT, &b.op.mode, "auto|resident|streamed",
       "how attention stores its scores (default: auto)"},
      {"--maps", CLI_FLAG, &b.op.maps, NULL, "retain all attention weights"},
      {"--all-tokens", CLI_FLAG, &b.all_tokens, NULL,
       "compute the last layer for all tokens even without --maps"},
      {"--runs", CLI_NUMBER, &b.runs, "N", "timed runs (default: 10)"},
      {"--warmup", CLI_NUMBER, &b.warmup, "N", "untimed runs first (default: 2)"},
      {"--in-flight", CLI_NUMBER, &b.in_flight, "N",
       "also time a stream with N runs in flight, 1 to 8"},
      {"--profile", CLI_FLAG, &b.profile, NULL,
       "also time each op, with steps run one after another"},
      {"--tune", CLI_FLAG, &b.tune, NULL,
       "measure the kernel tiles and cache the fastest (Vulkan)"},
      {"--json", CLI_FLAG, &b.json, NULL, "print one JSON object instead of a line"},
      CLI_CHOICE_OPTIONS(b.choice, CLI_BACKEND_AUTO),
      {NULL, CLI_FLAG, NULL, NULL, NULL}};
  const int code = cli_parse(cli, "bench [MODEL] [options]\n\n" CLI_MODEL_OR_BUILT_IN, options,
                             argc, argv, &words);
  if (code >= 0) return code;
  if (words.count > 1 || b.runs == 0 || b.runs > 1000000 || b.batch == 0) {
    fprintf(stderr,
            "heed bench: wrong arguments (found %u models, %u runs, batch %u; expected at most one "
            "model, 1 to 1000000 runs)\n",
            words.count, b.runs, b.batch);
    return CLI_USAGE;
  }
  heed_status status = cli_choice_open(cli, &b.choice);
  if (status == HEED_OK)
    status =
        b.op.name ? bench_op(cli, &b) : bench_model(cli, &b, words.count ? words.word[0] : NULL);
  cli_choice_close(&b.choice);
  return status == HEED_OK ? CLI_OK : cli_fail(cli);
}

const cli_verb cli_verb_bench = {"bench", "time a model or one op", run};
