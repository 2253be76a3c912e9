/* Which heads carry the demo's answer, and what is left without them: docs/explain.md has the
 * table. twin_heads MODEL read|other|zero|mean|scenes CALIBRATION FIRST SCENES LEAST MOST Heads are
 * ranked on CALIBRATION scenes, seeds 100001 on: by the ledger (what a head read from the twins, in
 * the logit of the drawn shape less the largest other one), and by what the answer loses when the
 * head alone is ablated. Then the first K = LEAST ... MOST heads of a ranking are ablated together
 * in each of SCENES seeds from FIRST on, and so are K of the other heads by chance. An ablated head
 * gives CLS alone zeros (read) or what it gave CLS in another scene, whose twins have another shape
 * (other); or it gives all tokens zeros, its mean over the tokens of the scene, or that over the
 * calibration scenes, too. An answer is broken when it names another shape than the drawn one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/native.h"
#include "heed/scene.h"

enum { MOST_HEADS = 64, FIRST_CALIBRATED = 100001, FIRST_OTHER = 200001 };

static heed_error error;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "twin_heads: %s\n", error.message);
  exit(3);
}

typedef struct bench {
  heed_context *context;
  heed_backend *backend;
  heed_model_files *files;
  heed_model *model;
  heed_model_info info;
  heed_preprocess preprocess;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  uint32_t heads, tokens; /* heads of all layers */
  const char *mode;
  float *output; /* [L, T, C]: of the heads, of the scene or the mean of scenes */
  uint8_t rgb[HEED_SCENE_BYTES], owner[HEED_SCENE_PATCHES];
  float pixels[HEED_SCENE_BYTES], logits[HEED_SCENE_SHAPES];
  uint32_t twins[2], drawn;
} bench;

static bool is_mode(const bench *b, const char *mode) { return strcmp(b->mode, mode) == 0; }

/* What a head gives to other tokens than CLS stays. */
static bool for_cls(const bench *b) { return is_mode(b, "read") || is_mode(b, "other"); }

static void open_bench(bench *b, const char *path) {
  const heed_cpu_desc cpu = {sizeof cpu, 1, NULL};
  must(heed_context_create(NULL, &b->context, &error));
  must(heed_cpu_backend_create(b->context, &cpu, &b->backend, &error));
  must(heed_model_load(b->context, path, NULL, &b->files, &b->model, &error));
  heed_model_get_info(b->model, &b->info);
  heed_model_preprocess(b->model, &b->preprocess);
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = 1,
                                 .height = HEED_SCENE_SIDE,
                                 .width = HEED_SCENE_SIDE,
                                 .intervene = true,
                                 .offset_rows = is_mode(b, "other")};
  must(heed_model_build(b->model, &build, &b->graph, &error));
  heed_value taps[MOST_HEADS];
  for (uint32_t l = 0; l < b->info.layers; l++)
    taps[l] = heed_graph_tap(b->graph, HEED_TAP_HEADS, l);
  const heed_plan_desc plan = {
      .struct_size = sizeof plan, .taps = taps, .tap_count = b->info.layers};
  must(heed_plan_create(b->graph, b->backend, &plan, &b->plan, &error));
  must(heed_session_create(b->plan, NULL, &b->session, &error));
  b->heads = b->info.layers * b->info.heads;
  b->tokens = b->info.prefix_tokens + HEED_SCENE_PATCHES;
  b->output = calloc((size_t)b->info.layers * b->tokens * b->info.width, sizeof *b->output);
  if (!b->output || b->heads > MOST_HEADS) exit(4);
}

static void close_bench(bench *b) {
  free(b->output);
  heed_session_destroy(b->session);
  heed_plan_destroy(b->plan);
  heed_graph_destroy(b->graph);
  heed_model_destroy(b->model);
  heed_model_files_destroy(b->files);
  heed_backend_destroy(b->backend);
  heed_context_destroy(b->context);
}

static void show_scene(bench *b, uint64_t seed) {
  heed_scene scene;
  heed_scene_from_seed(seed, NULL, &scene);
  heed_scene_draw(&scene, b->rgb, b->owner);
  if (!heed_scene_twins(&scene, b->twins)) exit(1);
  b->drawn = scene.objects[b->twins[0]].shape;
  const heed_image image = {.pixels = b->rgb,
                            .width = HEED_SCENE_SIDE,
                            .height = HEED_SCENE_SIDE,
                            .channels = 3,
                            .stride = HEED_SCENE_SIDE * 3};
  must(heed_preprocess_image(b->context, &b->preprocess, &image, b->pixels, NULL, &error));
  must(heed_session_write(b->session, heed_graph_find(b->graph, "pixel_values"), b->pixels,
                          sizeof b->pixels, &error));
}

static const bool none[MOST_HEADS];

static bool any_of(const bool *without, uint32_t count) {
  for (uint32_t h = 0; h < count; h++)
    if (without[h]) return true;
  return false;
}

static void ablate(bench *b, const bool *without) {
  heed_changes *changes;
  must(heed_changes_create(b->context, &b->info, b->tokens, &changes, &error));
  for (uint32_t l = 0; l < b->info.layers; l++) {
    const bool *of = without + l * b->info.heads;
    for (uint32_t h = 0; h < b->info.heads; h++)
      if (of[h]) must(heed_changes_ablate(changes, l, h, &error));
    float *output = b->output + (size_t)l * b->tokens * b->info.width;
    if (is_mode(b, "other"))
      must(heed_changes_resample(changes, l, output, &error)); /* so that offsets have rows */
    else if (any_of(of, b->info.heads) && !is_mode(b, "zero"))
      must(heed_changes_replace(changes, l, output, &error));
  }
  must(heed_changes_write(changes, b->session, &error));
  heed_changes_destroy(changes);
}

/* What these heads of a layer gave to CLS in the other scene. */
static void put_other(bench *b, uint32_t layer, const bool *of) {
  const size_t count = (size_t)b->tokens * b->info.width, depth = b->info.width / b->info.heads;
  char name[64];
  float *offset = calloc(count, sizeof *offset);
  if (!offset) exit(4);
  for (uint32_t h = 0; h < b->info.heads; h++)
    if (of[h])
      memcpy(offset + h * depth, b->output + layer * count + h * depth, depth * sizeof *offset);
  snprintf(name, sizeof name, "layer.%u.attention.offset", layer);
  must(heed_session_write(b->session, heed_graph_find(b->graph, name), offset,
                          count * sizeof *offset, &error));
  free(offset);
}

/* Blocks CLS alone from all keys in these heads: they give zeros there, or what is put there. */
static void ablate_read(bench *b, const bool *without) {
  const size_t row = b->tokens, head = row * row;
  uint8_t *mask = malloc(b->info.heads * head);
  if (!mask) exit(4);
  for (uint32_t l = 0; l < b->info.layers; l++) {
    char name[64];
    snprintf(name, sizeof name, "layer.%u.attention.mask", l);
    memset(mask, 1, b->info.heads * head);
    for (uint32_t h = 0; h < b->info.heads; h++)
      if (without[l * b->info.heads + h]) memset(mask + h * head, 0, row);
    must(heed_session_write(b->session, heed_graph_find(b->graph, name), mask, b->info.heads * head,
                            &error));
    if (is_mode(b, "other")) put_other(b, l, without + l * b->info.heads);
  }
  free(mask);
}

/* output += share times what the heads gave in the last run, which had no change. */
static void add_outputs(bench *b, float share) {
  const size_t count = (size_t)b->tokens * b->info.width;
  float *one = malloc(count * sizeof *one);
  if (!one) exit(4);
  for (uint32_t l = 0; l < b->info.layers; l++) {
    must(heed_session_read(b->session, heed_graph_tap(b->graph, HEED_TAP_HEADS, l), 0, count, one,
                           &error));
    for (size_t i = 0; i < count; i++) b->output[l * count + i] += share * one[i];
  }
  free(one);
}

static void forget_outputs(bench *b) {
  memset(b->output, 0, (size_t)b->info.layers * b->tokens * b->info.width * sizeof *b->output);
}

/* The logit of the drawn shape less the largest other one, without these heads. */
static double margin(bench *b, const bool *without) {
  ablate(b, for_cls(b) ? none : without);
  if (for_cls(b)) ablate_read(b, without);
  must(heed_session_run(b->session, NULL, &error));
  must(heed_session_read(b->session, heed_graph_find(b->graph, "logits"), 0, b->info.classes,
                         b->logits, &error));
  float other = -1e30f;
  for (uint32_t i = 0; i < b->info.classes; i++)
    if (i != b->drawn && b->logits[i] > other) other = b->logits[i];
  return (double)b->logits[b->drawn] - (double)other;
}

/* terms[heads] += what each head read from the twins. */
static void add_ledger(const bench *b, double *terms) {
  uint32_t other = b->drawn ? 0 : 1;
  char target[32];
  for (uint32_t i = 0; i < b->info.classes; i++)
    if (i != b->drawn && b->logits[i] > b->logits[other]) other = i;
  snprintf(target, sizeof target, "%u-%u", b->drawn, other);
  const heed_named_tensor input = {
      "pixel_values", HEED_F32, {4, {1, 3, HEED_SCENE_SIDE, HEED_SCENE_SIDE}}, b->pixels};
  const heed_explain_desc desc = {.struct_size = sizeof desc,
                                  .model = b->model,
                                  .backend = b->backend,
                                  .methods = "ledger",
                                  .target = target,
                                  .inputs = &input,
                                  .input_count = 1};
  heed_explanation *explanation;
  must(heed_explain(b->context, &desc, &explanation, &error));
  const float *heads = NULL;
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    if (strcmp(tensor->name, "ledger.heads") == 0) heads = tensor->data;
  for (uint32_t i = 0; heads && i < b->heads; i++)
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++)
      if (b->owner[p] == b->twins[0] || b->owner[p] == b->twins[1])
        terms[i] += (double)heads[i * b->tokens + b->info.prefix_tokens + p];
  heed_explanation_destroy(explanation);
}

/* order[heads]: the largest first. */
static void rank(const double *values, uint32_t count, uint32_t *order) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = i;
    for (; at > 0 && values[order[at - 1]] < values[i]; at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

static bool breaks(bench *b, const uint32_t *heads, uint32_t count) {
  bool without[MOST_HEADS] = {false};
  for (uint32_t i = 0; i < count; i++) without[heads[i]] = true;
  return !(margin(b, without) > 0.0);
}

/* Shuffles those after the first K: K of them are others by chance. */
static void shuffle(uint32_t *others, uint32_t count, uint64_t *state) {
  for (uint32_t i = count; i > 1; i--) {
    const uint32_t at = heed_scene_random(state) % i, swap = others[i - 1];
    others[i - 1] = others[at];
    others[at] = swap;
  }
}

/* Shows the scene and returns its margin; and finds the outputs that ablated heads get in their
 * place. The other scene is the first from *other on with another drawn shape. */
static double see(bench *b, uint64_t seed, uint64_t *other) {
  show_scene(b, seed);
  if (is_mode(b, "other")) {
    const uint32_t drawn = b->drawn;
    do show_scene(b, (*other)++);
    while (b->drawn == drawn);
    (void)margin(b, none);
    forget_outputs(b);
    add_outputs(b, 1.0f);
    show_scene(b, seed);
  }
  const double whole = margin(b, none);
  if (is_mode(b, "mean")) {
    forget_outputs(b);
    add_outputs(b, 1.0f);
  }
  return whole;
}

static void calibrate(bench *b, uint32_t scenes, uint64_t *other, double *ledger, double *loss) {
  for (uint32_t i = 0; i < scenes && is_mode(b, "scenes"); i++) {
    show_scene(b, FIRST_CALIBRATED + i);
    (void)margin(b, none);
    add_outputs(b, 1.0f / (float)scenes);
  }
  for (uint32_t i = 0; i < scenes; i++) {
    const double whole = see(b, FIRST_CALIBRATED + i, other);
    add_ledger(b, ledger);
    for (uint32_t h = 0; h < b->heads; h++) {
      bool without[MOST_HEADS] = {false};
      without[h] = true;
      loss[h] += whole - margin(b, without);
    }
  }
}

int main(int argc, char **argv) {
  static bench b;
  if (argc != 8) {
    fprintf(stderr,
            "usage: twin_heads MODEL read|other|zero|mean|scenes CALIBRATION FIRST SCENES LEAST "
            "MOST\n");
    return 2;
  }
  const uint32_t calibration = (uint32_t)atoi(argv[3]), first = (uint32_t)atoi(argv[4]),
                 scenes = (uint32_t)atoi(argv[5]), least = (uint32_t)atoi(argv[6]);
  uint32_t most = (uint32_t)atoi(argv[7]);
  b.mode = argv[2];
  open_bench(&b, argv[1]);
  if (most > b.heads / 2) most = b.heads / 2;
  double ledger[MOST_HEADS] = {0.0}, loss[MOST_HEADS] = {0.0};
  uint32_t by[2][MOST_HEADS], broken[3][MOST_HEADS] = {{0}}, right = 0;
  uint64_t other = FIRST_OTHER;
  calibrate(&b, calibration, &other, ledger, loss);
  rank(ledger, b.heads, by[0]);
  rank(loss, b.heads, by[1]);
  for (uint32_t i = 0; i < b.heads; i++)
    printf("rank %2u: ledger %u.%u %8.3f   ablated alone %u.%u %8.3f\n", i + 1,
           by[0][i] / b.info.heads, by[0][i] % b.info.heads, ledger[by[0][i]] / calibration,
           by[1][i] / b.info.heads, by[1][i] % b.info.heads, loss[by[1][i]] / calibration);
  for (uint32_t i = 0; i < scenes; i++) {
    uint64_t state = first + i;
    right += see(&b, first + i, &other) > 0.0;
    for (uint32_t k = least; k <= most; k++) {
      uint32_t others[MOST_HEADS];
      memcpy(others, by[0] + k, (b.heads - k) * sizeof *others);
      shuffle(others, b.heads - k, &state);
      broken[0][k] += breaks(&b, by[0], k);
      broken[1][k] += breaks(&b, by[1], k);
      broken[2][k] += breaks(&b, others, k);
    }
  }
  printf("right without a change: %u of %u\n K  ledger  ablated alone  others by chance\n", right,
         scenes);
  for (uint32_t k = least; k <= most; k++)
    printf("%2u  %5.1f %%  %5.1f %%        %5.1f %%\n", k, 100.0 * broken[0][k] / scenes,
           100.0 * broken[1][k] / scenes, 100.0 * broken[2][k] / scenes);
  close_bench(&b);
  return 0;
}
