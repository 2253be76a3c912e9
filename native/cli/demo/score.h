/* Figures of the demo model on drawn scenes: is the class right, and which heads look from one twin
 * to the other. */
#ifndef HEED_CLI_DEMO_SCORE_H
#define HEED_CLI_DEMO_SCORE_H

#include "heed/scene.h"
#include "session/scene_input.h"

/* One head over the scenes seen. */
typedef struct score_head {
  double times;     /* sum over scenes of scene_twins_weight */
  double cls_times; /* the same from CLS to both twins */
  /* scenes where, both ways, that mass is >= 8 x uniform and >= 3 x the mass on any other object,
   * the twin itself included */
  uint32_t legible;
} score_head;

typedef struct score {
  uint32_t layers, heads, tokens, prefix;
  uint32_t scenes, right;
  /* [drawn][answered]; the last column: a class that is no shape */
  uint32_t confusion[HEED_SCENE_SHAPES][HEED_SCENE_SHAPES + 1];
  /* FNV-1a of all answers in order: equal answers, equal digest */
  uint64_t digest;
  score_head *head; /* [layers * heads], malloc'ed */
} score;

heed_status score_begin(cli_state *cli, const heed_model_info *info, score *to);
/* attention [layers, heads, tokens, tokens]; owner as heed_scene_draw gives it. */
void score_add(score *to, const heed_scene *scene, const uint8_t *owner, uint32_t answer,
               const float *attention);
/* The head that looks from twin to twin in most scenes, and the one whose CLS looks at the twins
 * most. */
uint32_t score_best_twin_head(const score *of);
uint32_t score_best_cls_head(const score *of);
void score_print(FILE *to, const score *of, bool every_head);
void score_end(score *of);

#endif
