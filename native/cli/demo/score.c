/* Figures of the demo model on drawn scenes. See score.h. */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEGIBLE_UNIFORM 8.0
#define LEGIBLE_OTHERS 3.0

heed_status score_begin(cli_state *cli, const heed_model_info *info, score *to) {
  *to = (score){.layers = info->layers,
                .heads = info->heads,
                .prefix = info->prefix_tokens,
                .tokens = info->prefix_tokens + HEED_SCENE_PATCHES};
  to->digest = UINT64_C(0xcbf29ce484222325);
  to->head = calloc((size_t)info->layers * info->heads, sizeof *to->head);
  return to->head ? HEED_OK
                  : heed_fail_memory(&cli->error, "score",
                                     (size_t)info->layers * info->heads * sizeof *to->head);
}

void score_end(score *of) {
  free(of->head);
  of->head = NULL;
}

/* Mean over the patches of object `from` of the weight on each object; map [tokens, tokens]. The
 * last slot takes the backdrop. */
static void mass_from(const score *s, const float *map, const uint8_t *owner, uint32_t from,
                      double mass[HEED_SCENE_MAX_OBJECTS + 1]) {
  uint32_t rows = 0;
  memset(mass, 0, (HEED_SCENE_MAX_OBJECTS + 1) * sizeof *mass);
  for (uint32_t q = 0; q < HEED_SCENE_PATCHES; q++) {
    if (owner[q] != from) continue;
    const float *row = map + (size_t)(s->prefix + q) * s->tokens + s->prefix;
    for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++)
      mass[owner[p] < HEED_SCENE_MAX_OBJECTS ? owner[p] : HEED_SCENE_MAX_OBJECTS] += (double)row[p];
    rows++;
  }
  for (uint32_t k = 0; k <= HEED_SCENE_MAX_OBJECTS; k++) mass[k] /= rows ? rows : 1;
}

static void add_head(const score *s, score_head *head, const float *map, const uint8_t *owner,
                     const uint32_t twins[2], const scene_twins *where) {
  uint32_t patches[HEED_SCENE_MAX_OBJECTS] = {0};
  bool legible = true;
  double cls = 0.0;
  for (uint32_t p = 0; p < HEED_SCENE_PATCHES; p++) {
    if (owner[p] < HEED_SCENE_MAX_OBJECTS) patches[owner[p]]++;
    if (s->prefix && (owner[p] == twins[0] || owner[p] == twins[1]))
      cls += (double)map[s->prefix + p];
  }
  for (uint32_t way = 0; way < 2; way++) {
    double mass[HEED_SCENE_MAX_OBJECTS + 1], others = 0.0;
    const uint32_t other_twin = twins[1 - way];
    const double uniform = (double)(patches[other_twin] ? patches[other_twin] : 1) / s->tokens;
    mass_from(s, map, owner, twins[way], mass);
    for (uint32_t k = 0; k < HEED_SCENE_MAX_OBJECTS; k++)
      if (k != other_twin && mass[k] > others) others = mass[k];
    legible = legible && mass[other_twin] >= LEGIBLE_UNIFORM * uniform &&
              mass[other_twin] >= LEGIBLE_OTHERS * others;
  }
  head->legible += legible;
  head->times += scene_twins_weight(where, map, s->prefix);
  const uint32_t both = patches[twins[0]] + patches[twins[1]];
  head->cls_times += cls * s->tokens / (both ? both : 1);
}

void score_add(score *to, const heed_scene *scene, const uint8_t *owner, uint32_t answer,
               const float *attention) {
  uint32_t twins[2];
  scene_twins where;
  if (!heed_scene_twins(scene, twins)) return;
  scene_input_twins(scene, owner, &where);
  const uint32_t drawn = scene->objects[twins[0]].shape;
  to->scenes++;
  to->right += answer == drawn;
  to->confusion[drawn][answer < HEED_SCENE_SHAPES ? answer : HEED_SCENE_SHAPES]++;
  to->digest = (to->digest ^ answer) * UINT64_C(0x100000001b3);
  for (uint32_t i = 0; i < to->layers * to->heads; i++)
    add_head(to, &to->head[i], attention + (size_t)i * to->tokens * to->tokens, owner, twins,
             &where);
}

uint32_t score_best_twin_head(const score *of) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < of->layers * of->heads; i++)
    if (of->head[i].legible > of->head[best].legible ||
        (of->head[i].legible == of->head[best].legible && of->head[i].times > of->head[best].times))
      best = i;
  return best;
}

uint32_t score_best_cls_head(const score *of) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < of->layers * of->heads; i++)
    if (of->head[i].cls_times > of->head[best].cls_times) best = i;
  return best;
}

static void print_confusion(FILE *to, const score *of) {
  fprintf(to, "%-10s", "drawn");
  for (uint32_t c = 0; c < HEED_SCENE_SHAPES; c++) fprintf(to, " %9s", heed_scene_shape_names[c]);
  fprintf(to, "  right\n");
  for (uint32_t r = 0; r < HEED_SCENE_SHAPES; r++) {
    uint32_t all = of->confusion[r][HEED_SCENE_SHAPES];
    fprintf(to, "%-10s", heed_scene_shape_names[r]);
    for (uint32_t c = 0; c < HEED_SCENE_SHAPES; c++) {
      all += of->confusion[r][c];
      fprintf(to, " %9u", of->confusion[r][c]);
    }
    fprintf(to, "  %.3f\n", all ? (double)of->confusion[r][r] / all : 0.0);
  }
}

void score_print(FILE *to, const score *of, bool every_head) {
  const double scenes = of->scenes ? of->scenes : 1, share = of->right / scenes;
  print_confusion(to, of);
  const uint32_t twin = score_best_twin_head(of), cls = score_best_cls_head(of);
  for (uint32_t i = 0; i < of->layers * of->heads; i++) {
    if (!every_head && i != twin && i != cls) continue;
    fprintf(to,
            "layer %u head %u: twin to twin %.1f x uniform, legible in %.1f %% of scenes; CLS to "
            "twins %.1f x uniform%s%s\n",
            i / of->heads, i % of->heads, of->head[i].times / scenes,
            100.0 * of->head[i].legible / scenes, of->head[i].cls_times / scenes,
            i == twin ? "  <- the twin head" : "", i == cls ? "  <- the head that CLS reads" : "");
  }
  fprintf(to, "legible: in both directions at least %g x uniform and %g x any other object\n",
          LEGIBLE_UNIFORM, LEGIBLE_OTHERS);
  fprintf(to, "answers: digest %016llx\n", (unsigned long long)of->digest);
  /* Wilson's interval: right also near 0 and 1. */
  const double z = 1.96, middle = (share + z * z / (2.0 * scenes)) / (1.0 + z * z / scenes);
  const double half = z * sqrt(share * (1.0 - share) / scenes + z * z / (4.0 * scenes * scenes)) /
                      (1.0 + z * z / scenes);
  fprintf(to, "accuracy %.4f (%u of %u scenes; 95 %% interval %.4f to %.4f)\n", share, of->right,
          of->scenes, middle - half, middle + half);
}
